"""Small PDFs, written by PyMuPDF from lines with their places."""

from collections.abc import Sequence
from typing import Any

import pymupdf

# (x, y, text) or (x, y, text, size): the left end of the base line in points from the top left.
Placed = tuple[Any, ...]
FOOT_Y, HEAD_Y = 770.0, 40.0


def make_pdf(pages: Sequence[Sequence[Placed]], *, title: str = "", password: str = "") -> bytes:
    document = pymupdf.open()
    for lines in pages:
        page = document.new_page(width=595, height=842)
        for x, y, text, *size in lines:
            font = "china-s" if any(ord(character) > 0x2E7F for character in text) else "helv"
            page.insert_text((x, y), text, fontsize=size[0] if size else 11, fontname=font)
    if title:
        document.set_metadata({"title": title, "author": "A. Writer"})
    options: dict[str, Any] = {}
    if password:
        options = {
            "encryption": pymupdf.PDF_ENCRYPT_AES_256,
            "user_pw": password,
            "owner_pw": password + "-owner",
        }
    data: bytes = document.tobytes(**options)
    document.close()
    return data


def paragraph(*lines: str, y: float = 100.0, x: float = 70.0) -> list[Placed]:
    return [(x, y + 13 * index, text) for index, text in enumerate(lines)]
