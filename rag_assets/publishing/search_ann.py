"""Approximate search of vectors, for libraries where comparing every one takes too long.

An IVF_FLAT index divides the vectors into cells and looks into the cells nearest to the question
only. Its recall against exact search is measured when it is built, over stored vectors; where
looking into more cells does not bring it to what is promised, there is no index and search stays
exact.
"""

import errno
import json
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_assets.publishing.row_order import RowOrder
from rag_assets.publishing.search_memory import Matrix, as_matrix, cosines, nearest_of_batch
from rag_assets.storage import LocalStore, put_json

INDEXES_NAME = "vector_indexes.json"

# Promised share of the truly best rows among those found, and how it is measured: so many stored
# vectors, evenly spread over the table, each asked for its best so many rows (`pool_k`, spec 001).
MIN_RECALL = 0.98
_SAMPLE = 100
_DEPTH = 50
# Cells looked into: doubled until the recall is reached; beyond this share of all cells an exact
# search costs no more.
_FIRST_PROBES = 16
_LARGEST_SHARE = 0.25
# Where a filter leaves fewer rows than this, they are compared one by one: an index would look
# into cells that hold few of them.
EXACT_ROWS = 20_000
# Vectors that are looked at together: 25 MB of 384 numbers.
_BATCH_ROWS = 16_384
# Cosines that differ by less are equal: the precision of the stored numbers.
_EQUAL = 1e-6


@dataclass(frozen=True, slots=True)
class VectorIndex:
    """The approximate index of one vector column.

    Args:
        probes: cells that a search looks into.
        recall: of the measurement at publication, in [0, 1].
        seconds: that building took; provenance.
    """

    column: str
    kind: str
    cells: int
    probes: int
    recall: float
    seconds: float


def build_vector_indexes(folder: Path, dataset: Any, ann_rows: int | None) -> list[VectorIndex]:
    """Build and check the index of each vector column that has at least `ann_rows` vectors.

    Args:
        folder: of the publication, where the indexes are described.
        dataset: the Lance dataset, fresh.
        ann_rows: None for no index at all.

    Returns:
        One for each column whose recall is reached.
    """
    found = [_build(dataset, truth) for truth in _truths(dataset, RowOrder(), ann_rows)]
    return _describe(folder, [index for index in found if index])


def renew_vector_indexes(
    folder: Path,
    dataset: Any,
    order: RowOrder,
    ann_rows: int | None,
    before: Mapping[str, VectorIndex],
    *,
    may_build: bool,
) -> list[VectorIndex]:
    """Check the indexes of a table in segments again, and build anew what does not hold.

    Args:
        folder: of the publication, where the indexes are described.
        dataset: whose indexes know every row.
        order: where it keeps its rows.
        ann_rows: None for no index at all.
        before: the indexes of the publication that it grew from.
        may_build: whether a column that had no index may get one, which costs a build.

    Returns:
        One for each column whose recall is reached; the others are searched exactly.
    """
    built = []
    for truth in _truths(dataset, order, ann_rows):
        known = before.get(truth.column)
        if known is not None:
            found = _with_recall(dataset, truth, known.cells, known.probes, time.monotonic())
            built += [found] if found else []
        if (known is not None and not found) or (known is None and may_build):
            anew = _build(dataset, truth)
            built += [anew] if anew else []
    for column in set(before) - {index.column for index in built}:
        if any(each.name == _index_name(column) for each in dataset.describe_indices()):
            dataset.drop_index(_index_name(column))
    return _describe(folder, built)


def _describe(folder: Path, built: list[VectorIndex]) -> list[VectorIndex]:
    put_json(LocalStore(folder), INDEXES_NAME, {each.column: asdict(each) for each in built})
    return built


def read_vector_indexes(folder: Path) -> dict[str, VectorIndex]:
    """Return a publication's indexes by column."""
    found = LocalStore(folder).get(INDEXES_NAME)
    if found is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(folder / INDEXES_NAME))
    described = json.loads(found.data)
    return {name: VectorIndex(**each) for name, each in described.items()}


def find_nearest(
    dataset: Any, index: VectorIndex, vector: NDArray[np.float64], limit: int, where: str | None
) -> NDArray[np.int64]:
    """Return Lance's ids of the rows that the index takes for the best `limit`, rising."""
    found = dataset.scanner(
        columns=["_distance"],
        with_row_id=True,
        nearest={
            "column": index.column,
            "q": vector.astype(np.float32),
            "k": limit,
            "metric": "cosine",
            "nprobes": index.probes,
            "use_index": True,
        },
        filter=where,
        prefilter=True,
    ).to_table()
    return np.sort(found.column("_rowid").to_numpy()).astype(np.int64)


