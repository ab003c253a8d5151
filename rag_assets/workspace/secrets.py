"""Secrets: from the environment, else from the workspace's `.env`; never from configuration."""

import os

from dotenv import dotenv_values
from pydantic import SecretStr

from rag_assets.workspace.layout import Workspace


def read_secret(workspace: Workspace, name: str) -> SecretStr | None:
    """Return the secret of that variable's name, None where it is not set or empty."""
    value = os.environ.get(name) or dotenv_values(workspace.root / ".env").get(name)
    return SecretStr(value) if value else None
