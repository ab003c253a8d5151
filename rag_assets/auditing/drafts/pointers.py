"""What stands around a citation and says only where to look is taken out of its sentence."""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from rag_assets.auditing.drafts.hints import PAGES
from rag_assets.auditing.drafts.marks import PLACEHOLDER, PlainText
from rag_assets.auditing.drafts.pointing import (
    CITED,
    EDITORS_NOTE,
    find_place,
    is_attribution,
    only_points,
    read_places,
)

_BRACKETED = re.compile(
    r"[(（](?:[^()（）\n]|[(（][^()（）\n]{0,200}[)）]){0,600}[)）]"
    r"|[\[［〔【][^\[\]［］〔〕【】]{0,600}[\]］〕】]"
)
_NOTE = re.compile(
    r"\^\[(?:[^\[\]]|\[[^\[\]]{0,400}\]){0,1000}\]"
    r"|\\(?:foot|end|side)note(?:\[\d{1,4}\])?\{[^{}]{0,1000}\}"
)
_NOTE_MARKS = re.compile(r"\\\w+(?:\[\d+\])?")
_BEHIND = re.compile(
    rf"\s*[,，:：]?\s*(?P<place>{PAGES})(?=\s*(?:[.,;:!?)\]。，；！？）、]|$|[{CITED}{PLACEHOLDER}]))",
    re.IGNORECASE,
)
_SEPARATOR = re.compile(r"\s*[,;，；、]\s*")
_DASH = re.compile(
    r"(?:(?<=\s)|(?<=[.!?。！？”\"’」』»]))(?:[—–―]{1,3}|-{1,3})(?=\s|[^\W\d_a-z]|$)"
)
_SPOKEN = re.compile(r"[.!?。！？…”\"’'」』»)\]）]\s*$")
_TRAILING = re.compile(
    r"(?:(?<=\s)|(?<=[。！？”」』.]))?[(（](?P<inside>[^()（）]{1,300})[)）]\s*[.。]?\s*$"
)


def take_pointers(plain: PlainText, *, is_quotation: bool) -> None:
    """Take notes, brackets, attributions and pages that only point out of a text.

    The places that they name go to their citations, in `plain.hints`.

    Args:
        is_quotation: the text is quoted as a whole; references at its end are not.
    """
    _delete(plain, [match.span() for match in EDITORS_NOTE.finditer(plain.text)])
    if not plain.anchors and not is_quotation:
        return
    for pattern in (_NOTE, _BRACKETED):
        _delete(plain, list(_pointing(plain, pattern)))
    _delete(plain, list(_pages_before(plain)))
    _delete(plain, list(_places_behind(plain)))
    _delete(plain, list(_separators(plain)))
    tail = _attribution(plain, is_quotation=is_quotation)
    if tail is not None:
        _delete(plain, [tail])


def mark_citations(text: str, positions: Iterable[int]) -> str:
    """Return a text with `CITED` at the positions of its citations, ascending."""
    pieces, at = [], 0
    for position in positions:
        pieces += [text[at:position].removesuffix(PLACEHOLDER), CITED]
        at = position
    return "".join([*pieces, text[at:]])


def _inside(plain: PlainText, start: int, end: int) -> tuple[str, list[int]]:
    """Return a span with `CITED` at its citations, and where these stand in the marked text."""
    held = [anchor for anchor in plain.anchors if start < anchor[0] <= end]
    positions = [position - start for position, *_ in held]
    return mark_citations(plain.text[start:end], positions), [first for _, first, _ in held]


def _note_places(plain: PlainText, text: str, starts: Iterable[int]) -> None:
    for start, hint in zip(starts, read_places(text), strict=True):
        if hint is not None:
            plain.hints.setdefault(start, hint)


def _pointing(plain: PlainText, pattern: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    for match in pattern.finditer(plain.text):
        # An anchor at the closing bracket stands inside, one behind it does not.
        text, starts = _inside(plain, match.start(), match.end() - 1)
        if starts and only_points(_NOTE_MARKS.sub(" ", text)):
            _note_places(plain, text, starts)
            yield match.span()


def _pages_before(plain: PlainText) -> Iterator[tuple[int, int]]:
    """Yield the brackets before a citation that name its page: “(Smith 2006: 12) {#smith}”."""
    by_position = {position: start for position, start, _ in reversed(plain.anchors)}
    for match in _BRACKETED.finditer(plain.text):
        start = by_position.get(match.end())
        if start is None or start in plain.hints:
            continue
        inside = match.group()[1:-1]
        hint = find_place(inside, first=False)
        if hint is not None and hint.pages and only_points(inside, bare=False):
            plain.hints[start] = hint
            yield match.span()


def _places_behind(plain: PlainText) -> Iterator[tuple[int, int]]:
    for position, start, _ in plain.anchors:
        text, _ = _inside(plain, position, len(plain.text))
        match = _BEHIND.match(text)
        if match is None or any(p == position and s > start for p, s, _ in plain.anchors):
            continue
        hint = find_place(match["place"], first=True)
        if hint is not None and start not in plain.hints:
            plain.hints[start] = hint
            yield position, position + match.end()


def _separators(plain: PlainText) -> Iterator[tuple[int, int]]:
    places = sorted({position for position, *_ in plain.anchors})
    for before, after in pairwise(places):
        if _SEPARATOR.fullmatch(plain.text, before, after):
            yield before, after


def _attribution(plain: PlainText, *, is_quotation: bool) -> tuple[int, int] | None:
    """Return the span of the words at the end that say whose words stand before them."""
    text = plain.text
    for match in _DASH.finditer(text):
        tail, starts = _inside(plain, match.start(), len(text))
        before = text[: match.start()]
        is_behind = is_quotation or (_SPOKEN.search(before) and starts)
        if before.strip() and is_behind and is_attribution(tail):
            _note_places(plain, tail, starts)
            return match.start(), len(text)
    trailing = _TRAILING.search(text) if is_quotation else None
    if trailing is not None and text[: trailing.start()].strip():
        inside = trailing["inside"]
        if only_points(inside):
            hint = find_place(inside, first=False)
            if hint is not None and len(plain.anchors) == 1:
                plain.hints.setdefault(plain.anchors[0][1], hint)
            return trailing.start(), trailing.end("inside") + 1
    return None


def _delete(plain: PlainText, spans: list[tuple[int, int]]) -> None:
    """Take characters out, and the blanks before them; what stood there stands at their place."""
    text = plain.text
    gone = bytearray(len(text))
    for start, end in spans:
        first = start
        while first and text[first - 1].isspace():
            first -= 1
        after = text[end : end + 1]
        keeps_blank = first < start and after.isalnum() and after.isascii()
        first += keeps_blank
        gone[first:end] = b"\1" * (end - first)
    if not any(gone):
        return
    kept_before = [0]
    for flag in gone:
        kept_before.append(kept_before[-1] + 1 - flag)
    plain.characters = [c for c, flag in zip(plain.characters, gone, strict=True) if not flag]
    plain.sources = [s for s, flag in zip(plain.sources, gone, strict=True) if not flag]
    # A mark may stand behind blanks that were cut off at the end.
    last = len(gone)
    plain.anchors = [(kept_before[min(p, last)], start, end) for p, start, end in plain.anchors]
    plain.footnotes = [(kept_before[min(p, last)], label) for p, label in plain.footnotes]
