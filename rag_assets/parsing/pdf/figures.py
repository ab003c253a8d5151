"""Figures of a page: their areas, captions and tables."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from rag_assets.model import Attachment, Box
from rag_assets.parsing.pdf.captions import Caption, find_captions
from rag_assets.parsing.pdf.drawn import Graphic
from rag_assets.parsing.pdf.grids import (
    TableArea,
    TableText,
    bare_lines,
    continuation,
    group_rows,
    render_table,
)
from rag_assets.parsing.pdf.lines import Line, Page, surrounding_box
from rag_assets.parsing.pdf.order import column_bounds
from rag_assets.parsing.pdf.paragraphs import Paragraph, main_size, make_paragraph
from rag_assets.parsing.pdf.tables import Direction, find_table, ruled_box, ruled_tables

# Where the figure of a caption stands: images and drawings between it and the running text.

# Running text: what a figure does not reach over.
_MIN_PROSE_CHARACTERS, _MIN_PROSE_LINES = 90, 2
_MIN_PROSE_WIDTH_SHARE = 0.6
_MAX_SIZE_BELOW_BODY = 1.3
# Labels of axes and sub-captions stand so near to the drawing, in points.
_LABEL_REACH = 22.0
_SLACK = 6.0
# Pictures have white margins that reach below their caption's first line.
_IMAGE_SLACK = 16.0
# A drawing belongs to a column that holds so much of its width.
_MIN_SHARED_WIDTH = 0.7
# Lines of a figure made of text (code, protocols) follow each other so closely, in ems.
_MAX_TEXT_GAP_EMS = 4.0
_MIN_TEXT_LINES = 2
# Smaller than this a drawing is a bullet, a rule or a mark at the margin.
_MIN_FIGURE_POINTS = 18.0
# What covers more of the page is its background.
_MAX_PAGE_SHARE = 0.85
# Icons, logos of licences, buttons.
_MIN_IMAGE_POINTS, _MIN_IMAGE_AREA = 50.0, 5000.0
# An image at one place on so many pages belongs to the template.
_MAX_SAME_PLACE = 3
_MAX_IMAGES_ON_PAGE = 30


@dataclass(slots=True)
class FigureArea:
    """A figure on its page, with the lines of text inside it."""

    box: Box
    labels: list[Line]


def find_figure(
    caption: Box,
    page: Page,
    paragraphs: Sequence[Paragraph],
    obstacles: Sequence[Box],
    main_size: float,
) -> FigureArea | None:
    """Return the figure that a caption names: above it, else below, else beside it.

    Args:
        caption: box of the caption.
        page: with its graphics.
        paragraphs: of the page, without captions and tables.
        obstacles: boxes of other captions, tables and figures on the page.
        main_size: of the body's font, in points.
    """
    left, right = column_bounds(page, caption[0], caption[2])
    prose = [
        paragraph.box
        for paragraph in paragraphs
        if _is_prose(paragraph, min(right - left, page.width * 0.8), main_size)
    ]
    walls = [*prose, *obstacles]
    graphics = [graphic for graphic in page.graphics if not _is_background(graphic.box, page)]
    # Figures of the outer columns may stand out into the margins.
    first, last = page.text_bounds
    left = 0.0 if left <= first + _SLACK else left
    right = page.width if right >= last - _SLACK else right
    # Beside the columns of the text a caption is as wide as its figure.
    own = (caption[0] - 2 * _SLACK, caption[2] + 2 * _SLACK)
    above = [_above(caption, walls, *reach) for reach in ((left, right), own)]
    below = [_below(caption, walls, *reach, page) for reach in ((left, right), own)]
    wide = _above(caption, walls, 0.0, page.width)
    for area in [*above, wide, *below, *_beside(caption, walls, page)]:
        core = _graphics_in(area, graphics)
        if core is not None:
            core = _grown(core, area, graphics, [*walls, caption])
            return _with_labels(core, area, paragraphs, prose, main_size)
    return _text_above(caption, above[0], paragraphs, prose, main_size)


def _text_above(
    caption: Box,
    area: Box,
    paragraphs: Sequence[Paragraph],
    prose: Sequence[Box],
    main_size: float,
) -> FigureArea | None:
    """Return the figure that is made of text alone (code, a protocol) over a caption."""
    lines = [
        line
        for paragraph in paragraphs
        if paragraph.box not in prose and paragraph.kind == "paragraph"
        for line in paragraph.lines
        if line.box[1] >= area[1] - _SLACK
        and line.box[3] <= area[3] + _SLACK
        and _shared_width(line.box, area[0] - _SLACK, area[2] + _SLACK) >= _MIN_SHARED_WIDTH
    ]
    taken: list[Line] = []
    reached = caption[1]
    for line in sorted(lines, key=lambda line: -line.box[3]):
        is_heading = line.bold and line.size > main_size - 0.3
        if is_heading or reached - line.box[3] > _MAX_TEXT_GAP_EMS * line.size:
            break
        taken.append(line)
        reached = min(reached, line.box[1])
    if len(taken) < _MIN_TEXT_LINES:
        return None
    return FigureArea(surrounding_box([line.box for line in taken]), taken)


def _grown(core: Box, area: Box, graphics: Sequence[Graphic], walls: Sequence[Box]) -> Box:
    """Add what a figure in the middle of a column draws beyond it, but over no text."""
    for _ in range(2):
        for graphic in graphics:
            box = graphic.box
            if graphic.kind in ("rule", "bar") or not _intersect(box, core):
                continue
            if box[1] < area[1] - _SLACK or box[3] > area[3] + _SLACK:
                continue
            larger = surrounding_box([core, box])
            if larger != core and not any(_intersect(larger, wall) for wall in walls):
                core = larger
    return core


def _intersect(first: Box, second: Box) -> bool:
    return (
        min(first[2], second[2]) - max(first[0], second[0]) > 1
        and min(first[3], second[3]) - max(first[1], second[1]) > _SLACK
    )


def _overlapping(walls: Sequence[Box], left: float, right: float) -> list[Box]:
    return [box for box in walls if min(box[2], right) - max(box[0], left) > _SLACK]


def _above(caption: Box, walls: Sequence[Box], left: float, right: float) -> Box:
    """Return the area over a caption, up to the running text."""
    near = _overlapping(walls, left, right)
    top = max((box[3] for box in near if box[3] <= caption[1] + _SLACK), default=0.0)
    return (left, top, right, caption[1])


def _below(caption: Box, walls: Sequence[Box], left: float, right: float, page: Page) -> Box:
    """Return the area under a caption, down to the running text."""
    near = _overlapping(walls, left, right)
    bottom = min((box[1] for box in near if box[1] >= caption[3] - _SLACK), default=page.height)
    return (left, caption[3], right, bottom)


def _beside(caption: Box, walls: Sequence[Box], page: Page) -> list[Box]:
    """Return the areas right and left of a caption."""
    level = [box for box in walls if box[3] > caption[1] and box[1] < caption[3]]
    near = min((box[0] for box in level if box[0] >= caption[2] - 2), default=page.width)
    far = max((box[2] for box in level if box[2] <= caption[0] + 2), default=0.0)
    areas = []
    for left, right in ((caption[2], near), (far, caption[0])):
        if right - left > _MIN_FIGURE_POINTS:
            _, top, _, _ = _above(caption, walls, left, right)
            _, _, _, bottom = _below(caption, walls, left, right, page)
            areas.append((left, top, right, bottom))
    return areas


def _is_prose(paragraph: Paragraph, width: float, main_size: float) -> bool:
    box = paragraph.box
    if not paragraph.upright or paragraph.size < main_size - _MAX_SIZE_BELOW_BODY:
        return False
    if paragraph.kind in ("title", "front"):
        return True
    if len(paragraph.text) < _MIN_PROSE_CHARACTERS or len(paragraph.lines) < _MIN_PROSE_LINES:
        return False
    longest = max(line.box[2] - line.box[0] for line in paragraph.lines)
    return longest >= _MIN_PROSE_WIDTH_SHARE * min(width, max(200.0, box[2] - box[0]))


def _is_background(box: Box, page: Page) -> bool:
    area = (box[2] - box[0]) * (box[3] - box[1])
    return area > _MAX_PAGE_SHARE * page.width * page.height


def _shared_width(box: Box, left: float, right: float) -> float:
    """Return the share of a box that lies between two edges."""
    width = max(box[2] - box[0], 0.1)
    return (
        max(0.0, min(box[2], right) - max(box[0], left)) / width
        if width > 0.1
        else float(left <= box[0] <= right)
    )


def _graphics_in(area: Box, graphics: Iterable[Graphic]) -> Box | None:
    """Return the box around the images and drawings that lie in an area."""
    left, top, right, bottom = area
    inside = [
        graphic
        for graphic in graphics
        if graphic.box[1] >= top - _SLACK
        and graphic.box[3] <= bottom + (_IMAGE_SLACK if graphic.kind == "image" else _SLACK)
        and _shared_width(graphic.box, left - _SLACK, right + _SLACK) >= _MIN_SHARED_WIDTH
    ]
    solid = [
        graphic.box
        for graphic in inside
        if graphic.kind == "image"
        or (
            graphic.kind == "path"
            and max(graphic.box[2] - graphic.box[0], graphic.box[3] - graphic.box[1]) > 3
        )
    ]
    bars = [graphic.box for graphic in inside if graphic.kind == "bar"]
    if not solid and len(bars) < 2:
        return None
    # Rules alone are those of a table or of the page's head.
    core = surrounding_box([*solid, *bars])
    if core[2] - core[0] < _MIN_FIGURE_POINTS or core[3] - core[1] < _MIN_FIGURE_POINTS:
        return None
    near = [
        graphic.box
        for graphic in inside
        if graphic.kind == "rule"
        and graphic.box[1] >= core[1] - _LABEL_REACH
        and graphic.box[3] <= core[3] + _LABEL_REACH
        and graphic.box[2] - graphic.box[0] <= 1.2 * (core[2] - core[0])
    ]
    return surrounding_box([core, *near])


def _with_labels(
    core: Box,
    area: Box,
    paragraphs: Sequence[Paragraph],
    prose: Sequence[Box],
    main_size: float,
) -> FigureArea:
    """Add the lines of text inside a figure and close to it."""
    candidates = [
        line
        for paragraph in paragraphs
        if paragraph.box not in prose and paragraph.kind == "paragraph"
        for line in paragraph.lines
        if line.box[1] >= area[1] - _SLACK
        and line.box[3] <= area[3] + _SLACK
        and line.box[2] >= min(area[0], core[0] - _LABEL_REACH)
        and line.box[0] <= max(area[2], core[2] + _LABEL_REACH)
    ]
    box = core
    labels: list[Line] = []
    # Twice: labels stand beside the numbers of an axis, those beside the drawing.
    for _ in range(2):
        rest = []
        for line in candidates:
            if _is_inside(line.box, box) or _is_label(line, box, main_size):
                labels.append(line)
            else:
                rest.append(line)
        candidates = rest
        box = surrounding_box([core, *(line.box for line in labels)])
    return FigureArea(box, labels)


def _is_inside(inner: Box, outer: Box) -> bool:
    x, y = (inner[0] + inner[2]) / 2, (inner[1] + inner[3]) / 2
    return outer[0] - 2 <= x <= outer[2] + 2 and outer[1] - 2 <= y <= outer[3] + 2


def _is_label(line: Line, box: Box, main_size: float) -> bool:
    if line.upright and line.bold and line.size > main_size - 0.3:
        return False
    if line.upright and len(line.text) > _MIN_PROSE_CHARACTERS:
        return False
    return (
        line.box[0] >= box[0] - 3 * _LABEL_REACH
        and line.box[2] <= box[2] + 3 * _LABEL_REACH
        and line.box[1] >= box[1] - _LABEL_REACH
        and line.box[3] <= box[3] + _LABEL_REACH
    )


def loose_images(pages: Sequence[Page], taken: Sequence[tuple[int, Box]]) -> list[tuple[int, Box]]:
    """Return (page, box) of the images that no caption names, icons and backgrounds left out.

    Args:
        pages: with their graphics.
        taken: (page, box) of the figures and tables that were found.
    """
    places = Counter(
        _rounded(graphic.box)
        for page in pages
        for graphic in page.graphics
        if graphic.kind == "image"
    )
    found: list[tuple[int, Box]] = []
    for page in pages:
        boxes = [
            graphic.box
            for graphic in page.graphics
            if graphic.kind == "image"
            and places[_rounded(graphic.box)] < _MAX_SAME_PLACE
            and not _is_background(graphic.box, page)
        ]
        holders = [box for number, box in taken if number == page.number]
        large = [
            box
            for box in _touching(boxes[:_MAX_GRAPHICS_JOINED])
            if _is_large(box) and not any(_is_inside(box, holder) for holder in holders)
        ]
        found += [(page.number, box) for box in large[:_MAX_IMAGES_ON_PAGE]]
    return found


# Pictures come in strips and tiles; thousands of them are a drawing.
_MAX_GRAPHICS_JOINED = 200


def _rounded(box: Box) -> tuple[int, int, int, int]:
    return (round(box[0]), round(box[1]), round(box[2]), round(box[3]))


def _is_large(box: Box) -> bool:
    wide, high = box[2] - box[0], box[3] - box[1]
    return min(wide, high) >= _MIN_IMAGE_POINTS and wide * high >= _MIN_IMAGE_AREA


def _touching(boxes: Sequence[Box]) -> list[Box]:
    """Join the strips and tiles of one picture."""
    joined: list[Box] = []
    for box in boxes:
        for place, other in enumerate(joined):
            if (
                box[0] <= other[2] + 2
                and other[0] <= box[2] + 2
                and box[1] <= other[3] + 2
                and other[1] <= box[3] + 2
            ):
                joined[place] = surrounding_box([box, other])
                break
        else:
            joined.append(surrounding_box([box]))
    return joined


# Figures and tables of a PDF: captions, places, Markdown, references in the text.

_PAGE_NUMBER = re.compile(r"\W*(?:page\s*)?\d+(?:\s*(?:of|/)\s*\d+)?\W*", re.IGNORECASE)
_PREFIXES = {"figure": "fig", "table": "tab", "image": "img"}
# Notes below a table are set smaller than the body and close to it.
_MAX_NOTE_GAP_EMS = 1.5
_NOTE_SIZE_STEP = 0.6
_MIN_KNOWN_SIDES = 2
_CLEARLY_NEARER = 0.4
_MIN_BESIDE_SHARE = 0.3
# The caption of a part of a table on a later page.
_CONTINUED = re.compile(r"\b(?:continued|cont(?:\.|'d|’d))(?!\w)|续", re.IGNORECASE)


@dataclass(slots=True)
class _Item:
    """A figure, table or image on its way to an attachment.

    Args:
        content: the text of a table or a listing, or of the labels in a figure.
        is_before: whether its blocks stand before the caption in the text.
        later: the page, box and text of its parts on the pages that follow.
    """

    kind: Literal["figure", "table", "image", "code"]
    page: int
    box: Box | None
    caption: Caption | None = None
    content: TableText | None = None
    is_before: bool = True
    later: list[tuple[int, Box, TableText]] = field(default_factory=list)
    notes: list[Paragraph] = field(default_factory=list)


def place_attachments(
    paragraphs: Sequence[Paragraph], pages: Sequence[Page]
) -> tuple[list[Paragraph], tuple[Attachment, ...]]:
    """Find captions, tables and figures.

    Args:
        paragraphs: of the whole document, in reading order.
        pages: with the places of images and drawings.

    Returns:
        The paragraphs, with captions, tables (as Markdown) and references to figures marked by
        kind and `attachment_id`; and the attachments in the order of their place.
    """
    size = main_size(paragraphs)
    rules = {page.number: page.rules for page in pages}
    cut, captions = find_captions(paragraphs, size, rules)
    on_page: dict[int, list[Paragraph]] = defaultdict(list)
    for paragraph in cut:
        on_page[paragraph.page].append(paragraph)
    by_number = {page.number: page for page in pages}
    claimed: set[int] = set()
    listings = _listings(captions, by_number, on_page, claimed)
    items = _tables(captions, by_number, on_page, claimed)
    items += _figures(captions, by_number, on_page, claimed, items, size)
    taken = [(item.page, item.box) for item in items if item.box is not None]
    nameless = _nameless_tables(pages, on_page, taken, claimed)
    images = [_Item("image", page, box) for page, box in loose_images(pages, taken)]
    for item in items:
        if item.kind == "table" and item.content is not None:
            page, box = item.later[-1][:2] if item.later else (item.page, item.box)
            item.notes = _notes(box, on_page[page], claimed, size)
    return _assemble(_without(cut, claimed), [*items, *listings], [*nameless, *images])


def _tables(
    captions: Sequence[Caption],
    pages: Mapping[int, Page],
    on_page: Mapping[int, Sequence[Paragraph]],
    claimed: set[int],
) -> list[_Item]:
    """Find the tables; `claimed` gets the ids of their lines."""
    items: list[_Item] = []
    sides: Counter[Direction] = Counter()
    begun: dict[str, tuple[_Item, list[TableArea]]] = {}
    for caption in captions:
        if caption.kind != "table":
            continue
        name = caption.name.removeprefix("续").lower()
        if name in begun and _goes_on(*begun[name], caption, captions, pages, on_page, claimed):
            continue
        order: list[Direction] = ["below", "above"]
        if sides["above"] > sides["below"]:
            order.reverse()
        found: dict[Direction, TableArea] = {}
        for direction in order:
            area = _find_table(caption, captions, pages, on_page, claimed, direction)
            if area is not None:
                found[direction] = area
                # A document sets its captions on one side; once known, one look is enough.
                if sides.total() >= _MIN_KNOWN_SIDES:
                    break
        if len(found) == 1:
            sides.update(list(found))
        side = _nearer(found, order)
        if side is None or found[side].box[0] >= caption.paragraph.box[2]:
            area = _find_beside(caption, captions, pages, on_page, claimed)
            if area is not None:
                side, found["below"] = "below", area
        item = _Item("table", caption.paragraph.page, None, caption, None, side == "above")
        if side is not None:
            is_last = side == "below" and sides["below"] >= sides["above"]
            later = (
                _later_parts(found[side], item.page, captions, pages, on_page) if is_last else []
            )
            _fill(item, found[side], later, claimed)
            begun[name] = item, [found[side], *(part for _, part in later)]
        items.append(item)
    return items


def _nameless_tables(
    pages: Sequence[Page],
    on_page: Mapping[int, Sequence[Paragraph]],
    taken: list[tuple[int, Box]],
    claimed: set[int],
) -> list[_Item]:
    """Find the ruled tables without caption; `taken` gets their places, `claimed` their lines."""
    items = []
    for page in pages:
        own = [box for number, box in taken if number == page.number]
        bars = [bar for bar in page.bars if not any(_is_inside(bar, box) for box in own)]
        lines = [
            line
            for paragraph in (on_page[page.number] if bars else ())
            if paragraph.kind == "paragraph"
            for line in paragraph.lines
            if line.upright
            and id(line) not in claimed
            and not any(_is_inside(line.box, box) for box in own)
        ]
        for area in ruled_tables(page, bars, lines):
            item = _Item("table", page.number, area.box)
            _fill(item, area, [], claimed)
            if item.content is not None and item.content.is_grid:
                items.append(item)
                taken.append((page.number, area.box))
    return items


def _goes_on(
    item: _Item,
    parts: list[TableArea],
    caption: Caption,
    captions: Sequence[Caption],
    pages: Mapping[int, Page],
    on_page: Mapping[int, Sequence[Paragraph]],
    claimed: set[int],
) -> bool:
    """Add what is below a caption that says that a table goes on, if its columns say so too."""
    if not _CONTINUED.search(caption.paragraph.text):
        return False
    area = _find_table(caption, captions, pages, on_page, claimed, "below")
    part = None if area is None else continuation(parts[0], area, pages[item.page].height)
    if part is None:
        return False
    parts.append(part)
    numbers = [*(number for number, _, _ in item.later), caption.paragraph.page]
    item.later = []
    _fill(item, parts[0], list(zip(numbers, parts[1:], strict=True)), claimed)
    return True


def _fill(
    item: _Item, first: TableArea, later: Sequence[tuple[int, TableArea]], claimed: set[int]
) -> None:
    """Give a table its text; `claimed` gets the ids of its lines."""
    parts = [first, *(part for _, part in later)]
    item.box = first.box
    item.content, *texts = render_table(parts)
    for (page, part), content in zip(later, texts, strict=True):
        item.later.append((page, part.box, content))
    claimed |= {id(line) for part in parts for line in part.lines}


def _later_parts(
    first: TableArea,
    page: int,
    captions: Sequence[Caption],
    pages: Mapping[int, Page],
    on_page: Mapping[int, Sequence[Paragraph]],
) -> list[tuple[int, TableArea]]:
    """Return the parts of a table on the pages after its own, each the last thing on its page."""
    found: list[tuple[int, TableArea]] = []
    left, bottom, right = first.box[0], first.box[3], first.box[2]
    while page + 1 in pages:
        printed = [item for item in on_page[page] if item.upright]
        if any(_is_under(line, left, bottom, right) for item in printed for line in item.lines):
            break
        page += 1
        lines = [
            line
            for paragraph in on_page[page]
            if paragraph.kind == "paragraph"
            for line in paragraph.lines
        ]
        beneath = [line.box[1] for line in lines if line.upright and line.box[0] < right]
        top = min((top for top in beneath), default=0.0)
        others = [item.paragraph.box for item in captions if item.paragraph.page == page]
        if not beneath or any(box[1] <= top for box in others):
            break
        area = find_table((left, top - 2, right, top - 1), pages[page], lines, others, "below")
        part = continuation(first, area, pages[page].height) if area is not None else None
        if part is None:
            break
        found.append((page, part))
        bottom = part.box[3]
        if len(part.lines) < sum(len(item.lines) for item in on_page[page]):
            break
    return found


def _is_under(line: Line, left: float, bottom: float, right: float) -> bool:
    """Tell whether a line that is no page number stands under a table."""
    is_number = _PAGE_NUMBER.fullmatch(line.text) is not None
    is_beneath = line.box[1] + line.box[3] > 2 * bottom
    return not is_number and is_beneath and line.box[0] < right and line.box[2] > left


def _nearer(found: Mapping[Direction, TableArea], order: Sequence[Direction]) -> Direction | None:
    """Return the side on which a caption's table stands, None without one.

    Between two tables a caption belongs to the one between rules, to the one that is clearly
    nearer, else to that on the side where this document has them.
    """
    sides = [side for side in order if side in found]
    if len(sides) < 2:
        return sides[0] if sides else None
    first, second = sides
    if found[first].is_ruled != found[second].is_ruled:
        return first if found[first].is_ruled else second
    if found[second].first_gap < _CLEARLY_NEARER * found[first].first_gap - 1:
        return second
    return first


def _find_beside(
    caption: Caption,
    captions: Sequence[Caption],
    pages: Mapping[int, Page],
    on_page: Mapping[int, Sequence[Paragraph]],
    claimed: set[int],
) -> TableArea | None:
    """Return the table on the right of a narrow caption: as if it stood over the table."""
    page, (_, top, right, _) = pages[caption.paragraph.page], caption.paragraph.box
    edge = page.text_bounds[1]
    if edge - right < _MIN_BESIDE_SHARE * page.width:
        return None
    over = (right + 1, top - 8, edge, top - 6)
    area = _find_table(caption, captions, pages, on_page, claimed, "below", over)
    return area if area is not None and area.box[0] >= right else None


def _find_table(
    caption: Caption,
    captions: Sequence[Caption],
    pages: Mapping[int, Page],
    on_page: Mapping[int, Sequence[Paragraph]],
    claimed: set[int],
    direction: Direction,
    box: Box | None = None,
) -> TableArea | None:
    own = caption.paragraph
    lines = [
        line
        for paragraph in on_page[own.page]
        if paragraph.kind == "paragraph"
        for line in paragraph.lines
        if id(line) not in claimed
    ]
    others = [
        other.paragraph.box
        for other in captions
        if other is not caption and other.paragraph.page == own.page
    ]
    return find_table(box or own.box, pages[own.page], lines, others, direction)


def _figures(
    captions: Sequence[Caption],
    pages: Mapping[int, Page],
    on_page: Mapping[int, Sequence[Paragraph]],
    claimed: set[int],
    tables: Sequence[_Item],
    size: float,
) -> list[_Item]:
    """Find the figures, and the tables that are pictures; `claimed` gets the ids of labels."""
    items = []
    pictured = {id(item.caption): item for item in tables if item.box is None}
    boxes = [(item.page, item.box) for item in tables if item.box is not None]
    for caption in captions:
        own = caption.paragraph
        item = pictured.get(id(caption))
        if caption.kind != "figure" and item is None:
            continue
        if item is None:
            item = _Item("figure", own.page, None, caption)
            items.append(item)
        obstacles = [box for number, box in boxes if number == own.page]
        obstacles += [
            other.paragraph.box
            for other in captions
            if other is not caption and other.paragraph.page == own.page
        ]
        free = _without(on_page[own.page], claimed)
        free = [paragraph for paragraph in free if paragraph.kind != "caption"]
        area = find_figure(own.box, pages[own.page], free, obstacles, size)
        if area is not None:
            item.box = area.box
            boxes.append((own.page, area.box))
            claimed |= {id(line) for line in area.labels}
            item.content = _labels_text(area.labels)
    return items


def _listings(
    captions: Sequence[Caption],
    pages: Mapping[int, Page],
    on_page: Mapping[int, Sequence[Paragraph]],
    claimed: set[int],
) -> list[_Item]:
    """Find the algorithms and listings that stand between rules; `claimed` gets their lines."""
    items = []
    for caption in captions:
        own = caption.paragraph
        box = ruled_box(own.box, pages[own.page]) if caption.kind == "other" else None
        if box is None:
            continue
        lines = [
            line
            for paragraph in on_page[own.page]
            if paragraph.kind == "paragraph"
            for line in paragraph.lines
            if line.upright
            and id(line) not in claimed
            and box[0] <= (line.box[0] + line.box[2]) / 2 <= box[2]
            and box[1] - 3 <= (line.box[1] + line.box[3]) / 2 <= box[3]
        ]
        if lines:
            claimed |= {id(line) for line in lines}
            content = bare_lines([row.lines for row in group_rows(lines)])
            items.append(_Item("code", own.page, box, caption, content, is_before=False))
    return items


def _labels_text(labels: Sequence[Line]) -> TableText | None:
    if not labels:
        return None
    rows = group_rows([line for line in labels if line.upright])
    sideways = [line for line in labels if not line.upright]
    return bare_lines([*(row.lines for row in rows), *([line] for line in sideways)])


def _notes(
    table: Box | None, paragraphs: Sequence[Paragraph], claimed: set[int], size: float
) -> list[Paragraph]:
    """Return the paragraphs in small print right below a table."""
    if table is None:
        return []
    left, _, right, reached = table
    notes = []
    for paragraph in sorted(paragraphs, key=lambda paragraph: paragraph.box[1]):
        if paragraph.kind != "paragraph" or any(id(line) in claimed for line in paragraph.lines):
            continue
        gap = paragraph.box[1] - reached
        is_beneath = min(right, paragraph.box[2]) - max(left, paragraph.box[0]) > 0
        if not is_beneath or gap < -3:
            continue
        if gap > _MAX_NOTE_GAP_EMS * paragraph.size or paragraph.size > size - _NOTE_SIZE_STEP:
            break
        paragraph.kind = "footnote"
        notes.append(paragraph)
        reached = paragraph.box[3]
    return notes


def _without(paragraphs: Sequence[Paragraph], claimed: set[int]) -> list[Paragraph]:
    """Return the paragraphs without the lines that tables and figures have claimed."""
    kept: list[Paragraph] = []
    for paragraph in paragraphs:
        if not any(id(line) in claimed for line in paragraph.lines):
            kept.append(paragraph)
            continue
        run: list[Line] = []
        for line in [*paragraph.lines, None]:
            if line is not None and id(line) not in claimed:
                run.append(line)
            elif run:
                rest = make_paragraph(run, paragraph.page)
                rest.kind, rest.level = paragraph.kind, paragraph.level
                kept.append(rest)
                run = []
    return kept


def _assemble(
    paragraphs: Sequence[Paragraph], items: Sequence[_Item], images: Sequence[_Item]
) -> tuple[list[Paragraph], tuple[Attachment, ...]]:
    by_caption = {id(item.caption.paragraph): item for item in items if item.caption is not None}
    owned = {id(note) for item in items for note in item.notes}
    sequence: list[Paragraph | _Item] = [
        by_caption.get(id(paragraph), paragraph)
        for paragraph in paragraphs
        if id(paragraph) not in owned
    ]
    for item in items:
        if item.later:
            sequence = [element for element in sequence if element is not item]
            ends = (at for at, element in enumerate(sequence) if element.page > item.page)
            sequence.insert(next(ends, len(sequence)), item)
    for image in images:
        sequence.insert(_place_of(image, sequence), image)
    counts: Counter[str] = Counter()
    result: list[Paragraph] = []
    attachments: list[Attachment] = []
    for element in sequence:
        if isinstance(element, Paragraph):
            result.append(element)
            continue
        if element.kind == "code":
            result += _listing_blocks(element)
            continue
        counts[element.kind] += 1
        attachment = _attachment(element, element.kind, counts[element.kind])
        attachments.append(attachment)
        result += _blocks(element, attachment)
    return result, tuple(attachments)


def _place_of(image: _Item, sequence: Sequence["Paragraph | _Item"]) -> int:
    """Return where an image without caption stands: behind what is above it on its page."""
    place = next(
        (index for index, element in enumerate(sequence) if element.page >= image.page),
        len(sequence),
    )
    for index in range(place, len(sequence)):
        element = sequence[index]
        if element.page != image.page:
            break
        box = element.box
        if box is None and isinstance(element, _Item) and element.caption is not None:
            box = element.caption.paragraph.box
        if box is None or image.box is None:
            continue
        overlap = min(box[2], image.box[2]) - max(box[0], image.box[0])
        if box[3] <= image.box[1] + 5 and overlap > 0:
            place = index + 1
    return place


def _attachment(item: _Item, kind: Literal["figure", "table", "image"], number: int) -> Attachment:
    return Attachment(
        attachment_id=f"{_PREFIXES[kind]}-{number:03}",
        kind=kind,
        name=item.caption.name if item.caption is not None else None,
        caption=item.caption.paragraph.text if item.caption is not None else None,
        page=item.page,
        bbox=item.box,
    )


def _blocks(item: _Item, attachment: Attachment) -> list[Paragraph]:
    """Return the paragraphs of an attachment: labels, reference or table, caption, notes."""
    blocks: list[Paragraph] = []
    if item.kind == "table" and item.content is not None:
        blocks.append(_rendered(item.content, "table", item.page))
        for page, _, content in item.later:
            blocks.append(_rendered(content, "table", page))
            blocks[-1].is_continuation = True
    elif item.box is not None:
        blocks.append(_reference(item.box, attachment))
    if item.caption is not None:
        blocks.insert(len(blocks) if item.is_before else 0, item.caption.paragraph)
    if item.kind != "table" and item.content is not None:
        # First, so that the figure's line and its caption stand together.
        blocks.insert(0, _rendered(item.content, "drawing", item.page))
    blocks += item.notes
    for block in blocks:
        block.attachment_id = attachment.attachment_id
    return blocks


def _listing_blocks(item: _Item) -> list[Paragraph]:
    blocks = [] if item.caption is None else [item.caption.paragraph]
    return blocks if item.content is None else [*blocks, _rendered(item.content, "code", item.page)]


def _reference(box: Box, attachment: Attachment) -> Paragraph:
    text = f"![{attachment.name or 'Image'}](attachment:{attachment.attachment_id})"
    # The line that the reference came from is the figure itself: it has a place and no characters.
    line = Line(text, "", box, 0.0, False, False, "", True)
    return Paragraph(
        [line], text, [(0, len(text))], attachment.page or 0, box, 0.0, False, True, kind="figure"
    )


def _rendered(
    content: TableText, kind: Literal["table", "drawing", "code"], page: int
) -> Paragraph:
    return Paragraph(
        content.lines,
        content.text,
        content.spans,
        page,
        surrounding_box([line.box for line in content.lines]),
        content.lines[0].size,
        False,
        True,
        kind=kind,
    )
