"""PyMuPDF, imported where it is used; it carries no types."""

from importlib import import_module
from typing import Any


def load_pymupdf() -> Any:
    """Return the module `pymupdf`, with MuPDF's messages kept off standard error."""
    pymupdf = import_module("pymupdf")
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    return pymupdf
