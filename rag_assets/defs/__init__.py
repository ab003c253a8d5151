"""What Dagster sees: assets, their checks, and sensors."""

PUBLIC_MODULES = ("assets", "checks", "sensors")
