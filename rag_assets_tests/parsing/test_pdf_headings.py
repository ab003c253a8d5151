"""Headings of PDFs, on documents set as journals, theses and manuscripts set theirs."""

from collections.abc import Sequence
from typing import Any

import pymupdf
import pytest

from rag_assets.model import ParsedDocument
from rag_assets.parsing import ParseHints, parse_document
from rag_assets_tests.parsing.conftest import make_settings

Line = tuple[float, str, float, str]
"""Left edge, text, size, font (`helv`, bold `hebo`, italic `heit`, Chinese `china-s`)."""
LEFT, LINE_STEP, BODY = 70.0, 13.0, 10.0
TITLE: list[Line] = [(LEFT, "Yield of Photocatalysts in Narrow Tubes", 18, "hebo")]
AUTHORS: list[Line] = [(LEFT, "Ada Writer and Max Reader", 11, "hebo")]
_SENTENCES = (
    "The reactor was filled with the suspension and lit from one side for",
    "two hours while the pump kept the flow at a constant rate, as in the",
    "earlier series. Samples were taken every ten minutes and kept in the",
    "dark until the measurement was made on the same day in the next room.",
)


def body(first: str = "", rows: int = 4) -> list[Line]:
    lines = [(LEFT, text, BODY, "helv") for text in _SENTENCES[:rows]]
    if first:
        lines[0] = (LEFT, first, BODY, "helv")
    return lines


def head(text: str, size: float = 14, font: str = "hebo", x: float = LEFT) -> list[Line]:
    return [(x, text, size, font)]


def make_document(
    parts: Sequence[Sequence[Line]],
    toc: Sequence[tuple[int, str, int]] = (),
    parts_per_page: int = 12,
    gap: float = 10.0,
    rest_of: dict[str, str] | None = None,
) -> bytes:
    """Return a PDF of parts with white space between; `rest_of` goes on a line in plain type."""
    document: Any = pymupdf.open()  # type: ignore[no-untyped-call]
    for start in range(0, len(parts), parts_per_page):
        page = document.new_page(width=595, height=842)
        y = 80.0
        for part in parts[start : start + parts_per_page]:
            for x, text, size, font in part:
                y += max(LINE_STEP, 1.25 * size)
                page.insert_text((x, y), text, fontsize=size, fontname=font)
                rest = (rest_of or {}).get(text)
                if rest is not None:
                    width = pymupdf.get_text_length(text + " ", fontname=font, fontsize=size)
                    page.insert_text((x + width, y), rest, fontsize=BODY, fontname="helv")
            y += gap
    if toc:
        document.set_toc([list(entry) for entry in toc])
    data: bytes = document.tobytes()
    document.close()
    return data


def parse(*args: object, **options: object) -> ParsedDocument:
    data = make_document(*args, **options)  # type: ignore[arg-type]
    return parse_document(data, ParseHints(".pdf"), make_settings())


def headings_of(document: ParsedDocument) -> list[tuple[int | None, str]]:
    return [
        (block.level, document.text[block.start : block.end])
        for block in document.blocks
        if block.kind == "heading"
    ]


def test_numbers_give_the_levels_of_headings() -> None:
    document = parse(
        [
            TITLE,
            head("1 Introduction"),
            body(),
            head("2 Methods"),
            body(),
            head("2.1 Light source", 12),
            body(),
            head("2.1.1 Spectrum", 10),
            body(),
            head("3 Results"),
            body(),
        ]
    )
    assert headings_of(document) == [
        (1, "1 Introduction"),
        (1, "2 Methods"),
        (2, "2.1 Light source"),
        (3, "2.1.1 Spectrum"),
        (1, "3 Results"),
    ]


def test_heading_set_right_above_its_text_is_cut_off() -> None:
    document = parse(
        [TITLE, [*head("1 Introduction", 10), *body()], [*head("2 Setup", 10), *body()]]
    )
    assert headings_of(document) == [(1, "1 Introduction"), (1, "2 Setup")]


