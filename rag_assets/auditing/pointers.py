"""What only says where to look is taken out of a sentence."""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from rag_assets.auditing.citation_forms import PAGES, PLACE, LocatorHint, read_hint
from rag_assets.auditing.prose import PLACEHOLDER, PlainText
from rag_assets.model import HAN_RANGES

# Words that only say where to look: “see”, “Chang et al., 2006”, “p. 3”, “for details”.

# Stands for a citation while its surroundings are read.
CITED = "\ue001"
_NAME = r"(?:(?:van|von|de|der|den|del|della|di|da|le|la)\s+){0,3}[A-Z\u00c0-\u00de][\w'’\-]*\.?"
_NAMES = rf"{_NAME}(?:(?:,\s+and|,\s*&|,|\s+and|\s*&)?\s+{_NAME}){{0,8}}"
_OTHERS = r"(?:,?\s+et\s+al\b\.?|,?\s+and\s+(?:others|colleagues)\b)"
_YEAR = r"[(（]?\b(?:1[5-9]\d\d|20\d\d)[a-z]?\b[)）]?|\bn\.d\.|\b(?:forthcoming|in press)\b"
_QUOTED = r"(?:“[^“”]{1,200}”|\"[^\"]{1,200}\"|‘[^‘’]{1,200}’|《[^》]{1,60}》)"
# In a title the words that count are written large.
_TITLE = (
    r"[A-Z\u00c0-\u00de][\w'’\-]*:?(?:\s+(?:[A-Z\u00c0-\u00de][\w'’\-]*|of|the|a|an|and|in|on|for|"
    r"to|with|from|at|by|as|or):?){0,20}"
)
_REFERENCES = (
    re.compile(rf"{_NAMES}{_OTHERS}?,?\s+(?:{_QUOTED}|{_TITLE})?[,.]?\s*(?:{_YEAR})"),
    re.compile(rf"{_NAMES}{_OTHERS}(?:,\s+(?:{_QUOTED}|{_TITLE}))?"),
    re.compile(rf"{_NAMES},\s+{_QUOTED}"),
    re.compile(
        rf"[{HAN_RANGES}·]{{2,12}}(?:等人?)?[,，]?\s*(?:[(（]\s*)?(?:1[5-9]|20)\d\d年?[)）]?"
    ),
    re.compile(rf"(?:{_YEAR})|《[^》]{{1,60}}》"),
)
_TOPIC = r"(?:overview|review|details?|discussion|survey|summary|introduction|account|example|"
_TOPIC += r"instance|treatment|analysis|background|information|evidence|reference|more)s?"
_WORDS = re.compile(
    rf"""
    \b(?:
      (?:for|on)\b[^.;:{CITED}]{{0,80}}?\b(?:see|cf|compare|consult)\b
    | for\s+(?:(?:an?|the|more|further|other|full|fuller|recent|brief|general)\s+)*{_TOPIC}
    | as\s+(?:is\s+)?(?:shown|described|reported|noted|discussed|argued|stated|seen|explained|
        documented|cited|quoted|demonstrated|given|defined|set\s+out)\s+(?:in|by|at)
    | (?:quoted|cited|adapted|taken|reproduced|translated|reprinted|drawn)\s+(?:in|from|after|by)
    | (?:based\s+)?on | (?:according\s+)?to
    | see|cf|compare|also|ibid(?:em)?|id|idem|op|loc|cit|passim|in|at|by|from|of|after|e\.?g|i\.?e
    | but|and|or|again|too|further|esp(?:ecially)?|in\s+particular|particularly|there(?:in)?|here
    | above|below|sources?|reference|ref|viz|both|the\s+same|et\s+seqq?|consult
    | (?:my|our|own|author['’]s)\s+(?:emphas[ie]s|italics|translation)
    | (?:emphas[ie]s|italics|translation)\s+(?:(?:is|are)\s+)?(?:added|mine|ours|supplied|
        in\s+(?:the\s+)?original)
    )\b\.?
    | 参见|参看|参阅|参考|详见|另见|又见|亦见|引自|转引自|来源|如|同上|同前|以及
    | (?:关于|有关)[^。；]{{0,40}}?(?=参见|详见|见)
    | [见载和与及]
    """,
    re.IGNORECASE | re.VERBOSE,
)
_BARE = re.compile(
    r"(?:(?<=[,，])|(?<=\.))\s*(?P<pages>\d{1,4}(?:\s*[-–—]{1,2}\s*\d{1,4})?)\b(?!\s*[\w(])"
)
# The page of an author-year reference: “Smith and Jones 2006: 12, 15”.
_PAGE_NUMBERS = r"\d{1,4}(?:\s*[-\u2010-\u2015]{1,2}\s*\d{1,4})?(?:\s*ff?\b\.?)?"
_BEHIND_YEAR = re.compile(
    r"(?<!\d)(?P<year>(?:1[5-9]|20)\d\d[a-z]?)\s*[:：]\s*"
    rf"(?P<pages>{_PAGE_NUMBERS}(?:\s*[,，、]\s*{_PAGE_NUMBERS})*)(?!\s*[\w%(])"
)
_ENTRY_END = re.compile("[;；]")
_YEAR_ALONE = re.compile(r"(?:1[5-9]|20)\d\d")
_DASH = re.compile(r"^\s*(?:[—–―-]{1,3}|——)\s*")
_SMALL_WORDS = re.compile(
    r"\b(?:of|the|a|an|and|in|on|for|to|van|von|de|der|et|al)\b", re.IGNORECASE
)
_LARGE_WORD = re.compile(r"[A-Z\u00c0-\u00de][\w'’.\-]*")
_HAN_NAME = re.compile(rf"[{HAN_RANGES}·]{{2,15}}")
_LONGEST_ATTRIBUTION = 200
# What a writer says of a quotation, inside of it.
EDITORS_NOTE = re.compile(
    r"\s*[\[(（［](?:(?:my|our|own|the author['’]s)\s+(?:emphas[ie]s|italics|translation)|"
    r"(?:emphas[ie]s|italics|translation|bold|underlining)\s+(?:(?:is|are)\s+)?"
    r"(?:added|mine|ours|supplied|in (?:the )?original)|sic!?|"
    r"着重号(?:为笔者|系笔者|由笔者)?(?:所)?加|(?:粗体|下划线|重点)(?:为|系|由)?(?:笔者|作者|引者)(?:所)?加)"
    r"[\])）］]",
    re.IGNORECASE,
)


