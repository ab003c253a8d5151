"""Texts of much the same length go to the model together: little padding, bounded memory."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from rag_assets.embedding.embedder import EncodeProgress

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# So many texts are cut into tokens and sorted at a time: 8 MB of ids at 256 tokens a text.
WINDOW_TEXTS = 8_192


def token_batches(sizes: Sequence[int], batch_tokens: int) -> Iterator[list[int]]:
    """Yield the places of texts, longest first, a batch with its padding within `batch_tokens`.

    A text that is longer than `batch_tokens` goes alone.
    """
    order = sorted(range(len(sizes)), key=lambda index: -sizes[index])
    begin = 0
    while begin < len(order):
        # Longest first: memory runs out at once or never.
        width = max(sizes[order[begin]], 1)
        end = begin + max(batch_tokens // width, 1)
        yield order[begin:end]
        begin = end


def encode_in_batches(
    texts: Sequence[str],
    dimension: int,
    batch_tokens: int,
    prepare: "Callable[[Sequence[str]], list[list[int]]]",
    encode: "Callable[[list[list[int]], list[str]], NDArray[np.float32]]",
    on_progress: EncodeProgress | None,
) -> "NDArray[np.float32]":
    """Return the vectors of `texts` in their order, shape (len(texts), dimension).

    Args:
        batch_tokens: tokens of a batch at most, padding included.
        prepare: cuts texts into the ids of tokens.
        encode: takes the ids and the texts of a batch, returns their vectors.
    """
    import numpy as np

    vectors = np.zeros((len(texts), dimension), np.float32)
    done = 0
    for first in range(0, len(texts), WINDOW_TEXTS):
        window = texts[first : first + WINDOW_TEXTS]
        ids = prepare(window)
        for chosen in token_batches([len(each) for each in ids], batch_tokens):
            found = encode([ids[index] for index in chosen], [window[index] for index in chosen])
            vectors[[first + index for index in chosen]] = found
            done += len(chosen)
            if on_progress:
                on_progress(done, len(texts))
    return vectors
