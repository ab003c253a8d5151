"""`rag lab` from an empty folder: what the commands print, write and return."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from rag_assets.cli.lab import LAB_COMMANDS
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


@pytest.fixture
def ready(root: Path, rag: Rag) -> Rag:
    """A laboratory with two products and two runs."""
    rag("init")
    rag("products", "add", "C2H4", "CO")
    lab = open_laboratory(Workspace.open(root))
    put_run(lab, "r1")
    put_run(lab, "r2")
    return rag


def test_init_writes_a_section_that_can_be_read_and_leaves_one_that_is_there(
    root: Path, rag: Rag
) -> None:
    assert "`rag lab init` writes it" in rag("products", "list", code=2).output
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
        (["r1", "--score", "1", "--product", "CO=1", "--product", "co=2"], "a product stands once"),
        (["r1", "--score", "1", "--product", "ethylene=1"], "no product 'ethylene'"),
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
    one = ready("compare", "r1").output
    assert "One other run has the same set of products" in one
    assert "this run minus the best: score +2, C2H4 +2 (+25.0 points), CO +0 (-25.0 points)" in one
    chosen = ready("compare", "r1", "--no-history", "--with", "r2", "--known", "best: 3").output
    assert "compared (report 2 of run r1)" in chosen
    assert "mean over the chosen runs: score 5 (n=1)" in chosen
    assert "told: best: 3" in chosen
    assert ready("compare", "r1").output == chosen
    ready("feedback", "r2", "--score", "6", "--product", "C2H4=1")
    assert "since then: Run r2 was compared with the products" in ready("compare", "r1").output
    report = json.loads(ready("compare", "r1", "--json").output)
    assert report["comparison"]["details"][0]["run_id"] == "r2"


def test_experience_is_read_searched_corrected_and_kept(ready: Rag, tmp_path: Path) -> None:
    ready(
        "feedback", "r1", "--score", "7", "--product", "C2H4=3", "--pros", "Copper helps ethylene."
    )
    item = ready("experience", "list").output.split()[0]
    assert "from run r1" in ready("experience", "show", item).output
    note = ready("experience", "add", "Ask for glycine first.", "--role", "mof_expert",
                 "--field", "source=talk").output.strip()  # fmt: skip
    found = ready("experience", "search", "copper for ethylene", "--role", "mof_expert").output
    assert item in found
    assert note in found
    own = ready("experience", "search", "copper for ethylene", "--for-run", "r1").output
    assert item not in own
    assert "is at version 2" in ready("experience", "edit", note, "--title", "glycine").output
    told = ready("experience", "edit", note, "--title", "x", "--seen", "1", code=3).output
    assert "title: '' → 'glycine'" in told
    ready("experience", "archive", item, "--reason", "wrong")
    assert item not in ready("experience", "search", "copper for ethylene").output
    assert "archived by" in ready("experience", "show", item).output
    assert ": wrong" in ready("experience", "show", item).output
    ready("experience", "restore", item)
    assert item in ready("experience", "list").output
    (learned,) = json.loads(ready("experience", "learned", "r1").output)
    assert [delta["change"] for delta in learned["delta"]] == ["add"]
    (tmp_path / "t.txt").write_text("{{ citation }} {{ extra.source }}: {{ content }}", "utf-8")
    ready("experience", "template", "mof_expert", "--save", str(tmp_path / "t.txt"))
    shown = ready("experience", "search", "glycine", "--role", "mof_expert").output
    assert f"{note} talk: Ask for glycine first." in shown
    (tmp_path / "t.txt").write_text("{{ contents }}", "utf-8")
    told = ready(
        "experience", "template", "global", "--save", str(tmp_path / "t.txt"), code=3
    ).output
    assert "'contents' is undefined" in told


def test_an_export_is_a_laboratory(ready: Rag, tmp_path: Path) -> None:
    ready("presets", "save", "C2H4", "CO")
    assert ready("presets", "list").output.startswith("C2H4 + CO: C2H4, CO  ")
    assert " rows in " in ready("export", str(tmp_path / "lab.jsonl")).output
    other = make_workspace(tmp_path / "other").root
    runner = CliRunner()
    for arguments in (["init"], ["import", str(tmp_path / "lab.jsonl")], ["presets", "list"]):
        ran = runner.invoke(build_cli(), ["--workspace", str(other), "lab", *arguments])
        assert ran.exit_code == 0, ran.output
    assert ran.output == ready("presets", "list").output


@pytest.mark.parametrize("command", LAB_COMMANDS)
def test_the_line_of_a_command_is_that_of_its_help(rag: Rag, command: str) -> None:
    assert LAB_COMMANDS[command][1].rstrip(".") in " ".join(rag(command, "--help").output.split())


def test_history_is_listed_and_written_as_a_table(ready: Rag, tmp_path: Path) -> None:
    assert "no experiment was reported yet" in ready("history").output
    ready("feedback", "r1", "--score", "8", "--product", "C2H4=6", "--product", "CO=2",
          "--pros", "Good, very good.", "--no-learn")  # fmt: skip
    assert "## What the experiment gave\n\nrun r1, recipe 1: score 8" in ready("show", "r1").output
    assert ready("history").output.startswith("8  CuMo-TiO2 / Zr-BTB, Cu:Mo = 1:1, glycine: C2H4 6")
    ready("history", "--csv", str(tmp_path / "history.csv"))
    lines = (tmp_path / "history.csv").read_text("utf-8-sig").splitlines()
    assert lines[0].startswith("run,kind,given at,M1,M2,ratio")
    assert lines[1].endswith('C2H4,6.0,0.75,"Good, very good.",,')
    assert len(lines) == 3


def test_settings_are_shown_with_where_they_come_from(ready: Rag) -> None:
    assert "experience.k_role: 3  (config.yaml)" in ready("settings").output
    told = ready("settings", "experience.k_role=5", "comparison.method3=false").output
    assert "experience.k_role: 5  (saved, version 1)" in told
    assert "comparison.method3: false  (saved, version 1)" in told
    assert (
        "you have seen 0" in ready("settings", "experience.k_role=6", "--seen", "0", code=3).output
    )
    assert (
        "experience.k_role: 3  (config.yaml)"
        in ready("settings", "--reset", "experience.k_role").output
    )


def test_the_log_says_who_changed_what_and_why(ready: Rag) -> None:
    assert "nobody has changed an item" in ready("experience", "log").output
    item = ready("experience", "add", "Dry it.", "--title", "Drying").output.strip()
    ready("experience", "edit", item, "--content", "Dry it well.", "--reason", "clearer")
    log = ready("experience", "log").output
    assert f": clearer  {item}  Drying\n  content: Dry it. → Dry it well.\n" in log
    assert len(json.loads(ready("experience", "log", "--json").output)) == 2
