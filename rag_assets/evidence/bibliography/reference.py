"""One cited document as a reference manager knows it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from rag_assets.evidence.bibliography.names import PersonName, split_names
from rag_assets.law import LAW_NOUNS, NUMBER
from rag_assets.model import drop_controls

Kind = Literal["article", "preprint", "statute", "webpage", "document"]

# DOIs that servers of preprints give: arXiv, bioRxiv and medRxiv, SSRN, Preprints.org.
_PREPRINT_DOI = re.compile(r"10\.(?:48550/|1101/\d|2139/ssrn|20944/)")
_DATE = re.compile(r"(?P<year>\d{4})(?:[-/.](?P<month>\d{1,2})(?:[-/.](?P<day>\d{1,2}))?)?(?!\d)")
# Locators in a statute begin with the article; in English a title must be that of a law as well,
# since a chapter may be called “Article 3”, too.
_IN_ARTICLE = re.compile(rf"第\s?{NUMBER}\s?条")
_IN_ENGLISH_ARTICLE = re.compile(r"(?:Article|Art\.|Section|Sec\.|§)\s*\d", re.IGNORECASE)
# Where only a preamble is used, the title says it. 算法 and 方法 are no laws.
_STATUTE_TITLE = re.compile(
    r"^中华人民共和国\S*(?:法|法典|条例|细则|办法|规定)(?:\s*[（(].*)?$|(?:法典|宪法|条例|实施细则|管理办法)"
    r"(?:\s*[（(].*)?$|\bAct(?:\s+of)?,?\s+\d{4}$|^(?:Regulation|Directive)\s+\((?:EU|EC|EEC)\)"
)
_PLACE = re.compile(r"\bpp?\. (?P<page>\d+)|\bcharacters (?P<character>\d+)")
# What a source has under the name of its column.
_PLAIN = ("title", "publisher", "url", "doi", "language")


@dataclass(frozen=True, slots=True)
class Reference:
    """What is known of a cited document.

    Args:
        key: what a draft cites it by: its citation key, else its uid.
        cite_as: what names it between `{#` and `}`: its uid, with its namespace where another one
            has a citable document of that uid.
        kind: an article where it has a DOI; a statute where articles of it are used or its title
            is that of one; a web page where it has only an address; what the file does not say is
            not guessed.
        issued: year, month and day as far as known.
        accessed: likewise, when it was looked at.
        where: locators of the passages that are used, each once, in the order of their places.
        missing: what a reference list wants and nothing says, in words.
    """

    key: str
    namespace: str
    doc_uid: str
    cite_as: str
    kind: Kind
    title: str
    authors: tuple[PersonName, ...] = ()
    issued: tuple[int, ...] = ()
    accessed: tuple[int, ...] = ()
    publisher: str = ""
    url: str = ""
    doi: str = ""
    language: str = ""
    where: tuple[str, ...] = ()
    missing: tuple[str, ...] = field(default=())


def make_reference(row: Mapping[str, Any], where: tuple[str, ...]) -> Reference:
    """Return the reference of a row of the published table `documents`, or of a pack's source.

    Args:
        row: with `namespace`, `doc_uid`, `cite_as`, `citation_key`, `title`, `authors`,
            `year`, dates, ….
        where: locators of the passages that are used.
    """
    plain = {name: _one_line(str(row[name] or "")) for name in _PLAIN}
    issued = read_date(str(row["published_date"] or "")) or (
        (int(row["year"]),) if row["year"] else ()
    )
    names = [name for printed in row["authors"] or () for name in split_names(_one_line(printed))]
    authors = tuple(name for name in names if name.inverted)
    kind = _kind(plain["doi"], plain["url"], plain["title"], where)
    wanted = {"author": authors, "year": issued, "DOI or URL": plain["doi"] or plain["url"]}
    if kind == "statute":  # is cited by its title and year
        wanted = {"year": issued}
    return Reference(
        key=_one_line(row["citation_key"] or "") or row["doc_uid"],
        namespace=row["namespace"],
        doc_uid=row["doc_uid"],
        cite_as=row["cite_as"],
        kind=kind,
        title=plain.pop("title") or row["doc_uid"],
        authors=authors,
        issued=issued,
        accessed=read_date(str(row["accessed_at"] or "")),
        where=tuple(sorted(where, key=_place)),
        missing=tuple(name for name, value in wanted.items() if not value),
        **plain,
    )


def _one_line(text: str) -> str:
    """Return a value as every format holds it: a line break would begin another field or record."""
    return " ".join(drop_controls(text).split())


def read_date(text: str) -> tuple[int, ...]:
    """Return year, month and day of a date as far as it names them; empty where it does not."""
    match = _DATE.match(text.strip())
    if match is None:
        return ()
    parts = [int(match["year"])]
    for name, most in (("month", 12), ("day", 31)):
        if not match[name] or not 1 <= int(match[name]) <= most:
            break
        parts.append(int(match[name]))
    return tuple(parts)


def _place(locator: str) -> tuple[int, int]:
    """Return page or first character of a locator, by which it is sorted; others come last."""
    match = _PLACE.search(locator)
    if match is None:
        return 1, 0
    return 0, int(match["page"] or match["character"])


def _kind(doi: str, url: str, title: str, where: Sequence[str]) -> Kind:
    if doi:
        return "preprint" if _PREPRINT_DOI.match(doi.lower()) else "article"
    if _is_statute(title, where):
        return "statute"
    return "webpage" if url else "document"


def _is_statute(title: str, where: Sequence[str]) -> bool:
    if _STATUTE_TITLE.search(title) or any(map(_IN_ARTICLE.match, where)):
        return True
    is_law = not LAW_NOUNS.isdisjoint(re.findall(r"\w+", title.lower()))
    return is_law and any(map(_IN_ENGLISH_ARTICLE.match, where))
