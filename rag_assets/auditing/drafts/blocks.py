"""The prose of a draft: its blocks, each with a map from every character to its offset."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

ProseKind = Literal["paragraph", "heading", "row"]

_NEW_LINE = re.compile(r"\r\n?|\n")  # what markdown-it counts as a line end
_CONTAINER_MARKS = re.compile(r"[ \t>]*")
_NOTE = re.compile(r"(?m)^\[\^[^\]\s]+\]:")
_COLUMN = re.compile(r"(?<!\\)\|")
# Deeper than a person nests lists; beyond it markdown-it drops lines.
_MAX_NESTING = 100


@dataclass(frozen=True, slots=True)
class ProseBlock:
    """A paragraph, heading or table row, freed of the marks of lists and quotations.

    Args:
        kind: a row is one statement and is not split into sentences.
        text: its lines, joined by newlines.
        offsets: of each character of `text` in the draft, strictly increasing.
        is_quotation: it stands in a block quotation.
        level: of a heading, from 1; 0 for other blocks.
        bars: where the columns of a row are parted, in `text`.
        is_head: it is the head of its table.
    """

    kind: ProseKind
    text: str
    offsets: tuple[int, ...]
    is_quotation: bool = False
    level: int = 0
    bars: tuple[int, ...] = ()
    is_head: bool = False


@cache
def _block_parser(is_markdown: bool) -> "MarkdownIt":
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark" if is_markdown else "zero", {"maxNesting": _MAX_NESTING})
    # Inline marks are read later, with offsets.
    parser.core.ruler.enableOnly(["normalize", "block"])
    if is_markdown:
        # Without `reference`: a footnote `[^1]: {#uid}` would vanish as a link definition.
        parser.enable("table").disable("reference")
    return parser


def _line_spans(text: str) -> list[tuple[int, int]]:
    spans, start = [], 0
    for match in _NEW_LINE.finditer(text):
        spans.append((start, match.start()))
        start = match.end()
    spans.append((start, len(text)))
    return spans


def _assemble(kind: ProseKind, pieces: list[tuple[int, str]]) -> ProseBlock:
    characters: list[str] = []
    offsets: list[int] = []
    for number, (start, piece) in enumerate(pieces):
        if number:
            characters.append("\n")
            offsets.append(offsets[-1] + 1 if offsets else start - 1)
        characters.extend(piece)
        offsets.extend(range(start, start + len(piece)))
    return ProseBlock(kind, "".join(characters), tuple(offsets))


def _inline_block(
    kind: ProseKind, token: "Token", text: str, spans: list[tuple[int, int]]
) -> ProseBlock:
    first, last = token.map or (0, 0)
    pieces = []
    content = token.content.split("\n")
    for number in range(first, last):
        start, end = spans[number]
        line = text[start:end]
        wanted = content[number - first].strip() if number - first < len(content) else ""
        # A heading's closing marks stand right of its content, so the first place is meant
        # there; in a paragraph the content is what remains at the end of the line.
        found = line.find(wanted) if kind == "heading" else line.rfind(wanted)
        if wanted and found >= 0:
            pieces.append((start + found, wanted))
    return _assemble(kind, pieces)


def _row_block(
    token: "Token", text: str, spans: list[tuple[int, int]], *, is_head: bool
) -> ProseBlock:
    block = _lines_block("paragraph", token, text, spans)
    bars = tuple(match.start() for match in _COLUMN.finditer(block.text))
    words = _COLUMN.sub(" ", block.text)
    return replace(block, kind="row", text=words, bars=bars, is_head=is_head)


def _lines_block(
    kind: ProseKind, token: "Token", text: str, spans: list[tuple[int, int]]
) -> ProseBlock:
    pieces = []
    for start, end in spans[slice(*(token.map or (0, 0)))]:
        marks = _CONTAINER_MARKS.match(text, start, end)
        content_start = marks.end() if marks else start
        line = text[content_start:end].rstrip()
        if line:
            pieces.append((content_start, line))
    return _assemble(kind, pieces)


def find_prose(text: str, is_markdown: bool) -> Iterator[ProseBlock | None]:
    """Yield the blocks of a draft in order; None where code interrupts the prose.

    Args:
        text: the draft, without front matter (blanked, so that offsets stay).
        is_markdown: False reads paragraphs apart by blank lines, and nothing else.
    """
    spans = _line_spans(text)
    tokens = _block_parser(is_markdown).parse(text)
    is_in_table = False
    quoted = 0
    for position, token in enumerate(tokens):
        if token.type in {"table_open", "table_close"}:
            is_in_table = token.type == "table_open"
        elif token.type == "tr_open":
            is_head = tokens[position - 1].type == "thead_open"
            yield _row_block(token, text, spans, is_head=is_head)
        elif token.type == "html_block":
            yield _lines_block("paragraph", token, text, spans)
        elif token.type in {"fence", "code_block"}:
            yield None
        elif token.type in {"blockquote_open", "blockquote_close"}:
            quoted += 1 if token.type == "blockquote_open" else -1
        elif token.type == "inline" and not is_in_table:
            opens = tokens[position - 1]
            is_heading = opens.type == "heading_open"
            block = _inline_block("heading" if is_heading else "paragraph", token, text, spans)
            level = int(opens.tag[1:]) if is_heading else 0
            yield from _apart_from_notes(replace(block, is_quotation=quoted > 0, level=level))


def _apart_from_notes(block: ProseBlock) -> Iterator[ProseBlock]:
    """Yield the definitions of footnotes each by itself: they need no blank line between them."""
    starts = [0, *(match.start() for match in _NOTE.finditer(block.text) if match.start())]
    for start, end in pairwise([*starts, len(block.text)]):
        text = block.text[start:end].rstrip()
        yield replace(block, text=text, offsets=block.offsets[start : start + len(text)])
