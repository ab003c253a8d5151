"""The sentences of a draft's body: what each says, cites and quotes, and where it stands."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from rag_assets.auditing.drafts.anchors import Citation, read_citations
from rag_assets.auditing.drafts.blocks import ProseBlock, ProseKind, find_prose
from rag_assets.auditing.drafts.clauses import split_clauses
from rag_assets.auditing.drafts.marks import PLACEHOLDER, PlainText, remove_marks
from rag_assets.auditing.drafts.narrative import mark_places, name_sources, split_subjects
from rag_assets.auditing.drafts.pointers import mark_citations, take_pointers
from rag_assets.auditing.drafts.pointing import is_attribution, only_points, read_places
from rag_assets.auditing.drafts.quotations import Quotation, find_quotations
from rag_assets.auditing.drafts.rows import cut_cells, name_cell, state_row, text_columns

# Takes a text, returns half-open spans in order (`rag_assets.chunking.split_sentences`).
SentenceSplitter = Callable[[str], Sequence[tuple[int, int]]]

_EMPTY_BRACKETS = re.compile(r"\s*[(（]\s*[;,，；、.\s]*[)）]")
_LIST_OF_SOURCES = re.compile(
    r"^\W*(?:\d[\d.]*\W*)?(?:references|bibliography|works cited|literature cited|list of sources|"
    r"sources|参考文献|引用文献|文献目录)\W*$",
    re.IGNORECASE,
)
# Behind a citation it ends the sentence, also where the next one begins with a small letter or the
# word before looks like an initial (“vitamin C {#lee}. The …”).
_FULL_STOP = re.compile(r"\s*[.!?](?=\s+[^\W\d_])")
_LEADING_REST = re.compile(r"^[\s,;:，；：、]+")


@dataclass(slots=True)
class ReadSentence:
    """A sentence while the rest of the draft is still read."""

    start: int
    end: int
    text: str
    claim: str
    citations: list[Citation] = field(default_factory=list)
    footnotes: list[str] = field(default_factory=list)
    quotations: list[Quotation] = field(default_factory=list)
    kind: ProseKind = "paragraph"
    block: int = 0
    is_footnote: bool = False
    is_listed: bool = False
    noted: list[Citation] = field(default_factory=list)


class SentenceReader:
    """Gathers the sentences of all blocks; `seen` holds every anchor that was understood."""

    def __init__(self, body: str, split: SentenceSplitter) -> None:
        self.body = body
        self.sentences: list[ReadSentence] = []
        self.attributes: list[int] = []
        self.references: list[int] = []
        self.seen: set[int] = set()
        self._split = split
        self._head: list[str] = []
        self._footnotes: dict[str, list[ReadSentence]] = {}
        self._wordy_footnotes: dict[str, list[ReadSentence]] = {}

    def read(self, is_markdown: bool) -> None:
        """Read every block of the body, in order."""
        previous: ReadSentence | None = None
        # Level of the heading of a list of sources, below which no claims stand.
        listing: int | None = None
        for number, block in enumerate(find_prose(self.body, is_markdown)):
            if block is None:
                previous = None
                continue
            plain = remove_marks(block.text)
            self._note_other_braces(block, plain)
            attributes = is_attribution(_marked(plain))
            points = _only_points(plain)
            if block.kind == "heading" and block.level <= (listing or block.level):
                listing = None
            if _begins_list_of_sources(block, plain):
                listing = block.level
            take_pointers(plain, is_quotation=block.is_quotation)
            sentences = _sentences_of(block, plain, self._split)
            if block.kind == "row":
                self._read_row(block, plain, sentences)
            for sentence in sentences:
                sentence.kind, sentence.block = block.kind, number
                sentence.is_footnote = plain.defines_footnote is not None
                sentence.is_listed = listing is not None and not sentence.is_footnote
            if plain.defines_footnote is not None and points:
                self._footnotes.setdefault(plain.defines_footnote, sentences)
                continue
            if not _has_words(plain.text) or (attributes and points and block.kind == "paragraph"):
                if previous is not None:
                    _join(previous, sentences)
                    continue
            elif plain.defines_footnote is not None:
                self._wordy_footnotes.setdefault(plain.defines_footnote, sentences)
            self.sentences.extend(sentences)
            previous = sentences[-1] if sentences and block.kind == "paragraph" else None
        self._give_footnotes_to_their_sentences()

    def _read_row(self, block: ProseBlock, plain: PlainText, sentences: list[ReadSentence]) -> None:
        """Let a row state its cells under the heads of their columns."""
        spans = cut_cells(block.text, block.bars)
        cells = [_cell(plain, *span) for span in spans]
        if block.is_head:
            self._head = cells
            return
        for sentence in sentences:
            sentence.claim = state_row(cells, self._head)
            for number, citation in enumerate(sentence.citations):
                at = citation.start - block.offsets[0]
                column = next((n for n, (a, b) in enumerate(spans) if a <= at < b), 0)
                has_value = column > 0 and _has_words(cells[column])
                claim = state_row(cells, self._head, column) if has_value else sentence.claim
                claim = "" if claim == sentence.claim else claim
                sentence.citations[number] = replace(citation, claim=claim)
        if not any(sentence.citations or sentence.footnotes for sentence in sentences):
            sentences[:] = self._read_cells(block, plain, spans) or sentences

    def _read_cells(
        self, block: ProseBlock, plain: PlainText, spans: Sequence[tuple[int, int]]
    ) -> list[ReadSentence]:
        """Return the sentences of a row whose cells hold running text; nothing of other rows."""
        cells = [_cell(plain, *span) for span in spans]
        said = [
            [(start + a, start + b) for a, b in self._split(block.text[start:end])]
            for start, end in spans
        ]
        apart = text_columns(cells, [len(sentences) for sentences in said])
        stated = [
            (span, name_cell(name, _cell(plain, *span)))
            for column, name in apart.items()
            for span in said[column]
        ]
        values = ["" if column in apart else cell for column, cell in enumerate(cells)]
        beside = next((column for column, cell in enumerate(values) if column and cell), None)
        if apart and beside is not None:  # said where the first of them stands
            stated.append((said[beside][0], state_row(values, self._head)))
        return [
            ReadSentence(
                block.offsets[start],
                block.offsets[end - 1] + 1,
                " ".join(block.text[start:end].split()),
                claim,
            )
            for (start, end), claim in sorted(stated)
        ]

    def _give_footnotes_to_their_sentences(self) -> None:
        unused = dict(self._footnotes)
        for sentence in self.sentences:
            for label in sentence.footnotes:
                for note in self._footnotes.get(label, []):
                    sentence.citations.extend(note.citations)
                for note in self._wordy_footnotes.get(label, []):
                    sentence.noted.extend(note.citations)
                unused.pop(label, None)
        for notes in unused.values():
            self.sentences.extend(notes)
        self.sentences.sort(key=lambda sentence: sentence.start)

    def _note_other_braces(self, block: ProseBlock, plain: PlainText) -> None:
        if block.kind == "heading" and plain.anchors:
            _, start, end = plain.anchors[-1]
            if end == len(block.text):
                self.seen.add(block.offsets[start])
                plain.anchors.pop()
        self.attributes.extend(block.offsets[start] for start in plain.attributes)
        self.references.extend(block.offsets[start] for start in plain.references)
        self.seen.update(block.offsets[start] for start in plain.attributes)
        self.seen.update(block.offsets[start] for _, start, _ in plain.anchors)


def _cell(plain: PlainText, start: int, end: int) -> str:
    """Return the words of a cell, whose marked text is [start, end) of its row."""
    held = [
        character
        for character, source in zip(plain.characters, plain.sources, strict=True)
        if start <= source < end
    ]
    return _claim("".join(held)).strip()


def _begins_list_of_sources(block: ProseBlock, plain: PlainText) -> bool:
    if block.kind == "row" or not _LIST_OF_SOURCES.search(plain.text):
        return False
    # In plain text a heading is a paragraph; “Sources:” may be the note below a table.
    is_note = "sources" in plain.text.lower().split() or plain.text.rstrip().endswith((":", "："))
    return block.kind == "heading" or not (is_note or plain.anchors)


def _has_words(text: str) -> bool:
    return any(character.isalnum() for character in text)


def _marked(plain: PlainText) -> str:
    return mark_citations(plain.text, [position for position, *_ in plain.anchors])


def _only_points(plain: PlainText) -> bool:
    """Say whether a block says no more than where to look (“See p. 3.”, “— Lee {#lee}”).

    The places that it names go to its citations.
    """
    text = _marked(plain)
    if not plain.anchors:
        return False
    if not only_points(text) and not is_attribution(text):
        return False
    for (_, start, _), hint in zip(plain.anchors, read_places(text), strict=True):
        if hint is not None:
            plain.hints[start] = hint
    return True


def _join(previous: ReadSentence, sentences: list[ReadSentence]) -> None:
    # A paragraph of anchors alone stands behind a paragraph or quotation that it supports.
    for sentence in sentences:
        previous.citations.extend(sentence.citations)
        previous.end = sentence.end
        previous.text = f"{previous.text} {sentence.text}"


def _sentences_of(
    block: ProseBlock, plain: PlainText, split: SentenceSplitter
) -> list[ReadSentence]:
    text = plain.text
    cited_at = [position for position, *_ in plain.anchors]
    spans = [(0, len(text))] if block.kind == "row" else _cut(split(text), text, cited_at)
    spans = [span for span in spans if text[slice(*span)].strip()] or [(0, len(text))]
    citations: list[list[Citation]] = [[] for _ in spans]
    places: list[list[int]] = [[] for _ in spans]
    footnotes: list[list[str]] = [[] for _ in spans]
    edges = _marked_edges(block.text, plain, spans)
    for position, start, end in plain.anchors:
        owner = _owner(spans, position)
        edges[owner] = (min(edges[owner][0], start), max(edges[owner][1], end))
        found_here = list(read_citations(block.text[start:end], start))
        hint = plain.hints.get(start)
        if hint is not None and found_here[-1].hint is None:
            found_here[-1] = replace(found_here[-1], hint=hint)
        for found in found_here:
            places[owner].append(position - spans[owner][0])
            citations[owner].append(
                replace(
                    found,
                    start=block.offsets[found.start],
                    end=block.offsets[found.end - 1] + 1,
                )
            )
    for position, label in plain.footnotes:
        footnotes[_owner(spans, position)].append(label)
    sentences = []
    quotations = find_quotations(text, is_block_quotation=block.is_quotation)
    written = _with_bars(block)
    for span, (start, end), cited, at, notes in zip(
        spans, _apart(edges), citations, places, footnotes, strict=True
    ):
        marked = block.text[start:end]
        if not marked.strip():
            continue
        first = start + len(marked) - len(marked.lstrip())
        last = end - 1 - len(marked) + len(marked.rstrip())
        sentences.append(
            ReadSentence(
                block.offsets[first],
                block.offsets[last] + 1,
                " ".join(written[first : last + 1].split()),
                _claim(mark_places(text[slice(*span)], at)),
                _with_clauses(text[slice(*span)], cited, at),
                notes,
                [q for q in quotations if q.start < span[1] and span[0] < q.end],
            )
        )
    return sentences


def _with_bars(block: ProseBlock) -> str:
    """Return a block with the bars that part the cells of a row, which its words have not."""
    written = list(block.text)
    for bar in block.bars:
        written[bar] = "|"
    return "".join(written)


def _cut(
    spans: Sequence[tuple[int, int]], text: str, cited_at: Sequence[int]
) -> list[tuple[int, int]]:
    """Return the sentences, cut where a full stop follows a citation."""
    stops = {match.end() for place in cited_at if (match := _FULL_STOP.match(text, place))}
    cut = []
    for start, end in spans:
        edges = [start, *sorted(stop for stop in stops if start < stop < end), end]
        cut += list(pairwise(edges))
    return cut


def _with_clauses(text: str, citations: list[Citation], places: list[int]) -> list[Citation]:
    """Return the citations, each with the clause that it supports where that is clear."""
    subjects = split_subjects(mark_places(text, places))
    if subjects is not None:
        return [
            replace(citation, claim=_claim(clause))
            for citation, clause in zip(citations, subjects, strict=True)
        ]
    groups = sorted(set(places))
    clauses = split_clauses(text.replace(PLACEHOLDER, " "), groups)
    if clauses is None:
        return citations
    by_place = dict(zip(groups, map(_claim, clauses), strict=True))
    return [
        replace(citation, claim=by_place[place])
        for citation, place in zip(citations, places, strict=True)
    ]


def _owner(spans: Sequence[tuple[int, int]], position: int) -> int:
    # After the full stop an anchor belongs to the sentence before it.
    return max((n for n, span in enumerate(spans) if span[0] < position), default=0)


def _marked_edges(
    marked: str, plain: PlainText, spans: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Return each sentence's span in the marked text, the marks that touch it included."""
    edges = []
    for start, end in spans:
        left = plain.sources[start - 1] + 1 if start else 0
        right = plain.sources[end] if end < len(plain.sources) else len(marked)
        edges.append((left, right))
    return edges


def _apart(edges: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    previous = 0
    for start, end in edges:
        begin = max(start, previous)
        previous = max(begin, end)
        yield begin, previous


def _claim(text: str) -> str:
    claim = _EMPTY_BRACKETS.sub("", " ".join(name_sources(text).split()))
    claim = _LEADING_REST.sub("", claim)
    return claim if _has_words(claim) else ""
