"""`KnowledgeEvaluator`: an evaluation set through the whole pipeline (spec 001)."""

import statistics
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_assets.chunking import sentence_breaks, split_sentences
from rag_assets.evaluation.metrics import (
    hit_at,
    ndcg_at,
    rank_documents,
    rank_hits,
    recall_at,
    reciprocal_rank_at,
)
from rag_assets.evaluation.report import (
    EvaluationReport,
    Figure,
    ReportTable,
    mean,
    settings_digest,
    share,
)
from rag_assets.evaluation.retrieval import Latency, encode_questions
from rag_assets.evaluation.sets import EvalSet
from rag_assets.evaluation.workspaces import BuiltWorkspace, MadeFile, built_workspace
from rag_assets.model import ParsedDocument, Progress, UsageError, hash_text
from rag_assets.storage import Notify
from rag_assets.workspace import Settings

if TYPE_CHECKING:
    from rag_assets.retrieval import Reader
Span = tuple[int, int]
"""Half-open, in code points."""


def union(spans: Iterable[Span]) -> list[Span]:
    """Return the same characters as disjoint spans in order."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        elif start < end:
            merged.append((start, end))
    return merged


def total(spans: Iterable[Span]) -> int:
    """Return how many characters the spans have, a repeated one as often as it stands."""
    return sum(end - start for start, end in spans)


@dataclass(frozen=True, slots=True)
class CutText:
    """One text and the spans that it was cut into.

    Args:
        sentences: spans in order.
        tokens: of each chunk, by the embedder's tokenizer.
    """

    text: str
    spans: tuple[Span, ...]
    sentences: tuple[Span, ...]
    tokens: tuple[int, ...]


def sentence_spans(document: ParsedDocument) -> tuple[Span, ...]:
    """Return the sentences of a document; a sentence ends where a block or a section does."""
    breaks = {*sentence_breaks(document), *(section.start for section in document.sections)}
    return tuple(split_sentences(document.text, sorted(breaks)))


def describe_cuts(texts: Sequence[CutText]) -> dict[str, Figure]:
    """Return the figures of spec 001 over all texts, and the share of chunks cut in a sentence.

    `coverage`: visible characters in at least one chunk. `overlap`: retold characters over all
    characters of chunks. `duplicate_rate`: chunks whose text another chunk already has.
    `cut_share`: chunks that begin or end inside a sentence. Lengths are in tokens.
    """
    visible = sum(_visible(cut.text, [(0, len(cut.text))]) for cut in texts)
    covered = sum(_visible(cut.text, union(cut.spans)) for cut in texts)
    told = sum(total(cut.spans) for cut in texts)
    once = sum(total(union(cut.spans)) for cut in texts)
    hashes = [hash_text(cut.text[start:end]) for cut in texts for start, end in cut.spans]
    tokens = [count for cut in texts for count in cut.tokens]
    return {
        "chunks": len(hashes),
        "coverage": share(covered, visible),
        "overlap": share(told - once, told),
        "duplicate_rate": share(len(hashes) - len(set(hashes)), len(hashes)),
        "cut_share": share(sum(map(_count_cut, texts)), len(hashes)),
        "tokens_min": min(tokens, default=None),
        "tokens_max": max(tokens, default=None),
        "tokens_mean": statistics.fmean(tokens) if tokens else None,
        "tokens_std": statistics.pstdev(tokens) if tokens else None,
    }


def _visible(text: str, spans: Iterable[Span]) -> int:
    return sum(len("".join(text[start:end].split())) for start, end in spans)


def _count_cut(cut: CutText) -> int:
    """Return how many chunks begin or end inside a sentence.

    A bound is inside where visible characters of one sentence stand on both sides of it.
    """
    starts = [start for start, _ in cut.sentences]
    return sum(
        _is_inside(cut, starts, start) or _is_inside(cut, starts, end) for start, end in cut.spans
    )


def _is_inside(cut: CutText, starts: Sequence[int], offset: int) -> bool:
    index = bisect_right(starts, offset) - 1
    if index < 0:
        return False
    start, end = cut.sentences[index]
    if not start < offset < end:
        return False
    return not cut.text[start:offset].isspace() and not cut.text[offset:end].isspace()


# What a document's metadata may say that a sidecar says too.
_TOLD = ("authors", "publisher", "url", "doi", "published_date", "year", "language", "tags")
_SHOWN = {"hit": "Hit", "recall": "Recall", "mrr": "MRR", "ndcg": "nDCG"}


def evaluate_evalset(
    evalset: EvalSet,
    settings: Settings,
    cache: Path | None = None,
    *,
    namespace: str = "evaluation",
    notify: Notify = lambda sentence: None,
    on_progress: Progress | None = None,
) -> EvaluationReport:
    """Return Hit, Recall, MRR and nDCG at each k, by document and by chunk, and how texts are cut.

    A query without expected chunks counts for documents alone, and the other way round.

    Raises:
        UsageError: a chunk is expected that the settings do not make.
        ConfigurationError: no such model on this machine.
    """
    files = [
        MadeFile(document.doc_id, document.text, _sidecar(document.title, document.metadata))
        for document in evalset.documents
    ]
    with built_workspace(files, settings, cache, notify=notify, on_progress=on_progress) as built:
        return _ask(evalset, built, settings, namespace, on_progress)


def _ask(
    evalset: EvalSet,
    built: BuiltWorkspace,
    settings: Settings,
    namespace: str,
    on_progress: Progress | None,
) -> EvaluationReport:
    from rag_assets.retrieval import Retriever, SearchFilters, rank_chunks

    filters = SearchFilters(citable_only=True)
    made = built.namespace
    kinds: dict[str, list[dict[str, float]]] = {"doc": [], "chunk": []}
    by_query: dict[str, dict[str, Figure]] = {}
    deciding: dict[str, float] = {}
    with Retriever(made.workspace, [made.name], settings.retrieve) as retriever:
        reader = retriever.readers[0]
        _check_chunks(evalset, built, reader)
        queries = encode_questions(
            [query.query for query in evalset.queries],
            reader, settings.retrieve, Latency(), on_progress=on_progress,
        )  # fmt: skip
        for expected, query in zip(evalset.queries, queries, strict=True):
            hits = rank_chunks([reader], query, settings.retrieve, filters).hits
            found: dict[str, Figure] = {}
            for kind, ranking, relevance in (
                ("doc", rank_documents(hits, built.ids), expected.documents),
                ("chunk", rank_hits(hits, built.ids), expected.chunks),
            ):
                if relevance:
                    # Documents decide where they are expected, else chunks.
                    deciding.setdefault(expected.query_id, ndcg_at(ranking, relevance, 10))
                    scores = dict(_scores(ranking, relevance, evalset.k_values))
                    kinds[kind].append(scores)
                    found |= {f"{kind}_{name}": value for name, value in scores.items()}
            by_query[expected.query_id] = found
    metrics = {
        f"{kind}_{name}": mean([score[name] for score in scores])
        for kind, scores in kinds.items()
        for name in _names(evalset.k_values)
    }
    cuts = describe_cuts(list(_cuts(built)))
    return EvaluationReport(
        "evalset",
        settings_digest(settings),
        {**metrics, **cuts},
        {
            "documents": len(evalset.documents),
            "queries": len(evalset.queries),
            "queries_with_documents": len(kinds["doc"]),
            "queries_with_chunks": len(kinds["chunk"]),
            "unpublished_documents": len(built.failed),
        },
        tuple(
            ReportTable(
                f"{title} found",
                ("k", *_SHOWN.values()),
                tuple(
                    (str(k), *(metrics[f"{kind}_{name}_at_{k}"] for name in _SHOWN))
                    for k in evalset.k_values
                ),
            )
            for kind, title in (("doc", "Documents"), ("chunk", "Chunks"))
            if kinds[kind]
        ),
        {
            "evalset_id": evalset.evalset_id,
            "namespace": namespace,
            "by_query": by_query,
            "ndcg_at_10_by_question": deciding,
            "unpublished": list(built.failed),
        },
    )


def _scores(
    ranking: Sequence[str], relevance: Mapping[str, float], k_values: Sequence[int]
) -> Iterator[tuple[str, float]]:
    for k in k_values:
        yield f"hit_at_{k}", hit_at(ranking, relevance, k)
        yield f"recall_at_{k}", recall_at(ranking, relevance, k)
        yield f"mrr_at_{k}", reciprocal_rank_at(ranking, relevance, k)
        yield f"ndcg_at_{k}", ndcg_at(ranking, relevance, k)


def _names(k_values: Sequence[int]) -> list[str]:
    return [f"{name}_at_{k}" for name in _SHOWN for k in k_values]


def _sidecar(title: str | None, metadata: Mapping[str, Any]) -> dict[str, Any] | None:
    told = {name: metadata[name] for name in _TOLD if metadata.get(name)}
    return {**({"title": title} if title else {}), **told} or None


def _check_chunks(evalset: EvalSet, built: BuiltWorkspace, reader: "Reader") -> None:
    """Refuse an expectation of a chunk that is not there: it could never be found."""
    counts = {
        identity: row["chunks"]
        for row in reader.documents().select(["doc_uid", "chunks"]).to_pylist()
        for identity in built.ids[row["doc_uid"]]
    }
    for query in evalset.queries:
        for identity in query.chunks:
            document, _, number = identity.rpartition(":")
            made = counts.get(document, 0)
            if int(number) >= made:
                raise UsageError(
                    f"query '{query.query_id}': chunk '{identity}' is expected, but with these "
                    f"settings document '{document}' has {made} chunks"
                    f"{f', 0 to {made - 1}' if made else ''}. Correct expected_chunk_ids or the "
                    "settings of chunk."
                )


def _cuts(built: BuiltWorkspace) -> Iterator[CutText]:
    """Yield each document's text and how it is cut."""
    from rag_assets.chunking import chunks_schema
    from rag_assets.parsing import read_parsed
    from rag_assets.storage import read_rows
    from rag_assets.workspace import require_inventory
    from rag_assets.workspace.stages import parsed_contents

    namespace = built.namespace
    inventory = require_inventory(namespace)
    for partition in namespace.partition_keys:
        for content, entry in parsed_contents(namespace, inventory, partition).items():
            document, _ = read_parsed(
                namespace.parsed_folder(partition) / entry.note["parsed_file"]
            )
            rows = read_rows(
                namespace.record("chunks", partition),
                chunks_schema(),
                [content],
                ["char_start", "char_end", "token_count"],
            ).to_pylist()
            yield CutText(
                document.text,
                tuple((row["char_start"], row["char_end"]) for row in rows),
                sentence_spans(document),
                tuple(row["token_count"] for row in rows),
            )
