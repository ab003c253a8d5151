"""Words in common: what is compared where the embedding model cannot read a language."""

import re

from rag_assets.publishing.content_words import (
    content_sequence,
    content_stems,
    content_tokens,
    content_units,
    coverage,
)

_QUERY_UNITS = 12  # about what a person types; more adds noise to a text search
_DEGREES = re.compile(r"°\s?[CFK]\b")  # a letter that finds nothing


def suggest_query(claim: str) -> str:
    """Return the content words of `claim` in their order, at most twelve, each once."""
    claim = _DEGREES.sub(" ", claim)
    return " ".join(list(dict.fromkeys(token for _, token in content_tokens(claim)))[:_QUERY_UNITS])


__all__ = ["content_sequence", "content_stems", "content_units", "coverage", "suggest_query"]
