"""Where in a document a citation says that its support stands: `p. 3`, `pp. 3-5`, `第3页`."""

import re
import unicodedata
from dataclasses import dataclass

_RANGE = r"\d{1,5}(?:\s*[-\u2010-\u2015~～至到]{1,2}\s*\d{1,5})?(?:\s*ff?\b\.?)?"
_LIST = rf"{_RANGE}(?:\s*(?:,|，|、|and|&|和)\s*{_RANGE})*"
_PAGES = re.compile(
    rf"(?:(?:pp?|pgs?|pages?|S|Seiten?|páginas?|с|стр)\b\.?\s*(?P<latin>{_LIST})"
    rf"|第?\s*(?P<han>{_LIST})\s*[页頁]|[页頁]\s*(?P<after>{_LIST}))",
    re.IGNORECASE,
)
_BARE = re.compile(_LIST)
_ONE = re.compile(
    r"(?P<first>\d{1,5})(?:\s*[-\u2010-\u2015~～至到]{1,2}\s*(?P<last>\d{1,5}))?(?P<open>\s*ff?\b)?"
)
_OTHER = re.compile(
    r"(?:ch(?:ap(?:ter)?s?)?|sec(?:tion|t)?s?|art(?:icle)?s?|para(?:graph)?s?|fig(?:ure)?s?|"
    r"tab(?:le)?s?|app(?:endix)?|vol(?:ume)?|no|ll?|lines?|nn?|note|eq|p|pp)\b\.?\s*[\w.\-]{1,12}(?:\s?\(\w{1,4}\)){0,3}"
    r"|§{1,2}\s*[\w.\-]{1,12}(?:\s?\(\w{1,4}\)){0,3}"
    # 第二十条第（二）项, 第二百七十六条之一
    r"|(?:[、,及和与至到\s]*第?\s*[(（]?[〇零一二三四五六七八九十百千\d]{1,10}[)）]?\s*[条條章节節款项項目编編]"
    r"(?:之[一二三四五六七八九十\d]+)?)+",
    re.IGNORECASE,
)
# The same in a text that says more.
PAGES = re.sub(r"\?P<\w+>", "?:", _PAGES.pattern)
PLACE = re.compile(rf"(?<!\w)(?:{PAGES}|{_OTHER.pattern})", re.IGNORECASE)
# What LaTeX writes for a space: p.~9, pp.\,2--3.
_TIE = re.compile(r"(?<=[A-Za-z.§])(?:~|\\[,;: ])+")
# `p. 3ff.`: this page and those that follow; nobody means more than a few.
_FOLLOWING_PAGES = 3


@dataclass(frozen=True, slots=True)
class LocatorHint:
    """A place named in a citation.

    Args:
        text: as written.
        pages: ranges of pages, both ends included; empty where something else is named.
    """

    text: str
    pages: tuple[tuple[int, int], ...] = ()

    def names_page(self, first: int, last: int) -> bool:
        """Say whether one of the pages from `first` to `last` is named."""
        return any(start <= last and first <= end for start, end in self.pages)


def read_hint(text: str, *, bare: bool) -> LocatorHint | None:
    """Return the place that the whole of `text` names, None where it names none.

    Args:
        text: what stands behind the key.
        bare: whether numbers alone are pages, as they are behind a comma.
    """
    written = " ".join(text.split()).strip("{} ")
    normal = _TIE.sub(" ", unicodedata.normalize("NFKC", written)).strip().rstrip(".")
    match = _PAGES.fullmatch(normal)
    if match is not None:
        return LocatorHint(written, _ranges(next(group for group in match.groups() if group)))
    if bare and _BARE.fullmatch(normal):
        return LocatorHint(written, _ranges(normal))
    return LocatorHint(written) if _OTHER.fullmatch(normal) else None


def find_hint(text: str) -> LocatorHint | None:
    """Return the place with which `text` begins: the suffix of a Pandoc or LaTeX citation.

    Numbers alone are pages there. Other words (`and passim`) name no place.
    """
    suffix = _TIE.sub(" ", unicodedata.normalize("NFKC", text))
    suffix = suffix.strip().lstrip(",").strip().lstrip("{").strip()
    pages = _PAGES.match(suffix)
    if pages is not None:
        return LocatorHint(pages.group(), _ranges(next(group for group in pages.groups() if group)))
    bare = _BARE.match(suffix)
    if bare is not None:
        return LocatorHint(bare.group(), _ranges(bare.group()))
    other = _OTHER.match(suffix)
    return LocatorHint(other.group()) if other else None


def _ranges(text: str) -> tuple[tuple[int, int], ...]:
    ranges = []
    for match in _ONE.finditer(text):
        first = int(match["first"])
        last = int(match["last"]) if match["last"] else first
        if match["last"] and last < first:
            # 134-9 is 134 to 139.
            kept = len(match["first"]) - len(match["last"])
            last = int(match["first"][:kept] + match["last"]) if kept > 0 else first
        if match["open"]:
            last = max(last, first + _FOLLOWING_PAGES)
        ranges.append((min(first, last), max(first, last)))
    return tuple(ranges)
