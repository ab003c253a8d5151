"""Headings of documents that use no heading style: lines set apart by weight or size."""

import re
from collections import Counter
from collections.abc import Sequence

from rag_assets.parsing.cleaning import ends_sentence
from rag_assets.parsing.office.flow import Piece, is_captioned

# Longer lines are emphasised sentences.
_MAX_CHARACTERS = 100
# Where more of the paragraphs stand out, standing out means something else.
_MAX_SHARE = 0.4
_LARGER = 1.15
# One line that stands out is no structure.
_MIN_HEADINGS = 2
_NUMBER = re.compile(r"(\d{1,2}(?:\.\d{1,2})*)[.、)]?\s*(?=[^\W\d_])")
_CHINESE_CHAPTER = re.compile(r"第[一二三四五六七八九十百\d]+[章编部篇]")
_CHINESE_SECTION = re.compile(r"第[一二三四五六七八九十百\d]+节|[（(][一二三四五六七八九十]+[)）]")


def mark_unstyled_headings(pieces: Sequence[Piece]) -> None:
    """Turn lines that stand out into headings where the document has none by style.

    A line stands out that is wholly bold, or larger than the text, that ends no sentence and is
    followed by text. Its level is that of its number, else the rank of its size among them.

    Args:
        pieces: of the whole document, in order; changed in place.
    """
    if any(piece.kind == "heading" for piece in pieces):
        return
    body = _body_size(pieces)
    paragraphs = [piece for piece in pieces if piece.kind in ("paragraph", "list")]
    found = [
        piece
        for index, piece in enumerate(pieces)
        if _stands_out(piece, body) and _has_text_below(pieces, index, body)
    ]
    found = _without_title(pieces, found, body)
    if not _MIN_HEADINGS <= len(found) <= _MAX_SHARE * len(paragraphs):
        return
    sizes = sorted({piece.size or body for piece in found}, reverse=True)
    for piece in found:
        numbered = _numbered_level(piece.text)
        piece.kind, piece.indent = "heading", 0
        piece.level = numbered or sizes.index(piece.size or body) + 1


def _without_title(pieces: Sequence[Piece], found: list[Piece], body: int) -> list[Piece]:
    """Take the first line for the title where it is the only one in the largest letters."""
    sizes = [piece.size or body for piece in found]
    is_title = (
        len(found) > _MIN_HEADINGS
        and found[0] is pieces[0]
        and sizes[0] > max(sizes[1:])
        and not any(piece.kind == "title" for piece in pieces)
        and _numbered_level(found[0].text) is None
    )
    if is_title:
        found[0].kind = "title"
    return found[1:] if is_title else found


def _body_size(pieces: Sequence[Piece]) -> int:
    sizes: Counter[int] = Counter()
    for piece in pieces:
        if piece.kind in ("paragraph", "list") and piece.size is not None:
            sizes[piece.size] += len(piece.text)
    return sizes.most_common(1)[0][0] if sizes else 0


def _stands_out(piece: Piece, body: int) -> bool:
    text = piece.text
    return (
        (piece.kind == "paragraph" or (piece.kind == "list" and not text.startswith("- ")))
        and len(text) <= _MAX_CHARACTERS
        and "\n" not in text
        and any(map(str.isalpha, text))
        and not ends_sentence(text)
        and text[-1] not in ",;:，；：、"
        and not is_captioned(text)
        and (piece.is_bold or (piece.size or 0) >= _LARGER * body)
    )


def _has_text_below(pieces: Sequence[Piece], index: int, body: int) -> bool:
    """Tell whether text follows that does not stand out, other such lines between them or not."""
    for piece in pieces[index + 1 :]:
        if piece.kind in ("paragraph", "list", "table", "formula") and not _stands_out(piece, body):
            return True
    return False


def _numbered_level(text: str) -> int | None:
    number = _NUMBER.match(text)
    if number:
        return number[1].count(".") + 1
    if _CHINESE_CHAPTER.match(text):
        return 1
    return 2 if _CHINESE_SECTION.match(text) else None
