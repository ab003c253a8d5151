"""Cells of a predicted table compared with the true ones, and rows of labels on disk.

Rows, then columns, are aligned by dynamic programming, as in GriTS (Smock et al. 2022) with exact
content: a predicted cell is right where its text equals that of the aligned true cell.
"""

import hashlib
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path

Grid = Sequence[Sequence[str]]
Pairs = list[tuple[int, int]]

# A true cell that is merged with the one above or to the left; in the stored form too.
ABOVE, LEFT = "^", "<"
_MARKS = frozenset({ABOVE, LEFT})
_DEGREES = str.maketrans("◦∘˚", "°°°")
_DASHES = re.compile("[‐‑‒–—―−﹘﹣－-]+")
_IGNORED = re.compile(r"[\s\u00ad\u200b\ufeff^_*\\$]+")
# A grid that shares fewer cells with a table than this is another table.
_MIN_F1 = 0.1


@dataclass(frozen=True, slots=True)
class TrueTable:
    """A table whose cells are known.

    Args:
        names: of the columns, header rows joined from the top down with " / ".
        rows: below the header, with "^" and "<" for merged cells.
        first_rows: how many rows are known, where the table has more.
        is_hashed: whether the cells are hashes of normalised texts.
    """

    table: str
    names: Sequence[str]
    rows: Grid
    paper: str = ""
    page: int = 1
    first_rows: int | None = None
    is_hashed: bool = False


