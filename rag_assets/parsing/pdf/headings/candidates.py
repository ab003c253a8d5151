"""Paragraphs, and beginnings of paragraphs, that are built as headings are."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag_assets.parsing.pdf.headings.numbers import Number, parse_number
from rag_assets.parsing.pdf.headings.words import (
    fold_title,
    is_abstract_label,
    is_affiliation,
    is_label,
    is_top_title,
)
from rag_assets.parsing.pdf.lines import Line
from rag_assets.parsing.pdf.paragraphs import Paragraph
from rag_assets.parsing.pdf.styles import BodyStyle, Style, is_all_capitals, style_of

# Longer ones are sentences: of 1,100 headings of papers none has more characters or rows.
_MAX_CHARACTERS, _MAX_ROWS = 220, 4
_MAX_RUN_IN_CHARACTERS, _MAX_RUN_IN_ROWS = 130, 3
# Text that a heading stands above has at least so many characters.
_MIN_BODY_CHARACTERS = 60
_MIN_LETTER_SHARE, _MIN_NUMBERED_LETTER_SHARE = 0.55, 0.4
_OPENERS = "\"'“‘«(（【《"
# Small sub-headings are set a little below the body's size, capitals more.
_MIN_SIZE_SHARE, _MIN_CAPITALS_SHARE = 0.84, 0.7
_LETTER = re.compile(r"[^\W\d_]")
_MATHEMATICAL = re.compile(r"[=<>≤≥∑∫∂∈∀∃≈∝√⊂→⇒±\ufffd]|\b(?:arg|log|max|min)\b.*[()]")
_LONG_WORD = re.compile(r"[^\W\d_]{4}|[\u4e00-\u9fff]{2}")
_NO_END = tuple(",;-–—&+/=<>(")
_FULL_STOPS = tuple(".。．")
_OPEN_WORD = re.compile(
    r" (?:of|and|the|for|in|on|to|with|a|an|by|or|from|at|that|is|are|de|des|du|la|le|les|et|und"
    r"|der|die|das|von|e|do|da|em|y|del|el)$"
)
_RUN_IN_ENDS = (".", ":", "。", "：", "—", "–")
_LEADERS = re.compile(r"(?:[.·…]\s?){4,}")
_MAX_FRONT_PAGE = 2
# The number of a heading, where it is a line of its own.
_MAX_BARE_CHARACTERS = 4
_BARE_NUMBER = re.compile(
    r"(?:\d{1,2}(?:\.\d{1,2})*\.?|[IVX]{1,5}\.?|[A-Z](?:\.\d{1,2})*\.?|[（(][a-z\d][)）]"
    r"|(?:chapter|chapitre|kapitel|cap[íi]tulo|глава|appendix|annexe?|anhang)\s+(?:\d+|[IVX]+|[A-Z]))",
    re.IGNORECASE,
)

# What may stand between a heading and its text without being that text.
_INTERRUPTIONS = ("caption", "figure", "drawing", "table", "footnote", "front")


@dataclass(slots=True)
class Candidate:
    """A paragraph, or the beginning of one, that may be a heading.

    Args:
        index: of its paragraph in the document.
        title: its text without its number.
        style: of its words (not of its number).
        is_emphasised: its font stands out from the body's, or it is all in capitals.
        run_in: its lines and the rest of its paragraph's, where text follows on its line.
        is_followed: text or another candidate stands below.
        is_running: it fills its column from edge to edge as lines of sentences do.
        level: as bookmarks give it.
    """

    index: int
    paragraph: Paragraph
    text: str
    title: str
    number: Number | None
    style: Style
    bold: bool
    italic: bool
    is_emphasised: bool
    is_top: bool
    run_in: tuple[list[Line], list[Line]] | None = None
    is_followed: bool = False
    is_running: bool = False
    is_confirmed: bool = False
    is_bookmarked: bool = False
    level: int | None = None


def find_candidates(
    paragraphs: Sequence[Paragraph], body: BodyStyle, skipped: set[int], title: str | None = None
) -> list[Candidate]:
    """Return what is built as a heading is, in order.

    Args:
        paragraphs: of the whole document, in reading order; those whose kind another pass has
            settled are no candidates.
        body: the document's style of running text.
        skipped: indexes of paragraphs that cannot be headings (lines of a table of contents).
        title: of the document, which stands above its pages and is no heading.
    """
    candidates = []
    folded_title = fold_title(title or "")
    for index, paragraph in enumerate(paragraphs):
        if not paragraph.upright or index in skipped:
            continue
        if not _is_open(paragraph, body):
            continue
        if paragraph.size < body.size * (
            _MIN_CAPITALS_SHARE if is_all_capitals(paragraph.text[:60]) else _MIN_SIZE_SHARE
        ):
            continue
        candidate = _run_in(index, paragraph, body) or _whole(index, paragraph, body)
        if candidate is not None and (
            candidate.number is not None or fold_title(candidate.text) != folded_title
        ):
            candidates.append(candidate)
    _mark_followed(candidates, paragraphs, body)
    return candidates


def _is_open(paragraph: Paragraph, body: BodyStyle) -> bool:
    """Tell whether no other pass has settled what a paragraph is.

    `Summary` above a paper's abstract stands among the lines of its title page; a numbered title
    with symbols in it looks like a formula, but is set in larger or bolder type.
    """
    if paragraph.kind in ("paragraph", "list"):
        return True
    if paragraph.kind == "front":
        return is_top_title(paragraph.text)
    line = paragraph.lines[0] if paragraph.lines else None
    return (
        paragraph.kind == "formula"
        and line is not None
        and ((line.bold and not body.bold) or line.size > body.size + 1)
        and parse_number(paragraph.text) is not None
    )


def _whole(index: int, paragraph: Paragraph, body: BodyStyle) -> Candidate | None:
    text = paragraph.text
    if len(text) > _MAX_CHARACTERS or count_rows(paragraph.lines) > _MAX_ROWS:
        return None
    lines = paragraph.lines
    main = max(lines, key=lambda line: len(line.text))
    candidate = _candidate(index, paragraph, text, main)
    if not _is_title(candidate):
        return None
    emphasised = sum(
        len(line.text) for line in lines if body.is_emphasised(line) and not _is_mixed(line, body)
    )
    candidate.is_emphasised = 2 * emphasised > len(text) or candidate.style[2]
    candidate.is_running = (
        paragraph.fills_last_line and paragraph.starts_at_edge and len(text) >= _MIN_BODY_CHARACTERS
    )
    return candidate


def _is_mixed(line: Line, body: BodyStyle) -> bool:
    """Tell whether half of a line is set as the body is."""
    if line.run_in is None:
        return False
    rest = line.run_in[1]
    return not body.is_emphasised(rest) and 2 * len(rest.text) > len(line.text)


def _run_in(index: int, paragraph: Paragraph, body: BodyStyle) -> Candidate | None:
    """Return the heading that a paragraph begins with, None where it begins with its text."""
    parts = _split_run_in(paragraph.lines, body)
    if parts is None:
        return None
    heading, body_lines = parts
    text = " ".join(line.text for line in heading)
    rest = "".join([line.text for line in body_lines])
    # A paragraph of one or two lines may be a heading with a word in another font.
    is_whole = len(rest) < _MIN_BODY_CHARACTERS and not text.endswith(_RUN_IN_ENDS)
    if is_whole or len(text) > _MAX_RUN_IN_CHARACTERS or not _LETTER.search(rest):
        return None
    main = max(heading, key=lambda line: len(line.text))
    candidate = _candidate(index, paragraph, text, main)
    is_label = text.endswith(":") and is_abstract_label(candidate.title)
    if is_label or not _is_title(candidate) or _BARE_NUMBER.fullmatch(text):
        return None
    candidate.is_emphasised = True
    candidate.run_in = heading, body_lines
    return candidate


def _split_run_in(lines: Sequence[Line], body: BodyStyle) -> tuple[list[Line], list[Line]] | None:
    """Return the lines of a heading that runs in, and those of its text; None where none does."""
    first = lines[0]
    if len(first.text) <= _MAX_BARE_CHARACTERS and len(lines) > 1 and first.shares_row(lines[1]):
        first = lines[1]
    if not body.is_emphasised(first if first.run_in is None else first.run_in[0]):
        return None
    heading: list[Line] = []
    for position, line in enumerate(lines[: 2 * _MAX_RUN_IN_ROWS]):
        if line.run_in is None and (
            body.is_emphasised(line) or len(line.text) <= _MAX_BARE_CHARACTERS
        ):
            heading.append(line)
            continue
        if line.run_in is not None and body.is_emphasised(line.run_in[0]):
            lead, rest = line.run_in
            if body.is_emphasised(rest) or (heading and lead.font != heading[-1].font):
                return None
            return [*heading, lead], [rest, *lines[position + 1 :]]
        if heading and heading[-1].shares_row(line):
            return heading, list(lines[position:])
        return None
    return None


def _candidate(index: int, paragraph: Paragraph, text: str, main: Line) -> Candidate:
    number = parse_number(text)
    if number is not None and number.end == len(text) and is_top_title(text):
        number = None
    title = text[number.end :] if number is not None else text
    size, font, _ = style_of(main)
    return Candidate(
        index,
        paragraph,
        text,
        title,
        number,
        (size, font, is_all_capitals(text)),
        main.bold,
        main.italic,
        False,
        is_top_title(title),
    )


def _is_title(candidate: Candidate) -> bool:
    """Tell whether a text has the shape of a title: words, no end of a clause, no label."""
    text, title = candidate.text, candidate.title
    if not title:
        return _BARE_NUMBER.fullmatch(text) is not None and len(text) > _MAX_BARE_CHARACTERS
    return candidate.is_top or (
        _has_words(candidate)
        and (title[0].isalnum() or title[0] in _OPENERS)
        and (candidate.number is not None or not title[0].islower())
        and not title.endswith(_NO_END)
        and not _OPEN_WORD.search(title)
        and not _LEADERS.search(text)
        and not is_label(text)
        and not _is_institution(candidate)
    )


def _has_words(candidate: Candidate) -> bool:
    """Tell whether a title is more of letters than of figures and symbols."""
    title = candidate.title
    is_numbered = candidate.number is not None
    least = _MIN_NUMBERED_LETTER_SHARE if is_numbered else _MIN_LETTER_SHARE
    if len(_LETTER.findall(title)) < max(2, least * len(title.replace(" ", ""))):
        return False
    return _MATHEMATICAL.search(title) is None or (
        is_numbered and _LONG_WORD.search(title) is not None
    )


def _is_institution(candidate: Candidate) -> bool:
    """Tell whether a title page's numbered line names where an author works."""
    text = candidate.text
    return candidate.paragraph.page <= _MAX_FRONT_PAGE and "," in text and is_affiliation(text)


