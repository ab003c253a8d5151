"""Vectors are kept between runs, and never taken for those of another model or role."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rag_assets.evaluation.workspaces as vector_store
from rag_assets.evaluation.workspaces import PASSAGE, QUESTION, VectorStore
from rag_assets.model import DamagedFileError


class Lengths:
    """Encodes a text as its length, and remembers what it was given."""

    def __init__(self) -> None:
        self.given: list[str] = []

    def __call__(self, texts: Sequence[str], on_progress: Any) -> Any:
        self.given += texts
        return np.array([[len(text), 1] for text in texts], np.float32)


def test_a_text_is_encoded_once_for_each_model_and_role(tmp_path: Path) -> None:
    encode = Lengths()
    store = VectorStore(tmp_path / "cache" / "vectors.sqlite")
    first = store.encode("m1", PASSAGE, ["owl", "gulls", "owl"], encode)
    assert first.tolist() == [[3, 1], [5, 1], [3, 1]]
    again = VectorStore(tmp_path / "cache" / "vectors.sqlite")
    assert again.encode("m1", PASSAGE, ["gulls", "owl"], encode).tolist() == [[5, 1], [3, 1]]
    assert encode.given == ["owl", "gulls"]
    store.encode("m1", QUESTION, ["owl"], encode)
    store.encode("m2", PASSAGE, ["owl"], encode)
    assert encode.given == ["owl", "gulls", "owl", "owl"]


def test_what_was_encoded_before_an_interruption_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_store, "_SLICE", 2)
    encode, store = Lengths(), VectorStore(tmp_path / "vectors.sqlite")

    def interrupted(texts: Sequence[str], on_progress: Any) -> Any:
        if "c" in texts:
            raise KeyboardInterrupt
        return encode(texts, on_progress)

    with pytest.raises(KeyboardInterrupt):
        store.encode("m1", PASSAGE, ["a", "b", "c"], interrupted)
    store.encode("m1", PASSAGE, ["a", "b", "c"], encode)
    assert encode.given == ["a", "b", "c"]


def test_a_damaged_store_says_that_it_may_go(tmp_path: Path) -> None:
    file = tmp_path / "vectors.sqlite"
    file.write_bytes(b"no database at all, " * 300)
    with pytest.raises(DamagedFileError, match="delete it"):
        VectorStore(file).encode("m1", PASSAGE, ["owl"], Lengths())
