"""Where sentences end, in English and Chinese.

A blank line always ends a sentence. A single line break does not (text that was wrapped stays
whole), unless a heading, a list item or a table row of Markdown stands there, or two lines begin
with the same `name: ` or are rows of a sheet (records). `；` is a clause end, not a sentence end:
Chinese statutes and abstracts chain whole lists of conditions with it, and a condition without its
sentence cannot be judged.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import merge
from itertools import chain, groupby
from typing import Protocol

from rag_assets.law.structure import LawText
from rag_assets.model import (
    CJK_RANGES,
    Block,
    BlockKind,
    Columns,
    ParsedDocument,
    Section,
    SectionCategory,
    spans,
)

_CJK = re.compile(f"[{CJK_RANGES}]")
_VISIBLE = re.compile(r"\S")
_LETTER = re.compile(r"[^\W_]")
_BLANK_LINE = re.compile(r"\n[^\S\n]*+\n\s*+|\u2029\s*+")
_OWN_LINE = re.compile(
    r"^[^\S\n]*+(?:(?P<whole>#{1,6}[^\S\n]|\|)|[-*+•·][^\S\n]|(?P<number>\d{1,3})[.)][^\S\n])[^\n]*",
    re.MULTILINE,
)
# Two lines that follow each other and begin with the same name, or are rows of a sheet both.
_ROW = r"[^\n=;]{1,200}: [^\n=;]{1,100} = "
_RECORD = re.compile(
    rf"^(?P<name>[^:;=\n]{{1,60}}(?:: | = ))[^\n]*\n(?=(?P=name))|^{_ROW}[^\n]*\n(?={_ROW})",
    re.MULTILINE,
)
_CLOSERS = r"""["'”’»」』）)\]】》〉〕]"""
# A stop and what belongs to its sentence behind it: closing quotes and brackets, attached citation
# numbers, then the anchors of a draft, `{#uid}` and `[@key]`, which name the source of what they
# follow.
_STOP = re.compile(
    rf"(?P<mark>(?:\.[ \t]){{2,}}+\.?|[.!?…．。！？｡؟۔।॥]++){_CLOSERS}*+"
    r"(?:\[\d[\d,;–\- ]{0,40}\]|[¹²³⁰⁴-⁹]{1,8})*+"
    r"(?P<anchor>(?:[ \t\u3000]{0,4}\n?[ \t\u3000]{0,4}"
    r"(?:\{#[^{}\s]{1,255}\}|\[@[^\[\]\n]{1,255}\])[.。]?)*+)"
)
_ALWAYS_LAST = frozenset("。！？｡؟۔।॥")
_WORD_BEFORE = re.compile(r"[^\W\d_]+(?:\.[^\W\d_]+)*$")
_NEXT = re.compile(r"""\s*+(?P<openers>["'“‘«「『（(\[【《〈〔]*+)(?P<word>[^\W_]*+)""")
# "(b) The second case": the mark of an item inside running text, before a capital.
_ITEM_MARK = re.compile(r"\s*+[(\[](?:[a-z]|[ivx]{1,4}|\d{1,2})[)\]]\s++(?=[A-Z])")
_QUANTITY_BEFORE = re.compile(r"(?:[°µμΩ%/]|\d\s?)$")
# The page number behind a row of dots, with more text behind it.
_ENTRY_PAGE = re.compile(r"[ \t]*+\d{1,4}(?=\s)")
_LONGEST_ABBREVIATION = 24  # characters looked at before a full stop

# A sentence so far of nothing but a list or heading number: "1.", "2.1.", "## IV.", "- a."
_LABEL = re.compile(r"(?:#{1,6}\s+|[-*•]\s+)?\(?(?:\d{1,4}(?:\.\d{1,3})*|[A-Za-z]|[ivxIVX]{1,5})")
_LONGEST_LABEL = 24
# What an abbreviation such as "Fig." points to: 3, S1, (2), IV, A
_REFERENCE = re.compile(r"\s*+(?:[(\[§#]|[A-Z]{0,3}\d|[IVXLC]{1,6}\b|[A-Z]\b)")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NEVER_LAST = _words("approx ca cf dr e.g eg hon i.e ie messrs mr mrs ms prof resp st viz vs w.r.t")
_BEFORE_A_NUMBER = _words(
    "alg app apr art arts aug ch chap col cor dec def ed eq eqn eqs ex feb fig figs fn jan jul jun "
    "lem mar no nos nov oct p par para pp prop pt ref refs rev sec sect sep sept ser suppl tab thm "
    "vol vols"
)
_SELDOM_LAST = _words("al bros co corp dept eds esp etc gen gov incl inc jr ltd sr univ")
_STARTERS = _words(
    "a after all also although an and another as at because before both but by consequently "
    "despite during each finally first for from furthermore he hence her here his how however if "
    "in indeed it its let moreover most nevertheless no note on one our several she since so some "
    "such that the their then there therefore these they this those though three thus to two under "
    "unlike we what when where whereas whether which while who why with yet you"
)


def next_visible(text: str, position: int) -> int:
    """Return the offset of the first character from `position` that is no white space."""
    found = _VISIBLE.search(text, position)
    return found.start() if found else len(text)


def trim(text: str, start: int, end: int) -> "Span":
    """Return a span without the white space at its ends, empty where nothing of it is visible."""
    first = next_visible(text, start)
    return first, max(first, first + len(text[first:end].rstrip()))


def split_sentences(text: str, breaks: Iterable[int] = ()) -> Columns[tuple[int, int]]:
    """Return the spans of the sentences of `text`, in order.

    Closing quotes and brackets, citation numbers and the anchors `{#uid}` and `[@key]` behind a
    stop belong to its sentence.

    Args:
        text: any text.
        breaks: offsets (code points), ascending, that end a sentence whatever stands there: block
            bounds.

    Returns:
        Half-open code-point spans; they begin and end with visible characters, and what lies
        between them is white space only.
    """
    # As they come: of a table, every row has several.
    cuts = merge(
        (next_visible(text, position) for position in breaks),
        (match.end() for match in _BLANK_LINE.finditer(text)),
        (next_visible(text, position) for position in _line_bounds(text)),
        (next_visible(text, record.end()) for record in _RECORD.finditer(text)),
        (len(text),),
    )
    found = spans()
    start = next_visible(text, 0)
    for cut in cuts:
        if cut <= start:
            continue
        end = start + len(text[start:cut].rstrip())
        if end > start:
            _split_passage(text, start, end, found)
        start = cut
    return found


def _line_bounds(text: str) -> Iterator[int]:
    """Yield, ascending, where lines begin that are no running text, and where such lines end."""
    end_of_numbered = -1
    for line in _OWN_LINE.finditer(text):
        number = line["number"]
        if number is not None and number != "1" and line.start() != end_of_numbered + 1:
            continue  # a wrapped sentence may begin a line with "2. "; a list begins with 1
        yield line.start()
        if line["whole"]:
            yield line.end()
        elif number is not None:
            end_of_numbered = line.end()


def _split_passage(text: str, start: int, end: int, found: Columns[tuple[int, int]]) -> None:
    """Append the sentences of text[start:end], which begins and ends visibly."""
    letter = _next_letter(text, start, end)
    for stop in _STOP.finditer(text, start, end):
        if stop.start() < letter or stop.end() == end:
            continue  # no word yet: it says nothing
        cut = stop.end() if _ends_sentence(text, start, end, stop) else _end_of_entry(stop, end)
        if cut is not None:
            found.add(start, cut)
            start = next_visible(text, cut)
            letter = _next_letter(text, start, end)
    found.add(start, end)


def _end_of_entry(stop: re.Match[str], end: int) -> int | None:
    """Return where a line of a table of contents ends: behind the page that its dots lead to."""
    if " " not in stop["mark"] and "\t" not in stop["mark"]:
        return None
    page = _ENTRY_PAGE.match(stop.string, stop.end(), end)
    return page.end() if page else None


def _next_letter(text: str, start: int, end: int) -> int:
    found = _LETTER.search(text, start, end)
    return found.start() if found else end


def _ends_sentence(text: str, start: int, end: int, stop: re.Match[str]) -> bool:
    """Say whether `stop` ends the sentence that began at `start`. More text follows it."""
    mark, after = stop["mark"], text[stop.end()]
    before = text[stop.start() - 1] if stop.start() > start else ""
    is_leader = " " in mark or "\t" in mark  # a row of dots leads to something
    if is_leader or not _ALWAYS_LAST.isdisjoint(mark):
        return not is_leader
    if "．" in mark:
        return not ((before.isdigit() and after.isdigit()) or _is_label(text, start, stop))
    if not (after.isspace() or stop["anchor"]):
        # Latin stops are used in Chinese text without the space that would tell them apart.
        return "…" not in mark and bool(_CJK.match(after)) and bool(_CJK.match(before))
    following = _NEXT.match(text, stop.end(), end)
    word = following["word"] if following else ""
    behind = text[following.end("openers") : following.end("openers") + 1] if following else ""
    is_punctuated = bool(behind) and behind in ",;:，；：、)"
    is_continued = is_punctuated or (word.islower() and word[0].islower())
    if is_continued and not _ITEM_MARK.match(text, stop.end(), end):
        return False  # "pH" and "mRNA" may begin a sentence, "and" does not
    if mark != "." or not before:
        return True
    return not (_is_label(text, start, stop) or _is_abbreviated(text, start, stop, word))


def _is_label(text: str, start: int, stop: re.Match[str]) -> bool:
    so_far = text[start : min(stop.start(), start + _LONGEST_LABEL + 1)]
    return len(so_far) <= _LONGEST_LABEL and _LABEL.fullmatch(so_far) is not None


def _is_abbreviated(text: str, start: int, stop: re.Match[str], word: str) -> bool:
    """Say whether the full stop belongs to an abbreviation that goes on."""
    found = _WORD_BEFORE.search(
        text[max(start, stop.start() - _LONGEST_ABBREVIATION) : stop.start()]
    )
    if found is None:
        return False
    name = found.group()
    key = name.lower()
    if key in _NEVER_LAST:
        return True
    if key in _BEFORE_A_NUMBER and _REFERENCE.match(text, stop.end()):
        return True
    # "9.8 °C." and "300 K." end with a unit, not with somebody's initial.
    ahead = stop.start() - len(name)
    is_unit = _QUANTITY_BEFORE.search(text, max(start, ahead - 2), ahead) is not None
    is_initial = len(name) == 1 and name.isupper() and not is_unit
    if is_initial or "." in name or key in _SELDOM_LAST:
        # "J. A. Smith": a single capital with a full stop of its own is a name, not the word "A".
        first = next_visible(text, stop.end())
        is_next_initial = len(word) == 1 and text[first + 1 : first + 2] == "."
        return is_next_initial or word.lower() not in _STARTERS
    return False


TokenCounter = Callable[[Sequence[str]], list[int]]
"""Counts the tokens of each text, without special tokens: `Tokenizer.count`."""


class Tokenizer(Protocol):
    """Counts as the embedding model does."""

    @property
    def fingerprint(self) -> str:
        """SHA-256 of everything that decides a count. Enters the chunks' fingerprint."""

    @property
    def limit(self) -> int:
        """Tokens of content that fit the model beside its special tokens and its prompt."""

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, without special tokens, never truncated."""

    def token_spans(self, text: str) -> Sequence[tuple[int, int]]:
        """Return the code-point span of each token of `text`, in order."""


# What begins a passage and never ends one.
HEAD_KINDS = frozenset({"heading", "unplaced_heading"})

_BY_LINE = frozenset({"table", "code", "formula", "drawing"})
_ALONE = frozenset(
    {"heading", "unplaced_heading", "code", "formula", "drawing", "reference", "row"}
)
_PICTURED = frozenset({"table", "figure"})
_RULE_ROW = re.compile(r"\s*\|?(?:\s*:?-{1,}:?\s*\|)+(?:\s*:?-{1,}:?\s*)?\s*")
_LINE = re.compile(r"[^\n]*\S[^\n]*")

Span = tuple[int, int]
"""(start, end) in code points of the document's clean text, half-open."""


@dataclass(frozen=True, slots=True)
class Group:
    """Text that stays whole where it fits, else falls into its parts.

    Args:
        kind: of its blocks; `table` and `figure` include their caption.
        parts: lines of a table, code or formula, items of a list; in order, not empty.
        body: where the rows below a table's header begin; None without a header.
        header: the header row as it stands in the text; "" without.
        caption: of a table or figure, on one line; "" without.
    """

    kind: BlockKind
    start: int
    end: int
    parts: tuple[Span, ...]
    body: int | None = None
    header: str = ""
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """A question with its answer. The question stands on one line."""

    start: int
    end: int
    question: str


@dataclass(frozen=True, slots=True)
class Outline:
    """A document with its sentences and groups, all in order and disjoint.

    Args:
        sentences: spans that begin and end visibly and hold all visible text.
        sections: of the document, at least one; they partition the text.
        pairs: empty in modes that look for none.
        laws: likewise.
    """

    document: ParsedDocument
    sentences: Columns[Span]
    groups: Columns[Group]
    sections: Sequence[Section]
    pairs: Sequence[Pair] = ()
    laws: Sequence[LawText] = ()

    def section_at(self, offset: int) -> Section:
        """Return the section that holds a character."""
        return self.sections[bisect_right(self.sections, offset, key=lambda s: s.start) - 1]

    def groups_within(self, start: int, end: int) -> Sequence[Group]:
        """Return the groups that the span touches."""
        low = bisect_right(self.groups.column("end"), start)
        return self.groups[low : bisect_left(self.groups.column("start"), end)]

    def group_at(self, offset: int) -> Group | None:
        """Return the group that holds a character."""
        index = bisect_right(self.groups.column("start"), offset) - 1
        held = index >= 0 and offset < self.groups.column("end")[index]
        return self.groups[index] if held else None

    def is_heading_alone(self, order: int) -> bool:
        """Say whether a section is nothing but the heading of those below it."""
        if not 0 <= order < len(self.sections) - 1 or not self.sections[order].title:
            return False
        section, text = self.sections[order], self.document.text
        heading = self.group_at(next_visible(text, section.start))
        return (
            heading is not None
            and self.sections[order + 1].level > section.level
            and next_visible(text, heading.end) >= section.end
        )

    def before_heads(self, offset: int) -> int:
        """Return where headings of the same section begin that stand directly before `offset`."""
        index = bisect_left(self.groups.column("start"), offset) - 1
        while index >= 0:
            group = self.groups[index]
            if group.kind not in HEAD_KINDS:
                break
            if next_visible(self.document.text, group.end) < offset:
                break
            offset = group.start
            if group.kind == "heading":
                break
            index -= 1
        return offset


def read_outline(document: ParsedDocument, pairs: Sequence[Pair] = ()) -> Outline:
    """Return the outline of a document.

    Args:
        document: as parsed.
        pairs: questions with answers, in order and disjoint; their bounds end sentences.
    """
    text = document.text
    sections = document.sections or (Section(0, "", 0, (), SectionCategory.OTHER, 0, len(text)),)
    breaks = merge(
        chain.from_iterable((pair.start, pair.end) for pair in pairs),
        (section.start for section in sections),
        sentence_breaks(document),
    )
    return Outline(
        document, split_sentences(text, breaks), _groups(text, document.blocks), sections, pairs
    )


def sentence_breaks(document: ParsedDocument) -> Iterator[int]:
    """Yield the offsets that end a sentence whatever stands there, ascending; some come twice.

    They are the bounds of all blocks but paragraphs, and the line ends of tables, code and
    formulas. Bounds of paragraphs are not among them: a parser that joins a paragraph over a
    column or page end leaves no blank line there, and the sentence goes on.
    """
    for block in document.blocks:
        if block.kind == "paragraph":
            continue
        yield block.start
        if block.kind in _BY_LINE:
            yield from (start for start, _ in _lines(document.text, block.start, block.end))
        yield block.end


def _lines(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the spans of the lines that are not blank, without the white space around them."""
    yield from (trim(text, *line.span()) for line in _LINE.finditer(text, start, end))


def _groups(text: str, blocks: Sequence[Block]) -> Columns[Group]:
    found = Columns(_group_of, {"kind": "word", "start": "q", "end": "q", "details": "seldom"})
    for members in _together(text, blocks):
        spans = [span for block in members if (span := _visible(text, block))]
        if not spans:
            continue
        kind: BlockKind = next((b.kind for b in members if b.kind != "caption"), "caption")
        parts = [part for block in members for part in _parts(text, block)]
        group = Group(kind, spans[0][0], spans[-1][1], tuple(parts))
        if kind in _PICTURED:
            group = _with_header(text, group, members)
        details = (group.parts, group.body, group.header, group.caption)
        # A row of a sheet, like most groups of a very long document, is its only part.
        is_plain = details == (((group.start, group.end),), None, "", "")
        found.add(kind, group.start, group.end, None if is_plain else details)
    return found


def _group_of(
    kind: BlockKind,
    start: int,
    end: int,
    details: tuple[tuple[Span, ...], int | None, str, str] | None,
) -> Group:
    return Group(kind, start, end, *(details or (((start, end),),)))


def _together(text: str, blocks: Sequence[Block]) -> Iterator[Sequence[Block]]:
    """Yield blocks that belong together: a list's items, a figure or table with its caption."""
    position = 0
    while position < len(blocks):
        block = blocks[position]
        behind = position + 1
        if block.kind == "list":
            while behind < len(blocks) and _follows(text, blocks, behind, "list"):
                behind += 1
        elif block.kind == "caption":
            behind += _is_captioned(text, blocks, position, behind)
        elif block.kind in _PICTURED:
            behind += _is_captioned(text, blocks, position, behind) and not (
                # The caption may be the next table's: tables bear theirs above.
                blocks[behind].attachment_id is None
                and _is_captioned(text, blocks, behind, behind + 1)
                and blocks[behind + 1].kind == "table"
            )
        elif block.kind not in _ALONE:
            position = behind
            continue
        yield [blocks[place] for place in range(position, behind)]
        position = behind


def _follows(text: str, blocks: Sequence[Block], index: int, kind: BlockKind) -> bool:
    adjoins = next_visible(text, blocks[index - 1].end) >= blocks[index].start
    return blocks[index].kind == kind and adjoins


def _is_captioned(text: str, blocks: Sequence[Block], first: int, second: int) -> bool:
    """Say whether two neighbours are a caption and what it names, in either order."""
    if second >= len(blocks):
        return False
    one, other = blocks[first], blocks[second]
    kinds = {one.kind, other.kind}
    if "caption" not in kinds or not kinds & _PICTURED:
        return False
    ids = {one.attachment_id, other.attachment_id} - {None}
    return len(ids) < 2 and _follows(text, blocks, second, other.kind)


def _visible(text: str, block: Block) -> Span | None:
    start, end = trim(text, block.start, block.end)
    return (start, end) if start < end else None


def _parts(text: str, block: Block) -> Iterable[Span]:
    if block.kind in _BY_LINE:
        return _lines(text, block.start, block.end)
    span = _visible(text, block)
    return [span] if span else []


def _with_header(text: str, group: Group, members: Sequence[Block]) -> Group:
    caption = " ".join(
        " ".join(text[b.start : b.end].split()) for b in members if b.kind == "caption"
    )
    table = next((block for block in members if block.kind == "table"), None)
    rows = [] if table is None else [part for part in group.parts if part[0] >= table.start]
    if len(rows) < 2 or not _RULE_ROW.fullmatch(text[slice(*rows[1])]):
        return replace(group, caption=caption)
    header = text[slice(*rows[0])]
    if len(rows) == 2:
        return replace(group, caption=caption, header=header, body=rows[1][1])
    # The header goes with the first row, and a caption above it with both.
    behind = group.parts.index(rows[2]) + 1
    parts = ((group.start, rows[2][1]), *group.parts[behind:])
    return replace(group, caption=caption, header=header, body=rows[2][0], parts=parts)


def reference_bounds(document: ParsedDocument) -> list[int]:
    """Return where runs of reference entries begin and end, ascending."""
    bounds = []
    for kind, run in groupby(document.blocks, key=lambda block: block.kind):
        if kind == "reference":
            entries = list(run)
            bounds += [entries[0].start, entries[-1].end]
    return bounds
