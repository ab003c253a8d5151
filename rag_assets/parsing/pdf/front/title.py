"""What a PDF calls itself: the most title-like run of lines, weighed with its metadata."""

import html
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log2

from rag_assets.parsing.cleaning import (
    DIVISION,
    REAL_HYPHEN,
    clean_line,
    close_line,
    join_texts,
)
from rag_assets.parsing.pdf.front.authors import is_name_line
from rag_assets.parsing.pdf.front.words import (
    ABSTRACT_HEAD,
    ARTICLE_TYPE,
    ARTICLE_TYPE_PREFIX,
    CORRESPONDENCE,
    DATE,
    DOCUMENT_TYPE,
    EMAIL,
    FIRST_SECTION,
    INSTITUTION,
    REFERENCES_HEAD,
    SERIAL,
    TITLE_PREFIX,
    folded,
    word_count,
)
from rag_assets.parsing.pdf.lines import Line, Page

_MIN_LETTERS, _MAX_CHARACTERS = 4, 350
_FILE_NAME = re.compile(
    r"\.(docx?|rtf|tex|dvi|pdf|ps|indd|qxd|pptx?|odt|fm|wpd)\b"
    r"|^(microsoft |untitled|slide )|\d\.\.\d",
    re.IGNORECASE,
)
_LETTER = re.compile(r"[^\W\d_]")
_FOOTNOTE_MARKS = re.compile(r"(?:[\s*∗†‡§¶⋆★☆✩#]+|(?<=[a-zà-ÿ]{4})1)$")
_NAME_MARKS = re.compile(r"[^\W\d_]{2,}(?:[1-9]\d?(?:,\s?\d+)*[*∗†]?|[*∗†‡§])(?=[\s,;&.]\W*\w|,)")
_QUOTED = re.compile(r"[«“\"《]([^«»“”\"《》]+)[»”\"》]")
_NUMBERED = re.compile(r"\d+(?:\.\d+)*\.?\s+\S|[IVX]+\.\s")
# Small capitals and hinting: lines of one title differ by less, a title and its authors by more.
_SAME_SIZE_POINTS = 0.35
# Covers set titles with up to two lines' space; authors stand further off or are smaller.
_MAX_LEADING = 1.3
# Titles of theses may stand on the third page, behind a cover and an empty page.
_TITLE_PAGES = 3
# A run scores 1 for each doubling of the text's size; the other weights are set against that on
# 64 papers with known titles. Below the least score a document calls itself nothing.
_LEAST_SCORE = -0.6
# Above this no later page can win: half as large again as the text.
_PLAIN_SCORE = 0.6
# Title pages have fewer lines; below them stands text.
_MAX_LINES = 90
_METADATA_WEIGHT, _HEAD_WEIGHT, _PREFIX_WEIGHT = 2.0, 1.0, 2.0
_BOLD_WEIGHT, _CAPITALS_WEIGHT, _LATER_PAGE_WEIGHT = 0.35, 0.15, -0.8
_SHORT_WEIGHT, _LONG_WEIGHT, _LOW_WEIGHT, _NAMES_WEIGHT = -0.8, -1.5, -0.8, -2.0
_INSTITUTION_WEIGHT, _AFTER_ABSTRACT_WEIGHT, _NUMBERED_WEIGHT = -1.5, -3.0, -1.0
_ENOUGH_WORDS, _TOO_MANY_WORDS = 3, 40
_TOO_FEW_WITH_DATE = 9
_NAME_LIKE_WEIGHT = -0.6
# In so few characters the commonest size is not that of the text.
_SHORT_CHARACTERS = 300
# Text is no title unless it stands out by something.
_PLAIN_WEIGHT = -1.0
_PLAIN_SIZE_RATIO, _CENTRED_POINTS, _SET_IN_SHARE = 1.05, 20.0, 0.18
# Of two alike the first is the title, the second the authors or a subtitle.
_ORDER_WEIGHT, _MAX_ORDER = -0.06, 8
# "Department of Computer Science, University of Trento" has one for four words.
_WORDS_AN_INSTITUTION = 6
# A stated title shorter than this may be printed by chance.
_MIN_STATED_LETTERS = 12
# Titles stand in the upper part of the first page.
_TITLE_REGION_SHARE = 0.7


@dataclass(frozen=True, slots=True)
class Title:
    """A title with the lines that print it (none where only the metadata state it)."""

    text: str
    lines: tuple[Line, ...] = ()


