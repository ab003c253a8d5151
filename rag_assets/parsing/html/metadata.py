"""What a page says about itself: JSON-LD, Highwire and Dublin Core tags, OpenGraph, plain meta."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any  # Any: trees of lxml, JSON-LD

from rag_assets.parsing.html.dom import Piece

# The more a vocabulary is made for works, the earlier it is asked.
_TITLES = (
    "citation_title", "ld:headline", "og:title", "dc.title", "dcterms.title", "twitter:title",
)  # fmt: skip
_AUTHORS = (
    "citation_author", "ld:author", "dc.creator", "dcterms.creator", "article:author", "author",
    "byl", "parsely-author", "sailthru.author",
)  # fmt: skip
_DATES = (
    "citation_publication_date", "citation_date", "ld:datepublished", "article:published_time",
    "dcterms.issued", "dc.date.issued", "dc.date", "dcterms.date", "datepublished", "pubdate",
    "date", "ld:datecreated", "ld:datemodified",
)  # fmt: skip
_DOIS = ("citation_doi", "dc.identifier", "dcterms.identifier", "prism.doi")
_PLAIN = {
    "description": ("description", "og:description", "ld:description", "dc.description"),
    "publisher": ("citation_journal_title", "og:site_name", "ld:publisher", "dc.publisher"),
    "tags": ("citation_keywords", "keywords", "news_keywords", "article:tag", "ld:keywords"),
    "url": ("canonical", "og:url"),
    "license": ("license", "dc.rights", "dcterms.license"),
}
_WORKS = re.compile(
    r"article|posting|report|creativework|book|chapter|webpage|legislation|thesis|review|dataset",
    re.IGNORECASE,
)
# Where a <title> names the page and then the site.
_TITLE_PARTS = re.compile(r"\s+[|\u2013\u2014\u00b7\u00bb:\u2022/_-]+\s+|\s*[|_\uff5c]\s*")
_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d)")
_DOI = re.compile(r"10\.\d{4,9}/\S+")
_URL = re.compile(r"https?://|^www\.|^/", re.IGNORECASE)
_BY = re.compile(r"^\s*(?:by|von|par|por|作者|文)\s*[:：]?\s+", re.IGNORECASE)
_MAX_NAME_CHARACTERS = 80
_MAX_AUTHORS = 200


@dataclass(frozen=True, slots=True)
class PageFacts:
    """What the page states about itself, as far as it does."""

    title: str | None = None
    authors: tuple[str, ...] = ()
    year: int | None = None
    doi: str | None = None
    language: str | None = None
    metadata: dict[str, str] = field(default_factory=dict)


def read_facts(tree: Any, pieces: list[Piece]) -> PageFacts:
    """Return what a page states about itself.

    Sources: schema.org as JSON-LD, Highwire Press tags (what Google Scholar reads), Dublin Core,
    OpenGraph, HTML's own standard metadata names.

    Args:
        tree: of the whole page.
        pieces: its content; a first heading of the highest level is a title of last resort, and
            tells the page's name from the site's in <title>.
    """
    stated = _stated(tree)
    metadata = {
        name: "; ".join(dict.fromkeys(values))
        for name, keys in _PLAIN.items()
        if (values := _first(stated, keys))
    }
    date = next(iter(_first(stated, _DATES)), None) or _marked_date(tree)
    if date is not None:
        metadata["date"] = date
    year = _YEAR.search(date) if date else None
    doi = next((m[0] for v in _first(stated, _DOIS) if (m := _DOI.search(v.lower()))), None)
    return PageFacts(
        title=next(iter(_first(stated, _TITLES)), None) or _title_element(tree, pieces),
        authors=_authors(tree, stated),
        year=int(year[1]) if year else None,
        doi=doi,
        language=_language(tree, stated),
        metadata=metadata,
    )


def _first(stated: Mapping[str, list[str]], keys: tuple[str, ...]) -> list[str]:
    return next((stated[key] for key in keys if stated.get(key)), [])


def _stated(tree: Any) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}

    def add(key: str | None, value: str | None) -> None:
        text = " ".join((value or "").split())
        if key and text:
            found.setdefault(key.strip().lower(), []).append(text)

    for meta in tree.iter("meta"):
        for name in ("name", "property", "itemprop", "http-equiv"):
            add(meta.get(name), meta.get("content"))
    for link in tree.iter("link"):
        if (link.get("rel") or "").lower() in {"canonical", "license"}:
            add(link.get("rel"), link.get("href"))
    for script in tree.iter("script"):
        if "ld+json" in (script.get("type") or "").lower():
            for work in _works(script.text or ""):
                for key, value in work.items():
                    for text in _texts(value):
                        add(f"ld:{key}", text)
    return found


def _works(source: str) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON-LD script that describe a work, articles before pages."""
    try:
        content = json.loads(source)
    except (ValueError, RecursionError):
        # Pages are full of broken scripts; what this one says is said by other tags or not at all.
        return
    works: list[tuple[bool, dict[str, Any]]] = []
    queue = [content]
    while queue:
        item = queue.pop(0)
        if isinstance(item, list):
            queue.extend(item)
        elif isinstance(item, dict):
            queue.extend(value for key, value in item.items() if key in {"@graph", "mainEntity"})
            kinds = item.get("@type")
            kind = " ".join(kinds) if isinstance(kinds, list) else str(kinds or "")
            if _WORKS.search(kind):
                works.append(("page" in kind.lower(), item))
    for _, work in sorted(works, key=lambda pair: pair[0]):
        yield work


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _texts(value.get("name"))
    elif isinstance(value, list):
        for item in value[:_MAX_AUTHORS]:
            if isinstance(item, str | dict):
                yield from _texts(item)


