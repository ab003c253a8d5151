"""One cited document as a reference manager knows it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from rag_assets.evidence.bibliography.names import PersonName, split_name

Kind = Literal["article", "preprint", "webpage", "document"]

# DOIs that servers of preprints give: arXiv, bioRxiv and medRxiv, SSRN, Preprints.org.
_PREPRINT_DOI = re.compile(r"10\.(?:48550/|1101/\d|2139/ssrn|20944/)")
_DATE = re.compile(r"(?P<year>\d{4})(?:[-/.](?P<month>\d{1,2})(?:[-/.](?P<day>\d{1,2}))?)?(?!\d)")
# What a source has under the name of its column.
_PLAIN = ("title", "publisher", "url", "doi", "language")


@dataclass(frozen=True, slots=True)
class Reference:
    """What is known of a cited document.

    Args:
        key: what a draft cites it by: its citation key, else its uid.
        cite_as: what names it between `{#` and `}`: its uid, with its namespace where another one
            has a citable document of that uid.
        kind: an article where it has a DOI, a web page where it has only an address; what the
            file does not say is not guessed.
        issued: year, month and day as far as known.
        accessed: likewise, when it was looked at.
        where: locators of the passages that are used, each once, in their order.
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
    plain = {name: " ".join(str(row[name] or "").split()) for name in _PLAIN}
    issued = read_date(str(row["published_date"] or "")) or (
        (int(row["year"]),) if row["year"] else ()
    )
    names = [split_name(name) for name in row["authors"] or ()]
    authors = tuple(name for name in names if name.inverted)
    wanted = {"author": authors, "year": issued, "DOI or URL": plain["doi"] or plain["url"]}
    return Reference(
        key=row["citation_key"] or row["doc_uid"],
        namespace=row["namespace"],
        doc_uid=row["doc_uid"],
        cite_as=row["cite_as"],
        kind=_kind(plain["doi"], plain["url"]),
        title=plain.pop("title") or row["doc_uid"],
        authors=authors,
        issued=issued,
        accessed=read_date(str(row["accessed_at"] or "")),
        where=where,
        missing=tuple(name for name, value in wanted.items() if not value),
        **plain,
    )


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


def _kind(doi: str, url: str) -> Kind:
    if doi:
        return "preprint" if _PREPRINT_DOI.match(doi.lower()) else "article"
    return "webpage" if url else "document"
