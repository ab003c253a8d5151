"""Any sentence-transformers model, offline. Imports torch when it is loaded.

Texts of much the same length go to the model together: little padding, bounded memory.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rag_assets.embedding.bert import unit_vectors
from rag_assets.embedding.embedder import EncodeProgress
from rag_assets.embedding.model_folder import (
    TOKENIZER_FILE,
    FolderFacts,
    cutting_token_ids,
    require_torch,
)
from rag_assets.model import ConfigurationError, usable_processors
from rag_assets.model.settings import ModelSettings

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


def batches_of(
    texts: Sequence[str], sizes: "Callable[[Sequence[str]], list[int]]", batch_tokens: int
) -> Iterator[list[int]]:
    """Yield the places of texts in the batches in which they are encoded; see `token_batches`.

    Args:
        sizes: returns the number of tokens of each text.
    """
    for first in range(0, len(texts), WINDOW_TEXTS):
        for chosen in token_batches(sizes(texts[first : first + WINDOW_TEXTS]), batch_tokens):
            yield [first + index for index in chosen]


def open_model(kind: str, facts: FolderFacts, model: ModelSettings) -> Any:
    """Return a model of sentence-transformers as the settings want it, read from its folder.

    Args:
        kind: the library's class, `SentenceTransformer` or `SparseEncoder`.
    """
    # Before the import: the hub's library reads them once. Models are files here.
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["TRANSFORMERS_OFFLINE"] = "1"
    require_torch(f"embed.models: {model.model}")
    import sentence_transformers
    import torch
    from transformers.utils import logging

    # As many as this process may use: torch itself leaves half of a processor with two threads
    # a core idle.
    torch.set_num_threads(usable_processors())
    here = ["cpu"]
    here += ["cuda"] * torch.cuda.is_available() + ["mps"] * torch.backends.mps.is_available()
    device = here[-1] if model.device == "auto" else model.device
    if device.split(":", 1)[0] not in here:
        raise ConfigurationError(
            f"embed.models: {model.model}: device: torch finds no {model.device!r} here; "
            f"this machine has {', '.join(['auto', *here])}."
        )
    bars: Any = logging  # untyped
    was_shown = bars.is_progress_bar_enabled()
    bars.disable_progress_bar()  # reading the weights would draw one on stderr
    try:
        opened: Any = getattr(sentence_transformers, kind)(
            str(facts.folder), device=device, local_files_only=True
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
        import numpy as np

        def sizes(some: Sequence[str]) -> list[int]:
            return [len(ids) for ids in self._token_ids([prompt + text for text in some])]

        vectors = np.zeros((len(texts), self.dimension), np.float32)
        done = 0
        # The library itself sorts by characters, which fills a fifth of a batch with padding.
        for chosen in batches_of(texts, sizes, self._batch_tokens):
            vectors[chosen] = self._call([texts[index] for index in chosen], prompt)
            done += len(chosen)
            if on_progress:
                on_progress(done, len(texts))
        return vectors

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
