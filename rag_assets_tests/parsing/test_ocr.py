"""Text recognition by RapidOCR and Tesseract, where they are installed."""

import shutil
from importlib.util import find_spec
from pathlib import Path

import pymupdf
import pytest

from rag_assets.evidence.locating import locate
from rag_assets.model import RECOGNISED, ParseFailure
from rag_assets.parsing import ParseHints, parse_document, parse_fingerprint, registry
from rag_assets.parsing.pdf import recognition
from rag_assets.parsing.pdf.recognition import _language_data
from rag_assets_tests.parsing.conftest import make_settings

needs_tesseract = pytest.mark.skipif(
    shutil.which("tesseract") is None,
    reason="Tesseract is not installed: apt-get install tesseract-ocr tesseract-ocr-chi-sim",
)
needs_rapidocr = pytest.mark.skipif(
    find_spec("rapidocr") is None,
    reason="RapidOCR is not installed: pip install 'rag-assets[ocr]'",
)


def scan(text: str, font: str = "helv", *, layer: str = "", rotation: int = 0) -> bytes:
    """Return a PDF whose only page is a picture of `text`, with `layer` as invisible text."""
    with pymupdf.open() as source, pymupdf.open() as target:
        source.new_page(width=400, height=80).insert_text(
            (20, 45), text, fontsize=18, fontname=font
        )
        picture = source[0].get_pixmap(dpi=150)
        page = target.new_page(width=400, height=80)
        page.insert_image(page.rect, pixmap=picture)
        page.insert_text((20, 45), layer, fontsize=18, render_mode=3)
        page.set_rotation(rotation)
        return target.tobytes()


@needs_rapidocr
@pytest.mark.parametrize(
    ("text", "font"),
    [("Planted roofs cool rooms", "helv"), ("光照提高了产量", "china-s")],
)
def test_each_page_is_read_by_rapidocr_without_a_setting_for_its_language(
    text: str, font: str
) -> None:
    document = parse_document(scan(text, font), ParseHints(".pdf"), make_settings(ocr="auto"))
    assert document.text == text
    assert any("RapidOCR: look" in warning for warning in document.warnings)
    box = document.blocks[0].bbox
    assert box is not None
    assert 10 < box[0] < 25 and 20 < box[1] < 35 and box[3] < 55


@needs_rapidocr
def test_a_script_that_rapidocr_does_not_know_goes_to_tesseract_where_its_language_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = scan("Зелёные крыши летом", "china-s")
    unnamed = parse_document(data, ParseHints(".pdf"), make_settings(ocr="auto"))
    assert any("unsure of their script" in warning for warning in unnamed.warnings)
    monkeypatch.setenv("TESSDATA_PREFIX", str(tmp_path))
    _language_data.cache_clear()
    settings = make_settings(ocr="auto", ocr_languages="eng+rus")
    with pytest.raises(ParseFailure, match="apt-get install tesseract-ocr tesseract-ocr-rus "):
        parse_document(data, ParseHints(".pdf"), settings)
    _language_data.cache_clear()


def test_a_page_that_was_recognised_says_so_where_its_place_is_shown() -> None:
    data = scan("Planted roofs cool rooms", layer="Planted roofs cool rooms")
    document = parse_document(data, ParseHints(".pdf"), make_settings())
    assert document.page_labels == (RECOGNISED,)
    place = locate(1, 1, None, None, (), labels=document.page_labels)
    assert place is not None and place.text == "p. 1 (text recognised by OCR)"
    numbered = locate(2, 3, None, None, (), labels=("", "", f"12 {RECOGNISED}"))
    assert numbered is not None and numbered.text == "pp. 2–3 (text recognised by OCR)"


def test_rapidocr_that_is_not_installed_is_named_with_its_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(registry, "find_spec", lambda name: None)
    recognition._rapidocr.cache_clear()
    with pytest.raises(ParseFailure, match=r"rag-assets\[ocr\]") as caught:
        parse_document(scan("Words"), ParseHints(".pdf"), make_settings(ocr="auto"))
    assert (caught.value.reason_code, caught.value.kind) == ("missing_extra", "resource")


