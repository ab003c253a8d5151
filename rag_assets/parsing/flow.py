"""Pieces of an office document in reading order become clean text, blocks and attachments."""

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rag_assets.model import (
    HAN_RANGES,
    Attachment,
    Block,
    BlockKind,
    Box,
    PageSpan,
    ParseFailure,
    SectionCategory,
)
from rag_assets.parsing.cleaning import clean_line
from rag_assets.parsing.mathml import MATHML
from rag_assets.parsing.package import OfficePackage
from rag_assets.parsing.sections import category_of_title, subtype_of_title

if TYPE_CHECKING:
    from lxml.etree import _Element

# A caption that is not styled as one: its label, then a mark or, in Chinese, a blank.
_LABEL_WORDS = (
    r"(?P<figure>fig(?:ure|\.)?|abb(?:ildung|\.)?|figura|рис(?:унок|\.)?|图|圖|図)"
    r"|(?P<table>tab(?:le|elle|leau|\.)?|tabla|tabela|таблица|табл\.?|表)"
)
_LABEL = re.compile(
    rf"(?:{_LABEL_WORDS})\s*(?:[A-Z]?\d[\d.\-–]*|[IVX]+\b|[一二三四五六七八九十]+)", re.IGNORECASE
)
_UNSTYLED_CAPTION = re.compile(
    rf"(?:{_LABEL.pattern})(?:\s*[.:：|—–]|\s*$|(?<=[\d一二三四五六七八九十])[\s\u3000]+(?=[{HAN_RANGES}]))",
    re.IGNORECASE,
)
# Captions of a few lines; a longer paragraph that begins so is text about the figure.
_MAX_CAPTION_CHARACTERS = 400
_MAX_NAME_CHARACTERS = 120
_CAPTIONABLE = ("figure", "table")
_REFERENCE_KINDS = ("paragraph", "list")


@dataclass(frozen=True, slots=True)
class Picture:
    """An image of a package: its name or description, and its content where it is embedded."""

    name: str
    media_type: str | None = None
    content: bytes | None = field(default=None, repr=False)


@dataclass(slots=True, eq=False)
class Piece:
    """A block before its offsets are known.

    Args:
        text: its clean text; of a figure "", its line is written once it has a number.
        indent: blanks before a list item that lies in another.
        opens: True where a list begins, though another may end right before it.
        caption: of a figure or table, where it is not to be found beside it.
        size: of its letters in half points where all are alike, None where they differ.
        is_bold: whether all of it is bold.
        note: kind and id of a note that is referred to here; such a piece only holds the place.
    """

    kind: BlockKind
    text: str
    level: int | None = None
    page: int | None = None
    bbox: Box | None = None
    indent: int = 0
    opens: bool = False
    picture: Picture | None = None
    caption: "Piece | None" = None
    attachment_id: str | None = None
    note: tuple[str, str] | None = None
    size: int | None = None
    is_bold: bool = False

    @property
    def is_apart(self) -> bool:
        """Whether it is no text and cannot stand in a cell of a table."""
        return self.picture is not None or self.note is not None


@dataclass(frozen=True, slots=True)
class Flow:
    """The clean text with everything that has a place in it."""

    text: str
    blocks: tuple[Block, ...]
    pages: tuple[PageSpan, ...]
    attachments: tuple[Attachment, ...]
    abstract: tuple[int, int] | None


def clean_inline(text: str) -> str:
    """Return the text of a paragraph: soft hyphens gone, blanks folded, line breaks kept once."""
    lines = (clean_line(line) for line in text.replace("\u00ad", "").splitlines())
    return "\n".join(line for line in lines if line)


def is_captioned(text: str) -> bool:
    """Tell whether a line begins as a caption does: `Figure 3`, `表 1`."""
    return _LABEL.match(text) is not None


