"""A laboratory within its workspace: what `rag doctor` says of it, what it changes there."""

from pathlib import Path

import pytest

from rag_assets.lab.laboratory import init_laboratory
from rag_assets.running import recording
from rag_assets.running.recording import file_system_of, laboratory_faults
from rag_assets.workspace import Workspace, settings_digest
from rag_assets_tests.lab.laboratories import make_laboratory, make_workspace


def test_a_workspace_without_a_laboratory_is_not_told_of_one(tmp_path: Path) -> None:
    assert list(laboratory_faults(make_workspace(tmp_path / "plain"))) == []


def test_a_laboratory_makes_nothing_else_stale(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path / "plain")
    (workspace.root / "namespaces/thesis.yaml").write_text("{}\n", encoding="utf-8")
    before = settings_digest(workspace.namespace("thesis"))
    init_laboratory(workspace)
    after = Workspace.open(workspace.root)
    assert after.settings.lab is not None
    assert settings_digest(after.namespace("thesis")) == before


def test_a_sound_laboratory_a_missing_one_and_a_broken_one(tmp_path: Path) -> None:
    lab = make_laboratory(tmp_path / "lab")
    assert list(laboratory_faults(lab.workspace)) == [("3 changes", None)]
    for file in lab.store.path.parent.iterdir():
        file.write_bytes(b"no store" * 1000)
    ((told, mend),) = laboratory_faults(lab.workspace)
    assert "no store that SQLite can read" in told
    assert mend is not None
    lab.store.path.unlink()
    assert [mend for _, mend in laboratory_faults(lab.workspace)] == ["rag lab init"]


def test_a_network_file_system_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = [("/", "ext4"), (str(tmp_path), "nfs4"), (f"{tmp_path}/lab/other", "ext4")]
    assert file_system_of(tmp_path / "lab/meta", mounts) == "nfs4"
    assert file_system_of(Path("/etc"), mounts) == "ext4"
    lab = make_laboratory(tmp_path / "lab")
    monkeypatch.setattr(recording, "file_system_of", lambda _: "nfs4")
    (told, mend), _ = laboratory_faults(lab.workspace)
    assert "network file system (nfs4)" in told
    assert mend == "keep the workspace on a disk of this machine"
