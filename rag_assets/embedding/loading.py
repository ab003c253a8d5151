"""From settings to a tokenizer, a fingerprint or a loaded model."""

from functools import lru_cache

from rag_assets.embedding.embedder import Embedder, EmbeddingTokenizer, QueryEncoder
from rag_assets.embedding.hashing import HASHING_DIMENSION, HashingEmbedder
from rag_assets.embedding.model_folder import (
    hash_model_files,
    model_folder,
    read_prompts,
    vector_dimension,
)
from rag_assets.embedding.model_tokenizer import read_model_tokenizer
from rag_assets.embedding.words import WordTokenizer
from rag_assets.model import hash_fields
from rag_assets.workspace.settings import EmbedSettings

# Counts as code: raise it when the same model files give other vectors for the same string.
_ENCODING_VERSION = 1
_DTYPE = "float32"


def load_tokenizer(settings: EmbedSettings) -> EmbeddingTokenizer:
    """Return the tokenizer of the model that `settings` names. Imports no torch.

    Raises:
        ConfigurationError: no such model on this machine.
    """
    if settings.kind == "hashing":
        return WordTokenizer()
    return read_model_tokenizer(model_folder(settings))


def model_fingerprint(settings: EmbedSettings) -> str:
    """Return the SHA-256 of all that decides a vector: files, prompts, precision, code.

    Imports no torch. Reads the weights once a process (0.1 s for 90 MB), again when they change.

    Raises:
        ConfigurationError: no such model on this machine.
    """
    if settings.kind == "hashing":
        return HashingEmbedder.fingerprint
    folder = model_folder(settings)
    prompts = read_prompts(folder)
    files = hash_model_files(folder)
    return hash_fields(settings.kind, _ENCODING_VERSION, files, prompts, _DTYPE, "normalised")


def model_dimension(settings: EmbedSettings) -> int:
    """Return the length of the model's vectors, read from its files. Imports no torch.

    Raises:
        ConfigurationError: no such model on this machine.
    """
    if settings.kind == "hashing":
        return HASHING_DIMENSION
    return vector_dimension(model_folder(settings))


def load_embedder(settings: EmbedSettings) -> Embedder:
    """Return the model, loaded once a process and again only when its files changed.

    Raises:
        ConfigurationError: no such model on this machine.
    """
    return _load(settings, model_fingerprint(settings))


def load_query_encoder(settings: EmbedSettings) -> QueryEncoder:
    """Return what makes the vectors of questions, loaded once a process.

    A plain BERT is computed without torch, which saves a command most of its time; every other
    model is loaded as `load_embedder` does. Its files decide which (`is_plain_bert`).

    Raises:
        ConfigurationError: no such model on this machine.
    """
    fingerprint = model_fingerprint(settings)
    if settings.kind == "hashing":
        return _load(settings, fingerprint)
    return _load_query_encoder(settings, fingerprint)


@lru_cache(maxsize=2)
def _load_query_encoder(settings: EmbedSettings, fingerprint: str) -> QueryEncoder:
    from rag_assets.embedding.bert_model import BertQueryEncoder, is_plain_bert

    folder = model_folder(settings)
    if is_plain_bert(folder):
        return BertQueryEncoder(settings.model, folder, fingerprint)
    return _load(settings, fingerprint)


@lru_cache(maxsize=2)
def _load(settings: EmbedSettings, fingerprint: str) -> Embedder:
    if settings.kind == "hashing":
        return HashingEmbedder()
    from rag_assets.embedding.sentence_model import SentenceEmbedder

    return SentenceEmbedder(
        settings.model, model_folder(settings), fingerprint, settings.batch_size
    )
