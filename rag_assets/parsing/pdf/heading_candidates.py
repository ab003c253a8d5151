"""Which lines may be headings: candidates, their styles, tables of contents."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag_assets.parsing.pdf.heading_words import (
    Number,
    fold_title,
    is_abstract_label,
    is_affiliation,
    is_back_title,
    is_contents_title,
    is_label,
    is_reference_title,
    is_top_title,
    parse_number,
)
from rag_assets.parsing.pdf.lines import (
    BodyStyle,
    Line,
    Style,
    half_points,
    is_all_capitals,
    style_of,
)
from rag_assets.parsing.pdf.paragraphs import Paragraph

# Paragraphs, and beginnings of paragraphs, that are built as headings are.

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


# The document's own consistency: styles of confirmed headings make and refute others.

# A style in which more text stands than in its candidates is one of sentences.
_MAX_SENTENCE_RATIO = 1.5
_SENTENCE_ENDS = ".:。："
_MIN_UNCONFIRMED = 2
_MIN_OTHER_FONT = 3
_MIN_RUN_INS, _MIN_RUN_IN_SHARE, _STYLES_MAX_RUN_IN_CHARACTERS = 3, 0.7, 80
_MIN_NUMBERED = 4
_MIN_NUMBERED_DOCUMENT = 3
_LARGER_POINTS = 0.9
# A paper's title stands on its first page, a thesis has several such pages.
_PAGES_PER_TITLE_PAGE = 15


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What the document as a whole tells of its headings.

    Args:
        has_outline: bookmarks name the printed headings.
        is_numbered: several headings have numbers.
    """

    has_outline: bool
    is_numbered: bool


