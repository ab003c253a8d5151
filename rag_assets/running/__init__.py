"""Run the definitions on the workspace's instance, from a command or from Python."""

from rag_assets.running.instance import load_definitions, open_instance, prepare_environment
from rag_assets.running.materialize import (
    STAGES,
    CheckOutcome,
    RunOutcome,
    materialize_partition,
    materialize_stages,
)

__all__ = [
    "STAGES",
    "CheckOutcome",
    "RunOutcome",
    "load_definitions",
    "materialize_partition",
    "materialize_stages",
    "open_instance",
    "prepare_environment",
]
