"""Which of the ranked hits are kept: one of those that say the same, a few of a document."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rag_assets.model import UsageError
from rag_assets.publishing import Language
from rag_assets.retrieval.candidates import Pools, collect, fetch_hits
from rag_assets.retrieval.filters import EVERYTHING, SearchFilters
from rag_assets.retrieval.fusion import (
    GRAPH,
    Fused,
    WeightRule,
    Weights,
    fuse_rrf,
    fuse_weighted,
    known_searchers,
    load_weights,
    sparse_names,
)
from rag_assets.retrieval.hits import Hit
from rag_assets.retrieval.languages import LanguageGroup, language_groups, merge_groups
from rag_assets.retrieval.laws import AskedDay, put_articles_first
from rag_assets.retrieval.queries import AskedQuery, without_idle
from rag_assets.retrieval.reader import Reader
from rag_assets.retrieval.reranking import rerank

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rag_assets.model.settings import RetrieveSettings

# Vectors of some hits by one model, by `chunk_key`; none of them zero.
Vectors = Mapping[str, "NDArray[np.float32]"]

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*|[〇零一二两三四五六七八九十百千万亿]+")


def keep_one_of_equal(hits: Sequence[Hit], day: AskedDay | None = None) -> list[Hit]:
    """Return one hit for each text, at the best one's place and with its score.

    Kept is the citable one, then an article that the question names, then the one with pages, then
    that of a file that holds no other law, then the one with the lower uid; it names the others as
    `copies`.

    Args:
        hits: best first.
        day: for which laws are asked.
    """

    def preference(hit: Hit) -> tuple[bool, bool, bool, bool, str, str, int]:
        return (
            not hit.citable,
            "named_article" not in hit.explanation,
            hit.page_start is None,
            day is not None and day.is_in_compilation(hit),
            hit.doc_uid,
            hit.namespace,
            hit.chunk_index,
        )

    groups: dict[str, list[Hit]] = defaultdict(list)
    for hit in hits:
        groups[hit.content_hash].append(hit)
    return [_stand_for(min(group, key=preference), group) for group in groups.values()]


def keep_one_of_similar(
    hits: Sequence[Hit], vectors: Sequence[Vectors], threshold: float
) -> list[Hit]:
    """Return hits of which no two say the same: the higher ranked is kept, a citable one first.

    Two hits say the same where their cosine reaches `threshold`, by the first model that has
    vectors of both, and where the numbers in them are the same: tables, statutes and results
    differ in nothing else. What is kept stands at the place, and has the score, of the best that
    it stands for. Done twice, the second time changes nothing.

    Args:
        hits: best first.
        vectors: one mapping a model, the most trusted first; may lack any hit.
        threshold: cosine, 0 to 1.
    """
    close = _close(hits, vectors, threshold)
    order = sorted(range(len(hits)), key=lambda place: (not hits[place].citable, place))
    groups: dict[int, list[int]] = {}
    for place in order:
        kept = [
            other
            for other in groups.keys() & close.get(place, frozenset())
            if _numbers(hits[other].text) == _numbers(hits[place].text)
        ]
        if kept:
            groups[min(kept)].append(place)
        else:
            groups[place] = [place]
    chosen = sorted(groups.items(), key=lambda item: min(item[1]))
    return [
        _stand_for(hits[place], [hits[member] for member in sorted(members)])
        for place, members in chosen
    ]


def _close(
    hits: Sequence[Hit], vectors: Sequence[Vectors], threshold: float
) -> dict[int, set[int]]:
    """Return the places whose vectors are as similar as the threshold says, by place."""
    import numpy as np

    keys = [hit.chunk_key for hit in hits]
    size = len(hits)
    close = np.zeros((size, size), dtype=bool)
    undecided = np.ones((size, size), dtype=bool)
    for own in vectors:
        places = [place for place, key in enumerate(keys) if key in own]
        if not places:
            continue
        matrix = np.stack([own[keys[place]] for place in places])
        matrix = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
        block = np.ix_(places, places)
        close[block] |= undecided[block] & (matrix @ matrix.T >= threshold)
        undecided[block] = False
    near: dict[int, set[int]] = defaultdict(set)
    for first, second in zip(*(found.tolist() for found in close.nonzero()), strict=True):
        near[first].add(second)
    return near


def _numbers(text: str) -> Counter[str]:
    return Counter(_NUMBER.findall(text))


def _stand_for(chosen: Hit, group: Sequence[Hit]) -> Hit:
    """Return `chosen` at the place of the first of `group`, naming the others."""
    if len(group) == 1:
        return chosen
    others = {hit.chunk_key for hit in group} | {key for hit in group for key in hit.copies}
    return replace(chosen, score=group[0].score, copies=tuple(sorted(others - {chosen.chunk_key})))


def limit_per_document(hits: Iterable[Hit], most: int | None) -> list[Hit]:
    """Return the hits without those that follow `most` better ones of the same document.

    Args:
        hits: best first.
        most: from 1; None for no limit.
    """
    if most is None:
        return list(hits)
    seen: Counter[tuple[str, str]] = Counter()
    kept = []
    for hit in hits:
        document = (hit.namespace, hit.doc_uid)
        seen[document] += 1
        if seen[document] <= most:
            kept.append(hit)
    return kept


def fetch_vectors(readers: "Sequence[Reader]", hits: Sequence[Hit]) -> list[Vectors]:
    """Return the vectors of the hits, one mapping a model, in the order of the publications.

    Models after the first that has them all are not read: it decides every pair.
    """
    ids: dict[str, dict[str, str]] = defaultdict(dict)
    for hit in hits:
        ids[hit.namespace][hit.chunk_id] = hit.chunk_key
    found: list[Vectors] = []
    for fingerprint in dict.fromkeys(name for reader in readers for name in reader.fingerprints):
        by_key: dict[str, NDArray[np.float32]] = {}
        for reader in readers:
            own = ids.get(reader.namespace)
            if own and fingerprint in reader.fingerprints:
                vectors = reader.fetch_vectors(fingerprint, list(own))
                by_key.update({own[identity]: vector for identity, vector in vectors.items()})
        found.append(by_key)
        if len(by_key) == len(hits):
            break
    return found


# From a question to the chunks that answer it: candidates, fusion, reranking, governance.


@dataclass(frozen=True, slots=True)
class Ranking:
    """All hits that were kept, best first, and what a person should know of how."""

    hits: tuple[Hit, ...]
    warnings: tuple[str, ...] = ()


def search(
    readers: Sequence[Reader],
    query: AskedQuery,
    settings: "RetrieveSettings",
    filters: SearchFilters = EVERYTHING,
) -> list[Hit]:
    """Return the `top_k` best chunks of `rank_chunks`."""
    return list(rank_chunks(readers, query, settings, filters).hits[: settings.top_k])


def rank_chunks(
    readers: Sequence[Reader],
    query: AskedQuery,
    settings: "RetrieveSettings",
    filters: SearchFilters = EVERYTHING,
    day: AskedDay | None = None,
) -> Ranking:
    """Return the chunks that answer a question, over all readers in one ranking (spec 001).

    1. Each searcher (words; every model that has a vector of the question and weighs something on
       the passages that are there) gives `pool_k` candidates.
       In a library of several languages each language's passages give their own.
    2. They are fused: by weights over normalised scores, or by reciprocal ranks. Weights go by the
       languages of question and passage; a question that was also asked in the passage's language
       counts as asked in it. Publications that share no model are fused by rank. The rankings of
       several languages become one by `merge_groups`.
    3. The first `rerank.top_n` are reranked.
    4. Articles of laws that the question names stand before all others (`put_articles_first`),
       unless the search is semantic or exact terms count nothing.
    5. The first `rerank_k` go on. Of those that say the same one is kept, of each document
       `max_per_document`.
    6. Hits whose final score is below `score_threshold` are dropped; articles that are named stay.

    Args:
        readers: one a namespace.
        query: with vectors by `make_query`.
        settings: of the search; `top_k` is not looked at.
        filters: applied before the searches.
        day: for which laws are asked: hits of statutes are marked, and of a law that is named the
            wording of that day is chosen. None marks nothing.

    Returns:
        At most `rerank_k` hits with ranks and scores by searcher, and an `explanation` each.

    Raises:
        UsageError: two readers share a namespace; for semantic search the question has no vector
            of a namespace's models; weights for a searcher that is not there.
    """
    namespaces = [reader.namespace for reader in readers]
    if len(set(namespaces)) != len(namespaces):
        raise UsageError(f"each namespace can be asked once, got {', '.join(namespaces)}.")
    found, count = _find(readers, query, settings, filters)
    if day is not None:
        found = [hit for hit in found if day.finds(hit)]
    judged = rerank(found, query, settings, readers)
    hits: Sequence[Hit] = judged.hits
    told = list(judged.warnings)
    if settings.method != "semantic" and settings.text.phrase_boost:
        hits, more = put_articles_first(readers, query.text, hits, filters, day)
        told += more
    hits = hits[: settings.rerank_k]
    if settings.quality.dedupe:
        hits = keep_one_of_equal(hits, day)
        hits = keep_one_of_similar(
            hits, fetch_vectors(readers, hits), settings.quality.dedupe_threshold
        )
    hits = limit_per_document(hits, settings.quality.max_per_document)
    if settings.score_threshold is not None:
        threshold = settings.score_threshold
        hits = [h for h in hits if h.score >= threshold or "named_article" in h.explanation]
    if day is not None:
        hits = [day.mark(hit) for hit in hits]
    return Ranking(
        tuple(
            replace(
                hit, explanation={**hit.explanation, "kept_because": _reason(hit, place, count)}
            )
            for place, hit in enumerate(hits, start=1)
        ),
        tuple(told),
    )


def _find(
    readers: Sequence[Reader],
    query: AskedQuery,
    settings: "RetrieveSettings",
    filters: SearchFilters,
) -> tuple[list[Hit], int]:
    """Return the fused candidates, best first, and how many candidates there were in all."""
    groups: Sequence[LanguageGroup] = ()
    if settings.fusion.kind == "weighted" and settings.method != "lexical":
        groups = language_groups(readers, query, filters)
    if not groups:
        asked = without_idle(query, readers, settings, filters)
        pools = collect(readers, asked, settings, filters)
        return _fuse(readers, query, settings, pools), len(pools.languages)
    ranked, count = [], 0
    for group in groups:
        asked = without_idle(query, readers, settings, group.filters)
        pools = collect(readers, asked, settings, group.filters)
        ranked.append(_fuse(readers, query, settings, pools))
        count += len(pools.languages)
    return merge_groups(groups, ranked, readers, query)[: _most(settings)], count


def _most(settings: "RetrieveSettings") -> int:
    """Return how many fused candidates reranking, or what follows, can look at."""
    return max(settings.rerank.top_n or 0, settings.rerank_k)


def _fuse(
    readers: Sequence[Reader], query: AskedQuery, settings: "RetrieveSettings", pools: Pools
) -> list[Hit]:
    """Return the candidates that reranking or what follows can look at, best first."""
    ranks: dict[str, dict[str, int]] = {key: {} for key in pools.languages}
    for name, found in sorted(pools.searchers.items()):
        for rank, key in enumerate(found.pool, start=1):
            ranks[key][name] = rank
    fusion = settings.fusion
    mode = "rrf"
    if fusion.kind == "rrf":
        order = {name: found.pool for name, found in pools.searchers.items()}
        fused = [Fused(key, score, {}, {}) for key, score in fuse_rrf(order, settings.rrf_k)]
    else:
        mode = "normalize" if pools.are_comparable else "rank"
        if settings.method == "lexical":
            weights = load_weights(fusion, None)
        else:
            weights = load_weights(fusion, known_searchers(readers), sparse_names(readers))
        fused = fuse_weighted(
            pools.searchers,
            _weight_rule(weights, query, pools),
            settings.rrf_k,
            by_rank=not pools.are_comparable,
        )
    best = fused[: _most(settings)]
    # Fusion needs no more of a candidate than its language; only what goes on is read.
    fetched = fetch_hits(readers, [one.identity for one in best])
    hits = []
    for one in best:
        scores = {
            name: found.scores[one.identity]
            for name, found in pools.searchers.items()
            if one.identity in found.scores
        }
        explanation = {
            "ranks": ranks[one.identity],
            "scores": scores,
            "parts": one.parts,
            "weights": one.weights,
            "score_mode": mode,
            "fused": one.score,
        }
        if scores.get(GRAPH):
            explanation["entities"] = _told_entities(readers, query, fetched[one.identity])
        hits.append(
            replace(
                fetched[one.identity],
                ranks=ranks[one.identity],
                scores=scores,
                score=one.score,
                explanation=explanation,
            )
        )
    return hits


def _told_entities(readers: Sequence[Reader], query: AskedQuery, hit: Hit) -> dict[str, Any]:
    """Return through which entities a question leads to a hit, in its first wording that does."""
    graphs = [reader.entity_graph for reader in readers if reader.namespace == hit.namespace]
    for graph in graphs:
        for text in query.texts.values():
            if graph is not None and (told := graph.explain(text, hit.chunk_id)):
                return told
    return {}


def _weight_rule(weights: Weights, query: AskedQuery, pools: Pools) -> WeightRule:
    known: dict[tuple[Language, frozenset[str]], dict[str, float]] = {}

    def weigh(key: str, names: frozenset[str]) -> dict[str, float]:
        passage = pools.languages[key]
        if (passage, names) not in known:
            asked = passage if passage in query.languages else query.language
            known[passage, names] = weights.of(asked, passage, names)
        return known[passage, names]

    return weigh


def _reason(hit: Hit, place: int, candidates: int) -> str:
    reason = f"place {place} of {candidates} candidates"
    if named := hit.explanation.get("named_article"):
        reason = f"{named}, which the question names"
    if hit.copies:
        reason += f", standing for {len(hit.copies)} more that say the same"
    return reason
