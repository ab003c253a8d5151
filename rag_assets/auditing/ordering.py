"""What a writer has to look at first; both audits show their rows in this order."""

from rag_assets.auditing.verdict import CitationVerdict

# Contradicted, facts differ, nothing found, partly, unread, supported. What is wrong with the
# citation itself (a uid that is unknown) was not found; what a program compares letter by letter
# (quotations, places named) or reads around the words (a frame) is a fact.
CONTRADICTED, FACTS_DIFFER, NOTHING_FOUND, PARTLY, UNREAD, SUPPORTED = range(6)
_FACTS = frozenset({
    "facts_differ", "framed", "misquoted", "quote_not_found", "wrong_page", "wrong_article",
    "drops_exception", "not_in_force",
})  # fmt: skip


def urgency(row: CitationVerdict) -> int:
    """Return the place of a verdict in the order in which results are shown, from 0."""
    # What a person has found wrong, nobody needs to look at once more to say so.
    if row.reason_code in {"contradicted", "judged_unsupported"}:
        return CONTRADICTED
    if row.reason_code in _FACTS:
        return FACTS_DIFFER
    if row.status in {"MISSING", "ERROR"}:
        return NOTHING_FOUND
    if row.status == "OK":
        return SUPPORTED
    return UNREAD if row.reason_code == "unread" else PARTLY
