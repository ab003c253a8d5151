"""`.env` in a workspace that was moved or copied: it still names the place where it was made."""

import os
import shutil
from pathlib import Path

import pytest

from rag_assets.model import WorkspaceError
from rag_assets.running.instance import prepare_environment
from rag_assets.workspace import (
    Workspace,
    create_workspace,
    environment_of,
    require_own_environment,
    stale_environment,
)


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A copy of a workspace, asked as Dagster does: after reading the `.env` that stands there."""
    create_workspace(tmp_path / "made here", "thesis")
    made = Workspace.open(tmp_path / "made here")
    with (made.root / ".env").open("a", encoding="utf-8") as file:
        file.write("# mine\nMY_KEY='a b'\n")
    shutil.copytree(made.root, tmp_path / "copied to")
    for name, value in environment_of(made).items():
        monkeypatch.setenv(name, value)
    return Workspace.open(tmp_path / "copied to")


def test_a_copy_is_not_taken_for_what_it_was_copied_from(copied: Workspace) -> None:
    with pytest.raises(WorkspaceError, match=r"copied to.*names the workspace.*made here"):
        require_own_environment(copied.root)


def test_starting_dagster_corrects_the_copy_and_keeps_what_the_user_wrote(
    copied: Workspace,
) -> None:
    assert set(stale_environment(copied)) == {"DAGSTER_HOME", "RAG_WORKSPACE"}
    prepare_environment(copied)
    assert stale_environment(copied) == {}
    assert (copied.root / ".env").read_text(encoding="utf-8").endswith("# mine\nMY_KEY='a b'\n")
    require_own_environment(copied.root)


def test_where_it_was_made_nothing_is_written(copied: Workspace) -> None:
    made = copied.root.with_name("made here")
    before = (made / ".env").stat()
    prepare_environment(Workspace.open(made))
    assert (made / ".env").stat() == before


def test_lines_that_the_user_took_away_stay_away(copied: Workspace) -> None:
    (copied.root / ".env").write_text("MY_KEY=1\n", encoding="utf-8")
    prepare_environment(copied)
    assert (copied.root / ".env").read_text(encoding="utf-8") == "MY_KEY=1\n"
    require_own_environment(copied.root)


def test_a_workspace_may_be_named_from_anywhere(copied: Workspace, tmp_path: Path) -> None:
    require_own_environment(tmp_path)
    require_own_environment(copied.root.with_name("made here"))


def test_what_a_store_needs_is_lent_from_the_file_unless_the_environment_says_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_workspace(tmp_path, "thesis")
    with (tmp_path / ".env").open("a") as file:
        file.write("AWS_ACCESS_KEY_ID=of-the-file\nAWS_DEFAULT_REGION=of-the-file\nOTHER_KEY=x\n")
    for name in ("AWS_ACCESS_KEY_ID", "OTHER_KEY"):
        monkeypatch.setenv(name, "")  # so that it is as before when the test has ended
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "of-the-environment")
    assert Workspace.open(tmp_path).namespace("thesis").object_store is None
    assert "AWS_ACCESS_KEY_ID" not in os.environ  # nothing is lent without a store
    with (tmp_path / "config.yaml").open("a") as file:
        file.write("\nstore: s3://bucket/prefix\n")
    assert Workspace.open(tmp_path).namespace("thesis").object_store is not None
    assert os.environ["AWS_ACCESS_KEY_ID"] == "of-the-file"
    assert os.environ["AWS_DEFAULT_REGION"] == "of-the-environment"
    assert "OTHER_KEY" not in os.environ
