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
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag_assets.publishing.search_memory import Matrix, TableMemory, cosines
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
        dataset: the Lance dataset.
        ann_rows: None for no index at all.

    Returns:
        One for each column whose recall is reached.
    """
    import pyarrow as pa

    rows = dataset.count_rows()
    built = []
    if ann_rows is not None and rows >= ann_rows:
        names = [each.name for each in dataset.schema if pa.types.is_fixed_size_list(each.type)]
        for name in names:
            column = TableMemory(dataset).column(name)
            directed = np.flatnonzero(column.has_direction)
            if len(directed) >= ann_rows:
                found = _build(dataset, name, column.matrix, directed)
                built += [found] if found else []
    described = {each.column: asdict(each) for each in built}
    put_json(LocalStore(folder), INDEXES_NAME, described)
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
    """Return the rows that the index takes for the best `limit`."""
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


def _build(
    dataset: Any, name: str, matrix: Matrix, directed: NDArray[np.int64]
) -> VectorIndex | None:
    started = time.monotonic()
    cells = max(1, round(len(directed) ** 0.5))
    dataset.create_index(
        name, "IVF_FLAT", name=f"{name}_ivf", metric="cosine", num_partitions=cells
    )
    sample = directed[np.linspace(0, len(directed) - 1, _SAMPLE).astype(np.int64)]
    questions = matrix[sample].astype(np.float64)
    questions /= np.linalg.norm(questions, axis=1, keepdims=True)
    depth = min(_DEPTH, len(directed))
    # The least cosine of the truly best rows: of equal vectors any will do.
    least = [np.sort(cosines(matrix[directed], each))[-depth] for each in questions]
    probes = min(_FIRST_PROBES, cells)
    while probes <= max(_FIRST_PROBES, _LARGEST_SHARE * cells):
        index = VectorIndex(name, "IVF_FLAT", cells, probes, 0.0, 0.0)
        good = 0
        for question, last in zip(questions, least, strict=True):
            found = find_nearest(dataset, index, question, depth, None)
            good += int((cosines(matrix[found], question) >= last - _EQUAL).sum())
        recall = good / (depth * len(questions))
        if recall >= MIN_RECALL:
            seconds = time.monotonic() - started
            return VectorIndex(name, "IVF_FLAT", cells, probes, recall, seconds)
        probes *= 2
    dataset.drop_index(f"{name}_ivf")
    return None
