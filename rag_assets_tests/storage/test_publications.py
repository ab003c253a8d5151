import json
from pathlib import Path

import pytest

from rag_assets.model import DamagedFileError, PublicationError
from rag_assets.storage import (
    MANIFEST,
    build_folder,
    current_folder,
    is_complete,
    mend_pointer,
    point_at,
    read_manifest,
    read_pointer,
    remove_left_behind,
    retire_publications,
)


def fill(folder: Path) -> None:
    (folder / "chunks.lance").mkdir()
    (folder / MANIFEST).write_text(json.dumps({"publication": "p", "created_at": 1.0}))


def publish(folder: Path, name: str) -> bool:
    build_folder(folder, name, fill)
    return point_at(folder, name, {"inventory": name})


def standing(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.is_dir()}


def test_readers_see_nothing_of_a_publication_until_it_is_pointed_at(tmp_path: Path) -> None:
    with pytest.raises(PublicationError, match="rag ingest --namespace lib"):
        current_folder(tmp_path, "lib")
    publish(tmp_path, "p-1")
    build_folder(tmp_path, "p-2", fill)
    assert current_folder(tmp_path, "lib") == tmp_path / "p-1"
    assert point_at(tmp_path, "p-2", {}) is True
    assert current_folder(tmp_path, "lib") == tmp_path / "p-2"
    assert read_manifest(tmp_path / "p-2")["publication"] == "p"


def test_failed_build_leaves_no_trace(tmp_path: Path) -> None:
    publish(tmp_path, "p-1")

    def fail(folder: Path) -> None:
        fill(folder)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        build_folder(tmp_path, "p-2", fail)
    assert standing(tmp_path) == {"p-1"}
    assert not is_complete(tmp_path, "p-2")


def test_incomplete_folder_of_a_crash_is_built_over(tmp_path: Path) -> None:
    (tmp_path / "p-1").mkdir()
    (tmp_path / "p-1" / "half").touch()
    publish(tmp_path, "p-1")
    assert is_complete(tmp_path, "p-1")
    assert not (tmp_path / "p-1" / "half").exists()


def test_pointing_again_at_the_same_state_writes_nothing(tmp_path: Path) -> None:
    publish(tmp_path, "p-1")
    before = (tmp_path / "current.json").stat()
    assert point_at(tmp_path, "p-1", {"inventory": "p-1"}) is False
    assert (tmp_path / "current.json").stat().st_ino == before.st_ino


def test_pointer_remembers_what_was_built_from_across_publications(tmp_path: Path) -> None:
    build_folder(tmp_path, "p-1", fill)
    point_at(tmp_path, "p-1", {"inventory": "i1", "configuration": "c1"})
    assert point_at(tmp_path, "p-1", {"inventory": "i2"}) is False
    pointer = read_pointer(tmp_path)
    assert pointer is not None
    assert dict(pointer.built_from) == {"inventory": "i2", "configuration": "c1"}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"history": []}', '{"history": [{"x": 1}]}'])
def test_damaged_pointer_is_named_and_mended(tmp_path: Path, text: str) -> None:
    (tmp_path / "current.json").write_text(text)
    build_folder(tmp_path, "p-1", fill)
    with pytest.raises(
        DamagedFileError, match=r"current\.json: the pointer is damaged .*rag ingest"
    ):
        read_pointer(tmp_path)
    mended = mend_pointer(tmp_path)
    assert mended is not None
    assert "rebuilt from 1 publications" in mended
    assert current_folder(tmp_path, "lib") == tmp_path / "p-1"
    assert mend_pointer(tmp_path) is None


@pytest.mark.parametrize("text", ["", "{", "[]", "{}"])
def test_damaged_manifest_is_named_with_its_mend(tmp_path: Path, text: str) -> None:
    publish(tmp_path, "p-1")
    (tmp_path / "p-1" / MANIFEST).write_text(text)
    with pytest.raises(DamagedFileError, match=r"manifest\.json.*rag ingest"):
        read_manifest(tmp_path / "p-1")


def test_publication_that_is_gone_is_an_error_with_its_mend(tmp_path: Path) -> None:
    publish(tmp_path, "p-1")
    (tmp_path / "p-1" / MANIFEST).unlink()
    with pytest.raises(DamagedFileError, match="rag ingest --namespace lib"):
        current_folder(tmp_path, "lib")


def test_retiring_keeps_the_last_the_young_and_the_pinned(tmp_path: Path) -> None:
    for number in range(5):
        publish(tmp_path, f"p-{number}")
    assert retire_publications(tmp_path, keep=2, keep_hours=24) == ()
    (tmp_path / "p-1.pin").touch()
    assert set(retire_publications(tmp_path, keep=2, keep_hours=0)) == {"p-0", "p-2"}
    assert standing(tmp_path) == {"p-1", "p-3", "p-4"}
    assert retire_publications(tmp_path, keep=2, keep_hours=0) == ()


def test_current_publication_never_retires(tmp_path: Path) -> None:
    publish(tmp_path, "p-1")
    publish(tmp_path, "p-2")
    publish(tmp_path, "p-1")
    retire_publications(tmp_path, keep=1, keep_hours=0)
    assert standing(tmp_path) == {"p-1"}


def test_among_a_persons_files_only_our_own_dead_temporary_files_are_removed(
    tmp_path: Path,
) -> None:
    dead = tmp_path / "deep" / ".tmp-999999999-0a1b2c3d.yaml"
    kept = [
        tmp_path / ".tmp-1-0a1b2c3d",  # of a living process
        tmp_path / ".tmp-999999999-notours.yaml",
        tmp_path / ".tmp-999999999-0a1b2c3d.yaml.bak",
        tmp_path / ".tmp-notes.md",
        tmp_path / "x.tmp-999999999-0a1b2c3d",
    ]
    dead.parent.mkdir()
    for path in (dead, *kept):
        path.write_text("x")
    folder = tmp_path / ".tmp-999999999-0a1b2c3e"
    folder.mkdir()
    link = tmp_path / ".tmp-999999999-0a1b2c3f"
    link.symlink_to(kept[0])
    gone = remove_left_behind(tmp_path, "**/*", lambda process: process == 1)
    assert gone == (str(dead),)
    assert all(path.exists() for path in (*kept, folder, link))