def _index_name(column: str) -> str:
    return f"{column}_ivf"


@dataclass(frozen=True, slots=True)
class _Truth:
    """What exact search finds for some stored vectors of a column.

    Args:
        vectors: how many rows have a direction.
        questions: a sample of these, of unit length.
        depth: of the answers.
        least: for each question the cosine of its last true answer: of equal vectors any will do.
    """

    column: str
    order: RowOrder
    vectors: int
    questions: NDArray[np.float64]
    depth: int
    least: list[float]


def _truths(dataset: Any, order: RowOrder, ann_rows: int | None) -> Iterator[_Truth]:
    """Yield the truth of each column that has at least `ann_rows` vectors.

    Columns are read batch by batch: they are the largest thing of a publication.
    """
    import pyarrow as pa

    if ann_rows is None or dataset.count_rows() < ann_rows:
        return
    for field in dataset.schema:
        if not pa.types.is_fixed_size_list(field.type):
            continue
        has_direction = np.zeros(dataset.count_rows(), np.bool_)
        for rows, matrix in _batches(dataset, field.name, order):
            has_direction[rows] = _has_direction(matrix)
        directed = np.flatnonzero(has_direction)
        if len(directed) < ann_rows:
            continue
        sample = directed[np.linspace(0, len(directed) - 1, _SAMPLE).astype(np.int64)]
        questions = _take(dataset, field.name, order, sample).astype(np.float64)
        questions /= np.linalg.norm(questions, axis=1, keepdims=True)
        depth = min(_DEPTH, len(directed))
        best = [np.zeros(0)] * len(questions)
        for _, matrix in _batches(dataset, field.name, order):
            best = _better(best, questions, matrix[_has_direction(matrix)], depth)
        least = [float(each[0]) for each in best]
        yield _Truth(field.name, order, len(directed), questions, depth, least)


def _batches(dataset: Any, column: str, order: RowOrder) -> Iterator[tuple[Any, Matrix]]:
    start = 0
    scan = dataset.scanner(columns=[column], scan_in_order=True, batch_size=_BATCH_ROWS)
    for batch in scan.to_batches():
        yield order.scanned_rows(start, batch.num_rows), as_matrix(batch.column(column))
        start += batch.num_rows


def _has_direction(matrix: Matrix) -> NDArray[np.bool_]:
    directed: NDArray[np.bool_] = np.einsum("ij,ij->i", matrix, matrix) > 0
    return directed


def _take(dataset: Any, column: str, order: RowOrder, rows: NDArray[np.int64]) -> Matrix:
    return as_matrix(order.take(dataset, rows, [column]).column(column))


def _better(
    best: list[NDArray[np.float64]], questions: NDArray[np.float64], matrix: Matrix, depth: int
) -> list[NDArray[np.float64]]:
    """Return the best `depth` cosines of each question, rising, with those of further rows."""
    near = nearest_of_batch(matrix, questions.astype(np.float32), depth)
    return [
        np.sort(np.concatenate([held, cosines(matrix[rows], question)]))[-depth:]
        for held, question, rows in zip(best, questions, near, strict=True)
    ]


def _build(dataset: Any, truth: _Truth) -> VectorIndex | None:
    started = time.monotonic()
    cells = max(1, round(truth.vectors**0.5))
    name = _index_name(truth.column)
    dataset.create_index(
        truth.column, "IVF_FLAT", name=name, metric="cosine", num_partitions=cells, replace=True
    )
    found = _with_recall(dataset, truth, cells, min(_FIRST_PROBES, cells), started)
    if found is None:
        dataset.drop_index(name)
    return found


def _with_recall(
    dataset: Any, truth: _Truth, cells: int, probes: int, started: float
) -> VectorIndex | None:
    """Return the index with the fewest probes, from some on, that reach the recall."""
    while probes <= max(_FIRST_PROBES, _LARGEST_SHARE * cells):
        index = VectorIndex(truth.column, "IVF_FLAT", cells, probes, 0.0, 0.0)
        good = 0
        for question, last in zip(truth.questions, truth.least, strict=True):
            rows = truth.order.rows(find_nearest(dataset, index, question, truth.depth, None))
            found = _take(dataset, truth.column, truth.order, rows)
            good += int((cosines(found, question) >= last - _EQUAL).sum())
        recall = good / (truth.depth * len(truth.questions))
        if recall >= MIN_RECALL:
            return replace(index, recall=recall, seconds=time.monotonic() - started)
        probes *= 2
    return None
