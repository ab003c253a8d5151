"""From settings to a tokenizer, a fingerprint or a loaded model.

Each kind of model has a module of its own, imported when it is used.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from rag_assets.embedding.bundled_files import E5
from rag_assets.embedding.embedder import Embedder, EmbeddingTokenizer, PassageEncoder, QueryEncoder
from rag_assets.model import ConfigurationError, hash_fields
from rag_assets.model.settings import EmbedSettings, ModelSettings, QuestionSubject

if TYPE_CHECKING:
    from rag_assets.workspace import Namespace

# Models in memory at a time: more than a namespace has.
_LOADED_MODELS = 8


def load_tokenizer(model: ModelSettings) -> EmbeddingTokenizer:
    """Return the tokenizer of the model that the settings name. Imports no torch.

    Raises:
        ConfigurationError: no such model on this machine.
        DamagedFileError: a file of a bundled model was altered.
    """
    found: EmbeddingTokenizer = _kind(model).tokenizer(model)
    return found


def model_fingerprint(model: ModelSettings) -> str:
    """Return the SHA-256 of all that decides a vector: files, prompts, precision, code.

    Imports no torch. Reads the weights of a model in a folder once a process (0.1 s for 90 MB),
    again when they change; those of a bundled model are known by heart.

    Raises:
        ConfigurationError: no such model on this machine.
    """
    found: str = _kind(model).fingerprint(model)
    return found


def model_dimension(model: ModelSettings) -> int:
    """Return the length of the model's vectors, of a sparse encoder its vocabulary's size.

    Imports no torch.

    Raises:
        ConfigurationError: no such model on this machine.
    """
    found: int = _kind(model).dimension(model)
    return found


def load_embedder(model: ModelSettings) -> Embedder:
    """Return the model, loaded once a process and again only when its files changed.

    Raises:
        ConfigurationError: no such model on this machine.
        DamagedFileError: a file of a bundled model was altered.
    """
    return _load(model, model_fingerprint(model))


def load_query_encoder(model: ModelSettings) -> QueryEncoder:
    """Return what makes the vectors of questions, loaded once a process.

    A plain BERT is computed without torch, which saves a command most of its time; every other
    model is loaded as `load_embedder` does. Its files decide which (`is_plain_bert`).

    Raises:
        ConfigurationError: no such model on this machine.
        DamagedFileError: a file of a bundled model was altered.
    """
    return _load_query_encoder(model, model_fingerprint(model))


@lru_cache(maxsize=_LOADED_MODELS)
def _load_query_encoder(model: ModelSettings, fingerprint: str) -> QueryEncoder:
    own = None
    if model.kind in {"bundled", "sentence_transformers"}:
        from rag_assets.embedding import local

        own = local.query_encoder(model)
    return own or _load(model, fingerprint)


@lru_cache(maxsize=_LOADED_MODELS)
def _load(model: ModelSettings, _fingerprint: str) -> Embedder:
    found: Embedder = _kind(model).embedder(model)
    return found


def encode_questions(
    model: ModelSettings, texts: Sequence[str], subject: QuestionSubject | None = None
) -> list[list[float]]:
    """Return the vector of each question by any kind of model.

    Those of a sparse encoder are pairs of a word's place and its weight (`sparse_encoder`).

    Args:
        subject: what the questions are about; only multilingual-e5-small knows any.

    Raises:
        ConfigurationError: no such model on this machine.
    """
    if model.is_sparse:
        from rag_assets.embedding.sparse_encoder import load_sparse_encoder

        return [pairs.tolist() for pairs in load_sparse_encoder(model).encode_queries(texts)]
    if subject is not None and model.kind == "bundled" and model.model == E5:
        from rag_assets.embedding.taught import load_question_encoder

        encoder: QueryEncoder = load_question_encoder(subject)
    else:
        encoder = load_query_encoder(model)
    vectors: list[list[float]] = encoder.encode_queries(texts).tolist()
    return vectors


def _kind(model: ModelSettings) -> Any:
    """Return the module with the functions `tokenizer`, `fingerprint`, … of a kind."""
    match model.kind:
        case "bundled" | "sentence_transformers":
            from rag_assets.embedding import local

            return local
        case "openai_compatible" | "vertex":
            from rag_assets.embedding import remote

            return remote
        case "hashing":
            from rag_assets.embedding import hashing

            return hashing
        case "sparse_encoder":
            from rag_assets.embedding import sparse_encoder

            return sparse_encoder


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """One model of a namespace; its files were looked at, nothing of it is loaded.

    Args:
        fingerprint: `model_fingerprint`: a vector made by another model is never used.
        dimension: length of its vectors; of a sparse encoder its vocabulary's size.
    """

    settings: ModelSettings
    fingerprint: str
    dimension: int

    @property
    def name(self) -> str:
        """What the settings call it; no two models of a namespace share a name."""
        return self.settings.model

    def tokenizer(self) -> EmbeddingTokenizer:
        """Return its tokenizer. Imports no torch."""
        return load_tokenizer(self.settings)

    def embedder(self) -> Embedder:
        """Return the model itself, loaded once a process; it is no sparse encoder."""
        return load_embedder(self.settings)

    def passage_encoder(self) -> PassageEncoder:
        """Return what gives passages their vectors, loaded once a process."""
        if self.settings.is_sparse:
            from rag_assets.embedding.sparse_encoder import load_sparse_encoder

            return load_sparse_encoder(self.settings)
        return self.embedder()


def embedding_models(embed: EmbedSettings) -> tuple[EmbeddingModel, ...]:
    """Return the models of a namespace in the order of its settings.

    Raises:
        ConfigurationError: a model is not on this machine, or two names mean the same model.
    """
    models = tuple(
        EmbeddingModel(model, model_fingerprint(model), model_dimension(model))
        for model in embed.models
    )
    by_fingerprint: dict[str, str] = {}
    for model in models:
        before = by_fingerprint.setdefault(model.fingerprint, model.name)
        if before != model.name:
            raise ConfigurationError(
                f"embed.models: {before!r} and {model.name!r} give the same vectors: their files "
                "and prompts are equal. Remove one of them."
            )
    return models


def sound_models(
    namespaces: "Iterable[Namespace]",
) -> "tuple[list[tuple[Namespace, tuple[str, ...]]], list[str]]":
    """Return namespaces with the fingerprints of their models, and a sentence for each other one:
    its models cannot be used.
    """
    sound: list[tuple[Namespace, tuple[str, ...]]] = []
    troubles: list[str] = []
    for namespace in namespaces:
        try:
            sound.append((namespace, model_fingerprints(namespace.settings.embed)))
        except ConfigurationError as error:
            troubles.append(f"namespace '{namespace.name}': {error}")
    return sound, troubles


def model_fingerprints(embed: EmbedSettings) -> tuple[str, ...]:
    """Return the fingerprints of a namespace's models, in the order of its settings.

    Raises:
        ConfigurationError: as `embedding_models`.
    """
    return tuple(model.fingerprint for model in embedding_models(embed))


# One tokenizer for all models of a namespace: a chunk that it lets pass fits each of them.


# Counts as code: raise it when the same models count a text otherwise.
_JOINT_VERSION = 1


def joint_tokenizer(embed: EmbedSettings) -> EmbeddingTokenizer:
    """Return the tokenizer that chunks are cut by: of the first model, within all models' limits.

    Raises:
        ConfigurationError: a model is not on this machine.
    """
    first, *others = (load_tokenizer(model) for model in embed.models)
    return JointTokenizer(first, others) if others else first


class JointTokenizer:
    """Counts as the first model does, and never lets pass what another one would cut off.

    `limit` is the smallest limit. A text that is too long for one of the other models counts as
    many tokens as that model's own count says, put into proportion, hence more than `limit`; every
    other text counts its tokens of the first model.

    Args:
        first: its tokens are what sizes are given in.
        others: asked only about texts that could be too long for them.
    """

    def __init__(self, first: EmbeddingTokenizer, others: Sequence[EmbeddingTokenizer]) -> None:
        self._first = first
        self._others = tuple(others)
        self.limit: int = min(each.limit for each in (first, *others))
        # Which of the others comes first decides nothing.
        self.fingerprint: str = hash_fields(
            "joint", _JOINT_VERSION, first.fingerprint, sorted(e.fingerprint for e in others)
        )

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text; above `limit` where a model cannot hold it."""
        counts = list(self._first.count(texts))
        most = [_most_tokens(text) for text in texts]
        for other in self._others:
            asked = [index for index, bound in enumerate(most) if bound > other.limit]
            found = other.count([texts[index] for index in asked])
            for index, size in zip(asked, found, strict=True):
                if size > other.limit:
                    scaled = -(-size * self.limit // other.limit)
                    counts[index] = max(counts[index], scaled)
        return counts

    def token_spans(self, text: str) -> Sequence[tuple[int, int]]:
        """Return the code-point span of each token of the first model, in order."""
        return self._first.token_spans(text)

    def unknown_share(self, text: str) -> float:
        """Return the smallest share of unknown tokens: that of the model that reads it best."""
        return min(each.unknown_share(text) for each in (self._first, *self._others))


def _most_tokens(text: str) -> int:
    """Return more tokens than any tokenizer makes of a text, without asking one.

    No token is shorter than a byte of the text as normalised; one more may open each text.
    """
    if text.isascii():
        return len(text) + 1
    raw, spread = (len(t.encode("utf-8", "replace")) for t in (text, _decomposed(text)))
    return max(raw, spread) + 1


def _decomposed(text: str) -> str:
    return unicodedata.normalize("NFKD", text)
