"""Whether the records are those of the present configuration, whatever runs made them."""

from collections.abc import Sequence

from rag_assets.chunking import has_stale_chunks
from rag_assets.editing import has_stale_edits
from rag_assets.embedding import EmbeddingModel, has_stale_vectors, joint_tokenizer
from rag_assets.graph import has_stale_entities
from rag_assets.parsing import has_stale_parses
from rag_assets.storage import Pointer
from rag_assets.workspace import Inventory, Namespace, settings_digest


def is_settled(
    namespace: Namespace,
    inventory: Inventory,
    models: Sequence[EmbeddingModel],
    before: Pointer | None,
) -> bool:
    """Say whether no stage would compute anything: so too where each had a run of its own.

    Args:
        before: the pointer; where it remembers the present configuration the answer is False,
            since there is nothing to add to what it knows.
    """
    if before and before.built_from.get("configuration") == settings_digest(namespace):
        return False
    return not (
        has_stale_parses(namespace, inventory)
        or has_stale_chunks(namespace, inventory, joint_tokenizer(namespace.settings.embed))
        or has_stale_edits(namespace, inventory)
        or has_stale_vectors(namespace, inventory, [model.fingerprint for model in models])
        or (namespace.settings.graph.enabled and has_stale_entities(namespace, inventory))
    )
