"""Text that a page holds but does not show: it must not be read as if a reader had seen it."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import Any  # Any: pages of PyMuPDF, its dictionaries, numpy arrays

from rag_assets.model import Box
from rag_assets.parsing.pdf.library import load_pymupdf

# Operators that can paint over text or below it: fills, shadings, pictures, forms (ISO 32000-1,
# table 51). A page without them, or with thin strokes alone, shows its text on white paper.
_PAINTS = re.compile(rb"[\s\])>](?:f\*?|F|[Bb]\*?|sh|Do|EI|(?:[4-9]|\d\d+)(?:\.\d*)?\s+w)(?=\s|$)")
_PICTURES = re.compile(rb"[\s\])>](?:sh|Do|EI|/\S+\s+scn)(?=\s|$)")
_TEXT_MODE = re.compile(rb"(?<![\d.])[0-7](?=\s+Tr\b)")
_INVISIBLE_MODE = b"3"
# What differs by less than a tenth of the range in every channel the eye cannot tell apart.
_SAME_COLOUR = 25
_WHITE = (255, 255, 255)
# Text on pictures is black as a rule; the eye of a reader sees other colours where they differ.
_MAX_DARK = 60
_OPAQUE = 255
# Square points a character: text of 1 point. Labels in diagrams are set down to 2 points, which
# is 2 square points a character.
_MAX_TINY_AREA = 0.6
_MAX_TINY_SIZE = 4.0
# Lower or narrower fills are rules, marks of plots and strokes of drawings: they cover no word.
_MIN_FILL_POINTS = 4.0
_MIN_COVERED_SHARE = 0.5
_MAX_LINE_HEIGHTS = 2.5
# More fills are a map or a plot, whose labels are no sentences.
_MAX_FILLS = 5_000
# A page with a picture of at least half its size and hardly any text that is seen is a scan with
# its recognised text: so much may be stamped on it (an archive's line on every page).
_SCAN_SHARE, _MAX_STAMP_CHARACTERS, _MAX_STAMP_SHARE = 0.5, 60, 0.2
_PICTURE_KINDS = ("fill-image", "fill-imgmask", "fill-shade")
_TEXT_KINDS = ("fill-text", "stroke-text")
# Fine enough for the strokes of 4 point labels: at 1 the letters run into one grey.
_DOTS_PER_POINT = 2
# The box of a character reaches into the lines above and below it; its letter is in the middle.
_TRIM_SHARE = 0.2
# One thin character may leave no dot.
_MIN_HIDDEN_RUN = 2
_TEXT_BLOCK, _VECTOR_BLOCK = 0, 3
_CLIPPING = 64  # bit of `char_flags`: text that a picture is painted through

_Span = dict[str, Any]
_Colour = tuple[int, int, int]


def drop_hidden(
    page: Any, content: dict[str, Any], flags: int, log: Callable[[], Sequence[tuple[str, Box]]]
) -> list[str]:
    """Take out of a page's text what nobody sees on the page.

    That is text without ink (invisible mode, no opacity), in the colour of its ground, covered by
    what is drawn later or too small to read, and text that the file
    gives in place of other glyphs (`ActualText`). The recognised text of a scan stays.

    Args:
        page: a `pymupdf.Page`.
        content: its text as `get_text("dict", flags=flags)` gives it; changed in place.
        flags: that it was read with.
        log: gives the page's `get_bboxlog()`.

    Returns:
        The texts that were taken out.

    Raises:
        RuntimeError: MuPDF cannot read or draw the page.
    """
    spans = [span for line in _lines(content["blocks"]) for span in line["spans"]]
    if not spans:
        return []
    pymupdf = load_pymupdf()
    source: bytes = page.read_contents()
    is_tagged = (
        b"ActualText" in source or page.parent.xref_get_key(page.xref, "StructParents")[0] == "int"
    )
    drawn: list[dict[str, Any]] = []
    if is_tagged or _PAINTS.search(source) or page.first_annot:
        vectors = pymupdf.TEXT_COLLECT_VECTORS | pymupdf.TEXT_IGNORE_ACTUALTEXT
        read = page.get_textpage(flags=flags | vectors)
        # Half of the time goes into the dictionary.
        if _is_suspect(read.extractBLOCKS(), content):
            drawn = read.extractDICT()["blocks"]
    found = _replace_by_glyphs(content, drawn) if is_tagged else []
    if found:
        spans = [span for line in _lines(content["blocks"]) for span in line["spans"]]
    order = log() if _PICTURES.search(source) else ()
    hidden, doubtful = _judge(spans, drawn, order)
    unseen = _without_ink(page, content, doubtful, flags) if doubtful else {}
    if not hidden and not unseen:
        return found
    count = sum(len(span["text"].strip()) for span in hidden) + sum(map(len, unseen.values()))
    seen = sum(len(span["text"].strip()) for span in spans) - count
    if seen <= max(_MAX_STAMP_CHARACTERS, _MAX_STAMP_SHARE * count):
        paper = page.rect.width * page.rect.height
        if any(
            kind in _PICTURE_KINDS and (x1 - x0) * (y1 - y0) >= _SCAN_SHARE * paper
            for kind, (x0, y0, x1, y1) in order
        ):
            return found
    for span in hidden:
        unseen[id(span)] = list(range(len(span["text"])))
    return found + _remove(content, unseen)


def _is_suspect(drawn: Sequence[Sequence[Any]], content: dict[str, Any]) -> bool:
    """Tell whether a page has other glyphs than the text says, or fills in the place of text."""
    import numpy as np

    lines = list(_lines(content["blocks"]))
    printed = "".join(block[4] for block in drawn if block[6] == _TEXT_BLOCK)
    if "".join(printed.split()) != "".join("".join(map(_text, lines)).split()):
        return True
    boxes = [block[:4] for block in drawn if block[6] != _TEXT_BLOCK and _is_large(block[:4])]
    if not boxes or not lines:
        return False
    x0, y0, x1, y1 = np.array([line["bbox"] for line in lines]).T[:, :, None]
    left, top, right, bottom = np.array(boxes[:_MAX_FILLS]).T
    return bool(((x0 < right) & (left < x1) & (y0 < bottom) & (top < y1)).any())


def _lines(blocks: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for block in blocks:
        yield from block.get("lines", ())


def _text(line: dict[str, Any]) -> str:
    return "".join([span["text"] for span in line["spans"]])


def _letters(text: str) -> str:
    """Return the letters and digits of a text, in one case: small capitals differ in that alone."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def _is_readable(text: str) -> bool:
    """Tell whether glyphs have characters of their own, not a part of a Chinese one by its look."""
    return not any(
        character == "\ufffd"
        or "\u2e80" <= character <= "\u2fdf"
        or unicodedata.category(character) in ("Co", "Cn", "Cc")
        for character in text
    )


def _replace_by_glyphs(content: dict[str, Any], drawn: Sequence[dict[str, Any]]) -> list[str]:
    """Give lines whose `ActualText` has other letters than its glyphs the text of the glyphs.

    Glyphs without readable characters are what `ActualText` is for.
    """
    glyphs = [(line, _text(line)) for line in _lines(drawn)]
    on_page = _letters("".join(text for _, text in glyphs))
    if on_page == _letters("".join(map(_text, _lines(content["blocks"])))):
        return []
    found = []
    for line in _lines(content["blocks"]):
        stated = _text(line)
        if not _letters(stated) or _letters(stated) in on_page:
            continue
        x0, y0, x1, y1 = line["bbox"]
        here = [
            (other, text)
            for other, text in glyphs
            if min(x1, other["bbox"][2]) > max(x0, other["bbox"][0])
            and y0 < (other["bbox"][1] + other["bbox"][3]) / 2 < y1
        ]
        printed = "".join(text for _, text in here)
        if _letters(printed) and _is_readable(printed) and _letters(printed) != _letters(stated):
            line["spans"] = [span for other, _ in here for span in other["spans"]]
            found.append(stated)
    return found


def _middle(box: Sequence[float]) -> tuple[float, float]:
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2


def _holds(box: Sequence[float], point: tuple[float, float]) -> bool:
    return box[0] <= point[0] <= box[2] and box[1] <= point[1] <= box[3]