def markdown_table(rows: Sequence[Sequence[str]]) -> str:
    """Return rows of equal or unequal width as a Markdown pipe table, "" where no cell is filled.

    Args:
        rows: cells as plain text; the first row that is not empty is the header.
    """
    filled = [
        [" ".join(cell.split()).replace("|", r"\|") for cell in row]
        for row in rows
        if any(cell.strip() for cell in row)
    ]
    if not filled:
        return ""
    width = max(map(len, filled))
    lines = [_table_line([*row, *[""] * (width - len(row))]) for row in filled]
    return "\n".join([lines[0], _table_line(["---"] * width), *lines[1:]])


def _table_line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def flow_pieces(pieces: Sequence[Piece], page_count: int = 0) -> Flow:
    """Return the text of `pieces` in their order.

    Captions are bound to the figure or table beside them, paragraphs under a title like
    "References" become references, attachments are numbered by place.

    Args:
        pieces: their pages ascend.
        page_count: 0 for formats without pages.
    """
    pieces = [piece for piece in pieces if piece.text or piece.picture]
    _bind_captions(pieces)
    _mark_references(pieces)
    _number(pieces)
    spans: list[tuple[int, int]] = []
    parts: list[str] = []
    length = 0
    before: Piece | None = None
    starts = [0] * page_count
    page = 1
    for piece in pieces:
        separator = _separator(before, piece)
        length += len(separator)
        while page_count and piece.page is not None and page < piece.page:
            starts[page] = length
            page += 1
        indent = " " * piece.indent
        parts += (separator, indent, piece.text)
        spans.append((length + len(indent), length + len(indent) + len(piece.text)))
        length = spans[-1][1]
        before = piece
    text = "".join(parts)
    starts[page:] = [length] * (page_count - page)
    ends = [*starts[1:], length]
    return Flow(
        text,
        tuple(
            Block(piece.kind, *span, piece.page, piece.bbox, piece.level, piece.attachment_id)
            for piece, span in zip(pieces, spans, strict=True)
        ),
        tuple(
            PageSpan(number, start, end)
            for number, (start, end) in enumerate(zip(starts, ends, strict=False), 1)
        )[:page_count],
        _attachments(pieces, spans),
        _abstract(pieces, spans),
    )


def _separator(before: Piece | None, piece: Piece) -> str:
    if before is None:
        return ""
    return "\n" if before.kind == piece.kind == "list" and not piece.opens else "\n\n"


def _bind_captions(pieces: Sequence[Piece]) -> None:
    bound = {id(piece.caption) for piece in pieces}
    for index, piece in enumerate(pieces):
        if piece.kind not in ("caption", "paragraph") or id(piece) in bound:
            continue
        if piece.kind == "paragraph" and (
            len(piece.text) > _MAX_CAPTION_CHARACTERS or not _UNSTYLED_CAPTION.match(piece.text)
        ):
            continue
        holder = _holder(pieces, index)
        if holder is not None:
            piece.kind = "caption"
            holder.caption = piece


def _holder(pieces: Sequence[Piece], index: int) -> Piece | None:
    """Return the figure or table beside a caption: of its own kind first, the usual side first."""
    label = _LABEL.match(pieces[index].text)
    is_table = label is not None and label["table"] is not None
    sides = (index + 1, index - 1) if is_table else (index - 1, index + 1)
    beside = [
        pieces[side]
        for side in sides
        if 0 <= side < len(pieces)
        and pieces[side].kind in _CAPTIONABLE
        and pieces[side].caption is None
        and pieces[side].page == pieces[index].page
    ]
    wanted = "table" if is_table else "figure"
    return next((piece for piece in beside if piece.kind == wanted), next(iter(beside), None))


def _mark_references(pieces: Sequence[Piece]) -> None:
    level: int | None = None
    for piece in pieces:
        if piece.kind == "heading":
            is_open = level is not None and (piece.level or 1) > level
            if not is_open:
                is_list = subtype_of_title(piece.text) == "references"
                level = (piece.level or 1) if is_list else None
        elif level is not None and piece.kind in _REFERENCE_KINDS:
            piece.kind, piece.level, piece.indent = "reference", None, 0


