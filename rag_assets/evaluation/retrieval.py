"""`rag eval retrieval`: the whole pipeline on sets with judgements, beside each of its parts."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_assets.embedding import can_read, load_tokenizer
from rag_assets.embedding import encode_questions as encode_by_model
from rag_assets.evaluation.metrics import (
    HEADLINE,
    Interval,
    mean_intervals,
    rank_documents,
    score_ranking,
)
from rag_assets.evaluation.report import (
    EvaluationReport,
    Figure,
    ReportTable,
    mean,
    settings_digest,
)
from rag_assets.evaluation.sets import RetrievalSet, find_sets, read_retrieval_set
from rag_assets.evaluation.workspaces import BuiltWorkspace, MadeFile, built_workspace, markdown_of
from rag_assets.model import Progress
from rag_assets.model.settings import RetrieveSettings
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
from rag_assets.storage import Notify
from rag_assets.workspace import Settings

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
    latency: Latency,
    llm: "ChatModel | None" = None,
    on_progress: Progress | None = None,
) -> list[AskedQuery]:
    """Return the questions with the vectors that `make_query` gives them, encoded in batches.

    Args:
        texts: the questions.
        latency: gets the seconds of some questions that are encoded alone, as a user's is.
        llm: rewrites Chinese questions.
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
            encoded = encode_by_model(model.settings, part, settings.questions)
            found.update(zip(part, encoded, strict=True))
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
    return [*words, *[model.name for model in models_asked(reader, settings.method)]]


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


