"""What a page shows of an item: what differs, the evidence, other passages to choose from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rag_assets.auditing import CitationVerdict, CitedDocument, Passage
from rag_assets.auditing.pages import LaidBlock, Span, lay_out
from rag_assets.evidence.locating import locate
from rag_assets.model import PageBox, show_figures
from rag_assets.reviewing.items import Item, Review

if TYPE_CHECKING:
    from rag_assets.judging import Sign

# A document can have thousands of passages; who looks for one among more types a word of it.
_MOST_CHOICES = 40


@dataclass(frozen=True, slots=True)
class Difference:
    """Something of the sentence that can be checked with one's own eyes.

    Args:
        speaks: for the sentence, or against it.
        kind: number, unit, name, quotation …, as scorers name it.
        claim: as it stands in the sentence; `source` in the source; either may be empty.
        text: a sentence on it.
    """

    speaks: Literal["for", "against"]
    kind: str
    claim: str
    source: str
    text: str


@dataclass(frozen=True, slots=True)
class Choice:
    """A passage of the cited document.

    Args:
        locator: where it stands, as shown.
        is_shown: whether the machine judged by it.
    """

    chunk_id: str
    locator: str
    text: str
    is_shown: bool
    boxes: tuple[PageBox, ...]


@dataclass(frozen=True, slots=True)
class LaidDraft:
    """A draft as a page shows it.

    Args:
        blocks: its own words in order; a piece's `note` is the index of a sentence.
        sentences: the items of each cited sentence, in the order of the draft.
    """

    blocks: list[LaidBlock]
    sentences: tuple[tuple[Item, ...], ...]


def differences(row: CitationVerdict) -> list[Difference]:
    """Return what speaks against a sentence and then what speaks for it, each once."""
    signs: list[tuple[Literal["for", "against"], Sequence[Sign]]] = [
        ("against", row.speaks_against),
        ("for", row.speaks_for),
    ]
    found = [
        Difference(speaks, sign.kind, sign.claim, show_figures(sign.source), sign.text)
        for speaks, some in signs
        for sign in some
    ]
    return list(dict.fromkeys(found))


def shown_parts(item: Item, choice: Choice | None = None) -> tuple[str, str, str]:
    """Return the passage that is looked at, in three parts; the one between is marked.

    Args:
        choice: a passage in place of the machine's; it is marked as a whole.
    """
    if choice is not None:
        return "", show_figures(choice.text), ""
    passage, quote = item.row.passage or "", item.row.quote
    before, marked, after = passage.partition(quote) if quote and quote in passage else (
        "", "", passage)  # fmt: skip
    return show_figures(before), show_figures(marked), show_figures(after)


def choices_of(
    document: CitedDocument, row: CitationVerdict, words: str = ""
) -> tuple[list[Choice], int]:
    """Return passages of a document to choose from, and how many there are of them in all.

    Those that the machine judged by come first, then the rest in the order of the document.

    Args:
        words: only passages that hold each of them, in whatever case.
    """
    shown = {chunk for window in row.passages for chunk in window.chunk_ids}
    asked = words.casefold().split()
    found = [
        Choice(one.chunk_id, place_of(one), one.text, one.chunk_id in shown, one.boxes)
        for one in document.passages
        if all(word in one.text.casefold() for word in asked)
    ]
    found.sort(key=lambda choice: not choice.is_shown)
    return found[:_MOST_CHOICES], len(found)


def find_choice(document: CitedDocument, chunk_id: str) -> Choice | None:
    """Return one passage of a document, None where it has none of this id."""
    for one in document.passages:
        if one.chunk_id == chunk_id:
            return Choice(chunk_id, place_of(one), one.text, False, one.boxes)
    return None


def place_of(passage: Passage) -> str:
    """Return where a passage stands, as it is shown; its id where nobody could look it up."""
    found = locate(
        passage.page_start, passage.page_end, passage.char_start, passage.char_end,
        passage.section_path, has_boxes=bool(passage.boxes),
    )  # fmt: skip
    return found.text if found is not None else passage.chunk_id


def lay_out_draft(review: Review) -> LaidDraft:
    """Return a draft's words with its cited sentences, each with its items in order of urgency."""
    by_place: dict[int, list[Item]] = {}
    for item in review.items:
        by_place.setdefault(item.row.sentence_start, []).append(item)
    ordered = [tuple(by_place[start]) for start in sorted(by_place)]
    spans = [
        Span(items[0].row.sentence_start, items[0].row.sentence_end, number)
        for number, items in enumerate(ordered)
    ]
    return LaidDraft(lay_out(review.draft, spans), tuple(ordered))
