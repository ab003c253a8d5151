"""The sensor `<namespace>_raw_files`, as the daemon asks it."""

import shutil
from datetime import UTC, datetime, timedelta

import dagster as dg
import pytest

from rag_assets.defs.assets import STATE_TAG
from rag_assets.defs.sensors import build_namespace_sensors
from rag_assets.model.settings import Watching
from rag_assets.workspace import Namespace, Workspace, watching

from .conftest import Ask, at, finish_run, publish_as_seen

NAME = "thesis_raw_files"
START, END = "dagster/asset_partition_range_start", "dagster/asset_partition_range_end"


def requested(answer: object) -> dg.RunRequest:
    assert isinstance(answer, dg.RunRequest), answer
    return answer


def refused(answer: object) -> str:
    assert isinstance(answer, dg.SkipReason), answer
    return answer.skip_message or ""


def span(request: dg.RunRequest) -> tuple[str, str]:
    return request.tags[START], request.tags[END]


@pytest.fixture
def note(workspace: Workspace) -> None:
    (workspace.root / "raw/evidence/note.md").write_text("Leaves cool the street.")


@pytest.fixture
def published(workspace: Workspace, note: None, later: datetime) -> None:
    publish_as_seen(workspace)


def partition_of(namespace: Namespace, text: str) -> str:
    import hashlib

    return namespace.partition_of(hashlib.sha256(text.encode()).hexdigest())


@pytest.mark.usefixtures("later")
def test_an_empty_raw_folder_asks_for_nothing(ask: Ask) -> None:
    assert "raw/ is empty" in refused(ask(NAME))


@pytest.mark.usefixtures("note", "later")
def test_the_first_files_ask_for_every_partition(ask: Ask) -> None:
    request = requested(ask(NAME))
    assert span(request) == ("0", "f")
    assert request.tags[STATE_TAG]  # by which the inventory knows that files must rest


@pytest.mark.usefixtures("published")
def test_nothing_changed_is_said(ask: Ask) -> None:
    assert refused(ask(NAME)) == "1 file, nothing changed"


@pytest.mark.usefixtures("published")
def test_a_new_file_asks_for_its_own_partition(
    ask: Ask, workspace: Workspace, namespace: Namespace
) -> None:
    (workspace.root / "raw/evidence/new.md").write_text("屋顶绿化降低温度。")
    request = requested(ask(NAME))
    own = partition_of(namespace, "屋顶绿化降低温度。")
    assert span(request) == (own, own)
    assert request.tags["rag/reason"] == f"files changed in partitions {own} to {own}"


@pytest.mark.usefixtures("published")
def test_an_edited_file_asks_for_the_partitions_of_both_contents(
    ask: Ask, workspace: Workspace, namespace: Namespace
) -> None:
    (workspace.root / "raw/evidence/note.md").write_text("Leaves warm the street.")
    before = partition_of(namespace, "Leaves cool the street.")
    after = partition_of(namespace, "Leaves warm the street.")
    assert before != after
    assert span(requested(ask(NAME))) == (min(before, after), max(before, after))


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize("change", ["removed", "renamed", "no longer evidence", "sidecar"])
def test_a_change_around_a_content_asks_for_its_partition(
    ask: Ask, workspace: Workspace, namespace: Namespace, change: str
) -> None:
    evidence = workspace.root / "raw/evidence"
    if change == "removed":
        (evidence / "note.md").unlink()
    elif change == "renamed":
        (evidence / "note.md").rename(evidence / "leaves.md")
    elif change == "no longer evidence":
        shutil.move(evidence / "note.md", workspace.root / "raw/instruction/guidance/note.md")
    else:
        (evidence / "note.md.meta.yaml").write_text("title: Leaves\n")
    own = partition_of(namespace, "Leaves cool the street.")
    assert span(requested(ask(NAME))) == (own, own)


