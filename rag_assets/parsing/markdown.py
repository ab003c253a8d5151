"""Markdown by markdown-it-py: the source text, with blocks cut from it."""

import re
from collections.abc import Sequence
from functools import cached_property
from importlib.metadata import version
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from rag_assets.model import Block, BlockKind, ParsedDocument, ParseFailure
from rag_assets.parsing.cleaning import replace_surrogates
from rag_assets.parsing.contract import ParseHints
from rag_assets.parsing.language import guess_language
from rag_assets.parsing.plaintext import decode_text, decoder_version
from rag_assets.workspace.settings import ParseSettings

if TYPE_CHECKING:
    from markdown_it.token import Token

PARSER_VERSION = "1"

_FRONT_MATTER = re.compile(
    r"\A---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE
)
# Metadata fit on a page; more is a text that happens to begin with a rule.
_MAX_FRONT_MATTER_CHARACTERS = 20_000
_COMMENT = re.compile(r"(?:\s*<!--.*?-->)+\s*", re.DOTALL)

_KINDS: dict[str, BlockKind] = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "blockquote_open": "paragraph",
    "html_block": "paragraph",
    "list_item_open": "list",
    "fence": "code",
    "code_block": "code",
    "table_open": "table",
}
_LISTS = frozenset({"bullet_list_open", "ordered_list_open"})


class MarkdownParser:
    """Reads CommonMark with tables and YAML front matter."""

    name = "markdown"
    media_types = ("text/markdown",)
    reads_stem = False

    @cached_property
    def version(self) -> str:
        """Own version with those of the Markdown parser and the encoding detector."""
        return f"{decoder_version(PARSER_VERSION)}+markdown-it-py-{version('markdown-it-py')}"

    def parse(self, data: bytes, _hints: ParseHints, _settings: ParseSettings) -> ParsedDocument:
        """Return the source below the front matter, its blocks and its headings' levels.

        Raises:
            ParseFailure: `unknown_encoding`, `empty_file`.
        """
        source, encoding, warnings = decode_text(data)
        metadata, text, front_warnings = _split_front_matter(source)
        if not text.strip():
            raise ParseFailure(
                "empty_file", "The file holds front matter but no text: write its text."
            )
        tokens = _tokenise(text)
        return ParsedDocument(
            text=text,
            media_type=self.media_types[0],
            blocks=_cut_blocks(text, tokens),
            title=metadata.get("title") or _first_heading(tokens),
            language=guess_language(text),
            metadata={**metadata, "encoding": encoding},
            warnings=(*warnings, *front_warnings),
        )


def _split_front_matter(source: str) -> tuple[dict[str, str], str, tuple[str, ...]]:
    match = _FRONT_MATTER.match(source)
    if match is None or len(match[1]) > _MAX_FRONT_MATTER_CHARACTERS:
        return {}, source, ()
    import yaml

    try:
        # BaseLoader makes every scalar a string: no dates, no objects.
        content = yaml.load(match[1], Loader=yaml.BaseLoader)  # noqa: S506
    except (yaml.YAMLError, RecursionError) as error:
        where = getattr(error, "problem_mark", None)
        line = f" (line {where.line + 2})" if where is not None else ""
        return (
            {},
            source,
            (f"The front matter is not valid YAML{line} and was kept as text: correct it.",),
        )
    if not isinstance(content, dict):
        return {}, source, ()
    return _plain_strings(content), source[match.end() :], ()


def _plain_strings(content: dict[Any, Any]) -> dict[str, str]:
    metadata = {}
    for key, value in content.items():
        items = value if isinstance(value, list) else [value]
        plain = [item.strip() for item in items if isinstance(item, str) and item.strip()]
        if isinstance(key, str) and plain:
            metadata[replace_surrogates(key)] = replace_surrogates("; ".join(plain))
    return metadata


def _tokenise(text: str) -> "list[Token]":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("table").parse(text)


def _cut_blocks(text: str, tokens: "Sequence[Token]") -> tuple[Block, ...]:
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    blocks = []
    for token in tokens:
        if token.map is None or token.level != _block_level(token):
            continue
        kind = _KINDS.get(token.type)
        if kind is None:
            continue
        start, end = starts[token.map[0]], min(starts[token.map[1]], len(text))
        source = text[start:end]
        start += len(source) - len(source.lstrip("\n"))
        end -= len(source) - len(source.rstrip())
        if start >= end or (token.type == "html_block" and _COMMENT.fullmatch(source)):
            continue
        level = int(token.tag[1:]) if kind == "heading" else None
        blocks.append(Block(kind, start, end, level=level))
    return tuple(blocks)


def _block_level(token: "Token") -> int:
    # An item of an outermost list is a block of its own: a long list stays citable in parts.
    return 1 if token.type == "list_item_open" else 0


def _first_heading(tokens: "Sequence[Token]") -> str | None:
    headings = [
        (int(token.tag[1:]), content.children or [])
        for token, content in pairwise(tokens)
        if token.type == "heading_open" and token.level == 0
    ]
    if not headings:
        return None
    highest = min(level for level, _ in headings)
    children = next(children for level, children in headings if level == highest)
    pieces = [" " if child.type == "softbreak" else child.content for child in children]
    return " ".join("".join(pieces).split()) or None