def _number(pieces: Sequence[Piece]) -> None:
    counts: dict[str, int] = {}
    for piece in pieces:
        if piece.kind not in _CAPTIONABLE:
            continue
        prefix = "tab" if piece.kind == "table" else "fig" if piece.caption else "img"
        counts[prefix] = counts.get(prefix, 0) + 1
        piece.attachment_id = f"{prefix}-{counts[prefix]:03}"
        if piece.caption is not None:
            piece.caption.attachment_id = piece.attachment_id
        if piece.picture is not None:
            # What describes it to those who cannot see it is not printed.
            shown = re.sub(r"[\[\]]", "", _caption_label(piece) or "image")
            piece.text = f"![{shown}](attachment:{piece.attachment_id})"


def _caption_label(piece: Piece) -> str | None:
    label = _LABEL.match(piece.caption.text) if piece.caption else None
    return label[0].strip(" .-–") if label is not None else None


def _name(piece: Piece) -> str | None:
    label = _caption_label(piece)
    if label is not None:
        return label
    if piece.picture is None:
        return None
    name = " ".join(piece.picture.name.split())
    return name if len(name) <= _MAX_NAME_CHARACTERS else f"{name[: _MAX_NAME_CHARACTERS - 1]}…"


def _attachments(
    pieces: Sequence[Piece], spans: Sequence[tuple[int, int]]
) -> tuple[Attachment, ...]:
    places = {id(piece): span for piece, span in zip(pieces, spans, strict=True)}
    attachments = []
    for piece in pieces:
        if piece.kind not in _CAPTIONABLE or piece.attachment_id is None:
            continue
        start, end = places[id(piece.caption or piece)]
        picture = piece.picture or Picture("")
        attachments.append(
            Attachment(
                piece.attachment_id,
                "table" if piece.kind == "table" else "figure" if piece.caption else "image",
                _name(piece),
                piece.caption.text if piece.caption else None,
                start,
                end,
                piece.page,
                piece.bbox,
                picture.media_type,
                content=picture.content,
            )
        )
    return tuple(attachments)


