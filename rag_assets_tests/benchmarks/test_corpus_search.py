"""`CorpusSearch` finds what a published namespace would find."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from benchmarks.chunking.corpus_search import METHODS, CorpusSearch, SearchedChunk
from rag_assets.embedding import EmbeddingModel, HashingEmbedder
from rag_assets.model.settings import ModelSettings
from rag_assets.workspace import shipped_settings

WORDS = EmbeddingModel(
    ModelSettings(kind="hashing", model="words"), HashingEmbedder().fingerprint, 2
)


def chunk(text: str, kind: str | None = "text", subtype: str | None = None) -> SearchedChunk:
    return SearchedChunk(0, len(text), text, text, kind, subtype)


def searching(
    folder: Path, chunks: Sequence[SearchedChunk], vectors: Sequence[Sequence[float]]
) -> CorpusSearch:
    held = np.array(vectors, np.float32)
    return CorpusSearch(folder, "birds", chunks, [WORDS], [held], shipped_settings().retrieve)


def rank(
    search: CorpusSearch, question: str, vector: Sequence[float], method: str, most: int
) -> list[int]:
    return search.rank(question, {WORDS.fingerprint: vector}, method, most)


def test_words_and_vectors_find_their_own_and_both_are_fused(tmp_path: Path) -> None:
    chunks = [chunk("Owls hunt."), chunk("Hens lay."), chunk("Gulls follow ploughs.")]
    search = searching(tmp_path, chunks, [[0, 1], [0.6, 0.8], [1, 0]])
    assert rank(search, "a hen", [1.0, 0.0], "lexical", 5) == [1]
    assert rank(search, "a hen", [1.0, 0.0], "semantic", 2) == [2, 1]
    assert rank(search, "a hen", [1.0, 0.0], "hybrid", 5) == [1, 2, 0]


@pytest.mark.parametrize("method", METHODS)
def test_equal_texts_take_one_place_and_the_first_is_found(tmp_path: Path, method: str) -> None:
    chunks = [chunk("Owls hunt."), chunk("Hens lay."), chunk("Owls hunt."), chunk("An owl.")]
    search = searching(tmp_path, chunks, [[1, 0], [0, 1], [1, 0], [0.8, 0.6]])
    found = rank(search, "the owl hunts", [1.0, 0.0], method, 2)
    assert found == [0, 3]


@pytest.mark.parametrize("method", METHODS)
def test_lone_headings_and_references_are_not_found(tmp_path: Path, method: str) -> None:
    chunks = [
        chunk("Owls", kind="heading"),
        chunk("Owls, 2020.", kind="reference", subtype="references"),
        chunk("Owls hunt."),
    ]
    search = searching(tmp_path, chunks, [[1, 0], [1, 0], [1, 0]])
    assert rank(search, "owls", [1.0, 0.0], method, 5) == [2]


def test_what_is_indexed_is_searched_and_not_the_text(tmp_path: Path) -> None:
    chunks = [SearchedChunk(0, 5, "Birds", "Of hens: birds"), chunk("Birds")]
    search = searching(tmp_path, chunks, [[1, 0], [0, 1]])
    assert rank(search, "hens", [0.0, 1.0], "lexical", 5) == [0]
