"""When two titles are the same, and which headings of two lists are one another."""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from rag_assets.model import CJK_RANGES

# A number is stripped only where a title stands behind it; a bare letter or Roman numeral needs
# its stop or bracket, so that "A method" and "I know" keep their first word.
_NUMBER = re.compile(
    rf"""\A\s*(?:
      (?:chapter|section|part|appendix|annex|chapitre|annexe|cap[ií]tulo|глава)
          \s+(?:\d+|[ivxlc]+|[a-z])(?:\.\d+)*\b\s*[.:\-–—]?\s+
    | 第[0-9〇零一二三四五六七八九十百]+[章节節部分篇]\s*
    | [(（]?[〇零一二三四五六七八九十]+\s*[)）、.．]\s*
    | [(（]?\d{{1,3}}(?:\s?[.．]\s?\d{{1,3}})*\s?
          (?:[.．、:)）]\s*(?!\d)|\s+|(?=[{CJK_RANGES}]))
    | \(?[a-z](?:\.\d{{1,3}})+\.?\s+
    | \(?(?:[ivxlc]+|[a-z])[.)]\s+
    )(?=\S)""",
    re.VERBOSE | re.IGNORECASE,
)
_NO_WORD = re.compile(r"[\W_]+")
_BLANK_IN_CJK = re.compile(rf"(?<=[{CJK_RANGES}]) (?=[{CJK_RANGES}])")
_TOKEN = re.compile(rf"[{CJK_RANGES}]|[^\W_{CJK_RANGES}]+")


def normalise_title(title: str) -> str:
    """Return what is compared of a heading: NFKC, case folded, without its numbering.

    A run of punctuation and white space counts as one blank, between CJK characters as none.
    A title that is nothing but a number stays.
    """
    return fold_text(_NUMBER.sub("", unicodedata.normalize("NFKC", title), count=1)) or fold_text(
        title
    )


def fold_text(text: str) -> str:
    """Return `text` in NFKC, case folded, its punctuation and white space as single blanks."""
    folded = _NO_WORD.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()
    return _BLANK_IN_CJK.sub("", folded)


def match_in_order(expected: Sequence[str], found: Sequence[str]) -> list[tuple[int, int]]:
    """Return the pairs (index in `expected`, index in `found`) of a longest common subsequence.

    Order counts: what is found before its predecessor is matched only once.
    """
    lengths = [[0] * (len(found) + 1) for _ in range(len(expected) + 1)]
    for i in range(len(expected) - 1, -1, -1):
        for j in range(len(found) - 1, -1, -1):
            if expected[i] == found[j]:
                lengths[i][j] = lengths[i + 1][j + 1] + 1
            else:
                lengths[i][j] = max(lengths[i + 1][j], lengths[i][j + 1])
    pairs = []
    i = j = 0
    while i < len(expected) and j < len(found):
        if expected[i] == found[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif lengths[i + 1][j] >= lengths[i][j + 1]:
            i += 1
        else:
            j += 1
    return pairs


def token_f1(expected: str, found: str) -> float:
    """Return F1 over the bags of words, each CJK character a word; 1 where both are empty."""
    wanted, got = (
        Counter(_TOKEN.findall(unicodedata.normalize("NFKC", text).casefold()))
        for text in (expected, found)
    )
    common = (wanted & got).total()
    return f1(common, got.total(), wanted.total())


def f1(common: int, found: int, expected: int) -> float:
    """Return the harmonic mean of common ÷ found and common ÷ expected; 1 of nothing at all."""
    return 2 * common / (found + expected) if found + expected else 1.0
