"""How long the searches of one question take, beside the bare searches of Lance.

    python benchmarks/search_latency.py [--rows N …] [--rounds N] [--json OUT]

Made-up libraries of N chunks: clustered random vectors of 384 numbers in three columns (200
centres, noise of four fifths of their spread) and texts of 60 to 200 words drawn by Zipf's law.
English questions over English passages, so that two of the three shipped models are asked. Per
size, in milliseconds:

- one vector search: Lance's exact scan, the product over the column in memory (as the product
  searches), the same under the filters that every question has;
- reading the column, which a process pays once a publication;
- a whole question without encoding, through `rank_chunks` with the shipped settings: text, two
  models' vectors, each searcher's scores of the others' candidates, their rows, fusion and
  de-duplication; its processor time; and its ratio to three bare Lance searches (BM25, two exact
  scans) with the rows' columns.
"""

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from rag_assets.publishing.manifest import PublishedModel
from rag_assets.publishing.schemas import search_schema
from rag_assets.publishing.search import TABLE_NAME, SearchTable
from rag_assets.publishing.search_table import write_search_table
from rag_assets.retrieval import AskedQuery, Ranking, Reader, SearchFilters, rank_chunks
from rag_assets.retrieval.hits import HIT_COLUMNS
from rag_assets.workspace import shipped_settings

_DIMENSION = 384
_CENTRES = 200
_SPREAD = 0.8
_WORDS = 30_000
_WORDS_A_CHUNK = (60, 200)
_CHUNKS_A_DOCUMENT = 40
_LIMIT = 50
_NAMESPACE = "papers"
_ROWS = (2_000, 10_000, 50_000, 200_000)
_FILTERS = SearchFilters(citable_only=True)
_WHERE = _FILTERS.condition()
# The shipped models, for whose names weights were fitted, and the columns of their vectors.
_MODELS = {
    model.model: column
    for model, column in zip(
        shipped_settings().embed.models, ("vector", "vector_2", "vector_3"), strict=True
    )
}


class _MadeReader(Reader):
    """A reader of a table alone, with vectors that no model made."""

    @cached_property
    def models(self) -> tuple[PublishedModel, ...]:
        """Models whose fingerprints are their names."""
        return tuple(
            PublishedModel(settings, settings.model, settings.model, _DIMENSION, column)
            for settings, column in zip(
                shipped_settings().embed.models, _MODELS.values(), strict=True
            )
        )

    @cached_property
    def _columns(self) -> dict[str, str]:
        return dict(_MODELS)


def _vectors(rng: np.random.Generator, rows: int) -> Any:
    centres = rng.normal(size=(_CENTRES, _DIMENSION)).astype(np.float32)
    noise = rng.normal(size=(rows, _DIMENSION)).astype(np.float32)
    made = centres[rng.integers(0, _CENTRES, rows)] + _SPREAD * noise
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def _table(rng: np.random.Generator, rows: int) -> pa.Table:
    share = 1 / np.arange(1, _WORDS + 1)
    lengths = rng.integers(*_WORDS_A_CHUNK, rows)
    drawn = rng.choice(_WORDS, lengths.sum(), p=share / share.sum())
    texts = [
        " ".join(f"w{word}" for word in line.tolist())
        for line in np.split(drawn, np.cumsum(lengths)[:-1])
    ]
    schema = search_schema([_DIMENSION] * len(_MODELS))
    uids = [f"document-{row // _CHUNKS_A_DOCUMENT:05d}" for row in range(rows)]
    made: dict[str, Any] = {
        "namespace": [_NAMESPACE] * rows,
        "doc_uid": uids,
        "chunk_id": [f"{uid}:{row % _CHUNKS_A_DOCUMENT}" for row, uid in enumerate(uids)],
        "chunk_index": [row % _CHUNKS_A_DOCUMENT for row in range(rows)],
        "kind": ["text"] * rows,
        "citable": [True] * rows,
        "language": ["en"] * rows,
        "passage_language": ["en"] * rows,
        "section_subtype": ["references" if row % 10 == 0 else None for row in range(rows)],
        "text": texts,
        "search_text": texts,
        "search_heading": [text[:60] for text in texts],
    }
    for name in _MODELS.values():
        flat = pa.array(_vectors(rng, rows).reshape(-1))
        made[name] = pa.FixedSizeListArray.from_arrays(flat, _DIMENSION)
    for field in schema:
        if field.name not in made and field.name in HIT_COLUMNS and pa.types.is_string(field.type):
            made[field.name] = [f"{field.name} {row}" for row in range(rows)]
        elif field.name not in made:
            made[field.name] = pa.nulls(rows, field.type)
    return pa.table({name: made[name] for name in schema.names}, schema=schema)


