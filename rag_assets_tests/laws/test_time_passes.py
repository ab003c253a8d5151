"""Forty days later everything still works, and what was written can still be read."""

import datetime
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import time_machine

from rag_assets.auditing import CITATIONS
from rag_assets.auditing.storing import audit_citations
from rag_assets.embedding import model_fingerprints
from rag_assets.evidence import ask, pack_from_json, packs_without_publication
from rag_assets.model import hash_text
from rag_assets.model.settings import Keeping
from rag_assets.publishing import collect_garbage
from rag_assets.storage import TEMPORARY_PREFIX, read_entries, read_pointer
from rag_assets.workspace import (
    Namespace,
    Workspace,
    current_identities,
    look_at_raw,
    require_inventory,
)
from rag_assets_tests.laws.driver import (
    build,
    clean_build,
    observe_encoding,
    put,
    silent,
    state_of,
    uids_of,
)

ROOFS = "# Roofs\n\nCool roofs reflect sunlight and stay cooler than dark ones.\n"
LEAF = "# 叶片\n\n二氧化碳浓度升高使植物叶片的气孔导度下降。\n"
DRAFT = "Cool roofs reflect sunlight. {#roofs}\n\n气孔导度下降。{#叶片}\n"

# Linux gives no process so high a number.
_NO_PROCESS = 2**30


@contextmanager
def days_later(days: float) -> Iterator[None]:
    later = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=days)
    with time_machine.travel(later, tick=True):
        yield


@pytest.fixture
def namespace(workspace: Workspace) -> Namespace:
    put(workspace, "evidence/roofs.md", ROOFS)
    put(workspace, "evidence/叶片.md", LEAF)
    namespace = workspace.namespace("lib")
    build(namespace)
    return namespace


def records_holding(namespace: Namespace, content_hash: str) -> set[str]:
    partition = namespace.partition_of(content_hash)
    stages = ("parse_reports", "parents", "chunks", "embeddings")
    return {s for s in stages if content_hash in read_entries(namespace.record(s, partition))}


def content_of(namespace: Namespace, uid: str) -> str:
    inventory = require_inventory(namespace)
    return next(c for c, u in current_identities(namespace, inventory).uids.items() if u == uid)


def current(namespace: Namespace) -> str:
    pointer = read_pointer(namespace.publications)
    assert pointer is not None
    return pointer.current


def collect(namespace: Namespace) -> None:
    collect_garbage(namespace, model_fingerprints(namespace.settings.embed), silent)


def test_unchanged_library_needs_no_work_after_forty_days(namespace: Namespace) -> None:
    before = state_of(namespace)
    with days_later(40), observe_encoding() as encoded:
        again = build(namespace)
        look = look_at_raw(namespace, before["inventory"][0])
        assert look.partitions == ()
        assert look.digest == before["inventory"][0]
        assert not any(again.computed.values())
        assert encoded == []
        collect(namespace)
        assert state_of(namespace) == before


def test_changed_library_is_built_and_published_after_forty_days(
    workspace: Workspace, namespace: Namespace, tmp_path: Path
) -> None:
    with days_later(40):
        put(workspace, "evidence/roofs.md", ROOFS + "They are white.\n")
        put(workspace, "evidence/new.txt", "Stomata close when the air is dry.")
        built = build(namespace)
        assert built.published is not None
        assert built.published.is_new
        assert state_of(clean_build(namespace, tmp_path / "clean")) == state_of(namespace)


def test_rows_of_a_removed_file_stay_for_the_days_that_are_set(
    workspace: Workspace, namespace: Namespace
) -> None:
    content = content_of(namespace, "roofs")
    (workspace.root / "raw/evidence/roofs.md").unlink()
    build(namespace)
    with days_later(Keeping.removed_days - 1):
        build(namespace)
        collect(namespace)
        assert len(records_holding(namespace, content)) == 4
    with days_later(Keeping.removed_days + 1):
        build(namespace)
        collect(namespace)
        assert records_holding(namespace, content) == set()


def test_days_count_from_when_a_file_was_first_missed(
    workspace: Workspace, namespace: Namespace
) -> None:
    content = content_of(namespace, "roofs")
    with days_later(40):
        (workspace.root / "raw/evidence/roofs.md").unlink()
        build(namespace)
        collect(namespace)
        assert len(records_holding(namespace, content)) == 4


def test_expired_rows_go_with_the_next_write_of_their_record(
    workspace: Workspace, namespace: Namespace
) -> None:
    content = content_of(namespace, "roofs")
    (workspace.root / "raw/evidence/roofs.md").unlink()
    build(namespace)
    with days_later(40):
        key = content[:1]
        texts = (f"Stomata, note {n}." for n in range(1000))
        text = next(t for t in texts if hash_text(t)[:1] == key)
        put(workspace, "evidence/note.txt", text)
        build(namespace)
        assert records_holding(namespace, content) == set()
        assert records_holding(namespace, hash_text(text))


def test_file_restored_after_expiry_is_computed_again_and_equals_a_clean_build(
    workspace: Workspace, namespace: Namespace, tmp_path: Path
) -> None:
    before = state_of(namespace)
    path = workspace.root / "raw/evidence/roofs.md"
    path.unlink()
    build(namespace)
    with days_later(40):
        build(namespace)
        collect(namespace)
        put(workspace, "evidence/roofs.md", ROOFS)
        with observe_encoding() as encoded:
            again = build(namespace)
        assert again.computed["parents"] == 1
        assert len(encoded) > 0
        assert uids_of(namespace)["evidence/roofs.md"] == "roofs"
        after = state_of(namespace)
        assert after == before
        assert state_of(clean_build(namespace, tmp_path / "clean")) == after


