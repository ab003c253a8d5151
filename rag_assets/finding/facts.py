"""The facts that a statement asserts side by side: each may stand in a place of its own."""

import re

from rag_assets.model import is_chinese

_BETWEEN = re.compile(
    r",\s+(?:and|but|while|whereas|although|which|with)\s+|;\s+|\s+(?:while|whereas|but)\s+|[，；]"
)
# Shorter pieces are adverbials, not facts.
_LEAST_CHARACTERS = {False: 25, True: 8}
_MOST_FACTS = 3


def split_facts(statement: str) -> list[str]:
    """Return the parts of a statement that assert something of their own.

    Returns:
        Two or three, in order; nothing where the statement is one fact.
    """
    least = _LEAST_CHARACTERS[is_chinese(statement)]
    pieces = [piece.strip() for piece in _BETWEEN.split(statement)]
    kept = [piece for piece in pieces if len(piece) >= least]
    if len(kept) > _MOST_FACTS:
        middle = len(kept) // 2
        return [" ".join(kept[:middle]), " ".join(kept[middle:])]
    return kept if len(kept) > 1 else []
