"""What scorers are asked about a citation, and which of their answers counts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rag_assets.auditing.judged import Judged, PlaceFound
from rag_assets.auditing.quoting import QuotationCheck
from rag_assets.auditing.showing import Shown
from rag_assets.judging import Judgement, PassageText

_RANKS = {"OK": 2, "WEAK": 1, "MISSING": 0}


@dataclass(frozen=True, slots=True)
class Ask:
    """One question to a scorer: windows of the document, best first, as `texts` read them."""

    key: str
    claim: str
    shown: tuple[Shown, ...]
    texts: tuple[PassageText, ...]
    place: PlaceFound | None
    checks: tuple[QuotationCheck, ...]


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
        *ask.shown[judgement.passage].place_of(judgement.span),
        judgement.speaks_for,
        judgement.speaks_against,
        (),
        judgement.note,
        ask.place,
        ask.checks,
        tuple(each.kept() for each in ask.shown),
    )
