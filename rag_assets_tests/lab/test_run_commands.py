"""`rag lab request|run|queue|cancel|show|replay`: what they print, write and return."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from rag_assets.cli.main import build_cli
from rag_assets.lab.laboratory import open_laboratory
from rag_assets.workspace import Workspace
from rag_assets_tests.lab.bases import make_bases
from rag_assets_tests.lab.laboratories import AT, make_workspace, put_run
from rag_assets_tests.lab.scripted_runs import SEARCH, finish, propose

Rag = Callable[..., Result]
TEXT = "A recipe for ethylene from CO2."


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_bases(tmp_path_factory.mktemp("bases") / "lab").root


@pytest.fixture
def root(tmp_path: Path, library: Path) -> Path:
    return Path(shutil.copytree(library, tmp_path / "lab"))


@pytest.fixture
def rag(root: Path) -> Rag:
    def run(*arguments: str, code: int = 0) -> Result:
        ran = CliRunner().invoke(build_cli(), ["--workspace", str(root), "lab", *arguments])
        assert ran.exit_code == code, ran.output
        return ran

    return run


def asked(rag: Rag, *more: str) -> str:
    """Ask for a run; return its id."""
    return rag("request", TEXT, *more).stdout.splitlines()[0].removeprefix("queued ")


def test_from_request_to_shown_recipe_without_a_model(rag: Rag) -> None:
    ran = rag("request", TEXT, "-n", "2")
    first, second, then = ran.stdout.splitlines()
    assert then == "next: rag lab run"
    assert "No language model" in ran.stderr
    assert "All 2 runs will give the same." in ran.stderr
    run_id = first.removeprefix("queued ")
    assert second == f"queued {run_id[:-1]}2"
    assert rag("queue").stdout.splitlines()[0] == f"queued    {run_id}"
    worked = rag("run")
    assert f"{run_id}: done" in worked.stderr
    assert worked.stdout.splitlines()[0] == f"next: rag lab show {run_id}"
    assert rag("queue").stdout.splitlines()[0] == f"done      {run_id}  (1 recipe)"
    assert rag("queue", "--waiting").stdout == (
        "there are no runs. `rag lab request` asks for recipes.\n"
    )
    page = rag("show", run_id).stdout
    assert "### 1. CuMo-TiO2 / Zr-BTB, Cu:Mo = 2:1, 4-aminobenzoic acid" in page
    assert "kb:kb_principles__chunk-" in page
    assert "Collected without a language model" in page
    values = json.loads(rag("show", run_id, "--json").stdout)
    assert values["recipes"][0]["linker"] == "BTB"
    assert values["note"]["candidates"][0]["key"] == "R1"
    lines = rag("show", run_id, "--trace").stdout.splitlines()
    assert [json.loads(line)["kind"] for line in (lines[0], lines[-1])] == ["begun", "ended"]
    same = rag("replay", run_id)
    assert "the same, byte for byte; made from kb_principles/p-" in same.stdout
    assert json.loads(rag("replay", run_id, "--json").stdout)["same"]
    assert rag("run").stdout == "nothing waits in the queue.\n"


def test_an_export_takes_traces_along_and_is_replayed_where_nothing_is_published(
    root: Path, rag: Rag, tmp_path: Path
) -> None:
    run_id, export = asked(rag), tmp_path / "lab.jsonl"
    rag("run")
    assert " lines in " in rag("export", str(export)).stdout
    new = make_workspace(tmp_path / "new", {"lab": {}}).root
    trace = Path("data/lab/runs", run_id, "attempt-1", "trace.jsonl")

    def there(*arguments: str, code: int = 0) -> str:
        ran = CliRunner().invoke(build_cli(), ["--workspace", str(new), *arguments])
        assert ran.exit_code == code, ran.output
        return ran.output

    # All or nothing: a line of no run, and a row that points to nothing.
    lines = export.read_text(encoding="utf-8").splitlines()
    report = {"run_id": "r9", "version": 1, "made_at": AT, "signature": "", "report": {}}
    nowhere = json.dumps({"table": "reports", "row": report})
    for wrong in (lines[-1].replace(run_id, "r9"), nowhere):
        altered = tmp_path / "altered.jsonl"
        altered.write_text("\n".join([*lines, wrong]) + "\n", encoding="utf-8")
        assert "Nothing was" in there("lab", "import", str(altered), code=3)
        assert not (new / trace).exists()
    (new / trace).write_text("of another\n", encoding="utf-8")
    assert "another trace" in there("lab", "import", str(export), code=3)
    assert (new / trace).read_text(encoding="utf-8") == "of another\n"
    (new / trace).unlink()
    assert f"{len(lines)} lines imported" in there("lab", "import", str(export))
    assert (new / trace).read_bytes() == (root / trace).read_bytes()
    assert "the same, byte for byte" in there("lab", "replay", run_id)
    assert "no current publication holds it" in there("trace", run_id, code=1)
    # Exports of before have no traces.
    (root / trace).unlink()
    assert f"cannot make them: {run_id}" in rag("export", str(export)).stderr


def test_an_imported_experiment_is_shown_and_was_never_in_the_queue(root: Path, rag: Rag) -> None:
    lab = open_laboratory(Workspace.open(root))
    put_run(lab, "before", kind="imported")
    shown = rag("show", "before")
    assert "An experiment of before; nobody proposed it." in shown.stdout
    assert "when one was made" not in shown.stderr
    assert "there are no runs" in rag("queue").stdout
    assert "has no trace" in rag("replay", "before", code=3).output


def test_a_request_can_be_worked_on_at_once(rag: Rag) -> None:
    ran = rag("request", TEXT, "--run", "--recipes", "1")
    assert ": done" in ran.stderr
    assert "next: rag lab run" not in ran.stdout
    assert json.loads(rag("queue", "--json").stdout)["runs"][0]["state"] == "done"


def test_cancel_and_again(rag: Rag) -> None:
    run_id = asked(rag)
    assert "canceled by ana before it began" in rag("cancel", run_id, "--by", "ana").stdout
    assert "nothing to cancel" in rag("cancel", run_id, code=3).output
    assert rag("queue").stdout == f"canceled  {run_id}  (canceled by ana before it began)\n"
    assert f"next: rag lab show {run_id}" in rag("run", run_id, "--again").stdout
    assert "only one that failed or was canceled" in rag("run", run_id, "--again", code=3).output
    assert "--again names the run" in rag("run", "--again", code=2).output


def test_a_run_that_fails_says_so_by_its_exit_code(root: Path, rag: Rag) -> None:
    shutil.rmtree(root / "index" / "kb_modulation")
    run_id = asked(rag)
    assert "rag ingest" in rag("run", code=1).stderr
    assert rag("queue").stdout.startswith(f"failed    {run_id}  (")
    assert "has no trace" in rag("replay", run_id, code=3).output
    assert "**failed**" in rag("show", run_id).stdout


def test_unknown_runs_and_wrong_requests_are_refused(rag: Rag) -> None:
    for command in (("show", "r9"), ("cancel", "r9"), ("replay", "r9"), ("run", "r9")):
        assert "there is no run 'r9'" in rag(*command, code=3).output
    assert "is not in the range" in rag("request", TEXT, "--recipes", "4", code=2).output
    assert "is not in the range" in rag("request", TEXT, "-n", "6", code=2).output
    assert "names none for orchestrator" in rag("request", TEXT, "--policy", "model", code=2).output
    assert "'text'" in rag("request", "…", code=3).output


def test_a_model_makes_a_run_and_one_is_told_that_temperature_0_repeats(
    root: Path, rag: Rag
) -> None:
    answers = [
        {"when": "Proposed so far", "data": finish("R1")},
        {"when": r"\[C1\]", "data": propose("C1")},
        {"data": SEARCH},
    ]
    (root / "script.yaml").write_text(yaml.safe_dump({"answers": answers}), encoding="utf-8")
    with (root / "config.yaml").open("a", encoding="utf-8") as stream:
        stream.write(yaml.safe_dump({"llm": {"kind": "scripted", "script": "script.yaml"}}))
    ran = rag("request", TEXT, "-n", "2", "--temperature", "0", "--run")
    assert "temperature is 0: its runs will be nearly the same" in ran.stderr
    run_id = ran.stdout.splitlines()[0].removeprefix("queued ")
    page = rag("show", run_id).stdout
    assert "Made by scripted:scripted: 3 model calls, 1 look into the sources; temp" in page
    assert "Cu and Mo couple CO. [1] *(literature; not judged)*" in page
    assert "temperature" not in rag("request", TEXT, "-n", "2", "--temperature", "1").stderr
