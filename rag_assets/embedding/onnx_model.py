"""A BERT as an ONNX file, by ONNX Runtime: bge-small-en. Imports no torch."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.embedding.bert_parts import unit_vectors
from rag_assets.embedding.embedder import EncodeProgress
from rag_assets.embedding.model_tokenizer import cutting_tokenizer
from rag_assets.embedding.prompts import Prompts
from rag_assets.embedding.token_batches import encode_in_batches

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class OnnxEmbedder:
    """Encodes one text at a time; its vector is the state of the first token ([CLS]).

    The weights are whole numbers, and how the file rounds a state depends on all states of the
    batch: together with others a text has another vector (cosine 0.997). Alone it always has the
    same one, and on a processor it takes no longer.

    Args:
        max_tokens: where a text is cut off, prompt and special tokens included.
        dimension: places of the vectors that are kept.
    """

    def __init__(
        self,
        name: str,
        fingerprint: str,
        folder: Path,
        prompts: Prompts,
        max_tokens: int,
        dimension: int,
    ) -> None:
        import onnxruntime

        from rag_assets.embedding.torch_device import usable_processors

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = usable_processors()
        options.log_severity_level = 3  # errors; a warning about a GPU helps nobody here
        self._session = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )
        self._tokenizer = cutting_tokenizer(folder / "tokenizer.json", max_tokens)
        self._prompts = prompts
        self.name = name
        self.fingerprint = fingerprint
        self.dimension = dimension

    def encode_passages(
        self, texts: Sequence[str], on_progress: EncodeProgress | None = None
    ) -> "NDArray[np.float32]":
        """Return the vectors of `texts`, the same whatever comes with a text."""
        return self._encode([self._prompts.passage + text for text in texts], on_progress)

    def encode_queries(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return the vectors of questions."""
        return self._encode([self._prompts.query + text for text in texts], None)

    def _encode(
        self, texts: Sequence[str], on_progress: EncodeProgress | None
    ) -> "NDArray[np.float32]":
        return encode_in_batches(
            texts,
            self.dimension,
            1,  # a text longer than a batch goes alone, and every text is
            lambda window: [e.ids for e in self._tokenizer.encode_batch_fast(list(window))],
            lambda ids, _texts: self._encode_one(ids[0]),
            on_progress,
        )

    def _encode_one(self, ids: Sequence[int]) -> "NDArray[np.float32]":
        import numpy as np

        row = np.asarray([ids], np.int64)
        fed = {
            "input_ids": row,
            "attention_mask": np.ones_like(row),
            "token_type_ids": np.zeros_like(row),
        }
        (states,) = self._session.run(["last_hidden_state"], fed)
        return unit_vectors(states[:, 0], self.dimension)
