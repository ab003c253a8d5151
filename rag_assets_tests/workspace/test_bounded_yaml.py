"""Whatever stands in a YAML file, it is read within bounds or refused with its line and key."""

import os
from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.auditing.draft import parse_draft
from rag_assets.evidence import read_question
from rag_assets.llm.scripted import read_script
from rag_assets.model import ConfigurationError, DamagedFileError, UsageError
from rag_assets.parsing.markdown import read_front_matter
from rag_assets.workspace import Workspace, create_workspace, read_decisions, read_sidecar
from rag_assets.workspace.bounded_yaml import (
    MAX_DEPTH,
    MAX_NODES,
    parse_yaml,
    read_bounded,
    read_yaml,
)

# Nine lists of nine, nine deep: 376 bytes that are 387 million values.
LAUGHS = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{','.join([f'*{chr(97 + n)}'] * 9)}]\n" for n in range(8)
)
HOSTILE = {
    "day": ("a: 2026-02-30", "'a': not a day or time that there is"),
    "zone": ("a: 2026-03-01T10:00:00+99:00", "'a': not a day or time"),
    "int": ("a: !!int abc", "'a': not a whole number"),
    "empty int": ("a: !!int ''", "'a': not a whole number"),
    "no digits": ("a: 0b_", "'a': not a whole number"),
    "bool": ("a: !!bool x", "'a': not true or false"),
    "timestamp": ("a: !!timestamp x", "'a': not a day or time"),
    "digits": (f"a: {'9' * 5000}", "'a': not a whole number"),
    "hexadecimal": (f"a: 0x{'f' * 90_000}", "'a': not a whole number"),
    "base 60": (f"a: 1{':1' * 400_000}", "'a': not a whole number"),
    "64 bits": ("a: 9223372036854775808", "more than 18 digits"),
    "nan": ("a: .nan", "'a': not a finite number"),
    "infinity": ("a: {b: [-.inf]}", "'a.b.0': not a finite number"),
    "list in itself": ("a: &a [*a]", "an alias (*name) is not read"),
    "mapping in itself": ("a: &a\n  b: *a", "line 2: an alias (*name) is not read"),
    "alias of nothing": ("a: *hunter2", "an alias (*name) is not read"),
    "set": ("a: !!set {b, a}", "it has a tag"),
    "binary": ("a: !!binary aGk=", "'a': not valid YAML here: it has a tag"),
    "own tag": ("a: !hunter2 x", "'a': not valid YAML here: it has a tag"),
    "object": ("a: !!python/object:os.system x", "it has a tag"),
    "omap": ("a: !!omap [b: 1]", "it has a tag"),
    "pairs": ("a: !!pairs [b: 1]", "it has a tag"),
    "list as number": ("a: !!int [1]", "it has a tag"),
    "twice": ("a: 1\na: 2", "line 2: the key 'a' occurs twice"),
    "twice as written": ("1: a\n'1': b", "line 2: the key '1' occurs twice"),
    "list as key": ("[a]: b", "a mapping or list is used as a key"),
    "merge": ("<<: {a: 1}", "`<<` is not read here"),
    "two documents": ("--- a\n--- b", "another document"),
    "surrogate": ('a: "\\ud800"', "not valid YAML"),
    "NUL": ('a: "\\0"', "'a': it holds U+0000"),
    "NUL in a key": ('"\\0": a', "it holds U+0000"),
    "bell": ("a: \x07", "line 1: not valid YAML: it holds a control character"),
    "brackets": ("[" * 100_000, f"more than {MAX_DEPTH} deep"),
    "braces": ("{a: " * 50_000, f"more than {MAX_DEPTH} deep"),
    "keys": ("? " * 50_000, f"more than {MAX_DEPTH} deep"),
    "dashes": ("- " * 50_000, f"more than {MAX_DEPTH} deep"),
    "laughs": (LAUGHS, "an alias (*name) is not read"),
    "values": ("- a\n" * (MAX_NODES + 1), f"more than {MAX_NODES:,} values"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_cannot_be_used_is_refused_with_line_and_key(tmp_path: Path, name: str) -> None:
    text, words = HOSTILE[name]
    path = tmp_path / "x.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigurationError) as caught:
        read_yaml(path, "x.yaml")
    assert str(caught.value).startswith("x.yaml, line ")
    assert words in str(caught.value)
    assert "hunter2" not in str(caught.value), "it may be a password without its quotes"
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    "data", ["a: b".encode("utf-16"), "a: b".encode("utf-16-le"), b"a: \xff", b"\0"]
)
def test_other_encodings_are_refused(data: bytes) -> None:
    with pytest.raises(ConfigurationError, match=r"^x\.yaml.*Save the file as UTF-8"):
        parse_yaml(data, "x.yaml")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("1: a\ntrue: b\n~: c", {"1": "a", "true": "b", "~": "c"}),
        ("a: =", {"a": "="}),
        ("a: !!str 3\nb: !!float 3", {"a": "3", "b": 3.0}),
        ("a: 9223372036854775807", {"a": 2**63 - 1}),
        ("a: 2026-03-01", {"a": date(2026, 3, 1)}),
        (
            "a: 2026-03-01T10:00:00+02:00",
            {"a": datetime(2026, 3, 1, 10, tzinfo=timezone(timedelta(hours=2)))},
        ),
        ("﻿a: 冷", {"a": "冷"}),
        ("[" * MAX_DEPTH + "]" * MAX_DEPTH, None),
    ],
)
def test_what_can_be_used_is_read(text: str, value: Any) -> None:
    found = parse_yaml(text.encode(), "x.yaml")
    if text.startswith("[["):
        for _ in range(MAX_DEPTH):
            found = found[0] if found else None
    assert found == value