WHOLE = "whole"
_DECIDING = "ndcg_at_10"
_SHOWN = {"ndcg_at_10": "nDCG@10", "recall_at_10": "R@10", "recall_at_100": "R@100",
          "mrr_at_10": "MRR@10", "hit_at_1": "hit@1"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class SetOutcome:
    """What came out for one set.

    Args:
        intervals: figure → interval, by part; the whole pipeline under `WHOLE`.
        questions: nDCG@10 of the whole, by query id.
        best_part: the searcher with the highest nDCG@10; None where there is but one.
        gain: nDCG@10 of the whole less that of the best part, question by question.
        latency: of encoding and searching.
        failed: documents that could not be published, in sentences.
        chunks: in the index.
        parsed: documents that were parsed in this run.
    """

    rows: RetrievalSet
    intervals: Mapping[str, Mapping[str, Interval]]
    questions: Mapping[str, float]
    best_part: str | None
    gain: Interval | None
    latency: Latency
    failed: tuple[str, ...]
    chunks: int
    parsed: int

    @property
    def verdict(self) -> str | None:
        """How the whole compares with its best part: `better`, `worse` or `equal`."""
        if self.gain is None:
            return None
        return "better" if self.gain.low > 0 else "worse" if self.gain.high < 0 else "equal"


def evaluate_retrieval(
    folder: Path,
    settings: Settings,
    *,
    limit: int | None = None,
    cache: Path | None = None,
    llm: "ChatModel | None" = None,
    notify: Notify = lambda sentence: None,
    on_progress: Progress | None = None,
) -> EvaluationReport:
    """Build a library of each set's corpus, ask its questions, score the documents found.

    Each document of a set becomes a Markdown file, and goes through parse, chunk, embed and index
    as in any workspace. A document counts at the place of its best chunk. The figures at 10 are of
    the search as the settings have it; the recall at 100 is of one with pools of `DEEP_POOL`
    chunks a searcher.

    Args:
        folder: a set in the layout of BEIR, or a folder of such sets.
        settings: of every stage.
        limit: questions at most of each set.
        cache: folder of workspaces; None builds and forgets.
        llm: the language model that rewrites Chinese questions.

    Raises:
        UsageError: no set there, or one with a wrong row.
        ConfigurationError: no such model on this machine.
    """
    outcomes = []
    for path in find_sets(folder):
        rows = read_retrieval_set(path, limit)
        outcomes.append(
            evaluate_set(rows, settings, cache, llm=llm, notify=notify, on_progress=on_progress)
        )
    return describe_outcomes(outcomes, settings)


def evaluate_set(
    rows: RetrievalSet,
    settings: Settings,
    cache: Path | None,
    *,
    llm: "ChatModel | None" = None,
    notify: Notify = lambda sentence: None,
    on_progress: Progress | None = None,
) -> SetOutcome:
    """Build, ask and score one set; see `evaluate_retrieval`."""
    files = [MadeFile(row.id, markdown_of(row.title, row.text)) for row in rows.corpus]

    def told(what: str, done: int, total: int) -> None:
        if on_progress:
            on_progress(f"{rows.name}: {what}", done, total)

    with built_workspace(files, settings, cache, notify=notify, on_progress=told) as built:
        return _ask_set(rows, built, settings, llm, told)


def _ask_set(
    rows: RetrievalSet,
    built: BuiltWorkspace,
    settings: Settings,
    llm: "ChatModel | None",
    on_progress: Progress,
) -> SetOutcome:
    from rag_assets.retrieval import Retriever, SearchFilters

    retrieve = settings.retrieve
    latency = Latency()
    namespace = built.namespace
    filters = SearchFilters(citable_only=True)
    with Retriever(namespace.workspace, [namespace.name], retrieve, llm) as retriever:
        reader = retriever.readers[0]
        queries = encode_questions(
            [query.text for query in rows.queries],
            reader, retrieve, latency, llm, on_progress,
        )  # fmt: skip
        names = [WHOLE, *part_names(reader, retrieve)]
        scores: dict[str, list[dict[str, float]]] = {name: [] for name in names}
        for done, (row, query) in enumerate(zip(rows.queries, queries, strict=True)):
            on_progress("searching", done, len(queries))
            relevance = rows.judgements[row.id]
            hits, deep = search_whole(reader, query, retrieve, filters, latency)
            scores[WHOLE].append(
                score_ranking(
                    rank_documents(hits, built.ids), rank_documents(deep, built.ids), relevance
                )
            )
            for name, found in search_parts(reader, query, retrieve, filters).items():
                ranking = rank_documents(found, built.ids)
                scores[name].append(score_ranking(ranking, ranking, relevance))
        chunks = reader.rows
    return _summarise(rows, built, scores, latency, chunks)


def _summarise(
    rows: RetrievalSet,
    built: BuiltWorkspace,
    scores: Mapping[str, Sequence[Mapping[str, float]]],
    latency: Latency,
    chunks: int,
) -> SetOutcome:
    values = {
        (name, figure): [score[figure] for score in per_question]
        for name, per_question in scores.items()
        for figure in HEADLINE
    }
    parts = [name for name in scores if name != WHOLE]
    # With one searcher the whole is that part, reranked and de-duplicated: still worth comparing.
    best = max(parts, key=lambda name: sum(values[name, _DECIDING]), default=None)
    series = list(values.values())
    if best is not None:
        series.append(
            [
                one - other
                for one, other in zip(
                    values[WHOLE, _DECIDING], values[best, _DECIDING], strict=True
                )
            ]
        )
    found = mean_intervals(series)
    by_name = dict(zip(values, found, strict=False))
    return SetOutcome(
        rows,
        {name: {figure: by_name[name, figure] for figure in HEADLINE} for name in scores},
        {
            query.id: value
            for query, value in zip(rows.queries, values[WHOLE, _DECIDING], strict=True)
        },
        best,
        found[-1] if best is not None else None,
        latency,
        built.failed,
        chunks,
        built.parsed,
    )


def describe_outcomes(outcomes: Sequence[SetOutcome], settings: Settings) -> EvaluationReport:
    """Return the report: of one set its figures; of several their means, and each one's own."""
    if len(outcomes) == 1:
        metrics = set_figures(outcomes[0])
        details = set_details(outcomes[0])
    else:
        metrics = _means(outcomes)
        details = {
            "sets": {
                outcome.rows.name: {
                    **set_figures(outcome), **set_counts(outcome), **set_details(outcome)
                }
                for outcome in outcomes
            }
        }  # fmt: skip
    counts = {
        "sets": len(outcomes),
        **{
            name: sum(set_counts(outcome)[name] for outcome in outcomes)
            for name in set_counts(outcomes[0])
        },
    }
    asked = {
        "method": settings.retrieve.method,
        "pool_k": settings.retrieve.pool_k,
        "deep_pool_k": max(settings.retrieve.pool_k, DEEP_POOL),
        "models": [model.model for model in settings.embed.models],
        "retrieve": settings.retrieve.model_dump(mode="json"),
    }
    return EvaluationReport(
        "retrieval",
        settings_digest(settings),
        metrics,
        counts,
        _tables(outcomes),
        {**asked, **details},
    )


def set_figures(outcome: SetOutcome) -> dict[str, Figure]:
    """Return the figures of a set by flat names: the whole pipeline's first."""
    whole = outcome.intervals[WHOLE]
    figures: dict[str, Figure] = {name: whole[name].mean for name in HEADLINE}
    for name in HEADLINE:
        figures[f"{name}_low"] = whole[name].low
        figures[f"{name}_high"] = whole[name].high
    for what, seconds in (
        ("encode", outcome.latency.encoding),
        ("search", outcome.latency.searching),
    ):
        figures[f"{what}_p50_ms"] = _quantile_ms(seconds, 0.50)
        figures[f"{what}_p95_ms"] = _quantile_ms(seconds, 0.95)
    if outcome.best_part is not None and outcome.gain is not None:
        figures |= {
            "best_part": outcome.best_part,
            "gain_over_best_part": outcome.gain.mean,
            "gain_over_best_part_low": outcome.gain.low,
            "gain_over_best_part_high": outcome.gain.high,
            "against_best_part": outcome.verdict,
        }
    for part, intervals in outcome.intervals.items():
        if part != WHOLE:
            figures |= {f"{part}_{name}": intervals[name].mean for name in HEADLINE}
    return figures


def set_counts(outcome: SetOutcome) -> dict[str, int]:
    """Return what a set's figures were counted over."""
    rows = outcome.rows
    return {
        "documents": len(rows.corpus),
        "questions": len(rows.queries),
        "judgements": sum(map(len, rows.judgements.values())),
        "chunks": outcome.chunks,
        "unjudged_questions": rows.unjudged,
        "unknown_documents": rows.unknown_documents,
        "unpublished_documents": len(outcome.failed),
        "parsed_now": outcome.parsed,
    }


def set_details(outcome: SetOutcome) -> dict[str, Any]:
    """Return what a later run is compared with: the nDCG@10 of each question."""
    return {
        "corpus_digest": outcome.rows.digest,
        "ndcg_at_10_by_question": dict(outcome.questions),
        "unpublished": list(outcome.failed[:20]),
    }


def _means(outcomes: Sequence[SetOutcome]) -> dict[str, Figure]:
    """Return the means over sets, each set counting once."""
    means: dict[str, Figure] = {
        name: mean([outcome.intervals[WHOLE][name].mean for outcome in outcomes])
        for name in HEADLINE
    }
    verdicts = [outcome.verdict for outcome in outcomes]
    return {
        **means,
        "sets_better_than_best_part": verdicts.count("better"),
        "sets_worse_than_best_part": verdicts.count("worse"),
    }


def _tables(outcomes: Sequence[SetOutcome]) -> tuple[ReportTable, ...]:
    heads = ("set", *_SHOWN.values(), "95 % of nDCG@10", "best part", "its nDCG@10", "gain",
             "95 % of gain", "whole is", "search p50", "p95 ms")  # fmt: skip
    rows = []
    for outcome in outcomes:
        figures = set_figures(outcome)
        best = outcome.best_part
        rows.append(
            (
                outcome.rows.name,
                *(figures[name] for name in _SHOWN),
                _ends(outcome.intervals[WHOLE][_DECIDING]),
                best,
                figures[f"{best}_{_DECIDING}"] if best else None,
                outcome.gain.mean if outcome.gain else None,
                _ends(outcome.gain),
                outcome.verdict,
                figures["search_p50_ms"],
                figures["search_p95_ms"],
            )
        )
    parts = list(dict.fromkeys(name for outcome in outcomes for name in outcome.intervals))
    alone = ReportTable(
        "nDCG@10 of each part alone",
        ("set", *parts),
        tuple(
            (
                outcome.rows.name,
                *(
                    outcome.intervals[name][_DECIDING].mean if name in outcome.intervals else None
                    for name in parts
                ),
            )
            for outcome in outcomes
        ),
    )
    return ReportTable("Documents found, the whole pipeline", heads, tuple(rows)), alone


def _ends(interval: Interval | None) -> str | None:
    return f"{interval.low:.3f} … {interval.high:.3f}" if interval else None


def _quantile_ms(seconds: Sequence[float], share: float) -> float | None:
    """Return a quantile of some durations in milliseconds, None of nothing."""
    if not seconds:
        return None
    import numpy as np

    return float(np.quantile(seconds, share)) * 1000
