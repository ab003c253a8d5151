"""Which part of a sentence each of its citations is to support."""

import re
from collections.abc import Sequence

from rag_assets.evidence.wording import content_units
from rag_assets.model import HAN

# A clause says who did what: below so many content words it is a part of the one before, or
# shares its subject or verb with it, and cannot be judged alone. Chinese units are pairs of
# neighbouring characters, of which a statement of six characters has five.
_FEWEST_UNITS = 3
_FEWEST_HAN_UNITS = 5
# What must follow a citation for a new clause to begin there.
_BOUNDARY = re.compile(
    r"\s*(?:[,;:，；：、—–]\s*)?(?:(?:and|but|while|whereas|although|though|yet|however|whilst|"
    r"so|because|since|nor|or|which|in contrast|by contrast|on the other hand)\b"
    r"|而|但|但是|然而|并|并且|且|同时|而且|不过|却|以及|因此|所以)|\s*[,;:，；：—–]",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^[\s,;:，；：、—–]+(?:(?:and|but|while|whereas|although|though|yet|or)\b\s*|[而但并且却])?",
    re.IGNORECASE,
)


def split_clauses(text: str, positions: Sequence[int]) -> list[str] | None:
    """Return the clause before each of several places of citation in one sentence.

    Args:
        text: the sentence without anchors and marks.
        positions: where citations stood in it, ascending, each once.

    Returns:
        None where it is not clear which part a citation supports: there is one place only, a part
        is too short to be a statement, or no boundary of a clause follows a citation. What
        follows the last citation belongs to the last clause.
    """
    inner = [position for position in positions if text[:position].strip()]
    if len(inner) < 2 or len(inner) != len(positions):
        return None
    starts = [0, *inner[:-1]]
    if any(not _BOUNDARY.match(text, position) for position in inner[:-1]):
        return None
    ends = [*inner[:-1], len(text)]
    clauses = [
        _LEAD.sub("", text[start:end]).strip() for start, end in zip(starts, ends, strict=True)
    ]
    return clauses if all(map(_is_statement, clauses)) else None


def _is_statement(clause: str) -> bool:
    fewest = _FEWEST_HAN_UNITS if HAN.search(clause) else _FEWEST_UNITS
    return len(content_units(clause)) >= fewest
