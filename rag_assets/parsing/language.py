"""A cheap guess of a document's language, for display and for the choice of rules."""

import re
from collections import Counter

# Enough to see the language of a document; more characters change no answer.
_SAMPLE_CHARACTERS = 20_000
# Running Chinese prose has over 90 % ideographs, English papers with Chinese names under 2 %.
_MIN_CJK_SHARE = 0.25
_MIN_KANA_SHARE = 0.05
# A text in another script holds English names, formulas and references too.
_MIN_SCRIPT_SHARE = 0.4
# Prose has some 30 to 40 % of its language's words below, reference lists some 10 %, text in
# other languages 3 to 8 % (Romance languages share `de`, `la`, `que`).
_MIN_STOP_WORD_SHARE = 0.12
_MIN_WORDS = 20

# The commonest letters of languages in Latin script are half of their letters or more; in a text
# whose letters stand for others they are a third.
_COMMON_LETTERS = frozenset("etaoinsr")
_MIN_COMMON_SHARE = 0.35
_MIN_LETTERS = 200
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"

_IDEOGRAPH = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff]")
_KANA = re.compile(r"[\u3041-\u30ff]")
_WORD = re.compile(r"[^\W\d_]+")
_SCRIPTS = (
    ("ko", re.compile(r"[\u1100-\u11ff\uac00-\ud7a3]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
    ("ar", re.compile(r"[\u0620-\u06ff\ufb50-\ufefc]")),
    ("he", re.compile(r"[\u05d0-\u05ea]")),
    ("el", re.compile(r"[\u0370-\u03ff]")),
)
_UKRAINIAN = re.compile(r"[іїєґ]", re.IGNORECASE)
# Ukrainian prose has some 8 % of the letters that Russian lacks.
_MIN_UKRAINIAN_SHARE = 0.02
_STOP_WORDS = {
    language: frozenset(words.split())
    for language, words in {
        "en": "a an and are as at be been but by can for from has have in is it its may not of on "
        "or our such than that the their these they this to was we were which will with",
        "fr": "à au aux avec ce ces cette d dans de des du elle en est et il ils l la le les leur "
        "mais ne nous ou où par pas plus pour qu que qui sa se ses son sont sur un une être",
        "de": "als am auch auf aus bei das dass dem den der des die durch ein eine einem einen "
        "einer es für hat im in ist mit nach nicht oder sich sie sind über um und von vor war "
        "werden wie wird zu zum zur",
        "es": "al como con cual de del el ella en entre es esta este están fue ha la las lo los "
        "más muy no o para pero por que se según ser sin sobre son su sus también un una y",
        "pt": "a ao aos as com como da das de do dos e em entre é este esta foi mais mas na "
        "nas não "
        "no nos o os ou para pela pelo por que se sem ser seu são sua um uma à",
        "it": "al alla anche che come con da dal dalla dei del della delle di e è gli i il in "
        "la le "
        "lo ma nei nel nella non o per più questo sono stato su tra un una",
        "nl": "aan als bij dat de deze die dit door een en er het hij in is maar met na naar niet "
        "of om onder ook op over te tot uit van voor was wat worden wordt zijn",
    }.items()
}


def guess_language(text: str) -> str | None:
    """Return the language of a text by its script and its commonest words.

    Args:
        text: prose; its first 20,000 characters count.

    Returns:
        An ISO 639-1 code (zh, ja, ko, ru, uk, ar, he, el, en, fr, de, es, pt, it, nl), None where
        none of them is plain.
    """
    sample = text[:_SAMPLE_CHARACTERS]
    letters = sum(map(str.isalpha, sample))
    if letters == 0:
        return None
    kana = len(_KANA.findall(sample))
    if len(_IDEOGRAPH.findall(sample)) + kana >= _MIN_CJK_SHARE * letters:
        return "ja" if kana >= _MIN_KANA_SHARE * letters else "zh"
    for language, script in _SCRIPTS:
        if not sample.isascii() and len(script.findall(sample)) >= _MIN_SCRIPT_SHARE * letters:
            if language == "ru" and len(_UKRAINIAN.findall(sample)) >= (
                _MIN_UKRAINIAN_SHARE * letters
            ):
                return "uk"
            return language
    counts = Counter(_WORD.findall(sample.lower()))
    total = counts.total()
    if total < _MIN_WORDS:
        return None
    shares = {
        language: sum(counts[word] for word in words) / total
        for language, words in _STOP_WORDS.items()
    }
    best = max(shares, key=lambda language: shares[language])
    return best if shares[best] >= _MIN_STOP_WORD_SHARE else None


def is_garbled(text: str) -> bool:
    """Tell whether the letters of a text stand for others, as in a font with a wrong code table.

    That is a text of no known language whose letters have other frequencies than any, or that is
    one of a known language when it is read backwards or with each letter moved by as many places.
    """
    sample = text[:_SAMPLE_CHARACTERS].lower()
    letters = [letter for letter in sample if letter in _ALPHABET]
    # Other scripts have no such frequencies.
    if len(letters) < max(_MIN_LETTERS, sum(map(str.isalpha, sample)) / 2) or guess_language(text):
        return False
    common = sum(letter in _COMMON_LETTERS for letter in letters)
    if common < _MIN_COMMON_SHARE * len(letters) or guess_language(sample[::-1]):
        return True
    return any(
        guess_language(sample.translate(str.maketrans(_ALPHABET, _ALPHABET[by:] + _ALPHABET[:by])))
        for by in range(1, len(_ALPHABET))
    )
