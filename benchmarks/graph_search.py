"""Measure what search by entities (`graph`) adds to words and one model.

    python -m benchmarks.graph_search [FOLDER …] [--documents N] [--share X …] [--json OUT]
    python -m benchmarks.graph_search --rules [FOLDER …] [--documents N] [--json OUT]

Each folder is an evaluation set in BEIR's layout; without, those of SETS below `retrieval/beir` of
RAG_SHARED_DATA. A library of each is built as the templates `kb_…` switch it on, with
all-MiniLM-L6-v2 alone as its model, and its questions are asked with `graph` and without. Of a set
of more than N documents those that are judged and a seeded draw of the others are taken.

Prints for each set, with and without: nDCG@10, the share of questions with all judged paragraphs
among the first ten, and the difference with its paired 95 % interval; how often each rule of
`rag_assets/publishing/graph/finding.py` fired, in how many passages. Seconds are of the processor.

`--rules` is the ledger of these rules: what each adds is the difference between all and all but it
(what another rule then finds in its place counts for that other), and between it alone and none.
"""

import argparse
import json
import os
import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa

from rag_assets.evaluation.metrics import difference_interval, ndcg_at
from rag_assets.evaluation.retrieval import Latency, encode_questions
from rag_assets.evaluation.sets import RetrievalSet, read_retrieval_set
from rag_assets.evaluation.workspaces import (
    BuiltWorkspace,
    MadeFile,
    built_workspace,
    default_cache,
    markdown_of,
)
from rag_assets.publishing.catalogue import catalogue_name, open_catalogue, read_table
from rag_assets.publishing.graph import ENTITY_RULES, EntityRule, find_mentions
from rag_assets.publishing.rows import entity_rows, relation_rows
from rag_assets.publishing.schemas import ENTITIES, MENTIONS, RELATIONS
from rag_assets.retrieval import Reader, Retriever, SearchFilters, fusion, rank_chunks
from rag_assets.retrieval.entities import EntityGraph
from rag_assets.retrieval.queries import AskedQuery
from rag_assets.storage import current_folder
from rag_assets.workspace import Settings, shipped_settings

SETS = (
    "hotpotqa_sub", "musique_sub", "scifact", "cranfield", "med", "cacm", "pubmedqa", "xquad_zh_zh",
)  # fmt: skip
_SEED = 7
_DEPTH = 10
_MEASURES = ("ndcg_at_10", "all_at_10")
# By question, in the order of `_MEASURES`.
Scores = Sequence[tuple[float, float]]


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


@contextmanager
def asked_set(folder: Path, most: int) -> Iterator["AskedSet"]:
    """Build the library of a set and encode its questions."""
    rows, settings = read_retrieval_set(folder, None), settings_with_graph()
    files = files_of(rows, most)
    started = time.process_time()
    with (
        built_workspace(files, settings, default_cache()) as built,
        Retriever(built.namespace.workspace, [built.namespace.name], settings.retrieve) as asked,
    ):
        reader = asked.readers[0]
        seconds = time.process_time() - started
        texts = [query.text for query in rows.queries]
        queries = encode_questions(texts, reader, settings.retrieve, Latency())
        assert reader.entity_graph is not None
        yield AskedSet(rows, settings, built, reader, queries, len(files), seconds)


@dataclass(frozen=True)
class AskedSet:
    """The library of a set, and its questions with their vectors."""

    rows: RetrievalSet
    settings: Settings
    built: BuiltWorkspace
    reader: Reader
    queries: Sequence[AskedQuery]
    documents: int
    built_in: float

    def scores(self, graph: EntityGraph | None, share: float = fusion.GRAPH_SHARE) -> Scores:
        """Return nDCG@10 and whether all judged are among the first ten, by question."""
        retrieve = self.settings.retrieve
        filters = SearchFilters(citable_only=True, with_references=retrieve.references)
        found = []
        with patch.object(Reader, "entity_graph", graph), patch.object(
            fusion, "GRAPH_SHARE", share
        ):  # fmt: skip
            for row, query in zip(self.rows.queries, self.queries, strict=True):
                hits = rank_chunks([self.reader], query, retrieve, filters).hits
                order = list(dict.fromkeys(self.built.ids[hit.doc_uid][0] for hit in hits))
                judged = self.rows.judgements[row.id]
                wanted = {identity for identity, grade in judged.items() if grade > 0}
                found.append(
                    (ndcg_at(order[:_DEPTH], judged, _DEPTH), float(wanted <= set(order[:_DEPTH])))
                )
        return found

    def named(self, graph: EntityGraph) -> int:
        """Return how many questions name an entity."""
        return sum(bool(graph.names_in(query.text)) for query in self.rows.queries)

    def graphs(self, choices: Iterable[Sequence[EntityRule]]) -> Iterator[EntityGraph]:
        """Yield the entities that some rules find in the published passages."""
        namespace = self.built.namespace
        folder = current_folder(namespace.publications, namespace.name)
        with open_catalogue(folder / catalogue_name(folder.name)) as catalogue:
            chunks = read_table(catalogue, "chunks").select(
                ["doc_uid", "chunk_index", "chunk_id", "kind", "text"]
            ).to_pylist()  # fmt: skip
        documents: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in sorted(chunks, key=lambda row: (row["doc_uid"], row["chunk_index"])):
            if row["kind"] != "reference":
                documents[row["doc_uid"]].append(row)
        for rules in choices:
            rows = [
                {
                    "doc_uid": uid, "chunk_id": passage["chunk_id"], "entity": one.entity,
                    "name": one.name, "rule": one.rule, "sentence_start": one.sentence[0],
                    "sentence_end": one.sentence[1],
                }
                for uid, passages in documents.items()
                for passage, found in zip(
                    passages, find_mentions([row["text"] for row in passages], rules), strict=True
                )
                for one in found
            ]  # fmt: skip
            mentions = pa.Table.from_pylist(rows, MENTIONS)
            entities = pa.Table.from_pylist(list(entity_rows(namespace, mentions)), ENTITIES)
            related = pa.Table.from_pylist(list(relation_rows(namespace, mentions)), RELATIONS)
            yield EntityGraph(entities, mentions, related)