def _abstract(pieces: Sequence[Piece], spans: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """Return the span of the text under the first heading that names an abstract."""
    inside: list[tuple[int, int]] = []
    is_open = False
    for piece, span in zip(pieces, spans, strict=True):
        if piece.kind == "heading":
            if inside:
                break
            is_open = category_of_title(piece.text) is SectionCategory.ABSTRACT
        elif is_open and piece.kind in ("paragraph", "list"):
            inside.append(span)
    return (inside[0][0], inside[-1][1]) if inside else None


A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
DGM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
_IMAGE_TYPES = {
    "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif",
    "bmp": "image/bmp", "tif": "image/tiff", "tiff": "image/tiff", "emf": "image/x-emf",
    "wmf": "image/x-wmf", "svg": "image/svg+xml", "webp": "image/webp",
}  # fmt: skip

# Columns of a chart's table; a sheet has at most 16,384, a chart shows 255 series.
_MAX_SERIES = 255
# Cached points beyond this are a data set, not a figure to be read.
_MAX_POINTS = 2000


class Drawings:
    """Reads the pictures, charts and diagrams that one part of a package refers to.

    Args:
        package: that holds them.
        part: whose relationships name them.
        warnings: sentences on what could not be read are added to it.
    """

    def __init__(self, package: OfficePackage, part: str, warnings: list[str]) -> None:
        self._package = package
        self._relationships = package.relationships(part)
        self._warnings = warnings

    def target(self, relationship: str | None) -> str | None:
        """Return the part that a relationship names, None where the package does not hold it."""
        found = self._relationships.get(relationship or "")
        is_inside = found is not None and not found.is_external and found.target in self._package
        return found.target if found is not None and is_inside else None

    def picture(self, relationship: str | None, name: str) -> Piece | None:
        """Return a picture as a piece; None where the relationship names nothing.

        Args:
            relationship: id of the image.
            name: its description in the document, "" without.
        """
        found = self._relationships.get(relationship or "")
        if found is None:
            self._warn(f"The picture {name!r} refers to nothing in the file: insert it again.")
            return None
        # A picture pasted from a page may have its address for a name.
        name = " ".join((posixpath.basename(name) if "://" in name else name).split())
        name = name or posixpath.basename(found.target)
        if found.is_external:
            self._warn(f"The picture {name!r} lies outside the file and was not fetched.")
            return Piece("figure", "", picture=Picture(name))
        if found.target not in self._package:
            self._warn(f"The picture {name!r} is missing in the file: insert it again.")
            return Piece("figure", "", picture=Picture(name))
        # Listings of parts may lie: a picture is of a picture's type.
        stated = self._package.media_type(found.target) or ""
        extension = found.target.rpartition(".")[2].casefold()
        media_type = stated if stated.startswith("image/") else _IMAGE_TYPES.get(extension)
        content = self._read(found.target, name)
        return Piece("figure", "", picture=Picture(name, media_type, content))

    def chart(self, relationship: str | None) -> list[Piece]:
        """Return a chart's title as caption and its values as a table."""
        part = self.target(relationship)
        return [] if part is None else chart_pieces(self._package.tree(part))

    def diagram(self, relationship: str | None) -> list[Piece]:
        """Return the texts of a SmartArt diagram as a list."""
        part = self.target(relationship)
        if part is None:
            return []
        pieces = []
        for text in self._package.tree(part).iter(DGM + "t"):
            content = clean_inline(paragraphs_text(text)).replace("\n", " ")
            if content:
                pieces.append(Piece("list", f"- {content}", level=1))
        return pieces

    def _read(self, part: str, name: str) -> bytes | None:
        try:
            return self._package.read(part)
        except ParseFailure as failure:
            # One broken picture harms nothing else.
            self._warn(f"The picture {name!r} was left out: {failure.message}")
            return None

    def _warn(self, sentence: str) -> None:
        if sentence not in self._warnings:
            self._warnings.append(sentence)


def alpha_of(fill: "_Element", namespace: str) -> float:
    """Return how opaque a solid fill is, from 0 to 1.

    Args:
        fill: the element that holds `solidFill`.
        namespace: of its elements; in Word's own alpha is what shines through.
    """
    alpha = next(fill.iter(namespace + "alpha"), None)
    if alpha is None:
        return 1.0
    value = alpha.get("val") or alpha.get(namespace + "val") or ""
    share = int(value) / 100_000 if value.isdecimal() and len(value) < 8 else 1.0
    return share if namespace == A else 1.0 - share


def solid_colour(fill: "_Element") -> str | None:
    """Return the colour of `a:solidFill`, None where its theme would have to say it.

    The first ground of a theme is taken for white, and its first text for black, as in nearly all.
    """
    plain = fill.find(A + "srgbClr")
    if plain is not None:
        return str(plain.get("val"))
    themed = fill.find(A + "schemeClr")
    if themed is None or len(themed):
        return None
    return {"bg1": "ffffff", "lt1": "ffffff", "tx1": "000000", "dk1": "000000"}.get(
        themed.get("val", "")
    )


def paragraphs_text(element: "_Element") -> str:
    """Return the text of DrawingML paragraphs below `element`, a line each."""
    return "\n".join(
        "".join(run.text or "" for run in paragraph.iter(A + "t"))
        for paragraph in element.iter(A + "p")
    )


def chart_pieces(root: "_Element") -> list[Piece]:
    """Return title, axis titles and values of a chart part, values as the file has cached them."""
    chart = root.find(C + "chart")
    chart = root if chart is None else chart
    titles = [_title(element) for element in chart.iter(C + "title")]
    own = chart.find(C + "title")
    caption = _title(own) if own is not None else ""
    axes = [title for title in titles if title and title != caption]
    series = list(chart.iter(C + "ser"))[:_MAX_SERIES]
    table = markdown_table(_series_rows(series, axes))
    title = [Piece("caption", caption)] if caption else []
    if not table:
        return title
    return [*title, Piece("table", table, caption=title[0] if title else None)]


def _title(element: "_Element") -> str:
    rich = clean_inline(paragraphs_text(element)).replace("\n", " ")
    return rich or " ".join(_points(element).values())


def _series_rows(series: "Sequence[_Element]", axes: Sequence[str]) -> list[list[str]]:
    if not series:
        return [[axis] for axis in axes]
    names, labels, columns = [], {}, []
    for element in series:
        names.append(" ".join(_points(element.find(C + "tx")).values()))
        found = element.find(C + "cat")
        found = element.find(C + "xVal") if found is None else found
        labels.update(_points(found))
        values = element.find(C + "val")
        columns.append(_points(element.find(C + "yVal") if values is None else values))
    places = sorted({*labels, *(place for column in columns for place in column)})
    rows = [[" / ".join(axes), *names]]
    rows += [
        [labels.get(place, ""), *(column.get(place, "") for column in columns)]
        for place in places[:_MAX_POINTS]
    ]
    return rows


def _points(element: "_Element | None") -> dict[int, str]:
    """Return the cached values below `element` by their index; levels of a category joined."""
    found: dict[int, str] = {}
    if element is None:
        return found
    for point in element.iter(C + "pt"):
        index, value = point.get("idx", ""), point.findtext(C + "v") or ""
        if index.isdecimal() and len(index) < 8:
            place = int(index)
            found[place] = f"{value} {found[place]}" if place in found else value
    if not found:
        value = element.findtext(C + "v")
        if value:
            found[0] = value
    return found


# Office Math (OMML) as one line of text: the structures are those of MathML.

_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
MATH_TAGS = frozenset({_M + "oMath", _M + "oMathPara"})
_OMML = {
    "sSup": ("msup", "e sup"), "sSub": ("msub", "e sub"), "sSubSup": ("msubsup", "e sub sup"),
    "f": ("mfrac", "num den"), "limLow": ("munder", "e lim"), "limUpp": ("mover", "e lim"),
}  # fmt: skip


def office_formula(element: "_Element") -> str:
    """Return a formula, or a part of one, on one line."""
    name = element.tag.rpartition("}")[2]
    parts: dict[str, list[str]] = {}
    for child in element:
        parts.setdefault(child.tag.rpartition("}")[2], []).append(office_formula(child).strip())
    inner = "".join(parts.get("e", []))
    if name == "t" or name.endswith("Pr") or name == "del":
        written = (element.text or "") if name == "t" else ""
    elif name in _OMML:
        tag, names = _OMML[name]
        written = MATHML[tag]([parts.get(part, [""])[0] for part in names.split()])
    elif name == "rad":
        degree = "".join(parts.get("deg", []))
        written = MATHML["mroot"]([inner, degree]) if degree else MATHML["msqrt"]([inner])
    elif name == "nary":
        limits = [parts.get(part, [""])[0] for part in ("sub", "sup")]
        scripts = MATHML["msubsup"](["", *limits]) if all(limits) else " ".join(limits)
        written = f"{_stated(element, 'chr', '∫')}{scripts} {inner}"
    elif name == "d":
        between = _stated(element, "sepChr", "|").join(parts.get("e", []))
        written = f"{_stated(element, 'begChr', '(')}{between}{_stated(element, 'endChr', ')')}"
    elif name == "oMathPara":
        written = " ".join(filter(None, parts.get("oMath", [])))
    else:
        written = "".join(map(office_formula, element))
    return " ".join(written.split()) if name == "oMath" else written


def _stated(element: "_Element", name: str, usual: str) -> str:
    """Return a sign that the first child, the properties, gives."""
    found = element.find(f"./*/{_M}{name}")
    return usual if found is None else found.get(_M + "val", "")
