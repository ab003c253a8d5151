"""The images of a page that are figures: their names, and their bytes where the page holds them."""

import base64
import binascii
import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, unquote_to_bytes, urlsplit

# Smaller images are signs, buttons and counters.
_MIN_PIXELS = 48
# Placeholders that a script replaces: one pixel, a blank shape.
_MIN_DATA_BYTES = 500
_LAZY = ("data-src", "data-original", "data-lazy-src", "data-actualsrc", "data-image-src")
_LAZY_SETS = ("srcset", "data-srcset")
_DATA_URI = re.compile(
    r"data:([\w.+/-]*)((?:;[\w.=+-]+)*?)(;base64)?,(.*)", re.DOTALL | re.IGNORECASE
)
_FORMULA_CLASS = re.compile(r"\b(?:mwe-math|tex|latex|math)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PageImage:
    """An image as the page refers to it.

    Args:
        name: the last part of its address, `image` for one that stands in the page itself.
        alternative: its alternative text, "" without.
        media_type: of the content, None where the image is elsewhere.
        content: None where the image is elsewhere: nothing is fetched.
    """

    name: str
    alternative: str
    media_type: str | None = None
    content: bytes | None = None


def read_image(element: Any, *, in_figure: bool) -> PageImage | None:
    """Return an image, None where it is decoration, a button or a placeholder.

    HTML §4.8.4.4.5: an empty alternative text says decoration; so does the role `presentation`.

    Args:
        element: the `img`.
        in_figure: it stands in a `figure`, which decoration never does.
    """
    if not in_figure and (element.get("alt") == "" or element.get("role") == "presentation"):
        return None
    sizes = [_pixels(element.get(side)) for side in ("width", "height")]
    if any(size is not None and size < _MIN_PIXELS for size in sizes):
        return None
    if _FORMULA_CLASS.search(element.get("class") or ""):
        return None
    alternative = " ".join((element.get("alt") or "").split())
    for address in _addresses(element):
        if not address.lower().startswith("data:"):
            return PageImage(_name_of(address), alternative)
        embedded = decode_data_uri(address)
        if embedded is not None and len(embedded[1]) >= _MIN_DATA_BYTES:
            return PageImage("image", alternative, *embedded)
    return None


def _addresses(element: Any) -> list[str]:
    """Return where the image may be; what a script would put in place stands first."""
    found = [element.get(name) for name in _LAZY]
    found.append(element.get("src"))
    found.extend((element.get(name) or "").split(" ")[0] for name in _LAZY_SETS)
    return [address.strip() for address in found if address and address.strip()]


def _name_of(address: str) -> str:
    try:
        path = urlsplit(address).path
    except ValueError:  # a malformed address still names something
        path = address
    return unquote(PurePosixPath(path).name).strip() or "image"


def _pixels(value: str | None) -> int | None:
    match = re.fullmatch(r"\s*(\d{1,6})(?:\.\d*)?\s*(?:px)?\s*", value or "")
    return int(match[1]) if match else None


def decode_data_uri(address: str) -> tuple[str, bytes] | None:
    """Return (media type, bytes) of a `data:` address (RFC 2397), None for any other or broken."""
    match = _DATA_URI.fullmatch(address)
    if match is None:
        return None
    media_type = match[1].lower() or "text/plain"
    if not match[3]:
        return media_type, unquote_to_bytes(match[4])
    try:
        return media_type, base64.b64decode("".join(unquote(match[4]).split()))
    except (binascii.Error, ValueError):
        return None  # a truncated image: its place is kept out, as that of any broken image
