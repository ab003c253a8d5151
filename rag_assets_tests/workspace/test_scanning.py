import datetime
import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import time_machine

from rag_assets.model import StorageError, WorkspaceError, hash_text
from rag_assets.workspace import (
    Namespace,
    Scan,
    Sidecar,
    SourceFile,
    Workspace,
    look_at_raw,
    read_sidecar,
    scan_raw,
    scanning,
    take_inventory,
)
from rag_assets_tests.laws.driver import make_workspace, put, put_sidecar, silent


@contextmanager
def seconds_later(seconds: float) -> Iterator[None]:
    later = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=seconds)
    with time_machine.travel(later, tick=True):
        yield


def by_path(scan: Scan) -> dict[str, SourceFile]:
    return {source.source_uri.removeprefix("raw/"): source for source in scan.sources}


def test_every_file_is_found_with_its_hash_and_place(
    workspace: Workspace, namespace: Namespace
) -> None:
    put(workspace, "evidence/deep/a.md", "甲")
    put(workspace, "instruction/guidance/b.md", "b")
    put(workspace, "c.md", "c")
    found = by_path(scan_raw(namespace))
    assert list(found) == ["c.md", "evidence/deep/a.md", "instruction/guidance/b.md"]
    a, b, c = found["evidence/deep/a.md"], found["instruction/guidance/b.md"], found["c.md"]
    assert (a.content_hash, a.size, a.status) == (hash_text("甲"), 3, "ok")
    assert (a.source_type, a.citable) == ("evidence", True)
    assert (b.source_type, b.source_subtype, b.citable) == ("instruction", "guidance", False)
    assert (c.source_type, c.citable) == ("unsorted", False)


def test_place_is_a_folder_and_not_the_beginning_of_a_name(
    workspace: Workspace, namespace: Namespace
) -> None:
    put(workspace, "evidence-drafts/a.md", "a")
    assert by_path(scan_raw(namespace))["evidence-drafts/a.md"].citable is False


@pytest.mark.parametrize(
    "name",
    [".hidden.md", ".git/config", "~$paper.docx", "a.PART", "b.crdownload", "x.tmp", "Thumbs.db"],
)
def test_hidden_and_ignored_files_are_not_taken_in(
    workspace: Workspace, namespace: Namespace, name: str
) -> None:
    put(workspace, f"evidence/{name}", "x")
    assert scan_raw(namespace).sources == ()


@pytest.mark.parametrize("name", ["a\nb.md", "🏠.md", "x" * 252 + ".md", "a'b\"c.md", " .md"])
def test_strange_names_are_taken_as_they_are(
    workspace: Workspace, namespace: Namespace, name: str
) -> None:
    put(workspace, f"evidence/{name}", "x")
    assert by_path(scan_raw(namespace))[f"evidence/{name}"].status == "ok"


def test_name_that_is_no_text_is_refused_and_shown(
    workspace: Workspace, namespace: Namespace
) -> None:
    folder = os.fsencode(workspace.root / "raw/evidence")
    Path(os.fsdecode(folder + b"/\xff.md")).write_text("x")
    put(workspace, "evidence/a.md", "a")
    found = by_path(scan_raw(namespace))
    assert found["evidence/a.md"].status == "ok"
    (refused,) = [source for source in found.values() if source.status == "refused"]
    assert refused.reason_code == "name_not_utf8"
    take_inventory(namespace, notify=silent)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("outside", "symlink_outside"),
        ("broken", "symlink_broken"),
        ("circle", "symlink_broken"),
        ("folder", "symlink_folder"),
    ],
)
def test_links_that_lead_nowhere_good_are_refused_with_a_reason(
    workspace: Workspace, namespace: Namespace, kind: str, reason: str
) -> None:
    put(workspace, "evidence/sub/a.md", "a")
    secret = workspace.root / "secret.md"
    secret.write_text("secret")
    link = workspace.root / "raw/evidence/link.md"
    targets = {
        "outside": secret,
        "broken": workspace.root / "raw/evidence/gone.md",
        "circle": link,
        "folder": workspace.root / "raw/evidence/sub",
    }
    link.symlink_to(targets[kind])
    found = by_path(scan_raw(namespace))
    refused = found["evidence/link.md"]
    assert (refused.status, refused.reason_code) == ("refused", reason)
    assert refused.content_hash == ""
    assert found["evidence/sub/a.md"].status == "ok"


