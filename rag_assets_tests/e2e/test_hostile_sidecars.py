"""Law 6 for what is said about files: no sidecar, setting, question or draft stops a run."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import time_machine
from click.testing import Result

from rag_assets.definitions import build_definitions
from rag_assets.storage import TEMPORARY_PREFIX, read_pointer
from rag_assets.workspace import Workspace, read_journal
from rag_assets_tests.e2e.workspaces import (
    SETTINGS,
    open_namespace,
    outside_environment,
    run_rag,
    whole_publication,
)
from rag_assets_tests.libraries import build, make_workspace, write_raw

Rag = Callable[..., Result]
LAUGHS = "metadata:\n  a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"  {chr(98 + n)}: &{chr(98 + n)} [{','.join([f'*{chr(97 + n)}'] * 9)}]\n" for n in range(8)
)
# name → (content of the sidecar, words of the sentence that withholds its document)
SIDECARS: dict[str, tuple[str | bytes, str]] = {
    "day": ("title: D\naccessed_at: 2026-02-30\n", "line 2: 'accessed_at': not a day"),
    "int": ("year: !!int abc\n", "line 1: 'year': not a whole number"),
    "bool": ("citable: !!bool x\n", "'citable': not true or false"),
    "digits": (f"year: {'9' * 5000}\n", "'year': not a whole number"),
    "base60": (f"year: 1{':1' * 400_000}\n", "'year': not a whole number"),
    "large": ("metadata: {n: 99999999999999999999}\n", "'metadata.n': a number of more than 18"),
    "nan": ("metadata: {n: .nan}\n", "'metadata.n': not a finite number"),
    "itself": ("metadata: &a {b: *a}\n", "an alias (*name) is not read"),
    "binary": ("metadata: {n: !!binary gICA}\n", "'metadata.n': not valid YAML here"),
    "omap": ("metadata: !!omap [a: 1]\n", "'metadata': not valid YAML here"),
    "object": ("title: !!python/object/apply:os.getcwd []\n", "not valid YAML here"),
    "brackets": ("[" * 100_000, "more than 50 deep"),
    "laughs": (LAUGHS, "an alias (*name) is not read"),
    "surrogate": ('title: "\\ud800"\n', "not valid YAML"),
    "nul": ('title: "a\\0b"\n', "'title': it holds U+0000"),
    "twice": ("citable: false\ncitable: true\n", "the key 'citable' occurs twice"),
    "numbers": ("2021: year\n", "unknown key '2021'"),
    "utf16": ("citable: false\n".encode("utf-16"), "not UTF-8"),
    "huge": ("title: " + "x" * 1_000_000 + "\n", "larger than 1 MB"),
}
NOT_FILES = ("folder", "pipe", "device", "circle", "nowhere")
GOOD_SET = "tags: [c, a, b]\nmetadata: {seen: 2026-03-01T10:00:00+02:00, 1: one}\n"
BAD_NAMESPACES = {
    "brackets.yaml": "[" * 100_000,
    "day.yaml": "raw: [raw]\nchunk: 2026-02-30\n",
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """One workspace with everything hostile, ingested once through the front door."""
    root = tmp_path_factory.mktemp("hostile") / "library"
    good = {"evidence/good.md": "# Good\n\nA green roof is cool.\n"}
    workspace = make_workspace(root, good, SETTINGS)
    write_raw(workspace, "evidence/good.md.meta.yaml", GOOD_SET)
    for name in (*SIDECARS, *NOT_FILES):
        write_raw(workspace, f"evidence/{name}.md", f"# {name}\n\nIts sidecar is called {name}.\n")
    for name, (content, _) in SIDECARS.items():
        write_raw(workspace, f"evidence/{name}.md.meta.yaml", content)
    evidence = root / "raw/evidence"
    (evidence / "folder.md.meta.yaml").mkdir()
    os.mkfifo(evidence / "pipe.md.meta.yaml")
    links = {"device": "/dev/zero", "circle": "circle.md.meta.yaml", "nowhere": "gone.yaml"}
    for name, target in links.items():
        (evidence / f"{name}.md.meta.yaml").symlink_to(target)
    for name, text in BAD_NAMESPACES.items():
        (root / "namespaces" / name).write_text(text, encoding="utf-8")
    for name in (".tmp-1-ab.yaml", "._thesis.yaml", ".#thesis.yaml"):
        (root / "namespaces" / name).write_bytes(b"\0")
    ran = run_rag("--workspace", root, "ingest", "--json")
    assert ran.returncode == 2, ran.stderr
    (root / "ingest.json").write_text(ran.stdout, encoding="utf-8")
    (root / "ingest.txt").write_text(ran.stderr, encoding="utf-8")
    return Workspace.open(root)


def test_the_sound_namespace_is_built_and_each_bad_one_is_named(world: Workspace) -> None:
    # A document that is withheld for its sidecar has to be seen by whoever runs this.
    assert not json.loads((world.root / "ingest.json").read_text("utf-8"))["thesis"]["success"]
    whole_publication(world.namespace("thesis"))
    told = (world.root / "ingest.txt").read_text("utf-8")
    assert f"{world.namespace_file('brackets')}, line 1: lists and mappings are nested more" in told
    assert f"{world.namespace_file('day')}, line 2: 'chunk': not a day or time" in told
    assert "Traceback" not in told


def test_each_hostile_sidecar_withholds_its_document_alone(world: Workspace, rag: Rag) -> None:
    ran = rag("--workspace", world.root, "documents", "-n", "thesis", "--json")
    assert ran.exit_code == 0, ran.output
    lines = {Path(p).stem: each for each in json.loads(ran.stdout) for p in each["paths"]}
    for name, (_, words) in SIDECARS.items():
        assert (lines[name]["status"], lines[name]["reason_code"]) == (
            "withheld", "sidecar_invalid",
        )  # fmt: skip
        assert f"{name}.md.meta.yaml" in lines[name]["message"]
        assert words in lines[name]["message"]
        assert len(lines[name]["message"]) < 700
    for name in NOT_FILES:
        assert lines[name]["status"] == "withheld", name
        assert f"{name}.md.meta.yaml: " in lines[name]["message"]
    published = [name for name, line in lines.items() if line["status"] == "published"]
    assert published == ["good"]


@pytest.mark.parametrize("command", ["parse", "status", "health", "doctor"])
def test_every_command_names_the_bad_files_and_goes_on(
    world: Workspace, rag: Rag, command: str
) -> None:
    ran = rag("--workspace", world.root, command)
    assert isinstance(ran.exception, SystemExit | None), ran.exception
    assert ran.exit_code == {"parse": 2, "status": 2, "health": 1, "doctor": 1}[command], ran.output
    for name in BAD_NAMESPACES:
        assert name in ran.output
    assert "thesis" in ran.output


def test_three_builds_of_an_unchanged_set_are_one_publication(world: Workspace) -> None:
    namespace = world.namespace("thesis")
    names = set()
    program = (
        "import sys; from rag_assets.workspace import Workspace, scan_raw, sources_digest\n"
        "namespace = Workspace.open(sys.argv[1]).namespace('thesis')\n"
        "print(sources_digest(scan_raw(namespace).sources))"
    )
    for seed in "123":
        ran = subprocess.run(
            [sys.executable, "-c", program, str(world.root)], capture_output=True, text=True,
            check=True, env=outside_environment(PYTHONHASHSEED=seed),
        )  # fmt: skip
        names.add(ran.stdout)
    pointer = read_pointer(namespace.publications)
    assert pointer is not None
    assert names == {f"{pointer.built_from['inventory']}\n"}


def test_the_sensors_look_on_past_what_cannot_be_read(world: Workspace) -> None:
    (world.queries / "bad.yaml").write_text("question: [" + "[" * 100_000, encoding="utf-8")
    (world.queries / "day.yaml").write_text("question: 2026-02-30\n", encoding="utf-8")
    (world.queries / "good.yaml").write_text("question: Are roofs cool?\nnamespaces: [thesis]\n")
    (world.drafts / "bad.md").write_text("---\na: " + "{a: " * 50_000 + "\n---\nCool {#good}.\n")
    (world.drafts / "good.md").write_text("---\nnamespaces: [thesis]\n---\nCool {#good}.\n")
    later = datetime.now(UTC) + timedelta(hours=1)
    with time_machine.travel(later, tick=False), dg.DagsterInstance.ephemeral() as instance:
        definitions = build_definitions(world)
        answers = {
            sensor.name: sensor(dg.build_sensor_context(instance=instance, sensor_name=sensor.name))
            for sensor in definitions.sensors or ()
        }
    assert set(answers) == {
        "thesis_raw_files", "thesis_configuration", "thesis_chunk_edits", "questions", "drafts",
    }  # fmt: skip
    assert isinstance(answers["thesis_raw_files"], dg.SkipReason)
    assert "nothing changed" in str(answers["thesis_raw_files"].skip_message)
    for name in ("questions", "drafts"):
        answer = answers[name]
        assert isinstance(answer, dg.SensorResult), answer
        (run,) = answer.run_requests or ()
        assert run.partition_key is not None
        assert run.partition_key.startswith("good-")


def test_a_wrong_config_names_itself_and_changes_nothing(tmp_path: Path, rag: Rag) -> None:
    workspace = make_workspace(tmp_path / "library", {}, SETTINGS)
    (workspace.root / "config.yaml").write_text("{" * 100_000, encoding="utf-8")
    for command in ("ingest", "parse", "status"):
        ran = rag("--workspace", workspace.root, command)
        assert ran.exit_code == 2
        assert ran.stderr.startswith(f"error: {workspace.root / 'config.yaml'}, line 1: lists")
        assert ran.stderr.count("config.yaml") == 1


@pytest.mark.parametrize("point", ["rename:namespaces/*.yaml:1", "renamed:namespaces/*.yaml:1"])
def test_a_kill_in_the_middle_of_namespace_add_leaves_a_workspace_that_works(
    tmp_path: Path, rag: Rag, point: str
) -> None:
    notes = {"evidence/a.md": "# A\n\nRoofs are cool.\n"}
    workspace = make_workspace(tmp_path / "library", notes, SETTINGS)
    program = (
        "import sys; from pathlib import Path\n"
        "from rag_assets.workspace import Workspace, add_namespace\n"
        "from rag_assets_tests.e2e.building import Point, install\n"
        "root = Path(sys.argv[1]); install(Point(root, 'kill', sys.argv[2]))\n"
        "add_namespace(Workspace.open(root), 'law', (), 'papers')"
    )
    killed = subprocess.run(
        [sys.executable, "-c", program, str(workspace.root), point],
        env=outside_environment(), cwd=Path(__file__).parents[2], check=False,
    )  # fmt: skip
    assert killed.returncode == -signal.SIGKILL
    fresh = Workspace.open(workspace.root)
    is_declared = point.startswith("renamed")
    left = [*(fresh.root / "namespaces").glob(f"{TEMPORARY_PREFIX}*")]
    assert bool(left) is not is_declared
    assert fresh.namespace_names == (("law", "thesis") if is_declared else ("thesis",))
    assert rag("--workspace", fresh.root, "parse").exit_code == 0
    if not is_declared:
        added = rag("--workspace", fresh.root, "namespace", "add", "law")
        assert added.exit_code == 0, added.output


def test_a_namespace_that_could_not_be_read_is_not_written(tmp_path: Path, rag: Rag) -> None:
    workspace = make_workspace(tmp_path / "library", {}, SETTINGS)
    ran = rag(
        "--workspace", workspace.root, "namespace", "add", "law", "--raw", "/a/b", "--raw", "b"
    )
    assert ran.exit_code == 2, ran.output
    assert workspace.namespace_names == ("thesis",)
    assert rag("--workspace", workspace.root, "parse").exit_code == 0


def test_a_meta_set_that_fails_leaves_no_line_in_the_journal(tmp_path: Path, rag: Rag) -> None:
    notes = {"evidence/a.md": "# A\n\nRoofs are cool.\n"}
    workspace = make_workspace(tmp_path / "library", notes, SETTINGS)
    build(workspace.namespace("thesis"))
    namespace = open_namespace(workspace.root)
    before = namespace.journal.read_bytes()
    log = workspace.meta / "version_log.jsonl"
    log.unlink(missing_ok=True)
    log.symlink_to("/dev/full")  # as if the disk were full from there on
    failing: list[tuple[Any, ...]] = [
        ("a", "year=2020"), ("a", "year=soon"), ("a", "accessed_at=2026-02-30"), ("a", "colour=x"),
        ("nobody", "year=2020"), ("a", "title=\udcff"), ("a", "title=x", "--reason", "\udcff"),
    ]  # fmt: skip
    for arguments in failing:
        ran = rag("--workspace", workspace.root, "meta", "set", *arguments)
        assert ran.exit_code in {1, 3}, (arguments, ran.exception)
        assert ran.stderr.startswith("error: ")
        assert namespace.journal.read_bytes() == before
    log.unlink()
    assert rag("--workspace", workspace.root, "meta", "set", "a", "year=2020").exit_code == 0
    assert [o.value for o in read_journal(namespace.journal).overrides] == ["2020"]
