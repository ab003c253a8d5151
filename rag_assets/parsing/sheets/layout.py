"""Where a table's titles and header rows end: decided by what its columns hold."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Row = Sequence[tuple[int, str]]
"""The filled cells of one row: (column from 0, text on one line), in order; empty: blank row."""

Kind = Literal["number", "date", "text"]

# A column is of a kind when nearly all of its cells are: totals and remarks stand among them.
_MIN_TYPED_SHARE = 0.8
# No number and no date with its time is longer.
_MAX_TYPED_CHARACTERS = 40
# Longer cells, and whole sentences, are content: names of columns are short.
_MAX_HEADER_CHARACTERS = 100
# `mmol/(L·min)`, `% of total`.
_MAX_UNIT_CHARACTERS = 15
# Forms (a name and its value a row) are short; longer lists of pairs are tables.
_MAX_FORM_ROWS = 50

_NUMBER = re.compile(
    r"[-+(]?[$€£¥]?\s?[-+]?(?:\d[\d.,' \u00a0\u202f]*|\.\d+)(?:e[-+]?\d+)?\s?[%‰€£¥$]?\)?",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?(?:[T ]\d{1,2}:\d{2}.*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}"
    r"(?: \d{1,2}:\d{2}.*)?|\d{1,2}:\d{2}(?::\d{2})?|\d{4}年\d{1,2}月(?:\d{1,2}日)?"
)
_YEAR = re.compile(r"(?:1[89]|20|21)\d\d")
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_SENTENCE_END = tuple(".?!。？！")


@dataclass(frozen=True, slots=True)
class Layout:
    """How a table begins.

    Args:
        titles: leading rows that stand above the table.
        headers: rows after them that name the columns: 0, 1 or 2.
        names: of the columns by their index; empty without header.
        is_form: every row is a name and its value.
    """

    titles: int
    headers: int
    names: dict[int, str]
    is_form: bool = False


def find_layout(rows: Sequence[Row], inherited: dict[int, str], *, single_column: bool) -> Layout:
    """Return the layout of a table that begins with `rows`.

    A header is a row of names above columns of numbers or dates; where all columns are text, a
    row of short, distinct names that its columns do not repeat. Years may name columns.

    Args:
        rows: the first rows, none of them blank.
        inherited: names of the columns of the table above on the same sheet: rows that show no
            header of their own and fit into them go on with them.
        single_column: whether a table of one column is one (a csv file), not prose.
    """
    if all(len(row) == 1 for row in rows):
        return _single_column_layout(rows) if single_column else Layout(len(rows), 0, {})
    titles = next(index for index, row in enumerate(rows) if len(row) > 1)
    # Exports repeat the header on every page.
    body = [rows[titles], *(row for row in rows[titles + 1 :] if row != rows[titles])]
    if inherited and _goes_on(body, inherited):
        repeats = all(inherited.get(column) == text for column, text in body[0])
        return Layout(titles, int(repeats), dict(inherited))
    is_form = _is_form(body)
    if (not is_form or len(body[1]) == 1) and _is_units_row(body):
        return Layout(titles, 2, _names_with_units(body[0], body[1]))
    if not is_form and _is_group_row(body):
        return Layout(titles, 2, _group_names(body[0], body[1]))
    if not is_form and _is_header(body[0], body[1:]):
        return Layout(titles, 1, dict(body[0]))
    return Layout(titles, 0, {}, is_form)


def kind_of(text: str) -> Kind:
    """Return what a cell holds, as its text shows it."""
    if len(text) > _MAX_TYPED_CHARACTERS:
        return "text"
    if _DATE.fullmatch(text):
        return "date"
    return "number" if _NUMBER.fullmatch(text) else "text"


def _goes_on(body: Sequence[Row], names: dict[int, str]) -> bool:
    """Tell whether rows belong to the columns of the table above a blank row."""
    if any(column not in names for row in body for column, _ in row):
        return False
    return _votes(body[0], body[1:]) <= 0


def _votes(candidate: Row, below: Sequence[Row]) -> int:
    """Return for how many columns the candidate is a name, less those where it is a value.

    Only columns of numbers or dates vote.
    """
    kinds = _column_kinds(below)
    years = _are_year_names(candidate, below)
    votes = 0
    for column, text in candidate:
        below_kind = kinds.get(column, "text")
        if below_kind == "text":
            continue
        own = "text" if years and _YEAR.fullmatch(text) else kind_of(text)
        votes += 1 if own == "text" else -1
    return votes


def _is_header(candidate: Row, below: Sequence[Row]) -> bool:
    votes = _votes(candidate, below)
    if votes:
        return votes > 0
    texts = [text for _, text in candidate]
    if any(not _may_name(text) for text in texts) or len(set(texts)) < len(texts):
        return False
    width = max((len(row) for row in below), default=len(candidate))
    if 2 * len(candidate) < width:
        return False
    own = dict(candidate)
    return not any(own.get(column) == text for row in below for column, text in row)


def _may_name(text: str) -> bool:
    is_short = len(text) <= _MAX_HEADER_CHARACTERS and not text.endswith(_SENTENCE_END)
    return is_short and kind_of(text) == "text"


def _are_year_names(candidate: Row, below: Sequence[Row], *, is_grouped: bool = False) -> bool:
    """Tell whether years in a row are names: distinct unless groups stand above, and no years below
    them.
    """
    years = {column: text for column, text in candidate if _YEAR.fullmatch(text)}
    if len(years) < 2 or (not is_grouped and len(set(years.values())) < len(years)):
        return False
    values = [text for row in below for column, text in row if column in years]
    return bool(values) and 2 * sum(_YEAR.fullmatch(text) is not None for text in values) < len(
        values
    )


def _column_kinds(rows: Iterable[Row]) -> dict[int, Kind]:
    counts: dict[int, dict[Kind, int]] = {}
    for row in rows:
        for column, text in row:
            own = counts.setdefault(column, {"number": 0, "date": 0, "text": 0})
            own[kind_of(text)] += 1
    kinds: dict[int, Kind] = {}
    for column, own in counts.items():
        typed: Kind = "number" if own["number"] >= own["date"] else "date"
        share = (own["number"] + own["date"]) / sum(own.values())
        kinds[column] = typed if share >= _MIN_TYPED_SHARE else "text"
    return kinds


def _is_form(rows: Sequence[Row]) -> bool:
    """Tell whether rows are names with a value each: text and typed values mixed below."""
    if not 2 <= len(rows) <= _MAX_FORM_ROWS or any(len(row) > 2 for row in rows):
        return False
    columns = {column for row in rows for column, _ in row}
    if len(columns) != 2:
        return False
    first, second = sorted(columns)
    names = [text for row in rows for column, text in row if column == first]
    values = [text for row in rows for column, text in row if column == second]
    if len(set(names)) < len(names) or any(not _may_name(name) for name in names):
        return False
    if all(name.endswith((":", "：")) for name in names):
        return True
    kinds = {kind_of(value) for value in values[1:]}
    return (
        len(rows) > 2
        and len(kinds) > 1
        and "text" in kinds
        and _column_kinds(rows)[second] == "text"
    )


def _is_units_row(rows: Sequence[Row]) -> bool:
    """Tell whether the second row gives the units of the columns of numbers that the first names.

    It has a short text over columns of numbers or dates and leaves out one at least.
    """
    if len(rows) < 3 or len(rows[1]) >= len(rows[0]) or not _is_header(rows[0], rows[2:]):
        return False
    kinds = _column_kinds(rows[2:])
    named = dict(rows[0])
    return all(
        column in named
        and kinds.get(column, "text") != "text"
        and kind_of(text) == "text"
        and len(text) <= _MAX_UNIT_CHARACTERS
        for column, text in rows[1]
    )


def _names_with_units(names: Row, units: Row) -> dict[int, str]:
    stated = dict(units)
    return {
        column: f"{name} ({stated[column].strip('()[]')})" if column in stated else name
        for column, name in names
    }


def _is_group_row(rows: Sequence[Row]) -> bool:
    """Tell whether the first row names groups of the columns that the second row names."""
    if len(rows) < 3:
        return False
    groups, names = rows[0], rows[1]
    if len(groups) >= len(names) or groups[-1][0] > names[-1][0]:
        return False
    may_group = all(_may_name(text) or _YEAR.fullmatch(text) for _, text in groups)
    own_votes = _votes(groups, rows[2:])
    # Under groups the same years come again: each is told from the others by its group.
    joined = [(column, f"{name} ") for column, name in _group_names(groups, names).items()]
    is_named = _votes(names, rows[2:]) > 0 or (
        _are_year_names(names, rows[2:], is_grouped=True) and _votes(joined, rows[2:]) > 0
    )
    return may_group and own_votes >= 0 and is_named


def _group_names(groups: Row, names: Row) -> dict[int, str]:
    own = dict(names)
    starts = dict(groups)
    joined: dict[int, str] = {}
    group = ""
    for column in range(min(*own, *starts), max(own) + 1):
        group = starts.get(column, group)
        name = own.get(column, "")
        if group or name:
            joined[column] = " / ".join(dict.fromkeys(part for part in (group, name) if part))
    return joined


def _single_column_layout(rows: Sequence[Row]) -> Layout:
    votes = _votes(rows[0], rows[1:])
    is_name = votes > 0 or (votes == 0 and _IDENTIFIER.fullmatch(rows[0][0][1]) is not None)
    return Layout(0, 1, dict(rows[0])) if is_name and len(rows) > 1 else Layout(0, 0, {})
