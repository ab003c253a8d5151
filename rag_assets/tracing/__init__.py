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
from rag_assets.tracing.manifests import BuildManifest, write_build_manifest
from rag_assets.tracing.querying import open_sql, read_named_rows, run_sql

if TYPE_CHECKING:
    from rag_assets.tracing.health import Health, write_health_report
    from rag_assets.tracing.knowledge_views import export_knowledge


# Imported on first use: what they need costs every trace and every build a moment.
__getattr__ = lazy_names(
    __name__,
    {"Health": "health", "export_knowledge": "knowledge_views", "write_health_report": "health"},
)
