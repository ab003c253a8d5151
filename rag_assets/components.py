"""A workspace, or one namespace of it, as components of your own Dagster project.

`dg scaffold defs rag_assets.RagNamespace thesis --workspace library --namespace thesis` writes
`defs/thesis/defs.yaml`::

    type: rag_assets.RagNamespace
    attributes:
      workspace: ../../../library
      namespace: thesis

`dg list components` lists both types, because `pyproject.toml` registers `rag_assets`.
"""

import os
from pathlib import Path
from typing import Annotated, Self

import dagster as dg
from pydantic import BaseModel, Field, model_validator

from rag_assets.definitions import (
    RESOURCES,
    build_namespace_definitions,
    build_workspace_definitions,
)
from rag_assets.model import ConfigurationError, RagError
from rag_assets.workspace import Namespace, Workspace


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
BindsExecutor = Annotated[
    bool,
    dg.Resolver.default(
        description="Whether the project's runs use Dagster's `in_process_executor`; false where "
        "the project sets another. With one process for each step, a run in which nothing changed "
        "takes seven times as long: each process imports everything again.",
    ),
]


class WorkspaceParams(BaseModel):
    """Options of `dg scaffold defs rag_assets.RagWorkspace`: refused before a file is written."""

    workspace: str = Field(description="Folder of the workspace, as `rag init` makes it.")

    @model_validator(mode="after")
    def _can_be_loaded(self) -> Self:
        """Raise ValueError, which `dg` prints, where the component could not be loaded."""
        try:
            self._look(Workspace.open(self.path.resolve()))
        except RagError as error:
            raise ValueError(str(error)) from error
        return self

    def _look(self, workspace: Workspace) -> None:
        """Raise RagError where the workspace lacks what is named."""

    @property
    def path(self) -> Path:
        """The folder as it was given."""
        return Path(self.workspace).expanduser()


class NamespaceParams(WorkspaceParams):
    """Options of `dg scaffold defs rag_assets.RagNamespace`."""

    namespace: str = Field(description="Name of the namespace, as in `rag status`.")

    def _look(self, workspace: Workspace) -> None:
        _namespace(workspace, self.namespace, self.path)


class WorkspaceScaffolder(dg.Scaffolder[WorkspaceParams]):
    """Writes defs.yaml; a relative path becomes one from that file."""

    @classmethod
    def get_scaffold_params(cls) -> type[WorkspaceParams]:
        """Return what has to be given."""
        return WorkspaceParams

    def scaffold(self, request: dg.ScaffoldRequest[WorkspaceParams]) -> None:
        """Write the file."""
        path = request.params.path
        if not path.is_absolute():
            path = Path(os.path.relpath(path, request.target_path))
        attributes = {**request.params.model_dump(), "workspace": path.as_posix()}
        dg.scaffold_component(request, attributes)


class NamespaceScaffolder(WorkspaceScaffolder):
    """Also takes the name of a namespace."""

    @classmethod
    def get_scaffold_params(cls) -> type[WorkspaceParams]:
        """Return what has to be given."""
        return NamespaceParams


def _namespace(workspace: Workspace, name: str, place: object) -> Namespace:
    """Return a namespace; `place` is the file or folder that an error begins with."""
    if name not in workspace.namespace_names:
        known = ", ".join(workspace.namespace_names) or "none"
        raise ConfigurationError(
            f"{place}: {workspace.root} has no namespace '{name}' (declared: {known}). Correct "
            f"'namespace', or run `rag namespace add {name}` there."
        )
    return workspace.namespace(name)


class _Library(dg.Component, dg.Model, dg.Resolvable):
    workspace: WorkspacePath
    binds_engine: BindsEngine = True
    binds_executor: BindsExecutor = True

    def _bound(self, built: dg.Definitions) -> dg.Definitions:
        """Return definitions with the executor that they need."""
        executor = dg.in_process_executor if self.binds_executor else None
        return dg.Definitions.merge(built, dg.Definitions(executor=executor))


@dg.scaffold_with(NamespaceScaffolder)
class RagNamespace(_Library):
    """One namespace of a rag-assets workspace: from raw files to a publication."""

    namespace: str

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:
        """Return the namespace's assets, checks, sensors and job.

        Raises:
            WorkspaceError: there is no workspace.
            ConfigurationError: it has no such namespace, or its file cannot be read.
        """
        namespace = _namespace(Workspace.open(self.workspace), self.namespace, context.path)
        resources = RESOURCES if self.binds_engine else {}
        return self._bound(build_namespace_definitions(namespace, resources=resources))


@dg.scaffold_with(WorkspaceScaffolder)
class RagWorkspace(_Library):
    """A whole rag-assets workspace: its namespaces, evidence packs, audits and evaluations."""

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:  # noqa: ARG002
        """Return everything that `rag ui` shows of the workspace.

        Raises:
            WorkspaceError: there is no workspace.
        """
        resources = RESOURCES if self.binds_engine else {}
        return self._bound(build_workspace_definitions(Workspace.open(self.workspace), resources))
