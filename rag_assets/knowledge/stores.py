"""From a namespace's name and a configuration to the namespace in its workspace."""

from pathlib import Path
from typing import Any

import yaml

from rag_assets.knowledge.config import BaseConfig, KnowledgeConfig, refuse_other_build
from rag_assets.model import WorkspaceError
from rag_assets.storage import write_text
from rag_assets.workspace import WORKSPACE_MARKER as MARKER
from rag_assets.workspace import (
    Namespace,
    Workspace,
    check_namespace_name,
    create_workspace,
    list_templates,
    shipped_settings,
)


def open_namespace(name: str, config: KnowledgeConfig) -> Namespace:
    """Return a declared namespace.

    Raises:
        WorkspaceError: there is no workspace.
        UsageError: no such namespace.
        ConfigurationError: the configuration would build it otherwise.
    """
    place = config.place
    workspace = Workspace.find(place)
    namespace = workspace.namespace(name)
    refuse_other_build(namespace, config)
    return namespace


def prepare_namespace(name: str, config: KnowledgeConfig) -> Namespace:
    """Return a namespace; what is missing of it is made.

    A folder that `vector_store.path` names becomes a workspace; a namespace that is not declared
    gets a file that says what the configuration says, and raw/<name> as its folder.

    Raises:
        WorkspaceError: no place is given and there is no workspace around.
        ConfigurationError: the name cannot be used, or the configuration would build an existing
            namespace otherwise.
    """
    place = config.place
    if place is not None and not _is_workspace(place):
        _declare(Path(place).expanduser().absolute(), name, config)
        workspace, _ = create_workspace(place, list_templates()[0])
    else:
        try:
            workspace = Workspace.find(place)
        except WorkspaceError as error:
            raise WorkspaceError(
                f"{error} From Python, `base_config={{'vector_store': {{'path': DIR}}}}` names "
                "one, and makes it."
            ) from error
        if name not in workspace.namespace_names:
            _declare(workspace.root, name, config)
            _forget_definitions()
    return open_namespace(name, config)


def _is_workspace(place: Path) -> bool:
    folder = place.expanduser()
    return (folder / MARKER).is_file() and (folder / "namespaces").is_dir()


def _declare(root: Path, name: str, config: KnowledgeConfig) -> None:
    path = root / "namespaces" / f"{name}.yaml"
    check_namespace_name(name, path)
    values: dict[str, Any] = {"raw": [f"raw/{name}"]}
    if chunk := config.chunk_config.changes():
        values["chunk"] = chunk
    base = config.base_config
    if base.embedding is not None or base.sparse_embedding is not None:
        values["embed"] = {"models": _declared_models(root, base)}
    written = yaml.safe_dump(values, allow_unicode=True, sort_keys=False)
    (root / values["raw"][0]).mkdir(parents=True, exist_ok=True)
    write_text(path, f"# Declared from Python by KnowledgeSource.ingest.\n{written}")


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


def _forget_definitions() -> None:
    """The definitions of this process do not know a namespace that was declared after them."""
    from rag_assets.running import load_definitions

    load_definitions.cache_clear()
