"""Questions to the statutes of a library: articles that were found, whole, each with its citation.

Nothing is written in the words of anybody but the law: what is returned are articles as printed,
by the rank of their law and the day of its wording (`group_by_rank`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from rag_assets.law.metadata import LawLevel
from rag_assets.model import UsageError
from rag_assets.retrieval import Hit, OpenedLibrary, ParentHit, Retriever, SearchFilters
from rag_assets.statutes.shelf import FoundArticle, LawShelf


@dataclass(frozen=True, slots=True)
class FoundStatute:
    """A passage of a statute that was found.

    Args:
        rank: from 1.
        source: `<<Source: title | Path: levels>>`, as the passage was embedded.
        articles: that it holds, each cut out whole by its citation.
        level: of its law; None where it is not known.
        unit: the merged unit around it: articles of the same path.
        unresolved: citations of it that lead to nothing, or elsewhere, with the reason.
    """

    rank: int
    hit: Hit
    source: str
    articles: tuple[FoundArticle, ...]
    level: LawLevel | None
    unit: str
    unresolved: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The articles as printed, else the passage: a preamble, a list, an annex."""
        return "\n\n".join(article.text for article in self.articles) or self.hit.text


@dataclass(frozen=True, slots=True)
class StatuteSearch:
    """What was found for a question, best first, and what a person should know about it."""

    as_of: date
    found: tuple[FoundStatute, ...]
    filters: tuple[str, ...]
    warnings: tuple[str, ...]


def search_statutes(
    library: OpenedLibrary,
    question: str,
    as_of: date,
    *,
    namespaces: Sequence[str] = (),
    top_k: int | None = None,
    all_versions: bool = False,
) -> StatuteSearch:
    """Search the statutes of a library.

    Args:
        as_of: the day on which wordings have to hold.
        namespaces: names; without any, all that are published.
        top_k: passages at most; else `retrieve.top_k`.
        all_versions: find wordings, too, in whose place another one is in force.

    Raises:
        UsageError: no text to ask, or none of the namespaces holds a statute.
        PublicationError: none of them has a publication.
    """
    with library.hold(namespaces) as held, Retriever(library, namespaces) as retriever:
        return search_shelf(
            retriever, LawShelf(held, as_of), question, as_of, top_k=top_k,
            all_versions=all_versions,
        )  # fmt: skip


def search_shelf(
    retriever: Retriever,
    shelf: LawShelf,
    question: str,
    as_of: date,
    *,
    top_k: int | None = None,
    all_versions: bool = False,
    filters: SearchFilters | None = None,
) -> StatuteSearch:
    """Search statutes by a retriever that is entered; see `search_statutes`.

    Args:
        shelf: of the retriever's publications, for the same day.
        filters: what is searched besides.
    """
    shelf.require_statutes()
    found = retriever.retrieve(
        question, top_k=top_k, as_of=as_of, all_versions=all_versions, filters=filters
    )
    units = {(parent.best.namespace, parent.parent.parent_id): parent for parent in found.parents}
    statutes = [
        _found(rank, hit, shelf, units)
        for rank, hit in enumerate((hit for hit in found.hits if hit.law is not None), start=1)
    ]
    return StatuteSearch(as_of, tuple(statutes), found.filters, found.warnings)


def _found(
    rank: int, hit: Hit, shelf: LawShelf, units: dict[tuple[str, str], ParentHit]
) -> FoundStatute:
    articles, unresolved = [], []
    for article in hit.articles:
        citation = hit.law.cite(hit.section_path, article) if hit.law is not None else None
        if citation is None:
            unresolved.append(f"{article.shown}: the day of its wording is not known")
            continue
        try:
            resolved = shelf.article(citation)
        except UsageError as error:
            unresolved.append(f"{citation}: {error}")
            continue
        leads_back = (resolved.version.law.doc_uid, resolved.start) == (
            hit.doc_uid,
            article.char_start,
        )
        if leads_back:
            articles.append(resolved)
        else:
            unresolved.append(f"{citation} leads to {resolved.version.law.file}")
    unit = units.get((hit.namespace, hit.parent_id))
    return FoundStatute(
        rank,
        hit,
        hit.context,
        tuple(articles),
        shelf.level_of(hit),
        unit.parent.text if unit is not None else hit.text,
        tuple(unresolved),
    )


def group_by_rank(
    found: Sequence[FoundStatute],
) -> list[tuple[LawLevel | None, list[FoundStatute]]]:
    """Return what was found by the rank of its law, the highest first, the newest wording first.

    Where the rank is not known, last; within one day in the order of the search.
    """
    levels = [*LawLevel, None]
    grouped = [
        (level, sorted((one for one in found if one.level == level), key=_by_day, reverse=True))
        for level in levels
    ]
    return [(level, members) for level, members in grouped if members]


def _by_day(one: FoundStatute) -> tuple[date, int]:
    law = one.hit.law
    return (law.version_date if law is not None else None) or date.min, -one.rank
