"""Libraries in several languages: each language is ranked for itself, then they become one.

A multilingual model finds a passage in the question's own language more similar than a better one
in another language: over paragraphs of which half are English and half Chinese,
multilingual-e5-small alone has nDCG@10 0.55 (XQuAD, each question in one of the two at random),
though 0.82 to 0.96 in each pair of languages. And a passage of a few signs or digits is similar to
whatever is asked in another language. So similarities are standardised twice. First by passage:
what counts is how much nearer it is to this question than to the library's own passages in the
question's language, which stand for whatever else might be asked (hubs are near to all of them:
Conneau et al. 2018, section 2.3). Then by language: how far that stands out among the passages of
its language. XQuAD: 0.87 by language alone, 0.89 by both.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rag_assets.publishing.content_words import coverage
from rag_assets.retrieval.filters import EVERYTHING, SearchFilters
from rag_assets.retrieval.hits import Hit
from rag_assets.retrieval.queries import AskedQuery

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rag_assets.retrieval.reader import Reader

    Floats = NDArray[np.float64]

# Fewer passages tell no mean and spread; they go with the question's language.
MIN_PASSAGES = 30
# A model speaks for a language of which it can read at least this share of the passages.
_MIN_READABLE = 0.5
# Passages of all publications together that tell a language's mean and spread, and those that
# stand for other questions; at 1,000 a mean is known to 3 % of the spread.
_SAMPLE = 1000
_OTHERS = 256
# Nearer to a passage than this is the passage itself, or a copy.
_SAME = 0.9999
# For each tenth of the question's words above three tenths that a hit in its language holds, it
# stands out by 0.3 deviations more: where nothing answers, the best of a language stands at 2 to
# 3, and so may the right passage of a narrow library.
_WORDS_WEIGHT, _WORDS_FROM = 3.0, 0.3
_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class LanguageGroup:
    """Passages of one language, with those of languages too rare to stand alone.

    Args:
        languages: as `passage_language` names them.
        filters: that let these passages through, and only them.
        model: fingerprint of the model that compares the groups.
        others: vectors of passages in the question's language, shape (n, dimension), length 1.
        spreads: mean and standard deviation of `_nearness` over the group's passages, one pair for
            each vector of the question by that model.
    """

    languages: tuple[str, ...]
    filters: SearchFilters
    model: str
    others: "Floats"
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
        others = _sample(readers, fingerprint, (home,), EVERYTHING, _OTHERS)
        if len(others) < _MIN_READABLE * min(MIN_PASSAGES, _OTHERS):
            continue
        groups = [
            _group(readers, query, filters, languages, fingerprint, others)
            for languages in members.values()
        ]
        if all(groups):
            return [group for group in groups if group is not None]
    return []


def _sample(
    readers: "Sequence[Reader]",
    fingerprint: str,
    languages: tuple[str, ...],
    filters: SearchFilters,
    most: int,
) -> "Floats":
    import numpy as np

    share = max(1, most // len(readers))
    # By name, so that the order of publications decides nothing.
    ordered = sorted(readers, key=lambda reader: reader.namespace)
    return np.concatenate(
        [reader.sample_vectors(fingerprint, languages, filters, share) for reader in ordered]
    )


def _group(
    readers: "Sequence[Reader]",
    query: AskedQuery,
    filters: SearchFilters,
    languages: tuple[str, ...],
    fingerprint: str,
    others: "Floats",
) -> LanguageGroup | None:
    """Return a group as a model sees it, None where it cannot read most of its passages."""
    import numpy as np

    own = replace(filters, passage_languages=languages)
    passages = _sample(readers, fingerprint, languages, own, _SAMPLE)
    asked = sum(
        min(_SAMPLE // len(readers), sum(reader.count_by_language(own).values()))
        for reader in readers
    )
    if len(passages) < max(MIN_PASSAGES, _MIN_READABLE * asked):
        return None
    spreads = []
    for vector in query.vectors[fingerprint]:
        found = _nearness(passages, np.asarray(vector, np.float64), others)
        if not found.std() > 0:
            return None
        spreads.append((float(found.mean()), float(found.std())))
    return LanguageGroup(languages, own, fingerprint, others, tuple(spreads))


def _nearness(passages: "Floats", question: "Floats", others: "Floats") -> "Floats":
    """Return how much nearer each passage is to the question than to what else could be asked.

    In standard deviations of its similarities with `others`; 0 where they do not differ.
    """
    import numpy as np

    usual = passages @ others.T
    usual[usual > _SAME] = np.nan
    # Where all others are the passage itself there is nothing to compare with.
    usual[np.isnan(usual).all(axis=1)] = 0.0
    spread = np.nanstd(usual, axis=1)
    norm = float(np.sqrt(question @ question)) or 1.0
    distance = passages @ (question / norm) - np.nanmean(usual, axis=1)
    found: Floats = np.divide(distance, spread, out=np.zeros_like(distance), where=spread > 0)
    return found


def merge_groups(
    groups: Sequence[LanguageGroup],
    ranked: Sequence[Sequence[Hit]],
    readers: "Sequence[Reader]",
    query: AskedQuery,
) -> list[Hit]:
    """Return the hits of all groups in one ranking that keeps the order of each.

    The standings of a group's hits (twice standardised similarities, and words in common with a
    question of that language), the highest first, are given to its hits in their order; hits of all
    groups are ranked by them, ties by `chunk_key`. So words and all models decide within a
    language, and one model that reads them all between languages. In a language in which the
    question was not asked that model is all there is, and its standings decide the order too.

    Args:
        groups: as `language_groups` returns them.
        ranked: the hits of each group, best first.

    Returns:
        Hits with `score` in [0, 1], 1 for the first, and `standing`, the number that they were
        given, in their explanations.
    """
    placed = []
    for group, hits in zip(groups, ranked, strict=True):
        own = _standings(group, hits, readers, query)
        order: Sequence[int] = range(len(hits))
        if not query.languages.intersection(group.languages):
            order = sorted(order, key=lambda place: -own[place])
        for standing, place in zip(sorted(own, reverse=True), order, strict=True):
            placed.append((round(standing, _DECIMALS), hits[place]))
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
    import numpy as np

    best: dict[str, float] = {}
    for reader in readers:
        ids = [hit.chunk_id for hit in hits if hit.namespace == reader.namespace]
        vectors = reader.fetch_vectors(group.model, ids)
        if not vectors:
            continue
        passages = np.stack(list(vectors.values())).astype(np.float64)
        passages /= np.sqrt(np.einsum("ij,ij->i", passages, passages))[:, None]
        for vector, (mean, spread) in zip(query.vectors[group.model], group.spreads, strict=True):
            found = _nearness(passages, np.asarray(vector, np.float64), group.others)
            for chunk_id, nearness in zip(vectors, found.tolist(), strict=True):
                key = f"{reader.namespace}::{chunk_id}"
                standing = (nearness - mean) / spread
                best[key] = max(standing, best.get(key, standing))
    asked = [text for key, text in query.texts.items() if key.removeprefix("q_") in group.languages]
    return [best.get(hit.chunk_key, 0.0) + _words_in_common(asked, hit.text) for hit in hits]


def _words_in_common(asked: Sequence[str], text: str) -> float:
    shared = max((coverage(question, text) for question in asked), default=0.0)
    return _WORDS_WEIGHT * max(0.0, shared - _WORDS_FROM)