def _judge(
    spans: Sequence[_Span],
    drawn: Sequence[dict[str, Any]],
    log: Sequence[tuple[str, Box]],
) -> tuple[list[_Span], dict[int, bool]]:
    """Return the spans that are hidden, and by identity those that the drawn page decides.

    Of the latter whether a picture is drawn over them.
    """
    hidden, plain = [], []
    doubtful: dict[int, bool] = {}
    for span in spans:
        if not any(map(str.isalnum, span["text"])):
            continue  # accents and the strokes of formulas have no width
        if span["size"] < _MAX_TINY_SIZE and _is_tiny(span):
            hidden.append(span)
        elif span["alpha"] == 0 and (span["char_flags"] & _CLIPPING or _is_drawn_font(span)):
            doubtful[id(span)] = False
        elif span["alpha"] == 0:
            hidden.append(span)
        elif not _is_drawn_font(span):  # its characters' boxes are not where they are
            plain.append(span)
    below, covered, replaced = _fills_at(plain, drawn)
    on_pictures, under_pictures = _pictures_at(plain, log)
    light = {
        (colour, alpha)
        for colour, alpha in {(span["color"], span["alpha"]) for span in plain}
        if _is_same(_blend(_channels(colour), alpha / 255), _WHITE)
    }
    unusual = [
        place
        for place, span in enumerate(plain)
        if place in below or place in on_pictures or (span["color"], span["alpha"]) in light
    ]
    for place in unusual:
        colour = _blend(_channels(plain[place]["color"]), plain[place]["alpha"] / 255)
        grounds = below.get(place, [_WHITE])
        is_same = any(ground and _is_same(colour, ground) for ground in grounds)
        if is_same and len(grounds) == 1 and place not in on_pictures:
            replaced.add(place)
        elif is_same or (place in on_pictures and max(colour) > _MAX_DARK):
            doubtful[id(plain[place])] = False
    doubtful |= {id(plain[place]): place in under_pictures for place in covered | under_pictures}
    for place in replaced:
        hidden.append(plain[place])
        doubtful.pop(id(plain[place]), None)
    return hidden, doubtful


def _is_drawn_font(span: _Span) -> bool:
    """Tell whether glyphs are drawings; browsers print bold ones as shapes below invisible text."""
    return bool(span["font"].startswith("Type3"))


def _is_tiny(span: _Span) -> bool:
    x0, y0, x1, y1 = span["bbox"]
    return bool(0 < (x1 - x0) * (y1 - y0) < _MAX_TINY_AREA * len(span["text"]))


def _fills_at(
    spans: Sequence[_Span], drawn: Sequence[dict[str, Any]]
) -> tuple[dict[int, list[_Colour | None]], set[int], set[int]]:
    """Return the colours that may be the ground of spans, and the spans that a later fill touches.

    The last are those of a box that other text is printed on, in their place.

    Grounds are those of the fills below the middle of a span down to the first plain rectangle, or
    to the paper; None for a stroke, which may be a frame around it or a thick line below it.
    """
    import numpy as np

    fills = [(order, block) for order, block in enumerate(drawn) if _is_fill(block)][:_MAX_FILLS]
    if not fills or not spans:
        return {}, set(), set()
    orders = {
        (span["origin"], span["text"]): order
        for order, block in enumerate(drawn)
        for line in block.get("lines", ())
        for span in line["spans"]
    }
    placed = {origin: order for (origin, _), order in orders.items()}

    def order_of(span: _Span, other: int) -> int:
        origin = span["origin"]
        return orders.get((origin, span["text"]), placed.get(origin, other))

    boxes = np.array([block["bbox"] for _, block in fills])[None]
    texts = np.array([span["bbox"] for span in spans])[:, None]
    # Most spans are far from all the fills of a plot.
    near = np.flatnonzero(
        (texts[..., :2] <= boxes[..., 2:].max(axis=1)).all(axis=(1, 2))
        & (texts[..., 2:] >= boxes[..., :2].min(axis=1)).all(axis=(1, 2))
    )
    texts = texts[near]
    wide = np.minimum(texts[..., 2], boxes[..., 2]) - np.maximum(texts[..., 0], boxes[..., 0])
    high = np.minimum(texts[..., 3], boxes[..., 3]) - np.maximum(texts[..., 1], boxes[..., 1])
    height = texts[..., 3] - texts[..., 1]
    width = (texts[..., 2] - texts[..., 0]) / 2
    touched = (wide >= np.minimum(_MIN_FILL_POINTS, width)) & (high >= _MIN_COVERED_SHARE * height)
    below: dict[int, list[_Colour | None]] = {}
    covered, replaced = set(), set()
    for row in np.flatnonzero(touched.any(axis=1)).tolist():
        place = int(near[row])
        order = order_of(spans[place], len(drawn))
        middle = _middle(spans[place]["bbox"])
        grounds: list[_Colour | None] = []
        for number in reversed(np.flatnonzero(touched[row]).tolist()):
            at, block = fills[number]
            if at > order:
                # A stroke covers as a line does, not as the frame of a box.
                tall = block["bbox"][3] - block["bbox"][1]
                if not block["stroked"] or tall <= _MAX_LINE_HEIGHTS * float(height[row, 0]):
                    covered.add(place)
                    if _is_box(block) and any(
                        _holds(other["bbox"], middle) and order_of(other, -1) > at
                        for other in spans
                    ):
                        replaced.add(place)
            elif _holds(block["bbox"], middle):
                fill = _blend(_channels(block["color"]), block["alpha"] / 255)
                grounds.append(None if block["stroked"] else fill)
                if _is_box(block):
                    break
        else:
            grounds.append(_WHITE)
        below[place] = grounds
    return below, covered, replaced


