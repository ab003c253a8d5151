"""Tokens of a model whose own tokenizer may not be at hand."""

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from rag_assets.embedding.embedder import EmbeddingTokenizer
from rag_assets.embedding.words import WordTokenizer
from rag_assets.model import ConfigurationError, hash_fields
from rag_assets.settings import ModelSettings

_VERSION = 1
# Byte-pair and unigram vocabularies of some 100,000 entries cut English prose into about 1.3
# tokens a word and Chinese into 0.7 to 1.3 a character; with 1.5 a text that is taken to fit does.
_TOKENS_PER_WORD = 1.5
# The model adds at most so many of its own, such as [CLS] and [SEP].
_SPECIAL_TOKENS = 2


class LimitedTokenizer:
    """Another tokenizer's counts, with the limit of the remote model."""

    def __init__(self, counting: EmbeddingTokenizer, limit: int) -> None:
        self._counting = counting
        self.limit = limit
        self.fingerprint = hash_fields("remote", _VERSION, counting.fingerprint, limit)

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, without special tokens."""
        return self._counting.count(texts)

    def token_spans(self, text: str) -> Sequence[tuple[int, int]]:
        """Return the code-point span of each token of `text`, in order."""
        return self._counting.token_spans(text)

    def unknown_share(self, text: str) -> float:
        """Return the share of unknown tokens; 0.0 where words are counted instead of tokens."""
        return self._counting.unknown_share(text)


class FileTokenizer:
    """A `tokenizer.json`, without truncation and padding. No limit of its own."""

    limit = WordTokenizer.limit

    def __init__(self, path: Path, file_hash: str) -> None:
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(path))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._unknown = _unknown_id(self._tokenizer)
        self.fingerprint = hash_fields("tokenizer.json", _VERSION, file_hash)

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, without special tokens."""
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
        return ids.count(self._unknown) / len(ids) if ids and self._unknown is not None else 0.0


def _unknown_id(tokenizer: Any) -> int | None:
    """Return the id of the unknown token; tokenizers that read bytes have none."""
    token = getattr(tokenizer.model, "unk_token", None)
    if token is None:
        return getattr(tokenizer.model, "unk_id", None)
    found: int | None = tokenizer.token_to_id(token)
    return found


def remote_tokenizer(model: ModelSettings, default_tokens: int) -> EmbeddingTokenizer:
    """Return what counts tokens for a remote model, on this machine.

    `tokenizer` in its settings may name a tokenizer.json, a folder that holds one, or a bundled
    model; without it words and CJK characters stand for tokens, and the limit is cut by a third.

    Args:
        default_tokens: what the model takes where `max_tokens` does not say.

    Raises:
        ConfigurationError: there is no such tokenizer, or the prompt leaves no room.
    """
    tokens = model.max_tokens or default_tokens
    if model.tokenizer is None:
        counting: EmbeddingTokenizer = WordTokenizer()
        room = int(tokens / _TOKENS_PER_WORD)
    else:
        counting = _named_tokenizer(model.tokenizer)
        room = tokens - _SPECIAL_TOKENS
    limit = room - counting.count([model.passage_prompt or ""])[0]
    if limit < 1:
        raise ConfigurationError(
            f"embed.models: {model.model}: the passage_prompt leaves no room for a text within "
            f"{tokens} tokens. Shorten it, or set max_tokens to what the model takes."
        )
    return LimitedTokenizer(counting, limit)


def _named_tokenizer(name: str) -> EmbeddingTokenizer:
    path = Path(name).expanduser()
    if path.is_dir():
        path /= "tokenizer.json"
    if path.is_file():
        stat = path.stat()
        return _read_file(path, stat.st_size, stat.st_mtime_ns)
    from rag_assets.embedding.loading import load_tokenizer

    try:
        return load_tokenizer(ModelSettings(kind="bundled", model=name))
    except ConfigurationError as error:
        raise ConfigurationError(
            f"embed.models: tokenizer {name!r} is neither a tokenizer.json, nor a folder that "
            f"holds one, nor a bundled model ({error}) Leave it out to count words."
        ) from error


@lru_cache(maxsize=4)
def _read_file(path: Path, _size: int, _changed: int) -> FileTokenizer:
    with path.open("rb") as file:
        return FileTokenizer(path, hashlib.file_digest(file, "sha256").hexdigest())
