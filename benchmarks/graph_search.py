"""Measure what search by entities (`graph`) adds to words and one model.

    python -m benchmarks.graph_search [FOLDER …] [--documents N] [--share X …] [--json OUT]

Each folder is an evaluation set in BEIR's layout; without, those of SETS below `retrieval/beir` of
RAG_SHARED_DATA. A library of each is built as the templates `kb_…` switch it on, with
all-MiniLM-L6-v2 alone as its model, and its questions are asked with `graph` and without. Of a set
of more than N documents those that are judged and a seeded draw of the others are taken.

Prints for each set, with and without: nDCG@10, the share of questions with all judged paragraphs
among the first ten, and the difference with its paired 95 % interval; how often each rule of
`rag_assets/graph/rules.py` fired, in how many passages. Seconds are of the processor.
"""

import argparse
import json
import os
import random
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from unittest.mock import patch

from rag_assets.evaluation.asking import Latency, encode_questions
from rag_assets.evaluation.bootstrap import difference_interval
from rag_assets.evaluation.retrieval_metrics import ndcg_at
from rag_assets.evaluation.retrieval_rows import RetrievalSet, read_retrieval_set
from rag_assets.evaluation.workspaces import MadeFile, built_workspace, default_cache, markdown_of
from rag_assets.retrieval import Reader, Retriever, SearchFilters, rank_chunks, weights
from rag_assets.workspace import Settings, shipped_settings

SETS = (
    "hotpotqa_sub", "musique_sub", "scifact", "cranfield", "med", "cacm", "pubmedqa", "xquad_zh_zh",
)  # fmt: skip
_SEED = 7
_DEPTH = 10


def settings_with_graph() -> Settings:
    """Return the shipped settings with entities, and with one model that is quick."""
    shipped = shipped_settings()
    models = [model for model in shipped.embed.models if model.model == "all-MiniLM-L6-v2"]
    return shipped.model_copy(
        update={
            "embed": shipped.embed.model_copy(update={"models": models}),
            "graph": shipped.graph.model_copy(update={"enabled": True}),
        }
    )


def files_of(rows: RetrievalSet, most: int) -> list[MadeFile]:
    """Return the documents as files: all that are judged, and others by a seeded draw."""
    judged = {identity for own in rows.judgements.values() for identity in own}
    others = [row.id for row in rows.corpus if row.id not in judged]
    random.Random(_SEED).shuffle(others)
    kept = judged | set(others[: max(0, most - len(judged))])
    return [MadeFile(r.id, markdown_of(r.title, r.text)) for r in rows.corpus if r.id in kept]


def measure(folder: Path, most: int, shares: Sequence[float]) -> dict[str, object]:
    """Return the figures of one set."""
    rows, settings = read_retrieval_set(folder, None), settings_with_graph()
    files = files_of(rows, most)
    filters = SearchFilters(citable_only=True, with_references=settings.retrieve.references)
    started = time.process_time()
    with (
        built_workspace(files, settings, default_cache()) as built,
        Retriever(built.namespace.workspace, [built.namespace.name], settings.retrieve) as asked,
    ):
        reader = asked.readers[0]
        built_in = time.process_time() - started
        queries = encode_questions(
            [query.text for query in rows.queries], reader, settings.retrieve, built.store,
            Latency(),
        )  # fmt: skip
        assert reader.entity_graph is not None
        fired = sum(bool(reader.entity_graph.names_in(query.text)) for query in rows.queries)
        found: dict[float, list[tuple[float, float]]] = {}
        seconds: dict[float, float] = {}
        for share in (0.0, *shares):
            started = time.process_time()
            scores = []
            without = patch.object(Reader, "entity_graph", None)
            with patch.object(weights, "GRAPH_SHARE", share), nullcontext() if share else without:
                for row, query in zip(rows.queries, queries, strict=True):
                    hits = rank_chunks([reader], query, settings.retrieve, filters).hits
                    order = list(dict.fromkeys(built.ids[hit.doc_uid][0] for hit in hits))
                    judged = rows.judgements[row.id]
                    wanted = {identity for identity, grade in judged.items() if grade > 0}
                    scores.append(
                        (ndcg_at(order[:_DEPTH], judged, _DEPTH),
                         float(wanted <= set(order[:_DEPTH])))
                    )  # fmt: skip
            found[share], seconds[share] = scores, time.process_time() - started
        graph = reader.entity_graph
    figures: dict[str, object] = {
        "documents": len(files),
        "questions": len(rows.queries),
        "questions with entities": fired,
        "build seconds": round(built_in, 1),
        "rules": {
            kind: {"mentions": count, "passages": passages}
            for kind, count, passages in _by_rule(graph.mentions)
        },
    }
    for place, name in enumerate(("ndcg_at_10", "all_at_10")):
        without = [scores[place] for scores in found[0.0]]
        figures[f"{name} without"] = round(sum(without) / len(without), 4)
        for share in shares:
            own = [scores[place] for scores in found[share]]
            gain = difference_interval(own, without)
            figures[f"{name} with {share}"] = round(sum(own) / len(own), 4)
            figures[f"{name} gain {share}"] = [
                round(x, 4) for x in (gain.mean, gain.low, gain.high)
            ]
    figures["milliseconds a question"] = {
        str(share): round(1000 * spent / len(rows.queries), 1) for share, spent in seconds.items()
    }
    return figures


def _by_rule(mentions: Sequence[tuple[str, str]]) -> list[tuple[str, int, int]]:
    counts = Counter(rule for rule, _ in mentions)
    passages = Counter(rule for rule, _ in set(mentions))
    return [(rule, counts[rule], passages[rule]) for rule in sorted(counts)]


def main() -> None:
    """Build, ask, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--documents", type=int, default=2000, help="of a set at most")
    parser.add_argument("--share", type=float, nargs="*", default=[weights.GRAPH_SHARE])
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    data = Path(os.environ.get("RAG_SHARED_DATA", "../shared/data")) / "retrieval" / "beir"
    figures = {}
    for folder in given.folders or [data / name for name in SETS]:
        figures[folder.name] = measure(folder, given.documents, given.share)
        print(folder.name, json.dumps(figures[folder.name], indent=1), flush=True)
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
