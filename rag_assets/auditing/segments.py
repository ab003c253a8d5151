"""A quotation cut at what its writer omitted, `[…]`, and put in, `[of his]`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rag_assets.auditing.printed import Letters, read_letters

# Omissions and insertions that a quoting writer may mark.
_OMISSION = re.compile(
    r"[\[(（［【]\s*(?:…+|\.\s?\.\s?\.|⋯+)\s*[\])）］】]|…+|⋯+|\.\s?\.\s?\.(?:\s?\.)?"
)
_INSERTION = re.compile(r"[\[［【](?P<inside>[^\[\]［］【】]{0,200})[\]］】]")
# A mark that points at a reference belongs to the print, not to the words.
REFERENCE_MARK = re.compile(r"[\[(]?\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*[\])]?|[*†‡§¶#]+")
# Letters that an omission may leave out: about a page; an insertion replaces a few words.
_OMITTED = 1_500
REPLACED_LETTERS = 60
_MARK_LETTERS = 6


@dataclass(frozen=True, slots=True)
class Segment:
    """Part of a quotation between two marked omissions.

    Args:
        reach: letters that may lie between it and the one before; None for the first.
        inside: what the writer put in before it; empty for an omission.
        opens: whether it may begin, `closes` end, inside a word: `increase[s]`.
    """

    letters: Letters
    text: str
    reach: int | None
    inside: str
    opens: bool
    closes: bool


def cut_segments(quotation: str, source: str) -> Iterator[Segment]:
    """Yield the parts of a quotation between what was omitted or put in.

    Args:
        quotation: without its marks.
        source: what the document prints; brackets of its own are part of its words.
    """
    marks = sorted(
        [(m.start(), m.end(), _OMITTED, "") for m in _OMISSION.finditer(quotation)]
        + [
            (m.start(), m.end(), _reach(m["inside"]), m["inside"])
            for m in _INSERTION.finditer(quotation)
            # What the source prints in brackets itself is quoted, not put in.
            if not _OMISSION.fullmatch(m.group()) and m.group() not in source
        ]
    )
    position, prefix, reach, before, opens = 0, "", None, "", False
    for start, end, allowed, inside in marks:
        if start < position:
            continue
        touches = quotation[end : end + 1].isalpha() and allowed != _OMITTED
        # [T]he is The: one letter in brackets is a letter whose case was changed.
        is_letter = touches and len(inside) == 1 and inside.isalpha()
        closes = quotation[start - 1 : start].isalpha() and allowed != _OMITTED and not is_letter
        text = prefix + quotation[position:start]
        yield Segment(read_letters(text), text, reach, before, opens, closes)
        prefix = inside if is_letter else ""
        before = "" if is_letter else inside
        position, reach, opens = end, allowed, touches and not is_letter
    text = prefix + quotation[position:]
    yield Segment(read_letters(text), text, reach, before, opens, closes=False)


def _reach(inside: str) -> int:
    """Return how many letters of the source an insertion may stand for."""
    is_mark = REFERENCE_MARK.fullmatch(inside.strip())
    return len(inside) + _MARK_LETTERS if is_mark else REPLACED_LETTERS