@dataclass(frozen=True, slots=True)
class Score:
    """Counts of cells: right, predicted and true ones; then of values with both their names."""

    right: int = 0
    predicted: int = 0
    expected: int = 0
    named_right: int = 0
    named_predicted: int = 0
    named_expected: int = 0

    def __add__(self, other: "Score") -> "Score":
        return Score(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(Score)))

    def shares(self) -> list[float | None]:
        """Return precision and recall of cells, then of named values; None of nothing."""
        pairs = (
            (self.right, self.predicted),
            (self.right, self.expected),
            (self.named_right, self.named_predicted),
            (self.named_right, self.named_expected),
        )
        return [part / whole if whole else None for part, whole in pairs]

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall over cells."""
        total = self.predicted + self.expected
        return 2 * self.right / total if total else 0.0


@dataclass(frozen=True, slots=True)
class Match:
    """A grid beside the true table: counts, aligned rows and columns as (true, predicted)."""

    score: Score
    rows: Pairs = field(default_factory=list)
    columns: Pairs = field(default_factory=list)


def normalise(text: str) -> str:
    """Return a text as it is compared: without white space, marks of markup and header joints.

    Dashes and minus signs count as one character, and so do degree signs.
    """
    joined = unicodedata.normalize("NFKC", text.replace(" / ", "").translate(_DEGREES))
    return _DASHES.sub("-", _IGNORED.sub("", joined))


def hashed(text: str) -> str:
    """Return the stored form of a cell: 8 hex digits, "" of an empty one."""
    plain = normalise(text)
    return hashlib.sha256(plain.encode()).hexdigest()[:8] if plain else ""


def hash_table(table: TrueTable) -> TrueTable:
    """Return a table with hashes instead of texts; merged cells keep their mark."""
    rows = [[c if c in _MARKS else hashed(c) for c in row] for row in table.rows]
    names = [hashed(name) for name in table.names]
    return TrueTable(
        " ".join(table.table.split()), names, rows, table.paper, table.page, table.first_rows, True
    )


def read_tables(file: Path) -> list[TrueTable]:
    """Return the labelled tables of a file of JSON lines, texts or hashes.

    Raises:
        ValueError: a line lacks a field or has cells that are no texts.
    """
    tables = []
    for number, line in enumerate(file.read_text(encoding="utf-8").split("\n"), start=1):
        if not line.strip():
            continue
        row = json.loads(line)
        try:
            names, rows = row["names"], row["rows"]
            if not all(isinstance(cell, str) for cells in (names, *rows) for cell in cells):
                raise ValueError(f"{file.name}, line {number}: cells must be texts")
            first = row.get("first_rows") or (len(rows) if row.get("part") else None)
            tables.append(
                TrueTable(
                    " ".join(row["table"].split()), names, rows, row["paper"], row["page"],
                    first, row.get("hashed", False),
                )
            )  # fmt: skip
        except KeyError as error:
            raise ValueError(f"{file.name}, line {number}: no field {error}") from error
    return tables


def write_tables(tables: Iterable[TrueTable], file: Path) -> None:
    """Write tables as JSON lines that `read_tables` reads."""
    lines = []
    for table in tables:
        row: dict[str, object] = {
            "paper": table.paper, "page": table.page, "table": table.table,
            "names": table.names, "rows": table.rows,
        }  # fmt: skip
        if table.first_rows is not None:
            row["first_rows"] = table.first_rows
        if table.is_hashed:
            row["hashed"] = True
        lines.append(json.dumps(row, ensure_ascii=False) + "\n")
    file.write_text("".join(lines), encoding="utf-8")


def score_grid(truth: TrueTable, grid: Grid) -> Match:
    """Compare a predicted grid, whose first row is the header, with the true table.

    A merged true cell is not scored where the prediction is empty or repeats the merged text.
    Rows below the last aligned one are not counted where only the first rows are known.
    """
    form = hashed if truth.is_hashed else normalise
    found = _rectangle([[form(cell) for cell in row] for row in grid])
    raw = _rectangle([truth.names, *truth.rows])
    marks = [[row > 0 and cell in _MARKS for cell in cells] for row, cells in enumerate(raw)]
    known = [[cell if truth.is_hashed else normalise(cell) for cell in row] for row in raw]
    for i, cells in enumerate(raw):
        for k, cell in enumerate(cells):
            if marks[i][k]:
                known[i][k] = known[i - 1][k] if cell == ABOVE else known[i][k - 1] if k else ""
    rows, columns = _align_grids(known, marks, found)

    true_row, true_column = {j: i for i, j in rows}, {m: k for k, m in columns}
    predicted_column = dict(columns)
    last = max(true_row, default=-1) + 1 if truth.first_rows is not None else len(found)

    def is_named(i: int, k: int, j: int, m: int) -> bool:
        first = predicted_column.get(0)
        if known[0][k] != found[0][m] or first is None:
            return False
        return found[j][first] == known[i][0] or (marks[i][0] and not found[j][first])

    right = predicted = named = named_predicted = 0
    for j, cells in enumerate(found[:last]):
        for m, cell in enumerate(cells):
            if not cell:
                continue
            i, k = true_row.get(j, -1), true_column.get(m, -1)
            is_right = i >= 0 and k >= 0 and known[i][k] == cell
            if is_right and marks[i][k]:
                continue
            predicted += 1
            right += is_right
            if j and m != predicted_column.get(0, 0):
                named_predicted += 1
                named += is_right and i > 0 and is_named(i, k, j, m)
    expected = sum(map(_count, known, marks))
    named_expected = sum(_count(known[i][1:], marks[i][1:]) for i in range(1, len(known)))
    score = Score(right, predicted, expected, named, named_predicted, named_expected)
    return Match(score, rows, columns)


def missed_score(truth: TrueTable) -> Score:
    """Return the counts of a table that was not found."""
    return score_grid(truth, []).score


def match_grids(
    truths: Sequence[TrueTable], grids: Sequence[Grid]
) -> tuple[list[tuple[Match, Grid | None]], int]:
    """Give each true table the grid that fits it best; also return how many grids fit none."""
    trials = [
        (match.score.f1, -t, -g, match)
        for t, truth in enumerate(truths)
        for g, grid in enumerate(grids)
        if (match := score_grid(truth, grid)).score.f1 >= _MIN_F1
    ]
    chosen: dict[int, tuple[Match, Grid | None]] = {}
    used: set[int] = set()
    for _, t, g, match in sorted(trials, key=lambda trial: trial[:3], reverse=True):
        if -t not in chosen and -g not in used:
            chosen[-t] = match, grids[-g]
            used.add(-g)
    missed = [(Match(missed_score(truth)), None) for truth in truths]
    return [chosen.get(t, missed[t]) for t in range(len(truths))], len(grids) - len(used)


def differences(truth: TrueTable, grid: Grid, match: Match) -> list[str]:
    """Return a line for each cell that is not right, with both texts."""
    raw = _rectangle([truth.names, *truth.rows])
    found = _rectangle(grid)
    form = hashed if truth.is_hashed else normalise
    rows, columns = dict(match.rows), dict(match.columns)
    lines = []
    for i, cells in enumerate(raw):
        if i not in rows:
            lines += [f"row {i} has none: {' | '.join(cells)}"] if any(cells) else []
            continue
        for k, cell in enumerate(cells):
            other = found[rows[i]][columns[k]] if k in columns else ""
            merged = i > 0 and cell in _MARKS
            same = (cell if truth.is_hashed else normalise(cell)) == form(other)
            if not same and not (merged and not other):
                lines.append(f"row {i}, column {k}: {cell!r} | {other!r}")
    last = max(rows.values(), default=0) if truth.first_rows is not None else len(found)
    extra = [(f"row {j}", found[j]) for j in range(min(last, len(found))) if j not in rows.values()]
    extra += [
        (f"column {m}", [row[m] for row in found])
        for m in range(len(found[0]) if found else 0)
        if m not in columns.values()
    ]
    lines += [f"extra {place}: {' | '.join(cells)}" for place, cells in extra if any(cells)]
    return lines


def _rectangle(grid: Grid) -> list[list[str]]:
    width = max(map(len, grid), default=0)
    return [[*row, *[""] * (width - len(row))] for row in grid]


def _count(cells: Sequence[str], marks: Sequence[bool]) -> int:
    return sum(bool(cell) and not mark for cell, mark in zip(cells, marks, strict=True))


def _align_grids(known: Grid, marks: Sequence[Sequence[bool]], found: Grid) -> tuple[Pairs, Pairs]:
    """Return the aligned rows and columns, as (true, predicted)."""
    if not known or not found:
        return [], []
    scored = [
        [None if mark or not cell else cell for cell, mark in zip(cells, row, strict=True)]
        for cells, row in zip(known, marks, strict=True)
    ]

    def shared(i: int, j: int) -> int:
        if set(scored[i]).isdisjoint(found[j]):
            return 0
        pairs = _align(len(scored[i]), len(found[j]), lambda k, m: scored[i][k] == found[j][m])
        return len(pairs)

    def columns_for(rows: Pairs) -> Pairs:
        def gain(k: int, m: int) -> int:
            return sum(scored[i][k] == found[j][m] for i, j in rows)

        return _align(len(scored[0]), len(found[0]), gain)

    def rows_for(columns: Pairs) -> Pairs:
        def gain(i: int, j: int) -> int:
            return sum(scored[i][k] == found[j][m] for k, m in columns)

        return _align(len(scored), len(found), gain)

    # The columns tell apart rows that share as many cells.
    rows = rows_for(columns_for(_align(len(scored), len(found), shared)))
    return rows, columns_for(rows)


def _align(count: int, other: int, gain: Callable[[int, int], int]) -> Pairs:
    """Return the pairs in ascending order with the greatest sum of gains; none without gain."""
    gains = [[int(gain(i, j)) for j in range(other)] for i in range(count)]
    best = [[0] * (other + 1) for _ in range(count + 1)]
    for i in range(count - 1, -1, -1):
        for j in range(other - 1, -1, -1):
            best[i][j] = max(best[i + 1][j], best[i][j + 1], gains[i][j] + best[i + 1][j + 1])
    pairs, i, j = [], 0, 0
    while i < count and j < other:
        if gains[i][j] and best[i][j] == gains[i][j] + best[i + 1][j + 1]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs
