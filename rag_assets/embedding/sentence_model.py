"""A sentence-transformers model on the processor, offline. Imports torch when it is loaded."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_assets.embedding.embedder import EncodeProgress
from rag_assets.embedding.model_folder import read_prompts, vector_dimension
from rag_assets.embedding.model_tokenizer import read_model_tokenizer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Progress is told after so many batches.
_BATCHES_PER_REPORT = 16


class SentenceEmbedder:
    """all-MiniLM-L6-v2 and its like: float32, normalised, prompts as the model states them."""

    def __init__(self, name: str, folder: Path, fingerprint: str, batch_size: int) -> None:
        # Before the import: the hub's library reads them once. Models are files here.
        os.environ["HF_HUB_OFFLINE"] = "1"
        os.environ["TRANSFORMERS_OFFLINE"] = "1"
        import torch
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging

        torch.set_num_threads(os.cpu_count() or 1)
        bars: Any = logging  # untyped
        was_shown = bars.is_progress_bar_enabled()
        bars.disable_progress_bar()  # reading the weights would draw one on stderr
        try:
            self._model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
        finally:
            if was_shown:
                bars.enable_progress_bar()
        self._model.float()
        self._prompts = read_prompts(folder)
        self._tokenizer = read_model_tokenizer(folder)
        self._batch_size = batch_size
        self._progress_step = batch_size * _BATCHES_PER_REPORT
        self.name = name
        self.fingerprint = fingerprint
        self.dimension = vector_dimension(folder)

    def encode_passages(
        self, texts: Sequence[str], on_progress: EncodeProgress | None = None
    ) -> "NDArray[np.float32]":
        """Return the vectors of `texts`; its last bits depend on the batch (about 1e-7)."""
        return self._encode(texts, self._prompts["passage"], on_progress)

    def encode_queries(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return the vectors of questions."""
        return self._encode(texts, self._prompts["query"], None)

    def _encode(
        self, texts: Sequence[str], prompt: str, on_progress: EncodeProgress | None
    ) -> "NDArray[np.float32]":
        import numpy as np

        vectors = np.zeros((len(texts), self.dimension), np.float32)
        # Longest first: memory runs out at once or never. By tokens, and a batch a call: the
        # library itself sorts by characters, which fills a fifth of each batch with padding.
        sizes = self._tokenizer.count(texts)
        order = sorted(range(len(texts)), key=lambda index: (-sizes[index], texts[index]))
        for begin in range(0, len(order), self._batch_size):
            chosen = order[begin : begin + self._batch_size]
            vectors[chosen] = self._call([texts[index] for index in chosen], prompt)
            done = begin + len(chosen)
            if on_progress and (done == len(order) or done % self._progress_step == 0):
                on_progress(done, len(order))
        return vectors

    def _call(self, texts: list[str], prompt: str) -> Any:
        return self._model.encode(
            texts,
            prompt=prompt,
            batch_size=self._batch_size,
            show_progress_bar=False,
            convert_to_numpy=True,
            normalize_embeddings=True,
        )
