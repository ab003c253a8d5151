"""Year of publication and DOI, as the first page prints them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from rag_assets.parsing.pdf.front.words import DATE
from rag_assets.parsing.pdf.lines import Line

_DOI = re.compile(r"10\.\d{4,9}/[^\s\"<>“”‘’|{}]+", re.IGNORECASE)
_DOI_LABEL = re.compile(r"\bdoi\b|doi\.org", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"x{3,}|n{5,}|123_4", re.IGNORECASE)
_MIN_SUFFIX = 4
# Registrants of data, code and study plans (OSF, Zenodo, figshare, Dryad, ICPSR): what a paper
# rests on, not the paper.
_DATA_PREFIXES = ("10.17605", "10.5281", "10.6084", "10.5061", "10.3886")

_YEAR = r"(?:19[5-9]\d|20[0-4]\d)"
_ANY_YEAR = re.compile(rf"(?<![\d./-])({_YEAR})(?![\d/-]|\.\d)")
# What says best when a document was published, first match wins.
_SAYS_YEAR = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        (
            rf"\b(?:first |e)?publi(?:shed|cation)\b(?: online)?(?: as .{{0,40}}? at \w+)?(?: "
            rf"date)?"
            rf"[:\s]+(?:in |on )?[^.;©]{{0,25}}?({_YEAR})\b"
        ),
        (rf"(?:©|\(c\)|copyright|⃝|�)\W{{0,4}}(?:\D{{0,60}}?)({_YEAR})\b"),
        (rf"\b({_YEAR})\s?;\s?\d+\s?(?:\(|:|, )"),
        (rf"\b(?:vol(?:ume|\.)?|no\.?|issue|pp?\.)\W.{{0,40}}?\b({_YEAR})\b"),
        (rf"\(({_YEAR})\)\W{{0,3}}\d+\s?[:(,]|\b\d+\s?\(({_YEAR})\)|\(({_YEAR})\),?\s+\d+"),
        (rf"\b({_YEAR})\b.{{0,12}}\bvol\b|\b({_YEAR})\s*年\s*第?|第\s*\d+\s*卷.{{0,20}}?({_YEAR})"),
        (
            rf"\b(?:proceedings|conference|workshop|symposium|actes|advances in|iclr|icml|"
            rf"neurips|nips|acl|"
            rf"naacl|emnlp|cvpr|taln|recital)\b.{{0,90}}?\b({_YEAR})\b"
        ),
        rf"\b(?:to appear|appear(?:s|ed|ing)|presented)\s+(?:in|at)\b.{{0,90}}?\b({_YEAR})\b",
        (rf"arxiv:\S+ .{{0,20}}\b\d{{1,2}} \w{{3}} ({_YEAR})\b"),
        (
            rf"\b(?:accepted|revised|dated|soutenue|defended|aceito)\b.{{0,30}}?\b({_YEAR})\b|"
            rf"定稿日期[:：]\s*({_YEAR})|(?:录用|修回)日期[:：]\s*({_YEAR})"
        ),
        (
            rf"\b(?:received|submitted|draft|version)\b.{{0,30}}?\b({_YEAR})\b|"
            rf"收稿日期[:：]\s*({_YEAR})"
        ),
    )
)


def find_doi(lines: Sequence[Line], metadata: Mapping[str, Any]) -> str | None:
    """Return the document's own DOI, lower case, without the resolver's address.

    Args:
        lines: of the first page down to its references, heads and feet included; a DOI further
            inside belongs to something cited.
        metadata: the PDF's document information.
    """
    printed = [line.text for line in lines]
    joined = [
        line + after
        for line, after in pairwise(printed)
        if line.endswith("/") or (line.endswith(".") and after[0].isdigit())
    ]
    stated = [str(metadata.get(key) or "") for key in ("subject", "doi", "title", "keywords")]
    labelled = [text for text in (*printed, *stated, *joined) if _DOI_LABEL.search(text)]
    bare = [text for text in (*stated, *printed) if not _DOI_LABEL.search(text)]
    found = list(_dois((*labelled, *bare)))
    own = [doi for doi in found if not doi.startswith(_DATA_PREFIXES)] or found
    if not own:
        return None
    # A line's end may have cut the first one.
    return max((doi for doi in own if doi.startswith(own[0])), key=len)


def _dois(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        for match in _DOI.finditer(text):
            doi = _trimmed(match.group())
            prefix, _, suffix = doi.partition("/")
            if len(suffix) >= _MIN_SUFFIX and not _PLACEHOLDER.search(doi):
                yield f"{prefix}/{suffix}"


def _trimmed(doi: str) -> str:
    doi = doi.lower()
    while doi and (doi[-1] in ".,;:'*†/" or _is_unopened(doi)):
        doi = doi[:-1]
    return doi


def _is_unopened(doi: str) -> bool:
    return any(
        doi.endswith(closing) and doi.count(closing) > doi.count(opening)
        for opening, closing in ("()", "[]")
    )


def find_year(lines: Sequence[Line], metadata: Mapping[str, Any]) -> int | None:
    """Return the year of publication, None where the document does not say.

    In this order: a date of publication, a copyright line, the head of a journal or proceedings,
    the stamp of arXiv, the date of acceptance, then of submission, the subject in the metadata, a
    date that stands alone on the first page. The date at which the file was made is not taken: it
    is that of a scan or of a reprint as often as not.

    Args:
        lines: of the first page, heads and feet included.
        metadata: the PDF's document information.
    """
    texts = [line.text for line in lines]
    for pattern in _SAYS_YEAR:
        years = [year for text in texts if (year := _year_in(pattern, text))]
        if years:
            return max(years)
    subject = _ANY_YEAR.search(str(metadata.get("subject") or ""))
    if subject:
        return int(subject[1])
    dates = [text for text in texts if DATE.search(text) or _ANY_YEAR.fullmatch(text.strip(" .()"))]
    found = [int(match[1]) for text in dates if (match := _ANY_YEAR.search(text)) is not None]
    return found[0] if found else None


def _year_in(pattern: re.Pattern[str], text: str) -> int | None:
    match = pattern.search(text)
    if match is None:
        return None
    return next(int(group) for group in match.groups() if group)
