"""The tokenizer of a model on disk, read by the `tokenizers` library: no torch."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from rag_assets.embedding.model_folder import FolderFacts, hash_file, read_json
from rag_assets.model import ConfigurationError, hash_fields

TOKENIZER_FILE = "tokenizer.json"
_MODEL_TOKENIZER_VERSION = 1


class ModelTokenizer:
    """Counts as the model itself does, without its truncation, padding and special tokens.

    Args:
        prompt: what stands before every passage.
        max_tokens: what the model takes, prompt and special tokens included.
    """

    def __init__(self, folder: Path, file_hash: str, prompt: str, max_tokens: int) -> None:
        self._tokenizer = _read_file(folder / TOKENIZER_FILE, file_hash)
        taken = self._tokenizer.num_special_tokens_to_add(False)
        taken += self.count([prompt])[0] if prompt else 0
        self.limit: int = room_for_text(str(folder), max_tokens, taken)
        self._unknown = self._tokenizer.token_to_id(_unknown_token(folder) or "")
        own = [(TOKENIZER_FILE, file_hash)]
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


def room_for_text(model: str, max_tokens: int, taken: int) -> int:
    """Return the tokens of content that fit beside `taken` tokens of prompt and frame.

    Raises:
        ConfigurationError: none fits.
    """
    if max_tokens - taken < 1:
        raise ConfigurationError(
            f"embed.models: {model}: its prompt and special tokens take {taken} of the "
            f"{max_tokens} tokens that a text may have, so that no text fits. Shorten "
            "`passage_prompt` or raise `max_tokens`."
        )
    return max_tokens - taken


TokenIds = Callable[[Sequence[str]], list[list[int]]]


def cutting_token_ids(path: Path, max_tokens: int) -> TokenIds:
    """Return what makes of texts the ids that a model reads, special tokens included.

    Args:
        path: of the model's tokenizer.
        max_tokens: of a text at most; a longer one is cut off as the model does.
    """
    whole = _read_file(path, hash_file(path))

    def token_ids(texts: Sequence[str]) -> list[list[int]]:
        found = [encoding.ids for encoding in whole.encode_batch_fast(list(texts))]
        if any(len(ids) > max_tokens for ids in found):
            cutting = _read_cutting(path, max_tokens)
            found = [encoding.ids for encoding in cutting.encode_batch_fast(list(texts))]
        return found

    return token_ids


@lru_cache(maxsize=8)
def _read_file(path: Path, _file_hash: str) -> Any:
    """Return a `tokenizers.Tokenizer` that neither cuts nor pads; reading one takes time."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    # The file may carry what the last trainer used: MiniLM's cuts at 128 and pads to 128.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


@lru_cache(maxsize=8)
def _read_cutting(path: Path, max_tokens: int) -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    return tokenizer


@lru_cache(maxsize=8)
def _read_tokenizer(folder: Path, file_hash: str, prompt: str, max_tokens: int) -> ModelTokenizer:
    return ModelTokenizer(folder, file_hash, prompt, max_tokens)


def read_model_tokenizer(facts: FolderFacts) -> ModelTokenizer:
    """Return the model's tokenizer; read again only when its file or the settings changed."""
    file_hash = hash_file(facts.folder / TOKENIZER_FILE)
    return _read_tokenizer(facts.folder, file_hash, facts.prompts.passage, facts.max_tokens)
