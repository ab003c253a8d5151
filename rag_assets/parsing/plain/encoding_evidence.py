"""What bytes and characters say about an encoding, without a model of any language."""

import re
import unicodedata
from functools import cache

from rag_assets.model import HAN_RANGES

# No encoding of text has so many NULs in a row.
_PADDING = re.compile(rb"\x00{16,}")
_SAMPLE_CHARACTERS = 20_000
_MIN_WIDE_CHARACTERS = 4
_MIN_NUL_SHARE_OF_ASCII = 0.25
_CONTROLS = bytes([*range(9), 11, *range(14, 32), 127])
_MAX_CONTROL_SHARE = 0.02
# Prose has no unassigned or private characters; a few may stand for ornaments.
_MIN_EVERYDAY_SHARE = 0.95

# Blocks that hold the world's running text: alphabets of everyday use, punctuation, CJK, kana,
# hangul, full-width forms; pairs of surrogates decode to planes above and are let through.
_EVERYDAY = re.compile(
    r"[\t\n\r\x20-\x7e\xa0-\u024f\u0300-\u06ff\u0900-\u0eff\u10a0-\u11ff\u1e00-\u20cf\u2100-\u22ff"
    rf"\u2500-\u26ff\u3000-\u33ff{HAN_RANGES}\uac00-\ud7a3\uff00-\uffef"
    r"\ufeff\U00010000-\U0003ffff]"
)
# Characters that every text has, and what they look like with their bytes exchanged.
_COMMON = re.compile(r"[\t\n\r \u3000-\u3002\uff0c]")
_EXCHANGED = re.compile(r"[\u0900\u0a00\u0d00\u2000\u0030\u0130\u0230\u0cff]")


def without_padding(data: bytes) -> tuple[bytes, int]:
    """Return (data without long runs of NUL bytes, how many were left out).

    A disk that lost power or a program that wrote in blocks leaves them. Where NULs stand outside
    such runs too, they may belong to UTF-16 or to a binary format, and nothing is left out.
    """
    if _PADDING.search(data) is None:
        return data, 0
    text = _PADDING.sub(b"", data)
    return (data, 0) if not text or b"\x00" in text else (text, len(data) - len(text))


def wide_encoding_of(data: bytes) -> str | None:
    """Return `utf-32-le`, `utf-32-be`, `utf-16-le` or `utf-16-be` of a text without a mark.

    UTF-32 shows by itself: the eleven high bits of every unit are zero. UTF-16 must decode into
    everyday characters, with more blanks and line ends than the other byte order gives, and hold
    a NUL (the other half of an ASCII character), without which it cannot be told from ASCII.

    Args:
        data: the whole file, or a part of it whose length is a multiple of 4.
    """
    nuls = data.count(b"\x00")
    if nuls == 0 or _is_ascii_with_nuls(data, nuls):
        return None
    for encoding in ("utf-32-le", "utf-32-be"):
        if _everyday_share(data, encoding) >= _MIN_EVERYDAY_SHARE:
            return encoding
    shares = {name: _everyday_share(data, name) for name in ("utf-16-le", "utf-16-be")}
    fit = [name for name, share in shares.items() if share >= _MIN_EVERYDAY_SHARE]
    return max(fit, key=lambda name: (_order_evidence(data, name), shares[name]), default=None)


def _is_ascii_with_nuls(data: bytes, nuls: int) -> bool:
    """Tell whether data are ASCII with a stray NUL, which would decode into rare ideographs.

    ASCII in UTF-16 is half NULs; alphabets in UTF-16 are full of what ASCII uses for controls.
    """
    if not data.isascii() or nuls >= _MIN_NUL_SHARE_OF_ASCII * len(data):
        return False
    return len(data.translate(None, _CONTROLS)) >= (1 - _MAX_CONTROL_SHARE) * (len(data) - nuls)


def _everyday_share(data: bytes, encoding: str) -> float:
    width = 4 if encoding.startswith("utf-32") else 2
    if len(data) % width or len(data) < width * _MIN_WIDE_CHARACTERS:
        return 0.0
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return 0.0
    sample = text[:_SAMPLE_CHARACTERS]
    return len(_EVERYDAY.findall(sample)) / len(sample)


def _order_evidence(data: bytes, encoding: str) -> int:
    sample = data[: 2 * _SAMPLE_CHARACTERS].decode(encoding, "ignore")
    return len(_COMMON.findall(sample)) - len(_EXCHANGED.findall(sample))


def coherence_of(text: str) -> float:
    """Return how far the characters beyond ASCII read as writing, 0 to 1.

    The share of them that are letters, marks or punctuation in a place where those stand: no sign
    between two letters, no capital behind a small letter, no letter of another script beside one.
    Bytes read in a wrong encoding give signs, boxes and words of mixed scripts.

    Args:
        text: 1.0 where it is ASCII.
    """
    special = good = 0
    sample = text[:_SAMPLE_CHARACTERS]
    around = zip(" " + sample, sample, sample[1:] + " ", strict=False)
    for before, character, after in around:
        if character >= "\x80":
            special += 1
            good += _is_writing(character) and not _clashes(before, character, after)
    return good / special if special else 1.0


# Signs that stand in notes, tables and reports of every field.
_SIGNS = frozenset("°·§©®²³¹±×÷µ¼½¾¶™†‡←→≤≥≠≈−√∞")


def _is_writing(character: str) -> bool:
    category = unicodedata.category(character)
    return category[0] in "LMPZ" or category in {"Nd", "Sc"} or character in _SIGNS


def _clashes(before: str, character: str, after: str) -> bool:
    category = unicodedata.category(character)[0]
    if category == "M":
        return False
    if category != "L":
        between = before.isalpha() and after.isalpha()
        return between and character not in _INSIDE_WORDS and not _is_east_asian(before)
    if before.islower() and character.isupper():
        return True
    own = _script_of(character)
    beside = {_script_of(before), _script_of(after)} - {"", own}
    return bool(own and beside) and not beside | {own} <= _EAST_ASIAN


def _is_east_asian(character: str) -> bool:
    return _script_of(character) in _EAST_ASIAN - {"LATIN"}


# Apostrophes, hyphens and dots that join the parts of one word; marks belong to their letter.
_INSIDE_WORDS = frozenset(
    "\u2019\u02bc\u2010\u2011\u00b7\u00ad\u05be\u05f3\u05f4\u200c\u200d\u2013\u2014\u2026"
)
# Japanese and Korean mix their scripts in one word, and set Latin letters beside them.
_EAST_ASIAN = frozenset({"CJK", "HIRAGANA", "KATAKANA", "HANGUL", "FULLWIDTH", "LATIN", "BOPOMOFO"})


@cache
def _script_of(character: str) -> str:
    """Return the first word of a letter's Unicode name, "" for all else."""
    if not character.isalpha():
        return ""
    return unicodedata.name(character, "").split(" ")[0].removesuffix("-")
