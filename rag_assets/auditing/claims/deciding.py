"""From the citations of an assertion and what the index holds to its status."""

from collections.abc import Sequence

from rag_assets.auditing.claims.record import (
    Bearing,
    ClaimStatus,
    CounterMode,
    FoundPassage,
    LinkedEvidence,
    SuggestedQuery,
)
from rag_assets.judging import Judgement, ScorerName, Sign, Thresholds

# They say how alike two texts are, not whether one supports the other.
LIKENESS_SCORERS = frozenset({"similarity", "coverage", "facts"})
# Of the way from WEAK to OK: from there on a passage that nothing speaks against says part of it.
# Below, a calibrated probability is nearer to that of passages which only share the subject.
_IN_PART_FROM = 0.5

_WORTH_CITING: dict[Bearing, str] = {
    "supports": "{0} supports it ({1}): read it and cite it.",
    "supports_in_part": "{0} says part of it ({1}): read it, and say no more than it does.",
    "close": "{0} comes close to it ({1}): cite it if it says so.",
}
_KINDS = {
    "causal": "a claim of cause and effect",
    "comparative": "a comparison",
    "superlative": "a superlative",
    "universal": "a claim about all cases",
    "recommendation": "a recommendation",
    "quantitative": "a figure",
}


def decide_status(evidence: Sequence[LinkedEvidence]) -> ClaimStatus:
    """Return the status that the citations of an assertion give it.

    One citation that supports it is enough; one that says the opposite is too much. A citation at
    the end of the paragraph was perhaps not meant for this sentence: where it supports nothing,
    the sentence counts as uncited.
    """
    verdicts = [item.verdict for item in evidence]
    if not verdicts:
        return "EVIDENCE_NEEDED"
    direct = any(item.linkage != "paragraph" for item in evidence)
    statuses = {verdict.status for verdict in verdicts}
    if any(verdict.reason_code == "contradicted" for verdict in verdicts) and direct:
        return "CONTRADICTED"
    if "OK" in statuses:
        return "SUPPORTED"
    if "WEAK" in statuses:
        return "WEAK"
    if not direct:
        return "EVIDENCE_NEEDED"
    return "ERROR" if statuses == {"ERROR"} else "UNSUPPORTED"


def dispute(status: ClaimStatus, against: Sequence[FoundPassage], mode: CounterMode) -> ClaimStatus:
    """Return the status after what other documents say: `strict` lets them decide with."""
    if mode == "strict" and against and status in {"SUPPORTED", "WEAK"}:
        return "DISPUTED"
    return status


def bearing_of(judgement: Judgement, thresholds: Thresholds, scorer: ScorerName) -> Bearing:
    """Return what may be said of a passage that was found; a likeness promises no support."""
    if judgement.reason_code == "contradicted":
        return "contradicts"
    if judgement.status == "MISSING":
        return "on_the_matter"
    if scorer in LIKENESS_SCORERS:
        return "close" if judgement.status == "OK" else "near"
    if judgement.status == "OK":
        return "supports"
    least = thresholds.weak + _IN_PART_FROM * (thresholds.ok - thresholds.weak)
    is_opposed = any(map(_opposes, judgement.speaks_against))
    return "on_the_matter" if judgement.score < least or is_opposed else "supports_in_part"


def _opposes(sign: Sign) -> bool:
    """Say whether a sign is more than that words of the assertion are not there: that is what “in
    part” means.
    """
    return sign.kind != "words" or bool(sign.source)


def explain(
    status: ClaimStatus,
    claim_type: str,
    evidence: Sequence[LinkedEvidence],
    queries: Sequence[SuggestedQuery],
    against: Sequence[FoundPassage],
) -> str:
    """Return a sentence or two for the writer: what is the matter and what to do."""
    parts = [_what(status, claim_type, evidence)]
    if status == "EVIDENCE_NEEDED" and evidence:
        parts.append("The citation at the end of the paragraph does not support it.")
    elif evidence and all(item.linkage == "paragraph" for item in evidence):
        parts.append("This rests on the citation at the end of the paragraph.")
    every = [found for query in queries for found in query.found]
    best = next((found for found in every if found.bearing in _WORTH_CITING), None)
    if best is not None:
        parts.append(_WORTH_CITING[best.bearing].format(f"{{#{best.cite}}}", best.locator))
    elif queries and not every:
        # What it cites itself is not suggested once more.
        what = "No other document in the index" if evidence else "Nothing citable in the index"
        if not against:
            parts.append(f"{what} speaks of it: add a source to raw/evidence, or say less.")
    elif queries:
        parts.append("The index has passages on the matter, none that plainly says it.")
    if against:
        count = len({(found.namespace, found.doc_uid) for found in against})
        parts.append(
            f"{count} other document{'s speak' if count > 1 else ' speaks'} against it: "
            "discuss it, or say less."
        )
    return " ".join(parts)


def _what(status: ClaimStatus, claim_type: str, evidence: Sequence[LinkedEvidence]) -> str:
    kind = _KINDS[claim_type]
    opposed = ", ".join(
        f"{{#{item.verdict.cites}}}"
        for item in evidence
        if item.verdict.reason_code == "contradicted"
    )
    said: dict[ClaimStatus, str] = {
        "EVIDENCE_NEEDED": f"It is {kind} without a source.",
        "CONTRADICTED": f"What it cites says otherwise: {opposed}. Correct the sentence or the "
        "citation.",
        "UNSUPPORTED": f"It is {kind}, and what it cites does not support it.",
        "WEAK": "What it cites speaks of it, but does not plainly support it.",
        "ERROR": "Its citation cannot be judged: "
        + "".join(item.verdict.reason for item in evidence[:1]),
        "DISPUTED": "What it cites supports it, other sources do not.",
        "SUPPORTED": "What it cites supports it.",
    }
    return said[status]
