"""Asset checks: thin, over statements that live with the capabilities."""

from rag_assets.checks.namespace import build_namespace_checks
from rag_assets.checks.workspace import build_workspace_checks

__all__ = ["build_namespace_checks", "build_workspace_checks"]
