"""What a namespace may be called."""

import re
from pathlib import Path

from rag_assets.model import ConfigurationError

NAMESPACE_PATTERN = r"[a-z][a-z0-9_]{0,39}"
# Names that Dagster, Lance or our own workspace assets use.
RESERVED_NAMES = frozenset(
    {
        "workspace",
        "evidence_packs",
        "agent_answers",
        "citation_audits",
        "claim_audits",
        "evaluation_sets",
        "retrieval_evaluations",
        "parse_quality_report",
        "instruction_briefs",
        "law_curation",
        "lab",
        "default",
        "temp",
    }
)


def check_namespace_name(name: str, where: Path) -> None:
    """Refuse a name that Dagster, Lance or DuckDB could not use.

    Raises:
        ConfigurationError: names the rule.
    """
    if not re.fullmatch(NAMESPACE_PATTERN, name) or name in RESERVED_NAMES:
        raise ConfigurationError(
            f"{where}: '{name}' cannot be a namespace: lower-case letters, digits and _ only, "
            f"a letter first, at most 40, and none of {', '.join(sorted(RESERVED_NAMES))}."
        )