def test_link_within_raw_is_a_copy(workspace: Workspace, namespace: Namespace) -> None:
    path = put(workspace, "evidence/a.md", "a")
    (workspace.root / "raw/instruction/b.md").symlink_to(path)
    found = by_path(scan_raw(namespace))
    assert found["instruction/b.md"].content_hash == found["evidence/a.md"].content_hash
    assert found["instruction/b.md"].citable is False


def test_thing_that_is_no_file_is_refused(workspace: Workspace, namespace: Namespace) -> None:
    os.mkfifo(workspace.root / "raw/evidence/pipe.md")
    assert by_path(scan_raw(namespace))["evidence/pipe.md"].reason_code == "not_a_file"


def test_raw_folder_that_is_gone_is_an_error_and_not_a_removal(
    workspace: Workspace, namespace: Namespace
) -> None:
    put(workspace, "evidence/a.md", "a")
    take_inventory(namespace, notify=silent)
    before = namespace.inventory.read_bytes()
    (workspace.root / "raw").rename(workspace.root / "elsewhere")
    with pytest.raises(WorkspaceError, match=r"raw of namespace 'lib' is gone.*Nothing was"):
        take_inventory(namespace, notify=silent)
    assert namespace.inventory.read_bytes() == before


def test_sidecar_without_its_file_is_a_warning(workspace: Workspace, namespace: Namespace) -> None:
    put_sidecar(workspace, "evidence/gone.md", title="Gone")
    scan = scan_raw(namespace)
    assert scan.sources == ()
    (warning,) = scan.warnings
    assert warning.startswith("raw/evidence/gone.md.meta.yaml: a sidecar without its file")


@pytest.mark.parametrize("suffix", [".yaml", ".yml", ".meta.yml", ".meta.json"])
def test_a_sidecar_under_a_wrong_name_is_refused(
    workspace: Workspace, namespace: Namespace, suffix: str
) -> None:
    put(workspace, "evidence/a.pdf", "a")
    put(workspace, f"evidence/a.pdf{suffix}", "password: secret")
    put(workspace, "evidence/settings.yaml", "a document: of its own")
    by_name = {Path(s.source_uri).name: s for s in scan_raw(namespace).sources}
    assert by_name[f"a.pdf{suffix}"].reason_code == "sidecar_name"
    assert "rename it to a.pdf.meta.yaml" in by_name[f"a.pdf{suffix}"].message
    assert by_name["a.pdf"].status == by_name["settings.yaml"].status == "ok"


def test_password_is_known_by_its_hash_alone(workspace: Workspace, namespace: Namespace) -> None:
    put(workspace, "evidence/a.md", "a")
    put_sidecar(workspace, "evidence/a.md", password="hidden", title="A")
    take_inventory(namespace, notify=silent)
    source = by_path(scan_raw(namespace))["evidence/a.md"]
    assert source.password_hash == hash_text("hidden")
    assert source.sidecar == '{"title": "A"}'
    stored = [path for path in workspace.meta.rglob("*") if path.is_file()]
    assert stored
    assert not any(b"hidden" in path.read_bytes() for path in stored)


def test_edited_broken_sidecar_is_another_state(workspace: Workspace, namespace: Namespace) -> None:
    put(workspace, "evidence/a.md", "a")
    put(workspace, "evidence/a.md.meta.yaml", "")
    first = by_path(scan_raw(namespace))["evidence/a.md"]
    put(workspace, "evidence/a.md.meta.yaml", "# still nothing\n")
    second = by_path(scan_raw(namespace))["evidence/a.md"]
    assert first.sidecar_error
    assert second.sidecar_error
    assert first.content_fields != second.content_fields


def test_unchanged_files_are_hashed_once_and_again_where_asked(
    workspace: Workspace, namespace: Namespace
) -> None:
    put(workspace, "evidence/a.md", "a")
    put(workspace, "evidence/b.md", "b")
    with seconds_later(10):  # what changed a moment ago could change again unseen
        first = scan_raw(namespace)
        assert (first.hashed_files, first.hashed_bytes) == (2, 2)
        again = scan_raw(namespace)
        assert again.hashed_files == 0
        assert again.sources == first.sources
        assert scan_raw(namespace, rehash=True).hashed_files == 2


