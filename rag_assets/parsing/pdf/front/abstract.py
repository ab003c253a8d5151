"""The abstract of a paper: under its heading, or by its look between authors and first section."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag_assets.parsing.cleaning import ends_sentence
from rag_assets.parsing.language import guess_language
from rag_assets.parsing.pdf.front.words import (
    ABSTRACT_HEAD,
    ABSTRACT_LABEL,
    CORRESPONDENCE,
    FIRST_SECTION,
    KEYWORDS,
    NOTICE,
    RECEIVED,
    SUMMARY_HEAD,
    word_count,
)
from rag_assets.parsing.pdf.paragraphs import Paragraph

# Abstracts stand on the first pages; those of theses behind covers, oaths and thanks.
_LAST_PAGE = 14
# The longest abstracts of journals have some 600 words, those of theses a page or two.
_MAX_WORDS = 900
# Without a heading an abstract is told by its size: shorter is a motto, longer an introduction.
_MIN_UNHEADED_WORDS, _MAX_UNHEADED_WORDS = 40, 450
_SAME_SIZE_POINTS = 0.8
_AFTER_HEAD = re.compile(r"[\s:：.。|•*—–\-\]】]*")
# Around the middle of a document stands its text proper; the language is read there.
_LANGUAGE_CHARACTERS = 6000
_WIDTH_STEP = 0.9
# A box of key points interrupts a sentence with a bullet; its text is set in from the column.
_BULLETS = "►•▪●■◆➢✓‣"
_BOX_MARGIN_POINTS = 2.0
_TEXT_KINDS = ("paragraph", "list", "heading", "unplaced_heading", "front", "footnote")


@dataclass(frozen=True, slots=True)
class Abstract:
    """The paragraphs of an abstract, which stand together.

    Args:
        skip: characters of the first paragraph that are its heading (`Abstract—`).
    """

    paragraphs: tuple[Paragraph, ...] = ()
    skip: int = 0


def find_abstract(paragraphs: list[Paragraph]) -> Abstract:
    """Return the abstract, empty where there is none.

    Of abstracts in several languages the one in the document's own is taken. Headings inside the
    abstract (Background, Methods …) become paragraphs; what interrupts it is moved behind it, and
    what stands between the title and it is front matter.

    Args:
        paragraphs: in reading order, headings marked; changed in place.
    """
    last_page = paragraphs[-1].page if paragraphs else 0
    found = _all_headed(paragraphs, 0, min(_LAST_PAGE, last_page))
    if not found:
        taken = _unheaded(paragraphs)
        found = [(taken, 0)] if taken else []
    if not found and last_page > _LAST_PAGE:
        # French theses print it on the back.
        found = _all_headed(paragraphs, last_page - 1, last_page)
    if not found:
        return Abstract()
    taken, skip = _in_own_language(paragraphs, found)
    _mark_head(paragraphs, taken[0])
    return Abstract(_put_together(paragraphs, taken), skip)


def _mark_head(paragraphs: Sequence[Paragraph], first: int) -> None:
    """Make the line above the abstract a heading where it is nothing but its head."""
    if first == 0:
        return
    head = paragraphs[first - 1]
    match = ABSTRACT_HEAD.match(head.text) or SUMMARY_HEAD.match(head.text)
    is_alone = match is not None and not head.text[match.end() :].strip(" .:：-—–*•]】")
    if is_alone and head.kind in ("paragraph", "unplaced_heading"):
        levels = [item.level or 1 for item in paragraphs if item.kind == "heading"]
        head.kind, head.level = "heading", min(levels, default=1)


def _all_headed(
    paragraphs: Sequence[Paragraph], first_page: int, last_page: int
) -> list[tuple[list[int], int]]:
    found = []
    for index, paragraph in enumerate(paragraphs):
        if paragraph.page < first_page:
            continue
        if paragraph.page > last_page:
            break
        if paragraph.kind not in _TEXT_KINDS or not paragraph.upright:
            continue
        match = ABSTRACT_HEAD.match(paragraph.text)
        if match is None and paragraph.page == 1 and SUMMARY_HEAD.match(paragraph.text):
            match = SUMMARY_HEAD.match(paragraph.text)
        if match is None:
            continue
        taken, skip = _headed(paragraphs, index, match)
        if taken:
            found.append((taken, skip))
    return found


def _headed(
    paragraphs: Sequence[Paragraph], head: int, match: re.Match[str]
) -> tuple[list[int], int]:
    """Return the indices of the abstract under a heading, and the heading's length in the first."""
    text = paragraphs[head].text
    after = _AFTER_HEAD.match(text, match.end())
    skip = after.end() if after else match.end()
    if skip < len(text):
        first, taken = head, [head]
    else:
        first, taken, skip = head + 1, [], 0
    labelled = skip > 0 and ABSTRACT_LABEL.match(text, skip) is not None
    words = word_count(text) if taken else 0.0
    labels: set[str] = set()
    runs_in = labelled
    box_left: float | None = None
    for index in range(first + len(taken), len(paragraphs)):
        item = paragraphs[index]
        if item.page > paragraphs[head].page + 1 or words > _MAX_WORDS:
            break
        if item.kind not in _TEXT_KINDS or not item.upright:
            continue
        if taken and item.text[0] in _BULLETS and not ends_sentence(paragraphs[taken[-1]].text):
            box_left = item.box[0]
        if box_left is not None:
            if item.box[0] >= box_left - _BOX_MARGIN_POINTS and item.page == paragraphs[head].page:
                continue
            box_left = None
        label = ABSTRACT_LABEL.match(item.text)
        if label is not None and (not taken or labelled) and _fits(label, item, labels, runs_in):
            runs_in = runs_in or label.end() < len(item.text)
            labelled = True
            labels.add(_folded(label))
        elif _ends_abstract(item, paragraphs[taken[-1]] if taken else None, bool(taken)):
            break
        elif item.kind == "front" or (taken and _is_aside(item, paragraphs[taken[-1]])):
            continue
        taken.append(index)
        words += word_count(item.text)
    while taken and paragraphs[taken[-1]].kind in ("heading", "unplaced_heading"):
        taken.pop()
    return taken, skip


