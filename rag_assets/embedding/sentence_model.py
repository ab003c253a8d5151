"""Any sentence-transformers model, offline. Imports torch when it is loaded."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rag_assets.embedding.bert_parts import unit_vectors
from rag_assets.embedding.embedder import EncodeProgress
from rag_assets.embedding.model_folder import FolderFacts
from rag_assets.embedding.model_tokenizer import TOKENIZER_FILE, cutting_token_ids
from rag_assets.embedding.token_batches import encode_in_batches
from rag_assets.embedding.torch_device import prepare_device
from rag_assets.settings import ModelSettings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def open_model(kind: str, facts: FolderFacts, model: ModelSettings) -> Any:
    """Return a model of sentence-transformers as the settings want it, read from its folder.

    Args:
        kind: the library's class, `SentenceTransformer` or `SparseEncoder`.
    """
    # Before the import: the hub's library reads them once. Models are files here.
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["TRANSFORMERS_OFFLINE"] = "1"
    import sentence_transformers
    import torch
    from transformers.utils import logging

    device = prepare_device(model)
    bars: Any = logging  # untyped
    was_shown = bars.is_progress_bar_enabled()
    bars.disable_progress_bar()  # reading the weights would draw one on stderr
    try:
        opened: Any = getattr(sentence_transformers, kind)(
            str(facts.folder), device=str(device), local_files_only=True
        )
    finally:
        if was_shown:
            bars.enable_progress_bar()
    opened.to(getattr(torch, model.dtype))
    opened.max_seq_length = facts.max_tokens
    return opened


class SentenceEmbedder:
    """A model that is more than a plain BERT, as its own folder describes it."""

    def __init__(self, facts: FolderFacts, model: ModelSettings) -> None:
        self._model = open_model("SentenceTransformer", facts, model)
        self._prompts = facts.prompts
        self._token_ids = cutting_token_ids(facts.folder / TOKENIZER_FILE, facts.max_tokens)
        self._batch_tokens = model.batch_tokens
        self.name = facts.name
        self.fingerprint = facts.fingerprint
        self.dimension = facts.dimension

    def encode_passages(
        self, texts: Sequence[str], on_progress: EncodeProgress | None = None
    ) -> "NDArray[np.float32]":
        """Return the vectors of `texts`; its last bits depend on the batch (about 1e-7)."""
        return self._encode(texts, self._prompts.passage, on_progress)

    def encode_queries(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Return the vectors of questions."""
        return self._encode(texts, self._prompts.query, None)

    def _encode(
        self, texts: Sequence[str], prompt: str, on_progress: EncodeProgress | None
    ) -> "NDArray[np.float32]":
        # The library itself sorts by characters, which fills a fifth of a batch with padding.
        return encode_in_batches(
            texts,
            self.dimension,
            self._batch_tokens,
            lambda window: self._token_ids([prompt + text for text in window]),
            lambda _ids, chosen: self._call(chosen, prompt),
            on_progress,
        )

    def _call(self, texts: list[str], prompt: str) -> "NDArray[np.float32]":
        found: Any = self._model.encode(
            texts,
            prompt=prompt,
            batch_size=len(texts),
            show_progress_bar=False,
            convert_to_tensor=True,
            normalize_embeddings=False,
        )
        return unit_vectors(found.float().cpu().numpy(), self.dimension)
