"""The numbers that pages bear in print: which count, and which stand there by chance."""

from collections.abc import Callable, Sequence

import pytest

from rag_assets.parsing.pdf.lines import Line, Page
from rag_assets.parsing.pdf.page_numbers import page_labels, read_numbers

Placed = tuple[float, str]
HEAD, FOOT, TEXT = 30.0, 770.0, 400.0


def line(y: float, text: str) -> Line:
    return Line(text, text, (70.0, y, 300.0, y + 10), 9.0, False, False, "Times", True)


def labels_of(
    *pages: Sequence[Placed], labels: Sequence[str] = (), page_range: tuple[int, int] | None = None
) -> tuple[str, ...]:
    made = [
        Page(number, 600.0, 800.0, [[line(y, text)] for y, text in (*lines, (TEXT, "Text."))])
        for number, lines in enumerate(pages, start=1)
    ]
    return page_labels(len(made), read_numbers(made), labels, page_range)


def sheets(count: int, head: Callable[[int], Placed]) -> list[list[Placed]]:
    return [[head(sheet)] for sheet in range(1, count + 1)]


@pytest.mark.parametrize(
    "form",
    ["{}", "– {} –", "Page {} of 470", "第 {} 页", "{} SMITH ET AL.", "Roofs and heat {}", "S. {}"],
)
def test_numbers_that_rise_by_one_are_those_of_the_pages(form: str) -> None:
    pages = sheets(4, lambda sheet: (HEAD, form.format(456 + sheet)))
    assert labels_of(*pages) == ("457", "458", "459", "460")


def test_numbers_of_the_sheets_themselves_change_nothing() -> None:
    assert labels_of(*sheets(4, lambda sheet: (FOOT, str(sheet)))) == ()
    assert labels_of(*sheets(4, lambda sheet: (FOOT, f"Page {sheet} of 4"))) == ()
    both = [[(HEAD, f"{n + 456} SMITH"), (FOOT, f"{n} / 4")] for n in range(1, 5)]
    assert labels_of(*both) == ("457", "458", "459", "460")


@pytest.mark.parametrize(
    "texts",
    [
        ("457", "458"),  # two sheets prove nothing
        ("2019", "2019", "2019", "2019"),
        ("2 Background", "3 Methods", "4 Results", "5 Discussion"),
        ("12", "7", "31", "8"),
        ("3", "Text", "Text", "Text", "Text", "Text", "Text", "Text", "11", "12"),
    ],
)
def test_numbers_that_stand_there_by_chance_do_not_count(texts: Sequence[str]) -> None:
    assert labels_of(*([(HEAD, text)] for text in texts)) == ()


def test_numbers_in_the_text_or_beside_a_heading_do_not_count() -> None:
    assert labels_of(*sheets(5, lambda sheet: (350.0, str(sheet + 10)))) == ()
    sections = ("Background", "Methods", "Results", "Discussion")
    pages = [[(HEAD, str(n)), (HEAD, name)] for n, name in enumerate(sections, start=2)]
    assert labels_of(*pages) == ()
    # A running head beside it occurs again.
    pages = [[(HEAD, str(n + 300)), (HEAD, "Smith et al.")] for n in range(1, 4)]
    assert labels_of(*pages) == ("301", "302", "303")


def test_front_matter_has_roman_numbers_and_unnumbered_sheets_stay_unknown() -> None:
    numbers = ["", "", "iii", "iv", "v", "1", "2", "", "4", "5"]
    pages = [[(FOOT, number)] if number else [] for number in numbers]
    assert labels_of(*pages) == ("", "", "iii", "iv", "v", "1", "2", "3", "4", "5")


def test_labels_of_the_file_count_unless_they_are_trivial_or_print_contradicts() -> None:
    empty: list[list[Placed]] = [[], [], [], []]
    assert labels_of(*empty, labels=["i", "ii", "1", "2"]) == ("i", "ii", "1", "2")
    assert labels_of(*empty, labels=["<FEFF0065>110", "<FEFF0065>111", "e112", "e113"]) == (
        "e110", "e111", "e112", "e113",
    )  # fmt: skip
    assert labels_of(*empty, labels=["Cover", "1", "2", "3"]) == ("", "1", "2", "3")
    assert labels_of(*empty, labels=["1", "2", "3", "4"]) == ()
    assert labels_of(*empty, labels=["1", "1", "1", "1"]) == ()
    assert labels_of(*empty, labels=["9", "2", "7", "5"]) == ()
    printed = sheets(4, lambda sheet: (HEAD, str(456 + sheet)))
    assert labels_of(*printed, labels=["1", "2", "3", "4"]) == ("457", "458", "459", "460")


def test_range_of_the_paper_counts_where_a_head_agrees() -> None:
    pages: list[list[Placed]] = [[], [(HEAD, "458")], []]
    assert labels_of(*pages) == ()
    assert labels_of(*pages, page_range=(457, 459)) == ("457", "458", "")
    assert labels_of([], [], [], page_range=(457, 459)) == ()
    assert labels_of(*pages, page_range=(300, 302)) == ()
