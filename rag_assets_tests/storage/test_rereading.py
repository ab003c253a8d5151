"""What was read of a file is given again only within a run, and only of the same file."""

from pathlib import Path

import pytest

from rag_assets.storage import read_once, reading_once


def test_a_file_is_read_again_once_it_is_another_or_the_run_is_over(tmp_path: Path) -> None:
    path, read = tmp_path / "file", list[str]()

    def look() -> str:
        def of_file() -> str:
            read.append(path.read_text() if path.exists() else "none")
            return read[-1]

        return read_once([path], "text", of_file)

    with reading_once():
        assert (look(), look()) == ("none", "none")
        path.write_text("one")
        with reading_once():
            assert (look(), look()) == ("one", "one")
        path.write_text("another")
        assert (look(), look()) == ("another", "another")
    assert read == ["none", "one", "another"]
    look()
    look()
    assert len(read) == 5


def test_what_fails_is_tried_again(tmp_path: Path) -> None:
    with reading_once():
        with pytest.raises(ZeroDivisionError):
            read_once([tmp_path], "text", lambda: 1 / 0)
        assert read_once([tmp_path], "text", lambda: 1) == 1
