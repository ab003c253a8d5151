"""Chunks: the passages of a document that are embedded and searched."""

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from rag_assets.chunking.context import Told, tell
from rag_assets.chunking.dividing import Passage, batches, halve
from rag_assets.chunking.modes import ArticleFinder, mode_of
from rag_assets.chunking.parents import locate_pages
from rag_assets.chunking.rows import BoxFinder
from rag_assets.chunking.sentences import Outline, TokenCounter, Tokenizer
from rag_assets.model import BlockKind, Chunk, ChunkKind, Parent, ParsedDocument
from rag_assets.model.settings import ChunkSettings

CHUNKING_VERSION = "7"

# Passages that are counted and told of at once: of them all, tokens and contexts are held.
_AT_ONCE = 500

_KIND_OF_BLOCK: dict[BlockKind, ChunkKind] = {
    "title": "front",
    "front": "front",
    "heading": "heading",
    "unplaced_heading": "heading",
    "paragraph": "text",
    "caption": "figure",
    "list": "list",
    "table": "table",
    "row": "row",
    "code": "code",
    "formula": "formula",
    "figure": "figure",
    "drawing": "drawing",
    "reference": "reference",
    "footnote": "footnote",
    "note": "note",
}


def each_chunk(
    outline: Outline, parents: Iterable[Parent], settings: ChunkSettings, tokenizer: Tokenizer
) -> Iterator[Chunk]:
    """Divide each parent into chunks of about `target_tokens` (spec 000 §4.3).

    A chunk lies in one section. It holds `min_tokens` to `max_tokens`, fewer only where its
    section has no more in that parent, and never more than `tokenizer.limit`. Code, formulas,
    lists, references, rows, figures and tables with their captions are whole where they fit; of
    a larger table, groups of rows with the header in their context. A heading begins a chunk. A
    sentence that is longer is cut at its best inner place, and the chunks that hold its parts
    say so (`is_cut`). With `overlap` above 0 a chunk begins with the last whole sentences of the
    one before, up to that share of the target. Modes may depart from this (`MODES`).

    Args:
        outline: of the document, by the mode of the same settings.
        parents: of this document, by `make_parents` with the same settings, in order.
        settings: sizes in tokens of `tokenizer`.
        tokenizer: the embedding model's own.

    Yields:
        Chunks in order, numbered from 0. Every visible character of the parents is in at least
        one, in exactly one with `overlap` 0.

    Raises:
        ConfigurationError: the sizes contradict each other.
    """
    divider = mode_of(settings).divider(outline, settings, tokenizer)
    divided = (passage for parent in parents for passage in divider.divide(parent))
    fitting = (list(_fit(some, tokenizer)) for some in batches(divided, _AT_ONCE))
    return _described(fitting, outline, settings, tokenizer)


def _described(
    counted: Iterable[Sequence[tuple[Passage, int]]],
    outline: Outline,
    settings: ChunkSettings,
    tokenizer: Tokenizer,
) -> Iterator[Chunk]:
    """Yield passages with their counts of tokens as chunks, so many at once as they come."""
    mode, describer, order = mode_of(settings), _Describer(outline), 0
    for some in counted:
        passages = [passage for passage, _ in some]
        counts = [tokens for _, tokens in some]
        told = tell(passages, counts, outline, settings, tokenizer, mode.context)
        for passage, tokens, said in zip(passages, counts, told, strict=True):
            yield describer.describe(order, passage, tokens, said)
            order += 1


@dataclass(frozen=True, slots=True)
class ChosenSpan:
    """A span of a document that is to be a chunk, whatever a mode would make of it.

    Args:
        parent: that it is shown in; it need not hold the span whole.
        start: offset in the document's clean text; half-open to `end`.
        question: what is embedded in its place; None for the text.
    """

    parent: Parent
    start: int
    end: int
    question: str | None = None


def describe_spans(
    document: ParsedDocument,
    spans: Sequence[ChosenSpan],
    settings: ChunkSettings,
    tokenizer: Tokenizer,
) -> list[Chunk]:
    """Return chosen spans as the chunks that `make_chunks` would describe them as.

    Args:
        document: as parsed.
        spans: numbered from 0 in this order.
        settings: as for its other chunks.
        tokenizer: the embedding model's own.
    """
    text = document.text
    passages = [
        Passage(
            # A passage takes its text from its parent, which need not hold it whole.
            replace(one.parent, char_start=0, char_end=len(text), text=text),
            one.start,
            one.end,
            tokenizer.limit,
            question=one.question,
        )
        for one in spans
    ]
    counts = tokenizer.count([passage.text for passage in passages])
    counted = [list(zip(passages, counts, strict=True))]
    outline = mode_of(settings).outline(document)
    return list(_described(counted, outline, settings, tokenizer))


