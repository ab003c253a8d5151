"""What the text search alone finds, by tokenizer and by how titles count.

    python benchmarks/text_tokenizers.py [FOLDER …] [--queries N] [--variants NAME …] [--json OUT]

Each folder is an evaluation set in BEIR's layout; without, those of the shared data
(RAG_SHARED_DATA). Documents are searched whole, not cut into chunks: `search_text` holds the text,
`search_heading` the title. Prints nDCG@10 of a set by variant. `jieba` needs its dictionary:
LANCE_LANGUAGE_MODEL_HOME must name a folder that holds `jieba/default/dict.txt`.

Variants: `icu`, `icu+stem` (the shipped words), `ngram` and `jieba` over title and text in one
field; `text` without the title; `sum W`: BM25 of the text plus W times BM25 of the title;
`both+sum W`: BM25 of title and text plus W times BM25 of the title;
`bm25f W`: both as one field in which a word of the title counts W times (from 1); `max W`: the
better of the two; `shipped`: what the product does with `retrieve.text` as shipped, and `shipped
without terms`: the same but for exact terms (`phrase_boost: 0`).
"""

import argparse
import json
import os
import statistics
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
from lance.query import (
    BooleanQuery,
    CombinedFieldsQuery,
    FullTextQuery,
    MatchQuery,
    MultiMatchQuery,
    Occur,
)

from rag_assets.evaluation.metrics import ndcg_at
from rag_assets.evaluation.sets import RetrievalSet, find_sets, read_retrieval_set
from rag_assets.model.settings import TextSettings
from rag_assets.publishing.schemas import search_schema
from rag_assets.publishing.search import SearchTable
from rag_assets.publishing.search_table import TEXT_INDEX, write_search_table
from rag_assets.workspace import shipped_settings

_DATA = Path(
    os.environ.get("RAG_SHARED_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")
)
_PLAIN = {**TEXT_INDEX, "stem": False, "remove_stop_words": False}
_TOKENIZERS: dict[str, dict[str, Any]] = {
    "icu": _PLAIN,
    "icu+stem": TEXT_INDEX,
    "ngram": {
        **_PLAIN,
        "base_tokenizer": "ngram",
        "min_ngram_length": 2,
        "max_ngram_length": 2,
        "prefix_only": False,
    },
    "jieba": {**TEXT_INDEX, "base_tokenizer": "jieba/default"},
}
_BOTH = "both"
_SHIPPED = {"shipped": None, "shipped without terms": 0.0}


def _sum(weight: float, body: str = "text") -> Callable[[str], FullTextQuery]:
    return lambda text: BooleanQuery(
        [
            (Occur.SHOULD, MatchQuery(text, body)),
            (Occur.SHOULD, MatchQuery(text, "title", boost=weight)),
        ]
    )


def _combined(weight: float) -> Callable[[str], FullTextQuery]:
    return lambda text: CombinedFieldsQuery(text, ["text", "title"], boosts=[1.0, weight])


def _better(weight: float) -> Callable[[str], FullTextQuery]:
    return lambda text: MultiMatchQuery(text, ["text", "title"], boosts=[1.0, weight])


_FIELDS: dict[str, Callable[[str], FullTextQuery]] = {
    "text": lambda text: MatchQuery(text, "text"),
    **{f"sum {weight}": _sum(weight) for weight in (0.25, 0.5, 1.0, 2.0)},
    **{f"both+sum {weight}": _sum(weight, _BOTH) for weight in (0.25, 0.5, 1.0)},
    **{f"bm25f {weight}": _combined(weight) for weight in (1.0, 2.0, 4.0)},
    "max 1.0": _better(1.0),
}


def _measure(dataset: Any, given: RetrievalSet, query: Callable[[str], FullTextQuery]) -> float:
    ids = [row.id for row in given.corpus]
    scores = []
    for row in given.queries:
        found = dataset.scanner(
            columns=["position", "_score"], full_text_query=query(row.text), limit=10
        ).to_table()
        ranking = [ids[position] for position in found.column("position").to_pylist()]
        scores.append(ndcg_at(ranking, given.judgements[row.id], 10))
    return statistics.mean(scores)


def write_shipped(folder: Path, given: RetrievalSet) -> SearchTable:
    """Write the documents of a set, uncut, as a publication has its chunks, and open them."""
    schema = search_schema([1])
    size = len(given.corpus)
    made: dict[str, Any] = {
        "doc_uid": [row.id for row in given.corpus],
        "chunk_id": [f"{row.id}:0" for row in given.corpus],
        "chunk_index": [0] * size,
        "search_text": [f"{row.title}\n{row.text}".strip() for row in given.corpus],
        "search_heading": [row.title for row in given.corpus],
    }
    columns = {field.name: made.get(field.name, pa.nulls(size, field.type)) for field in schema}
    folder.mkdir()
    write_search_table(folder, pa.table(columns, schema=schema))
    return SearchTable(folder)


def search_shipped(table: SearchTable, question: str, weights: TextSettings) -> list[str]:
    """Return the ids of the ten best documents."""
    return [key.rpartition(":")[0] for key, _ in table.search_text(question, 10, None, weights)]


def _measure_shipped(folder: Path, given: RetrievalSet, phrase_boost: float | None) -> float:
    weights = shipped_settings().retrieve.text
    if phrase_boost is not None:
        weights = weights.model_copy(update={"phrase_boost": phrase_boost})
    table = write_shipped(folder, given)
    return statistics.mean(
        ndcg_at(search_shipped(table, row.text, weights), given.judgements[row.id], 10)
        for row in given.queries
    )


def _write(folder: Path, given: RetrievalSet) -> Any:
    rows = {
        "position": list(range(len(given.corpus))),
        "title": [row.title for row in given.corpus],
        "text": [row.text for row in given.corpus],
        _BOTH: [f"{row.title}\n{row.text}".strip() for row in given.corpus],
    }
    return lance.write_dataset(pa.table(rows), str(folder))


def _measure_set(given: RetrievalSet, variants: Sequence[str]) -> dict[str, float]:
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        dataset = _write(Path(folder) / "set.lance", given)
        for name, options in _TOKENIZERS.items():
            if name in variants:
                dataset.create_scalar_index(_BOTH, "INVERTED", name=_BOTH, **options)
                figures[name] = _measure(dataset, given, lambda text: MatchQuery(text, _BOTH))
        if any(name in variants for name in _FIELDS):
            for column in ("text", "title", _BOTH):
                dataset.create_scalar_index(column, "INVERTED", name=column, **TEXT_INDEX)
        for name, query in _FIELDS.items():
            if name in variants:
                figures[name] = _measure(dataset, given, query)
        for name, boost in _SHIPPED.items():
            if name in variants:
                figures[name] = _measure_shipped(Path(folder) / name, given, boost)
    return figures


def main() -> None:
    """Print the table."""
    known = [*_TOKENIZERS, *_FIELDS, *_SHIPPED]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--queries", type=int, help="at most so many of a set")
    parser.add_argument("--variants", nargs="+", choices=known, default=known)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    folders = arguments.folders or find_sets(_DATA / "retrieval" / "beir")
    results = {}
    for folder in folders:
        given = read_retrieval_set(folder, arguments.queries)
        results[given.name] = _measure_set(given, arguments.variants)
        line = "  ".join(f"{name} {value:.4f}" for name, value in results[given.name].items())
        print(f"{given.name} ({len(given.queries)} queries): {line}", flush=True)
    for name in arguments.variants:
        mean = statistics.mean(figures[name] for figures in results.values())
        print(f"mean of {name}: {mean:.4f}")
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