@dataclass(slots=True)
class _Run:
    """Lines that follow each other closely in one size and weight."""

    lines: list[Line]
    text: str
    page: int
    order: int
    follows_abstract: bool
    prefixed: bool = False


def find_title(
    metadata_title: str, pages: Sequence[Page], running_heads: Sequence[str] = ()
) -> Title | None:
    """Return the title of a document, None where neither metadata nor print shows one.

    The printed run wins over the metadata, which often hold a file's or a template's name; where
    both say the same, the metadata's spelling is taken (print may be all in capitals).

    Args:
        metadata_title: of the document information.
        pages: of the document, from the first, heads and feet removed.
        running_heads: the removed heads and feet, which often repeat the title.
    """
    # Some publishers write entities (`&#x2010;`) into the document information.
    stated = clean_line(html.unescape(metadata_title))
    stated = stated if _is_sensible(stated) and not SERIAL.search(stated) else ""
    printed = _find_printed(stated, pages[0]) if stated else None
    if printed is not None:
        return printed
    body = _body_size(pages)
    heads = [folded(head) for head in running_heads if word_count(head) > _ENOUGH_WORDS]
    best, score = None, _LEAST_SCORE
    for page in pages[:_TITLE_PAGES]:
        for run in _runs(page):
            value = _score(run, page, body, folded(stated), heads)
            if value is not None and value > score:
                best, score = run, value
        if score > _PLAIN_SCORE:
            break
    if best is None:
        has_text = any(page.blocks for page in pages)
        return Title(stated) if stated and not has_text else None
    return Title(best.text, tuple(best.lines))


def _find_printed(stated: str, page: Page) -> Title | None:
    """Return the lines of the first page that spell the stated title, whatever their size."""
    claimed = folded(stated)
    if len(claimed) < _MIN_STATED_LETTERS:
        return None
    lines = [line for block in page.blocks for line in block if line.upright]
    letters = [folded(line.text) for line in lines]
    for first in range(len(lines)):
        found = ""
        for last in range(first, len(lines)):
            found += letters[last]
            if found == claimed:
                return Title(stated, tuple(lines[first : last + 1]))
            if not claimed.startswith(found):
                break
    return None


def _is_sensible(title: str) -> bool:
    return (
        len(title) <= _MAX_CHARACTERS
        and len(_LETTER.findall(title)) >= _MIN_LETTERS
        and not _FILE_NAME.search(title)
    )


def _body_size(pages: Sequence[Page]) -> float:
    sizes: Counter[float] = Counter()
    for page in pages[:10]:
        for block in page.blocks:
            for line in block:
                sizes[round(line.size * 2) / 2] += len(line.text)
    if not sizes:
        return 1.0
    if sizes.total() < _SHORT_CHARACTERS:
        # A title may be longer than all the text below it.
        return max(min(sizes), 1.0)
    return max(sizes.most_common(1)[0][0], 1.0) if sizes else 1.0


def _runs(page: Page) -> list[_Run]:
    runs: list[_Run] = []
    follows_abstract = False
    before: Line | None = None
    for block in page.blocks:
        for line in block:
            if not line.upright:
                continue
            if follows_abstract or len(runs) > _MAX_LINES:
                break
            if before is not None and _goes_on(before, line) and runs[-1].lines[-1] is before:
                runs[-1].lines.append(line)
            elif not ARTICLE_TYPE.fullmatch(line.text) and not DOCUMENT_TYPE.fullmatch(line.text):
                is_head = (
                    ABSTRACT_HEAD.match(line.text)
                    or FIRST_SECTION.fullmatch(line.text)
                    or REFERENCES_HEAD.fullmatch(line.text)
                )
                follows_abstract = follows_abstract or is_head is not None
                runs.append(_Run([line], "", page.number - 1, len(runs), follows_abstract))
            else:
                continue
            before = line
    for run in runs:
        run.text, run.prefixed = _title_text(run.lines)
    return runs


def _goes_on(before: Line, line: Line) -> bool:
    if abs(before.size - line.size) > _SAME_SIZE_POINTS and not (
        before.font == line.font and _is_small_capitals(before) and _is_small_capitals(line)
    ):
        return False
    if before.bold != line.bold or TITLE_PREFIX.match(line.text) or _is_no_title(line.text):
        return False
    gap = line.box[1] - before.box[3]
    size = max(before.size, line.size)
    if before.shares_row(line):
        return 0 <= line.box[0] - before.box[2] <= 2 * size
    overlap = min(before.box[2], line.box[2]) - max(before.box[0], line.box[0])
    return -size <= gap <= _MAX_LEADING * size and overlap > 0 and line.box[1] > before.box[1]