def test_superseded_publications_retire_and_the_last_ones_stay(
    workspace: Workspace, namespace: Namespace
) -> None:
    keep = Keeping.publications
    names = [current(namespace)]
    for number in range(keep + 1):
        put(workspace, f"evidence/{number}.txt", f"Note {number} on roofs.")
        build(namespace)
        names.append(current(namespace))
    standing = [name for name in names if (namespace.publications / name).is_dir()]
    assert standing == names  # all of them superseded within keep_hours
    with days_later(40):
        put(workspace, "evidence/last.txt", "The last note.")
        build(namespace)
        collect(namespace)
        names.append(current(namespace))
        standing = [name for name in names if (namespace.publications / name).is_dir()]
        # The one that was current until now was superseded just now: it is young.
        assert standing == names[-keep:]


def test_pinned_publication_outlives_forty_days(workspace: Workspace, namespace: Namespace) -> None:
    first = current(namespace)
    (namespace.publications / f"{first}.pin").touch()
    for number in range(4):
        put(workspace, f"evidence/{number}.txt", f"Note {number} on roofs.")
        build(namespace)
    with days_later(40):
        build(namespace)
        collect(namespace)
        assert (namespace.publications / first).is_dir()


def test_old_packs_and_verdicts_can_be_read_whole_and_say_that_they_are_retired(
    workspace: Workspace, namespace: Namespace
) -> None:
    draft = workspace.drafts / "chapter.md"
    draft.write_text(DRAFT, encoding="utf-8")
    asked = ask(workspace, "Which roofs reflect sunlight?")
    audited = audit_citations(workspace, draft)
    publication = asked.pack.publications["lib"]
    for number in range(4):
        put(workspace, f"evidence/{number}.txt", f"Note {number} on roofs.")
        build(namespace)
    with days_later(40):
        build(namespace)
        collect(namespace)
        assert not (namespace.publications / publication).exists()
        shutil.rmtree(namespace.publications)
        shutil.rmtree(workspace.root / "raw")
        pack = pack_from_json(json.loads(asked.json.read_text(encoding="utf-8")))
        assert pack == asked.pack
        assert pack.items[0].doc_uid == "roofs"
        assert "reflect sunlight" in pack.items[0].exact_quote
        assert pack.items[0].parent_text in ROOFS
        audit = CITATIONS.read(audited.json)
        assert audit == audited.audit
        assert [row.doc_uid for row in audit.rows] == ["roofs", "叶片"]
        (run,) = (workspace.meta / "query_runs").glob("*.json")
        assert set(json.loads(run.read_text(encoding="utf-8"))["retired"]) == {"lib"}
        assert list(packs_without_publication(workspace)) == []


def test_publication_that_vanished_without_retiring_is_reported(
    workspace: Workspace, namespace: Namespace
) -> None:
    ask(workspace, "Which roofs reflect sunlight?")
    assert list(packs_without_publication(workspace)) == []
    shutil.rmtree(namespace.publications)
    (sentence,) = packs_without_publication(workspace)
    assert "never retired" in sentence


def test_same_question_makes_the_same_pack_after_forty_days(
    workspace: Workspace, namespace: Namespace
) -> None:
    first = ask(workspace, "Which roofs reflect sunlight?")
    with days_later(40):
        again = ask(workspace, "Which roofs reflect sunlight?")
    assert (again.is_new, again.json) == (False, first.json)
    assert again.pack == first.pack


def test_clock_that_was_set_back_breaks_nothing(workspace: Workspace, namespace: Namespace) -> None:
    before = state_of(namespace)
    with days_later(-40):
        assert not any(build(namespace).computed.values())
        assert state_of(namespace) == before
        put(workspace, "evidence/new.txt", "Stomata close when the air is dry.")
        built = build(namespace)
        assert built.published is not None
        assert built.published.is_new


def test_unfinished_files_of_audits_that_died_go(
    workspace: Workspace, namespace: Namespace
) -> None:
    workspace.judgements.mkdir(parents=True)
    dead = workspace.judgements / f"{TEMPORARY_PREFIX}{_NO_PROCESS}-1.jsonl"
    dead.write_text("{}")
    (workspace.judgements / "judgements.jsonl").write_text("")
    collect(namespace)
    assert [path.name for path in workspace.judgements.iterdir()] == ["judgements.jsonl"]


def test_parses_blobs_and_answers_that_no_record_names_go_once_they_are_old(
    namespace: Namespace,
) -> None:
    named = content_of(namespace, "roofs")
    folder = namespace.parsed_folder(namespace.partition_of(named))
    stand = {path.name for path in folder.iterdir()}
    parse, blob = folder / f"{'0' * 64}.parquet", namespace.blob("0" * 64)
    gone = namespace.answers / f"{'0' * 64}-0123456789abcdef"
    kept = namespace.answers / f"{named}-0123456789abcdef"
    files = (parse, blob, gone / "part-001.zip", kept / "part-001.zip")
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"-")
    collect(namespace)
    assert all(file.is_file() for file in files), "young ones may be of a run that has begun"
    with days_later(1):
        collect(namespace)
    assert [file for file in files if file.exists()] == [kept / "part-001.zip"]
    assert not gone.exists()
    assert {path.name for path in folder.iterdir()} == stand
