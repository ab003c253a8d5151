"""Where the clauses of a sentence begin and end, and which of them says something by itself."""

import re

_END = re.compile(
    r"[，。；：！？;:!?]|,(?!\d)|\.(?!\d)|\s(?:and|while|whereas|but|versus|vs\.?)\s|而|、"
)
_SUBORDINATES = re.compile(r"(?i)\b(?:although|though|because|since|when|if|unless|until)\b")
# Also where a finer cut is wanted: “A rose – B fell”, “A rose because B fell”.
_PIECE_END = re.compile(
    r"[;:!?—]|,(?!\d)|\.(?!\d)|\s[-–]\s|"
    r"\b(?:and|but|or|while|whereas|although|though|because|since|when|if|unless|until|versus)\b"
)
# What has none of these words says nothing by itself: “in May”, “mainly because of cattle”. Few
# verbs in the present tense are listed, since plural nouns look like them.
FINITE = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|do|does|did|will|would|can|could|may|might|must|"
    r"shall|should|fell|rose|grew|became|went|came|got|led|held|kept|made|lost|won|found|gave|took|"
    r"saw|said|met|paid|sold|sent|spent|left|felt|thought|brought|bought|ran|began|broke|chose|drew|"
    r"drove|fought|knew|lay|spoke|stood|taught|told|wore|wrote|holds|argues|believes|remains|becomes|"
    r"contains|covers|leads|makes|gives|takes|uses|needs|requires|allows|keeps|depends|differs|"
    r"increases|decreases|rises|falls|reduces|lowers|raises|[a-z]{2,}ed)\b"
)
# Weight of the words that a claim shares with one clause alone, from which on they say of which
# clause it is.
TELLING_WEIGHT = 0.4
# What may stand for something that another clause or sentence names.
PRONOUN = re.compile(
    r"(?i)\b(?:they|them|their|it|its|he|him|his|she|her|this|these|those)\b|[他她它其]"
)


def is_fragment(text: str) -> bool:
    """Say whether a text has neither a finite verb nor a number: “Edward IV of England”."""
    return not FINITE.search(text.lower()) and not any(character.isdigit() for character in text)


def split_clauses(text: str) -> list[str]:
    """Return the clauses of a sentence: between commas, semicolons, “and”."""
    return [clause for clause in _END.split(text) if clause.strip()]


def clause_around(
    text: str, start: int, end: int, *, is_subordinate_apart: bool = False
) -> tuple[int, int]:
    """Return the half-open span of the clause in which the characters stand.

    Args:
        is_subordinate_apart: whether “although” and its like begin a clause, too.
    """
    ends = [*_END.finditer(text), *(_SUBORDINATES.finditer(text) if is_subordinate_apart else ())]
    return (
        max((match.end() for match in ends if match.end() <= start), default=0),
        min((match.start() for match in ends if match.start() >= end), default=len(text)),
    )


def group_pieces(text: str) -> list[list[str]]:
    """Return the clauses of an English sentence, each as its pieces.

    A piece without a finite verb says nothing by itself, and belongs to what stands before it.
    """
    found: list[list[str]] = []
    waiting: list[str] = []
    for piece in (piece.strip() for piece in _PIECE_END.split(text)):
        if not piece:
            continue
        if FINITE.search(piece.lower()):
            found.append([*waiting, piece])
            waiting = []
        elif found:
            found[-1].append(piece)
        else:
            waiting.append(piece)
    return found or [waiting]
