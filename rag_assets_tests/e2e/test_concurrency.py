"""Law 4, beside each other: builds of two processes, readers during builds, numbered outputs."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from rag_assets.evidence import Question, make_pack
from rag_assets.model.settings import Keeping
from rag_assets.storage import hold_lock, read_manifest, read_pointer
from rag_assets.workspace import Namespace, Workspace, add_namespace
from rag_assets_tests.e2e.workspaces import (
    NOTES,
    SETTINGS,
    let_go,
    open_namespace,
    outside_environment,
    partition_text,
    published_state,
    run_rag,
    start_build,
    until_waiting,
    whole_publication,
)
from rag_assets_tests.libraries import build, make_workspace, write_raw

QUESTION = Question(question="Which roof was cooler at noon?")


@pytest.fixture
def namespace(tmp_path: Path, parse_in_process: None) -> Namespace:
    workspace = make_workspace(tmp_path / "library", NOTES, SETTINGS)
    build(workspace.namespace("thesis"))
    return workspace.namespace("thesis")


@pytest.mark.parametrize(
    "point",
    [
        "before:parse_reports",
        "before:publish",
        pytest.param("before:embeddings", marks=pytest.mark.slow),
    ],
)
def test_a_run_on_an_older_inventory_that_ends_last_undoes_nothing(
    namespace: Namespace, point: str
) -> None:
    write_raw(namespace.workspace, "evidence/late.md", "# Late\n\nSeen by both runs.\n")
    older = start_build(namespace, "wait", point)
    until_waiting(older)
    write_raw(namespace.workspace, "evidence/ponds.md", "# Ponds\n\nA pond cools the air.\n")
    write_raw(namespace.workspace, "evidence/roofs.md", "# Roofs\n\nRoofs were 9 degrees cooler.\n")
    (namespace.workspace.root / "raw/evidence/streets.md").unlink()
    build(namespace)
    newer = published_state(namespace)

    assert let_go(older) == f"published {newer['publication']} False"
    assert published_state(namespace) == newer
    assert not build(namespace).is_new
    whole_publication(namespace)


@pytest.mark.slow
def test_what_was_restored_meanwhile_does_not_expire_with_an_older_run(
    tmp_path: Path, parse_in_process: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Removed files are forgotten at once here; the older run still believes one removed."""
    monkeypatch.setattr(Keeping, "removed_days", 0.0)
    workspace = make_workspace(tmp_path / "library", {}, SETTINGS)
    namespace = workspace.namespace("thesis")
    restored = partition_text(namespace, "a", "A restored note about ponds.")
    write_raw(workspace, "evidence/restored.md", restored)
    build(namespace)
    (workspace.root / "raw/evidence/restored.md").unlink()
    build(namespace)
    write_raw(workspace, "evidence/edited.md", partition_text(namespace, "a", "First words."))
    older = start_build(namespace, "wait", "before:parse_reports")
    until_waiting(older)
    write_raw(workspace, "evidence/edited.md", partition_text(namespace, "b", "Other words."))
    write_raw(workspace, "evidence/restored.md", restored)
    build(namespace)
    newer = published_state(namespace)
    assert newer["counts"]["documents"] == 2

    let_go(older)
    assert published_state(namespace) == newer


@pytest.mark.slow
def test_two_namespaces_are_built_at_once(namespace: Namespace) -> None:
    workspace = namespace.workspace
    add_namespace(workspace, "papers", (), "papers")
    write_raw(workspace, "papers/walls.md", "# Walls\n\nGreen walls shade a facade.\n")
    papers = Workspace.open(workspace.root).namespace("papers")
    write_raw(workspace, "evidence/ponds.md", "# Ponds\n\nA pond cools the air.\n")
    # Both stand in the middle of their work before either goes on.
    builds = [start_build(each, "wait", "before:chunks") for each in (namespace, papers)]
    for each in builds:
        until_waiting(each)
    for each in builds:
        let_go(each)
    assert published_state(papers)["counts"]["documents"] == 1
    # raw/papers lies below raw/, so the first namespace holds it too, as its own document.
    assert published_state(namespace)["counts"]["documents"] == len(NOTES) + 2
    for each in (namespace, papers):
        whole_publication(each)
    both = make_pack(Workspace.open(workspace.root), QUESTION)
    assert set(both.publications) == {"thesis", "papers"}


