"""The tokenizer of a model on disk, read by the `tokenizers` library: no torch."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from rag_assets.embedding.model_folder import (
    hash_model_files,
    read_json,
    read_prompts,
    sequence_limit,
)
from rag_assets.model import ConfigurationError, hash_fields

_MODEL_TOKENIZER_VERSION = 1


class ModelTokenizer:
    """Counts as the model itself does, without its truncation, padding and special tokens."""

    def __init__(self, folder: Path, files: Sequence[tuple[str, str]]) -> None:
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        # The file may carry what the last trainer used: MiniLM's cuts at 128 and pads to 128.
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        prompt = read_prompts(folder)["passage"]
        taken = self._tokenizer.num_special_tokens_to_add(False)
        taken += self.count([prompt])[0] if prompt else 0
        self.limit: int = sequence_limit(folder) - taken
        if self.limit < 1:
            raise ConfigurationError(f"{folder}: the model's prompt leaves no room for a text.")
        self._unknown = self._tokenizer.token_to_id(_unknown_token(folder) or "")
        own = [pair for pair in files if pair[0] == "tokenizer.json"]
        self.fingerprint: str = hash_fields(_MODEL_TOKENIZER_VERSION, own, self.limit)

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, without special tokens, never truncated."""
        encodings = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [len(encoding) for encoding in encodings]

    def token_spans(self, text: str) -> Sequence[tuple[int, int]]:
        """Return the code-point span of each token of `text`, in order."""
        spans: list[tuple[int, int]] = self._tokenizer.encode(
            text, add_special_tokens=False
        ).offsets
        return spans

    def unknown_share(self, text: str) -> float:
        """Return the share of the tokens of `text` that are the unknown token, 0.0 of none."""
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        if not ids or self._unknown is None:
            return 0.0
        return ids.count(self._unknown) / len(ids)


def _unknown_token(folder: Path) -> str | None:
    """Return the unknown token; models that read bytes have none."""
    for name in ("tokenizer_config.json", "special_tokens_map.json"):
        said: Any = read_json(folder, name).get("unk_token")
        if isinstance(said, dict):
            said = said.get("content")
        if isinstance(said, str):
            return said
    return None


@lru_cache(maxsize=4)
def _read_tokenizer(folder: Path, files: tuple[tuple[str, str], ...]) -> ModelTokenizer:
    return ModelTokenizer(folder, files)


def read_model_tokenizer(folder: Path) -> ModelTokenizer:
    """Return the tokenizer in `folder`; read again only when the model's files changed."""
    return _read_tokenizer(folder, tuple(hash_model_files(folder)))
