"""The laws of a file: where one ends and the next begins, what each is called, its units."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rag_assets.law.structure.lines import Line, LineKind, read_lines
from rag_assets.law.structure.machine import run
from rag_assets.law.structure.units import Unit, UnitKind

# Lines with text, levels not counted, that are looked at upwards from an article 1 (2.1.2-3).
_LOOK_BEHIND = 20
_LONGEST_TITLE = 60
_ENDS_A_SENTENCE = tuple("。；;！!？?：:，,）)>")
_CONTENTS = re.compile(r"目\s*[录次]")
_COMMENT = re.compile(r"\s*<!--.*?-->\s*")
# Cascade (2.1.2-5): a law is cut into the first of these that it has.
_CASCADE = (
    (UnitKind.ARTICLE, frozenset({LineKind.ARTICLE})),
    (UnitKind.ITEM, frozenset({LineKind.ITEM})),
    (UnitKind.TEXT, frozenset[LineKind]()),
)


@dataclass(frozen=True, slots=True)
class LawText:
    """A law within a file.

    Args:
        title: as it was read from the text; None where nothing looks like one.
        start: [start, end) in the text of the file, its preamble included.
        units: in order; together they are its text.
    """

    title: str | None
    start: int
    end: int
    units: tuple[Unit, ...]


def read_laws(text: str) -> list[LawText]:
    """Return the laws of a file in order; together they are its text. None for an empty one."""
    lines = read_lines(text)
    if not lines:
        return []
    cuts = [0, *_resets(lines), len(lines)]
    laws = [lines[start:end] for start, end in pairwise(cuts)]
    return [_read(law) for law in laws]


def _read(lines: Sequence[Line]) -> LawText:
    entity, entities = next(
        (kind, wanted)
        for kind, wanted in _CASCADE
        if not wanted or any(line.kind in wanted for line in lines)
    )
    title = _title(lines, _first_article(lines))
    return LawText(
        _full_title(lines, title) if title is not None else None,
        lines[0].start,
        lines[-1].end,
        tuple(run(lines, entity, entities)),
    )


def _first_article(lines: Sequence[Line]) -> int:
    """Return the index of the first article, of the first line with text where there is none."""
    for wanted in (LineKind.ARTICLE, LineKind.LEVEL):
        found = next((index for index, line in enumerate(lines) if line.kind is wanted), None)
        if found is not None:
            return found
    return min(len(lines), _LOOK_BEHIND)


def _resets(lines: Sequence[Line]) -> list[int]:
    """Return the lines with which a further law begins: its title, or its article 1 without one."""
    found: list[int] = []
    last = None
    for index, line in enumerate(lines):
        if line.kind is not LineKind.ARTICLE:
            continue
        if line.key == "1" and last is not None:
            title = _title(lines[last + 1 : index], index - last - 1)
            found.append(last + 1 + title if title is not None else index)
        last = index
    return found


def _title(lines: Sequence[Line], below: int) -> int | None:
    """Return the line that names the law, looking upwards from a line that belongs to it.

    The nearest heading of the first rank, else of the second, else the nearest short line that is
    no sentence, date or note; levels are passed over.
    """
    passed_over = {LineKind.BLANK, LineKind.LEVEL}
    above = [i for i in range(below - 1, -1, -1) if lines[i].kind not in passed_over]
    # A heading of the first rank between two laws is a title, however long the preamble is.
    for rank, window in ((1, above), (2, above[:_LOOK_BEHIND])):
        for index in window:
            if _is_heading(lines[index], rank):
                return _first_of_title(lines, index)
    for index in above[:_LOOK_BEHIND]:
        line = lines[index]
        if line.kind is LineKind.TEXT and _is_short(line.text):
            return index
    return None


def _first_of_title(lines: Sequence[Line], last: int) -> int:
    """Return the first of the headings of one rank that a title is written in."""
    first = last
    for index in range(last - 1, -1, -1):
        if _is_heading(lines[index], lines[last].rank):
            first = index
        elif lines[index].kind is not LineKind.BLANK:
            break
    return first


def _full_title(lines: Sequence[Line], first: int) -> str:
    parts = [lines[first].text]
    for line in lines[first + 1 :]:
        if lines[first].rank and _is_heading(line, lines[first].rank):
            parts.append(line.text)
        elif line.kind is not LineKind.BLANK:
            break
    return _COMMENT.sub("", "".join(parts)).strip()


def _is_heading(line: Line, rank: int) -> bool:
    return line.rank == rank and line.kind not in {LineKind.LEVEL, LineKind.ARTICLE}


def _is_short(text: str) -> bool:
    is_note = text.startswith(("<", "（", "(")) or any(c.isdigit() for c in text)
    is_note = is_note or _CONTENTS.fullmatch(text) is not None
    return len(text) <= _LONGEST_TITLE and not text.endswith(_ENDS_A_SENTENCE) and not is_note
