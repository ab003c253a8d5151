"""Where the desk of a workspace is to be reached, and the secret that it asks for.

Both stand in files that only this user can read: pages of other users and of the web do not learn
them. The secret stays from one start to the next, so that an open page goes on working.
"""

import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from rag_assets.storage import hold_lock, write_private
from rag_assets.workspace.layout import Workspace

TOKEN_VARIABLE = "RAG_DESK_TOKEN"  # noqa: S105 - the name of it
_TOKEN_BYTES = 32


@dataclass(frozen=True, slots=True)
class DeskAddress:
    """A desk that serves.

    Args:
        url: `http://host:port`, without a path.
        pid: of its process.
    """

    url: str
    pid: int
    token: str

    def opened_at(self, path: str = "/") -> str:
        """Return the address to give to a browser: it brings the token along."""
        return f"{self.url}/open?{urlencode({'token': self.token, 'next': path})}"


def desk_token(workspace: Workspace) -> str:
    """Return the secret of the workspace's desk, made at the first call; `TOKEN_VARIABLE` first."""
    if given := os.environ.get(TOKEN_VARIABLE):
        return given
    path = _folder(workspace) / "token"
    with hold_lock(_folder(workspace) / "token.lock", "the desk's token", lambda _: None):
        if not path.is_file():
            write_private(path, secrets.token_urlsafe(_TOKEN_BYTES))
        return path.read_text(encoding="utf-8").strip()


def note_desk(workspace: Workspace, url: str, pid: int) -> None:
    """Tell other processes that a desk serves at `url`."""
    write_private(_noted(workspace), json.dumps({"url": url, "pid": pid}))


def forget_desk(workspace: Workspace, pid: int) -> None:
    """Tell other processes that the desk of this process serves no more."""
    noted = noted_desk(workspace)
    if noted is not None and noted.pid == pid:
        _noted(workspace).unlink(missing_ok=True)


def noted_desk(workspace: Workspace) -> DeskAddress | None:
    """Return where a desk said that it serves; it may have died since. None where none did."""
    try:
        said = json.loads(_noted(workspace).read_text(encoding="utf-8"))
        return DeskAddress(str(said["url"]), int(said["pid"]), desk_token(workspace))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        # A note of an address, no record: the next start writes it anew.
        return None


def _folder(workspace: Workspace) -> Path:
    return workspace.meta / "desk"


def _noted(workspace: Workspace) -> Path:
    return _folder(workspace) / "address.json"
