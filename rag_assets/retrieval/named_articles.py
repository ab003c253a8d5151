"""Articles of laws that a question names stand first: they are looked up, not searched."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rag_assets.law import (
    ArticleReference,
    article_pattern,
    find_references,
    mark_name,
    names_articles,
)
from rag_assets.retrieval.candidates import fetch_hits
from rag_assets.retrieval.filters import SearchFilters
from rag_assets.retrieval.hits import Hit
from rag_assets.retrieval.laws import AskedDay, HeldLaws, find_articles
from rag_assets.retrieval.reader import Reader


@dataclass(frozen=True, slots=True)
class _Found:
    """What a reference led to: keys of chunks, the article's beginning first."""

    reference: ArticleReference
    keys: tuple[str, ...]


def put_articles_first(
    readers: Sequence[Reader],
    text: str,
    hits: Sequence[Hit],
    filters: SearchFilters,
    day: AskedDay | None = None,
) -> tuple[list[Hit], list[str]]:
    """Return hits with the articles that a question names before all others.

    Of a law that is named the wording in force on the day that is asked for, without a day the
    newest that holds the article; where no law is named the article of each document, in the order
    of the search.

    Args:
        readers: one a namespace.
        text: of the question.
        hits: as searched, best first.
        filters: hold for articles too.
        day: on which a wording has to hold.

    Returns:
        The hits, those that were put first with `named_article` in their explanations and the best
        hit's score; and what a person should know: a law or article that is not there, an
        abbreviation and what it was taken for.
    """
    if not names_articles(text):
        return list(hits), []
    laws = day.laws if day is not None else HeldLaws([reader.laws for reader in readers])
    references = find_references(text, laws.names)
    found = [_look_up(readers, laws, reference, filters, day) for reference in references]
    warnings = [text for one in found for text in _warnings(one, laws)]
    order = {hit.chunk_key: place for place, hit in enumerate(hits)}
    named: dict[str, str] = {}
    for one in found:
        keys = one.keys
        if _is_of_any(one.reference):
            keys = tuple(sorted(keys, key=lambda key: order.get(key, len(order))))
        for key in keys:
            named.setdefault(key, one.reference.shown)
    known = {hit.chunk_key: hit for hit in hits}
    known |= fetch_hits(readers, [key for key in named if key not in known])
    best = hits[0].score if hits else 1.0
    first = [
        replace(
            known[key],
            score=best,
            explanation={**known[key].explanation, "named_article": shown},
        )
        for key, shown in named.items()
        if day is None or day.finds(known[key])
    ]
    return [*first, *(hit for hit in hits if hit.chunk_key not in named)], warnings


def _is_of_any(reference: ArticleReference) -> bool:
    """Say whether the article of each document is meant: no law is named that is surely one."""
    return not reference.documents and (reference.law is None or not reference.is_surely_law)


def _look_up(
    readers: Sequence[Reader],
    laws: HeldLaws,
    reference: ArticleReference,
    filters: SearchFilters,
    day: AskedDay | None,
) -> _Found:
    pattern = article_pattern(reference.key)
    if _is_of_any(reference):
        keys = tuple(
            f"{reader.namespace}::{chunk_id}"
            for reader in readers
            for chunk_id in reader.find_pattern(pattern, filters)
        )
        return _Found(reference, keys)
    by_name = {reader.namespace: reader for reader in readers}
    meant = [laws[key] for key in reference.documents]
    for law in day.chosen(meant) if day is not None else meant:
        reader = by_name[law.namespace]
        held = find_articles(reader, law, reference.key.replace(".", "-"))
        if held is None:
            ids = reader.find_pattern(pattern, filters, law.doc_uid)
        else:
            ids = reader.passing([chunk_id for chunk_id, _ in held], filters)
        if ids:
            return _Found(reference, tuple(f"{law.namespace}::{one}" for one in ids))
    return _Found(reference, ())


def _warnings(found: _Found, laws: HeldLaws) -> Iterator[str]:
    reference = found.reference
    if _is_of_any(reference):
        if reference.law is not None:
            yield (
                f"no document is called {mark_name(reference.law)}: {reference.shown} was "
                "looked up in all of them"
            )
        # A “section” may be a chapter of anything.
        if not found.keys and not reference.is_plain_word:
            yield f"no passage searched begins with {reference.shown}"
        return
    if not reference.documents:
        near = ", ".join(map(mark_name, laws.names.nearest(reference.law or "")))
        yield (
            f"{mark_name(reference.law or '')} is not the name of a document searched: "
            f"{reference.shown} of it cannot be shown"
            + (f"; the nearest names are {near}" if near else "")
        )
        return
    law = laws[reference.documents[0]]
    meant = mark_name(law.title or law.shown_title)
    if not reference.is_whole:
        yield f"{mark_name(reference.law or '')} was taken for {meant}"
    if not found.keys:
        yield f"{meant} has no {reference.shown} among the passages searched"
