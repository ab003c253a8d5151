"""On real office files where they are at hand: RAG_SHARED_DATA, by default ../shared/data."""

import json
import re
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from rag_assets.model import ParsedDocument, ParseFailure
from rag_assets.parsing import PARSE_REASONS, ParseHints, parse_document
from rag_assets_tests.parsing.conftest import make_settings
from rag_assets_tests.parsing.test_any_bytes import assert_keeps_the_contract
from rag_assets_tests.parsing.test_real_papers import DATA

# mammoth, on the same files: 0.960.
MIN_F1 = 0.96
MIN_KEPT = 0.95
WORDS = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+")
SEEN_PARTS = re.compile(
    r"word/(document|footnotes|endnotes|comments)\.xml|ppt/(slides|notesSlides|comments)/[^/]+\.xml"
)
MARKUP = re.compile(r"!\[[^\]]*\]\(attachment:[^)]*\)")


def words_of(text: str) -> Counter[str]:
    return Counter(WORDS.findall(text.lower().replace("\u00ad", "")))


def rows_of(folder: str) -> list[dict[str, Any]]:
    manifest = DATA / "nasty" / folder / "manifest.jsonl"
    if not manifest.is_file():
        pytest.skip(f"no {manifest}; set RAG_SHARED_DATA")
    return [json.loads(line) for line in manifest.read_text(encoding="utf-8").splitlines()]


def office_rows() -> list[dict[str, Any]]:
    return [row for row in rows_of("office") if not row["path"].startswith("office/xlsx")]


def read_file(path: Path, password: str | None = None) -> ParsedDocument:
    return parse_document(
        path.read_bytes(), ParseHints(path.suffix, password), make_settings(max_megabytes=500)
    )


def words_in_xml(path: Path) -> Counter[str]:
    """Return the words of all text elements, a paragraph at a time, since words span runs."""
    from lxml import etree

    found: Counter[str] = Counter()
    with zipfile.ZipFile(path) as archive:
        for name in filter(SEEN_PARTS.fullmatch, archive.namelist()):
            for paragraph in etree.fromstring(archive.read(name)).iter("{*}p", "{*}text"):
                if paragraph.find("{*}fld[@type='slidenum']") is not None:
                    continue  # a page number is no text
                parts = paragraph.iter("{*}t", "{*}tab", "{*}br", "{*}text")
                found += words_of("".join(part.text or " " for part in parts))
    return found


def f1_of_words(document: ParsedDocument, expected: Path) -> float:
    """Return the F1 of a document's words against those of a text file."""
    wanted = words_of(expected.read_text(encoding="utf-8"))
    found = words_of(MARKUP.sub(" ", document.text))
    return 2 * (wanted & found).total() / (wanted.total() + found.total())


def score_expected() -> dict[str, float]:
    """Return the F1 of words for every document with an expected text."""
    data = DATA / "nasty"
    return {
        row["path"]: f1_of_words(read_file(data / row["path"]), data / row["text"])
        for row in rows_of("docx_html")
    }


def score_kept() -> dict[str, float]:
    """Return the share of the words in its XML that each valid file's clean text keeps."""
    kept = {}
    for row in office_rows():
        path = DATA / "nasty" / row["path"]
        truth = words_in_xml(path) if row["kind"] in {"valid", "macro"} else Counter()
        if truth:
            found = words_of(read_file(path).text)
            kept[row["path"]] = (truth & found).total() / truth.total()
    return kept


def test_words_of_word_documents_are_those_of_the_expected_text() -> None:
    scores = score_expected()
    assert sum(scores.values()) / len(scores) >= MIN_F1, scores


def test_valid_office_files_keep_their_visible_words() -> None:
    lost = {path: share for path, share in score_kept().items() if share < MIN_KEPT}
    assert lost == {}


def test_locked_damaged_and_hostile_office_files_have_their_reasons() -> None:
    for row in office_rows():
        path = DATA / "nasty" / row["path"]
        try:
            document = read_file(path)
        except ParseFailure as failure:
            reason = failure.reason_code
            assert reason in PARSE_REASONS
            assert row["kind"] != "valid", row["path"]
        else:
            reason = ""
            assert_keeps_the_contract(document)
        if row["kind"] == "password":
            assert reason == "password_required", row["path"]
            if row["password"]:
                assert read_file(path, row["password"]).text
        if "entities" in row["note"] or "inflates" in row["path"]:
            assert reason == "hostile_file", row["path"]
        if row["opened"] is False and "bad zip" in row["note"].lower():
            assert reason == "damaged_file", row["path"]
