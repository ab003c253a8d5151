import json
from pathlib import Path

import pytest

from rag_assets.model import DamagedFileError, UsageError
from rag_assets.storage import mend_journal
from rag_assets.workspace import (
    Binding,
    Namespace,
    Override,
    Workspace,
    current_overrides,
    read_inventory,
    read_journal,
    set_metadata,
    take_inventory,
)
from rag_assets.workspace.journal import append_events, latest_overrides
from rag_assets_tests.laws.driver import put, silent, uids_of

FIRST = Binding("bind", "a" * 64, "raw/evidence/叶片\n2.md", "叶片-2")
SECOND = Binding("pin", "b" * 64, "raw/evidence/b.md", "b")
SET = Override("b", "title", "标题", "as printed")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "journal" / "lib.jsonl"
    append_events(path, [FIRST])
    append_events(path, [SECOND, SET])
    return path


def test_events_are_appended_as_readable_lines(path: Path) -> None:
    journal = read_journal(path)
    assert journal.bindings == (FIRST, SECOND)
    assert journal.overrides == (SET,)
    lines = path.read_text(encoding="utf-8").split("\n")
    assert len(lines) == 4
    assert "叶片-2" in lines[0]
    assert all(json.loads(line)["at"] for line in lines[:3])


def test_missing_journal_is_an_empty_one(tmp_path: Path) -> None:
    assert read_journal(tmp_path / "none.jsonl").bindings == ()
    assert mend_journal(tmp_path / "none.jsonl") is None


def test_nothing_to_append_makes_no_file(tmp_path: Path) -> None:
    append_events(tmp_path / "new.jsonl", [])
    assert not (tmp_path / "new.jsonl").exists()


def test_torn_last_line_is_cut_and_named_at_every_length(path: Path) -> None:
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    second = whole.index(b"\n", first) + 1
    for length in range(first + 1, second):
        path.write_bytes(whole[:length])
        assert read_journal(path).bindings == (FIRST,), length
        mended = mend_journal(path)
        assert mended is not None
        assert "half-written" in mended
        assert path.read_bytes() == whole[:first]
    assert mend_journal(path) is None


@pytest.mark.parametrize(
    "line",
    [
        b"{", b"null", b"[1]", b'"x"', b"{}", b"\xff\xfe", b"",
        b'{"event": "bind", "at": "x"}',
        b'{"event": "unbind", "at": "x"}',
        b'{"event": "bind", "at": "", "content_hash": "c", "path": "p", "doc_uid": "u", "x": 1}',
        b'{"event": "bind", "at": "", "content_hash": 1, "path": "p", "doc_uid": "u"}',
    ],
)  # fmt: skip
def test_damaged_line_in_the_middle_is_named_and_nothing_is_changed(
    path: Path, line: bytes
) -> None:
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    damaged = whole[:first] + line + b"\n" + whole[first:]
    path.write_bytes(damaged)
    with pytest.raises(DamagedFileError, match=r"lib\.jsonl, line 2: .*[Rr]estore the file"):
        read_journal(path)
    assert path.read_bytes() == damaged


def test_lines_are_ended_by_line_feeds_alone(tmp_path: Path) -> None:
    odd = Binding("bind", "c" * 64, "raw/a\u2028b\x85c\x1cd.md", "a\u2028b")
    append_events(tmp_path / "odd.jsonl", [odd, SECOND])
    assert read_journal(tmp_path / "odd.jsonl").bindings == (odd, SECOND)


def test_latest_override_holds_and_can_be_taken_back() -> None:
    events = [
        SET,
        Override("b", "title", "Later", ""),
        Override("b", "year", "2021", ""),
        Override("c", "title", "C", ""),
        Override("c", "title", None, "wrong"),
    ]
    assert latest_overrides(events) == {"b": {"title": "Later", "year": "2021"}, "c": {}}


def test_torn_journal_is_mended_by_the_next_inventory_and_says_so(
    workspace: Workspace, namespace: Namespace
) -> None:
    put(workspace, "evidence/a.md", "a")
    put(workspace, "evidence/b.md", "b")
    take_inventory(namespace, notify=silent)
    whole = namespace.journal.read_bytes()
    namespace.journal.write_bytes(whole[:-20])
    said: list[str] = []
    outcome = take_inventory(namespace, notify=said.append)
    assert any("half-written" in sentence for sentence in said)
    assert any("half-written" in sentence for sentence in outcome.warnings)
    assert uids_of(namespace) == {"evidence/a.md": "a", "evidence/b.md": "b"}
    assert len(read_journal(namespace.journal).bindings) == 2


def test_damaged_journal_stops_the_inventory_before_it_writes(
    workspace: Workspace, namespace: Namespace
) -> None:
    put(workspace, "evidence/a.md", "a")
    take_inventory(namespace, notify=silent)
    journal = b"{}\n" + namespace.journal.read_bytes()
    namespace.journal.write_bytes(journal)
    inventory = namespace.inventory.read_bytes()
    put(workspace, "evidence/b.md", "b")
    with pytest.raises(DamagedFileError, match="line 1"):
        take_inventory(namespace, notify=silent)
    assert namespace.journal.read_bytes() == journal
    assert namespace.inventory.read_bytes() == inventory


def test_damaged_inventory_is_named_and_rebuilt(workspace: Workspace, namespace: Namespace) -> None:
    put(workspace, "evidence/a.md", "a")
    whole = take_inventory(namespace, notify=silent).inventory
    data = namespace.inventory.read_bytes()
    for length in (0, 4, len(data) // 2, len(data) - 1):
        namespace.inventory.write_bytes(data[:length])
        with pytest.raises(DamagedFileError, match=r"lib\.parquet.*rag ingest"):
            read_inventory(namespace)
        said: list[str] = []
        outcome = take_inventory(namespace, notify=said.append)
        assert outcome.inventory.digest == whole.digest
        assert any("damaged" in sentence for sentence in said)


def test_override_of_an_unknown_uid_or_field_is_refused(
    workspace: Workspace, namespace: Namespace
) -> None:
    put(workspace, "evidence/a.md", "a")
    take_inventory(namespace, notify=silent)
    for uid, field, value in [
        ("b", "title", "x"), ("a", "text", "x"), ("a", "citable", "true"), ("a", "year", "21"),
    ]:  # fmt: skip
        with pytest.raises(UsageError):
            set_metadata(namespace, uid, field, value, "a try")
    assert current_overrides(namespace) == {}
    set_metadata(namespace, "a", "citable", "false", "a rumour")
    assert current_overrides(namespace) == {"a": {"citable": "false"}}
