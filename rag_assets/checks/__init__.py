"""Asset checks: thin, over statements that live with the capabilities."""

from rag_assets.checks.lab import build_lab_checks, check_feedback, check_runs
from rag_assets.checks.namespace import build_namespace_checks, record_stale
from rag_assets.checks.workspace import (
    build_evaluation_checks,
    build_workspace_checks,
    check_answers,
    check_currency,
    check_packs,
    make_first_checks,
)

__all__ = [
    "build_evaluation_checks",
    "build_lab_checks",
    "build_namespace_checks",
    "build_workspace_checks",
    "check_answers",
    "check_currency",
    "check_feedback",
    "check_packs",
    "check_runs",
    "make_first_checks",
    "record_stale",
]
