"""What may be amiss in a vault of laws: rules in a register, pure; nothing is changed.

Files go in one by one; what compares them keeps a card of each and no text.
"""

from collections.abc import Iterable
from datetime import date

from rag_assets.law.curating.comparing import COMPARING_RULES, LawCard, LibraryRule, make_card
from rag_assets.law.curating.rules import (
    ARTICLE_RULES,
    EMPTY_RULES,
    NUMBERING_RULES,
    TITLE_RULES,
    FileRule,
    Finding,
    FindingKind,
    LawFile,
)

FILE_RULES = (*EMPTY_RULES, *ARTICLE_RULES, *NUMBERING_RULES, *TITLE_RULES)


def curate_files(files: Iterable[LawFile], as_of: date) -> list[Finding]:
    """Return what is to be looked at, by kind, rule, file and line.

    Args:
        files: in any order; each is read once.
        as_of: the day on which a wording has to hold.
    """
    found: list[Finding] = []
    cards: list[LawCard] = []
    for file in files:
        cards.append(make_card(file))
        for rule in FILE_RULES:
            found += rule.apply(file)
    # What speaks for a group is the first by path, however the files came.
    cards.sort(key=lambda card: card.file)
    for comparing in COMPARING_RULES:
        found += comparing.apply(cards, as_of)
    order = list(FindingKind)
    unique = {(f.rule, f.file, f.line, f.why): f for f in found}.values()
    return sorted(unique, key=lambda f: (order.index(f.kind), f.rule, f.file, f.line or 0, f.why))
