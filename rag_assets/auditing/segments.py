"""A quotation cut at what its writer omitted, `[…]`, and put in, `[of his]`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rag_assets.auditing.printed import Letters, read_letters
from rag_assets.model import HAN_RANGES

# Omissions and insertions that a quoting writer may mark.
_OMISSION = re.compile(
    r"[\[(（［【]\s*(?:…+|\.\s?\.\s?\.|⋯+)\s*[\])）］】]|…+|⋯+|\.\s?\.\s?\.(?:\s?\.)?"
)
_INSERTION = re.compile(r"[\[［【](?P<inside>[^\[\]［］【】]{0,200})[\]］】]")
# A mark that points at a reference belongs to the print, not to the words.
REFERENCE_MARK = re.compile(r"[\[(]?\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*[\])]?|[*†‡§¶#]+")
_WORD = re.compile(rf"[{HAN_RANGES}]|[^\W_]+")
# Words from which an insertion is no note of the writer's, and the share of them that the source
# has in brackets of its own where it quotes these.
_LONG = 6
_REPEATED = 0.6
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
        is_bare: whether dots without brackets stand before it, which may be the source's own.
        opens: whether it may begin, `closes` end, inside a word: `increase[s]`.
    """

    letters: Letters
    text: str
    reach: int | None
    inside: str
    is_bare: bool
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
            if not _OMISSION.fullmatch(m.group()) and not _is_printed(m, source)
        ]
    )
    position, prefix, reach, before, opens, is_bare = 0, "", None, "", False, False
    for start, end, allowed, inside in marks:
        if start < position:
            continue
        touches = quotation[end : end + 1].isalpha() and allowed != _OMITTED
        # [T]he is The: one letter in brackets is a letter whose case was changed.
        is_letter = touches and len(inside) == 1 and inside.isalpha()
        closes = quotation[start - 1 : start].isalpha() and allowed != _OMITTED and not is_letter
        text = prefix + quotation[position:start]
        yield Segment(read_letters(text), text, reach, before, is_bare, opens, closes)
        prefix = inside if is_letter else ""
        before = "" if is_letter else inside
        position, reach, opens = end, allowed, touches and not is_letter
        is_bare = quotation[start] in ".…⋯"
    text = prefix + quotation[position:]
    yield Segment(read_letters(text), text, reach, before, is_bare, opens, closes=False)


def _is_printed(insertion: re.Match[str], source: str) -> bool:
    """Say whether the source prints these brackets itself, perhaps in somewhat other words."""
    if insertion.group() in source:
        return True
    words = bare_words(insertion["inside"])
    mine = set(words)
    return len(words) >= _LONG and any(
        len(mine.intersection(bare_words(own["inside"]))) >= _REPEATED * len(mine)
        for own in _INSERTION.finditer(source)
    )


def bare_words(text: str) -> list[str]:
    """Return the words of a text, Chinese ones as characters, without case and punctuation."""
    return [word.casefold() for word in _WORD.findall(text)]


def _reach(inside: str) -> int:
    """Return how many letters of the source an insertion may stand for."""
    is_mark = REFERENCE_MARK.fullmatch(inside.strip())
    return len(inside) + _MARK_LETTERS if is_mark else REPLACED_LETTERS
