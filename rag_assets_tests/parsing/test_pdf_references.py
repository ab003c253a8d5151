"""Lists of references of made-up PDFs, cut into entries."""

from collections.abc import Sequence

import pytest

from rag_assets.model import ParsedDocument
from rag_assets.parsing import ParseHints, parse_document
from rag_assets_tests.parsing.conftest import make_settings
from rag_assets_tests.parsing.made_up_pdfs import Placed, make_pdf, paragraph

BODY = (
    "Worms have been counted since the days of Darwin, who weighed their casts and saw",
    "how they bury stones. What the plough does to them is known from few fields only,",
    "and most of those were watched for a single year. We followed twelve for three.",
)
NAMES = ("Archer", "Baker", "Carter", "Draper", "Fuller", "Glover", "Hooper", "Joiner")


def parse(*pages: Sequence[Placed]) -> ParsedDocument:
    return parse_document(make_pdf(pages), ParseHints(".pdf"), make_settings())


def entries_of(document: ParsedDocument) -> list[str]:
    return [document.text[b.start : b.end] for b in document.blocks if b.kind == "reference"]


def entry_lines(name: str, mark: str = "") -> tuple[str, str]:
    return (
        f"{mark}{name}, A. B. (2001). How earthworms of the northern plains live through frost and",
        "drought in fields of winter wheat. Journal of Soil Life 12(3), 45-67.",
    )


def listed(marks: Sequence[str], *, y: float, hang: float = 0.0) -> list[Placed]:
    lines: list[Placed] = []
    for index, mark in enumerate(marks):
        first, second = entry_lines(NAMES[index], mark)
        lines += [(70, y + 26 * index, first), (70 + hang, y + 26 * index + 13, second)]
    return lines


@pytest.mark.parametrize("form", ["[{}] ", "{}. ", "({}) ", "{} "])
def test_numbered_entries_are_one_block_each(form: str) -> None:
    marks = [form.format(number) for number in range(1, 7)]
    page = [*paragraph(*BODY), (70, 160, "References", 14), *listed(marks, y=185, hang=12)]
    entries = entries_of(parse(page))
    assert len(entries) == 6
    assert [entry.startswith(mark.strip()) for entry, mark in zip(entries, marks, strict=True)] == [
        True
    ] * 6
    assert all(entry.endswith("45-67.") for entry in entries)


def test_entries_with_hanging_indent_are_one_block_each() -> None:
    page = [*paragraph(*BODY), (70, 160, "References", 14), *listed([""] * 6, y=185, hang=14)]
    entries = entries_of(parse(page))
    assert [entry.split(",")[0] for entry in entries] == list(NAMES[:6])


def test_entries_with_labels_are_one_block_each() -> None:
    marks = [f"[{name[:3]}01] " for name in NAMES[:6]]
    page = [*paragraph(*BODY), (70, 160, "Bibliography", 14), *listed(marks, y=185)]
    assert len(entries_of(parse(page))) == 6


def test_entry_that_runs_over_a_page_counts_once_and_keeps_its_lines() -> None:
    marks = [f"[{number}] " for number in range(1, 5)]
    first_page = [*paragraph(*BODY), (70, 660, "References", 14), *listed(marks, y=685)]
    rest = first_page.pop()
    document = parse(
        first_page, [(70, 80, rest[2]), (70, 106, "[5] Fuller, A. (1999). On worms. Soil 3, 1-9.")]
    )
    entries = entries_of(document)
    assert len(entries) == 5
    assert entries[3].endswith("45-67.")
    block = [b for b in document.blocks if b.kind == "reference"][3]
    pages = [item.page for item in document.lines if block.start <= item.start < block.end]
    assert pages == [1, 2]
    assert document.pages[1].start > block.start


def test_chinese_list_is_found() -> None:
    page = [
        *paragraph("本文研究了麦田蚯蚓的数量变化及其与耕作方式的关系。"),
        (70, 160, "参考文献", 14),
        (70, 185, "[1] 李明. 蚯蚓生态研究[J]. 土壤学报, 2001, 12(3): 45-67."),
        (70, 205, "[2] 王强. 耕作与土壤动物[M]. 北京: 科学出版社, 1999."),
        (70, 225, "[3] 张伟. 免耕对蚯蚓的影响[D]. 南京大学, 2010."),
    ]
    assert len(entries_of(parse(page))) == 3


def test_text_behind_the_list_is_text_again() -> None:
    marks = [f"[{number}] " for number in range(1, 5)]
    page = [
        *paragraph(*BODY),
        (70, 160, "References", 14),
        *listed(marks, y=185),
        (70, 330, "Appendix", 14),
        *paragraph(*BODY, y=355),
    ]
    document = parse(page)
    assert len(entries_of(document)) == 4
    last = document.blocks[-1]
    assert last.kind == "paragraph"
    assert document.text[last.start : last.end].startswith("Worms have been")


def test_numbered_list_without_a_head_is_found_at_the_end() -> None:
    marks = [f"[{number}] " for number in range(1, 7)]
    page = [*paragraph(*BODY), *paragraph(*BODY, y=160), *listed(marks, y=240)]
    assert len(entries_of(parse(page))) == 6


def test_contents_and_prose_that_cites_are_no_lists() -> None:
    page = [
        (70, 80, "Contents", 14),
        (70, 100, "1 Introduction"),
        (70, 120, "References"),
        (70, 140, "2 Methods and fields"),
        *paragraph(*BODY, y=180),
        *paragraph("As Baker (2001) and Carter (1999) found, worms like wheat.", y=240),
    ]
    assert entries_of(parse(page)) == []


def test_each_list_of_a_book_is_split() -> None:
    chapter = [
        *paragraph(*BODY),
        (70, 160, "References", 14),
        *listed([f"[{number}] " for number in range(1, 4)], y=185, hang=12),
    ]
    assert len(entries_of(parse(chapter, chapter))) == 6