def _folded(label: re.Match[str]) -> str:
    return (label[1] or label[2]).lower().rstrip("s")


def _fits(label: re.Match[str], item: Paragraph, labels: set[str], runs_in: bool) -> bool:
    """Tell whether a label goes on with a structured abstract rather than heads a section.

    No part comes twice, and where the parts' names run in, one on a line of its own is a heading.
    """
    return _folded(label) not in labels and not (runs_in and label.end() >= len(item.text))


def _ends_abstract(item: Paragraph, before: Paragraph | None, has_text: bool) -> bool:
    text = item.text
    if (
        item.kind in ("heading", "unplaced_heading")
        or KEYWORDS.match(text)
        or FIRST_SECTION.fullmatch(text)
        or ABSTRACT_HEAD.match(text)
    ):
        return True
    if before is None or not has_text or not ends_sentence(before.text):
        return False
    return (
        _is_about_paper(text)
        or abs(item.size - before.size) > _SAME_SIZE_POINTS
        or (item.bold != before.bold and item.page == before.page)
    )


def _is_about_paper(text: str) -> bool:
    return bool(CORRESPONDENCE.match(text) or RECEIVED.match(text) or NOTICE.match(text))


def _is_aside(item: Paragraph, before: Paragraph) -> bool:
    """Tell whether `item` interrupts a sentence: in another size, or about the paper."""
    return (
        abs(item.size - before.size) > _SAME_SIZE_POINTS
        or CORRESPONDENCE.match(item.text) is not None
        or NOTICE.match(item.text) is not None
    )


def _unheaded(paragraphs: Sequence[Paragraph]) -> list[int]:
    """Return the indices of an abstract without heading, by its look and by what follows it."""
    title = next((i for i, item in enumerate(paragraphs) if item.kind == "title"), None)
    if title is None:
        return []
    page = paragraphs[title].page
    taken: list[int] = []
    follower: Paragraph | None = None
    for index in range(title + 1, len(paragraphs)):
        item = paragraphs[index]
        if item.kind in ("front", "title", "footnote", "figure", "drawing", "caption", "table"):
            continue
        is_cut = bool(taken) and not ends_sentence(paragraphs[taken[-1]].text)
        is_end = (
            (item.page != page and not is_cut)
            or item.kind != "paragraph"
            or KEYWORDS.match(item.text) is not None
            or FIRST_SECTION.fullmatch(item.text) is not None
        )
        if is_end or (taken and not _is_alike(item, paragraphs[taken[-1]])):
            follower = item
            break
        taken.append(index)
    words = sum(word_count(paragraphs[index].text) for index in taken)
    if follower is None or not _MIN_UNHEADED_WORDS <= words <= _MAX_UNHEADED_WORDS:
        return []
    first = paragraphs[taken[0]]
    if KEYWORDS.match(follower.text) or FIRST_SECTION.fullmatch(follower.text):
        return taken
    if follower.kind == "paragraph" and follower.page == page and not _is_alike(follower, first):
        return taken
    return []


def _is_alike(item: Paragraph, before: Paragraph) -> bool:
    same_font = abs(item.size - before.size) <= _SAME_SIZE_POINTS / 2 and item.bold == before.bold
    narrower = item.box[2] - item.box[0] < _WIDTH_STEP * (before.box[2] - before.box[0])
    return same_font and not (narrower and len(item.lines) > 2)


def _in_own_language(
    paragraphs: Sequence[Paragraph], found: Sequence[tuple[list[int], int]]
) -> tuple[list[int], int]:
    if len(found) == 1:
        return found[0]
    middle = paragraphs[len(paragraphs) // 4 :]
    text, index = "", 0
    while index < len(middle) and len(text) < _LANGUAGE_CHARACTERS:
        text += middle[index].text + "\n"
        index += 1
    own = guess_language(text)
    for taken, skip in found:
        abstract = " ".join([paragraphs[item].text for item in taken])[skip:]
        if own is not None and guess_language(abstract) == own:
            return taken, skip
    return found[0]


def _put_together(paragraphs: list[Paragraph], taken: Sequence[int]) -> tuple[Paragraph, ...]:
    """Move what stands between the abstract's paragraphs behind them, page by page."""
    own = [paragraphs[index] for index in taken]
    for paragraph in own:
        if paragraph.kind != "list":
            paragraph.kind, paragraph.level = "paragraph", None
    wanted = {id(paragraph) for paragraph in own}
    between = [item for item in paragraphs[taken[0] : taken[-1]] if id(item) not in wanted]
    first = own[0].page
    early = [item for item in between if item.page == first and own[-1].page != first]
    late = [item for item in between if item.page != first or own[-1].page == first]
    paragraphs[taken[0] : taken[-1] + 1] = [*early, *own, *late]
    return tuple(own)
