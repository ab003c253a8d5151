"""Marks that begin an item, a label or a numbered line, and the numbers that only look so."""

import re

_MARK = re.compile(
    r"[•●▪◦‣∙■□◆➢*–—-]\s"
    # A number, a letter, a Chinese number: `1.`, `(a)`, `iv)`, `[3]`, `一、`, `（一）`; not `1.8`.
    r"|[(\[（]?(?:\d{1,3}|[ivxlIVXL]{1,5}|[A-Za-z]|[一二三四五六七八九十]{1,3})[)\]）.．、]"
    r"(?=\s|$|[^\W\d_]|[“\"《（(])"
    r"|[\u2460-\u2473]"
    # A section's number or a row of figures; not a quantity with its unit (`1.8 °C`, `20 cm`).
    r"|\d+(?:\.\d+)*\s(?![°%‰℃a-zµμ])"
    r"|(?:Fig|Tab)\w*\.?\s*\d|[图表]\s*\d"
)


def begins_with_mark(text: str) -> bool:
    """Tell whether a text begins as an item of a list, a numbered line or a caption does."""
    return _MARK.match(text) is not None
