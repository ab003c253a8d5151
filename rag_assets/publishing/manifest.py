"""What a publication's manifest says: the models that it was made with, and its build id."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from rag_assets.embedding import EmbeddingModel, model_fingerprint
from rag_assets.model import UsageError
from rag_assets.model.settings import ModelSettings


@dataclass(frozen=True, slots=True)
class PublishedModel:
    """A model of a publication.

    Args:
        settings: what `load_query_encoder` and its like take.
        name: what the settings call it; unique in the publication.
        fingerprint: of the model that made the vectors, and that `settings` name now.
        dimension: length of its vectors; of a sparse encoder its vocabulary's size.
        column: of the search table that holds them.
        is_empty: it has looked at none of the chunks yet.
    """

    settings: ModelSettings
    name: str
    fingerprint: str
    dimension: int
    column: str
    is_empty: bool = False

    @property
    def is_sparse(self) -> bool:
        """Whether its vectors are weights of words."""
        return self.settings.is_sparse


def describe_embedders(
    models: Sequence[EmbeddingModel], encoded: Mapping[str, int]
) -> list[dict[str, Any]]:
    """Return what a manifest keeps of its models, in their order; `published_models` reads it.

    Args:
        encoded: by fingerprint, how many chunks a model has looked at.
    """
    from rag_assets.publishing.schemas import vector_columns

    columns = vector_columns([model.settings.is_sparse for model in models])
    return [
        {
            "kind": model.settings.kind,
            "model": model.name,
            "fingerprint": model.fingerprint,
            "dimension": model.dimension,
            "column": column,
            "encoded": encoded.get(model.fingerprint, 0),
            "settings": model.settings.model_dump(mode="json", exclude_defaults=True),
        }
        for column, model in zip(columns, models, strict=True)
    ]


def published_models(manifest: Mapping[str, Any]) -> tuple[PublishedModel, ...]:
    """Return the models that a publication's manifest records, in their order.

    Raises:
        UsageError: a model of that name is another one now; vectors would not compare. Or the
            publication was made before it could have several models.
    """
    mend = f"Run `rag ingest --namespace {manifest['namespace']}`"
    told = f"publication {manifest['publication']} of '{manifest['namespace']}'"
    if "embedders" not in manifest:
        raise UsageError(f"{told} was made by an older version of rag-assets. {mend}.")
    models = []
    for recorded in manifest["embedders"]:
        settings = ModelSettings.model_validate(recorded["settings"])
        if model_fingerprint(settings) != recorded["fingerprint"]:
            raise UsageError(
                f"{told} was made with another version of the model '{recorded['model']}'. "
                f"{mend}: its vectors are then made with the present one."
            )
        models.append(
            PublishedModel(
                settings,
                recorded["model"],
                recorded["fingerprint"],
                recorded["dimension"],
                recorded["column"],
                is_empty=recorded.get("encoded") == 0 < manifest["counts"]["chunks"],
            )
        )
    return tuple(models)


def vectors_to_come(manifest: Mapping[str, Any]) -> str | None:
    """Return a sentence where passages of a publication still lack vectors, None where none do."""
    total = manifest["counts"]["chunks"]
    lacking = [m for m in manifest["embedders"] if m.get("encoded", total) < total]
    if not lacking:
        return None
    shares = ", ".join(f"{m['model']} {m['encoded']}" for m in lacking)
    return (
        f"namespace '{manifest['namespace']}': vectors are still to come; of {total} passages have "
        f"them so far: {shares}. The others are found by their words. They come with the run that "
        f"is under way, else by `rag ingest --namespace {manifest['namespace']}`"
    )


def build_id_of(manifest: Mapping[str, Any]) -> str:
    """Return the build id of a publication: `<created>-<publication>-<tool version>`.

    Args:
        manifest: of the publication; its name is the digest of inputs and configuration.
    """
    created = datetime.fromtimestamp(manifest["created_at"], UTC).strftime("%Y%m%dT%H%M%SZ")
    return f"{created}-{manifest['publication']}-{manifest['tool_version']}"
