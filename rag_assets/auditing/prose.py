"""The blocks of a draft without marks; each character knows its offset."""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from rag_assets.auditing.citation_forms import (
    ANCHOR,
    LATEX,
    MENTION,
    PANDOC,
    STATUTE,
    LocatorHint,
    find_anchors,
    is_attribute_list,
    is_cross_reference,
    is_textual,
)
from rag_assets.model import EAST_ASIAN_RANGES

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

# The prose of a draft: its blocks, each with a map from every character to its offset.

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


# Markdown's inline marks and the anchors are taken out; what is left knows where it stood.

_SEPARATOR = r"\s*[;,；，、]?\s*"
_RUN = rf"{ANCHOR}(?:{_SEPARATOR}{ANCHOR})*"
_LEAD_IN = r"(?:(?:see(?: also)?|cf\.?|compare|e\.g\.,?|source:|参见|参考|见|引自|来源：?)\s*)?"
_TAGS = (
    "a|abbr|b|blockquote|br|center|cite|code|dd|del|details|div|dl|dt|em|figcaption|figure|font|"
    "h[1-6]|hr|i|img|ins|kbd|li|mark|ol|p|q|s|section|small|span|strong|sub|summary|sup|table|"
    "tbody|td|th|thead|tr|u|ul"
)
# A citation as printed, found before its block was read: the first character says whether it is a
# word of its sentence, or whose something is; the others keep the offsets.
WRITTEN, WRITTEN_WORD, WRITTEN_OWNER, FILLER = "\ue002", "\ue003", "\ue004", "\ue005"
# Tried in this order at each character. Names of the groups are the names of the rules below.
_MARK = re.compile(
    rf"""
    (?P<written>[{WRITTEN}{WRITTEN_WORD}{WRITTEN_OWNER}](?:{FILLER}|\n(?={FILLER}))*)
  | (?P<latex>{LATEX.format("command")})
  | (?P<escape>\\[!-/:-@\[-`{{-~])
  | (?P<code>(?<!`)(?P<ticks>`+)(?!`)(?P<inside>.+?)(?<!`)(?P=ticks)(?!`))
  | (?P<comment><!--.*?-->)
  | (?P<image>
      !\[(?P<alt>[^\[\]]*+)\]\([^()\s]*+(?:\s+"[^"\n]*+")?\)(?:\{{[^{{}}]*+\}})?
    )
  | (?P<bracketed>[(（\[]\s*{_LEAD_IN}{_RUN}\.?\s*[)）\]])
  | (?P<anchors>{_RUN})
  | (?P<footnote>\[\^(?P<label>[^\]\s]++)\](?P<colon>:)?)
  | (?P<statute>{STATUTE})
  | (?P<pandoc>{PANDOC})
  | (?P<mention>{MENTION})
  | (?P<link_start>\[(?=(?:[^\[\]]|\[[^\[\]]*+\])*+\][(\[]))
  | (?P<link_end>\](?:\([^()\s]*+(?:\([^()]*+\)[^()\s]*+)*+(?:\s+"[^"\n]*+")?\)|\[[^\[\]\n]*+\]))
  | (?P<break_tag><br\s*/?>)
  | (?P<tag></?(?:{_TAGS})\b[^<>]*+>)
  | (?P<autolink><(?=https?://[^<>\s]++>))
  | (?P<entity>&(?:\#\d{{1,7}}|\#x[0-9a-f]{{1,6}}|[a-z][a-z0-9]{{1,30}});)
  | (?P<strong>\*{{2,3}}|~~|==)
  | (?P<star>(?<!\d)\*(?=\S)|(?<=\S)\*(?!\d))
  | (?P<underscore>(?<!\w)_{{1,3}}(?=\S)|(?<=[^\s_])_{{1,3}}(?!\w))
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
# Stands where a citation is the subject of its sentence, so that a sentence begins there.
PLACEHOLDER = "\ue000"
# Begins at the first space of a run only, or long runs would be read over and over.
_LINE_BREAK = re.compile(r"(?<![^\S\n])[^\S\n]*+\n\s*+")
_BOTH_EAST_ASIAN = re.compile(rf"[{EAST_ASIAN_RANGES}]{{2}}")


@dataclass(slots=True)
class PlainText:
    """Text without marks.

    Args:
        characters: one by one; `sources` says where each stood, never decreasing.
        anchors: (position in this text, start, end in the marked text), in order.
        attributes: starts of `{#id .class}`, which are no citations.
        references: starts of `@fig:…` and its like, which point inside the draft.
        footnotes: (position in this text, label) of every `[^label]`.
        defines_footnote: the label, where the text begins with `[^label]:`.
        hints: places named beside a citation, by the start of its anchor in the marked text.
    """

    characters: list[str] = field(default_factory=list)
    sources: list[int] = field(default_factory=list)
    anchors: list[tuple[int, int, int]] = field(default_factory=list)
    attributes: list[int] = field(default_factory=list)
    references: list[int] = field(default_factory=list)
    footnotes: list[tuple[int, str]] = field(default_factory=list)
    defines_footnote: str | None = None
    hints: dict[int, LocatorHint] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Return the characters as one string."""
        return "".join(self.characters)

    def append(self, text: str, source: int) -> None:
        """Add `text`, whose first character stood at `source`."""
        for position, character in enumerate(text):
            self.characters.append(character)
            self.sources.append(source + position)

    def append_at(self, text: str, source: int) -> None:
        """Add `text` that stands for something else, all of it at `source`."""
        for character in text:
            self.characters.append(character)
            self.sources.append(source)

    def drop_trailing_space(self) -> None:
        """Take back the spaces before an anchor, so that the full stop closes up."""
        while self.characters and self.characters[-1].isspace():
            self.characters.pop()
            self.sources.pop()


def _needs_space(before: str, after: str) -> bool:
    # "grows.{#a}Then" without its anchor would be one word to a sentence splitter.
    is_latin_after = after.isascii() and after.isalnum()
    return is_latin_after and before.isascii() and (before.isalnum() or before in ".!?")


def _append_unmarked(plain: PlainText, text: str, start: int, end: int) -> None:
    position = start
    for match in _LINE_BREAK.finditer(text, start, end):
        plain.append(text[position : match.start()], position)
        around = (
            text[max(match.start() - 1, 0) : match.start()] + text[match.end() : match.end() + 1]
        )
        if not _BOTH_EAST_ASIAN.fullmatch(around):
            plain.append_at(" ", match.start())
        position = match.end()
    plain.append(text[position:end], position)


def _append_anchors(plain: PlainText, text: str, start: int, end: int) -> None:
    plain.drop_trailing_space()
    for anchor_start, anchor_end in find_anchors(text[start:end]):
        if is_attribute_list(text[start + anchor_start : start + anchor_end]):
            plain.attributes.append(start + anchor_start)
        else:
            span = (start + anchor_start, start + anchor_end)
            plain.anchors.append((len(plain.characters), *span))
    if plain.characters and _needs_space(plain.characters[-1], text[end : end + 1] or " "):
        plain.append_at(" ", start)


def _append_citation(plain: PlainText, text: str, start: int, end: int) -> None:
    """Note a citation as printed, of Pandoc or LaTeX; one that is a word of its sentence leaves a
    mark.
    """
    written = text[start:end]
    if is_cross_reference(written):
        plain.references.append(start)
        return
    if written[0] in (WRITTEN_WORD, WRITTEN_OWNER) or is_textual(written):
        plain.append_at(PLACEHOLDER, start)
    else:
        plain.drop_trailing_space()
    plain.anchors.append((len(plain.characters), start, end))
    if written[0] == WRITTEN_OWNER:
        plain.append_at("'s", start)


def _apply(plain: PlainText, match: re.Match[str], text: str) -> None:
    rule, (start, end) = match.lastgroup, match.span()
    if rule in {"anchors", "bracketed"}:
        _append_anchors(plain, text, start, end)
    elif rule in {"written", "latex", "pandoc", "mention", "statute"}:
        _append_citation(plain, text, start, end)
    elif rule == "escape":
        plain.append(text[start + 1 : end], start + 1)
    elif rule == "code":
        _append_unmarked(plain, text, *match.span("inside"))
    elif rule == "footnote":
        if match["colon"] and start == 0:
            plain.defines_footnote = match["label"]
        else:
            plain.footnotes.append((len(plain.characters), match["label"]))
    elif rule == "image":
        plain.append(text[slice(*match.span("alt"))], match.start("alt"))
        plain.attributes.extend(start + found for found, _ in find_anchors(text[start:end]))
    elif rule == "break_tag":
        plain.append_at(" ", start)
    elif rule == "entity":
        plain.append_at(html.unescape(match.group()), start)
    # Every other mark, comments among them, leaves nothing behind.


def remove_marks(text: str) -> PlainText:
    """Return `text` without Markdown's inline marks and without anchors.

    Args:
        text: one block, its lines joined by newlines.
    """
    plain = PlainText()
    position = 0
    for match in _MARK.finditer(text):
        _append_unmarked(plain, text, position, match.start())
        _apply(plain, match, text)
        position = match.end()
    _append_unmarked(plain, text, position, len(text))
    return plain