def test_a_file_that_is_being_copied_is_left_alone_until_it_rests(
    ask: Ask, workspace: Workspace
) -> None:
    half = workspace.root / "raw/evidence/copy.pdf"
    half.write_bytes(b"%PDF-1.7 half")
    written = datetime.fromtimestamp(half.stat().st_ctime, UTC)
    publish_as_seen_without(workspace, half)
    with at(written + timedelta(seconds=1)):
        assert refused(ask(NAME)) == "0 files, nothing changed; 1 are still being written"
    half.write_bytes(b"%PDF-1.7 half and the other half")
    written = datetime.fromtimestamp(half.stat().st_ctime, UTC)
    with at(written + timedelta(seconds=1)):
        assert "still being written" in refused(ask(NAME))
    with at(written + timedelta(seconds=3)):
        requested(ask(NAME))


def publish_as_seen_without(workspace: Workspace, path: object) -> None:
    from pathlib import Path

    aside = Path(str(path)).rename(workspace.root / "aside")
    publish_as_seen(workspace)
    aside.rename(str(path))


@pytest.mark.usefixtures("later")
def test_the_budget_for_hashing_goes_on_at_the_next_look(
    ask: Ask, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Watching, "megabytes_per_tick", 1)
    (workspace.root / "config.yaml").write_text("embed: {kind: hashing, model: words}\n")
    for number in range(3):
        (workspace.root / f"raw/evidence/{number}.txt").write_text(f"{number} " * 600_000)
    for _ in range(2):
        assert "goes on at the next look" in refused(ask(NAME))
    assert span(requested(ask(NAME))) == ("0", "f")


@pytest.mark.usefixtures("published")
def test_a_failed_run_is_tried_under_another_key_and_three_times_at_most(
    ask: Ask, workspace: Workspace, instance: dg.DagsterInstance
) -> None:
    (workspace.root / "raw/evidence/new.md").write_text("new")
    keys = []
    for attempt in (1, 2, 3):
        request = requested(ask(NAME))
        assert ("(attempt" in request.tags["rag/reason"]) == (attempt > 1)
        assert request.run_key and request.run_key.endswith(f"-{attempt}")
        keys.append(request.run_key)
        finish_run(instance, request, dg.DagsterRunStatus.FAILURE)
    assert len(set(keys)) == 3
    last = instance.get_runs(limit=1)[0].run_id
    assert freshness(instance) == []
    assert "the last 3 runs" in refused(ask(NAME))
    assert last in refused(ask(NAME))
    # What a check said when the publication was new holds no more: it is told, and once.
    assert freshness(instance) == [False]
    (workspace.root / "raw/evidence/new.md").write_text("new and mended")
    assert "(attempt" not in requested(ask(NAME)).tags["rag/reason"]


def freshness(instance: dg.DagsterInstance) -> list[bool]:
    """Return whether the check of freshness passed, each time that it was told."""
    check = dg.AssetCheckKey(dg.AssetKey(["thesis", "search_index"]), "publication_is_fresh")
    found = instance.event_log_storage.get_asset_check_execution_history(check, limit=10)
    return [each.evaluation.passed for each in found if each.evaluation]


@pytest.mark.usefixtures("published")
def test_a_state_that_comes_back_asks_again_however_often(
    ask: Ask, workspace: Workspace, instance: dg.DagsterInstance
) -> None:
    guest = workspace.root / "raw/evidence/guest.md"
    keys = []
    for hour in range(2, 12):
        with at(datetime.now(UTC) + timedelta(hours=hour)):
            if guest.exists():
                guest.unlink()
            else:
                guest.write_text("I come and go.")
            request = requested(ask(NAME))
            keys.append(request.run_key)
            finish_run(instance, request, dg.DagsterRunStatus.SUCCESS)
            publish_as_seen(workspace)
            assert "nothing changed" in refused(ask(NAME))
    assert len(set(keys)) == len(keys)


@pytest.mark.usefixtures("published")
def test_a_run_under_way_is_waited_for(
    ask: Ask, workspace: Workspace, instance: dg.DagsterInstance
) -> None:
    (workspace.root / "raw/evidence/new.md").write_text("new")
    request = requested(ask(NAME))
    finish_run(instance, request, dg.DagsterRunStatus.STARTED)
    assert "under way" in refused(ask(NAME))


@pytest.mark.usefixtures("published")
def test_an_inventory_that_was_never_published_asks_for_every_partition(
    ask: Ask, workspace: Workspace, namespace: Namespace
) -> None:
    from rag_assets.workspace import take_inventory

    (workspace.root / "raw/evidence/new.md").write_text("new")
    take_inventory(namespace, notify=lambda _: None)  # and then the machine was switched off
    assert span(requested(ask(NAME))) == ("0", "f")


