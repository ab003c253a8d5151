"""The marks of numbered paragraphs, which Word computes and does not store."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rag_assets.parsing.office.docx_xml import W, number_of, value_of
from rag_assets.parsing.office.numbers import format_number, whole_number

if TYPE_CHECKING:
    from lxml.etree import _Element

_LEVELS = 9


@dataclass(frozen=True, slots=True)
class Mark:
    """What stands before a numbered paragraph: `-` for a bullet, else the number as printed."""

    text: str
    is_bullet: bool


@dataclass(slots=True)
class _Level:
    start: int = 1
    form: str = "decimal"
    pattern: str = ""
    restart: int | None = None
    is_legal: bool = False
    style_id: str | None = None


@dataclass(slots=True)
class _List:
    """A `w:num`: its levels, and the counters that it shares with others of its definition."""

    levels: dict[int, _Level]
    counters: dict[int, int]
    restarts: dict[int, int] = field(default_factory=dict)


class Numbering:
    """Counts the numbered paragraphs of a document in their order.

    Args:
        root: of the numbering part, None where the package has none.
    """

    def __init__(self, root: "_Element | None") -> None:
        self._definitions: dict[int, _Element] = {}
        self._by_style: dict[str, _Element] = {}
        self._nums: dict[int, _Element] = {}
        self._lists: dict[int, _List | None] = {}
        self._counters: dict[int, dict[int, int]] = {}
        if root is None:
            return
        for element in root.findall(W + "abstractNum"):
            definition = whole_number(element.get(W + "abstractNumId"))
            if definition is not None:
                self._definitions[definition] = element
            style = value_of(element, "styleLink")
            if style:
                self._by_style[style] = element
        for element in root.findall(W + "num"):
            num_id = whole_number(element.get(W + "numId"))
            if num_id is not None:
                self._nums[num_id] = element

    def level_of_style(self, num_id: int, style_id: str | None) -> int | None:
        """Return the level of a list that is bound to a paragraph style, None without."""
        found = self._list(num_id)
        levels = found.levels.items() if found else ()
        return next((depth for depth, level in levels if level.style_id == style_id), None)

    def mark(self, num_id: int, depth: int) -> Mark | None:
        """Count one paragraph and return its mark; None where it shows none.

        Args:
            num_id: of the list.
            depth: level in the list, from 0.
        """
        found = self._list(num_id)
        if found is None or depth not in found.levels:
            return None
        level = found.levels[depth]
        self._count(found, depth)
        if level.form == "bullet":
            return Mark("-", is_bullet=True)
        text = level.pattern
        for upper in range(depth + 1):
            shown = found.levels.get(upper, _Level())
            form = "decimal" if level.is_legal else shown.form
            value = found.counters.get(upper, shown.start)
            text = text.replace(f"%{upper + 1}", format_number(value, form))
        text = " ".join(text.split())
        return Mark(text, is_bullet=False) if text else None

    def _count(self, found: _List, depth: int) -> None:
        level, counters = found.levels[depth], found.counters
        if depth in found.restarts:
            counters[depth] = found.restarts.pop(depth)
        else:
            counters[depth] = counters.get(depth, level.start - 1) + 1
        for upper in range(depth):
            counters.setdefault(upper, found.levels.get(upper, _Level()).start)
        for lower in range(depth + 1, _LEVELS):
            # By default a level begins anew after any higher one; 0 means never.
            bound = found.levels.get(lower, _Level()).restart
            if bound is None or (bound > 0 and depth < bound):
                counters.pop(lower, None)

    def _list(self, num_id: int) -> _List | None:
        if num_id not in self._lists:
            self._lists[num_id] = self._make_list(num_id)
        return self._lists[num_id]

    def _make_list(self, num_id: int) -> _List | None:
        num = self._nums.get(num_id)
        definition_id = number_of(num, "abstractNumId")
        if num is None or definition_id is None or definition_id not in self._definitions:
            return None
        definition = self._definitions[definition_id]
        linked = value_of(definition, "numStyleLink")
        if linked in self._by_style:
            definition = self._by_style[linked]
        levels = dict(map(_read_level, definition.findall(W + "lvl")))
        made = _List(levels, self._counters.setdefault(definition_id, {}))
        for override in num.findall(W + "lvlOverride"):
            depth = whole_number(override.get(W + "ilvl")) or 0
            replaced = override.find(W + "lvl")
            if replaced is not None:
                levels[depth] = _read_level(replaced)[1]
            start = number_of(override, "startOverride")
            if start is not None:
                made.restarts[depth] = start
        return made


def _read_level(element: "_Element") -> tuple[int, _Level]:
    form = value_of(element, "numFmt")
    if form is None and element.find(f".//{W}numFmt") is not None:
        form = element.findall(f".//{W}numFmt")[-1].get(W + "val")
    start = number_of(element, "start")
    level = _Level(
        # Counting begins at 0 where the level does not say (ECMA-376 part 1, 17.9.25).
        0 if start is None else start,
        form or "decimal",
        value_of(element, "lvlText") or "",
        number_of(element, "lvlRestart"),
        element.find(W + "isLgl") is not None,
        value_of(element, "pStyle"),
    )
    return whole_number(element.get(W + "ilvl")) or 0, level
