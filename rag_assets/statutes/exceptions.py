"""What limits the words of an article: what it excepts (但书, 除外, 另有规定) and what leads to it.

Who leaves an exception out says more than the law does; who puts an item below the lead of another
paragraph says something else.
"""

import re
from itertools import pairwise

from rag_assets.chunking import split_sentences
from rag_assets.law import find_clauses
from rag_assets.model import HAN, HAN_RANGES

EXCEPTION = re.compile(
    r"(?<!不)但(?!凡|愿|书)|除外|(?<![拆解免排清删消扣废撤])除[^。；，]{1,40}外|"
    r"另有(?:规定|约定)|不在此限|不适用|例外|"
    r"不受[^。；，]{1,20}限制|\b(?:except|unless|does not apply|do not apply)\b",
    re.IGNORECASE,
)
"""Words by which a Chinese or an English provision excepts something.

Of 50 sentences with one, drawn from the 1,108 articles that have one among 17,306 of a vault, 44
except or limit something; the others join two facts (风力没有达到五级但是超过抗风浪等级).
"""
# Of 285 labelled sentences on statutes four have one of these where the article has none and leave
# a condition of it unnamed: all four are false.
_ALWAYS = re.compile("只要|即可|便可|一律|一概|任何|不论|无论|不管")
# 未取得许可的，…; 在确保安全的前提下，…; 经批准，…; of 下列情形之一 any one suffices.
_CONDITION = re.compile(
    r"(?:^|(?<=[，；。：]))(?P<condition>(?:[^，；。：]{4,}(?<!情形之一)的"
    r"|在[^，；。：]{2,}(?:前提下|情况下|情形下|条件下)|[未须]?经[^，；。：]{2,}))(?=，)"
)
# Share of a condition's pairs of characters that a sentence has which names it.
_NAMED = 0.15
_BEGINS = re.compile(r"但|除|However|Except|Unless")


def excepts(text: str) -> bool:
    """Say whether a text excepts something."""
    return EXCEPTION.search(text) is not None


def exceptions_around(article: str, start: int, end: int) -> str | None:
    """Return the exception that belongs to the words at [start, end) of an article, else None.

    It stands in the same sentence, or in the next one where that begins with 但 or 除.
    """
    spans = list(split_sentences(article))
    touched = [place for place, (first, last) in enumerate(spans) if first < end and start < last]
    told = [article[slice(*spans[place])] for place in touched]
    if touched and touched[-1] + 1 < len(spans):
        following = article[slice(*spans[touched[-1] + 1])]
        if _BEGINS.match(following):
            told.append(following)
    return next((_clause(one) for one in told if excepts(one)), None)


def dropped_limit(article: str, start: int, end: int, said: str) -> str | None:
    """Return the exception or condition of the words at [start, end) of an article that a sentence
    leaves out.

    Of exceptions None where the sentence excepts something itself, or what it says is what the
    exception says rather than the words that it limits. A condition is left out by a Chinese
    sentence that says of a rule that it always holds, or what suffices for it (一律, 只要).
    """
    left = None if excepts(said) else exceptions_around(article, start, end)
    if HAN.search(said) is None:
        return left
    first, last = _sentences_at(article, start, end)
    ruled = "".join(article[first:last].split())
    if left is not None:
        rule = _pairs(ruled.replace("".join(left.split()), ""))
        told, excepted = _pairs(said), _pairs(left)
        if len(told & (rule - excepted)) > len(told & (excepted - rule)):
            return left
    return _dropped_condition(ruled, said)


def _dropped_condition(ruled: str, said: str) -> str | None:
    always = set(_ALWAYS.findall(said)) - set(_ALWAYS.findall(ruled))
    conditions = [found["condition"] for found in _CONDITION.finditer(ruled)] if always else []
    told = _pairs(said)
    return next((one for one in conditions if len(_pairs(one) & told) < _NAMED * len(one)), None)


def _sentences_at(article: str, start: int, end: int) -> tuple[int, int]:
    """Return where the sentences begin and end that [start, end) touches."""
    spans = [span for span in split_sentences(article) if span[0] < end and start < span[1]]
    return (spans[0][0], spans[-1][1]) if spans else (start, end)


def exception_end(text: str, end: int) -> int:
    """Return where the exception ends that follows the words before `end`, `end` without one."""
    following = next((span for span in split_sentences(text) if span[0] >= end), None)
    return following[1] if following and _BEGINS.match(text[slice(*following)].lstrip()) else end


def exceptions_of(article: str) -> tuple[str, ...]:
    """Return the sentences of an article that except something, in order."""
    sentences = (article[start:end] for start, end in split_sentences(article))
    return tuple(" ".join(one.split()) for one in sentences if excepts(one))


def _clause(sentence: str) -> str:
    """Return a sentence from the part on that excepts; all of it where it begins so."""
    found = EXCEPTION.search(sentence)
    start = 0 if found is None else max(sentence.rfind(m, 0, found.start()) + 1 for m in "，；,;")
    return " ".join(sentence[start:].split())


# Share of an item's pairs of characters that a sentence has which speaks of it.
_SPEAKS_OF = 0.6


def misplaced_lead(article: str, said: str) -> tuple[str, str] | None:
    """Return the words that lead to the item that a sentence speaks of, where it says those of
    another paragraph instead: 为假药, and the sentence says 为劣药.

    Args:
        article: whole, with its number.
        said: the sentence.

    Returns:
        The item's own lead and the one that is said; None where nothing is misplaced, or the item
        stands below both.
    """
    clauses = find_clauses(article)
    leads = {
        one.paragraph: article[one.start : one.end].strip() for one in clauses if one.item is None
    }
    told = _pairs(said)
    best: dict[int, float] = {}
    for one in clauses:
        pairs = _pairs(article[one.start : one.end])
        if one.item is not None and pairs:
            best[one.paragraph] = max(best.get(one.paragraph, 0.0), len(pairs & told) / len(pairs))
    ranked = sorted(best, key=lambda paragraph: -best[paragraph])
    if len(ranked) < 2 or best[ranked[0]] < _SPEAKS_OF or best[ranked[0]] == best[ranked[1]]:
        return None
    own = leads[ranked[0]]
    for other in ranked[1:]:
        if told & _only_in(leads[other], own) and not told & _only_in(own, leads[other]):
            return own, leads[other]
    return None


def _only_in(lead: str, other: str) -> set[str]:
    return _pairs(lead) - _pairs(other)


def _pairs(text: str) -> set[str]:
    """Return the pairs of Chinese characters that stand side by side in a text."""
    return {
        pair for run in re.findall(f"[{HAN_RANGES}]+", text) for pair in map("".join, pairwise(run))
    }
