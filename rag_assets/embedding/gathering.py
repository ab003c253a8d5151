"""The vectors of a partition: looked up where any record has them, else encoded."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rag_assets.embedding.encoding import encode_texts
from rag_assets.embedding.known import KnownVectors
from rag_assets.embedding.models import EmbeddingModel
from rag_assets.embedding.readable import can_read
from rag_assets.execution import Execution
from rag_assets.model import Progress
from rag_assets.storage import Notify

if TYPE_CHECKING:
    from collections.abc import Callable

    from rag_assets.embedding.record import Vectors


@dataclass(frozen=True, slots=True)
class Tally:
    """Vectors of one partition by the name of their model."""

    encoded: "Counter[str]" = field(default_factory=Counter)
    looked_up: "Counter[str]" = field(default_factory=Counter)


class Work:
    """Tells how many passages of all that a run encodes have their vectors.

    Args:
        models: each of them looks at every passage.
    """

    def __init__(self, on_progress: Progress | None, models: int) -> None:
        self._on_progress = on_progress
        self._models = models
        self._done = 0.0
        self.total = 0

    def part(self, chunks: int) -> "Callable[[int, int], None] | None":
        """Return what tells how far one model is with some chunks."""
        if self._on_progress is None:
            return None
        return lambda done, total: self._tell(self._done + chunks * done / total)

    def finish(self, chunks: int) -> None:
        """Count chunks that a model has looked at."""
        self._done += chunks
        self._tell(self._done)

    def _tell(self, done: float) -> None:
        if self._on_progress and self.total:
            self._on_progress(
                "encoding passages", min(int(done / self._models), self.total), self.total
            )


class GatheredVectors:
    """What one partition's record is going to hold, by model.

    Args:
        known: what the records of the namespace hold.
        execution: where the rest is encoded.
        work: told how far that is.
    """

    def __init__(
        self,
        models: Sequence[EmbeddingModel],
        known: KnownVectors,
        execution: Execution,
        work: Work,
        notify: Notify,
    ) -> None:
        self.tallies: dict[str, Tally] = {}
        self._models, self._known, self._execution = models, known, execution
        self._work, self._notify = work, notify
        self._vectors: dict[str, Vectors] = {}
        self.forget()

    def forget(self) -> None:
        """Begin another partition."""
        self._vectors = {model.fingerprint: {} for model in self._models}

    def gather(
        self, partition: str, inputs: Mapping[str, str], chunks: int
    ) -> "Mapping[str, Vectors]":
        """Return, by model, the vectors of some inputs, and of those gathered before.

        Args:
            inputs: what a model is given, by its hash.
            chunks: that have these inputs.
        """
        lacking = {model: inputs.keys() - held.keys() for model, held in self._vectors.items()}
        if not any(lacking.values()):
            return self._vectors
        known = self._known.find(partition, set[str]().union(*lacking.values()))
        tally = self.tallies.setdefault(partition, Tally())
        for model in self._models:
            held, found = self._vectors[model.fingerprint], known[model.fingerprint]
            tally.looked_up[model.name] += _count_vectors(found)
            missing = lacking[model.fingerprint] - found.keys()
            said = self._work.part(chunks)
            fresh = _encode(model, inputs, missing, self._execution, said, self._notify)
            tally.encoded[model.name] += _count_vectors(fresh)
            held.update(found)
            held.update(fresh)
            self._work.finish(chunks)
        return self._vectors


def _count_vectors(vectors: "Vectors") -> int:
    return sum(vector is not None for vector in vectors.values())


def _encode(
    model: EmbeddingModel,
    inputs: Mapping[str, str],
    missing: Collection[str],
    execution: Execution,
    on_progress: "Callable[[int, int], None] | None",
    notify: Notify,
) -> "Vectors":
    """Return what a model makes of the inputs named in `missing`.

    A passage that a service refuses has no vector of it, like one that a model cannot read.
    """
    found: Vectors = {}
    if not missing:
        return found
    tokenizer = model.tokenizer()
    readable = []
    for key in sorted(missing, key=lambda key: (len(inputs[key]), key)):
        if can_read(tokenizer, inputs[key]):
            readable.append(key)
        else:
            found[key] = None
    if readable:
        texts = [inputs[key] for key in readable]
        encoded = encode_texts(model, texts, execution, notify, on_progress)
        found.update(
            (key, vector if vector.any() else None)
            for key, vector in zip(readable, encoded, strict=True)
        )
        empty = [inputs[key] for key in readable if found[key] is None]
        if empty:
            notify(
                f"{len(empty)} passages have no vector of {model.name}: it refused them, or found "
                "no word that it knows. They are found by their words and by other models. The "
                f"first begins: {empty[0][:60]!r}"
            )
    return found
