"""Names of WordprocessingML and reading of its attributes, lenient as Word is."""

from functools import cache
from typing import TYPE_CHECKING

from rag_assets.parsing.office.numbers import whole_number

if TYPE_CHECKING:
    from lxml.etree import _Element

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_OFF = frozenset({"0", "false", "off"})


def value_of(element: "_Element | None", path: str) -> str | None:
    """Return `w:val` of the descendant at `path` (names of `w:` with slashes), None without."""
    found = _find(element, path)
    return None if found is None else found.get(W + "val")


def number_of(element: "_Element | None", path: str) -> int | None:
    """Return `w:val` of the descendant at `path` as a whole number, None where it is none."""
    return whole_number(value_of(element, path))


def is_on(element: "_Element | None", path: str) -> bool:
    """Tell whether the switch at `path` is there and not switched off."""
    found = _find(element, path)
    return found is not None and found.get(W + "val", "1") not in _OFF


def _find(element: "_Element | None", path: str) -> "_Element | None":
    return None if element is None else element.find(_qualified(path))


@cache
def _qualified(path: str) -> str:
    return "/".join(W + name for name in path.split("/"))
