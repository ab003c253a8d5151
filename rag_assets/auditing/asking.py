"""What scorers are asked about a citation, and which of their answers counts."""

from collections.abc import Sequence
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
