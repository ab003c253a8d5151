"""What passages name, and what stands together in a sentence: by rules, without a model."""

from typing import TYPE_CHECKING

from rag_assets.lazily import lazy_names

if TYPE_CHECKING:
    from rag_assets.graph.finding import Mention, find_mentions, normalise
    from rag_assets.graph.rules import ENTITY_RULES, EntityRule
    from rag_assets.graph.stage import (
        ENTITIES_VERSION,
        has_stale_entities,
        mentions_schema,
        refresh_entities,
    )

__all__ = [
    "ENTITIES_VERSION",
    "ENTITY_RULES",
    "EntityRule",
    "Mention",
    "find_mentions",
    "has_stale_entities",
    "mentions_schema",
    "normalise",
    "refresh_entities",
]

# Imported on first use: who needs only the others must not wait for these.
__getattr__ = lazy_names(
    __name__,
    {
        "ENTITIES_VERSION": "stage",
        "ENTITY_RULES": "rules",
        "EntityRule": "rules",
        "Mention": "finding",
        "find_mentions": "finding",
        "has_stale_entities": "stage",
        "mentions_schema": "stage",
        "normalise": "finding",
        "refresh_entities": "stage",
    },
)
