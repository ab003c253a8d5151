"""Encoding as a kind of work: texts in, numbers out; the model is loaded where a job is done."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING

from rag_assets.embedding.loading import model_fingerprint
from rag_assets.embedding.models import EmbeddingModel
from rag_assets.embedding.token_batches import WINDOW_TEXTS
from rag_assets.execution import Execution, Limits, OnPart
from rag_assets.model import ConfigurationError, OutOfMemoryError
from rag_assets.storage import Notify

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

# What a model sorts by length at a time: a job that ends there costs no batch more.
JOB_TEXTS = WINDOW_TEXTS
# Below that a second worker costs more than it saves: a round trip for a few texts.
LEAST_TEXTS = 16
# What a worker of several does at a time, and what is done again where it dies.
SHARE_TEXTS = 512


@dataclass(frozen=True, slots=True)
class EncodeJob:
    """Passages for one model.

    Args:
        number: of the job among those that are given together.
        texts: what the model is given, before its own prompt.
        model: its settings, and the fingerprint that it must have where the job is done.
    """

    number: int
    texts: tuple[str, ...]
    model: EmbeddingModel


@dataclass(frozen=True, slots=True, eq=False)
class EncodeResult:
    """The numbers of each text of a job.

    Args:
        number: of the job.
        flat: float32, those of all texts one after the other.
        sizes: how many each text has: its vector's length, or the pairs of a sparse encoder.
    """

    number: int
    flat: "NDArray[np.float32]"
    sizes: tuple[int, ...]

    def vectors(self) -> "Iterator[NDArray[np.float32]]":
        """Yield the numbers of each text, as views."""
        import numpy as np

        for start, end in pairwise((0, *np.cumsum(self.sizes).tolist())):
            yield self.flat[start:end]

    def __eq__(self, other: object) -> bool:
        """Compare by value, bit by bit."""
        if not isinstance(other, EncodeResult):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        """Return the hash of the value."""
        return hash(self._key())

    def _key(self) -> tuple[int, tuple[int, ...], bytes]:
        return self.number, self.sizes, self.flat.tobytes()


@dataclass(frozen=True, slots=True)
class EncodeKind:
    """Encoding: one job at a time, since a model takes every core; its service limits the rest."""

    name: str = "encode"

    @property
    def limits(self) -> Limits:
        """None: a job is as long as its texts."""
        return Limits()

    def open_worker(self) -> "_Encoder":
        """Return a worker that loads the model of its first job."""
        return _Encoder()

    def claim(self, job: EncodeJob) -> None:
        """No job: what it gives is found by others only when its partition is written."""

    def give_up(self, job: EncodeJob, trouble: str) -> EncodeResult:
        """End the run, as it ends where a model takes this process's own memory.

        Raises:
            OutOfMemoryError: always.
        """
        raise OutOfMemoryError(
            f"embed.models: the workers died while they encoded with {job.model.name!r}, most "
            f"likely since the machine had no memory left ({trouble}). Give the machines more "
            "memory or fewer workers and run again: partitions that are done stay done."
        )


class _Encoder:
    """Encodes in this process, by the models that are loaded once in it."""

    def do(self, job: EncodeJob, on_part: OnPart[EncodeJob] | None) -> EncodeResult:
        """Return the numbers of a job's texts.

        Raises:
            ConfigurationError: the model is not here, or is another one than was meant.
        """
        import numpy as np

        model = job.model
        found = model_fingerprint(model.settings)
        if found != model.fingerprint:
            raise ConfigurationError(
                f"embed.models: the files of {model.name!r} are not those that the run began "
                f"with (fingerprint {found[:12]}, not {model.fingerprint[:12]}). Let every machine "
                "have the same files, and run again."
            )
        encoded = model.passage_encoder().encode_passages(
            job.texts, (lambda done, _: on_part(job, done)) if on_part else None
        )
        vectors = list(encoded)
        flat = np.concatenate(vectors) if vectors else np.zeros(0, np.float32)
        return EncodeResult(job.number, flat, tuple(map(len, vectors)))

    def stop(self) -> None:
        """Nothing that another thread could end."""

    def close(self) -> None:
        """The models stay loaded, for the next one in this process."""


def encode_texts(
    model: EmbeddingModel,
    texts: Sequence[str],
    execution: Execution,
    notify: Notify,
    on_progress: "Callable[[int, int], None] | None" = None,
) -> "list[NDArray[np.float32]]":
    """Return what a model makes of each text, in the order of the texts.

    Args:
        on_progress: told (texts done, texts in all).
    """
    kind = EncodeKind()
    places = _shares(len(texts), execution.at_once(kind))
    jobs = [
        EncodeJob(number, tuple(texts[place] for place in share), model)
        for number, share in enumerate(places)
    ]
    parts = [0] * len(jobs)

    def on_part(job: EncodeJob, part: int) -> None:
        parts[job.number] = part
        if on_progress:
            on_progress(sum(parts), len(texts))

    found: dict[int, NDArray[np.float32]] = {}
    for result in execution.map(kind, jobs, notify, on_part=on_part if on_progress else None):
        parts[result.number] = len(result.sizes)
        found.update(zip(places[result.number], result.vectors(), strict=True))
    return [found[place] for place in range(len(texts))]


def _shares(texts: int, at_once: int) -> list[range]:
    """Return the places of the texts of each job.

    One worker has window after window of texts that come sorted by length. Several have every
    n-th text each: as many short ones as long ones.
    """
    if at_once == 1:
        return [range(first, min(first + JOB_TEXTS, texts)) for first in range(0, texts, JOB_TEXTS)]
    count = max(1, min(max(at_once, ceil(texts / SHARE_TEXTS)), texts // LEAST_TEXTS))
    return [range(first, texts, count) for first in range(count)]
