"""`rag meta set`: checked, noted in two logs, applied by publication, raw/ untouched."""

import json
from pathlib import Path
from typing import Any

import pytest

from rag_assets.model import UsageError
from rag_assets.workspace import (
    Namespace,
    current_overrides,
    overridden_fields,
    override_metadata,
    take_inventory,
)
from rag_assets_tests.laws.driver import make_workspace, put, silent


@pytest.fixture
def namespace(tmp_path: Path) -> Namespace:
    workspace = make_workspace(tmp_path / "library")
    put(workspace, "evidence/a.md", "# A\n\nRoofs are cool.\n")
    found = workspace.namespace("lib")
    take_inventory(found, notify=silent)
    return found


def log_of(namespace: Namespace) -> list[dict[str, Any]]:
    path = namespace.workspace.meta / "version_log.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return [json.loads(line) for line in lines]


def test_an_override_is_logged_with_what_held_before_and_why(namespace: Namespace) -> None:
    raw = namespace.workspace.root / "raw/evidence/a.md"
    before = (raw.read_bytes(), raw.stat().st_mtime_ns)
    override_metadata(namespace, "a", {"accessed_at": "2026-03-01", "year": "2020"}, "looked up")
    override_metadata(namespace, "a", {"accessed_at": "2026-03-02"}, "again")
    override_metadata(namespace, "a", {"year": None}, "was wrong")
    assert current_overrides(namespace) == {"a": {"accessed_at": "2026-03-02"}}
    told = [(e["field"], e["from"], e["to"], e["reason"]) for e in log_of(namespace)]
    assert told == [
        ("accessed_at", None, "2026-03-01", "looked up"),
        ("year", None, "2020", "looked up"),
        ("accessed_at", "2026-03-01", "2026-03-02", "again"),
        ("year", "2020", None, "was wrong"),
    ]
    assert {entry["document"] for entry in log_of(namespace)} == {"lib:a"}
    assert (raw.read_bytes(), raw.stat().st_mtime_ns) == before


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("accessed_at", "2026-02-30"),
        ("accessed_at", "1 March 2026"),
        ("accessed_at", "2026-03"),
        ("captured_at", "20260301"),
        ("published_date", "spring 2020"),
        ("published_date", "2020-13"),
        ("year", "20"),
        ("year", "0999"),
        ("url", "example.org"),
        ("doi", "https://doi.org/10.1/x"),
        ("language", "English"),
        ("citation_key", "smith 2020"),
        ("citation_key", "a,b"),
        ("citable", "true"),
        ("title", " "),
        ("authors", " ; "),
        ("tags", ","),
        ("size", "3"),
    ],
)
def test_a_value_that_cannot_be_used_changes_nothing(
    namespace: Namespace, field: str, value: str
) -> None:
    with pytest.raises(UsageError, match=field):
        override_metadata(namespace, "a", {"title": "Roofs", field: value}, "a try")
    assert current_overrides(namespace) == {}
    assert log_of(namespace) == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("published_date", "2020"),
        ("published_date", "2020-07"),
        ("published_date", "2020-07-31"),
        ("doi", "10.1002/(SICI)1097-0258"),
        ("citation_key", "smith:2020_a"),
        ("citation_key", "张三2020"),
        ("language", "zh-Hant"),
        ("citable", "false"),
        ("url", "https://example.org/a?b=c"),
        ("authors", "Müller, Anna; 王小明"),
        ("tags", "roofs; heat"),
    ],
)
def test_what_people_write_is_taken(namespace: Namespace, field: str, value: str) -> None:
    override_metadata(namespace, "a", {field: value}, "known")
    assert current_overrides(namespace) == {"a": {field: value}}


def test_authors_and_tags_are_lists_in_the_form_of_a_sidecar() -> None:
    fields = overridden_fields(
        {"authors": "Müller, Anna; 王小明；Lee, J.", "tags": "roofs, heat;roofs", "title": "A; b"}
    )
    assert fields == {
        "authors": ["Müller, Anna", "王小明", "Lee, J."],
        "tags": ["roofs", "heat"],
        "title": "A; b",
    }
