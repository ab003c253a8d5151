"""The secret that the desk of a workspace asks for, and the address that brings it along.

It is in a file that only this user can read, and stays from one start to the next.
"""

import os
import secrets
from urllib.parse import urlencode

from rag_assets.storage import hold_lock, write_private
from rag_assets.workspace.layout import Workspace

TOKEN_VARIABLE = "RAG_DESK_TOKEN"  # noqa: S105 - the name of it
_TOKEN_BYTES = 32


def opened_at(url: str, token: str, path: str = "/") -> str:
    """Return the address to give to a browser: it brings the token along."""
    return f"{url}/open?{urlencode({'token': token, 'next': path})}"


def desk_token(workspace: Workspace) -> str:
    """Return the secret of the workspace's desk, made at the first call; `TOKEN_VARIABLE` first."""
    if given := os.environ.get(TOKEN_VARIABLE):
        return given
    folder = workspace.meta / "desk"
    with hold_lock(folder / "token.lock", "the desk's token", lambda _: None):
        if not (folder / "token").is_file():
            write_private(folder / "token", secrets.token_urlsafe(_TOKEN_BYTES))
        return (folder / "token").read_text(encoding="utf-8").strip()
