"""PyMuPDF, imported where it is used; it carries no types."""

import sys
import threading
from importlib import import_module
from typing import Any

# What PyMuPDF imports by itself though no parser of ours asks for it: a model of page layouts that
# ONNX Runtime loads, and PyMuPDF4LLM. They take three quarters of the import. `parser: pymupdf4llm`
# imports both when it is asked for (`providers.py`).
_UNASKED = ("pymupdf.layout", "pymupdf4llm")
_loading = threading.Lock()


def load_pymupdf() -> Any:
    """Return the module `pymupdf`, with MuPDF's messages kept off standard error."""
    with _loading:
        pymupdf = sys.modules.get("pymupdf") or _import_alone()
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    return pymupdf


def _import_alone() -> Any:
    """Import PyMuPDF without what it would take along, set as if it had been there."""
    withheld = [name for name in _UNASKED if name not in sys.modules]
    sys.modules.update(dict.fromkeys(withheld))  # type: ignore[arg-type] # None: "cannot be found"
    try:
        pymupdf = import_module("pymupdf")
    finally:
        for name in withheld:
            del sys.modules[name]
    # As the import of PyMuPDF4LLM does: a parse must not depend on what was imported before it.
    pymupdf.TOOLS.unset_quad_corrections(True)
    return pymupdf
