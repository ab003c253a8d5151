"""YAML that others wrote: measured before anything is made of it, then read without surprises.

Files that people and programs put into a workspace may hold anything. A file is read up to a limit,
its events are counted (the scanner and the parser keep their own stack, so that no depth of
brackets reaches the machine's), and only then values are made: text, numbers, truth values, days
and times, lists and mappings. Whatever else stands there is refused with its line and key.
"""

import errno
import math
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any  # Any: YAML before it is checked

import yaml

from rag_assets.model import ConfigurationError

# Bytes of a file. The largest that ships has 38 kB; sidecars, questions and settings have a page.
MAX_BYTES = 1_000_000
# Levels of lists and mappings in one another. Settings have 4; a level takes two of the thousand
# calls that Python allows here, and more where the values are validated and written as JSON.
MAX_DEPTH = 50
# Values of a file. The largest that ships has 1,600; so many take some 30 MB.
MAX_NODES = 50_000
# What DuckDB, Parquet and JSON hold as a whole number, and the most characters of any number or
# day: YAML's numbers to the base 60 take a minute where they are as long as a file may be.
_MAX_INTEGER = 2**63 - 1
_MAX_CHARACTERS = 100

# libyaml reads the same at a sixth of the time, which every command pays; without it, Python.
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG = "tag:yaml.org,2002:"
# What a plain `=` or `<<` is to YAML 1.1; as a value it is the text that stands there.
_TEXTS = frozenset({f"{_TAG}str", f"{_TAG}value", f"{_TAG}merge"})
_KINDS = {
    f"{_TAG}null": "an empty value",
    f"{_TAG}bool": "true or false",
    f"{_TAG}int": "a whole number",
    f"{_TAG}float": "a number",
    f"{_TAG}timestamp": "a day or time that there is",
}
_NO_TEXT = re.compile(r"[\0\ud800-\udfff]")
_QUOTE = "put it in quotes if it is meant as text"


class YamlError(ConfigurationError):
    """What stands in a file cannot be used.

    Args:
        name: what the file is called.
        line: of the file, from 1; None where the whole of it is meant.
        problem: what is wrong and what to do, without a full stop.
    """

    def __init__(self, name: str, line: int | None, problem: str) -> None:
        super().__init__(f"{name}{f', line {line}' if line else ''}: {problem}.")
        self.line = line
        self.problem = problem


class _RefusedError(Exception):
    """What a file holds cannot be used; `line` counts from 0."""

    def __init__(self, line: int, problem: str, at: tuple[str, ...] = ()) -> None:
        super().__init__(problem)
        self.line = line
        self.at = at


def read_yaml(path: Path, shown: str | None = None) -> Any:
    """Return a YAML file's content: None, bool, int, float, str, date, datetime, list, dict.

    A key is text as it is written. Aliases, tags and sets are refused.

    Args:
        shown: what errors call the file; its path without.

    Raises:
        ConfigurationError: not a file, unreadable, not UTF-8, not YAML, too large or too deep, or
            a value that is none; the text names file, line and key, and never shows a value.
        FileNotFoundError: there is nothing of that name.
    """
    return parse_yaml(read_bounded(path, shown), shown or str(path))


def read_bounded(path: Path, shown: str | None = None) -> bytes:
    """Return the bytes of a small file.

    Raises:
        ConfigurationError: not a file, unreadable or too large.
        FileNotFoundError: there is nothing of that name.
    """
    name = shown or str(path)
    try:
        # Looked at before it is opened: to open a pipe or a device may wait for ever, or act.
        _require_file(path.stat().st_mode, name)
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError as error:
        if not path.is_symlink():
            raise
        raise ConfigurationError(f"{name}: a broken symbolic link; fix or remove it.") from error
    except PermissionError as error:
        raise ConfigurationError(
            f"{name}: cannot be read ({error.strerror}). Give this user permission to read it."
        ) from error
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise ConfigurationError(
            f"{name}: symbolic links that lead in a circle; remove them."
        ) from error
    with os.fdopen(handle, "rb") as file:
        _require_file(os.fstat(file.fileno()).st_mode, name)
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ConfigurationError(
            f"{name}: larger than {MAX_BYTES / 1e6:.0f} MB, which no such file needs. Shorten it."
        )
    return data


def _require_file(mode: int, name: str) -> None:
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "a pipe, device or socket"
        raise ConfigurationError(f"{name}: {what}, not a file. Remove it or give it another name.")


