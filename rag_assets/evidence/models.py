"""The model that a publication was made with: the only one its vectors can be searched with."""

from collections.abc import Mapping
from typing import Any

from rag_assets.embedding import model_fingerprint
from rag_assets.model import UsageError
from rag_assets.workspace.settings import EmbedSettings


def publication_model(manifest: Mapping[str, Any]) -> EmbedSettings:
    """Return the embedding settings that a publication's manifest records.

    Raises:
        UsageError: the model of that name is another one now; vectors would not compare.
    """
    recorded = manifest["embedder"]
    model = EmbedSettings(kind=recorded["kind"], model=recorded["model"], batch_size=32)
    if model_fingerprint(model) != recorded["fingerprint"]:
        raise UsageError(
            f"publication {manifest['publication']} of '{manifest['namespace']}' was made "
            f"with another version of the model '{recorded['model']}'. Run `rag ingest --namespace "
            f"{manifest['namespace']}`: its vectors are then made with the present one."
        )
    return model
