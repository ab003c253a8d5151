"""Which candidates are headings, and of which level."""

import re
import unicodedata
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from rag_assets.parsing.cleaning import clean_line
from rag_assets.parsing.pdf.heading_candidates import (
    Candidate,
    accept_styles,
    find_candidates,
    find_contents,
    find_running_heads,
)
from rag_assets.parsing.pdf.heading_words import (
    fold_title,
    is_abstract_title,
    is_back_title,
    is_top_title,
    parse_number,
    settle_letters,
)
from rag_assets.parsing.pdf.lines import BodyStyle, Style, style_of
from rag_assets.parsing.pdf.paragraphs import Paragraph, make_paragraph

# Which bookmarks name which printed headings, and what levels they give.

# Bookmarks of other things, and names that programs give to pages.
_NOT_SECTIONS = re.compile(
    r"(?:fig(?:ure|\.)?|tab(?:le|\.)?|scheme|algorithm|equation|图|表|page|slide|幻灯片|_|bookmark)"
    r"\s*[.:_-]?\s*\d",
    re.IGNORECASE,
)
# Ligatures, hyphens and symbols make so many letters of a title differ.
_MIN_SIMILARITY = 0.85
_MIN_SIMILAR_LETTERS = 8
# Comparing costs: a page of text has fewer short lines, a hostile one thousands.
_MAX_COMPARED = 60
# With fewer matches an outline tells of something else than the printed headings.
_MIN_MATCHED_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Bookmark:
    """An entry of the document's outline.

    Args:
        level: from 1.
        page: from 1, None where it leads nowhere.
        top: height on that page in points from its top, None where not given.
    """

    level: int
    title: str
    page: int | None
    top: float | None


def match_bookmarks(
    candidates: Sequence[Candidate], bookmarks: Sequence[Bookmark], title: str | None
) -> bool:
    """Mark the candidates that bookmarks name and give them their levels, in place.

    Args:
        candidates: in order.
        bookmarks: in order.
        title: of the document; its own bookmark is no section.

    Returns:
        Whether the outline is one of printed headings.
    """
    printed = _Printed(candidates)
    folded_title = fold_title(title or "")
    matched = wanted = 0
    root = _root(bookmarks)
    ancestors: list[int] = []
    abstract_level: int | None = None
    for bookmark in bookmarks:
        # What stands under the abstract are the labels of its paragraphs.
        if abstract_level is not None and bookmark.level > abstract_level:
            continue
        abstract_level = bookmark.level if is_abstract_title(bookmark.title) else None
        if _NOT_SECTIONS.match(bookmark.title):
            continue
        folded = fold_title(bookmark.title)
        if not folded or folded == folded_title:
            continue
        while ancestors and ancestors[-1] >= bookmark.level:
            ancestors.pop()
        ancestors.append(bookmark.level)
        wanted += 1
        found = printed.find(bookmark, folded)
        if found is None and bookmark is root:
            ancestors.pop()
        if found is not None:
            matched += 1
            found.is_bookmarked = True
            found.level = len(ancestors)
    return matched >= max(3, _MIN_MATCHED_SHARE * wanted)


def _root(bookmarks: Sequence[Bookmark]) -> Bookmark | None:
    """Return the bookmark that all others stand under (the title, mostly), None without one."""
    if len(bookmarks) < 2:
        return None
    first = bookmarks[0]
    return first if all(item.level > first.level for item in bookmarks[1:]) else None