@pytest.mark.usefixtures("published")
def test_a_raw_folder_that_is_gone_is_said_and_nothing_is_concluded(
    ask: Ask, workspace: Workspace
) -> None:
    (workspace.root / "raw").rename(workspace.root / "elsewhere")
    said = refused(ask(NAME))
    assert "is gone" in said
    assert str(workspace.root / "raw") in said


@pytest.mark.usefixtures("published")
def test_what_asks_for_runs_comes_before_questions_in_the_queue(
    ask: Ask, workspace: Workspace
) -> None:
    (workspace.root / "raw/evidence/new.md").write_text("new")
    assert int(requested(ask(NAME)).tags["dagster/priority"]) > 0


@pytest.mark.usefixtures("published")
def test_the_state_tag_names_the_namespace(ask: Ask, workspace: Workspace) -> None:
    (workspace.root / "raw/evidence/new.md").write_text("new")
    assert requested(ask(NAME)).tags[STATE_TAG].startswith("thesis-")


@pytest.mark.usefixtures("published")
def test_a_changed_setting_asks_for_every_partition(ask: Ask, workspace: Workspace) -> None:
    name = "thesis_configuration"
    assert refused(ask(name)) == "the configuration is the one that was built"
    (workspace.root / "namespaces/thesis.yaml").write_text("chunk: {target_tokens: 150}\n")
    request = requested(ask(name))
    assert span(request) == ("0", "f")
    assert request.tags["rag/reason"] == "the configuration changed"


@pytest.mark.usefixtures("published")
def test_an_override_asks_for_every_partition(
    ask: Ask, workspace: Workspace, namespace: Namespace
) -> None:
    from rag_assets.workspace import set_metadata

    set_metadata(namespace, "note", "title", "On leaves", "the file has none")
    request = requested(ask("thesis_configuration"))
    assert span(request) == ("0", "f")
    assert request.tags["rag/reason"] == "metadata was overridden"


@pytest.mark.usefixtures("published")
def test_a_setting_that_builds_nothing_asks_for_nothing(ask: Ask, workspace: Workspace) -> None:
    (workspace.root / "namespaces/thesis.yaml").write_text("retrieve: {top_k: 3}\n")
    assert "was built" in refused(ask("thesis_configuration"))


@pytest.mark.usefixtures("published")
def test_a_setting_that_cannot_be_used_is_said(ask: Ask, workspace: Workspace) -> None:
    (workspace.root / "namespaces/thesis.yaml").write_text("chunks: {target_tokens: 150}\n")
    for name in (NAME, "thesis_configuration"):
        assert "unknown key 'chunks'; did you mean 'chunk'?" in refused(ask(name))


def test_a_tick_opens_nothing_while_all_has_the_stat_of_the_last_one(
    workspace: Workspace,
    instance: dg.DagsterInstance,
    published: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (sensor, *_) = build_namespace_sensors(workspace.namespace("thesis"), "thesis_ingest")
    cursor = None

    def tick() -> object:
        nonlocal cursor
        context = dg.build_sensor_context(instance=instance, cursor=cursor)
        answer = sensor(context)
        cursor = context.cursor
        return answer

    assert "nothing changed" in refused(tick())
    assert cursor
    assert len(cursor) < 300
    opened: list[str] = []
    for name in ("scan_raw", "read_inventory"):
        found = getattr(watching, name)
        monkeypatch.setattr(
            watching,
            name,
            lambda *a, name=name, found=found, **k: opened.append(name) or found(*a, **k),
        )
    assert "1 file, nothing changed" in refused(tick())
    assert opened == []
    (workspace.root / "raw/evidence/note.md").write_text("Streets cool the leaves.")
    first = requested(tick())
    assert opened == ["read_inventory", "scan_raw"]
    # As long as nothing else happens the same run is asked for, and nothing is opened.
    assert requested(tick()).run_key == first.run_key
    assert span(requested(tick())) == span(first)
    assert opened == ["read_inventory", "scan_raw"]
    # Of another release, or written by hand: all is looked at.
    cursor = "[1, 2]"
    assert requested(tick()).run_key == first.run_key
    assert len(opened) == 4
