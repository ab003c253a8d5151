"""A workspace, or one namespace of it, as components of somebody's own Dagster project.

`defs/thesis/defs.yaml` of that project::

    type: rag_assets.components.RagNamespace
    attributes:
      workspace: ../../../library
      namespace: thesis

`dg list components` names both types, since `pyproject.toml` registers this module.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import dagster as dg

from rag_assets.definitions import (
    RESOURCES,
    build_namespace_definitions,
    build_workspace_definitions,
)
from rag_assets.model import ConfigurationError
from rag_assets.workspace import Workspace


def _place(context: dg.ResolutionContext, written: str) -> Path:
    """Return a path as the YAML file means it: relative to its own folder."""
    return context.resolve_source_relative_path(written)


WorkspacePath = Annotated[
    Path,
    dg.Resolver(
        _place,
        model_field_type=str,
        description="Folder of the workspace, as `rag init` makes it; relative to this file.",
        examples=["../../../library"],
    ),
]


BindsEngine = Annotated[
    bool,
    dg.Resolver.default(
        description="Whether the resource `engine` is the one of rag-assets; false where the "
        "project binds its own, an `EngineResource` of rag_assets.defs.assets.",
    ),
]


def _resources(binds_engine: bool) -> Mapping[str, object]:
    return RESOURCES if binds_engine else {}


class RagNamespace(dg.Component, dg.Model, dg.Resolvable):
    """One namespace of a rag-assets workspace: from raw files to a publication."""

    workspace: WorkspacePath
    namespace: str
    binds_engine: BindsEngine = True

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:
        """Return the namespace's assets, checks, sensors and job.

        Raises:
            WorkspaceError: there is no workspace.
            ConfigurationError: it has no such namespace, or its file cannot be read.
        """
        workspace = Workspace.open(self.workspace)
        if self.namespace not in workspace.namespace_names:
            known = ", ".join(workspace.namespace_names) or "none"
            raise ConfigurationError(
                f"{context.path}: {workspace.root} has no namespace '{self.namespace}' (declared: "
                f"{known}). Correct 'namespace', or run `rag namespace add {self.namespace}` there."
            )
        return build_namespace_definitions(
            workspace.namespace(self.namespace), resources=_resources(self.binds_engine)
        )


class RagWorkspace(dg.Component, dg.Model, dg.Resolvable):
    """A whole rag-assets workspace: its namespaces, evidence packs, audits and evaluations."""

    workspace: WorkspacePath
    binds_engine: BindsEngine = True

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:  # noqa: ARG002
        """Return everything that `rag ui` shows of the workspace.

        Raises:
            WorkspaceError: there is no workspace.
        """
        return build_workspace_definitions(
            Workspace.open(self.workspace), _resources(self.binds_engine)
        )