def accept_styles(
    candidates: Sequence[Candidate],
    paragraphs: Sequence[Paragraph],
    body: BodyStyle,
    has_outline: bool,
) -> list[Candidate]:
    """Return the candidates that are headings, in order.

    Args:
        candidates: confirmed by numbers and bookmarks as far as these go.
        paragraphs: of the whole document.
        has_outline: bookmarks name the printed headings.
    """
    groups: dict[tuple[Style, bool], list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        groups[candidate.style, candidate.run_in is not None].append(candidate)
    sentences = _sentence_characters(candidates, paragraphs)
    # Where headings are numbered, those without a number must be many to count as headings.
    evidence = _Evidence(has_outline, _count_numbered(candidates) >= _MIN_NUMBERED)
    accepted: set[int] = set()
    for (style, is_run_in), group in groups.items():
        if is_run_in:
            chosen = _accept_run_ins(group, paragraphs[-1].page, has_outline)
        else:
            chosen = _accept_group(group, sentences[style], body, evidence)
        accepted.update(id(item) for item in chosen)
    return _in_body(
        [item for item in candidates if id(item) in accepted],
        paragraphs[-1].page if paragraphs else 0,
    )


def _count_numbered(candidates: Sequence[Candidate]) -> int:
    """Return how many headings have numbers; the entries of a reference list are none."""
    ends = [place for place, item in enumerate(candidates) if is_reference_title(item.title)]
    return sum(
        item.is_confirmed and item.is_emphasised
        for item in candidates[: ends[-1] if ends else len(candidates)]
    )


def _in_body(headings: Sequence[Candidate], last_page: int) -> list[Candidate]:
    """Return `headings` without those of the title page and of reference lists.

    What stands before the first certain heading are titles, authors and their institutions. In a
    reference list only a look counts that headings outside of it have.
    """
    start = next(
        (place for place, item in enumerate(headings) if _is_sure(item) and item.run_in is None),
        0,
    )
    front = headings[start].paragraph.page if headings else 1
    front = min(front, 1 + last_page // _PAGES_PER_TITLE_PAGE)
    kept: list[Candidate] = []
    looks: set[tuple[Style, bool]] = set()
    in_references = False
    has_contents = False
    for place, item in enumerate(headings):
        if place < start and item.paragraph.page <= front:
            continue
        look = item.style, item.run_in is not None
        if in_references and look not in looks and not item.is_bookmarked and not item.is_top:
            continue
        # Each chapter of a thesis may begin with a list of its own sections.
        is_contents = is_contents_title(item.title)
        if is_contents and has_contents:
            continue
        has_contents = has_contents or is_contents
        in_references = is_reference_title(item.title)
        looks.add(look)
        kept.append(item)
    return kept


def _sentence_characters(
    candidates: Sequence[Candidate], paragraphs: Sequence[Paragraph]
) -> Counter[Style]:
    """Return for each style how many characters stand in it outside of candidates."""
    whole = {item.index for item in candidates if item.run_in is None}
    counts: Counter[Style] = Counter()
    for index, paragraph in enumerate(paragraphs):
        if index not in whole and paragraph.kind in ("paragraph", "list"):
            for line in paragraph.lines:
                if line.run_in is None:
                    counts[style_of(line)] += len(line.text)
    return counts


def _accept_group(
    group: Sequence[Candidate], sentence_characters: int, body: BodyStyle, evidence: _Evidence
) -> list[Candidate]:
    """Return the headings among the candidates of one style."""
    sure = [item for item in group if _is_sure(item)]
    characters = sum(len(item.text) for item in group)
    is_of_sentences = sentence_characters > _MAX_SENTENCE_RATIO * characters
    if is_of_sentences or not any(item.is_emphasised for item in group):
        return sure
    if not sure:
        return [] if evidence.has_outline else _accept_unconfirmed(group, body, evidence)
    if evidence.has_outline and not any(item.is_bookmarked for item in group):
        return sure
    return [item for item in group if _is_sure(item) or _is_like(item, sure)]


def _accept_unconfirmed(
    group: Sequence[Candidate], body: BodyStyle, evidence: _Evidence
) -> list[Candidate]:
    """Return the headings among candidates whose style no number and no known title confirms."""
    followed = [
        item
        for item in group
        if item.is_followed
        and item.number is None
        and not item.is_running
        and not item.text.endswith((":", "："))
    ]
    first = group[0]
    if evidence.is_numbered:
        least = _MIN_NUMBERED_DOCUMENT if first.bold else len(group) + 1
    elif first.style[0] >= body.size + _LARGER_POINTS:
        least = 1
    elif first.bold or first.italic or first.style[2]:
        least = _MIN_UNCONFIRMED
    else:
        # A font whose name tells no weight: only its use does.
        least = _MIN_OTHER_FONT
    return followed if len(followed) >= max(least, len(group) / 2) else []


def _is_sure(item: Candidate) -> bool:
    return item.is_confirmed or item.is_bookmarked or (item.is_top and item.run_in is None)


def _is_like(item: Candidate, sure: Sequence[Candidate]) -> bool:
    """Tell whether an unnumbered candidate of a confirmed style is a heading."""
    if not item.is_followed or item.is_running:
        return False
    if item.number is not None and item.number.scheme == "bracket":
        return False
    end = item.text[-1]
    return end not in _SENTENCE_ENDS or any(other.text.endswith(end) for other in sure)


def _accept_run_ins(
    group: Sequence[Candidate], last_page: int, has_outline: bool
) -> list[Candidate]:
    """Return the headings among candidates of one style that run in.

    Without a number they count where most of the style end with a full stop, and where an outline
    is known, where it names some of them. Declarations at the end stand for themselves.
    """
    ended = sum(_is_ended(item) for item in group)
    is_used = ended >= max(_MIN_RUN_INS, _MIN_RUN_IN_SHARE * len(group)) and (
        not has_outline or any(item.is_bookmarked for item in group)
    )
    return [
        item
        for item in group
        if item.is_confirmed
        or item.is_bookmarked
        or (is_used and _is_ended(item))
        or (is_back_title(item.title) and item.paragraph.page > last_page / 2)
    ]


def _is_ended(item: Candidate) -> bool:
    return (
        item.number is None
        and item.text.endswith((".", "。"))
        and len(item.text) <= _STYLES_MAX_RUN_IN_CHARACTERS
    )


# Lines that repeat headings: tables of contents, and running heads that follow the chapters.

_CONTENTS_LEADERS = re.compile(r"(?:[.·…]\s?){4,}")
_PAGE_AT_END = re.compile(r"(?:(?:^|[\s.·…])(\d{1,4})|[\s.·…][ivxlc]{1,6})$")
_MAX_ENTRY_CHARACTERS = 200
# Entries without a page number (parts, long titles whose end stands apart) between the others.
_MAX_GAP = 3
_MIN_ENTRIES = 3
_MIN_HEADS, _MAX_DISTINCT_SHARE = 4, 0.6
_ROW_POINTS, _SAME_SIZE_POINTS = 4.0, 0.6


def find_contents(paragraphs: Sequence[Paragraph]) -> set[int]:
    """Return the indexes of the paragraphs that a table of contents is made of.

    Args:
        paragraphs: of the whole document, in reading order.
    """
    contents: set[int] = set()
    index = 0
    while index < len(paragraphs):
        titled = is_contents_title(paragraphs[index].text[:40])
        if not titled and not _CONTENTS_LEADERS.search(paragraphs[index].text):
            index += 1
            continue
        start = index + 1 if titled else index
        entries, end = _run_of_entries(paragraphs, start)
        if entries >= (1 if titled else _MIN_ENTRIES):
            contents.update(range(start, end))
        index = max(end, index + 1)
    return contents


def _run_of_entries(paragraphs: Sequence[Paragraph], start: int) -> tuple[int, int]:
    """Return how many entries stand from `start` on, and the index after the last.

    The page numbers of the entries never fall: the number of the page itself is none of them.
    """
    entries, end, page = 0, start, 0
    for position in range(start, len(paragraphs)):
        text = paragraphs[position].text
        leaders = len(_CONTENTS_LEADERS.findall(text))
        found = _PAGE_AT_END.search(text) if len(text) <= _MAX_ENTRY_CHARACTERS else None
        number = int(found[1]) if found is not None and found[1] else page
        if leaders or (found is not None and number >= page):
            entries += max(leaders, 1)
            end, page = position + 1, number
        elif position - end >= _MAX_GAP or len(text) > _MAX_ENTRY_CHARACTERS:
            break
    return entries, end


def find_running_heads(paragraphs: Sequence[Paragraph], body: BodyStyle) -> set[int]:
    """Return the indexes of lines that name the chapter at the top of its pages.

    They stand highest on many pages, at one height, no larger than the text, and most of them
    more than once or with the words of a heading; heads of most pages are gone already.
    """
    titles = Counter(
        fold_title(paragraph.text)
        for paragraph in paragraphs
        if len(paragraph.text) <= _MAX_ENTRY_CHARACTERS
    )
    top: dict[int, int] = {}
    for index, paragraph in enumerate(paragraphs):
        highest = top.get(paragraph.page)
        if paragraph.upright and (highest is None or paragraph.box[1] < paragraphs[highest].box[1]):
            top[paragraph.page] = index
    rows: dict[tuple[float, int], list[int]] = defaultdict(list)
    for index in top.values():
        paragraph = paragraphs[index]
        if paragraph.size <= body.size + _SAME_SIZE_POINTS and paragraph.kind == "paragraph":
            rows[half_points(paragraph.size), round(paragraph.box[1] / _ROW_POINTS)].append(index)
    heads: set[int] = set()
    for row in rows.values():
        texts = Counter(fold_title(paragraphs[index].text) for index in row)
        repeated = sum(titles[text] > count for text, count in texts.items() if text)
        if len(row) >= _MIN_HEADS and (
            len(texts) <= _MAX_DISTINCT_SHARE * len(row) or 2 * repeated > len(texts)
        ):
            heads.update(row)
    return heads
