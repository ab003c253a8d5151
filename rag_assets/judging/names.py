"""Names in a text: what is written with capitals, with digits inside, or as Chinese names are."""

import re
from dataclasses import dataclass
from functools import lru_cache

from rag_assets.evidence.wording import content_units
from rag_assets.judging.folding import fold
from rag_assets.judging.lexicon import read_words
from rag_assets.judging.quantities import read_quantities
from rag_assets.judging.statement import NAMES, OTHERS
from rag_assets.judging.term_weights import stem, term_weight

_KEPT_TEXTS = 20_000
_LETTERS = "A-Za-zÀ-ɏΑ-ω"
_LATIN = re.compile(rf"[{_LETTERS}][{_LETTERS}0-9'’]*(?:[-–/][{_LETTERS}0-9]+)*")
# Who found something is not named where it is found.
_AUTHORS = re.compile(rf"(?:[A-Z][\w'’-]+\s)?{NAMES}{OTHERS}")
_MOST_ABBREVIATED = 8  # words
_SENTENCE_END = re.compile(r"[.!?。！？:：;；“\"(\[]\s*$")
# “In” is part of a name in “Made In Oslo” alone; elsewhere it began a sentence.
_NAME_BEFORE = re.compile(rf"[A-ZÀ-Þ][{_LETTERS}]*\s$")
# At the beginning of a sentence a capital says nothing; there only rare words count as names.
_RARE = 0.8
_HAN = r"[\u4e00-\u9fff]"
# What ends the name of a place or body, what stands before or behind a person, and foreign names.
_HAN_BODIES = (
    "省|市|县|自治区|大学|学院|医院|公司|银行|集团|协会|研究院|研究所|委员会|机场|博物馆|俱乐部"
)
_HAN_TITLES = "记者|教授|主席|总统|总理|部长|局长|主任|书记|市长|院长|导演|先生"
_HAN_PLACE = re.compile(rf"({_HAN}{{2,6}}?)({_HAN_BODIES})")
_HAN_PERSON = re.compile(rf"(?:{_HAN_TITLES})({_HAN}{{2,3}}?)(?=[说表在介指认、，）]|对)")
_HAN_FOREIGN = re.compile(rf"{_HAN}{{2,6}}(?:·{_HAN}{{1,6}})+")
_HAN_QUOTED = re.compile(r"[“「《『]([^”」》』]{2,20})[”」》』]")


@dataclass(frozen=True, slots=True)
class Name:
    """A name as it stands.

    Args:
        key: what is compared: in lower case, without a plural's or genitive's ending.
        is_sure: neither merely a word at the beginning of a sentence, nor the abbreviation of the
            words before it, “(HSCT)”.
    """

    text: str
    key: str
    start: int
    end: int
    is_sure: bool


@lru_cache(maxsize=1)
def _han_countries() -> re.Pattern[str]:
    places = sorted(read_words()["places_zh"].split(), key=lambda place: (-len(place), place))
    return re.compile("|".join(places))


@lru_cache(maxsize=_KEPT_TEXTS)
def read_names(text: str) -> tuple[Name, ...]:
    """Return the names of a text, each word of a name by itself."""
    found = list(_latin_names(text))
    taken: set[int] = set()
    patterns = (
        (_HAN_FOREIGN, 0), (_han_countries(), 0), (_HAN_PERSON, 1), (_HAN_PLACE, 0),
        (_HAN_QUOTED, 1),
    )  # fmt: skip
    for pattern, group in patterns:
        for match in pattern.finditer(text):
            start, end = match.span(group)
            if not taken.intersection(range(start, end)):
                taken.update(range(start, end))
                found.append(Name(text[start:end], fold(text[start:end]), start, end, True))
    return tuple(sorted(found, key=lambda name: name.start))


def _latin_names(text: str) -> list[Name]:
    found = []
    # US$, °C, USD 5 million: parts of an amount.
    passed = [match.span() for match in _AUTHORS.finditer(text)]
    passed += [(amount.start, amount.end) for amount in read_quantities(text)]
    words = [
        word
        for word in _LATIN.finditer(text)
        if not any(start <= word.start() < end for start, end in passed)
    ]
    capitals = sum(1 for word in words if word.group()[0].isupper() and len(word.group()) > 1)
    # In a headline every word has a capital, which then says nothing.
    is_headline = len(words) > 4 and capitals > 0.7 * len(words)
    for match in words:
        word = match.group()
        key = name_key(word)
        if not key or (len(key) == 1 and not word.isupper()) or key == "i":
            continue
        inner = any(c.isupper() for c in word[1:]) or any(c.isdigit() for c in word)
        starts = match.start() == 0 or bool(_SENTENCE_END.search(text[: match.start()]))
        is_small = len(word) > 1 and not content_units(key)
        if is_small and not _NAME_BEFORE.search(text[: match.start()]):
            starts = True
        if inner or (word[0].isupper() and not starts and not is_headline):
            # Single letters and months are no names that anyone would miss.
            is_sure = len(key) > 1 and not _is_introduced(text, match)
            found.append(Name(word, key, match.start(), match.end(), is_sure))
        elif word[0].isupper() and content_units(key) and term_weight(stem(key)) >= _RARE:
            found.append(Name(word, key, match.start(), match.end(), False))
    return found


def _is_introduced(text: str, match: re.Match[str]) -> bool:
    """Say whether a name is an abbreviation in parentheses behind what it stands for."""
    start, end = match.span()
    if text[start - 1 : start] != "(" or text[end : end + 1] != ")":
        return False
    before = text[: start - 1].split()[-_MOST_ABBREVIATED:]
    return any(word[0].lower() == match.group()[0].lower() for word in before)


def name_key(word: str) -> str:
    """Return a name as it is compared."""
    folded = fold(word).replace("’", "'")
    return re.sub(r"'s?$", "", folded)
