"""Short runs of neighbouring sentences that hold most of what may decide a statement."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag_assets.finding.sentences import Sentence

# Sentences of a window at most, and the share for which one more is not worth reading.
_MOST_SENTENCES = 12
_LEAST_GAIN = 1e-4


def choose_windows(
    whole: NDArray[np.float64],
    parted: NDArray[np.float64],
    sentences: Sequence[Sentence],
    sizes: Sequence[float],
    most: int,
    tokens: float,
) -> list[tuple[int, int]]:
    """Return the runs that hold most, best first: each the best of what those before left over.

    Args:
        whole: each sentence's share for the whole statement, which chooses the first run.
        parted: the same with its facts apart, for those after it.
        sentences: of one document in its order.
        sizes: of the sentences, in tokens.
        most: runs at most.
        tokens: of a run at most; a longer sentence is a run by itself.

    Returns:
        (first, last) sentence of each; they do not overlap. Of equals the first.
    """
    taken = np.zeros(len(sentences), np.bool_)
    found: list[tuple[int, int]] = []
    for _ in range(most):
        shares = parted if found else whole
        best: tuple[float, int, int] | None = None
        for first in range(len(sentences)):
            if taken[first] or (best is not None and shares[first] < _LEAST_GAIN):
                continue
            size, held = 0.0, 0.0
            for last in range(first, min(len(sentences), first + _MOST_SENTENCES)):
                size += sizes[last]
                is_apart = sentences[last].run != sentences[first].run
                if taken[last] or is_apart or (size > tokens and last > first):
                    break
                held += float(shares[last])
                gain = held - _LEAST_GAIN * (last - first)
                if best is None or gain > best[0]:
                    best = gain, first, last
        if best is None:
            break
        taken[best[1] : best[2] + 1] = True
        found.append((best[1], best[2]))
    return found