def parse_yaml(
    source: bytes | str, name: str, *, first_line: int = 1, as_text: bool = False
) -> Any:
    """Return what YAML says; see `read_yaml`.

    Args:
        name: what errors call the file.
        first_line: on which the source begins in its file, from 1.
        as_text: every value is the text that stands there, its tag means nothing, and of a key
            that occurs twice the last counts: as front matter is read that others made for tools
            of their own.

    Raises:
        YamlError: as `read_yaml`.
    """
    try:
        text = source if isinstance(source, str) else source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        problem = f"not UTF-8 text (byte {error.start}). Save the file as UTF-8"
        raise YamlError(name, None, problem) from error
    try:
        _measure(text)
        node = yaml.compose(text, Loader=_Loader)
        return None if node is None else _Maker(as_text).make(node, ())
    except _RefusedError as error:
        key = f"'{'.'.join(error.at)}': " if error.at else ""
        raise YamlError(name, error.line + first_line, f"{key}{error}") from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + first_line
        problem = (
            "not valid YAML: it holds a control character. Save the file as UTF-8 text without it"
        )
        raise YamlError(name, line, problem) from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = " ".join((getattr(error, "problem", None) or str(error)).split())
        line_of_mark = mark.line + first_line if mark else None
        raise YamlError(name, line_of_mark, f"not valid YAML: {problem}") from error


def _measure(text: str) -> None:
    """Refuse what would take too much, event by event, before anything is made of it."""
    if len(text) > MAX_BYTES:
        raise _RefusedError(0, f"more than {MAX_BYTES:,} characters. Shorten it")
    if found := _NO_TEXT.search(text):
        line = text.count("\n", 0, found.start())
        raise _RefusedError(
            line, f"not text: it holds U+{ord(found[0]):04X}. Save the file as UTF-8"
        )
    depth = nodes = 0
    events: Iterator[Any] = iter(yaml.parse(text, Loader=_Loader))
    for event in events:
        line = event.start_mark.line
        if isinstance(event, yaml.AliasEvent):
            # The name is not shown: it may be a password that begins with `*`, without quotes.
            raise _RefusedError(line, f"an alias (*name) is not read here; {_QUOTE}")
        nodes += isinstance(event, yaml.NodeEvent)
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise _RefusedError(
                line,
                f"lists and mappings are nested more than {MAX_DEPTH} deep. Write them flatter",
            )
        if nodes > MAX_NODES:
            raise _RefusedError(line, f"it holds more than {MAX_NODES:,} values. Write less")


class _Maker:
    """Makes values of a measured tree."""

    def __init__(self, as_text: bool) -> None:
        self._as_text = as_text
        self._scalars = yaml.constructor.SafeConstructor()

    def make(self, node: Any, at: tuple[str, ...]) -> Any:
        """Return the value of a node; `at` are the keys above it."""
        if isinstance(node, yaml.ScalarNode):
            return node.value if self._as_text else self._scalar(node, at)
        kind = node.tag.removeprefix(_TAG)
        if isinstance(node, yaml.SequenceNode) and (self._as_text or kind == "seq"):
            return [self.make(item, (*at, str(n))) for n, item in enumerate(node.value)]
        if isinstance(node, yaml.MappingNode) and (self._as_text or kind == "map"):
            return dict(self._items(node, at))
        raise _RefusedError(
            node.start_mark.line,
            "not valid YAML here: it has a tag (!…). Write a plain list or mapping",
            at,
        )

    def _items(self, node: Any, at: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
        seen: set[str] = set()
        for key_node, value in node.value:
            line = key_node.start_mark.line
            if not isinstance(key_node, yaml.ScalarNode):
                raise _RefusedError(line, "a mapping or list is used as a key", at)
            key = key_node.value
            if not self._as_text:
                if key_node.tag == f"{_TAG}merge":
                    raise _RefusedError(line, "`<<` is not read here; write the keys out", at)
                self._require_text(key, line, at)
                if key in seen:
                    raise _RefusedError(line, f"the key {key!r} occurs twice", at)
            seen.add(key)
            yield key, self.make(value, (*at, key))

    def _scalar(self, node: Any, at: tuple[str, ...]) -> Any:
        line = node.start_mark.line
        if node.tag in _TEXTS:
            self._require_text(node.value, line, at)
            return node.value
        if node.tag not in _KINDS:
            raise _RefusedError(
                line, f"not valid YAML here: it has a tag (!…). Leave that out, and {_QUOTE}", at
            )
        plain = _Loader("").resolve(yaml.ScalarNode, node.value, (True, False))
        wrong = _RefusedError(line, f"not {_KINDS[node.tag]}. Correct it, or {_QUOTE}", at)
        # `!!float 3` is one; `!!int abc` is what its tag says only to whoever wrote it.
        is_meant = plain == node.tag or (plain, node.tag) == (f"{_TAG}int", f"{_TAG}float")
        if not is_meant or len(node.value) > _MAX_CHARACTERS:
            raise wrong
        try:
            value = self._scalars.construct_object(node)
        except (ValueError, OverflowError) as error:  # 2026-02-30, 5,000 digits, +99:00
            raise wrong from error
        if isinstance(value, int) and not -_MAX_INTEGER <= value <= _MAX_INTEGER:
            raise _RefusedError(line, f"a number of more than 18 digits; {_QUOTE}", at)
        if isinstance(value, float) and not math.isfinite(value):
            raise _RefusedError(line, f"not a finite number. Correct it, or {_QUOTE}", at)
        return value

    def _require_text(self, value: str, line: int, at: tuple[str, ...]) -> None:
        if found := _NO_TEXT.search(value):
            raise _RefusedError(line, f"it holds U+{ord(found[0]):04X}, which is no text", at)