def count_rows(lines: Sequence[Line]) -> int:
    """Return on how many base lines `lines` stand."""
    return sum(
        position == 0 or not lines[position - 1].shares_row(line)
        for position, line in enumerate(lines)
    )


def _mark_followed(
    candidates: Sequence[Candidate], paragraphs: Sequence[Paragraph], body: BodyStyle
) -> None:
    """Tell of every candidate whether text or a further heading stands below it."""
    whole = {candidate.index: candidate for candidate in candidates if candidate.run_in is None}
    for candidate in reversed(candidates):
        if candidate.run_in is not None:
            candidate.is_followed = True
            continue
        after = next(_next_in_text(paragraphs, candidate.index), None)
        if after is None:
            continue
        other = whole.get(after)
        if other is not None:
            differs = other.style != candidate.style or other.number is not None
            if other.is_emphasised and not other.is_running:
                candidate.is_followed = other.is_followed and differs
                continue
        paragraph = paragraphs[after]
        candidate.is_followed = (
            paragraph.kind not in ("paragraph", "list")
            or len(paragraph.text) >= _MIN_BODY_CHARACTERS
            or (len(paragraph.text) >= 20 and paragraph.size >= body.size - 0.6)
        )


def _next_in_text(paragraphs: Sequence[Paragraph], index: int) -> Iterator[int]:
    for position in range(index + 1, min(index + 4, len(paragraphs))):
        if paragraphs[position].kind not in _INTERRUPTIONS:
            yield position
