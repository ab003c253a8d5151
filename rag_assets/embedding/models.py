"""The models of a namespace, as the stages and the publication need them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_assets.embedding.embedder import Embedder, EmbeddingTokenizer, PassageEncoder
from rag_assets.embedding.loading import (
    load_embedder,
    load_tokenizer,
    model_dimension,
    model_fingerprint,
)
from rag_assets.model import ConfigurationError
from rag_assets.settings import EmbedSettings, ModelSettings

if TYPE_CHECKING:
    from rag_assets.workspace import Namespace


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
