"""Where a paper was published: journal or proceedings, volume, issue and pages, as it prints."""

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from rag_assets.model import HAN_RANGES
from rag_assets.parsing.pdf.lines import Line

_YEAR = r"(?<!\d)(?P<year>19[5-9]\d|20[0-4]\d)(?!\d)"
_VOLUME = r"(?<!\d)(?P<volume>\d{1,4})(?!\d)"
_ISSUE = r"(?P<issue>\d{1,3}(?:\s?[-/–]\s?\d{1,3})?|Suppl\.? ?\d*|S\d+)"
# `272e278`: some fonts have an `e` for the dash. `e042953` and `024901` number an article.
_PAGES = (
    r"(?P<pages>[eELS]?\d{1,5}\s?(?:[-‐-―−]{1,2}|(?<=\d)e(?=\d))\s?[eELS]?\d{1,5}|[eE]?\d{4,8}\b)"
)
_ONE_PAGE = rf"(?:{_PAGES[:-1]}|\d{{1,5}}\b))"
_MONTH = r"(?:\d{1,2}\s+)?(?:[A-Z][A-Za-z]{2,8}\.?(?:\s?[-–/]\s?[A-Z][a-z]{2,8})?\s+)?"
_HAN = f"[{HAN_RANGES}]"
_JOURNAL = r"(?P<journal>[^\d;|]{3,120}?)"
# What a journal prints of a paper in a head, a foot or below "How to cite", each with an example.
_FORMS = tuple(
    re.compile(pattern)
    for pattern in (
        # Notes (2017) 7:299–305 · Adv Pharm Bull, 2017, 7(1), 97-101 · Medicine 2021;100:5(e23)
        (
            rf"{_JOURNAL},?\s*\(?{_YEAR}\)?\s?[,;:]?\s*{_VOLUME}"
            rf"(?:\s?\(\s?{_ISSUE}\s?\)|\s?:\s?(?P<number>\d{{1,3}})(?=[,(]))?\s*[,:;(]?\s*{_ONE_PAGE}"
        ),
        # Dhaka Univ. J. 8(1): 7-10, 2009 · J. Chem. Phys. 134, 024901 (2011)
        rf"{_JOURNAL},?\s+{_VOLUME}(?:\s?\(\s?{_ISSUE}\s?\))?\s?[,:]\s*{_ONE_PAGE}[,.]?\s*\(?{_YEAR}\b",
        # The Lancet Haematology, 8 (2021) e110-e121
        rf"{_JOURNAL},?\s+{_VOLUME}(?:\s?\(\s?{_ISSUE}\s?\))?\s+\({_YEAR}\)\s*[,:]?\s*{_ONE_PAGE}",
        # Journal of the ACM, Vol. 44, No. 4, July 1997, pp. 585–591
        (
            rf"{_JOURNAL},?\s+[Vv](?:OL|ol)(?:UME|ume|\.)?\s?{_VOLUME}"
            rf"(?:,?\s+(?:[Nn][Oo]|[Ii]ssue|(?:Special )?Issue|ISSUE)\.?\s?{_ISSUE})?"
            rf"(?:,?\s+(?:Article|ARTICLE)(?: ID)? (?P<article>\d+))?,?\s+\(?{_MONTH}{_YEAR}\b\)?"
            rf"(?:,?\s+[Pp]{{1,2}}(?:ages)?\.?\s?{_ONE_PAGE})?"
        ),
        # Frontiers in Chemistry | www.frontiersin.org 1 February 2020 | Volume 8 | Article 125
        rf"{_JOURNAL} \| www\.\S+.{{1,20}}?{_YEAR} \| Volume {_VOLUME} \| Article (?P<article>\d+)",
        # Journal of Analytical Methods in Chemistry Volume 2017, Article ID 2840718
        rf"{_JOURNAL},?\s+Volume {_YEAR}, Article ID (?P<article>\d+)",
        # Proceedings of NAACL-HLT 2013, pages 211–220
        (
            rf"(?P<journal>(?:Proceedings of|Actes de|In Proc(?:eedings|\.) of)\b.{{5,160}}?),?\s+"
            rf"(?:pp?\.|pages)\s?{_PAGES}"
        ),
        # 中文信息学报 第34卷 第3期 · 第 30 卷 第 5 期 中文信息学报 Vol. 30, No. 5 2016 年 9 月
        (
            rf"(?P<journal>{_HAN}{{2,20}})?\s*(?:{_YEAR}\s*年[,，\s]*)?第\s*{_VOLUME}\s*卷[,，\s]*"
            rf"(?:\((?P<between>(?:19|20)\d\d)\)\s*)?(?:第\s*{_ISSUE}\s*[期号])?(?:\s+(?P<behind>{_HAN}{{2,20}}))?"
            r"(?:[^年]{0,40}?(?<!\d)(?P<later>(?:19|20)\d\d)\s*年)?"
        ),
        # 软件学报 2020年第3期
        rf"(?P<journal>{_HAN}{{2,20}})\s*{_YEAR}\s*年\s*第\s*{_ISSUE}\s*期",
    )
)
_CITE = re.compile(r"(?:how to |to |please )?cit(?:e|ation)\b|引用(?:格式|本文)", re.IGNORECASE)
# Parts of the first page where journals print this, as shares of its height.
_TOP, _BOTTOM = 0.11, 0.86
# A block of a head or foot has fewer lines; "How to cite" beside the text has more.
_MOST_LINES, _MOST_CITE_LINES = 6, 14
# Without a year, pages or the number of a volume no form fits.
_SIGN = re.compile(r"(?:19|20)\d\d|第|\bpp?\.|\bpages\b")
# A note at the foot of a page may cite another paper.
_NOTE = re.compile(r"\s*(?:\d{1,2}\b(?!\s*(?:th|st|nd|rd)\b)|[*∗†‡§¶]|\[\d)")
_CAPITALISED = re.compile(
    r"[(\[]?[A-ZÀ-Þ][\w'’&/-]*[.)\]]*|(?:of|and|for|the|in|on|de|la|et|der|für|und|&|[–—-])"
)
_SMALL_WORD = re.compile(r"(?:of|and|for|the|in|on|&|et|[–—-])")
_NAMES_JOURNAL = re.compile(
    r"\b(?:journal|review|annals|annual|proceedings|transactions|letters|research|sciences?|"
    r"international|advances|archives|acta|bulletin|notes|reports?)\b|\b(?:J|Ann|Rev|Proc)\b",
    re.IGNORECASE,
)
_PROCEEDINGS = re.compile(r"^In Proc(?:eedings|\.) of")
_MOST_JOURNAL_WORDS = 16


