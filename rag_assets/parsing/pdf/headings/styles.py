"""The document's own consistency: styles of confirmed headings make and refute others."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from rag_assets.parsing.pdf.headings.candidates import Candidate
from rag_assets.parsing.pdf.headings.words import (
    is_back_title,
    is_contents_title,
    is_reference_title,
)
from rag_assets.parsing.pdf.paragraphs import Paragraph
from rag_assets.parsing.pdf.styles import BodyStyle, Style, style_of

# A style in which more text stands than in its candidates is one of sentences.
_MAX_SENTENCE_RATIO = 1.5
_SENTENCE_ENDS = ".:。："
_MIN_UNCONFIRMED = 2
_MIN_OTHER_FONT = 3
_MIN_RUN_INS, _MIN_RUN_IN_SHARE, _MAX_RUN_IN_CHARACTERS = 3, 0.7, 80
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
        and len(item.text) <= _MAX_RUN_IN_CHARACTERS
    )
