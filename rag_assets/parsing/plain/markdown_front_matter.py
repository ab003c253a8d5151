"""Front matter of Markdown: YAML, TOML or pandoc's title block, as plain strings."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from rag_assets.parsing.cleaning import replace_surrogates
from rag_assets.workspace.bounded_yaml import YamlError, parse_yaml

_YAML = re.compile(r"\A---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_TOML = re.compile(r"\A\+\+\+[ \t]*\n(.*?)^\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
# pandoc's manual, "pandoc_title_block": title, authors, date; continued lines are indented.
_TITLE_BLOCK = re.compile(
    r"\A%[^\n]*(?:\n[ \t]+[^\n]*)*(?:\n%[^\n]*(?:\n[ \t]+[^\n]*)*){0,2}(?:\n|\Z)"
)
# Metadata fit on a page; more is a text that happens to begin with a rule.
_MAX_CHARACTERS = 20_000
_TITLES = ("title",)
_AUTHORS = ("authors", "author", "creator", "by")
_DATES = ("date", "year", "published", "published_date", "publishdate", "pubdate", "created")
_TAGS = ("tags", "keywords", "categories")
_LANGUAGES = ("lang", "language", "locale")
_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d)")
_DOI = re.compile(r"10\.\d{4,9}/\S+")
_NAME_SEPARATORS = re.compile(r"\s*;\s*|\s+and\s+|\s*、\s*")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What a Markdown file says about itself before its text.

    Args:
        length: characters that it takes, 0 without.
        metadata: every key with plain values, lists joined by `; `.
        warnings: sentences a person can act on.
    """

    length: int = 0
    title: str | None = None
    authors: tuple[str, ...] = ()
    year: int | None = None
    doi: str | None = None
    language: str | None = None
    metadata: dict[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def read_front_matter(source: str) -> FrontMatter:
    """Return the front matter of a Markdown source, an empty one without.

    Front matter that cannot be read stays text, with a warning that says where it breaks.
    """
    for pattern, read, name in ((_YAML, _read_yaml, "YAML"), (_TOML, _read_toml, "TOML")):
        match = pattern.match(source)
        if match is None or len(match[1]) > _MAX_CHARACTERS:
            continue
        content = read(match[1])
        if isinstance(content, str):
            warning = (
                f"The front matter is not valid {name}{content} and was kept as text: correct it."
            )
            return FrontMatter(warnings=(warning,))
        return _describe(content, match.end()) if isinstance(content, dict) else FrontMatter()
    match = _TITLE_BLOCK.match(source)
    if match is None or len(match[0]) > _MAX_CHARACTERS:
        return FrontMatter()
    lines = [" ".join(part.split()) for part in re.split(r"^%", match[0], flags=re.MULTILINE)[1:]]
    names = ("title", "authors", "date")
    return _describe(dict(zip(names, lines, strict=False)), match.end())


def _read_yaml(source: str) -> Any:
    try:
        return parse_yaml(source, "", first_line=2, as_text=True)
    except YamlError as error:
        return f" (line {error.line})" if error.line is not None else ""


def _read_toml(source: str) -> Any:
    try:
        return tomllib.loads(source)
    except (ValueError, RecursionError) as error:
        return f" ({error})"


def _describe(content: Mapping[Any, Any], length: int) -> FrontMatter:
    values = {
        replace_surrogates(str(key)): found
        for key, value in content.items()
        if (found := [replace_surrogates(text) for text in _plain(value)])
    }
    by_name = {key.lower(): found for key, found in values.items()}
    metadata = {key: "; ".join(found) for key, found in values.items()}
    tags = list(dict.fromkeys(tag for key in _TAGS for tag in by_name.get(key, [])))
    if tags:
        metadata["tags"] = "; ".join(tags)
    stated = " ".join(_first(by_name, _DATES))
    year = _YEAR.search(stated)
    doi = _DOI.search(" ".join(by_name.get("doi", [])).lower())
    language = re.match(r"[a-z]{2,3}(?![a-z])", " ".join(_first(by_name, _LANGUAGES)).lower())
    return FrontMatter(
        length=length,
        title=" ".join(_first(by_name, _TITLES)) or None,
        authors=tuple(_names(_first(by_name, _AUTHORS))),
        year=int(year[1]) if year else None,
        doi=doi[0] if doi else None,
        language=language[0] if language else None,
        metadata=metadata,
    )


def _first(values: Mapping[str, list[str]], keys: tuple[str, ...]) -> list[str]:
    return next((values[key] for key in keys if key in values), [])


def _names(values: list[str]) -> Iterator[str]:
    for value in values:
        yield from (name for name in _NAME_SEPARATORS.split(value) if name)


def _plain(value: Any) -> Iterator[str]:
    """Yield the plain values of a key: of a list all, of an entry with a name its name."""
    if isinstance(value, list):
        for item in value:
            if not isinstance(item, list):
                yield from _plain(item)
    elif isinstance(value, dict):
        yield from _plain(value.get("name") or value.get("title") or "")
    elif isinstance(value, str | int | float | date | datetime):
        text = " ".join(str(value).split())
        if text:
            yield text
