"""PDF files opened by PyMuPDF."""

import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib import import_module
from typing import Any

from rag_assets.model import ParseFailure
from rag_assets.model.settings import ParseSettings
from rag_assets.parsing.cleaning import clean_line

# PyMuPDF, imported where it is used; it carries no types.

# What PyMuPDF imports by itself though no parser of ours asks for it: a model of page layouts that
# ONNX Runtime loads, and PyMuPDF4LLM. They take three quarters of the import.
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


# Opens a PDF for a parser: password, number of pages, what PyMuPDF raises as reason codes.


@contextmanager
def opened_pdf(data: bytes, password: str | None, settings: ParseSettings) -> Iterator[Any]:
    """Hold a `pymupdf.Document` open that has 1 to `max_pages` pages and is unlocked.

    Args:
        data: the PDF.
        password: of its sidecar, None without.
        settings: `max_pages`.

    Raises:
        ParseFailure: `damaged_file`, `no_pages`, `page_limit`, `password_required`,
            `password_wrong`.
        MemoryError: MuPDF asked for more memory than the process may have.
    """
    pymupdf = load_pymupdf()
    with explained("The PDF cannot be opened"):
        document = pymupdf.open(stream=data, filetype="pdf")
    with closing(document):
        _unlock(document, password)
        _check_pages(document, settings)
        yield document


@contextmanager
def explained(what: str) -> Iterator[None]:
    """Turn what PyMuPDF raises into a reason code; memory is the worker's affair.

    Args:
        what: cannot be done, as the beginning of a sentence.

    Raises:
        ParseFailure: `damaged_file`.
        MemoryError: MuPDF asked for more memory than the process may have.
    """
    pymupdf = load_pymupdf()
    try:
        yield
    except ParseFailure:
        raise
    except (RuntimeError, ValueError, IndexError, TypeError, pymupdf.mupdf.FzErrorBase) as error:
        if "alloc" in str(error):
            raise MemoryError(str(error)) from error
        raise ParseFailure(
            "damaged_file",
            f"{what} ({_first_line(error)}): open the file in a PDF program, save it again and "
            "replace it.",
        ) from error


def _unlock(document: Any, password: str | None) -> None:
    with explained("The encryption cannot be read"):
        if not document.needs_pass:
            return
        opened = bool(password) and document.authenticate(password)
    if opened:
        return
    if password:
        raise ParseFailure(
            "password_wrong",
            "The password in the sidecar does not open the file: correct `password:` in "
            "<file>.meta.yaml.",
        )
    raise ParseFailure(
        "password_required",
        "The file is protected: write `password: …` into <file>.meta.yaml beside it.",
    )


def _check_pages(document: Any, settings: ParseSettings) -> None:
    with explained("The list of pages cannot be read"):
        page_count = document.page_count
    if page_count == 0:
        raise ParseFailure("no_pages", "The PDF has no pages: export it again from its source.")
    if page_count > settings.max_pages:
        raise ParseFailure(
            "page_limit",
            f"The document has {page_count} pages, parse.max_pages allows {settings.max_pages}: "
            "raise the setting in config.yaml or split the document, then build again.",
        )


def _first_line(error: BaseException) -> str:
    return clean_line(str(error).partition("\n")[0]) or type(error).__name__