def _pictures_at(
    spans: Sequence[_Span], log: Sequence[tuple[str, Box]]
) -> tuple[set[int], set[int]]:
    """Return the spans on a picture or shading, and those that one is drawn over."""
    import numpy as np

    pictures = [(order, box) for order, (kind, box) in enumerate(log) if kind in _PICTURE_KINDS]
    if not pictures or not spans:
        return set(), set()
    orders, boxes = zip(*pictures, strict=True)
    texts = [(order, _middle(box)) for order, (kind, box) in enumerate(log) if kind in _TEXT_KINDS]
    on, under = set(), set()
    held = _held(np.array([_middle(span["bbox"]) for span in spans]), np.array(boxes))
    for place in np.flatnonzero(held.any(axis=1)).tolist():
        on.add(place)
        last = max(orders[number] for number in np.flatnonzero(held[place]).tolist())
        box = spans[place]["bbox"]
        if any(order < last and _holds(box, middle) for order, middle in texts):
            under.add(place)
    return on, under


def _held(points: Any, boxes: Any) -> Any:
    """Return for each point which boxes hold it, as a matrix of truths."""
    x, y = points[:, :1], points[:, 1:]
    return (x >= boxes[:, 0]) & (x <= boxes[:, 2]) & (y >= boxes[:, 1]) & (y <= boxes[:, 3])


def _is_box(block: dict[str, Any]) -> bool:
    return bool(block["isrect"] and not block["stroked"] and block["alpha"] == _OPAQUE)


def _is_fill(block: dict[str, Any]) -> bool:
    return block["type"] == _VECTOR_BLOCK and block["alpha"] > 0 and _is_large(block["bbox"])


def _is_large(box: Sequence[float]) -> bool:
    return min(box[2] - box[0], box[3] - box[1]) >= _MIN_FILL_POINTS


def _channels(colour: int) -> _Colour:
    return colour >> 16 & 255, colour >> 8 & 255, colour & 255


def _blend(colour: _Colour, opacity: float) -> _Colour:
    red, green, blue = (round(opacity * part + (1 - opacity) * 255) for part in colour)
    return red, green, blue


def _is_same(one: _Colour, other: _Colour) -> bool:
    return all(abs(a - b) <= _SAME_COLOUR for a, b in zip(one, other, strict=True))


def _without_ink(
    page: Any, content: dict[str, Any], doubtful: dict[int, bool], flags: int
) -> dict[int, list[int]]:
    """Return by span the places of its characters that leave no ink on the drawn page.

    Where a character is, the page has one colour. Pictures have many: below one, text shows where
    the page looks otherwise with its text in invisible mode.
    """
    area = load_pymupdf().EMPTY_RECT()
    for line in _lines(content["blocks"]):
        for span in line["spans"]:
            if id(span) in doubtful:
                area |= span["bbox"]
    # Whole points, so that dots are where they are on the whole page.
    area = (area * page.rotation_matrix & page.rect) * page.derotation_matrix
    area = area.irect
    shown = _picture(page, area)
    ink = _ink(page, shown, area) if any(doubtful.values()) else None
    by_character = page.get_text("rawdict", flags=flags, sort=False, clip=area)
    unseen: dict[int, list[int]] = {}
    exact = {
        span["origin"]: span["chars"]
        for line in _lines(by_character["blocks"])
        for span in line["spans"]
    }
    for line in _lines(content["blocks"]):
        for span in line["spans"]:
            if id(span) not in doubtful:
                continue
            is_below_picture = doubtful[id(span)]
            characters = exact.get(span["origin"], ())
            text = span["text"]
            if len(characters) != len(text):
                continue
            blank = [
                not character["c"].isspace()
                and not (
                    _part(ink, area, character["bbox"]).any()
                    if is_below_picture
                    else _has_contrast(_part(shown, area, character["bbox"]))
                )
                for character in characters
            ]
            places = list(_hidden_runs(blank, text))
            if places:
                unseen[id(span)] = places
    return unseen


