"""What passages name, and what stands together in a sentence: by rules, without a model."""

from typing import TYPE_CHECKING

from rag_assets.lazily import lazy_names

if TYPE_CHECKING:
    from rag_assets.publishing.graph.finding import (
        ENTITY_RULES,
        LEAST_IN_ANY_CASE,
        EntityRule,
        Mention,
        entity_rules,
        find_mentions,
        normalise,
    )
    from rag_assets.publishing.graph.stage import (
        ENTITIES_VERSION,
        has_stale_entities,
        mentions_schema,
        refresh_entities,
    )


# Imported on first use: who needs only the others must not wait for these.
__getattr__ = lazy_names(
    __name__,
    {
        "ENTITIES_VERSION": "stage",
        "ENTITY_RULES": "finding",
        "EntityRule": "finding",
        "LEAST_IN_ANY_CASE": "finding",
        "Mention": "finding",
        "entity_rules": "finding",
        "find_mentions": "finding",
        "has_stale_entities": "stage",
        "mentions_schema": "stage",
        "normalise": "finding",
        "refresh_entities": "stage",
    },
)
