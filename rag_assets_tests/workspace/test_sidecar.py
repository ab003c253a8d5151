from pathlib import Path

import pytest

from rag_assets.model import ConfigurationError
from rag_assets.workspace import Sidecar, read_sidecar


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "roofs.md.meta.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_sidecar_says_what_the_file_does_not(tmp_path: Path) -> None:
    text = (
        "title: 冷屋顶\nauthors: [Vance, 李]\nyear: 2021\npublished_date: 2021-03-01\n"
        "doc_uid: 屋顶-2021\ntags: [roof]\ncitable: false\npassword: hidden\n"
    )
    found = read_sidecar(write(tmp_path, text))
    assert (found.title, found.authors, found.year) == ("冷屋顶", ("Vance", "李"), 2021)
    assert found.published_date == "2021-03-01"
    assert (found.doc_uid, found.citable) == ("屋顶-2021", False)
    assert "hidden" not in repr(found)


@pytest.mark.parametrize("uid", ["a", "屋顶", "a.b-c_d", "2021"])
def test_uid_that_can_be_written_in_a_draft_is_taken(uid: str) -> None:
    assert Sidecar(doc_uid=uid).doc_uid == uid


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["is empty"]),
        ("# nothing\n", ["is empty"]),
        ("- a\n", ["expected `key: value` lines"]),
        ("citble: false\n", ["unknown key 'citble'", "Did you mean 'citable'?"]),
        ("doc_uid: a b\n", ["'doc_uid'", "got 'a b'"]),
        ("doc_uid: a}\n", ["'doc_uid'"]),
        ("doc_uid: -a\n", ["'doc_uid'"]),
        ("year: '2021'\n", ["'year'", "got '2021'"]),
        ("citable: 'no'\n", ["'citable'"]),
        ("title: ''\n", ["'title'"]),
        ("title: [broken\n", ["line 2", "not valid YAML"]),
        ("title: a\ntitle: b\n", ["line 2", "'title' occurs twice"]),
        (b"title: \xff\n", ["not UTF-8"]),
    ],
)
def test_wrong_sidecar_names_itself_and_its_key_but_no_folder(
    tmp_path: Path, text: str | bytes, words: list[str]
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        read_sidecar(write(tmp_path, text))
    message = str(caught.value)
    assert message.startswith("roofs.md.meta.yaml")
    assert str(tmp_path) not in message
    for word in words:
        assert word in message


def test_wrong_password_is_never_shown(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        read_sidecar(write(tmp_path, "password: 12345678\n"))
    assert "'password'" in str(caught.value)
    assert "12345678" not in str(caught.value)
