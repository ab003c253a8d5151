"""From a namespace's name and a configuration to the namespace in its workspace."""

from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any

import yaml

from rag_assets.embedding import embedding_models
from rag_assets.knowledge.adding import add_file
from rag_assets.knowledge.config import BaseConfig, KnowledgeConfig, refuse_other_build
from rag_assets.model import ConfigurationError, UsageError, WorkspaceError, require_text
from rag_assets.workspace import WORKSPACE_MARKER as MARKER
from rag_assets.workspace import (
    Namespace,
    Workspace,
    check_namespace_name,
    create_workspace,
    list_templates,
    make_folder,
    shipped_settings,
)


def open_namespace(name: str, config: KnowledgeConfig) -> Namespace:
    """Return a declared namespace.

    Raises:
        WorkspaceError: there is no workspace.
        UsageError: no such namespace.
        ConfigurationError: the configuration would build it otherwise.
    """
    namespace = Workspace.find(config.place).namespace(require_text(name, "'namespace'"))
    refuse_other_build(namespace, config)
    return namespace


def planned_namespace(name: str, config: KnowledgeConfig) -> Namespace:
    """Return a namespace as it is or would be; nothing is written.

    One that is not declared has the settings that its file will have, and each model that the
    configuration names has encoded a word.

    Raises:
        WorkspaceError: no place is given and there is no workspace around.
        ConfigurationError: the name, a value or a model cannot be used, or the configuration would
            build an existing namespace otherwise.
        ServiceError: the service of a model does not answer.
    """
    require_text(name, "'namespace'")
    place = config.place
    if place is not None and not _is_workspace(place):
        workspace = Workspace(place.expanduser().absolute())
    else:
        try:
            workspace = Workspace.find(place)
        except WorkspaceError as error:
            raise WorkspaceError(
                f"{error} From Python, `base_config={{'vector_store': {{'path': DIR}}}}` names "
                "one, and makes it."
            ) from error
        if name in workspace.namespace_names:
            return open_namespace(name, config)
    check_namespace_name(name, workspace.namespace_file(name))
    written = _declaration(workspace.root, name, config).encode()
    base = config.base_config
    try:
        namespace = workspace.declared_namespace(name, written)
        with _own_environment(workspace):
            for model in embedding_models(namespace.settings.embed):
                if base.sparse_embedding if model.settings.is_sparse else base.embedding:
                    list(model.passage_encoder().encode_passages(["roof"]))
    except ConfigurationError as error:
        raise ConfigurationError(
            f"configuration of namespace '{name}': "
            f"{_as_given(str(error), workspace.namespace_file(name))}"
        ) from error
    return namespace


def _as_given(told: str, file: Path) -> str:
    """Return an error on a file that is not written, with the keys of the configuration."""
    told = told.removeprefix(f"{file}: ").replace("'chunk", "'chunk_config")
    return told.replace("embed.models", "base_config.embedding")


def declare_namespace(planned: Namespace, config: KnowledgeConfig) -> Namespace:
    """Make what is missing of a planned namespace: its file and folder, and the workspace.

    Raises:
        ConfigurationError: somebody has declared it otherwise meanwhile.
    """
    root, name = planned.workspace.root, planned.name
    is_new = not _is_workspace(root)
    if name not in planned.workspace.namespace_names:
        path = planned.workspace.namespace_file(name)
        for folder in (planned.roots[0], path.parent):
            make_folder(folder)
        with suppress(UsageError):  # another was first: what it wrote is compared below
            add_file(path, _declaration(root, name, config).encode())
        # The definitions of this process do not know a namespace that was declared after them.
        from rag_assets.running import load_definitions

        load_definitions.cache_clear()
    if is_new:
        create_workspace(root, list_templates()[0])
    return open_namespace(name, config)


def _own_environment(workspace: Workspace) -> AbstractContextManager[None]:
    """Let keys be found in the `.env` of a workspace that is there."""
    from rag_assets.running import own_environment

    return own_environment(workspace) if _is_workspace(workspace.root) else nullcontext()


def _is_workspace(place: Path) -> bool:
    folder = place.expanduser()
    return (folder / MARKER).is_file() and (folder / "namespaces").is_dir()


def _declaration(root: Path, name: str, config: KnowledgeConfig) -> str:
    values: dict[str, Any] = {"raw": [f"raw/{name}"]}
    if chunk := config.chunk_config.changes():
        values["chunk"] = chunk
    base = config.base_config
    if base.embedding is not None or base.sparse_embedding is not None:
        values["embed"] = {"models": _declared_models(root, base)}
    written = yaml.safe_dump(values, allow_unicode=True, sort_keys=False)
    return f"# Declared from Python by KnowledgeSource.ingest.\n{written}"


def _declared_models(root: Path, base: BaseConfig) -> list[dict[str, Any]]:
    """Return the models of a namespace; where none is named but a sparse one, the workspace's."""
    if base.embedding is not None:
        models = [base.embedding.changes()]
    else:
        own = root / MARKER
        settings = shipped_settings(own if own.is_file() else None)
        models = [model.model_dump(exclude_unset=True) for model in settings.embed.dense]
    sparse = base.sparse_embedding
    return [*models, sparse.changes()] if sparse is not None else models
