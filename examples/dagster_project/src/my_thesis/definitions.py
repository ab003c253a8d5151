"""The code location, as `dg` writes it for a new project."""

from pathlib import Path

import dagster as dg


@dg.definitions
def defs() -> dg.Definitions:
    """Return everything in defs/."""
    return dg.load_from_defs_folder(path_within_project=Path(__file__).parent)