def _authors(tree: Any, stated: Mapping[str, list[str]]) -> tuple[str, ...]:
    named = [value for value in _first(stated, _AUTHORS) if _is_name(value)]
    if not named:
        marked = (
            element.text_content()
            for element in tree.iter("a", "span", "div", "p", "address")
            if "author" in ((element.get("rel") or ""), (element.get("itemprop") or ""))
        )
        named = [name for text in marked if _is_name(name := _BY.sub("", " ".join(text.split())))]
    return tuple(dict.fromkeys(_BY.sub("", name).strip() for name in named[:_MAX_AUTHORS]))


def _is_name(text: str) -> bool:
    return 1 < len(text) <= _MAX_NAME_CHARACTERS and not _URL.search(text)


def _marked_date(tree: Any) -> str | None:
    for element in tree.iter("time"):
        value = element.get("datetime")
        if value and ("pubdate" in element.attrib or element.get("itemprop") == "datePublished"):
            return str(value)
    return None


def _title_element(tree: Any, pieces: list[Piece]) -> str | None:
    """Return the page's name: <title> without the site's, else the first highest heading."""
    element = next(tree.iter("title"), None)
    title = " ".join(element.text_content().split()) if element is not None else ""
    headings = [piece for piece in pieces if piece.kind == "heading"]
    if not title:
        return min(headings, key=lambda piece: piece.level or 1).text if headings else None
    shown = {heading.text.casefold(): heading.text for heading in headings}
    for part in (title, *_TITLE_PARTS.split(title)):
        if part.casefold() in shown:
            return part
    return title


def _language(tree: Any, stated: Mapping[str, list[str]]) -> str | None:
    declared = (
        tree.get("lang")
        or tree.get("xml:lang")
        or tree.get("{http://www.w3.org/XML/1998/namespace}lang")
        or next(iter(_first(stated, ("og:locale", "content-language", "dc.language"))), "")
    )
    match = re.match(r"[a-z]{2,3}(?![a-z])", declared.strip().lower())
    return match[0] if match else None