def test_style_of_known_titles_makes_others_headings() -> None:
    document = parse(
        [
            TITLE,
            head("Introduction", 12),
            body(),
            head("Choice of the catalyst", 12),
            body(),
            head("Conclusions", 12),
            body(),
        ]
    )
    assert [title for _, title in headings_of(document)] == [
        "Introduction",
        "Choice of the catalyst",
        "Conclusions",
    ]


def test_weaker_style_stands_one_level_below() -> None:
    document = parse(
        [
            TITLE,
            head("INTRODUCTION", 11),
            body(),
            head("METHODS", 11),
            head("Plant material", 10, "heit"),
            body(),
            head("Extraction of the oil", 10, "heit"),
            body(),
            head("RESULTS", 11),
            head("Yield of the oil", 10, "heit"),
            body(),
        ]
    )
    assert headings_of(document) == [
        (1, "INTRODUCTION"),
        (1, "METHODS"),
        (2, "Plant material"),
        (2, "Extraction of the oil"),
        (1, "RESULTS"),
        (2, "Yield of the oil"),
    ]


def test_roman_numbers_and_letters_make_two_levels() -> None:
    document = parse(
        [
            TITLE,
            head("I. INTRODUCTION", 10, "helv", 200),
            body(),
            head("II. SYSTEM MODEL", 10, "helv", 200),
            head("A. Channel", 10, "heit"),
            body(),
            head("B. Receiver", 10, "heit"),
            body(),
            head("III. CONCLUSION", 10, "helv", 200),
            body(),
        ]
    )
    assert headings_of(document) == [
        (1, "I. INTRODUCTION"),
        (1, "II. SYSTEM MODEL"),
        (2, "A. Channel"),
        (2, "B. Receiver"),
        (1, "III. CONCLUSION"),
    ]


def test_chinese_numbers_make_two_levels() -> None:
    text: list[Line] = [
        (LEFT, "光照强度提高了产率，并且没有副产物，温度保持不变。", 10.5, "china-s")
    ] * 3
    document = parse(
        [
            [(LEFT, "窄管中光催化剂的产率研究", 18, "china-s")],
            head("一、引言", 15, "china-s"),
            text,
            head("二、模型的建立", 15, "china-s"),
            head("（一）变量的选择", 12, "china-s"),
            text,
            head("（二）参数的估计", 12, "china-s"),
            text,
            head("三、结论", 15, "china-s"),
            text,
        ]
    )
    assert headings_of(document) == [
        (1, "一、引言"),
        (1, "二、模型的建立"),
        (2, "（一）变量的选择"),
        (2, "（二）参数的估计"),
        (1, "三、结论"),
    ]


def test_title_and_authors_are_no_headings() -> None:
    document = parse(
        [TITLE, AUTHORS, head("Introduction", 12), body(), head("Results", 12), body()]
    )
    assert [title for _, title in headings_of(document)] == ["Introduction", "Results"]


def test_heading_that_runs_in_is_cut_from_its_text() -> None:
    leads = {
        "1.1. Plant Material.": "Ripe fruits were taken in the morning hours",
        "1.2. Extraction.": "The oil was distilled with steam for four hours",
    }
    document = parse(
        [
            TITLE,
            head("1. Methods", 12),
            [(LEFT, "1.1. Plant Material.", BODY, "heit"), *body()],
            [(LEFT, "1.2. Extraction.", BODY, "heit"), *body()],
            head("2. Results", 12),
            body(),
        ],
        rest_of=leads,
    )
    assert headings_of(document)[:3] == [
        (1, "1. Methods"),
        (2, "1.1. Plant Material."),
        (2, "1.2. Extraction."),
    ]
    assert "\n\nRipe fruits were taken in the morning hours The reactor" in document.text


def test_numbered_list_in_bold_is_no_sequence_of_headings() -> None:
    items = [[*head(f"{number}. Fill the tube", 10), *body(rows=2)] for number in (1, 2, 1, 2)]
    document = parse(
        [
            TITLE,
            head("1 Introduction"),
            body(),
            *items,
            head("2 Setup"),
            body(),
            head("3 Results"),
            body(),
        ]
    )
    assert headings_of(document) == [(1, "1 Introduction"), (1, "2 Setup"), (1, "3 Results")]


