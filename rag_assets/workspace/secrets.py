"""Secrets: from the environment, else from the workspace's `.env`; never from configuration."""

import os

from pydantic import SecretStr

from rag_assets.model import WorkspaceError
from rag_assets.workspace.environment_file import read_environment
from rag_assets.workspace.layout import Workspace


class _Chosen:
    """The workspace that this process works on, where somebody has said so."""

    workspace: Workspace | None = None


def read_secret(workspace: Workspace, name: str) -> SecretStr | None:
    """Return the secret of that variable's name, None where it is not set or empty."""
    value = os.environ.get(name) or read_environment(workspace).get(name)
    return SecretStr(value) if value else None


def choose_secrets(workspace: Workspace) -> None:
    """Let `find_secret` read this workspace's `.env` from now on."""
    _Chosen.workspace = workspace


def find_secret(name: str) -> SecretStr | None:
    """Return the secret of that variable's name where no workspace is at hand.

    Looked for in the environment, then in the `.env` of the workspace that was chosen, else of
    the one that RAG_WORKSPACE names or that is around the current folder. None where it is not
    set, or empty.
    """
    if value := os.environ.get(name):
        return SecretStr(value)
    try:
        workspace = _Chosen.workspace or Workspace.find()
    except WorkspaceError:
        return None  # outside of a workspace there is the environment alone
    return read_secret(workspace, name)
