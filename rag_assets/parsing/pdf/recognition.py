"""Text recognition on pages that are pictures, by RapidOCR or Tesseract."""

import math
import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from rag_assets.model import ParseFailure
from rag_assets.model.settings import ParseSettings
from rag_assets.parsing.cleaning import close_gaps
from rag_assets.parsing.pdf.lines import Page, read_page
from rag_assets.parsing.pdf.opening import load_pymupdf
from rag_assets.parsing.registry import require_extra

# A scan may carry a page number or a library's stamp as text: so few characters are no text layer.
MOST_STAMP_CHARACTERS = 60
_UNSURE = "RapidOCR, which was unsure of their script (name their language in parse.ocr_languages)"
# Mean over the lines of a page: worn English, German, French and Chinese 0.96 and more, Russian and
# Greek, whose letters RapidOCR leaves out, 0.90 and less.
_MIN_CONFIDENCE = 0.93
# The size of a recognised line is the height of its box or ink, which differs so much in one text;
# a line that counts as smaller or larger than its neighbours would be moved as a note or heading.
_SAME_SIZE_SHARE = 0.25
# RapidOCR turns what is so much higher than wide: a line that runs up or down the page.
_SIDEWAYS = 1.5


def is_scan(sheet: Any, page: Page) -> bool:
    """Tell whether a page has pictures and hardly any text.

    Args:
        sheet: the `pymupdf.Page`.
        page: what was read of it.
    """
    characters = sum(len(line.text) for block in page.blocks for line in block)
    return characters <= MOST_STAMP_CHARACTERS and bool(sheet.get_images())


def read_scan(sheet: Any, settings: ParseSettings) -> Page:
    """Return the lines on the picture of a page, read as `ocr` says.

    `auto`: by RapidOCR, which knows Chinese, Japanese and Latin script; by Tesseract where RapidOCR
    is unsure of what it reads and `ocr_languages` names a language besides English and Chinese.

    Args:
        sheet: the `pymupdf.Page`.
        settings: `ocr`, `ocr_languages`, `ocr_dpi`.

    Raises:
        ParseFailure: `missing_extra`: RapidOCR or Tesseract's language data are not installed.
        RuntimeError: the page cannot be drawn.
    """
    languages = settings.ocr_languages.split("+")
    if settings.ocr != "tesseract":
        lines, confidence = _read_by_rapidocr(sheet, settings.ocr_dpi)
        is_sure = confidence >= _MIN_CONFIDENCE
        others = [name for name in languages if name != "eng" and not name.startswith("chi_")]
        if is_sure or settings.ocr == "rapidocr" or not others:
            program = "RapidOCR" if is_sure or not lines else _UNSURE
            blocks = [{"lines": [line]} for line in lines]
            return _even(read_page(sheet, {"blocks": blocks}, program))
        languages = others
    recognised = sheet.get_textpage_ocr(
        language="+".join(languages),
        dpi=settings.ocr_dpi,
        full=True,
        tessdata=str(_language_data(tuple(languages))),
    )
    return _even(read_page(sheet, recognised.extractDICT(), "Tesseract"))


def _even(page: Page) -> Page:
    """Return a page without gaps between Chinese characters, its lines of about one size in one."""
    lines = [line for block in page.blocks for line in block]
    sizes = sorted(line.size for line in lines for _ in line.text)
    usual = sizes[len(sizes) // 2] if sizes else 0.0
    for line in lines:
        line.text = close_gaps(line.text)
        if abs(line.size - usual) <= _SAME_SIZE_SHARE * usual:
            line.size = usual
    return page


def _read_by_rapidocr(sheet: Any, dpi: int) -> tuple[list[dict[str, Any]], float]:
    """Return the lines that RapidOCR reads, in the form of PyMuPDF's, and its mean confidence."""
    pymupdf = load_pymupdf()
    picture = sheet.get_pixmap(dpi=dpi, colorspace="GRAY", alpha=False)
    pixels = np.frombuffer(picture.samples, np.uint8).reshape(picture.height, picture.width)
    found = _rapidocr()(pixels)
    turn = sheet.derotation_matrix
    to_page = pymupdf.Matrix(72 / dpi, 72 / dpi) * turn
    lines = []
    # Corners run clockwise from the upper left one, in pixels.
    for corners, text in zip(found.boxes, found.txts, strict=True) if found.txts else ():
        width, height = math.dist(*corners[:2]), math.dist(*corners[1:3])
        is_sideways = height >= _SIDEWAYS * width
        box = pymupdf.Rect(*corners.min(axis=0), *corners.max(axis=0)) * to_page
        span = {"text": text, "font": "", "flags": 0, "size": min(width, height) * 72 / dpi}
        direction = (turn.c, turn.d) if is_sideways else (turn.a, turn.b)
        lines.append({"spans": [span | {"bbox": box}], "bbox": box, "dir": direction, "wmode": 0})
    return lines, sum(found.scores or ()) / max(1, len(lines))


@cache
def _rapidocr() -> Any:
    """Return RapidOCR with the models in its package; nothing is downloaded.

    Raises:
        ParseFailure: `missing_extra`.
    """
    require_extra("rapidocr", "ocr", "`ocr: auto` and `ocr: rapidocr` need RapidOCR")
    import rapidocr

    models = Path(rapidocr.__file__).parent / "models"
    return rapidocr.RapidOCR(
        params={
            "Global.log_level": "error",
            "Global.use_cls": False,
            "Det.model_path": str(models / "PP-OCRv6_det_small.onnx"),
            "Rec.model_path": str(models / "PP-OCRv6_rec_small.onnx"),
            # As many workers as cores parse side by side.
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )


@cache
def _language_data(languages: tuple[str, ...]) -> Path:
    """Return the folder that holds Tesseract's data for all `languages`."""
    stated = os.environ.get("TESSDATA_PREFIX")
    # PyMuPDF answers False where it finds no installation.
    found = stated or load_pymupdf().get_tessdata() or ""
    missing = [
        name
        for name in languages
        if not found or not (Path(found) / f"{name}.traineddata").is_file()
    ]
    if missing:
        packages = " ".join(f"tesseract-ocr-{name.replace('_', '-')}" for name in missing)
        raise ParseFailure(
            "missing_extra",
            f"Tesseract lacks the data for {', '.join(missing)}: apt-get install tesseract-ocr "
            f"{packages} (or set TESSDATA_PREFIX, or change parse.ocr_languages), "
            "then run with --retry.",
            kind="resource",
        )
    return Path(found)
