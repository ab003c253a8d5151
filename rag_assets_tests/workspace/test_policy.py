"""Decisions: numbered files that say why, and what was changed without one."""

from pathlib import Path

import pytest

from rag_assets.model import DamagedFileError, UsageError
from rag_assets.workspace import (
    Workspace,
    changes_since_decision,
    config_hash,
    create_workspace,
    read_decisions,
    record_decision,
)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return create_workspace(tmp_path / "library", "thesis")[0]


def configure(workspace: Workspace, text: str) -> Workspace:
    (workspace.root / "config.yaml").write_text(text, encoding="utf-8")
    return Workspace.open(workspace.root)  # settings are read once


def test_a_change_of_settings_is_seen_until_it_is_decided(workspace: Workspace) -> None:
    assert changes_since_decision(workspace) == []
    before = config_hash(workspace)
    changed = configure(workspace, "verify: {k: 12}\n")
    assert changes_since_decision(changed) == ["`config.yaml: verify.k`: not set → 12"]
    assert config_hash(changed) != before
    record_decision(changed, "Look at twelve passages", "the sources are long")
    assert changes_since_decision(changed) == []
    again = configure(workspace, "verify: {k: 8}\n")
    assert changes_since_decision(again) == ["`config.yaml: verify.k`: 12 → 8"]
    back = configure(workspace, "")
    assert changes_since_decision(back) == ["`config.yaml: verify.k`: 12 → not set"]
    assert config_hash(back) == before


def test_a_namespace_s_settings_are_part_of_the_policy(workspace: Workspace) -> None:
    path = workspace.namespace_file("thesis")
    path.write_text(path.read_text("utf-8") + "chunk: {target_tokens: 150}\n", encoding="utf-8")
    assert changes_since_decision(workspace) == [
        "`namespaces/thesis.yaml: chunk.target_tokens`: not set → 150"
    ]


def test_decisions_are_numbered_and_read_as_they_were_written(workspace: Workspace) -> None:
    first = record_decision(workspace, "Use only  the library", "the teacher\nasked for it")
    second = record_decision(workspace, "引用必须核对", "rubric")
    assert [path.name for path in sorted(workspace.decisions.iterdir())] == [
        "0001-use-only-the-library.md", second.path.name,
    ]  # fmt: skip
    assert second.path.name.startswith("0002-")
    found = read_decisions(workspace)
    assert [(each.number, each.text) for each in found] == [
        (1, "Use only the library"), (2, "引用必须核对"),
    ]  # fmt: skip
    assert found[0].settings == first.settings
    assert "the teacher\nasked for it" in first.path.read_text(encoding="utf-8")


def test_a_decision_without_a_reason_is_refused(workspace: Workspace) -> None:
    with pytest.raises(UsageError, match="reason"):
        record_decision(workspace, "Use only the library", " ")
    assert not workspace.decisions.exists()


def test_a_file_that_is_no_decision_is_named(workspace: Workspace) -> None:
    workspace.decisions.mkdir()
    (workspace.decisions / "0001-mine.md").write_text("# Mine\n", encoding="utf-8")
    with pytest.raises(DamagedFileError, match=r"0001-mine\.md.*front matter"):
        read_decisions(workspace)