def test_hash_of_a_file_that_changed_a_moment_ago_is_not_remembered(
    workspace: Workspace, namespace: Namespace
) -> None:
    put(workspace, "evidence/a.md", "a")
    assert scan_raw(namespace).hashed_files == 1
    assert scan_raw(namespace).hashed_files == 1


def test_edit_that_keeps_size_and_time_is_seen(workspace: Workspace, namespace: Namespace) -> None:
    path = put(workspace, "evidence/a.md", "one")
    with seconds_later(10):
        scan_raw(namespace)
        stat = path.stat()
        path.write_text("two")
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        assert by_path(scan_raw(namespace))["evidence/a.md"].content_hash == hash_text("two")


@pytest.mark.parametrize("data", [b"", b"{", b"[1]", b"\xff", b'{"raw/evidence/a.md": [1]}'])
def test_damaged_hash_cache_costs_a_hash_and_no_more(
    workspace: Workspace, namespace: Namespace, data: bytes
) -> None:
    put(workspace, "evidence/a.md", "a")
    namespace.hash_cache.parent.mkdir(parents=True, exist_ok=True)
    namespace.hash_cache.write_bytes(data)
    assert by_path(scan_raw(namespace))["evidence/a.md"].content_hash == hash_text("a")


def test_file_that_does_not_rest_is_pending_and_stays_what_it_was(
    workspace: Workspace, namespace: Namespace
) -> None:
    put(workspace, "evidence/a.md", "one")
    before = by_path(scan_raw(namespace))
    put(workspace, "evidence/a.md", "two")
    put(workspace, "evidence/new.md", "new")
    previous = {source.source_uri: source for source in before.values()}
    moving = scan_raw(namespace, previous=previous, rest_seconds=60)
    assert set(moving.pending) == {"raw/evidence/a.md", "raw/evidence/new.md"}
    assert by_path(moving) == before
    with seconds_later(61):
        still = scan_raw(namespace, previous=previous, rest_seconds=60)
    assert still.pending == ()
    assert by_path(still)["evidence/a.md"].content_hash == hash_text("two")
    assert not moving.over_budget


def test_budget_for_hashing_goes_on_where_it_stopped(
    workspace: Workspace, namespace: Namespace
) -> None:
    for name in "abcd":
        put(workspace, f"evidence/{name}.md", name * 10)
    with seconds_later(10):
        looks = [scan_raw(namespace, budget_bytes=15) for _ in range(3)]
    assert [look.hashed_files for look in looks] == [2, 2, 0]
    assert [look.over_budget for look in looks] == [True, False, False]
    assert looks[0].pending == ("raw/evidence/c.md", "raw/evidence/d.md")
    assert len(looks[2].sources) == 4


