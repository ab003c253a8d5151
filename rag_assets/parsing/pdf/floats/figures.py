"""Figures and tables of a PDF: captions, places, Markdown, references in the text."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from rag_assets.model import Attachment, Box
from rag_assets.parsing.pdf.floats.captions import Caption, find_captions
from rag_assets.parsing.pdf.floats.figure_areas import find_figure, loose_images
from rag_assets.parsing.pdf.floats.table_markdown import TableText, bare_lines, render_table
from rag_assets.parsing.pdf.floats.table_rows import group_rows
from rag_assets.parsing.pdf.floats.tables import Direction, TableArea, find_table, ruled_box
from rag_assets.parsing.pdf.flow import main_size
from rag_assets.parsing.pdf.lines import Line, Page, surrounding_box
from rag_assets.parsing.pdf.paragraphs import Paragraph, make_paragraph

_PREFIXES = {"figure": "fig", "table": "tab", "image": "img"}
# Notes below a table are set smaller than the body and close to it.
_MAX_NOTE_GAP_EMS = 1.5
_NOTE_SIZE_STEP = 0.6
_MIN_KNOWN_SIDES = 2
_CLEARLY_NEARER = 0.4
_MIN_BESIDE_SHARE = 0.3


@dataclass(slots=True)
class _Item:
    """A figure, table or image on its way to an attachment.

    Args:
        content: the text of a table or a listing, or of the labels in a figure.
        is_before: whether its blocks stand before the caption in the text.
    """

    kind: Literal["figure", "table", "image", "code"]
    page: int
    box: Box | None
    caption: Caption | None = None
    content: TableText | None = None
    is_before: bool = True
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
    rules = {
        page.number: [graphic.box for graphic in page.graphics if graphic.kind == "rule"]
        for page in pages
    }
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
    images = [_Item("image", page, box) for page, box in loose_images(pages, taken)]
    for item in items:
        if item.kind == "table" and item.content is not None:
            item.notes = _notes(item, on_page[item.page], claimed, size)
    return _assemble(_without(cut, claimed), [*items, *listings], images)


def _tables(
    captions: Sequence[Caption],
    pages: Mapping[int, Page],
    on_page: Mapping[int, Sequence[Paragraph]],
    claimed: set[int],
) -> list[_Item]:
    """Find the tables; `claimed` gets the ids of their lines."""
    items = []
    sides: Counter[Direction] = Counter()
    for caption in captions:
        if caption.kind != "table":
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
        if side is None:
            area = _find_beside(caption, captions, pages, on_page, claimed)
            if area is not None:
                side, found["below"] = "below", area
        item = _Item("table", caption.paragraph.page, None, caption, None, side == "above")
        if side is not None:
            area = found[side]
            item.box = area.box
            item.content = render_table(area.rows, area.rules)
            claimed |= {id(line) for line in area.lines}
        items.append(item)
    return items


def _nearer(found: Mapping[Direction, TableArea], order: Sequence[Direction]) -> Direction | None:
    """Return the side on which a caption's table stands, None without one.

    Between two tables a caption belongs to the one that is clearly nearer, else to that on the
    side where this document has them.
    """
    sides = [side for side in order if side in found]
    if len(sides) < 2:
        return sides[0] if sides else None
    first, second = sides
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
    table: _Item, paragraphs: Sequence[Paragraph], claimed: set[int], size: float
) -> list[Paragraph]:
    """Return the paragraphs in small print right below a table."""
    if table.box is None:
        return []
    left, _, right, reached = table.box
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
