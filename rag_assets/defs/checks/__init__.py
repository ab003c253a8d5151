"""Asset checks: thin, over statements that live with the capabilities."""

from rag_assets.defs.checks.namespace import (
    build_namespace_checks,
    judge,
    record_check,
    record_stale,
)
from rag_assets.defs.checks.workspace import (
    WORKSPACE_CHECKS,
    build_workspace_checks,
    refresh_checks,
)
