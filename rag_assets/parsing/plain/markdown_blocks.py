"""Markdown's tokens become blocks: spans of the source's own lines."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rag_assets.model import Attachment, Block, BlockKind
from rag_assets.parsing.html.figures import decode_data_uri
from rag_assets.parsing.plain.markdown_syntax import (
    block_reader,
    html_headings,
    inline_tokens,
    shows_text,
)

if TYPE_CHECKING:
    from markdown_it.token import Token

_LEAVES: dict[str, BlockKind] = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "dt_open": "list",
    "html_block": "paragraph",
    "fence": "code",
    "code_block": "code",
    "table_open": "table",
    "math_block": "formula",
    "math_block_label": "formula",
    "amsmath": "formula",
}
# Lines without text of their own: container marks, rules, link definitions.
_EMPTY_LINE = re.compile(
    r"[\s>]*(?:(?:[-*+]|\d{1,9}[.)])[\s>]*)*|\s{0,3}(?:[-_*][ \t]*){3,}|\s{0,3}\[[^\]^][^\]]*\]:.*"
)
_PRE = re.compile(r"\s*<pre\b", re.IGNORECASE)
_HTML_IMAGE = re.compile(r"<img\b[^<>]*?\bsrc\s*=\s*[\"']?([^\"'\s>]+)[^<>]*>", re.IGNORECASE)
_ALTERNATIVE = re.compile(r"\balt\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Leaf:
    kind: BlockKind
    first: int
    last: int
    level: int | None = None
    content: str = ""
    is_html: bool = False


@dataclass(slots=True)
class _Cutter:
    text: str
    references: dict[str, Any]
    starts: list[int]
    blocks: list[Block] = field(default_factory=list)
    attachments: list[Attachment] = field(default_factory=list)


def cut_blocks(text: str) -> tuple[tuple[Block, ...], tuple[Attachment, ...]]:
    """Return the blocks of a Markdown text and the images that it refers to.

    Every line with text belongs to one block. Headings inside code are code; nested items are
    blocks of their own, with their depth as level; footnote definitions are footnotes, terms and
    their definitions list blocks of level 1 and 2. A paragraph of images alone is a figure; other
    images are attachments only. Nothing is opened or fetched.
    """
    references: dict[str, Any] = {}
    tokens = block_reader().parse(text, references)
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    cutter = _Cutter(text, references, starts)
    leaves = sorted(_leaves(tokens), key=lambda leaf: leaf.first)
    for leaf in _with_left_lines(text, starts, leaves):
        _cut(cutter, leaf)
    return tuple(cutter.blocks), tuple(cutter.attachments)


def _leaves(tokens: "Sequence[Token]") -> Iterator[_Leaf]:
    depth = 0
    notes = 0
    definition = False
    for index, token in enumerate(tokens):
        depth += _step(token, "list")
        notes += _step(token, "footnote_reference")
        definition = token.type == "dd_open" or (definition and token.type != "dd_close")
        kind = _LEAVES.get(token.type)
        if kind is None or token.map is None:
            continue
        level: int | None = None
        if kind == "heading":
            level = int(token.tag[1:])
        elif kind in {"paragraph", "list"} and token.type != "html_block":
            if notes:
                kind = "footnote"
            elif token.type == "dt_open" or definition:
                kind, level = "list", depth + (2 if definition else 1)
            elif depth:
                kind, level = "list", depth
        following = tokens[index + 1] if index + 1 < len(tokens) else token
        content = following.content if following.type == "inline" else ""
        is_html = token.type == "html_block"
        yield _Leaf(kind, token.map[0], _last_line(token), level, content, is_html)


def _last_line(token: "Token") -> int:
    first, last = token.map or (0, 0)
    if token.type == "amsmath":  # its map ends before \\end{…}
        return first + token.content.rstrip("\n").count("\n") + 1
    return max(last, first + 1)  # the map of a definition's term is empty


def _step(token: "Token", name: str) -> int:
    if name == "list":
        return token.nesting if token.type.startswith(("bullet_list_", "ordered_list_")) else 0
    return token.nesting if token.type.startswith(name) else 0


def _with_left_lines(text: str, starts: Sequence[int], leaves: Sequence[_Leaf]) -> Iterator[_Leaf]:
    """Yield the leaves, and as paragraphs the lines that the parser gives to none of them.

    Those are nested deeper than it reads, or stand beside marks; a line belongs to one leaf.
    """
    lines = text.split("\n")
    reached = 0
    for leaf in [*leaves, _Leaf("paragraph", len(starts), len(starts))]:
        for first, last in _runs(lines, reached, leaf.first):
            yield _Leaf("paragraph", first, last)
        first = max(leaf.first, reached)
        if first < leaf.last:
            yield _Leaf(leaf.kind, first, leaf.last, leaf.level, leaf.content, leaf.is_html)
        reached = max(reached, leaf.last)


def _runs(lines: Sequence[str], first: int, last: int) -> Iterator[tuple[int, int]]:
    start = None
    for number in range(first, min(last, len(lines))):
        if _EMPTY_LINE.fullmatch(lines[number]):
            if start is not None:
                yield start, number
            start = None
        elif start is None:
            start = number
    if start is not None:
        yield start, min(last, len(lines))


def _cut(cutter: _Cutter, leaf: _Leaf) -> None:
    start = cutter.starts[leaf.first]
    end = cutter.starts[leaf.last] if leaf.last < len(cutter.starts) else len(cutter.text)
    source = cutter.text[start:end]
    if leaf.is_html:
        _cut_html(cutter, start, source)
        return
    if (
        leaf.kind == "paragraph"
        and "![" in leaf.content
        and _cut_figure(cutter, leaf, start, source)
    ):
        return
    if "![" in leaf.content:
        _attach_images(cutter, leaf, start, source)
    _append(cutter, leaf.kind, start, source, leaf.level)


def _append(
    cutter: _Cutter,
    kind: BlockKind,
    start: int,
    source: str,
    level: int | None = None,
    attachment_id: str | None = None,
) -> Block | None:
    # Indentation is part of code; elsewhere it only says where a line hangs.
    before = source.lstrip("\n") if kind == "code" else source.lstrip()
    start += len(source) - len(before)
    end = start + len(before.rstrip())
    if start >= end:
        return None
    block = Block(kind, start, end, level=level, attachment_id=attachment_id)
    cutter.blocks.append(block)
    return block


def _cut_html(cutter: _Cutter, start: int, source: str) -> None:
    """Cut an HTML block at its headings; parts that show nothing are no blocks."""
    reached = 0
    for first, last, level in [*html_headings(source), (len(source), len(source), 0)]:
        part = source[reached:first]
        if shows_text(part):
            kind: BlockKind = "code" if _PRE.match(part) else "paragraph"
            _append(cutter, kind, start + reached, part)
        else:
            for image in _HTML_IMAGE.finditer(part):
                alternative = _ALTERNATIVE.search(image[0])
                caption = alternative[1] or alternative[2] if alternative else None
                _append_figure(cutter, start + reached + image.start(), image[0], image[1], caption)
        if level:
            _append(cutter, "heading", start + first, source[first:last], level)
        reached = last


def _cut_figure(cutter: _Cutter, leaf: _Leaf, start: int, source: str) -> bool:
    """Cut a paragraph that is images alone, one figure for all; False for any other."""
    tokens = inline_tokens(leaf.content, cutter.references)
    images = [token for token in tokens if token.type == "image"]
    others = [
        token
        for token in tokens
        if token.type not in {"image", "link_open", "link_close", "softbreak", "hardbreak"}
        and token.content.strip()
    ]
    if not images or others:
        return False
    caption = str(images[0].attrs.get("title") or images[0].content or "") or None
    _append_figure(cutter, start, source, str(images[0].attrs.get("src", "")), caption)
    for token in images[1:]:
        _attach(cutter, token, start, start + len(source.rstrip()))
    return True


def _append_figure(
    cutter: _Cutter, start: int, source: str, address: str, caption: str | None
) -> None:
    number = 1 + sum(item.kind == "figure" for item in cutter.attachments)
    identifier = f"fig-{number:03d}"
    block = _append(cutter, "figure", start, source, attachment_id=identifier)
    if block is not None:
        cutter.attachments.append(
            _attachment(identifier, "figure", address, caption, block.start, block.end)
        )


def _attach_images(cutter: _Cutter, leaf: _Leaf, start: int, source: str) -> None:
    for token in inline_tokens(leaf.content, cutter.references):
        if token.type == "image":
            _attach(cutter, token, start, start + len(source.rstrip()))


def _attach(cutter: _Cutter, token: "Token", start: int, end: int) -> None:
    number = 1 + sum(item.kind == "image" for item in cutter.attachments)
    address = str(token.attrs.get("src", ""))
    caption = str(token.attrs.get("title") or token.content or "") or None
    cutter.attachments.append(
        _attachment(f"img-{number:03d}", "image", address, caption, start, end)
    )


def _attachment(
    identifier: str, kind: Any, address: str, caption: str | None, start: int, end: int
) -> Attachment:
    embedded = decode_data_uri(address)
    return Attachment(
        identifier,
        kind,
        name="image" if address.lower().startswith("data:") else address or None,
        caption=caption,
        start=start,
        end=end,
        media_type=embedded[0] if embedded else None,
        content=embedded[1] if embedded else None,
    )


def first_title_span(blocks: Sequence[Block]) -> Block | None:
    """Return the first heading of the highest level, None without headings."""
    headings = [block for block in blocks if block.kind == "heading"]
    return min(headings, key=lambda block: block.level or 1) if headings else None