def test_a_look_out_of_time_takes_one_file_and_the_next_goes_on(
    workspace: Workspace, namespace: Namespace
) -> None:
    for name in "abc":
        put(workspace, f"evidence/{name}.md", name)
        put_sidecar(workspace, f"evidence/{name}.md", year=2000)
    with seconds_later(10):
        looks = [scan_raw(namespace, budget_seconds=0) for _ in range(4)]
    assert [len(look.sources) for look in looks] == [1, 2, 3, 3]
    assert [look.over_budget for look in looks] == [True, True, False, False]
    assert [look.is_settled for look in looks] == [False, False, True, True]
    assert all('"year": 2000' in source.sidecar for source in looks[-1].sources)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sidecars that were read, by name."""
    names: list[str] = []

    def reading(path: Path) -> Sidecar:
        names.append(path.name)
        return read_sidecar(path)

    monkeypatch.setattr(scanning, "read_sidecar", reading)
    return names


def test_a_sidecar_is_read_once_and_again_when_it_changed(
    workspace: Workspace, namespace: Namespace, read: list[str]
) -> None:
    for name in ("sound", "broken", "edited"):
        put(workspace, f"evidence/{name}.md", name)
        put_sidecar(workspace, f"evidence/{name}.md", year=2000, password="secret")
    put(workspace, "evidence/broken.md.meta.yaml", "citable: maybe\n")
    with seconds_later(10):
        first = scan_raw(namespace)
        assert len(read) == 3
        again = scan_raw(namespace)
        assert len(read) == 3
        assert [s.content_fields for s in again.sources] == [
            s.content_fields for s in first.sources
        ]
    put_sidecar(workspace, "evidence/edited.md", year=2001)
    with seconds_later(20):
        found = by_path(scan_raw(namespace))
    assert read[3:] == ["edited.md.meta.yaml"]
    assert '"year": 2001' in found["evidence/edited.md"].sidecar
    assert found["evidence/edited.md"].password_hash == ""
    assert found["evidence/sound.md"].password_hash == hash_text("secret")
    assert found["evidence/broken.md"].sidecar_error
    assert "secret" not in namespace.hash_cache.read_text()


def test_a_sidecar_that_changed_a_moment_ago_is_not_remembered(
    workspace: Workspace, namespace: Namespace, read: list[str]
) -> None:
    put(workspace, "evidence/a.md", "a")
    put_sidecar(workspace, "evidence/a.md", year=2000)
    assert not scan_raw(namespace).is_settled
    assert not scan_raw(namespace).is_settled
    assert len(read) == 2


def test_longest_root_names_a_file_of_nested_folders(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, lib={"raw": ["raw/law", "raw/papers"]})
    put(workspace, "law/evidence/a.md", "a")
    put(workspace, "papers/evidence/a.md", "b")
    uris = [source.source_uri for source in scan_raw(workspace.namespace("lib")).sources]
    assert uris == ["raw/law/evidence/a.md", "raw/papers/evidence/a.md"]


def test_look_names_the_partitions_that_changed(workspace: Workspace, namespace: Namespace) -> None:
    put(workspace, "evidence/a.md", "a")
    inventory = take_inventory(namespace, notify=silent).inventory
    with seconds_later(10):
        assert look_at_raw(namespace, None).partitions == namespace.partition_keys
        unchanged = look_at_raw(namespace, inventory.digest)
        assert (unchanged.digest, unchanged.partitions) == (inventory.digest, ())
        assert unchanged.is_complete
    put(workspace, "evidence/b.md", "b")
    assert look_at_raw(namespace, inventory.digest).pending == ("raw/evidence/b.md",)
    with seconds_later(10):
        changed = look_at_raw(namespace, inventory.digest)
        assert changed.digest != inventory.digest
        assert changed.partitions == (hash_text("b")[0],)
        (workspace.root / "raw/evidence/a.md").unlink()
        (workspace.root / "raw/evidence/b.md").unlink()
        gone = look_at_raw(namespace, inventory.digest)
        assert gone.partitions == (hash_text("a")[0],)


def test_refused_file_makes_some_partition_run(workspace: Workspace, namespace: Namespace) -> None:
    inventory = take_inventory(namespace, notify=silent).inventory
    (workspace.root / "raw/evidence/link.md").symlink_to("nowhere")
    look = look_at_raw(namespace, inventory.digest)
    assert look.digest != inventory.digest
    assert len(look.partitions) == 1


def test_a_file_that_is_too_large_is_refused_by_its_size_and_never_read(
    workspace: Workspace, namespace: Namespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(workspace, "evidence/a.md", "A.")
    huge = workspace.root / "raw/evidence/huge.pdf"
    huge.touch()
    os.truncate(huge, 21_000_000_000)
    opens = Path.open

    def watched(self: Path, *arguments: Any, **options: Any) -> Any:
        assert self.name != huge.name, "it was opened"
        return opens(self, *arguments, **options)

    monkeypatch.setattr(Path, "open", watched)
    scan = scan_raw(namespace)
    found = by_path(scan)["evidence/huge.pdf"]
    assert (found.status, found.reason_code, found.content_hash) == ("refused", "size_limit", "")
    assert "21000.0 MB, parse.max_megabytes allows" in found.message
    assert (scan.hashed_files, scan.pending) == (1, ())


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENOMEM, errno.ESTALE])
def test_trouble_of_the_machine_refuses_no_file(
    workspace: Workspace, namespace: Namespace, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    put(workspace, "evidence/a.md", "A.")

    def fail(*_: object, **__: object) -> Any:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "open", fail)
    with pytest.raises(StorageError, match=r"a\.md: cannot be read"):
        scan_raw(namespace, rehash=True)
