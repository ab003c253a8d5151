"""Levels of headings: from numbers, then bookmarks, then the rank of their style."""

from collections import Counter, defaultdict
from collections.abc import Sequence

from rag_assets.parsing.pdf.headings.candidates import Candidate
from rag_assets.parsing.pdf.headings.words import fold_title, is_back_title
from rag_assets.parsing.pdf.styles import Style

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
    # Where every chapter counts its sections anew, `1` is a section.
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
