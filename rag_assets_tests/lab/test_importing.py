"""Sheets of past experiments: what is understood is shown, and stored as it is written there."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from rag_assets.cli.main import build_cli
from rag_assets.lab.experience import list_items
from rag_assets.lab.feedback import find_feedback
from rag_assets.lab.importing import Understood, import_experiments, read_sheet
from rag_assets.lab.laboratory import Laboratory
from rag_assets.lab.products import add_product, product_names
from rag_assets.lab.runs import list_runs
from rag_assets.lab.teaching import history_csv, list_history
from rag_assets.lab.tools import LabLibrary
from rag_assets.model import UsageError
from rag_assets_tests.lab.laboratories import AT, PRODUCTS, make_laboratory, recipe, run_of
from rag_assets_tests.parsing.made_up_sheets import make_xlsx, sheet_xml

HEADER = ["催化剂", "小分子", "C₂H₄ (μmol g⁻¹ h⁻¹)", "CO", "CH₄", "评分", "备注", "bench"]
ROWS: list[list[Any]] = [
    ["Past experiments"],
    HEADER,
    ["Cu2Mo2-TiO2/Zr-BTB", "glycine", (12.3456, 3), 3, 0, 7.5, "stable for four hours", "A"],
    ["Cu–TiO2", "glycine", 1, 2, 3, 4, None, "A"],
    ["Cu₁Fe₂–TiO2", "benzoic acid", "n.d.", 1, 1, 2, None, "B"],
    ["Cu1Fe2-TiO2", "benzoic acid", 4, None, None, None, None, "B"],
    ["ZnMo-TiO2", None, 4, None, None, None, None, "B"],
]


@pytest.fixture
def lab(tmp_path: Path) -> Laboratory:
    return make_laboratory(tmp_path / "w")


def workbook(path: Path, *sheets: Sequence[Sequence[Any]]) -> Path:
    named = {f"S{number}": sheet_xml(rows) for number, rows in enumerate(sheets, start=1)}
    path.write_bytes(make_xlsx(named))
    return path


def understand(lab: Laboratory, path: Path, **said: Any) -> Understood:
    settings = lab.workspace.settings.parse
    return read_sheet(path.name, path.read_bytes(), PRODUCTS, settings, **said)


def test_rows_are_understood_or_refused_with_a_reason(lab: Laboratory, tmp_path: Path) -> None:
    found = understand(lab, workbook(tmp_path / "x.xlsx", ROWS))
    assert (found.sheet, found.header_row) == ("S1", 2)
    assert [column.field for column in found.columns] == [
        "catalyst", "modifier", "product", "product", "product", "score", "other", None,
    ]  # fmt: skip
    assert found.columns[2].unit == "μmol g⁻¹ h⁻¹"
    first, second = found.experiments
    # In full, where the cell shows two decimals; 0 was measured, an empty cell was not.
    assert dict(first.values) == {"C2H4": 12.3456, "CO": 3.0, "CH4": 0.0}
    assert (first.recipe.M1, first.recipe.M2, first.recipe.atomic_ratio) == ("Cu", "Mo", "2:2")
    assert (second.row, dict(second.values), second.score) == (6, {"C2H4": 4.0}, None)
    assert list(found.refused) == [
        (4, "two metals cannot be told from 'Cu–TiO2'"),
        (5, "'n.d.' under 'C₂H₄ (μmol g⁻¹ h⁻¹)' is no number"),
        (7, "no small-molecule modifier is named"),
    ]


def test_what_is_stored_is_what_was_shown_and_the_same_sheet_adds_nothing(
    lab: Laboratory, tmp_path: Path
) -> None:
    found = understand(lab, workbook(tmp_path / "x.xlsx", ROWS))
    stored = import_experiments(lab, found, at=AT, by="ana", learn=False)
    assert (len(stored.runs), stored.known, stored.without_feedback) == (2, 0, 1)
    with lab.store.reading() as reading:
        runs = {run.id: run for run, _ in list_runs(reading)}
        first = runs[stored.runs[0]]
        feedback = find_feedback(reading, first.id)
        assert feedback is not None
        names = product_names(reading, [one.product_id for one in feedback.products])
        assert list_items(reading) == []
    assert (first.kind, first.state) == ("imported", "done")
    assert first.request["cells"]["bench"] == "A"
    assert first.request["units"] == {"C2H4": "μmol g⁻¹ h⁻¹"}
    assert dict(zip(names, [one.value for one in feedback.products], strict=True)) == {
        "C2H4": 12.3456, "CO": 3.0, "CH4": 0.0,
    }  # fmt: skip
    assert (feedback.score, feedback.other) == (7.5, "stable for four hours")
    # Another row below, other rows moved: only the new one is new; a replicate is one of its own.
    longer = [*ROWS[:2], ROWS[5], ROWS[2], ROWS[2], *ROWS[3:5]]
    again = understand(lab, workbook(tmp_path / "y.xlsx", longer))
    stored = import_experiments(lab, again, at=AT, by="ana", learn=False)
    assert (len(stored.runs), stored.known) == (1, 2)


def test_a_kill_between_run_and_feedback_is_mended_by_the_next_import(
    lab: Laboratory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = understand(lab, workbook(tmp_path / "x.xlsx", ROWS))
    with monkeypatch.context() as patched:
        patched.setattr(
            "rag_assets.lab.importing.give_feedback",
            lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt),
        )
        with pytest.raises(KeyboardInterrupt):
            import_experiments(lab, found, at=AT, by="ana", learn=False)
    import_experiments(lab, found, at=AT, by="ana", learn=False)
    with lab.store.reading() as reading:
        assert len(list_runs(reading)) == 2
        assert find_feedback(reading, found.experiments[0].run_id) is not None


def test_a_header_has_to_be_known_and_no_column_twice(lab: Laboratory, tmp_path: Path) -> None:
    path = workbook(tmp_path / "x.xlsx", [["a", "b", "c"], ["Cu", "Mo", "1:1"]])
    with pytest.raises(UsageError, match="Known headers are m1, m2, ratio"):
        understand(lab, path)
    twice = workbook(tmp_path / "t.xlsx", [["M1", "m1", "M2"], ["Cu", "Cu", "Mo"]])
    with pytest.raises(UsageError, match="two columns are taken for M1"):
        understand(lab, twice)
    wrong = workbook(
        tmp_path / "w.xlsx",
        [["M1", "M2", "ratio", "modifier", "date"], ["Cu", "Mo", "one", "glycine", None],
         ["Cu", "Mo", "1:1", "glycine", "May"]],
    )  # fmt: skip
    assert [why[:30] for _, why in understand(lab, wrong).refused] == [
        "atomic_ratio: write it as M1:M", "'May' is no date such as 2024-",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("catalyst", "modifier", "linker", "why"),
    [
        ("Cu2Mo2-TiO2/UiO-66", "glycine", "", "its host is 'UiO-66'"),
        ("Cu2Mo2-TiO2 on MIL-125(Ti)", "glycine", "", "its host is 'MIL-125(Ti)'"),
        ("UiO-66@sample 7", "glycine", "", "its host is 'UiO-66'"),
        ("Cu2Mo2-TiO2", "glycine", "H2BDC", "its host is 'H2BDC'"),
        ("Cu2Mo2-TiO2/Hf-BTB", "glycine", "", "its host is 'Hf-BTB'"),
        ("Cu2Mo2-TiO2/Zr-BTB", "hexane", "", "whether it holds –COOH cannot be told"),
        ("Cu2Mo2-TiO2/Zr-BTB", "taurine sulfonic acid", "", "none of the acids"),
        ("Cu2Xx2-TiO2/Zr-BTB", "glycine", "", "M2: 'Xx' is no metal"),
        ("Cu2Ti2-TiO2/Zr-BTB", "glycine", "", "Ti is a metal of the host"),
        ("Cu0.5In0.5-TiO2/Zr6-BTB", "glycine", "Zr-BTB nanosheets", ""),
        ("CuMo-TiO2 (batch 3)", "glycine", "BTB", ""),
    ],
)
def test_rows_that_the_fixed_structure_cannot_hold_are_refused(
    lab: Laboratory, tmp_path: Path, catalyst: str, modifier: str, linker: str, why: str
) -> None:
    metals = ["Cu", "Mo", "1:1"] if "sample" in catalyst else ["", "", ""]
    rows = [["catalyst", "modifier", "MOF", "M1", "M2", "ratio", "score"],
            [catalyst, modifier, linker, *metals, ""]]  # fmt: skip
    found = understand(lab, workbook(tmp_path / "x.xlsx", rows))
    assert len(found.experiments) == (not why)
    assert why in "".join(said for _, said in found.refused)
    if "0.5" in catalyst:
        assert found.experiments[0].recipe.atomic_ratio == "0.5:0.5"


def test_both_dates_of_an_experiment_and_its_names_in_chinese(
    lab: Laboratory, tmp_path: Path
) -> None:
    path = tmp_path / "x.csv"
    path.write_text(
        "催化剂,小分子,乙烯,评分,日期\nCu0.5Mo1.5-TiO2,甘氨酸,4,6,2024-05-31\n", "utf-8"
    )
    found = understand(lab, path)
    (stored,) = import_experiments(lab, found, at=AT, by="ana", learn=False).runs
    root = lab.workspace.root
    (row,) = json.loads(run(root, "history", "--json").output)
    assert (row["imported_at"], row["day"], row["products"][0][0]) == (AT, "2024-05-31", "C2H4")
    for shown in (
        run(root, "history").output, run(root, "show", stored).output,
        run(root, "show", stored, "--json").output, history_csv(list_history(lab)).decode(),
    ):  # fmt: skip
        assert "2026-03-01" in shown
        assert "2024-05-31" in shown
    # It is the recipe that somebody writes otherwise.
    same = recipe(M1="Mo", M2="Cu", atomic_ratio="3:1")
    assert found.experiments[0].recipe.key == same.key
    assert recipe(atomic_ratio="0.33:1").key != recipe(atomic_ratio="1:3").key
    library = LabLibrary(lab, lab.workspace, "r9")
    assert len(library.history("glycine").lines) == 1
    assert library.history("alanine").lines == ()
    # Of an earlier version, which kept the day alone.
    old = run_of("old", kind="imported", created_at="2019-02-03T00:00:00+00:00", request={})
    assert old.dates == ("", "2019-02-03")
    with lab.store.writing(AT, "ana") as writing, pytest.raises(UsageError, match="'C2H4' already"):
        add_product(writing, "乙烯")


def test_which_sheet_and_which_file_is_asked_for(lab: Laboratory, tmp_path: Path) -> None:
    path = workbook(tmp_path / "x.xlsx", [["notes"]], ROWS)
    with pytest.raises(UsageError, match="2 sheets: 'S1', 'S2'"):
        understand(lab, path)
    assert understand(lab, path, sheet="S2").header_row == 2
    broken = tmp_path / "b.xlsx"
    broken.write_bytes(b"PK no workbook")
    with pytest.raises(UsageError, match="read from xlsx, csv and tsv"):
        understand(lab, broken)


def run(root: Path, *arguments: str) -> Result:
    return CliRunner().invoke(build_cli(), ["--workspace", str(root), "lab", *arguments])


def test_the_command_stores_only_when_it_is_told_to(lab: Laboratory, tmp_path: Path) -> None:
    root = lab.workspace.root
    path = tmp_path / "x.csv"
    path.write_text(
        "past,,,,\nM1,M2,ratio,modifier,C2H4,pros,score\n"
        '"Cu",Mo,1:1,glycine,4,"raised\nethylene",6\n\nCu,Mo,1:1,,2,,3\n',
        encoding="utf-8",
    )
    shown = run(root, "import", str(path))
    assert "headers in row 2" in shown.output
    assert "row 4: Cu, Mo 1:1, glycine: C2H4 4; score 6" in shown.output
    assert "row 6: no small-molecule modifier is named" in shown.output
    assert "nothing is stored yet" in shown.output
    with lab.store.reading() as reading:
        assert list_runs(reading) == []
    stored = json.loads(run(root, "import", str(path), "--write", "--learn", "--json").output)
    assert len(stored["stored"]["runs"]) == 1
    with lab.store.reading() as reading:
        (item,) = list_items(reading)
    assert "raised" in item.content