def test_lines_of_a_table_of_contents_are_no_headings() -> None:
    entries: list[Line] = [
        (LEFT, f"{number} {title} . . . . . . . . . . . . . . . {number + 1}", BODY, "hebo")
        for number, title in enumerate(["Introduction", "Setup", "Results"], start=1)
    ]
    document = parse(
        [
            TITLE,
            head("Contents"),
            entries,
            head("1 Introduction"),
            body(),
            head("2 Setup"),
            body(),
            head("3 Results"),
            body(),
        ]
    )
    assert [title for _, title in headings_of(document)] == [
        "Contents",
        "1 Introduction",
        "2 Setup",
        "3 Results",
    ]


def test_captions_and_theorems_are_no_headings() -> None:
    document = parse(
        [
            TITLE,
            head("Introduction", 10),
            body(),
            head("Figure 1. Yield over time", 10),
            body(),
            head("Theorem 1", 10),
            body(),
            head("Conclusions", 10),
            body(),
        ]
    )
    assert [title for _, title in headings_of(document)] == ["Introduction", "Conclusions"]


def test_heading_over_two_lines_is_one_heading() -> None:
    document = parse(
        [
            TITLE,
            head("1 Introduction"),
            body(),
            [
                *head("2 Storage of the Samples in the Cold and in the Dark for"),
                *head("More than Two Hours", x=LEFT + 12),
            ],
            body(),
            head("3 Results"),
            body(),
        ]
    )
    assert [title for _, title in headings_of(document)] == [
        "1 Introduction",
        "2 Storage of the Samples in the Cold and in the Dark for More than Two Hours",
        "3 Results",
    ]


def test_number_and_title_in_two_blocks_are_one_heading() -> None:
    document = parse(
        [
            TITLE,
            head("Chapter 1", 16),
            head("Introduction", 20),
            body(),
            head("Chapter 2", 16),
            head("Setup", 20),
            body(),
        ]
    )
    assert headings_of(document) == [(1, "Chapter 1 Introduction"), (1, "Chapter 2 Setup")]


def test_bookmarks_name_headings_in_plain_type() -> None:
    parts = [TITLE, head("Introduction"), body(), head("Aims of the study", 10, "helv"), body()]
    parts += [head("Design of the tube", 10, "helv"), body(), head("Results"), body()]
    toc = [
        (1, "Introduction", 1),
        (2, "Aims of the study", 1),
        (2, "Design of the tube", 1),
        (1, "Results", 1),
    ]
    assert headings_of(parse(parts, toc)) == [
        (1, "Introduction"),
        (2, "Aims of the study"),
        (2, "Design of the tube"),
        (1, "Results"),
    ]


@pytest.mark.parametrize("root", [TITLE[0][1], "manuscript_final.docx"])
def test_bookmark_of_the_title_shifts_no_level(root: str) -> None:
    parts = [TITLE, head("Introduction"), body(), head("Setup"), body(), head("Results"), body()]
    toc = [(1, root, 1), (2, "Introduction", 1), (2, "Setup", 1), (2, "Results", 1)]
    assert {level for level, _ in headings_of(parse(parts, toc))} == {1}


@pytest.mark.parametrize("label", ["Figure 1", "Page 1", "Slide 1"])
def test_bookmarks_of_other_things_make_no_headings(label: str) -> None:
    parts = [
        TITLE,
        head("Introduction"),
        body(),
        head(label, 10, "helv"),
        body(),
        head("Results"),
        body(),
    ]
    document = parse(parts, [(1, label, 1)])
    assert [title for _, title in headings_of(document)] == ["Introduction", "Results"]


