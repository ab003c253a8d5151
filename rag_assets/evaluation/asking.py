"""Putting an evaluation's questions to a publication: encoded in batches, searched one by one."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rag_assets.embedding import can_read, load_query_encoder, load_tokenizer
from rag_assets.embedding import encode_questions as encode_by_model
from rag_assets.evaluation.vector_store import QUESTION, VectorStore
from rag_assets.model import Progress
from rag_assets.retrieval import (
    LEXICAL,
    AskedQuery,
    Hit,
    Reader,
    SearchFilters,
    make_query,
    models_asked,
    rank_chunks,
)
from rag_assets.settings import RetrieveSettings

if TYPE_CHECKING:
    from rag_assets.llm import ChatModel

DEEP_POOL = 300
"""Candidates of each searcher where the recall of 100 documents is measured: three a document."""
_MOST_SEARCHERS = 9  # words and eight models (the settings' limit)
_TIMED_QUESTIONS = 20  # encoded one by one, for the latency
_BATCH = 256  # questions encoded between two reports of progress


@dataclass(slots=True)
class Latency:
    """Seconds of each call: a question's encoding, and its search as a user has it."""

    encoding: list[float] = field(default_factory=list)
    searching: list[float] = field(default_factory=list)


def gone_deeper(settings: RetrieveSettings) -> RetrieveSettings:
    """Return the settings of a search for the recall of 100 documents.

    Pools hold `DEEP_POOL` candidates, and all that is found passes: nothing is de-duplicated, and
    nothing reranked that a user's search would not rerank.
    """
    pool = max(settings.pool_k, DEEP_POOL)
    rerank = settings.rerank.model_copy(
        update={"top_n": settings.rerank.top_n or settings.rerank_k}
    )
    quality = settings.quality.model_copy(update={"dedupe": False})
    return settings.model_copy(
        update={
            "pool_k": pool,
            "rerank_k": max(settings.rerank_k, pool * _MOST_SEARCHERS),
            "rerank": rerank,
            "quality": quality,
        }
    )


def encode_questions(
    texts: Sequence[str],
    reader: Reader,
    settings: RetrieveSettings,
    store: VectorStore | None,
    latency: Latency,
    llm: "ChatModel | None" = None,
    on_progress: Progress | None = None,
) -> list[AskedQuery]:
    """Return the questions with the vectors that `make_query` gives them, encoded in batches.

    Args:
        texts: the questions.
        store: where vectors of questions are looked up and kept.
        latency: gets the seconds of some questions that are encoded alone, as a user's is.
        llm: rewrites Chinese questions where the settings ask for it.
    """
    if settings.method != "lexical":
        make_query(texts[0], [reader], settings)  # the model is loaded; that is not timed
        for text in texts[:_TIMED_QUESTIONS]:
            started = time.perf_counter()
            make_query(text, [reader], settings)
            latency.encoding.append(time.perf_counter() - started)
    unencoded = settings.model_copy(update={"method": "lexical"})
    queries = [make_query(text, [reader], unencoded, llm) for text in texts]
    if settings.method == "lexical":
        return queries
    wordings = list(dict.fromkeys(text for query in queries for text in query.texts.values()))
    vectors: dict[str, dict[str, Sequence[float]]] = {}
    for model in models_asked(reader, settings.method):
        tokenizer = load_tokenizer(model.settings)
        readable = [text for text in wordings if can_read(tokenizer, text)]
        found: dict[str, Sequence[float]] = {}
        vectors[model.fingerprint] = found
        for start in range(0, len(readable), _BATCH):
            if on_progress:
                on_progress(f"encoding questions with {model.name}", start, len(readable))
            part = readable[start : start + _BATCH]
            if store is None or model.is_sparse:
                rows = encode_by_model(model.settings, part)
            else:
                encode = load_query_encoder(model.settings).encode_queries
                rows = store.encode(
                    model.fingerprint,
                    QUESTION,
                    part,
                    lambda texts, _, e=encode: e(texts),  # type: ignore[misc]
                ).tolist()
            found.update(zip(part, rows, strict=True))
    return [_with_vectors(query, vectors) for query in queries]


def search_whole(
    reader: Reader,
    query: AskedQuery,
    settings: RetrieveSettings,
    filters: SearchFilters,
    latency: Latency,
) -> tuple[Sequence[Hit], Sequence[Hit]]:
    """Return the hits in a user's order, and those of the deeper search."""
    started = time.perf_counter()
    hits = rank_chunks([reader], query, settings, filters).hits
    latency.searching.append(time.perf_counter() - started)
    return hits, rank_chunks([reader], query, gone_deeper(settings), filters).hits


def part_names(reader: Reader, settings: RetrieveSettings) -> list[str]:
    """Return the searchers that the method uses: the words, and the models by name."""
    words = [LEXICAL] if settings.method != "semantic" else []
    if settings.method == "lexical":
        return words
    models = [model.name for model in models_asked(reader, settings.method)]
    return [*words, *models]


def search_parts(
    reader: Reader, query: AskedQuery, settings: RetrieveSettings, filters: SearchFilters
) -> dict[str, list[Hit]]:
    """Return what each searcher finds alone, best first; nothing by a model that cannot read.

    A searcher alone is asked the question in its own language, and its hits are neither reranked
    nor de-duplicated.
    """
    found: dict[str, list[Hit]] = {}
    if settings.method != "semantic":
        own = next(iter(query.texts.values()))
        found[LEXICAL] = _hits(reader.search_text(own, DEEP_POOL, filters, settings.text))
    if settings.method != "lexical":
        for model in models_asked(reader, settings.method):
            vectors = query.vectors.get(model.fingerprint)
            found[model.name] = (
                _hits(reader.search_vectors(model.fingerprint, vectors[0], DEEP_POOL, filters))
                if vectors
                else []
            )
    return found


def _hits(scored: Sequence[tuple[Hit, float]]) -> list[Hit]:
    return [hit for hit, _ in scored]


def _with_vectors(
    query: AskedQuery, vectors: Mapping[str, Mapping[str, Sequence[float]]]
) -> AskedQuery:
    return replace(
        query,
        vectors={
            fingerprint: held
            for fingerprint, by_text in vectors.items()
            if (held := [by_text[text] for text in query.texts.values() if text in by_text])
        },
    )
