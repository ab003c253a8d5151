"""Lines of scripts that are written from right to left, in the order in which they are read."""

import re
from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import Any

# Hebrew, Arabic and their neighbours with their presentation forms.
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc]")
_LETTER = re.compile(r"[^\W\d_]")
# Latin words with what stands between them, or one number: read from left to right.
_LEFT_TO_RIGHT = re.compile(
    r"(?:\d[\d.,]*[\s/-])?[^\W\d_](?:[\w\s&.,;:/'’+=<>–-]*\w)?[,;:.%]?|\d+(?:[.,:/–-]\d+)*%?"
)
_MIRRORED = str.maketrans("()[]{}«»", ")(][}{»«")
# A bracket that closes before a word, as files have it that store the shape and not the sign.
_TURNED_BRACKET = re.compile(r"(?:^|\s)[)\]]\w")


def in_logical_order(spans: Sequence[dict[str, Any]]) -> Sequence[dict[str, Any]]:
    """Return the spans of a line in the order in which a reader reads them.

    Browsers and others write the words of such a line as they stand, from left to right, each
    word from its first letter on. Lines whose words go to the left already are left alone.
    """
    text = "".join([span["text"] for span in spans])
    if text.isascii() or _RIGHT_TO_LEFT.search(text) is None:
        return spans
    letters = len(_RIGHT_TO_LEFT.findall(text))
    if 2 * letters <= len(_LETTER.findall(text)):
        return spans
    runs = [
        (is_word, list(run))
        for is_word, run in groupby(
            spans, key=lambda span: _RIGHT_TO_LEFT.search(span["text"]) is not None
        )
    ]
    starts = [min(span["bbox"][0] for span in run) for is_word, run in runs if is_word]
    to_the_right = sum(after > before for before, after in pairwise(starts))
    if 2 * to_the_right <= len(starts) - 1:
        return spans
    parts = []
    for is_word, run in reversed(runs):
        part = "".join([span["text"] for span in run])
        parts.append(part if is_word else _reversed(part))
    ordered = "".join(parts)
    if _TURNED_BRACKET.search(ordered):
        ordered = ordered.translate(_MIRRORED)
    main = max((span for _, run in runs for span in run), key=lambda span: len(span["text"]))
    return [main | {"text": ordered}]


def _reversed(text: str) -> str:
    """Return what stands between two words in reverse, Latin words and numbers kept as they are."""
    pieces, end = [], 0
    for found in _LEFT_TO_RIGHT.finditer(text):
        pieces += [*text[end : found.start()], found[0]]
        end = found.end()
    return "".join(reversed([*pieces, *text[end:]]))