@needs_tesseract
def test_a_scanned_page_is_read_and_said_to_be_read_from_its_picture() -> None:
    settings = make_settings(ocr="tesseract", ocr_languages="eng")
    document = parse_document(scan("Planted roofs cool rooms"), ParseHints(".pdf"), settings)
    assert document.text == "Planted roofs cool rooms"
    assert any("Tesseract" in warning for warning in document.warnings)
    assert document.lines[0].page == 1


@needs_tesseract
def test_a_scanned_chinese_page_is_read_without_gaps() -> None:
    settings = make_settings(ocr="tesseract", ocr_languages="chi_sim")
    data = scan("光照提高了产量", "china-s")
    assert "光照提高了产量" in parse_document(data, ParseHints(".pdf"), settings).text


LEFT = "Roofs with plants stay cool in summer because leaves shade them and evaporate water. "
RIGHT = "Bare roofs of dark felt store the heat of the day and give it back during the night. "


OVER = (
    "We compared roofs in a town through three summers and asked the people who live below them. "
    "Rooms under planted roofs were cooler at night, and nobody in the street felt a difference."
)


def scan_in_two_columns() -> bytes:
    """Return a scanned page: a line and a paragraph over both columns, eight lines in each."""
    with pymupdf.open() as source, pymupdf.open() as target:
        drawn = source.new_page(width=500, height=400)
        drawn.insert_text(
            (40, 40), "A report on roofs and what grows on them in the city", fontsize=14
        )
        drawn.insert_textbox((40, 52, 455, 100), OVER, fontsize=10)
        for left, text in ((40, LEFT), (260, RIGHT)):
            drawn.insert_textbox((left, 110, left + 195, 390), text * 4, fontsize=10)
        page = target.new_page(width=500, height=400)
        page.insert_image(page.rect, pixmap=drawn.get_pixmap(dpi=200))
        return target.tobytes()


@needs_tesseract
def test_a_scan_in_two_columns_is_read_column_by_column() -> None:
    settings = make_settings(ocr="tesseract", ocr_languages="eng")
    document = parse_document(scan_in_two_columns(), ParseHints(".pdf"), settings)
    text = " ".join(document.text.split())
    assert any(OVER in document.text[block.start : block.end] for block in document.blocks)
    assert text.count(LEFT.strip()) == 4
    assert text.count(RIGHT.strip()) == 4
    assert text.rindex(LEFT.strip()) < text.index(RIGHT.strip())


def test_without_recognition_a_scan_is_reported_with_what_to_do() -> None:
    with pytest.raises(ParseFailure, match="ocr: auto") as caught:
        parse_document(scan("Words"), ParseHints(".pdf"), make_settings())
    assert caught.value.reason_code == "no_text_layer"


def test_a_language_that_is_not_installed_is_named_with_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TESSDATA_PREFIX", str(tmp_path))
    _language_data.cache_clear()
    settings = make_settings(ocr="tesseract", ocr_languages="chi_tra")
    with pytest.raises(ParseFailure, match="tesseract-ocr-chi-tra") as caught:
        parse_document(scan("Words"), ParseHints(".pdf"), settings)
    _language_data.cache_clear()
    assert (caught.value.reason_code, caught.value.kind) == ("missing_extra", "resource")


def test_recognition_changes_the_fingerprint_of_a_parse() -> None:
    def of(**changes: object) -> str:
        return parse_fingerprint("request", "application/pdf", make_settings(**changes))

    assert of() == of(ocr_languages="eng")
    plain = [parse_fingerprint("request", "text/plain", make_settings(ocr=o))
             for o in ("none", "tesseract")]  # fmt: skip
    assert plain[0] == plain[1]
    read = [of(), of(ocr="tesseract"), of(ocr="tesseract", ocr_languages="eng"), of(ocr="auto")]
    assert len(set(read)) == 4
