"""Numbers of headings ascend through a document: those that do confirm each other."""

from bisect import bisect_left
from collections.abc import Sequence

from rag_assets.parsing.pdf.headings.candidates import Candidate
from rag_assets.parsing.pdf.headings.numbers import settle_letters
from rag_assets.parsing.pdf.styles import Style


def confirm_numbers(candidates: Sequence[Candidate]) -> None:
    """Mark candidates whose numbers ascend through the document as confirmed, in place.

    Numbers of lists begin anew again and again, those of sections do not. Of candidates in fonts
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
