"""The Dagster instance of a workspace, and its definitions."""

import os
from functools import cache
from typing import TYPE_CHECKING

from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    import dagster as dg


def prepare_environment(workspace: Workspace) -> None:
    """Point this process, and those it starts, at the workspace and its Dagster home."""
    os.environ["DAGSTER_HOME"] = str(workspace.dagster_home)
    os.environ["RAG_WORKSPACE"] = str(workspace.root)
    os.environ.setdefault("DAGSTER_DISABLE_TELEMETRY", "yes")


def open_instance(workspace: Workspace) -> "dg.DagsterInstance":
    """Return the workspace's Dagster instance."""
    import dagster as dg

    prepare_environment(workspace)
    return dg.DagsterInstance.get()


@cache
def load_definitions(workspace: Workspace) -> "dg.Definitions":
    """Return the definitions of a workspace: the same that the UI loads."""
    prepare_environment(workspace)
    from rag_assets.definitions import build_definitions

    return build_definitions(workspace)