def test_the_same_namespace_is_built_twice_at_once(namespace: Namespace) -> None:
    for number in range(8):
        write_raw(namespace.workspace, f"evidence/n{number}.md", f"# N\n\nNote {number} cools.\n")
    builds = [start_build(namespace, "wait", "before:inventory") for _ in range(2)]
    for each in builds:
        until_waiting(each)
    for each in builds:
        assert each.stdin is not None
        each.stdin.write("\n")
        each.stdin.flush()
    printed = [each.communicate(timeout=300)[0].split() for each in builds]
    assert [each.returncode for each in builds] == [0, 0]
    assert sorted(is_new for _, _, is_new in printed) == ["False", "True"]
    assert {name for _, name, _ in printed} == {whole_publication(namespace)}
    assert published_state(namespace)["counts"]["documents"] == len(NOTES) + 8
    pointer = read_pointer(namespace.publications)
    assert pointer is not None
    assert len(pointer.history) == 2


def all_locks(namespace: Namespace) -> list[Path]:
    """Every lock file that a build has ever taken here."""
    return sorted(namespace.workspace.locks.rglob(f"{namespace.name}.*.lock"))


@contextmanager
def hold_all(locks: Sequence[Path]) -> Iterator[None]:
    with ExitStack() as stack:
        for lock in locks:
            stack.enter_context(hold_lock(lock, "everything", lambda _: None))
        yield


def test_a_query_waits_for_no_lock_of_a_build(namespace: Namespace) -> None:
    locks = all_locks(namespace)
    assert len(locks) > 3
    program = (
        "import sys; from rag_assets.evidence import Question, make_pack; "
        "from rag_assets.workspace import Workspace; question = Question(question=sys.argv[2]); "
        "print(make_pack(Workspace.open(sys.argv[1]), question).publications)"
    )
    asking = [sys.executable, "-c", program, str(namespace.workspace.root), QUESTION.question]
    with hold_all(locks):
        asked = subprocess.run(
            asking, capture_output=True, text=True, timeout=120, env=outside_environment(),
            check=False,
        )  # fmt: skip
    assert whole_publication(namespace) in asked.stdout, asked.stderr


@pytest.mark.slow
def test_queries_during_builds_each_see_one_whole_publication(namespace: Namespace) -> None:
    """A build stops before each rename of its publishing; a query is asked at every stop."""
    workspace = namespace.workspace
    known = {whole_publication(namespace)}
    seen = []
    points = ("before:publish", "rename:index/*/manifest.json:1", "rename:index/*/current.json:1",
              "renamed:index/*/current.json:1")  # fmt: skip
    for number, point in enumerate(points):
        text = f"# Roofs\n\nA green roof was {number + 1} degrees cooler than bitumen at noon.\n"
        write_raw(workspace, "evidence/roofs.md", text)
        building = start_build(namespace, "wait", point)
        until_waiting(building)
        pack = make_pack(Workspace.open(workspace.root), QUESTION)
        published = pack.publications["thesis"]
        assert pack.doc_uids[0] == "roofs"
        switched = point.startswith("renamed:")
        assert (published in known) == (not switched)
        assert_quotes_are_published(namespace, published, pack.items)
        whole_publication(namespace)
        seen.append(published)
        let_go(building)
        known.add(whole_publication(namespace))
    # Each build but the last was asked before its switch: then readers see the one before it.
    assert len(known) == len(points) + 1
    assert len(set(seen)) == len(points)


def assert_quotes_are_published(
    namespace: Namespace, publication: str, items: tuple[Any, ...]
) -> None:
    from rag_assets.publishing.catalogue import catalogue_name, open_catalogue

    folder = namespace.publications / publication
    assert read_manifest(folder)["publication"] == publication
    with open_catalogue(folder / catalogue_name(publication)) as catalogue:
        texts = dict(catalogue.execute("SELECT chunk_id, text FROM chunks").fetchall())
    for item in items:
        assert texts[item.chunk_id] == item.snippet


