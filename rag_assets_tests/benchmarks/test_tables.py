"""The scorer of tables counts right cells, whatever rows and columns are too many or missing."""

from pathlib import Path

import pytest

from benchmarks.tables.content import STYLES, make_sheets
from benchmarks.tables.readers import markdown_rows
from benchmarks.tables.scoring import (
    Grid,
    TrueTable,
    differences,
    hash_table,
    match_grids,
    normalise,
    read_tables,
    score_grid,
    write_tables,
)

NAMES = ["Site", "2019 / Mass (mg)", "2019 / Share"]
ROWS = [["Aue", "1.5 × 10^−3", "4%"], ["^", "2", "–"], ["Panel B", "<", "<"], ["Bex", "", "7"]]
TRUTH = TrueTable("Table 1", NAMES, ROWS, "p.pdf", 3)
GRID = [
    ["Site", "2019 Mass (mg)", "2019 Share"],
    ["Aue", "1.5×10-3", "4 %"],
    ["", "2", "—"],
    ["Panel B", "", ""],
    ["Bex", "", "7"],
]


def shares(truth: TrueTable, grid: Grid) -> tuple[int, int, int]:
    score = score_grid(truth, grid).score
    return score.right, score.predicted, score.expected


@pytest.mark.parametrize("truth", [TRUTH, hash_table(TRUTH)], ids=["texts", "hashes"])
def test_a_right_table_has_all_cells_and_repeats_of_merged_ones_do_not_count(
    truth: TrueTable,
) -> None:
    assert shares(truth, GRID) == (11, 11, 11)
    score = score_grid(truth, GRID).score
    assert (score.named_right, score.named_predicted, score.named_expected) == (5, 5, 5)
    repeated = [*GRID[:2], ["Aue", "2", "—"], ["Panel B", "Panel B", "Panel B"], GRID[4]]
    assert shares(truth, repeated) == (11, 11, 11)
    wrong = [*GRID[:2], ["Bex", "2", "—"], *GRID[3:]]
    assert shares(truth, wrong) == (11, 12, 11)


def test_cells_count_only_in_their_row_and_column() -> None:
    split = [[row[0][:1], row[0][1:], *row[1:]] for row in GRID]
    assert shares(TRUTH, split) == (7, 15, 11)
    swapped = [[row[0], row[2], row[1]] for row in GRID]
    assert shares(TRUTH, swapped)[0] < 9
    assert shares(TRUTH, GRID[1:])[:2] == (8, 8)
    assert shares(TRUTH, [*GRID, GRID[-1]]) == (11, 13, 11)
    assert shares(TRUTH, [["x", "y", "z"], *GRID])[:2] == (11, 14)


def test_values_under_a_wrong_name_are_right_and_not_named() -> None:
    score = score_grid(TRUTH, [["Site", "Mass", "2019 Share"], *GRID[1:]]).score
    assert (score.right, score.named_right, score.named_predicted) == (10, 3, 5)


def test_further_rows_of_a_part_are_not_counted() -> None:
    part = TrueTable("Table 1", NAMES, ROWS, first_rows=4)
    longer = [*GRID, ["Cham", "3", "1"]]
    assert shares(TRUTH, longer) == (11, 14, 11)
    assert shares(part, longer) == (11, 11, 11)


def test_each_table_takes_its_best_grid_and_the_others_are_extra() -> None:
    half = GRID[:2]
    [(match, grid)], extra = match_grids([TRUTH], [[["Figure", "axis"]], half, GRID])
    assert grid == GRID
    assert (match.score.right, extra) == (11, 2)
    [(match, grid)], extra = match_grids([TRUTH], [[["Figure", "axis"]]])
    assert grid is None
    assert (match.score.predicted, match.score.expected, extra) == (0, 11, 1)


def test_labels_are_stored_without_their_texts(tmp_path: Path) -> None:
    file = tmp_path / "labels.jsonl"
    write_tables([hash_table(TRUTH)], file)
    assert "Aue" not in file.read_text(encoding="utf-8")
    (stored,) = read_tables(file)
    assert stored == hash_table(TRUTH)
    assert (stored.rows[1][0], stored.rows[3][1]) == ("^", "")
    file.write_text('{"paper": "p.pdf", "page": 1, "table": "1", "names": []}', encoding="utf-8")
    with pytest.raises(ValueError, match=r"labels\.jsonl, line 1: no field 'rows'"):
        read_tables(file)


def test_differing_cells_are_listed() -> None:
    other = [*GRID[:1], ["Aue", "1.6", "4%"], *GRID[2:4], ["Bex", "", "7"], ["Cham", "", ""]]
    lines = differences(TRUTH, other, score_grid(TRUTH, other))
    assert lines == ["row 1, column 1: '1.5 × 10^−3' | '1.6'", "extra row 5: Cham |  | "]


def test_texts_are_compared_without_markup_and_spaces() -> None:
    assert normalise("A / B (m^2)") == normalise("A B (m²)") == "AB(m2)"
    assert normalise("−1.2 × 10^−3*") == normalise("-1.2×10–3") == "-1.2×10-3"
    assert normalise("T (◦C)") == normalise("T (℃)")
    assert normalise("Yield") != normalise("yield")


def test_markdown_is_read_as_rows() -> None:
    text = "| a \\| b | c |\n| --- | --- |\n| 1 | |"
    assert markdown_rows(text) == [["a | b", "c"], ["1", ""]]
    assert markdown_rows("no table") == []


def test_made_tables_are_the_same_each_time_and_rectangular() -> None:
    sheets = make_sheets(1)
    assert {sheet.style for sheet in sheets} == set(STYLES)
    assert [sheet.truth() for sheet in sheets] == [sheet.truth() for sheet in make_sheets(1)]
    for sheet in sheets:
        assert len({len(row) for row in sheet.grid}) == 1, sheet.name
    (merged,) = [s for s in sheets if s.name == "two head rows-latex-en-0"]
    assert all(" / " in name for name in merged.truth().names[1:])
