"""Asset checks: thin, over statements that live with the capabilities."""

from rag_assets.checks.namespace import build_namespace_checks, judge, record_check, record_stale
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
    "build_namespace_checks",
    "build_workspace_checks",
    "check_answers",
    "check_currency",
    "check_packs",
    "judge",
    "make_first_checks",
    "record_check",
    "record_stale",
]