def test_front_matter_is_text_whatever_its_tags_say() -> None:
    text = "date: 2026-02-30\nn: !expr x\nbig: 0x" + "f" * 500 + "\na: 1\na: 2"
    found = parse_yaml(text, "x.md", as_text=True)
    assert (found["date"], found["n"], found["a"]) == ("2026-02-30", "x", "2")


def test_what_is_no_file_is_never_opened(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to("/dev/zero")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    (tmp_path / "nowhere").symlink_to(tmp_path / "gone")
    for name in ("folder", "pipe", "device", "circle", "nowhere"):
        with pytest.raises(ConfigurationError, match=name):
            read_bounded(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        read_bounded(tmp_path / "gone")


def test_a_file_of_gigabytes_is_refused_by_its_first_megabyte(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.touch()
    os.truncate(path, 20_000_000_000)
    with pytest.raises(ConfigurationError, match="larger than 1 MB"):
        read_bounded(path)


def test_a_file_that_may_not_be_read_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("a: 1")

    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(ConfigurationError, match=r"x\.yaml: cannot be read \(Permission denied\)"):
        read_bounded(path)


# Every reader of YAML, with a file that it takes and where that lies in a workspace.
def _question(workspace: Workspace, path: Path) -> object:
    return read_question(path)


def _settings(workspace: Workspace, path: Path) -> object:
    return Workspace.open(workspace.root).sound_namespaces()


READERS: dict[str, tuple[str, str, Callable[[Workspace, Path], object]]] = {
    "sidecar": (
        "title: Roofs\nauthors: [V]\nyear: 2021\naccessed_at: 2026-03-01\nmetadata: {a: [1]}\n",
        "raw/evidence/a.md.meta.yaml", lambda _, path: read_sidecar(path),
    ),
    "namespace": (
        "raw: [raw]\nchunk: {target_tokens: 200}\nplaces: {a: {source_type: b, citable: true}}\n",
        "namespaces/thesis.yaml", _settings,
    ),
    "workspace": ("embed: {kind: hashing, model: words}\n", "config.yaml", _settings),
    "question": ("question: Which?\ntop_k: 3\nfilters: [year>2]\n", "queries/a.yaml", _question),
    "draft": (
        "---\nnamespaces: [thesis]\ndate: 2026-03-01\n---\nCool {#a}.\n", "drafts/a.md",
        lambda _, path: parse_draft(path.name, path.read_bytes()),
    ),
    "document": (
        "---\ntitle: Roofs\nauthor: {name: V}\n---\nCool.\n", "raw/evidence/b.md",
        lambda _, path: read_front_matter(path.read_bytes().decode("utf-8", "replace")),
    ),
    "decision": (
        "---\nat: '2026'\nconfig_hash: a\nsettings: {a: 1}\n---\n\n# A\n\nB\n",
        "decisions/0001-a.md", lambda workspace, _: read_decisions(workspace),
    ),
    "script": ("model: a\nanswers: [{when: a, answer: b}]\n", "script.yaml",
               lambda _, path: read_script(path)),
}  # fmt: skip
PIECES = [text.removeprefix("a: ") for text, _ in HOSTILE.values() if len(text) < 1000] + [
    "[" * 200, "{" * 200, "&x ", "*x", "!!set {c, a}", "\\", "\t", "\n  ", ": ", "- ", "? ",
    "---\n", "|\n", "\x85", "\u2028", "%TAG", "'", '"',
]  # fmt: skip


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    made, _ = create_workspace(tmp_path_factory.mktemp("mutated") / "library", "thesis")
    made.decisions.mkdir()
    return made


@pytest.mark.parametrize("reader", READERS)
@given(data=st.data())
def test_no_reader_fails_otherwise_than_with_a_sentence(
    library: Workspace, reader: str, data: st.DataObject
) -> None:
    good, name, read = READERS[reader]
    text = good
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 12)))
        piece = data.draw(st.sampled_from(PIECES) | st.text(max_size=6))
        text = text[:start] + piece + text[end:]
    path = library.root / name
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        read(library, path)
    except (ConfigurationError, UsageError, DamagedFileError) as error:
        told = str(error)
        assert path.name in told
    finally:
        path.write_text(good, encoding="utf-8")