def measure(folder: Path, most: int, shares: Sequence[float]) -> dict[str, object]:
    """Return the figures of one set."""
    with asked_set(folder, most) as asked:
        graph = asked.reader.entity_graph
        assert graph is not None
        found: dict[float, Scores] = {}
        seconds: dict[float, float] = {}
        for share in (0.0, *shares):
            started = time.process_time()
            found[share] = asked.scores(graph if share else None, share)
            seconds[share] = time.process_time() - started
        figures: dict[str, object] = {
            "documents": asked.documents,
            "questions": len(asked.queries),
            "questions with entities": asked.named(graph),
            "build seconds": round(asked.built_in, 1),
            "rules": {
                kind: {"mentions": count, "passages": passages}
                for kind, count, passages in _by_rule(graph.mentions)
            },
        }
    for place, name in enumerate(_MEASURES):
        figures[f"{name} without"] = _mean(found[0.0], place)
        for share in shares:
            figures[f"{name} with {share}"] = _mean(found[share], place)
            figures[f"{name} gain {share}"] = _gain(found[share], found[0.0], place)
    figures["milliseconds a question"] = {
        str(share): round(1000 * spent / len(asked.queries), 1) for share, spent in seconds.items()
    }
    return figures


def ablate(folder: Path, most: int) -> dict[str, object]:
    """Return what each rule adds on one set: to all others, and alone."""
    with asked_set(folder, most) as asked:
        published = asked.reader.entity_graph
        assert published is not None
        none, (whole,) = asked.scores(None), asked.graphs([ENTITY_RULES])
        if sorted(whole.mentions) != sorted(published.mentions):
            raise SystemExit(f"{folder.name}: the publication is not of these rules.")
        best, counts = asked.scores(whole), _by_rule(whole.mentions)
        figures: dict[str, object] = {
            "questions": len(asked.queries),
            "without entities": {m: _mean(none, place) for place, m in enumerate(_MEASURES)},
            "all rules": {m: _mean(best, place) for place, m in enumerate(_MEASURES)},
            "gain of all": {m: _gain(best, none, place) for place, m in enumerate(_MEASURES)},
        }
        for rule, mentions, passages in counts:
            others = [one for one in ENTITY_RULES if one.id != rule]
            alone = [one for one in ENTITY_RULES if one.id == rule]
            left, only = (asked.scores(graph) for graph in asked.graphs([others, alone]))
            figures[rule] = {
                "mentions": mentions,
                "passages": passages,
                "moves questions": sum(a != b for a, b in zip(best, left, strict=True)),
                **{f"{m} left out": _gain(best, left, p) for p, m in enumerate(_MEASURES)},
                **{f"{m} alone": _gain(only, none, p) for p, m in enumerate(_MEASURES)},
            }
    return figures


def _mean(scores: Scores, place: int) -> float:
    return round(sum(score[place] for score in scores) / len(scores), 4)


def _gain(scores: Scores, before: Scores, place: int) -> list[float]:
    """Return the mean difference with its paired 95 % interval."""
    gain = difference_interval([s[place] for s in scores], [s[place] for s in before])
    return [round(x, 4) for x in (gain.mean, gain.low, gain.high)]


def _by_rule(mentions: Sequence[tuple[str, str]]) -> list[tuple[str, int, int]]:
    counts = Counter(rule for rule, _ in mentions)
    passages = Counter(rule for rule, _ in set(mentions))
    return [(rule, counts[rule], passages[rule]) for rule in sorted(counts)]


def main() -> None:
    """Build, ask, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--documents", type=int, default=2000, help="of a set at most")
    parser.add_argument("--share", type=float, nargs="*", default=[fusion.GRAPH_SHARE])
    parser.add_argument("--rules", action="store_true", help="what each rule adds")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    data = Path(os.environ.get("RAG_SHARED_DATA", "../shared/data")) / "retrieval" / "beir"
    figures = {}
    for folder in given.folders or [data / name for name in SETS]:
        figures[folder.name] = (
            ablate(folder, given.documents)
            if given.rules
            else measure(folder, given.documents, given.share)
        )
        print(folder.name, json.dumps(figures[folder.name], indent=1), flush=True)
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
