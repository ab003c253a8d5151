"""Cross-encoders of sentence-transformers: a folder, or a name of the hub that is on this machine.

Imports torch when a model is loaded. Nothing is downloaded.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rag_assets.embedding import UNREADABLE_SHARE
from rag_assets.embedding.model_folder import hash_model_files
from rag_assets.model import ConfigurationError, UsageError, hash_fields
from rag_assets.retrieval.reranking.contract import Reranker
from rag_assets.settings import RerankSettings

# Counts as code: raise it when the same files give other scores.
_SCORING_VERSION = 1
# Pairs of one pass; `rerank.params.batch` says another. What sentence-transformers takes.
_BATCH_PAIRS = 32


class SentenceReranker:
    """A `CrossEncoder`; its scores are what its own activation makes of the logits."""

    def __init__(self, name: str, folder: Path, fingerprint: str, batch: int) -> None:
        from sentence_transformers import CrossEncoder

        self._model: Any = CrossEncoder(str(folder), local_files_only=True)
        self._batch = batch
        self.name = name
        self.fingerprint = fingerprint

    def can_read(self, text: str) -> bool:
        """Return whether at most a fifth of the tokens are unknown to the model."""
        tokenizer = self._model.tokenizer
        if tokenizer.unk_token_id is None:  # reads bytes
            return True
        ids: list[int] = tokenizer.encode(text, add_special_tokens=False, verbose=False)
        return ids.count(tokenizer.unk_token_id) <= UNREADABLE_SHARE * len(ids)

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """Return one score a passage, what its activation function gives."""
        if not passages:
            return []
        scores = self._model.predict(
            [(query, passage) for passage in passages],
            batch_size=self._batch,
            show_progress_bar=False,
        )
        return [float(score) for score in scores]


def reranker(settings: RerankSettings) -> Reranker:
    """Return the cross-encoder that `settings.model` names by folder or hub name.

    Raises:
        ConfigurationError: no such model on this machine.
        UsageError: `params` holds something else than `batch` and `weight`.
    """
    strange = sorted(settings.params.keys() - {"batch", "weight"})
    batch = settings.params.get("batch", _BATCH_PAIRS)
    if strange or isinstance(batch, bool) or not isinstance(batch, int) or batch < 1:
        raise UsageError(
            "'retrieve.rerank.params' of a cross_encoder may hold `batch`, a whole number from 1, "
            f"and `weight`, got {dict(settings.params)!r}."
        )
    folder = _folder(settings.model)
    files = hash_model_files(folder)
    fingerprint = hash_fields("cross-encoder", _SCORING_VERSION, files)
    return SentenceReranker(settings.model, folder, fingerprint, batch)


def _folder(model: str) -> Path:
    path = Path(model).expanduser()
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise ConfigurationError(
                f"retrieve.rerank.model: {path} holds no config.json, so no cross-encoder."
            )
        return path
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(model, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError) as error:
        raise ConfigurationError(
            f"retrieve.rerank.model: {model!r} is neither a folder nor a model of the hub that is "
            "on this machine. Models are never downloaded here: run `hf download "
            f"{model}` where there is a network, or name a folder."
        ) from error