def only_points(text: str, *, bare: bool = True) -> bool:
    """Say whether a text says no more than where to look.

    Args:
        text: with `CITED` at its citations.
        bare: whether a number behind a comma is a page.
    """
    return not _has_words(_rest(text, bare=bare))


def is_attribution(text: str) -> bool:
    """Say whether a text only names whose words stand before it: “— Chang et al., p. 1”."""
    dash = _DASH.match(text)
    if dash is None or len(text) > _LONGEST_ATTRIBUTION:
        return False
    rest = _rest(text[dash.end() :], bare=True)
    rest = _SMALL_WORDS.sub(" ", _LARGE_WORD.sub(" ", rest))
    return not _has_words(_HAN_NAME.sub(" ", rest, count=1))


def read_places(text: str) -> list[LocatorHint | None]:
    """Return the place that a text which only points names for each of its citations.

    It stands behind the citation; where none does, before it. A semicolon parts the place of one
    citation from the reference of the next: “Smith 2006: 12, {#a}; Lee 2007: 3, {#b}”.
    """
    parts = text.split(CITED)
    used = [False] * len(parts)
    hints: list[LocatorHint | None] = []
    for number in range(1, len(parts)):
        is_last = number == len(parts) - 1
        behind = parts[number] if is_last else _ENTRY_END.split(parts[number])[0]
        found = find_place(behind, first=True)
        used[number] = found is not None
        before = _ENTRY_END.split(parts[number - 1].rstrip(" ;；"))
        if found is None and (len(before) > 1 or not used[number - 1]):
            found = find_place(before[-1], first=False)
        hints.append(found)
    return hints


def find_place(text: str, *, first: bool) -> LocatorHint | None:
    """Return the first or last place named in a text that only points."""
    found = [*PLACE.finditer(text)]
    for match in found if first else reversed(found):
        hint = read_hint(match.group(), bare=False)
        if hint is not None:
            return hint
    behind_year = [match["pages"] for match in _BEHIND_YEAR.finditer(text)]
    if behind_year:
        return read_hint(behind_year[0 if first else -1], bare=True)
    numbers = [m["pages"] for m in _BARE.finditer(text) if not _YEAR_ALONE.fullmatch(m["pages"])]
    return read_hint(numbers[0 if first else -1], bare=True) if numbers else None


def _rest(text: str, *, bare: bool) -> str:
    rest = _BEHIND_YEAR.sub(r"\g<year>", text)
    for reference in _REFERENCES:
        rest = reference.sub(" ", rest)
    rest = PLACE.sub(" ", rest)
    if bare:
        rest = _BARE.sub(" ", rest)
    return _WORDS.sub(" ", rest)


def _has_words(text: str) -> bool:
    return any(character.isalnum() for character in text)


# What stands around a citation and says only where to look is taken out of its sentence.

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
_SPOKEN_DASH = re.compile(
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
    for match in _SPOKEN_DASH.finditer(text):
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
