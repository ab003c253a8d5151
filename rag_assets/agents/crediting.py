"""Whom a sentence credits: “Lee et al. (2019) found that …” of a passage by somebody else.

Scorers judge what a sentence states, without who says it. In a draft the citation says that; in an
answer that a model wrote, a true finding under another's name would pass.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache

from rag_assets.agents.passages import Passage
from rag_assets.judging.statement import frames, state
from rag_assets.model import HAN_RANGES

_TOKEN = re.compile(rf"\d+|[^\W\d_{HAN_RANGES}]+")
_HAN_NAME = re.compile(
    rf"([{HAN_RANGES}·]{{2,8}}?)(?:等人?)?\s*[(（,，]\s*(?:1[89]|20)\d\d|《([^》]{{2,60}})》"
)
# What frames begin with that is no name; the words of the lexicon come to them.
_ORDINARY = frozenset(
    {
        "a", "according", "al", "all", "an", "and", "appendix", "article", "as", "both", "by",
        "chapter", "et", "fig", "figure", "following", "for", "from", "he", "her", "his", "in",
        "it", "its", "new", "no", "of", "on", "other", "our", "page", "pages", "pp", "section",
        "see", "she", "some", "such", "table", "that", "the", "their", "these", "they", "this",
        "those", "to", "under", "we", "when", "where", "while", "with", "within",
    }
)  # fmt: skip


def unknown_credits(claim: str, passages: Sequence[Passage]) -> tuple[str, ...]:
    """Return the names and numbers that a sentence credits and its passages do not have, in order.

    Looked at is only what `state` takes off the statement; what stays is for a reader to judge. A
    passage has the words of its text, headings and title, its authors, its year and its uid.

    Args:
        claim: a sentence of an answer, without its citations.
        passages: that it cites.
    """
    stated = state(claim)
    if stated == claim:
        return ()
    told = " ".join(map(_told, passages)).casefold()
    known = set(_TOKEN.findall(told))
    kept = Counter(token.casefold() for token in _TOKEN.findall(stated))
    credited: list[str] = []
    # Frames stand at the beginning: of a word said twice the last is the statement's.
    for token in reversed(_TOKEN.findall(claim)):
        key = token.casefold()
        if kept[key]:
            kept[key] -= 1
        elif key not in known and (key.isdigit() or _is_name(token)):
            credited.insert(0, token)
    for found in _HAN_NAME.finditer(claim):
        name = found[1] or found[2]
        if name not in stated and name.casefold() not in told:
            credited.append(name)
    return tuple(dict.fromkeys(credited))


def _is_name(token: str) -> bool:
    return token[:1].isupper() and token.casefold() not in _frame_words()


@cache
def _frame_words() -> frozenset[str]:
    words = frames()
    said = (
        *words.verbs_en, *words.verbs_alone_en, *words.sources_en, *words.before_sources_en,
        *words.connectives_en,
    )  # fmt: skip
    return _ORDINARY | {token.casefold() for text in said for token in _TOKEN.findall(text)}


def _told(passage: Passage) -> str:
    return " ".join(
        (
            passage.text, passage.title or "", *passage.section_path, *passage.authors,
            str(passage.year or ""), passage.doc_uid,
        )
    )  # fmt: skip