def _hidden_runs(blank: Sequence[bool], text: str) -> Iterator[int]:
    """Yield the places of characters that are hidden, not merely thin."""
    run: list[int] = []
    for place in range(len(text) + 1):
        if place < len(text) and (blank[place] or text[place].isspace()):
            run.append(place)
            continue
        if sum(text[one].isalnum() for one in run) >= _MIN_HIDDEN_RUN:
            yield from run
        run = []


def _ink(page: Any, shown: Any, area: Any) -> Any:
    """Return where text shows in an area, as a matrix of truths."""
    import numpy as np

    document = page.parent
    forms = {xref for xref, *_ in page.get_xobjects()}
    for note in page.annots():
        kind, value = document.xref_get_key(note.xref, "AP/N")
        if kind == "xref":
            forms.add(int(value.split()[0]))
    streams = {xref: document.xref_stream(xref) for xref in forms}
    contents = document.xref_get_key(page.xref, "Contents")
    blind = document.get_new_xref()
    document.update_object(blind, "<<>>")
    streams[blind] = _INVISIBLE_MODE + b" Tr\n" + page.read_contents()
    try:
        for xref, stream in streams.items():
            document.update_stream(xref, _TEXT_MODE.sub(_INVISIBLE_MODE, stream))
        page.set_contents(blind)
        bare = _picture(page, area)
    finally:
        for xref in forms:
            document.update_stream(xref, streams[xref])
        document.xref_set_key(page.xref, "Contents", contents[1])
    return np.abs(shown - bare).max(axis=2) > _SAME_COLOUR


def _picture(page: Any, area: Any) -> Any:
    import numpy as np

    pymupdf = load_pymupdf()
    # Without rotation: places of text are those of the page before it is turned.
    turn = pymupdf.Matrix(page.derotation_matrix)
    matrix = turn * pymupdf.Matrix(_DOTS_PER_POINT, _DOTS_PER_POINT)
    pixmap = page.get_pixmap(matrix=matrix, alpha=False, clip=area * page.rotation_matrix)
    dots = np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.width, 3)
    return dots.astype(np.int16)


def _part(dots: Any, area: Any, box: Box) -> Any:
    """Return the dots in the middle of a character's box."""
    x0, x1 = (_DOTS_PER_POINT * (edge - area.x0) for edge in (box[0], box[2]))
    y0, y1 = (_DOTS_PER_POINT * (edge - area.y0) for edge in (box[1], box[3]))
    wide, high = _TRIM_SHARE * (x1 - x0), _TRIM_SHARE * (y1 - y0)
    left, top = max(0, round(x0 + wide)), max(0, round(y0 + high))
    return dots[
        top : max(top + 1, round(y1 - high)),
        left : max(left + 1, round(x1 - wide)),
    ]


def _has_contrast(dots: Any) -> bool:
    return bool(dots.size and (dots.max(axis=(0, 1)) - dots.min(axis=(0, 1))).max() > _SAME_COLOUR)


def _remove(content: dict[str, Any], unseen: dict[int, list[int]]) -> list[str]:
    """Take characters out of spans, by the span's identity, and return them line by line."""
    found = []
    for line in _lines(content["blocks"]):
        taken = ""
        kept = []
        for span in line["spans"]:
            places = set(unseen.get(id(span), ()))
            if places:
                text = span["text"]
                taken += "".join(text[place] for place in sorted(places))
                span["text"] = "".join(
                    " " if place in places else character for place, character in enumerate(text)
                )
            if not places or span["text"].strip():
                kept.append(span)
        if taken.strip():
            found.append(taken.strip())
            line["spans"] = kept
            lefts, tops, rights, bottoms = zip(
                *([span["bbox"] for span in kept] or [line["bbox"]]), strict=True
            )
            line["bbox"] = (min(lefts), min(tops), max(rights), max(bottoms))
    for block in content["blocks"]:
        block["lines"] = [line for line in block["lines"] if line["spans"]]
    content["blocks"] = [block for block in content["blocks"] if block["lines"]]
    return found
