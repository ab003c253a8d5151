"""Markdown as it is seen: comments, hidden HTML, struck text and what only a pointer shows."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from rag_assets.model import Block
from rag_assets.parsing.html.styles import Look, Node, StyleSheet, hides, look_of
from rag_assets.parsing.plain.markdown_blocks import cut_blocks
from rag_assets.parsing.raised import LEVEL, LOWERED, NOTE_MARK, RAISED, settle_raised
from rag_assets.parsing.unseen import Kind, Unseen

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
# What a code block or a formula needs: a fence, a tab or four blanks, a mark of TeX, a tag.
MAY_BE_CODE = re.compile(r"```|~~~|\t| {4}|\$\$|\\begin|<pre", re.IGNORECASE)
# Pieces of a line are looked for within so many characters: hostile files have no end to them.
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(?:[^\n]|\n(?!\s*\n)){1,3000}?(?<!`)\1(?!`)|\$[^$\n]+\$")
_TAG = re.compile(
    r"<(?P<end>/?)(?P<name>[a-zA-Z][a-zA-Z0-9-]*)"
    r"(?P<attributes>(?:\s+[^\s<>=/\"']+(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'<>]+))?)*)\s*/?>"
)
_ATTRIBUTE = re.compile(r"([^\s<>=/\"']+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'<>]+)))?")
_VOID = frozenset({"br", "hr", "img", "input", "link", "meta", "wbr", "col", "source"})
# Attributes whose values say nothing: the others are shown by a pointer or to nobody.
_PLAIN_ATTRIBUTES = frozenset({"src", "href", "id", "class", "style", "width", "height", "align"})
_STRUCK = re.compile(r"(?<!~)~~(?=[^\s~])(?:[^~\n]|\n(?!\s*\n)|~(?!~)){1,3000}?(?<=\S)~~(?!~)")
_TITLE = r"(?P<title>\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\))"
_LINK_TITLE = re.compile(
    rf"\]\(\s*(?:<[^<>\n]*>|[^\s()<>]*(?:\([^\s()]*\)[^\s()]*)*)\s+{_TITLE}\s*\)"
)
_DEFINITION = re.compile(rf"^[ ]{{0,3}}\[[^\]\n]+\]:[ \t]*\S+\s+{_TITLE}[ \t]*$", re.MULTILINE)
_ALTERNATIVE = re.compile(r"!\[(?P<title>(?:[^\[\]\n]|\[[^\[\]\n]*\])*)\](?=[(\[])")
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n|\Z")


def leave_unseen(source: str) -> tuple[str, Unseen]:
    """Return a Markdown text without what a reader does not see, and what that was.

    Comments, hidden and struck text go but for line ends; tags of raised and lowered text go as
    well, so that `10<sup>5</sup>` is `10^5`. What code shows stays.
    """
    unseen = Unseen()
    if "<" not in source and "~~" not in source:
        return source, unseen
    # The parser takes half of a file's time: it is asked only where there may be code.
    blocks = cut_blocks(source)[0] if MAY_BE_CODE.search(source) else ()
    code = [(b.start, b.end) for b in blocks if b.kind in {"code", "formula"}]
    code += [match.span() for match in _CODE_SPAN.finditer(source)]
    text = _Text(source, _mask(source, code), unseen)
    for match in _COMMENT.finditer(source):
        if text.is_seen(*match.span()):
            text.hide("hidden", *match.span(), match[0][4:-3])
    text.read_tags()
    for match in _STRUCK.finditer(source):
        if text.is_seen(*match.span()):
            text.hide("struck", *match.span(), match[0].strip("~"))
    return text.written(), unseen


def leave_titles(text: str, blocks: Sequence[Block], unseen: Unseen) -> str:
    """Return a Markdown text with blanks for titles of links and texts in place of images.

    Args:
        text: of the document.
        blocks: as cut from it; code keeps what it shows.
        unseen: the titles are added to it.
    """
    spans = [*_titles(text)]
    if not spans:
        return text
    code = _mask(text, [(b.start, b.end) for b in blocks if b.kind == "code"])
    shown = list(text)
    for start, end in spans:
        if not any(code[start:end]):
            unseen.add("hidden", text[start:end].strip("=\"'() "))
            shown[start:end] = re.sub(r"[^\n]", " ", text[start:end])
    return "".join(shown)


def _mask(text: str, spans: Iterable[tuple[int, int]]) -> bytearray:
    mask = bytearray(len(text))
    for start, end in spans:
        mask[start:end] = b"\1" * (end - start)
    return mask


def _titles(text: str) -> Iterator[tuple[int, int]]:
    if "](" in text or "][" in text or "]:" in text:
        for pattern in (_LINK_TITLE, _DEFINITION, _ALTERNATIVE):
            yield from (match.span("title") for match in pattern.finditer(text))
    if "<" in text:
        for tag in _TAG.finditer(text):
            for attribute in _ATTRIBUTE.finditer(tag["attributes"]):
                if attribute[1].lower() not in _PLAIN_ATTRIBUTES and attribute.lastindex != 1:
                    start = tag.start("attributes") + attribute.end(1)
                    yield start, tag.start("attributes") + attribute.end()


@dataclass(slots=True)
class _Text:
    """A text with what is to be written in place of some of its pieces."""

    source: str
    taken: bytearray
    unseen: Unseen
    edits: list[tuple[int, int, str]] = field(default_factory=list)

    def is_seen(self, start: int, end: int) -> bool:
        """Tell whether a piece is no code and not hidden already."""
        return not any(self.taken[start:end])

    def hide(self, kind: Kind, start: int, end: int, shown: str) -> None:
        """Leave out a piece but for its line ends."""
        self.unseen.add(kind, _TAG.sub(" ", shown))
        self.edits.append((start, end, "\n" * self.source.count("\n", start, end)))
        self.taken[start:end] = b"\1" * (end - start)

    def read_tags(self) -> None:
        """Hide the content of elements that hide it, and mark raised and lowered text."""
        tags = [tag for tag in _TAG.finditer(self.source) if self.is_seen(*tag.span())]
        sheet = StyleSheet()
        ends = _ends(self.source, tags)
        for place, tag in enumerate(tags):
            if tag["name"].lower() == "style" and not tag["end"]:
                sheet.add(self.source[tag.end() : ends[place][0]])
        stack: list[tuple[int, Node, Look]] = []
        hidden_to = 0
        for place, tag in enumerate(tags):
            name = tag["name"].lower()
            if tag["end"] or name in _VOID or tag.start() < hidden_to:
                continue
            inner_end, end = ends[place]
            stack = [item for item in stack if item[0] > tag.start()]
            node = (name, _attributes(tag["attributes"]))
            outer = stack[-1][2] if stack else Look()
            declared = sheet.declared(node, [above for _, above, _ in stack])
            look = look_of(node, declared, outer, is_whole=True)
            kind = hides(node, declared) or look.unseen or ("hidden" if name == "style" else None)
            if kind is not None:
                shown = "" if name == "style" else self.source[tag.end() : inner_end]
                self.hide(kind, tag.start(), end, shown)
                hidden_to = end
                continue
            stack.append((end, node, look))
            if name in {"sup", "sub"} and end > inner_end:
                is_link = "<a" in self.source[tag.end() : inner_end]
                mark = LOWERED if name == "sub" else NOTE_MARK if is_link else RAISED
                self.edits += [(*tag.span(), mark), (inner_end, end, LEVEL)]

    def written(self) -> str:
        """Return the text with its pieces replaced."""
        parts: list[str] = []
        reached, begins_line = 0, True
        for start, end, text in sorted(self.edits):
            between = self.source[reached:start]
            begins_line = between.endswith("\n") or (begins_line and not between)
            parts += (between, text)
            reached = max(reached, end)
            # Blanks that now begin a line would make code of it.
            while begins_line and not text and self.source.startswith(" ", reached):
                reached += 1
        text = "".join(parts) + self.source[reached:]
        if LEVEL not in text:
            return text
        return "\n".join(map(settle_raised, text.split("\n")))


def _ends(source: str, tags: "Sequence[re.Match[str]]") -> list[tuple[int, int]]:
    """Return where the content of each start tag ends and where its end tag ends; without an end
    tag the paragraph's end is both.
    """
    ends = []
    opened: dict[str, list[int]] = {}
    for place, tag in enumerate(tags):
        stop = _PARAGRAPH_END.search(source, tag.end())
        ends.append((stop.start(), stop.start()) if stop else (len(source), len(source)))
        places = opened.setdefault(tag["name"].lower(), [])
        if not tag["end"]:
            places.append(place)
        elif places:
            ends[places.pop()] = tag.span()
    return ends


def _attributes(source: str) -> dict[str, str]:
    return {
        match[1].lower(): match[2] or match[3] or match[4] or ""
        for match in _ATTRIBUTE.finditer(source)
    }
