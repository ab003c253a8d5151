"""The section tree of a document: headings become sections with a path, a category, a subtype."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from rag_assets.model import Block, Section, SectionCategory, SectionSubtype
from rag_assets.parsing.section_titles import (
    category_of_title,
    is_summary,
    named_thing,
    subtype_of_title,
    weak_category_of_title,
)

# What stands in them is abstract or others' work as a whole, whatever its parts are called.
_CLOSED = (SectionCategory.ABSTRACT, SectionCategory.RELATED_WORK)
_DECIMAL = re.compile(r"(\d+(?:\.\d+)*)\b")
_NUMBERED = re.compile(r"\W*(?:\d+|[IVX]+)[.\s]")


@dataclass(frozen=True, slots=True)
class _Open:
    level: int
    title: str
    category: SectionCategory | None
    subtype: SectionSubtype | None


def make_sections(
    text: str,
    blocks: Sequence[Block],
    abstract: tuple[int, int] | None = None,
    *,
    title_of: Callable[[str], str] | None = None,
    document_title: str | None = None,
) -> tuple[Section, ...]:
    """Return the sections of a document, which partition its text.

    A heading opens a section that ends at the next heading of any level. Levels are taken as
    depths relative to the headings above: a jump from level 1 to 3 is one step down. A section
    inherits its category from the section around it where its own title says nothing; inside an
    abstract, related work, references, appendix or acknowledgements always. A subtype holds for
    all sections inside. An abstract without a heading of its own is a section without title.

    Args:
        text: the clean text.
        blocks: in order; those of kind `heading` count.
        abstract: as in `ParsedDocument.abstract`.
        document_title: a section named after the thing that the title announces ("Thing: how it
            works") describes the method.
        title_of: from a heading's source to its title; by default the source on one line.
    """
    starts: list[tuple[int, tuple[_Open, ...]]] = [(0, ())]
    open_sections: list[_Open] = []
    for block in blocks:
        if block.kind != "heading":
            continue
        title = (title_of or _title_of)(text[block.start : block.end])
        if not title:
            continue
        level = block.level or 1
        while open_sections and open_sections[-1].level >= level:
            open_sections.pop()
        outer = open_sections[-1] if open_sections else None
        own = _Open(level, title, None, subtype_of_title(title))
        if is_summary(title) and len(starts) == 1:
            category: SectionCategory | None = SectionCategory.ABSTRACT
        else:
            category = _category(own, outer, document_title)
        is_inside = outer is not None and not _is_sibling(title, outer.title)
        subtype = own.subtype or (outer.subtype if outer is not None and is_inside else None)
        open_sections.append(_Open(level, title, category, subtype))
        starts.append((block.start, tuple(open_sections)))
    if len(starts) > 1 and starts[1][0] == 0:
        del starts[0]
    sections = [
        _section(order, path, start, starts[order + 1][0] if order + 1 < len(starts) else len(text))
        for order, (start, path) in enumerate(starts)
    ]
    return _with_abstract(sections, abstract)


def _category(
    own: _Open, outer: _Open | None, document_title: str | None
) -> SectionCategory | None:
    """Return the category of a section inside `outer`, None where nothing says one."""
    named = category_of_title(own.title)
    if outer is None or own.subtype is not None or _is_sibling(own.title, outer.title):
        inherited = None
    else:
        inherited = outer.category
        is_closed = outer.subtype is not None or inherited in _CLOSED
        # A numbered section below the abstract is there by a wrong level.
        is_misplaced = (
            inherited is SectionCategory.ABSTRACT and _NUMBERED.match(own.title) is not None
        )
        if is_closed and not is_misplaced:
            return inherited
        if is_misplaced:
            inherited = None
    if named is not None:
        return named
    if inherited is not None:
        return inherited
    thing = named_thing(document_title or "")
    if thing is not None and re.search(rf"\b{re.escape(thing)}\b", own.title, re.IGNORECASE):
        return SectionCategory.METHOD
    return weak_category_of_title(own.title)


def _is_sibling(title: str, outer_title: str) -> bool:
    """Tell whether numbers contradict the levels: "3 Methods" is no part of "2 Related work"."""
    own, outer = _DECIMAL.match(title), _DECIMAL.match(outer_title)
    return own is not None and outer is not None and not own[1].startswith(f"{outer[1]}.")


def _section(order: int, path: Sequence[_Open], start: int, end: int) -> Section:
    if not path:
        return Section(order, "", 0, (), SectionCategory.OTHER, start, end)
    own = path[-1]
    category = SectionCategory.OTHER if own.category is None else own.category
    titles = tuple(section.title for section in path)
    return Section(order, own.title, len(path) - 1, titles, category, start, end, own.subtype)


def _with_abstract(
    sections: Sequence[Section], abstract: tuple[int, int] | None
) -> tuple[Section, ...]:
    """Cut an abstract that has no heading of its own out of the section that it stands in."""
    if abstract is None:
        return tuple(sections)
    start, end = abstract
    around = next((item for item in sections if item.start <= start and end <= item.end), None)
    if around is None or around.category is SectionCategory.ABSTRACT:
        return tuple(sections)
    pieces = [
        replace(around, end=start),
        Section(0, "", 0, (), SectionCategory.ABSTRACT, start, end),
        replace(around, start=end),
    ]
    place = around.order
    ordered = [
        *sections[:place],
        *(piece for piece in pieces if piece.start < piece.end),
        *sections[place + 1 :],
    ]
    return tuple(replace(section, order=order) for order, section in enumerate(ordered))


def _title_of(source: str) -> str:
    """Return a heading's text on one line."""
    return " ".join(source.split())
