"""`rag lab` from an empty folder: what the commands print, write and return."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from rag_assets.cli.main import build_cli
from rag_assets.lab.laboratory import open_laboratory
from rag_assets.workspace import Workspace
from rag_assets_tests.lab.laboratories import make_workspace, put_run

Rag = Callable[..., Result]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_workspace(tmp_path / "lab").root


@pytest.fixture
def rag(root: Path) -> Rag:
    def run(*arguments: str, code: int = 0) -> Result:
        ran = CliRunner().invoke(build_cli(), ["--workspace", str(root), "lab", *arguments])
        assert ran.exit_code == code, ran.output
        return ran

    return run


def products(root: Path, *names: str) -> str:
    """Write a file that names products; returns its path."""
    path = root / "products.yaml"
    path.write_text(yaml.safe_dump({"products": list(names)}), "utf-8")
    return str(path)


@pytest.fixture
def ready(root: Path, rag: Rag) -> Rag:
    """A laboratory with two products and two runs."""
    rag("init")
    rag("edit", products(root, "C2H4", "CO"))
    lab = open_laboratory(Workspace.open(root))
    put_run(lab, "r1")
    put_run(lab, "r2")
    return rag


def test_init_writes_a_section_that_can_be_read_and_leaves_one_that_is_there(
    root: Path, rag: Rag
) -> None:
    assert "`rag lab init` writes it" in rag("edit", code=2).output
    before = (root / "config.yaml").read_text("utf-8")
    assert rag("init").output.startswith("made a laboratory: meta/lab/lab.sqlite\n")
    written = (root / "config.yaml").read_text("utf-8")
    assert written.startswith(before.rstrip())
    assert yaml.safe_load(written)["lab"]["experience"]["k_role"] == 3
    assert rag("init").output == "there is a laboratory: meta/lab/lab.sqlite\n"
    assert (root / "config.yaml").read_text("utf-8") == written


def test_feedback_is_given_changed_printed_and_deleted(ready: Rag) -> None:
    first = ready("feedback", "r1", "--score", "7", "--product", "c2h4=3", "--product", "CO=1",
                  "--pros", "Ethylene rose.", "--by", "ana").output  # fmt: skip
    assert "run r1, recipe 1: score 7 (version 1)\n  C2H4  3  75.0%\n  CO  1  25.0%" in first
    assert "tell what is known instead" in first
    assert "learned:\n  add mem:" in first
    changed = ready("feedback", "r1", "--pros", "Ethylene rose much.").output
    assert "score 7 (version 2)" in changed
    assert "taken back:\n  add mem:" in changed
    assert ready("feedback", "r1", "--score", "7").output == "nothing is new: nothing was written\n"
    assert "pros: Ethylene rose much." in ready("feedback", "r1").output
    told = ready("feedback", "r1", "--score", "6", "--seen", "1", code=3).output
    assert "pros: 'Ethylene rose.' → 'Ethylene rose much.'" in told
    assert "the feedback on run r1 is deleted" in ready("feedback", "r1", "--delete").output
    assert "has no feedback" in ready("feedback", "r1", code=3).output


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["r1", "--product", "CO=1"], "needs a score"),
        (["r1", "--score", "1", "--product", "CO"], "NAME=VALUE with a number"),
        (
            ["r1", "--score", "1", "--product", "CO=1", "--product", "co=2"],
            "Duplicate product 'co'",
        ),
        (["r1", "--score", "1", "--product", "ethyne=1"], "no product 'ethyne'"),
        (["r9", "--score", "1", "--product", "CO=1"], "there is no run 'r9'"),
        (["r1", "--score", "1", "--product", "CO=1", "--with", "r2"], "run r2 has no feedback"),
        (["r1", "--score", "1", "--product", "CO=1", "--with", "r1"], "compared with itself"),
    ],
)
def test_what_cannot_be_used_is_refused(ready: Rag, arguments: list[str], told: str) -> None:
    assert told in " ".join(ready("feedback", *arguments, code=3).output.split())


def test_runs_are_compared_by_any_of_three_methods(ready: Rag) -> None:
    ready("feedback", "r2", "--score", "5", "--product", "C2H4=1", "--product", "CO=1")
    ready("feedback", "r1", "--score", "7", "--product", "C2H4=3", "--product", "CO=1")
    one = ready("feedback", "r1").output
    assert "One other run has the same set of products" in one
    assert "this run minus the best: score +2, C2H4 +2 (+25.0 points), CO +0 (-25.0 points)" in one
    chosen = ready("feedback", "r1", "--no-history", "--with", "r2", "--known", "best: 3").output
    assert "compared (report 2 of run r1)" in chosen
    assert "mean over the chosen runs: score 5 (n=1)" in chosen
    assert "known: best: 3" in chosen
    assert chosen.partition("compared (")[2] in ready("feedback", "r1").output
    ready("feedback", "r2", "--score", "6", "--product", "C2H4=1")
    assert "since then: Run r2 was compared with the products" in ready("feedback", "r1").output
    assert "--compare` makes the report again" in ready("feedback", "r1").output
    assert "nothing is new" in ready("feedback", "r2", "--compare").output
    again = ready("feedback", "r1", "--compare").output
    assert "compared (report 3 of run r1)" in again
    assert "since then" not in again
    report = json.loads(ready("feedback", "r1", "--json").output)
    assert report["report"]["comparison"]["details"][0]["run_id"] == "r2"
    # A chosen run without feedback is left out; an empty name clears the list.
    ready("feedback", "r2", "--delete")
    assert "a new report leaves it out" in ready("feedback", "r1").output
    assert "run r2:" not in ready("feedback", "r1", "--compare").output
    ready("feedback", "r2", "--score", "6", "--product", "乙烯=1")
    assert "run r2:" in ready("feedback", "r1", "--with", "r2").output
    assert "run r2:" not in ready("feedback", "r1", "--with", "").output


def edited(rag: Rag, path: Path, change: Callable[[Any], None], code: int = 0) -> str:
    """Change what `rag lab edit` prints, and give it back."""
    values = yaml.safe_load(rag("edit").output)
    change(values)
    path.write_text(yaml.safe_dump(values, allow_unicode=True), "utf-8")
    ran = rag("edit", str(path), "--reason", "wrong", "--by", "ana", code=code)
    return " ".join(ran.output.split())


def test_experience_is_corrected_archived_and_restored(ready: Rag, tmp_path: Path) -> None:
    ready(
        "feedback", "r1", "--score", "7", "--product", "C2H4=3", "--pros", "Copper helps ethylene."
    )
    file = tmp_path / "edited.yaml"
    assert edited(ready, file, lambda values: None) == "nothing is new: nothing was written"
    before = file.read_text("utf-8")
    told = edited(
        ready, file,
        lambda v: v["experience"].append({"content": "Dry it.", "extra": {"source": "talk"}}),
    )  # fmt: skip
    assert told.startswith("mem:")
    assert told.endswith("added")
    item, note = yaml.safe_load(ready("edit").output)["experience"]
    assert (note["role"], note["extra"]) == ("global", {"source": "talk"})
    told = edited(ready, file, lambda v: v["experience"][0].update(title="Copper"))
    assert told == f"{item['id']} is active, at version {item['version'] + 1}"
    file.write_text(before.replace("Copper helps", "Zinc helps"), "utf-8")
    refused = " ".join(ready("edit", str(file), code=3).output.split())
    assert "'Copper'" in refused
    archived = edited(ready, file, lambda v: v["experience"][0].update(status="archived"))
    assert "is archived" in archived
    assert "is active" in edited(ready, file, lambda v: v["experience"][0].update(status="active"))


def test_products_presets_templates_and_settings_are_as_the_file_says(
    ready: Rag, tmp_path: Path
) -> None:
    file = tmp_path / "edited.yaml"

    def change(values: Any) -> None:
        values["products"] = ["C2H4", "H2"]
        values["presets"] = {"both": ["C2H4", "H2"]}
        values["settings"]["experience.k_role"] = 5
        values["templates"]["global"] = "{{ content }}"

    told = edited(ready, file, change)
    for said in ("product H2 added", "product CO deleted", "preset both saved", "1 setting saved",
                 "template of global is at version"):  # fmt: skip
        assert said in told
    now = yaml.safe_load(ready("edit").output)
    assert (now["products"], now["presets"]) == (["C2H4", "H2"], {"both": ["C2H4", "H2"]})
    assert now["settings"]["experience.k_role"] == 5
    told = edited(ready, file, lambda v: v["settings"].update({"experience.k_role": None}))
    assert told == "1 setting saved: experience.k_role"
    assert yaml.safe_load(ready("edit").output)["settings"]["experience.k_role"] == 3


def test_a_file_that_cannot_be_used_changes_nothing(ready: Rag, tmp_path: Path) -> None:
    file = tmp_path / "edited.yaml"

    def change(values: Any) -> None:
        values["products"].append("H2")
        values["templates"]["global"] = "{{ contents }}"

    assert "'contents' is undefined" in edited(ready, file, change, code=3)
    wrong = edited(ready, file, lambda v: v["settings"].update({"experience.k": 1}), code=3)
    assert "'experience.k' is no setting" in wrong
    assert "'recipes': Extra inputs are not permitted" in edited(
        ready, file, lambda v: v.update(recipes=[]), code=3
    )
    assert yaml.safe_load(ready("edit").output)["products"] == ["C2H4", "CO"]


def test_a_removed_command_says_what_to_use(ready: Rag) -> None:
    assert "`rag lab edit`" in " ".join(ready("products", "list", code=2).output.split())


def test_an_export_is_a_laboratory(ready: Rag, tmp_path: Path) -> None:
    edited(ready, tmp_path / "e.yaml", lambda v: v.update(presets={"both": ["C2H4", "CO"]}))
    assert " lines in " in ready("export", str(tmp_path / "lab.jsonl")).output
    other = make_workspace(tmp_path / "other").root
    runner = CliRunner()
    for arguments in (["init"], ["import", str(tmp_path / "lab.jsonl")], ["edit"]):
        ran = runner.invoke(build_cli(), ["--workspace", str(other), "lab", *arguments])
        assert ran.exit_code == 0, ran.output
    assert ran.output == ready("edit").output


def test_history_is_listed_and_written_as_a_table(ready: Rag, tmp_path: Path) -> None:
    assert "no experiment was reported yet" in ready("history").output
    ready("feedback", "r1", "--score", "8", "--product", "C2H4=6", "--product", "CO=2",
          "--pros", "Good, very good.", "--no-learn")  # fmt: skip
    assert "## What the experiment gave\n\nrun r1, recipe 1: score 8" in ready("show", "r1").output
    assert ready("history").output.startswith("8  CuMo-TiO2 / Zr-BTB, Cu:Mo = 1:1, glycine: C2H4 6")
    ready("history", "--csv", str(tmp_path / "history.csv"))
    lines = (tmp_path / "history.csv").read_text("utf-8-sig").splitlines()
    assert lines[0].startswith("run,kind,given at,imported at,day of experiment,M1,M2,ratio")
    assert lines[1].endswith('C2H4,6.0,0.75,"Good, very good.",,')
    assert len(lines) == 3
