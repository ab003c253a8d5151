"""The section tree of a document: headings become sections with a path, a category, a subtype."""

from collections.abc import Sequence
from dataclasses import dataclass

from rag_assets.model import Block, Section, SectionCategory, SectionSubtype
from rag_assets.parsing.section_titles import category_of_title, subtype_of_title


@dataclass(frozen=True, slots=True)
class _Open:
    level: int
    title: str
    category: SectionCategory | None
    subtype: SectionSubtype | None


def make_sections(
    text: str, blocks: Sequence[Block], abstract: tuple[int, int] | None = None
) -> tuple[Section, ...]:
    """Return the sections of a document, which partition its text.

    A heading opens a section that ends at the next heading of any level. Levels are taken as
    depths relative to the headings above: a jump from level 1 to 3 is one step down. A section
    inherits category and subtype from the section around it where its own title says nothing.
    An abstract without a heading of its own is a section without title.

    Args:
        text: the clean text.
        blocks: in order; those of kind `heading` count.
        abstract: as in `ParsedDocument.abstract`.
    """
    starts: list[tuple[int, tuple[_Open, ...]]] = [(0, ())]
    open_sections: list[_Open] = []
    for block in blocks:
        if block.kind != "heading":
            continue
        title = _title_of(text[block.start : block.end])
        if not title:
            continue
        level = block.level or 1
        while open_sections and open_sections[-1].level >= level:
            open_sections.pop()
        outer = open_sections[-1] if open_sections else None
        category = category_of_title(title)
        subtype = subtype_of_title(title)
        if category is None and subtype is None and outer is not None:
            category, subtype = outer.category, outer.subtype
        open_sections.append(_Open(level, title, category, subtype))
        starts.append((block.start, tuple(open_sections)))
    if len(starts) > 1 and starts[1][0] == 0:
        del starts[0]
    sections = [
        _section(order, path, start, starts[order + 1][0] if order + 1 < len(starts) else len(text))
        for order, (start, path) in enumerate(starts)
    ]
    return _with_abstract(sections, abstract)


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
    """Cut an abstract that stands before the first heading out of what is around it."""
    if abstract is None or not sections or sections[0].title or not abstract[1] <= sections[0].end:
        return tuple(sections)
    around = sections[0]
    pieces = [
        (around.start, abstract[0], SectionCategory.OTHER),
        (abstract[0], abstract[1], SectionCategory.ABSTRACT),
        (abstract[1], around.end, SectionCategory.OTHER),
    ]
    untitled = [
        Section(0, "", 0, (), category, start, end)
        for start, end, category in pieces
        if start < end
    ]
    ordered = [*untitled, *sections[1:]]
    return tuple(_renumber(section, order) for order, section in enumerate(ordered))


def _renumber(section: Section, order: int) -> Section:
    return Section(
        order,
        section.title,
        section.level,
        section.path,
        section.category,
        section.start,
        section.end,
        section.subtype,
    )


def _title_of(source: str) -> str:
    """Return a heading's text on one line, without Markdown's marks."""
    return " ".join(source.strip().strip("#").replace("\n=", "\n").split())
