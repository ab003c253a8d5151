"""From verdicts to the status of an assertion, and what is said to its writer."""

from collections.abc import Sequence
from dataclasses import replace

from rag_assets.auditing.claims.record import ClaimStatus, CounterMode, SuggestedQuery
from rag_assets.auditing.ordering import CONTRADICTED, NOTHING_FOUND, urgency
from rag_assets.auditing.verdict import CitationVerdict

# It says how alike two texts are, not whether one supports the other.
LIKENESS_SCORER = "similarity"
# It tells a contradiction from silence. Another figure does not: it may be of something else.
CONTRADICTING_SCORER = "llm"
_RANKS = {"OK": 0, "WEAK": 1, "MISSING": 2, "ERROR": 3}
_KINDS = {
    "causal": "a claim of cause and effect",
    "comparative": "a comparison",
    "superlative": "a superlative",
    "universal": "a claim about all cases",
    "recommendation": "a recommendation",
    "quantitative": "a figure",
}
_OTHER_FIGURES = "It gives other figures, of the same thing or of another: read it."


def decide_status(evidence: Sequence[CitationVerdict]) -> ClaimStatus:
    """Return the status that the citations at the end of its paragraph give an assertion.

    One that supports it is enough. They were perhaps not meant for this sentence: where none
    supports it, it cites nothing.
    """
    statuses = {verdict.status for verdict in evidence}
    if "OK" in statuses:
        return "SUPPORTED"
    return "WEAK" if "WEAK" in statuses else "EVIDENCE_NEEDED"


def best_of(verdicts: Sequence[CitationVerdict]) -> CitationVerdict:
    """Return the verdict that says most for an assertion, the first of equals."""
    return min(verdicts, key=lambda verdict: _RANKS[verdict.status])


def describe_found(verdict: CitationVerdict) -> str:
    """Return what may be said of a document that nobody cites yet, in a few words."""
    if verdict.reason_code == "contradicted":
        return "says otherwise"
    if verdict.reason_code == "facts_differ":
        return "has other figures"
    if verdict.reason_code == "unread":
        return "nearest, not read"
    if verdict.scored_by == LIKENESS_SCORER:
        return "close to it" if verdict.status == "OK" else "near it"
    return "says it" if verdict.status == "OK" else "says it in part"


def as_found(verdict: CitationVerdict) -> CitationVerdict:
    """Return a verdict on a document that nobody cites yet.

    A citation whose figure differs is to be corrected; what was merely found may speak of
    something else, and its figures speak against nothing.
    """
    if verdict.reason_code != "facts_differ":
        return verdict
    return replace(verdict, reason=_OTHER_FIGURES, speaks_against=())


def explain(
    claim_type: str,
    evidence: Sequence[CitationVerdict],
    queries: Sequence[SuggestedQuery],
    against: Sequence[CitationVerdict],
) -> str:
    """Return a sentence or two for the writer: what is the matter and what to do."""
    if evidence:
        best = best_of(evidence)
        parts = [f"It cites nothing itself; at the end of its paragraph: {_named(best)}."]
        parts.append(best.reason)
    else:
        parts = [f"It is {_KINDS[claim_type]} without a source."]
    parts.extend(_advise(queries, has_evidence=bool(evidence), is_opposed=bool(against)))
    if against:
        count = len({(found.namespace, found.doc_uid) for found in against})
        who = "another document says" if count == 1 else f"{count} other documents say"
        parts.append(f"{who[0].upper()}{who[1:]} otherwise: discuss it, or say less.")
    return " ".join(parts)


def _advise(
    queries: Sequence[SuggestedQuery], *, has_evidence: bool, is_opposed: bool
) -> list[str]:
    found = [verdict for query in queries for verdict in query.found]
    if found:
        best = found[0]
        if best.status == "OK" and best.scored_by != LIKENESS_SCORER:
            return [f"{_named(best)} says it: read it and cite it."]
        if best.reason_code == "contradicted":
            return [f"{_named(best)} says otherwise: correct the sentence, or discuss it."]
        return [f"Found: {_named(best)}, {describe_found(best)}. Read it before you cite it."]
    if queries and not is_opposed:
        # What stands at the end of the paragraph is not suggested once more.
        what = "No other document in the index" if has_evidence else "Nothing citable in the index"
        return [f"{what} speaks of it: add a source to raw/evidence, or say less."]
    return []


def _named(verdict: CitationVerdict) -> str:
    where = f" ({verdict.locator})" if verdict.locator else ""
    return f"{{#{verdict.cites}}}{where}"


def dispute(
    status: ClaimStatus, against: Sequence[CitationVerdict], mode: CounterMode
) -> ClaimStatus:
    """Return the status after what other documents say: `strict` lets them decide with."""
    return "DISPUTED" if mode == "strict" and against else status


def claim_urgency(
    status: ClaimStatus,
    evidence: Sequence[CitationVerdict],
    queries: Sequence[SuggestedQuery],
    against: Sequence[CitationVerdict],
) -> int:
    """Return the place of an assertion in the order in which results are shown, from 0."""
    found = [verdict for query in queries for verdict in query.found]
    if against or any(urgency(verdict) == CONTRADICTED for verdict in (*evidence, *found)):
        return CONTRADICTED
    if status != "EVIDENCE_NEEDED" and evidence:
        return urgency(best_of(evidence))
    return NOTHING_FOUND