class _Printed:
    """The candidates by page and by the letters of their titles."""

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        self._by_page: dict[int, list[Candidate]] = defaultdict(list)
        self._by_letters: dict[tuple[int, str], list[Candidate]] = defaultdict(list)
        for candidate in candidates:
            page = candidate.paragraph.page
            self._by_page[page].append(candidate)
            for letters in {fold_title(candidate.title), fold_title(candidate.text)}:
                self._by_letters[page, letters].append(candidate)

    def find(self, bookmark: Bookmark, folded: str) -> Candidate | None:
        """Return what a bookmark names, on its page or next to it; None where nothing does."""
        if bookmark.page is None:
            return None
        for page in (bookmark.page, bookmark.page + 1, bookmark.page - 1):
            same = [item for item in self._by_letters[page, folded] if not item.is_bookmarked]
            if not same and len(folded) >= _MIN_SIMILAR_LETTERS:
                same = [
                    item
                    for item in self._by_page[page][:_MAX_COMPARED]
                    if not item.is_bookmarked and _is_similar(item, folded)
                ]
            if len(same) > 1 and bookmark.top is not None and page == bookmark.page:
                top = bookmark.top
                return min(same, key=lambda item: _distance(item, top))
            if same:
                return next((item for item in same if item.run_in is None), same[0])
        return None


def _distance(candidate: Candidate, top: float) -> tuple[float, bool]:
    return abs(candidate.paragraph.box[1] - top), candidate.run_in is not None


def _is_similar(candidate: Candidate, folded: str) -> bool:
    printed = unicodedata.normalize("NFKD", fold_title(candidate.title))
    other = unicodedata.normalize("NFKD", folded)
    if not 0.7 < len(printed) / len(other) < 1.4:
        return False
    matcher = SequenceMatcher(None, printed, other, autojunk=False)
    return matcher.quick_ratio() >= _MIN_SIMILARITY and matcher.ratio() >= _MIN_SIMILARITY


# The bookmarks of a PDF.


def read_bookmarks(document: Any) -> tuple[Bookmark, ...]:
    """Return the outline of a `pymupdf.Document`, in order; empty where it has none.

    Raises:
        RuntimeError: MuPDF cannot read the outline.
    """
    bookmarks = []
    for level, title, page, details in document.get_toc(simple=False):
        point = details.get("to")
        top = float(point.y) if point is not None and page > 0 else None
        cleaned = clean_line(title or "")
        if cleaned:
            bookmarks.append(Bookmark(level, cleaned, page if page > 0 else None, top))
    return tuple(bookmarks)


# Numbers of headings ascend through a document: those that do confirm each other.


def confirm_numbers(candidates: Sequence[Candidate]) -> None:
    """Mark candidates whose numbers ascend through the document as confirmed, in place.

    Numbers of lists begin at 1 again and again, those of sections do not. Of candidates in fonts
    that stand out the longest ascending run counts; plain ones must fit between them.
    """
    numbered = {
        position: item.number for position, item in enumerate(candidates) if item.number is not None
    }
    settled = settle_letters(list(numbered.items()), lambda position: candidates[position].text)
    for position, number in settled.items():
        candidates[position].number = number
    for scheme in ("decimal", "roman", "han", "chapter", "appendix"):
        chain = [
            item for item in candidates if item.number is not None and item.number.scheme == scheme
        ]
        _confirm_ascending(chain)
    _confirm_inner(candidates)


def _confirm_ascending(chain: Sequence[Candidate]) -> None:
    strong = [item for item in chain if item.is_emphasised or item.is_top or item.is_bookmarked]
    kept = _longest_ascending(_of_main_looks(strong))
    if len(kept) == 1 and not (kept[0].is_top or kept[0].is_bookmarked or _numbers_parts(kept[0])):
        kept = []
    if not strong:
        kept = _longest_ascending([item for item in chain if _is_plain_heading(item)])
        if len(kept) < 3 or _values(kept[0])[0] > 1:
            kept = []
    for item in kept:
        item.is_confirmed = True
    _confirm_fitting(chain)