@dataclass(frozen=True, slots=True)
class Imprint:
    """Where a paper was published; empty where it does not say.

    Args:
        journal: or proceedings, as printed.
        pages: first and last page (`299-305`), or the number of the article.
        year: of the volume.
    """

    journal: str = ""
    volume: str = ""
    issue: str = ""
    pages: str = ""
    year: int | None = None

    @property
    def page_range(self) -> tuple[int, int] | None:
        """The first and the last page; None for an article without pages of the volume."""
        match = re.fullmatch(r"(\d+)-(\d+)", self.pages)
        return (int(match[1]), int(match[2])) if match else None


def find_imprint(
    blocks: Sequence[Sequence[Line]],
    height: float,
    sheets: int,
    metadata: Mapping[str, Any],
    title: str = "",
) -> Imprint:
    """Return where a paper was published, by the heads and feet of its first page.

    A range of pages counts where it is as long as the document, or a page shorter: proceedings
    print that of the paper, while a journal's foot may print that of a whole section.

    Args:
        blocks: of the first page, heads and feet included.
        height: of the page, in points.
        sheets: pages of the document.
        metadata: the PDF's document information.
        title: of the paper: no journal begins with its last word.
    """
    ends = {f"{word}." for word in title.split()}
    found = [_read(text, ends) for text in _candidates(blocks, height, metadata)]
    told = [_checked(one, sheets) for one in found if one is not None]
    if not told:
        return Imprint()
    best = max(told, key=lambda one: sum(map(bool, (one.journal, one.volume, one.pages))))
    years = {one.year for one in told if one.year and one.volume == best.volume}
    return best if len(years) < 2 else Imprint(best.journal, best.volume, best.issue, best.pages)


