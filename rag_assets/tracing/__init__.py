"""From a verdict or an item back to the bytes; SQL over all that is stored; build manifests."""

from typing import TYPE_CHECKING

from rag_assets.lazily import lazy_names
from rag_assets.tracing.chain import (
    Chain,
    Step,
    chain_to_json,
    render_chain,
    render_overview,
    trace,
)
from rag_assets.tracing.health import Health, write_health_report
from rag_assets.tracing.manifests import (
    BuildManifest,
    find_builds,
    write_build_manifest,
)
from rag_assets.tracing.querying import open_sql, run_sql

if TYPE_CHECKING:
    from rag_assets.tracing.knowledge_views import export_knowledge

__all__ = [
    "BuildManifest",
    "Chain",
    "Health",
    "Step",
    "chain_to_json",
    "export_knowledge",
    "find_builds",
    "open_sql",
    "render_chain",
    "render_overview",
    "run_sql",
    "trace",
    "write_build_manifest",
    "write_health_report",
]

# Imported on first use: what it needs costs every trace a moment.
__getattr__ = lazy_names(__name__, {"export_knowledge": "knowledge_views"})