@pytest.mark.slow
def test_status_and_sql_answer_while_a_build_holds_every_lock(namespace: Namespace) -> None:
    workspace = namespace.workspace
    published = whole_publication(namespace)
    write_raw(workspace, "evidence/ponds.md", "# Ponds\n\nA pond cools the air.\n")
    building = start_build(namespace, "wait", "rename:index/*/current.json:1")
    until_waiting(building)
    with hold_all([p for p in all_locks(namespace) if "publishing" not in p.name]):
        status = run_rag("--workspace", workspace.root, "status", "--json")
        counted = run_rag(
            "--workspace", workspace.root, "sql", "SELECT count(*) AS n FROM documents", "--json"
        )
    assert status.returncode == 1, status.stderr
    assert json.loads(status.stdout)[0]["publication"] == published
    assert json.loads(status.stdout)[0]["stale"]
    assert (counted.returncode, json.loads(counted.stdout)) == (0, [{"n": len(NOTES)}])
    assert "lock" not in (status.stderr + counted.stderr).lower()
    let_go(building)
    whole_publication(namespace)


def test_questions_asked_at_once_get_a_number_each(namespace: Namespace) -> None:
    root = namespace.workspace.root
    asking = (
        "import sys; from rag_assets.evidence import ask; from rag_assets.workspace import "
        "Workspace; w = Workspace.open(sys.argv[1]); print('waiting', flush=True); "
        "sys.stdin.readline(); [ask(w, f'{sys.argv[2]} {n}?') for n in range(4)]"
    )
    asked = [
        subprocess.Popen(
            [sys.executable, "-c", asking, str(root), words],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=outside_environment(),
        )
        for words in ("How cool is a roof", "How cool is a street")
    ]  # fmt: skip
    for each in asked:
        until_waiting(each)
    for each in asked:
        assert each.stdin is not None
        each.stdin.write("\n")
        each.stdin.flush()
    for each in asked:
        each.communicate(timeout=300)
        assert each.returncode == 0
    packs = sorted(path.name for path in (root / "outputs").glob("evidence_pack_v*.json"))
    assert packs == [f"evidence_pack_v{number:03d}.json" for number in range(1, 9)]
    questions = {
        json.loads((root / "outputs" / name).read_text(encoding="utf-8"))["question"]
        for name in packs
    }
    assert len(questions) == 8
    lines = (root / "meta/version_log.jsonl").read_text("utf-8").splitlines()
    logged: list[Mapping[str, str]] = [json.loads(line) for line in lines]
    assert sorted(entry["to"] for entry in logged) == [f"v{number:03d}" for number in range(1, 9)]


@pytest.mark.slow
def test_two_commands_ingest_at_once_through_dagster(namespace: Namespace) -> None:
    workspace = namespace.workspace
    add_namespace(workspace, "papers", ("raw/papers",), "papers")
    (workspace.root / "config.yaml").write_text(yaml.safe_dump(dict(SETTINGS)), "utf-8")
    write_raw(workspace, "papers/walls.md", "# Walls\n\nGreen walls shade a facade.\n")
    command = [sys.executable, "-c", "from rag_assets.cli import main; main()"]
    chosen = ("thesis", "papers", "thesis")
    running = [
        subprocess.Popen(
            [*command, "--workspace", str(workspace.root), "ingest", "--namespace", name],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=outside_environment(),
        )
        for name in chosen
    ]  # fmt: skip
    answers = 0
    while any(each.poll() is None for each in running):
        pack = make_pack(Workspace.open(workspace.root), QUESTION)
        assert pack.doc_uids[0] == "roofs"
        answers += 1
    for each in running:
        _, said = each.communicate()
        assert each.returncode == 0, said
        assert "locked" not in said
    assert answers > 3
    for name in ("thesis", "papers"):
        whole_publication(open_namespace(workspace.root, name))