def _candidates(
    blocks: Sequence[Sequence[Line]], height: float, metadata: Mapping[str, Any]
) -> Iterator[str]:
    upright = [line for block in blocks for line in block if line.upright]
    last = max(upright, key=lambda line: line.box[3], default=None)
    if last is not None and _is_outer(last, height) and not _NOTE.match(last.text):
        yield last.text
    for block in blocks:
        text = " ".join(line.text for line in block if not line.text.isdigit())
        if _CITE.match(text) and len(block) <= _MOST_CITE_LINES:
            yield text
            continue
        outer = [line for line in block if line.upright and _is_outer(line, height)]
        if not outer or len(outer) < len(block) > _MOST_LINES or _NOTE.match(text):
            continue
        yield from (line.text for line in outer)
        if len(block) <= _MOST_LINES:
            yield from (f"{line.text} {after.text}" for line, after in pairwise(block))
            yield " ".join(line.text for line in block)
    yield str(metadata.get("subject") or "")


def _is_outer(line: Line, height: float) -> bool:
    return line.box[3] <= _TOP * height or line.box[1] >= _BOTTOM * height


def _read(text: str, ends: Collection[str]) -> Imprint | None:
    text = unicodedata.normalize("NFKC", text)
    if not _SIGN.search(text):
        return None
    for form in _FORMS:
        match = form.search(text)
        if match is None:
            continue
        found = {name: value for name, value in match.groupdict().items() if value}
        journal = _journal(found.get("journal") or found.get("behind", ""), ends)
        year = found.get("year") or found.get("between") or found.get("later")
        if not journal and not re.search(_HAN, text):
            continue
        return Imprint(
            journal,
            found.get("volume", ""),
            found.get("issue") or found.get("number", ""),
            _pages(found.get("pages") or found.get("article", "")),
            int(year) if year else None,
        )
    return None


def _journal(text: str, ends: Collection[str]) -> str:
    """Return the name of the journal at the end of `text`, empty where there is none.

    Authors and a title may stand before it: `Ashrafi et al., Afr J Tradit Med`, `…: a study
    protocol. Medicine`.
    """
    if re.search(_HAN, text):
        return str(re.findall(rf"{_HAN}+", text)[-1])
    text = _PROCEEDINGS.sub("Proceedings of", text.strip(" ,;:"))
    if text.startswith(("Proceedings of", "Actes de")):
        return text.rstrip(".")
    words = text.rsplit(".,", 1)[-1].split()
    name: list[str] = []
    for word in reversed(words):
        if not _CAPITALISED.fullmatch(word.rstrip(",")) or word in ends or word.endswith(")."):
            break
        name.insert(0, word)
    if len(name) < len(words) and name and _SMALL_WORD.fullmatch(name[0]):
        return ""
    journal = " ".join(name).strip(" ,")
    before, comma, after = journal.rpartition(", ")
    if comma and not _NAMES_JOURNAL.search(before):
        journal = after
    if not any(word.endswith(".") for word in name[:-1]):
        journal = journal.rstrip(".")
    is_name = re.search(r"[^\W\d_]{2}", journal) and len(name) <= _MOST_JOURNAL_WORDS
    return journal if is_name and "www." not in text and not journal.startswith("Vol") else ""


def _pages(text: str) -> str:
    compact = re.sub(r"\s", "", text)
    match = re.fullmatch(r"([eELS]?)(\d+)(?:[-‐-―−]+|e)([eELS]?)(\d+)", compact)
    if match is None:
        return compact
    first, last = match[2], match[4]
    # 585–91 is 585 to 591.
    last = first[: len(first) - len(last)] + last if len(last) < len(first) else last
    return f"{match[1]}{first}-{match[1] or match[3]}{last}"


def _checked(imprint: Imprint, sheets: int) -> Imprint:
    match = re.fullmatch(r"[eELS]?(\d+)-[eELS]?(\d+)", imprint.pages)
    if match is None or 0 <= int(match[2]) - int(match[1]) + 1 - sheets + 1 <= 1:
        return imprint
    return Imprint(imprint.journal, imprint.volume, imprint.issue, "", imprint.year)
