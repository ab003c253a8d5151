"""A Dagster project with a library of rag-assets in it."""
