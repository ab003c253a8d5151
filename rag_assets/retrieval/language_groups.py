"""Libraries in several languages: each language is ranked for itself, then they become one.

A multilingual model finds a passage in the question's own language more similar than a better one
in another language: over paragraphs of which half are English and half Chinese,
multilingual-e5-small alone has nDCG@10 0.55 (XQuAD, each question in one of the two at random),
though 0.82 to 0.96 in each pair of languages. What counts is how far a passage stands out among
those of its own language: similarities standardised by their mean and spread there make it 0.87.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rag_assets.publishing.search_reading import SPREAD_SAMPLE
from rag_assets.retrieval.filters import SearchFilters
from rag_assets.retrieval.hits import Hit
from rag_assets.retrieval.queries import AskedQuery

if TYPE_CHECKING:
    from rag_assets.retrieval.reader import Reader

# Fewer passages tell no mean and spread; they go with the question's language.
MIN_PASSAGES = 30
# A model speaks for a language of which it can read at least this share of the passages.
_MIN_READABLE = 0.5
_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class LanguageGroup:
    """Passages of one language, with those of languages too rare to stand alone.

    Args:
        languages: as `passage_language` names them.
        filters: that let these passages through, and only them.
        model: fingerprint of the model that compares the groups.
        spreads: mean and standard deviation of the question's similarity with the group's
            passages, one pair for each vector of the question by that model.
    """

    languages: tuple[str, ...]
    filters: SearchFilters
    model: str
    spreads: tuple[tuple[float, float], ...]


def language_groups(
    readers: "Sequence[Reader]", query: AskedQuery, filters: SearchFilters
) -> list[LanguageGroup]:
    """Return the groups of a library in several languages; none where there is nothing to merge.

    That is where all but a few passages share one language, or where no model has vectors of the
    question and of most passages in each language and publication.
    """
    counts: dict[str, int] = {}
    for reader in readers:
        for language, count in reader.count_by_language(filters).items():
            counts[language] = counts.get(language, 0) + count
    large = sorted(language for language, count in counts.items() if count >= MIN_PASSAGES)
    if len(large) < 2:
        return []
    home: str = query.language
    if home not in large:
        home = max(large, key=lambda language: (counts[language], language))
    members = {
        language: (language, *sorted(counts.keys() - large)) if language == home else (language,)
        for language in large
    }
    shared = set.intersection(*(set(reader.fingerprints) for reader in readers))
    for fingerprint in readers[0].fingerprints:
        if fingerprint not in shared or fingerprint not in query.vectors:
            continue
        groups = [_group(readers, query, filters, m, fingerprint) for m in members.values()]
        if all(groups):
            return [group for group in groups if group is not None]
    return []


def _group(
    readers: "Sequence[Reader]",
    query: AskedQuery,
    filters: SearchFilters,
    languages: tuple[str, ...],
    fingerprint: str,
) -> LanguageGroup | None:
    """Return a group as a model sees it, None where it cannot read most of its passages."""
    import numpy as np

    own = replace(filters, passage_languages=languages)
    spreads = []
    for vector in query.vectors[fingerprint]:
        samples = [
            reader.similarity_sample(fingerprint, vector, languages, own) for reader in readers
        ]
        found = np.concatenate(samples)
        asked = sum(
            min(SPREAD_SAMPLE, sum(reader.count_by_language(own).values())) for reader in readers
        )
        if len(found) < max(MIN_PASSAGES, _MIN_READABLE * asked) or not found.std() > 0:
            return None
        spreads.append((float(found.mean()), float(found.std())))
    return LanguageGroup(languages, own, fingerprint, tuple(spreads))


def merge_groups(
    groups: Sequence[LanguageGroup],
    ranked: Sequence[Sequence[Hit]],
    readers: "Sequence[Reader]",
    query: AskedQuery,
) -> list[Hit]:
    """Return the hits of all groups in one ranking that keeps the order of each.

    The standardised similarities of a group's hits, the highest first, are given to its hits in
    their order; hits of all groups are ranked by them, ties by `chunk_key`. So words and all
    models decide within a language, and one model that reads them all between languages.

    Args:
        groups: as `language_groups` returns them.
        ranked: the hits of each group, best first.

    Returns:
        Hits with `score` in [0, 1], 1 for the first, and `standing`, the standardised similarity
        that they were given, in their explanations.
    """
    placed = []
    for group, hits in zip(groups, ranked, strict=True):
        own = _standings(group, hits, readers, query)
        for standing, hit in zip(sorted(own, reverse=True), hits, strict=True):
            placed.append((round(standing, _DECIMALS), hit))
    if not placed:
        return []
    standings = [standing for standing, _ in placed]
    low, width = min(standings), max(standings) - min(standings)
    merged = [
        replace(
            hit,
            score=(standing - low) / width if width else 1.0,
            explanation={**hit.explanation, "standing": standing},
        )
        for standing, hit in placed
    ]
    return sorted(merged, key=lambda hit: (-hit.score, hit.chunk_key))


def _standings(
    group: LanguageGroup, hits: Sequence[Hit], readers: "Sequence[Reader]", query: AskedQuery
) -> list[float]:
    """Return how far each hit stands out in its group; one without a vector not at all: 0."""
    best: dict[str, float] = {}
    for reader in readers:
        ids = [hit.chunk_id for hit in hits if hit.namespace == reader.namespace]
        for vector, (mean, spread) in zip(query.vectors[group.model], group.spreads, strict=True):
            for chunk_id, cosine in reader.score_vectors(group.model, vector, ids).items():
                key = f"{reader.namespace}::{chunk_id}"
                standing = (cosine - mean) / spread
                best[key] = max(standing, best.get(key, standing))
    return [best.get(hit.chunk_key, 0.0) for hit in hits]
