"""Pieces of a page become the clean text, with a block each and the attachments."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from rag_assets.model import Attachment, Block
from rag_assets.parsing.cleaning import replace_surrogates
from rag_assets.parsing.html.dom import Piece
from rag_assets.parsing.html.figures import PageImage, read_image

_LISTS = frozenset({"ul", "ol", "menu", "dir", "dl"})
_LABEL = re.compile(
    r"\s*((?:fig(?:ure|\.)?|abb(?:ildung|\.)?|table|tab\.|图|圖|表)\s*\d+(?:[.\-]\d+)*)",
    re.IGNORECASE,
)
_UNPRINTED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
# Deeper lists stay at this margin, or a page of nested lists would grow with its square.
_MAX_INDENTS = 10
Kind = Literal["figure", "table", "image"]
_PREFIXES: dict[Kind, str] = {"figure": "fig", "table": "tab", "image": "img"}


@dataclass(slots=True)
class _Writer:
    parts: list[str] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    attachments: list[Attachment] = field(default_factory=list)
    length: int = 0
    list_root: Any = None
    holders: dict[Any, int] = field(default_factory=dict)


def write_pieces(
    pieces: Sequence[Piece],
) -> tuple[str, tuple[Block, ...], tuple[Attachment, ...]]:
    """Return (clean text, its blocks, the attachments) of a page's content.

    Blocks are separated by an empty line, the items of one list by a line end and indented by
    their depth. A figure is the line `![figure](attachment:id)`; its alternative text is the
    attachment's caption where no caption stands beside it.
    """
    writer = _Writer()
    for index, piece in enumerate(pieces):
        if piece.kind == "figure":
            _write_figure(writer, piece)
        elif piece.kind == "table":
            _write_table(writer, piece)
        elif piece.kind == "caption":
            following = pieces[index + 1] if index + 1 < len(pieces) else None
            _write_caption(writer, piece, following)
        else:
            _write(writer, piece, piece.mark + piece.text)
    return "".join(writer.parts), tuple(writer.blocks), tuple(writer.attachments)


def _write(
    writer: _Writer, piece: Piece, text: str, attachment_id: str | None = None
) -> Block | None:
    clean = _UNPRINTED.sub(" ", replace_surrogates(text)).strip("\n").rstrip()
    if not clean.strip():
        return None
    root = None
    if piece.kind in {"list", "footnote"}:
        root = next((element for element in piece.path if element.tag in _LISTS), None)
    joins = root is not None and root is writer.list_root
    writer.list_root = root
    separator = ("\n" if joins else "\n\n") if writer.parts else ""
    if root is not None:
        separator += "  " * min((piece.level or 1) - 1, _MAX_INDENTS)
    elif piece.kind != "code":
        clean = clean.strip()
    writer.parts.append(separator + clean)
    start = writer.length + len(separator)
    writer.length = start + len(clean)
    block = Block(piece.kind, start, writer.length, level=piece.level, attachment_id=attachment_id)
    writer.blocks.append(block)
    return block


def _write_figure(writer: _Writer, piece: Piece) -> None:
    holder = _holder(piece)
    image = read_image(piece.image, in_figure=holder is not None)
    if image is None:
        return
    attachment = _attachment(writer, "image" if holder is None else "figure", image)
    # File names of the web tell a reader nothing; the attachment keeps the name.
    reference = f"![{attachment.kind}](attachment:{attachment.attachment_id})"
    block = _write(writer, piece, reference, attachment.attachment_id)
    if block is not None:
        writer.attachments.append(replace(attachment, start=block.start, end=block.end))
        if holder is not None:
            writer.holders.setdefault(holder, len(writer.attachments) - 1)
            _adopt_caption(writer, holder)


def _attachment(writer: _Writer, kind: Kind, image: PageImage | None = None) -> Attachment:
    number = 1 + sum(item.kind == kind for item in writer.attachments)
    identifier = f"{_PREFIXES[kind]}-{number:03d}"
    if image is None:
        return Attachment(identifier, kind)
    return Attachment(
        identifier,
        kind,
        name=image.name,
        caption=image.alternative or None,
        media_type=image.media_type,
        content=image.content,
    )


def _write_table(writer: _Writer, piece: Piece) -> None:
    before = writer.blocks[-1] if writer.blocks else None
    captioned = before is not None and before.kind == "caption" and before.attachment_id
    if captioned and writer.attachments and writer.attachments[-1].kind == "table":
        _write(writer, piece, piece.text, writer.attachments[-1].attachment_id)
        return
    attachment = _attachment(writer, "table")
    block = _write(writer, piece, piece.text, attachment.attachment_id)
    if block is not None:
        writer.attachments.append(replace(attachment, start=block.start, end=block.end))


def _write_caption(writer: _Writer, piece: Piece, following: Piece | None) -> None:
    holder = _holder(piece)
    if following is not None and following.kind == "table" and following.path == piece.path:
        attachment = _attachment(writer, "table")
        block = _write(writer, piece, piece.text, attachment.attachment_id)
        if block is not None:
            writer.attachments.append(_captioned(attachment, piece.text, block))
        return
    place = writer.holders.get(holder) if holder is not None else None
    owner = writer.attachments[place] if place is not None else None
    block = _write(writer, piece, piece.text, owner.attachment_id if owner else None)
    if block is None:
        return
    if owner is not None and place is not None:
        writer.attachments[place] = _captioned(owner, piece.text, block)


def _adopt_caption(writer: _Writer, holder: Any) -> None:
    """Give a figure the caption that stands above it in the same `figure`."""
    if len(writer.blocks) < 2:
        return
    above = writer.blocks[-2]
    if above.kind != "caption" or above.attachment_id is not None:
        return
    place = writer.holders[holder]
    owner = writer.attachments[place]
    text = "".join(writer.parts)[above.start : above.end]
    writer.attachments[place] = _captioned(owner, text, above)
    writer.blocks[-2] = replace(above, attachment_id=owner.attachment_id)


def _captioned(attachment: Attachment, caption: str, block: Block) -> Attachment:
    label = _LABEL.match(caption)
    return replace(
        attachment,
        name=label[1] if label else attachment.name,
        caption=caption,
        start=block.start,
        end=block.end,
    )


def _holder(piece: Piece) -> Any:
    return next((element for element in reversed(piece.path) if element.tag == "figure"), None)
