"""Which bookmarks name which printed headings, and what levels they give."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from rag_assets.parsing.pdf.headings.candidates import Candidate
from rag_assets.parsing.pdf.headings.words import fold_title, is_abstract_title

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
