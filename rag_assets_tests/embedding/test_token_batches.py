"""Batches of texts of much the same length."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.embedding.token_batches import encode_in_batches, token_batches


@given(st.lists(st.integers(0, 300)), st.integers(1, 500))
def test_each_text_is_in_one_batch_and_no_batch_is_too_large(sizes: list[int], most: int) -> None:
    batches = list(token_batches(sizes, most))
    assert sorted(index for batch in batches for index in batch) == list(range(len(sizes)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(sizes[index] for index in batch) <= most


@given(st.lists(st.text(max_size=9)), st.integers(1, 40), st.integers(1, 5))
def test_vectors_come_in_the_order_of_the_texts(texts: list[str], most: int, window: int) -> None:
    told: list[tuple[int, int]] = []
    module = encode_in_batches.__globals__
    before, module["WINDOW_TEXTS"] = module["WINDOW_TEXTS"], window
    try:
        vectors = encode_in_batches(
            texts,
            1,
            most,
            lambda chosen: [[0] * len(text) for text in chosen],
            lambda ids, chosen: np.array([[hash(text) % 1000] for text in chosen], np.float32),
            lambda done, total: told.append((done, total)),
        )
    finally:
        module["WINDOW_TEXTS"] = before
    assert vectors[:, 0].tolist() == [hash(text) % 1000 for text in texts]
    assert told[-1:] == ([(len(texts), len(texts))] if texts else [])
