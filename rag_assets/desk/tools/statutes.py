"""Find and look up articles of statutes, each with the citation that leads back to it."""

from datetime import date
from typing import Annotated, Any

from pydantic import Field

from rag_assets.desk.tools.reading import AllVersions, AsOf, Namespaces, TopK
from rag_assets.model import UsageError
from rag_assets.retrieval import OpenedLibrary
from rag_assets.retrieval.statutes import (
    FoundArticle,
    FoundStatute,
    LawShelf,
    StatuteSearch,
    search_statutes,
)


def law_search(
    library: OpenedLibrary,
    query: Annotated[str, Field(description="A question or words; or an article: 刑法133条之一.")],
    namespaces: Namespaces = (),
    top_k: TopK = None,
    as_of: AsOf = None,
    all_versions: AllVersions = False,
) -> dict[str, Any]:
    """Find articles of statutes in the wording that holds on a day, best first.

    Every statement about law must cite an article that a tool has returned, by its `citation` in
    the form [文件 > 章节 > 条款], letter for letter; say so where its standing is not in_force.
    `standing` is in_force, not_yet_in_force, superseded, repealed or unknown on that day, and
    `is_stated` whether the text says since when it holds. `unit` holds the articles around a hit;
    a hit without articles is a preamble, a list or an annex. Do not use `unresolved` citations.
    """
    day = _asked_day(as_of)
    return describe_search(
        search_statutes(
            library, query, day, namespaces=namespaces, top_k=top_k, all_versions=all_versions
        )
    )


def law_article(
    library: OpenedLibrary,
    citation: Annotated[
        str,
        Field(
            description="[law > chapter > article], chapters may be left out; or in words: "
            "刑法133之一, 劳动合同法第5至7条, Criminal Law art. 264."
        ),
    ],
    namespaces: Namespaces = (),
    as_of: AsOf = None,
) -> dict[str, Any]:
    """Return the article, paragraph (款) or item (项) that a citation names, cut out exactly.

    Of a range or a list of articles `articles` has each.
    """
    day = _asked_day(as_of)
    with library.hold(namespaces) as held:
        found = [describe_article(one, day) for one in LawShelf(held, day).articles(citation)]
    return found[0] if len(found) == 1 else {"articles": found}


def describe_search(found: StatuteSearch) -> dict[str, Any]:
    """Return what was found as values that JSON knows."""
    return {
        "as_of": str(found.as_of),
        "hits": [_passage(one, found.as_of) for one in found.found],
        "filters": list(found.filters),
        "warnings": list(found.warnings),
    }


def describe_article(found: FoundArticle, day: date) -> dict[str, Any]:
    """Return an article as values that JSON knows."""
    version = found.version
    return {
        "citation": found.citation,
        "law": found.law_title,
        "path": list(found.path),
        "article": found.shown,
        "clause": found.clause,
        "text": found.text,
        "standing": version.standing,
        "as_of": str(day),
        "version_date": _iso(version.version_date),
        "holds_from": _iso(version.holds_from),
        "is_stated": version.is_stated,
        "repeal": version.judged.repeal.shown if version.judged.repeal is not None else None,
        "level": version.wording.law_level,
        "issuer": version.wording.issuer,
        "namespace": version.law.namespace,
        "doc_uid": version.law.doc_uid,
        "content_hash": version.law.content_hash,
        "char_start": found.start,
        "char_end": found.end,
    }


def _passage(one: FoundStatute, day: date) -> dict[str, Any]:
    return {
        "rank": one.rank,
        "source": one.source,
        "standing": one.hit.law.standing if one.hit.law is not None else "unknown",
        "repeal": one.hit.law.repeal if one.hit.law is not None else None,
        "level": one.level,
        "citation_id": one.hit.citation_id,
        "articles": [describe_article(article, day) for article in one.articles],
        "text": one.text,
        "unit": one.unit,
        "unresolved": list(one.unresolved),
    }


def _asked_day(as_of: date | None) -> date:
    """Return the day; who calls a tool knows it, the library does not."""
    if as_of is None:
        raise UsageError("as_of: name the day on which wordings have to hold, YYYY-MM-DD.")
    return as_of


def _iso(day: date | None) -> str | None:
    return day.isoformat() if day is not None else None
