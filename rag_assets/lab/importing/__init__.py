"""Experiments of before: rows of a sheet become imported runs with feedback, seen beforehand."""

from rag_assets.lab.importing.columns import FIELDS, Column, find_columns
from rag_assets.lab.importing.sheet import Experiment, Refused, Understood, read_sheet
from rag_assets.lab.importing.storing import Imported, import_experiments

__all__ = [
    "FIELDS",
    "Column",
    "Experiment",
    "Imported",
    "Refused",
    "Understood",
    "find_columns",
    "import_experiments",
    "read_sheet",
]