def test_labels_of_a_structured_abstract_are_no_headings() -> None:
    leads = {
        "Background:": "Light and yield are related in narrow tubes",
        "Methods:": "Forty tubes were lit from one side for two hours",
    }
    document = parse(
        [
            TITLE,
            head("Abstract", 12),
            [(LEFT, "Background:", BODY, "hebo"), *body()],
            [(LEFT, "Methods:", BODY, "hebo"), *body()],
            head("Introduction", 12),
            body(),
            head("Methods", 12),
            body(),
        ],
        rest_of=leads,
    )
    assert [title for _, title in headings_of(document)] == ["Abstract", "Introduction", "Methods"]


def test_small_capitals_are_joined_to_their_first_letter() -> None:
    document: Any = pymupdf.open()  # type: ignore[no-untyped-call]
    page = document.new_page(width=595, height=842)
    page.insert_text((LEFT, 60), TITLE[0][1], fontsize=18, fontname="hebo")
    y = 120.0
    for number, title in ((1, "INTRODUCTION"), (2, "DISCUSSION")):
        page.insert_text((LEFT, y), f"{number}", fontsize=12, fontname="helv")
        page.insert_text((LEFT + 20, y), title[0], fontsize=12, fontname="helv")
        width = pymupdf.get_text_length(title[0], fontname="helv", fontsize=12)
        page.insert_text((LEFT + 20 + width, y), title[1:], fontsize=9.6, fontname="helv")
        for row, text in enumerate(_SENTENCES):
            page.insert_text((LEFT, y + 24 + 13 * row), text, fontsize=BODY, fontname="helv")
        y += 110
    found = parse_document(document.tobytes(), ParseHints(".pdf"), make_settings())
    assert headings_of(found) == [(1, "1 INTRODUCTION"), (1, "2 DISCUSSION")]


def test_line_numbers_of_a_manuscript_are_taken_out() -> None:
    document: Any = pymupdf.open()  # type: ignore[no-untyped-call]
    page = document.new_page(width=595, height=842)
    lines = [TITLE[0][1], "Introduction", *_SENTENCES, "Results", *_SENTENCES]
    for row, text in enumerate(lines):
        is_heading = text in ("Introduction", "Results")
        font = "hebo" if is_heading or row == 0 else "helv"
        page.insert_text(
            (LEFT, 80 + 24 * row), text, fontsize=18 if row == 0 else 11, fontname=font
        )
        page.insert_text((40, 80 + 24 * row), str(row + 1), fontsize=6, fontname="helv")
    found = parse_document(document.tobytes(), ParseHints(".pdf"), make_settings())
    assert [title for _, title in headings_of(found)] == ["Introduction", "Results"]
    assert "# (line numbers)" in found.removed_templates


def _numbered_title(above: int, number: int) -> ParsedDocument:
    """Return a page of numbered rows whose first, the title, is one line with its number."""
    document: Any = pymupdf.open()  # type: ignore[no-untyped-call]
    page = document.new_page(width=595, height=842)
    page.insert_text((40, 80), f"{number}  {TITLE[0][1]}", fontsize=18, fontname="hebo")
    for row, text in enumerate(_SENTENCES + _SENTENCES):
        page.insert_text((LEFT, 104 + 24 * row), text, fontsize=11, fontname="helv")
        page.insert_text((40, 104 + 24 * row), str(row + 1 + above), fontsize=11, fontname="helv")
    return parse_document(document.tobytes(), ParseHints(".pdf"), make_settings())


def test_the_number_of_a_row_goes_where_it_is_joined_with_its_text() -> None:
    found = _numbered_title(above=1, number=1)
    assert found.text.startswith(TITLE[0][1])
    assert "# (line numbers)" in found.removed_templates


def test_a_number_that_does_not_count_the_row_stays() -> None:
    assert _numbered_title(above=1, number=7).text.startswith("7 ")


def test_sub_heading_in_a_lone_style_is_marked_as_unplaced() -> None:
    parts = [TITLE]
    for number, title in enumerate(["Introduction", "Setup", "Theory", "Results"], start=1):
        parts += [head(f"{number} {title}"), body()]
    parts[5:5] = [head("Worker failure", 10), body()]
    document = parse(parts)
    kinds = {document.text[b.start : b.end]: b.kind for b in document.blocks}
    assert kinds["Worker failure"] == "unplaced_heading"
