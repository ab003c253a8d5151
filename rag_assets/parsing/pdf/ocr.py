"""Text recognition on pages that are pictures, by Tesseract through PyMuPDF."""

import os
from functools import cache
from pathlib import Path
from typing import Any

from rag_assets.model import ParseFailure
from rag_assets.parsing.cleaning import close_gaps
from rag_assets.parsing.pdf.library import load_pymupdf
from rag_assets.parsing.pdf.lines import Page, read_page
from rag_assets.settings import ParseSettings

# A scan may carry a page number or a library's stamp as text: so few characters are no text layer.
MOST_STAMP_CHARACTERS = 60


def is_scan(sheet: Any, page: Page) -> bool:
    """Tell whether a page has pictures and hardly any text.

    Args:
        sheet: the `pymupdf.Page`.
        page: what was read of it.
    """
    characters = sum(len(line.text) for block in page.blocks for line in block)
    return characters <= MOST_STAMP_CHARACTERS and bool(sheet.get_images())


def read_scan(sheet: Any, settings: ParseSettings) -> Page:
    """Return the lines that Tesseract reads on the picture of a page.

    Args:
        sheet: the `pymupdf.Page`.
        settings: `ocr_languages`, `ocr_dpi`.

    Raises:
        ParseFailure: `missing_extra`: Tesseract's language data are not installed.
        RuntimeError: the page cannot be drawn.
    """
    recognised = sheet.get_textpage_ocr(
        language=settings.ocr_languages,
        dpi=settings.ocr_dpi,
        full=True,
        tessdata=str(_language_data(settings.ocr_languages)),
    )
    page = read_page(sheet, recognised)
    for block in page.blocks:
        for line in block:
            line.text = close_gaps(line.text)
    return page


@cache
def _language_data(languages: str) -> Path:
    """Return the folder that holds Tesseract's data for all `languages` (`eng+chi_sim`)."""
    pymupdf = load_pymupdf()
    stated = os.environ.get("TESSDATA_PREFIX")
    # PyMuPDF answers False where it finds no installation.
    found = stated or pymupdf.get_tessdata() or ""
    missing = [
        name
        for name in languages.split("+")
        if not found or not (Path(found) / f"{name}.traineddata").is_file()
    ]
    if missing:
        packages = " ".join(f"tesseract-ocr-{name.replace('_', '-')}" for name in missing)
        raise ParseFailure(
            "missing_extra",
            f"`ocr: tesseract` lacks the data for {', '.join(missing)}: apt-get install "
            f"tesseract-ocr {packages} (or set TESSDATA_PREFIX, or change parse.ocr_languages), "
            "then run with --retry.",
            kind="resource",
        )
    return Path(found)
