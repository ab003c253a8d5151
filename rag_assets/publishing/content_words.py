"""Content words of a text, in English and Chinese, how many two texts share, and the language."""

import re
import unicodedata
from collections.abc import Iterator
from typing import Literal

from rag_assets.model import HAN_RANGES, count_han

_HAN = rf"{HAN_RANGES}\u3040-\u30ff"
_TOKEN = re.compile(
    rf"(?P<number>\d+(?:[.,]\d+)*%?)|(?P<han>[{_HAN}]+)|(?P<word>(?:(?![{_HAN}\d_])\w)+(?:['’]\w+)?)"
)
# Characters that bind and carry no content; a run of characters ends at them.
_HAN_FUNCTION = re.compile("[的了是在和与及也都就而]+")
# English function words: articles, pronouns, prepositions, conjunctions, auxiliaries. Neither
# `no`, `not`, `more` nor `less` is among them: they change what a sentence says.
_STOP_WORD_LIST = (
    "a about above after again all also am an and any are as at be because been before being "
    "below between both but by can could did do does doing down during each for from further had "
    "has have having he her here hers him his how however i if in into is it its itself just may "
    "me might must my of off on once only or other our out over own same shall she should so "
    "some such than that the their them then there therefore these they this those through thus "
    "to too under until up upon very was we were what when where whether which while who whom "
    "why will with within would you your"
)
_STOP_WORDS = frozenset(_STOP_WORD_LIST.split())
_STEM_CHARACTERS = 5


def content_tokens(text: str) -> Iterator[tuple[str, str]]:
    """Yield (number, han or word; the token) of what is no function word, in order."""
    for match in _TOKEN.finditer(unicodedata.normalize("NFKC", text).casefold()):
        kind, token = match.lastgroup or "", match.group()
        if kind == "number":
            # 1,000 and 1000 are one number; 3,5 stays what it is.
            yield kind, re.sub(r",(?=\d{3}(?!\d))", "", token)
        elif kind == "han":
            yield from ((kind, run) for run in _HAN_FUNCTION.split(token) if run)
        elif token not in _STOP_WORDS:
            yield kind, token


def content_stems(text: str) -> frozenset[str]:
    """Return content words without their endings: "cooler" answers "how cool"."""
    return frozenset(unit[:_STEM_CHARACTERS] for unit in content_units(text))


def content_sequence(text: str) -> list[str]:
    """Return the content units of `text` in their order, each as often as it stands there."""
    units: list[str] = []
    for kind, token in content_tokens(text):
        if kind == "han" and len(token) > 1:
            units.extend(token[i : i + 2] for i in range(len(token) - 1))
        else:
            units.append(token)
    return units


def content_units(text: str) -> frozenset[str]:
    """Return what `text` is about: Latin words without function words, numbers, and for Chinese
    the pairs of neighbouring characters (a single one stands for itself).
    """
    return frozenset(content_sequence(text))


def coverage(claim: str, passage: str) -> float:
    """Return the share, 0 to 1, of the claim's content units that stand in the passage too.

    A claim without content units is covered by nothing: 0.
    """
    wanted = content_units(claim)
    return len(wanted & content_units(passage)) / len(wanted) if wanted else 0.0


Language = Literal["zh", "en", "other"]

KANA_HANGUL = re.compile(r"[\u3041-\u30ff\u1100-\u11ff\uac00-\ud7a3]")
# A text is Chinese from this share of ideographs among its letters; an English paper about China
# has under 2 %, a Chinese text full of formulas and names over 30 %.
_MIN_HAN_SHARE = 0.25
# Enough of a passage to see its script.
_SAMPLE_CHARACTERS = 400


def passage_language(text: str, stated: str | None) -> Language:
    """Return the language of a passage: by its script, then by what its document says.

    Args:
        text: of the passage; its first 400 characters count.
        stated: the document's language code, if it is known.
    """
    sample = text[:_SAMPLE_CHARACTERS]
    if not sample.isascii():
        han = count_han(sample)
        if han and han >= _MIN_HAN_SHARE * sum(map(str.isalpha, sample)):
            return "other" if stated == "ja" or len(KANA_HANGUL.findall(sample)) > han / 4 else "zh"
    # Latin letters in a Chinese document are its English abstract, its references, its tables.
    return "en" if not stated or stated[:2] in {"en", "zh"} else "other"