def _median(
    run: Callable[[int], object], rounds: int, clock: Callable[[], float] = time.perf_counter
) -> tuple[float, float]:
    """Return the median and the least of the milliseconds of `rounds` runs."""
    spent = []
    for number in range(rounds):
        started = clock()
        run(number)
        spent.append((clock() - started) * 1000)
    return statistics.median(spent), min(spent)


def _measure(folder: Path, rows: int, rounds: int) -> dict[str, float | tuple[float, float]]:
    import lance
    from lance.query import MatchQuery

    rng = np.random.default_rng(7)
    write_search_table(folder, _table(rng, rows))
    table, dataset = SearchTable(folder), lance.dataset(str(folder / TABLE_NAME))
    weights = shipped_settings().retrieve.text
    stored = table.fetch(columns=["vector"]).column("vector").combine_chunks()
    matrix = stored.flatten().to_numpy().reshape(-1, _DIMENSION)
    noise = rng.normal(size=(rounds, _DIMENSION)).astype(np.float32) * 0.02
    queries = (matrix[rng.integers(0, rows, rounds)] + noise).astype(np.float32)
    words = [
        " ".join(f"w{word}" for word in rng.integers(20, 3000, 10).tolist()) for _ in range(rounds)
    ]
    names = list(HIT_COLUMNS)

    def scan(number: int, column: str = "vector") -> Any:
        nearest = {"column": column, "q": queries[number], "k": _LIMIT, "metric": "cosine"}
        return dataset.scanner(columns=[*names, "_distance"], nearest=nearest).to_table()

    def bare(number: int) -> None:
        scan(number)
        scan(number, "vector_2")
        dataset.scanner(
            columns=[*names, "_score"],
            full_text_query=MatchQuery(words[number], "search_text"),
            limit=_LIMIT,
        ).to_table()

    reader = _MadeReader(folder, _NAMESPACE, folder.name)

    def whole(number: int) -> Ranking:
        vectors = {name: [queries[number].tolist()] for name in _MODELS}
        asked = AskedQuery(words[number], "en", {"q_en": words[number]}, vectors)
        return rank_chunks([reader], asked, shipped_settings().retrieve, _FILTERS)

    def product(number: int) -> object:
        return table.search_vectors("vector", queries[number], _LIMIT)

    figures: dict[str, float | tuple[float, float]] = {
        "read a column": _median(
            lambda n: SearchTable(folder).search_vectors("vector", queries[n], 1), 3
        ),
    }
    for number in range(2):  # the second question reads what is kept from then on
        whole(number)
    figures |= {
        "lance exact": _median(scan, rounds),
        "product": _median(product, rounds),
        "product, filtered": _median(
            lambda n: table.search_vectors("vector", queries[n], _LIMIT, _WHERE), rounds
        ),
        "text": _median(lambda n: table.search_text(words[n], _LIMIT, _WHERE, weights), rounds),
        "whole question": _median(whole, rounds),
        "whole, processor": _median(whole, rounds, time.process_time),
        "bare lance": _median(bare, rounds),
    }
    return figures


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=_ROWS)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    results = {}
    for rows in arguments.rows:
        with tempfile.TemporaryDirectory() as folder:
            results[rows] = _measure(Path(folder), rows, arguments.rounds)
        print(
            f"{rows} chunks (median and least of {arguments.rounds} runs, milliseconds; load "
            f"average {os.getloadavg()[0]:.1f})"
        )
        for name, value in results[rows].items():
            shown = (
                f"{value[0]:8.1f} {value[1]:8.1f}" if isinstance(value, tuple) else f"{value:.3f}"
            )
            print(f"  {name:20s} {shown}")
        whole, bare = results[rows]["whole question"], results[rows]["bare lance"]
        if isinstance(whole, tuple) and isinstance(bare, tuple):
            print(f"  whole / bare         {whole[0] / bare[0]:.2f}", flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
