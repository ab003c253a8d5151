"""What scorers are asked about a citation, and which of their answers counts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rag_assets.auditing.drafts.sentences import SentenceSplitter
from rag_assets.auditing.judged import Judged, PlaceFound
from rag_assets.auditing.library import CitedDocument
from rag_assets.auditing.listed import ListedItem
from rag_assets.auditing.quoting import QuotationCheck
from rag_assets.judging import Judgement, PassageText, name_context

_RANKS = {"OK": 2, "WEAK": 1, "MISSING": 0}


@dataclass(frozen=True, slots=True)
class Ask:
    """One question to a scorer: the passages, and which part of the document they come from.

    Args:
        starts: where each text begins in its passage: one of a named article begins with it.
        wholes: where each text stands in its passage, if texts are put together; else empty.
    """

    key: str
    claim: str
    chosen: tuple[int, ...]
    texts: tuple[PassageText, ...]
    starts: tuple[int, ...]
    place: PlaceFound | None
    checks: tuple[QuotationCheck, ...]
    wholes: tuple[tuple[int, int], ...] = ()

    def about_items(self, items: Sequence[ListedItem]) -> "Ask":
        """Return the same question about items of articles, each with what leads to it."""
        contexts = dict(zip(self.chosen, (text.context for text in self.texts), strict=True))
        return replace(
            self,
            chosen=tuple(item.passage for item in items),
            texts=tuple(
                PassageText(item.text, ((0, len(item.text)),), contexts[item.passage])
                for item in items
            ),
            starts=(),
            wholes=tuple((item.start, item.end) for item in items),
        )

    def span(self, judgement: Judgement) -> tuple[int, int]:
        """Return where in its passage stands what a judgement found."""
        if self.wholes:
            return self.wholes[judgement.passage]
        start = self.starts[judgement.passage]
        return start + judgement.span[0], start + judgement.span[1]


def passage_text(
    document: CitedDocument, index: int, split: SentenceSplitter, part: tuple[int, int]
) -> PassageText:
    """Return a part of a passage, half-open, as scorers are asked about it."""
    passage = document.passages[index]
    text = passage.text[slice(*part)]
    context = name_context(document.title, passage.section_path)
    names = {name for other in document.passages for name in other.section_path}
    spans = stating_sentences(text, split(text), [document.title or "", *names])
    return PassageText(text, spans, context)


def stating_sentences(
    text: str, spans: Iterable[tuple[int, int]], names: Iterable[str]
) -> tuple[tuple[int, int], ...]:
    """Return the sentences that may support something: those that are no title or heading.

    Args:
        text: of a passage; `spans` its sentences, half-open.
        names: title of the document and its headings.

    Returns:
        Never nothing: all sentences where no other is left, the whole text without any.
    """
    visible = [span for span in spans if text[slice(*span)].strip()]
    known = {_bare(name) for name in names}
    stating = [span for span in visible if _bare(text[slice(*span)]) not in known]
    return tuple(stating or visible) or ((0, len(text)),)


def _bare(name: str) -> str:
    return " ".join(name.casefold().split()).strip("#*. ")


def choose(answers: Sequence[tuple[Ask, Judgement]]) -> Judged:
    """Return the judgement of the pages that were named, unless all of the document has a better,
    or one as weak that scores higher.

    A contradiction on the named page counts: it is not outvoted by another page.
    """
    ask, judgement = answers[0]
    for other, found in answers[1:]:
        rank, other_rank = _RANKS[judgement.status], _RANKS[found.status]
        is_nearer = rank == other_rank == _RANKS["WEAK"] and found.score > judgement.score
        if (other_rank > rank or is_nearer) and judgement.reason_code != "contradicted":
            ask, judgement = other, found
    return Judged(
        judgement.score,
        judgement.status,
        judgement.reason_code,
        judgement.reason,
        ask.chosen[judgement.passage],
        *ask.span(judgement),
        judgement.speaks_for,
        judgement.speaks_against,
        (),
        judgement.note,
        ask.place,
        ask.checks,
    )
