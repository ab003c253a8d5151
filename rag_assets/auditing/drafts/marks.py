"""Markdown's inline marks and the anchors are taken out; what is left knows where it stood."""

import html
import re
from dataclasses import dataclass, field

from rag_assets.auditing.drafts.anchors import (
    ANCHOR,
    LATEX,
    MENTION,
    PANDOC,
    STATUTE,
    find_anchors,
    is_attribute_list,
    is_cross_reference,
    is_textual,
)
from rag_assets.auditing.drafts.hints import LocatorHint
from rag_assets.model import EAST_ASIAN_RANGES

_SEPARATOR = r"\s*[;,；，、]?\s*"
_RUN = rf"{ANCHOR}(?:{_SEPARATOR}{ANCHOR})*"
_LEAD_IN = r"(?:(?:see(?: also)?|cf\.?|compare|e\.g\.,?|source:|参见|参考|见|引自|来源：?)\s*)?"
_TAGS = (
    "a|abbr|b|blockquote|br|center|cite|code|dd|del|details|div|dl|dt|em|figcaption|figure|font|"
    "h[1-6]|hr|i|img|ins|kbd|li|mark|ol|p|q|s|section|small|span|strong|sub|summary|sup|table|"
    "tbody|td|th|thead|tr|u|ul"
)
# Tried in this order at each character. Names of the groups are the names of the rules below.
_MARK = re.compile(
    rf"""
    (?P<latex>{LATEX.format("command")})
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
    """Note a citation of Pandoc or LaTeX; one that is a word of its sentence leaves a mark."""
    written = text[start:end]
    if is_cross_reference(written):
        plain.references.append(start)
        return
    if is_textual(written):
        plain.append_at(PLACEHOLDER, start)
    else:
        plain.drop_trailing_space()
    plain.anchors.append((len(plain.characters), start, end))


def _apply(plain: PlainText, match: re.Match[str], text: str) -> None:
    rule, (start, end) = match.lastgroup, match.span()
    if rule in {"anchors", "bracketed"}:
        _append_anchors(plain, text, start, end)
    elif rule in {"latex", "pandoc", "mention", "statute"}:
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
