"""What Dagster finds in this folder."""
