"""The vector search is exact."""

from pathlib import Path

import numpy as np
import pytest

from rag_assets.publishing.search import SearchTable
from rag_assets.publishing.search_table import write_search_table
from rag_assets_tests.publishing.made_up_tables import chunk_row, chunk_table

SIZE = 16


def rows_with(vectors: np.ndarray) -> list[dict[str, object]]:
    return [
        chunk_row(f"d{position // 10:03d}", position % 10, "word", vector=vector.tolist())
        for position, vector in enumerate(vectors)
    ]


def clustered(rows: int, seed: int = 5) -> np.ndarray:
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(12, SIZE))
    return (centres[rng.integers(0, 12, rows)] + rng.normal(size=(rows, SIZE)) * 0.4).astype(
        np.float32
    )


def expected(vectors: np.ndarray, query: np.ndarray, allowed: list[int]) -> list[tuple[str, float]]:
    """Return what comparing one by one in double precision gives."""
    scored = []
    for position in allowed:
        vector = vectors[position].astype(np.float64)
        norm = float(np.linalg.norm(vector))
        if norm:
            cosine = float(vector @ query) / norm / float(np.linalg.norm(query))
            scored.append((f"d{position // 10:03d}:{position % 10}", round(cosine, 6) + 0.0))
    return sorted(scored, key=lambda item: (-item[1], item[0]))


@pytest.mark.parametrize("share", ["all", "half", "few"])
def test_search_is_exact_under_any_filter(tmp_path: Path, share: str) -> None:
    vectors = clustered(600)
    vectors[::7] = 0
    vectors[100:160] = vectors[100]
    write_search_table(tmp_path, chunk_table(rows_with(vectors), SIZE))
    table = SearchTable(tmp_path)
    where = {"all": None, "half": "doc_uid < 'd030'", "few": "doc_uid IN ('d010', 'd011')"}[share]
    allowed = {"all": range(600), "half": range(300), "few": range(100, 120)}[share]
    for query in (vectors[100], vectors[5] * 30, -vectors[8]):
        truth = expected(vectors, query.astype(np.float64), list(allowed))
        for limit in (1, 5, 50):
            found = table.search_vectors("vector", query.tolist(), limit, where)
            assert found == truth[:limit]


def test_table_written_anew_in_its_place_is_read_anew(tmp_path: Path) -> None:
    import shutil

    for text, vector in (("one", 1.0), ("two", -1.0)):
        shutil.rmtree(tmp_path / "p", ignore_errors=True)
        (tmp_path / "p").mkdir()
        write_search_table(
            tmp_path / "p", chunk_table([chunk_row("a", 0, text, vector=[vector, 0.5])], 2)
        )
        found = SearchTable(tmp_path / "p").search_vectors("vector", [1.0, 0.0], 1)
        assert found == [("a:0", pytest.approx(vector / 1.25**0.5, abs=1e-6))]