def _is_no_title(text: str) -> bool:
    return bool(
        SERIAL.search(text)
        or EMAIL.search(text)
        or CORRESPONDENCE.match(text)
        or _NAME_MARKS.search(text)
        or ABSTRACT_HEAD.match(text)
    )


def _is_plain(run: _Run, page: Page, body: float) -> bool:
    """Tell whether nothing sets a run off from the text: no size, weight, capitals or centring."""
    first = run.lines[0]
    if first.bold or run.text.isupper() or first.size > _PLAIN_SIZE_RATIO * body:
        return False
    middles = [(line.box[0] + line.box[2]) / 2 for line in run.lines]
    is_centred = all(abs(middle - page.width / 2) < _CENTRED_POINTS for middle in middles)
    is_set_in = first.box[0] > _SET_IN_SHARE * page.width
    return not (is_centred and is_set_in)


def _names_institution(text: str, words: float) -> bool:
    """Tell whether an institution makes a good part of `text`; titles may speak of hospitals."""
    return len(INSTITUTION.findall(text)) * _WORDS_AN_INSTITUTION >= words


def _is_small_capitals(line: Line) -> bool:
    return line.text.isupper()


def _title_text(lines: Sequence[Line]) -> tuple[str, bool]:
    text = lines[0].text
    for line in lines[1:]:
        kept, separator = join_texts(text, line.text)
        # A division of a title is as a rule a real hyphen: lines are short and few.
        is_settled = text.endswith((DIVISION, REAL_HYPHEN))
        is_kept = len(kept) < len(text) and not is_settled
        text = text + line.text if is_kept else kept + separator + line.text
    text = close_line(text)
    prefix = TITLE_PREFIX.match(text)
    if prefix:
        text = text[prefix.end() :]
    label = ARTICLE_TYPE_PREFIX.match(text)
    if label:
        text = text[label.end() :]
    text = _FOOTNOTE_MARKS.sub("", text.strip())
    quoted = _QUOTED.fullmatch(text)
    return (quoted[1] if quoted else text), prefix is not None


def _score(run: _Run, page: Page, body: float, stated: str, heads: Sequence[str]) -> float | None:
    """Return how much a run looks like the title, None where it can't be."""
    text = run.text
    letters = folded(text)
    if not _is_sensible(text) or (SERIAL.search(text) and letters != stated):
        return None
    words = word_count(text)
    if EMAIL.search(text) or FIRST_SECTION.fullmatch(text):
        return None
    if DATE.search(text) and words < _TOO_FEW_WITH_DATE:
        return None
    first = run.lines[0]
    score = log2(first.size / body)
    score += _BOLD_WEIGHT if first.bold else 0.0
    score += _PLAIN_WEIGHT if _is_plain(run, page, body) else 0.0
    score += _CAPITALS_WEIGHT if text.isupper() else 0.0
    score += _PREFIX_WEIGHT if run.prefixed else 0.0
    score += _LATER_PAGE_WEIGHT * run.page
    score += _SHORT_WEIGHT * max(0.0, _ENOUGH_WORDS - words)
    score += _LONG_WEIGHT if words > _TOO_MANY_WORDS else 0.0
    score += _LOW_WEIGHT if first.box[1] > _TITLE_REGION_SHARE * page.height else 0.0
    score += _NAMES_WEIGHT if _NAME_MARKS.search(text) else 0.0
    score += _NAME_LIKE_WEIGHT if is_name_line(text) else 0.0
    score += _ORDER_WEIGHT * min(run.order, _MAX_ORDER)
    score += _AFTER_ABSTRACT_WEIGHT if run.follows_abstract else 0.0
    score += _NUMBERED_WEIGHT if _NUMBERED.match(text) else 0.0
    score += _INSTITUTION_WEIGHT if _names_institution(text, words) else 0.0
    if len(letters) >= _MIN_LETTERS and stated:
        is_part = letters in stated or stated in letters
        score += _METADATA_WEIGHT * min(1.0, len(letters) / len(stated)) if is_part else 0.0
    if words > _ENOUGH_WORDS and any(letters in head or head in letters for head in heads):
        score += _HEAD_WEIGHT
    return score