def _of_main_looks(chain: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates whose look is that of most of their depth: bold lists are left out."""
    looks: dict[int, dict[tuple[Style, bool], list[Candidate]]] = {}
    for item in chain:
        by_look = looks.setdefault(len(_values(item)), {})
        by_look.setdefault((item.style, item.run_in is not None), []).append(item)
    main = {
        depth: max(by_look, key=lambda look: len(_longest_ascending(by_look[look])))
        for depth, by_look in looks.items()
    }
    return [
        item
        for item in chain
        if item.is_top
        or item.is_bookmarked
        or main[len(_values(item))] == (item.style, item.run_in is not None)
    ]


def _confirm_fitting(chain: Sequence[Candidate]) -> None:
    """Confirm plain candidates whose number is the next after the one confirmed before it."""
    following: list[Candidate | None] = [None] * len(chain)
    last: Candidate | None = None
    for position in range(len(chain) - 1, -1, -1):
        following[position] = last
        if chain[position].is_confirmed:
            last = chain[position]
    before: Candidate | None = None
    for item, after in zip(chain, following, strict=True):
        if item.is_confirmed:
            before = item
            continue
        if before is None or item.number is None:
            continue
        if not _is_plain_heading(item) and not item.is_emphasised:
            continue
        fits = item.number.follows(before.number) and _values(item) > _values(before)
        looks_so = len(_values(item)) > 1 or item.style == before.style or item.is_emphasised
        if fits and looks_so and (after is None or _values(item) < _values(after)):
            item.is_confirmed = True
            before = item


def _is_plain_heading(item: Candidate) -> bool:
    return (
        item.run_in is None
        and item.is_followed
        and not item.title.endswith((".", ":", "。", "；", "：", "?"))
        and len(item.title) <= 120
    )


def _numbers_parts(item: Candidate) -> bool:
    """Tell whether a number is said to be one: `Chapter 1`, `Appendix A`."""
    return item.number is not None and item.number.scheme in ("chapter", "appendix")


def _values(item: Candidate) -> tuple[int, ...]:
    return item.number.values if item.number is not None else ()


def _longest_ascending(chain: Sequence[Candidate]) -> list[Candidate]:
    """Return the longest run of strictly ascending numbers (patience sorting, n log n)."""
    ends: list[tuple[int, ...]] = []
    end_positions: list[int] = []
    before: list[int] = []
    for position, item in enumerate(chain):
        values = _values(item)
        place = bisect_left(ends, values)
        before.append(end_positions[place - 1] if place else -1)
        if place == len(ends):
            ends.append(values)
            end_positions.append(position)
        else:
            ends[place] = values
            end_positions[place] = position
    kept = []
    position = end_positions[-1] if end_positions else -1
    while position >= 0:
        kept.append(chain[position])
        position = before[position]
    return kept[::-1]


def _confirm_inner(candidates: Sequence[Candidate]) -> None:
    """Confirm letters and numbers in brackets that follow each other within a section."""
    for scheme in ("letter", "han_bracket", "bracket"):
        before: Candidate | None = None
        in_section = False
        for item in candidates:
            if item.number is None:
                continue
            in_section = in_section or (item.number.scheme == "roman" and item.is_confirmed)
            if scheme == "bracket" and (item.is_running or not (item.bold or item.italic)):
                continue
            if item.number.scheme != scheme:
                if item.is_confirmed and item.number.depth == 1:
                    before = None
                continue
            if not item.is_emphasised and not _is_plain_heading(item):
                continue
            previous = before.number if before is not None else None
            if item.number.follows(previous):
                if before is not None and _values(item) > _values(before):
                    before.is_confirmed = item.is_confirmed = item.is_emphasised
                elif scheme == "letter" and item.is_emphasised and item.is_followed:
                    item.is_confirmed = in_section
                before = item


# Headings that lie in several blocks: a number beside or above its title, broken lines.

_MAX_CHARACTERS = 200
_BARE_NUMBER = re.compile(r"(?:\d{1,2}(?:\.\d{1,2})*|[IVX]{1,5}|[A-Z](?:\.\d{1,2})*)\.?")
_BARE_PART = re.compile(
    r"(?:(?:chapter|chapitre|kapitel|cap[íi]tulo|глава|appendix|annexe?|anhang|part|partie)"
    r"\s+(?:\d+|[IVX]+|[A-Z]|one|two|three|four|five|six|seven|eight|nine|ten)"
    r"|第\s*[一二三四五六七八九十\d]+\s*章|附录\s*[A-Z\d]?|APPENDIX)\s*[.:：]?",
    re.IGNORECASE,
)
# A line that ends so goes on.
_OPEN_END = re.compile(
    r"(?:[-‐–—,:&/(]|\b(?:of|and|the|for|in|on|to|with|a|an|by|or|from|at|via|under|between|using"
    r"|de|des|du|la|le|les|et|pour|und|der|die|das|von|für|e|do|da|em|y|del|el|и|в|на))$",
    re.IGNORECASE,
)
# Between the lines of one heading there is hardly more than their own leading.
_MAX_GAP_EMS = 0.7
# Between a chapter's number and its title there may be some lines' white space.
_MAX_PART_GAP_EMS = 3.0
_MIN_HANGING_EMS = 0.8
_CENTRED_POINTS = 6.0


def join_heading_parts(paragraphs: Sequence[Paragraph], body: BodyStyle) -> list[Paragraph]:
    """Return the paragraphs, the parts of one heading joined.

    Args:
        paragraphs: of the whole document, in reading order.
        body: the document's style of running text.
    """
    joined: list[Paragraph] = []
    for paragraph in paragraphs:
        before = joined[-1] if joined else None
        if before is not None and _belong_together(before, paragraph, body):
            joined[-1] = _join(before, paragraph)
        else:
            joined.append(paragraph)
    return joined


def _belong_together(before: Paragraph, after: Paragraph, body: BodyStyle) -> bool:
    if len(before.text) + len(after.text) > _MAX_CHARACTERS or before.page != after.page:
        return False
    # `Chapter 1` on a first page stands among the lines of its front matter.
    is_part = _BARE_PART.fullmatch(before.text) is not None
    is_open = before.kind == "paragraph" or (is_part and before.kind == "front")
    if not (is_open and after.kind == "paragraph" and before.upright and after.upright):
        return False
    line, next_line = before.lines[-1], after.lines[0]
    is_row = line.shares_row(next_line) and line.box[2] <= next_line.box[0]
    if _BARE_NUMBER.fullmatch(before.text):
        return is_row and body.is_emphasised(next_line) and next_line.text[0].isalpha()
    gap = next_line.box[1] - line.box[3]
    if is_part:
        return (
            gap <= _MAX_PART_GAP_EMS * max(before.size, after.size)
            and body.is_emphasised(next_line)
            and next_line.run_in is None
            and after.size >= before.size - 1
            and parse_number(after.text) is None
        )
    return -after.size < gap <= _MAX_GAP_EMS * after.size and _goes_on(before, after, body)


def _goes_on(before: Paragraph, after: Paragraph, body: BodyStyle) -> bool:
    """Tell whether `after`, right below, is the next line of the heading `before`."""
    line, next_line = before.lines[-1], after.lines[0]
    number = parse_number(before.text)
    title = before.text[number.end :] if number else before.text
    is_one_style = (
        body.is_emphasised(line)
        and style_of(line) == style_of(next_line)
        and not (line.run_in or next_line.run_in)
    )
    is_end = before.text[-1] in ".。" or is_top_title(title)
    begins = parse_number(after.text) is not None or is_top_title(after.text)
    if not is_one_style or is_end or begins:
        return False
    return (
        next_line.text[0].islower()
        or _OPEN_END.search(before.text) is not None
        or (number is not None and _is_hanging(before, after))
        or _is_centred(before, after)
    )


def _is_hanging(before: Paragraph, after: Paragraph) -> bool:
    """Tell whether `after` stands below the title of `before`, not below its number."""
    return after.box[0] - before.box[0] >= _MIN_HANGING_EMS * after.size


def _is_centred(before: Paragraph, after: Paragraph) -> bool:
    return (
        abs(_middle(before) - _middle(after)) <= _CENTRED_POINTS
        and abs(before.box[0] - after.box[0]) > _CENTRED_POINTS
    )


def _middle(paragraph: Paragraph) -> float:
    return (paragraph.box[0] + paragraph.box[2]) / 2


def _join(before: Paragraph, after: Paragraph) -> Paragraph:
    joined = make_paragraph([*before.lines, *after.lines], before.page)
    joined.fills_last_line = after.fills_last_line
    joined.starts_at_edge = before.starts_at_edge
    return joined


# Levels of headings: from numbers, then bookmarks, then the rank of their style.

_Look = tuple[Style, bool]
"""Style, and whether it runs in: a run-in heading stands below one on a line of its own."""


_MIN_TOP_SHARE = 0.4


def set_levels(headings: Sequence[Candidate], has_outline: bool) -> None:
    """Give every heading its level, in place.

    Args:
        headings: in order.
        has_outline: bookmarks name the printed headings.
    """
    numbered = _levels_of_numbers(headings)
    votes: dict[_Look, Counter[int]] = defaultdict(Counter)
    for position, item in enumerate(headings):
        look = _look(item)
        if position in numbered:
            votes[look][numbered[position]] += 2
        elif has_outline and item.level is not None:
            votes[look][item.level] += 2
    numbered_looks = set(votes) if not has_outline else set()
    by_look = {look: count.most_common(1)[0][0] for look, count in votes.items()}
    _place_top_titles(headings, by_look)
    # The first heading of a document stands under no other.
    if headings and 0 not in numbered:
        by_look.setdefault(_look(headings[0]), 1)
    _rank_other_looks(headings, by_look)
    back_titles = Counter(fold_title(item.title) for item in headings if is_back_title(item.title))
    for position, item in enumerate(headings):
        if position in numbered:
            item.level = numbered[position]
        elif (not has_outline or item.level is None) and (
            _is_only_one(item, back_titles) and _look(item) not in numbered_looks
        ):
            item.level = 1
        elif not has_outline or item.level is None:
            item.level = by_look[_look(item)]


def _is_only_one(item: Candidate, back_titles: Counter[str]) -> bool:
    """Tell whether a heading is the only one of a title that stands at the end of papers."""
    return back_titles[fold_title(item.title)] == 1


def _place_top_titles(headings: Sequence[Candidate], by_look: dict[_Look, int]) -> None:
    """Give level 1 to looks that titles of the first level have, in place.

    One such title among many others says little: experiments have results of their own.
    """
    totals = Counter(_look(item) for item in headings)
    tops = Counter(_look(item) for item in headings if item.is_top and item.run_in is None)
    for look, count in tops.items():
        if look not in by_look and count >= _MIN_TOP_SHARE * totals[look]:
            by_look[look] = 1
    if tops and 1 not in by_look.values():
        by_look[max(tops, key=lambda look: tops[look])] = 1


def _look(item: Candidate) -> _Look:
    return item.style, item.run_in is not None


def _levels_of_numbers(headings: Sequence[Candidate]) -> dict[int, int]:
    """Return the levels of numbered headings by position; letters of appendices have none."""
    numbers = [item.number for item in headings if item.number is not None and item.is_confirmed]
    schemes = {number.scheme for number in numbers}
    shift = 1 if "part" in schemes else 0
    chapters = sum(number.scheme == "chapter" for number in numbers)
    tops = sum(number.scheme == "decimal" and number.depth == 1 for number in numbers)
    # Where every chapter counts its sections from 1, `1` is a section.
    below = 1 if 0 < chapters < tops else 0
    levels: dict[int, int] = {}
    outer = bool(schemes & {"roman", "han"})
    for position, item in enumerate(headings):
        number = item.number
        if number is None or not item.is_confirmed:
            continue
        depth = number.depth
        if number.scheme == "letter" and not outer:
            continue
        if number.scheme == "decimal":
            depth += below
            if "han" in schemes and depth == 1:
                depth = 3 if "han_bracket" in schemes else 2
            elif "roman" in schemes and number.depth == 1 and "letter" in schemes:
                depth = 3
        levels[position] = depth + shift
    return levels


def _rank_other_looks(headings: Sequence[Candidate], by_look: dict[_Look, int]) -> None:
    """Give looks without a vote the level that their rank among the others leaves, in place."""
    strength = {_look(item): _strength(item) for item in headings}
    open_looks = [look for look in strength if look not in by_look]
    for look in sorted(open_looks, key=lambda look: strength[look], reverse=True):
        stronger = [level for other, level in by_look.items() if strength[other] > strength[look]]
        by_look[look] = max(stronger) + 1 if stronger else 1


def _strength(item: Candidate) -> tuple[float, ...]:
    size, _, capitals = item.style
    return (item.run_in is None, size, item.bold, capitals, not item.italic)


# Which paragraphs of a PDF are headings, and of what level.
#
# What is built as a heading is a candidate; numbers that ascend, bookmarks and titles that sections
# have confirm some; a style that confirmed headings share makes the others of that style headings.

# Longer ones may as well be sentences in bold.
_MAX_UNPLACED_CHARACTERS = 60


def mark_headings(
    paragraphs: Sequence[Paragraph],
    bookmarks: Sequence[Bookmark],
    body: BodyStyle,
    title: str | None = None,
) -> list[Paragraph]:
    """Return the paragraphs with headings marked by kind and level.

    Args:
        paragraphs: of the whole document, in reading order; those whose kind another pass has
            settled (title, front, caption, table …) are left alone.
        bookmarks: in order; empty where the document has none.
        body: the document's style of running text.
        title: of the document, which is no heading.
    """
    paragraphs = join_heading_parts(paragraphs, body)
    skipped = find_contents(paragraphs) | find_running_heads(paragraphs, body)
    candidates = find_candidates(paragraphs, body, skipped, title)
    has_outline = match_bookmarks(candidates, bookmarks, title)
    confirm_numbers(candidates)
    headings = accept_styles(candidates, paragraphs, body, has_outline)
    set_levels(headings, has_outline)
    _mark_unplaced(candidates, headings)
    return _with_headings(paragraphs, headings)


def _mark_unplaced(candidates: Sequence[Candidate], headings: Sequence[Candidate]) -> None:
    """Mark lines that look like headings but share nothing with those that are, in place.

    What stands before the first heading belongs to the title page.
    """
    if not headings:
        return
    first = headings[0].index
    placed = {item.index for item in headings}
    for item in candidates:
        if (
            item.index > first
            and item.index not in placed
            and item.run_in is None
            and item.paragraph.kind == "paragraph"
            and item.is_emphasised
            and (item.bold or item.style[2])
            and item.is_followed
            and not item.is_running
            and len(item.text) <= _MAX_UNPLACED_CHARACTERS
            and item.text[-1].isalnum()
        ):
            item.paragraph.kind = "unplaced_heading"


def _with_headings(
    paragraphs: Sequence[Paragraph], headings: Sequence[Candidate]
) -> list[Paragraph]:
    by_index = {item.index: item for item in headings}
    result: list[Paragraph] = []
    for index, paragraph in enumerate(paragraphs):
        item = by_index.get(index)
        if item is None:
            result.append(paragraph)
        elif item.run_in is None:
            paragraph.kind, paragraph.level = "heading", item.level
            result.append(paragraph)
        else:
            heading_lines, text_lines = item.run_in
            heading = make_paragraph(heading_lines, paragraph.page)
            heading.kind, heading.level = "heading", item.level
            rest = make_paragraph(text_lines, paragraph.page)
            rest.fills_last_line = paragraph.fills_last_line
            result += [heading, rest]
    return result
