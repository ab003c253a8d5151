"""One module a stage. An asset gathers inputs, calls one function, reports."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rag_assets.assets.audits import DRAFTS, build_audit_assets, metadata_of_audit
from rag_assets.assets.chunks import build_chunks_asset
from rag_assets.assets.embeddings import build_embeddings_asset
from rag_assets.assets.evaluation_sets import EVALUATION_SETS, build_evaluation_sets_asset
from rag_assets.assets.evidence_packs import (
    QUESTIONS,
    build_evidence_packs_asset,
    record_noted_packs,
)
from rag_assets.assets.first_index import build_first_index_asset
from rag_assets.assets.inventory import build_inventory_asset
from rag_assets.assets.options import (
    REASON_TAG,
    REHASH_TAG,
    RETRY_TAG,
    STATE_TAG,
    progress_reporter,
)
from rag_assets.assets.parents import build_parents_asset
from rag_assets.assets.parse_reports import build_parse_reports_asset
from rag_assets.assets.raw_files import build_raw_files_asset
from rag_assets.assets.retrieval_evaluations import build_retrieval_evaluations_asset
from rag_assets.assets.search_index import build_search_index_asset

if TYPE_CHECKING:
    import dagster as dg

    from rag_assets.workspace import Namespace

_BUILDERS = (
    build_inventory_asset,
    build_raw_files_asset,
    build_parse_reports_asset,
    build_parents_asset,
    build_chunks_asset,
    build_first_index_asset,
    build_embeddings_asset,
    build_search_index_asset,
)


def build_namespace_assets(namespace: "Namespace") -> "Sequence[dg.AssetsDefinition]":
    """Return the assets of one namespace in the order in which data flows."""
    return [build(namespace) for build in _BUILDERS]


__all__ = [
    "DRAFTS",
    "EVALUATION_SETS",
    "QUESTIONS",
    "REASON_TAG",
    "REHASH_TAG",
    "RETRY_TAG",
    "STATE_TAG",
    "build_audit_assets",
    "build_evaluation_sets_asset",
    "build_evidence_packs_asset",
    "build_namespace_assets",
    "build_retrieval_evaluations_asset",
    "metadata_of_audit",
    "progress_reporter",
    "record_noted_packs",
]