def _fit(passages: Sequence[Passage], tokenizer: Tokenizer) -> Iterator[tuple[Passage, int]]:
    """Yield each passage with the true count of its own string, halved where that is too large.

    A tokenizer may read a part otherwise than the whole: a word that was cut, a first word.
    """
    for passage, tokens in zip(passages, tokenizer.count([p.text for p in passages]), strict=True):
        if tokens <= passage.most or passage.end - passage.start == 1:
            yield passage, tokens
        else:
            yield from _fit(halve(passage), tokenizer)


class _Describer:
    """Says of passages of one document where they stand and what they are."""

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        document = outline.document
        self._blocks = document.blocks
        self._starts = array("q", (block.start for block in document.blocks))
        self._ends = array("q", (block.end for block in document.blocks))
        self._page_starts = [(page.number, page.start) for page in document.pages]
        self._boxes = BoxFinder(document)
        self._articles = ArticleFinder(outline)

    def describe(self, order: int, passage: Passage, tokens: int, said: Told) -> Chunk:
        """Return the chunk that a passage is."""
        start, end = passage.start, passage.end
        section = self._outline.section_at(start)
        page_start, page_end = locate_pages(self._page_starts, start, end)
        touched = self._touched(start, end)
        return Chunk(
            order=order,
            parent_label=passage.parent.label,
            char_start=start,
            char_end=end,
            text=passage.text,
            token_count=tokens,
            input_tokens=said.input_tokens,
            page_start=page_start,
            page_end=page_end,
            kind=self._kind(passage, touched),
            section_title=section.title,
            parent_section=section.parent_title,
            section_path=section.path,
            hierarchy_level=section.level,
            section_category=section.category,
            section_subtype=section.subtype,
            context=said.context,
            prepared=said.prepared,
            question=said.question,
            boxes=self._boxes.find(start, end),
            attachment_ids=tuple(
                dict.fromkeys(
                    identity
                    for index in touched
                    if (identity := self._blocks[index].attachment_id) is not None
                )
            ),
            is_cut=passage.is_cut,
            law_title=self._articles.title_at(start),
            articles=self._articles.find(start, end),
        )

    def _touched(self, start: int, end: int) -> range:
        return range(bisect_right(self._ends, start), bisect_left(self._starts, end))

    def _kind(self, passage: Passage, touched: range) -> ChunkKind:
        if passage.question is not None:
            return "qa"
        if passage.is_heading:
            return "heading"
        shares: Counter[ChunkKind] = Counter()
        for block in (self._blocks[index] for index in touched):
            held = min(block.end, passage.end) - max(block.start, passage.start)
            shares[_KIND_OF_BLOCK[block.kind]] += held
        headings = shares.pop("heading", 0)
        section = self._outline.section_at(passage.start)
        if not shares:
            is_alone = headings and self._outline.is_heading_alone(section.order)
            return "heading" if is_alone else "text"
        kind = max(shares, key=lambda kind: shares[kind])
        # Formats without a mark for entries have them as items or paragraphs.
        is_entry = section.subtype == "references" and kind in {"list", "text"}
        return "reference" if is_entry else kind


def chunk_document(
    document: ParsedDocument, settings: ChunkSettings, tokenizer: Tokenizer
) -> tuple[list[Parent], list[Chunk]]:
    """Return the parents and chunks of a document.

    Args:
        document: as parsed.
        settings: sizes in tokens of `tokenizer`.
        tokenizer: the embedding model's own.

    Raises:
        ConfigurationError: the sizes contradict each other.
    """
    outline = mode_of(settings).outline(document)
    parents = list(mode_of(settings).parents(outline, settings, tokenizer.count))
    return parents, list(each_chunk(outline, parents, settings, tokenizer))


def make_parents(
    document: ParsedDocument, settings: ChunkSettings, count: TokenCounter
) -> list[Parent]:
    """Return the parents of a document, in order; see `pages_or_sections` and `MODES`.

    Args:
        document: as parsed; pages partition its text.
        settings: sizes in tokens, as `count` counts them.
        count: counts tokens (`Tokenizer.count`).
    """
    mode = mode_of(settings)
    return list(mode.parents(mode.outline(document), settings, count))


def make_chunks(
    document: ParsedDocument,
    parents: Iterable[Parent],
    settings: ChunkSettings,
    tokenizer: Tokenizer,
) -> list[Chunk]:
    """Return the chunks of a document whose parents are known, in order; see `each_chunk`."""
    return list(each_chunk(mode_of(settings).outline(document), parents, settings, tokenizer))
