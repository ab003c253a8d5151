"""Where the desk of a workspace is to be reached, and the secret that it asks for.

Both stand in files that only this user can read: pages of other users and of the web do not learn
them. The secret stays from one start to the next, and is sent to no server that has not proved that
it knows it: another program may have taken the port of a desk that ended.
"""

import hashlib
import hmac
import http.client
import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from rag_assets.storage import hold_lock, write_private
from rag_assets.workspace.layout import Workspace

TOKEN_VARIABLE = "RAG_DESK_TOKEN"  # noqa: S105 - the name of it
_TOKEN_BYTES = 32
PROVING = "/health"
"""The path that answers a challenge; it asks for no token."""
_CONNECT_SECONDS = 1.0
_MOST_PROOF_BYTES = 1000
_OK = 200


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

    def connect(self) -> http.client.HTTPConnection | None:
        """Return a connection to the desk, once the server has proved that it is that desk.

        None where nothing answers, or another program, or a desk of another version of the package.
        """
        parts = urlsplit(self.url)
        line = http.client.HTTPConnection(
            parts.hostname or "", parts.port, timeout=_CONNECT_SECONDS
        )
        challenge = secrets.token_hex(_TOKEN_BYTES)
        try:
            line.request("GET", f"{PROVING}?challenge={challenge}")
            answer = line.getresponse()
            said = answer.read(_MOST_PROOF_BYTES).decode("ascii", "replace")
        except (OSError, http.client.HTTPException):
            # What it noted has died, or another program has its port.
            line.close()
            return None
        wanted = prove(self.token, parts.netloc, challenge)
        if answer.status != _OK or not hmac.compare_digest(said.encode(), wanted.encode()):
            line.close()
            return None
        line.auto_open = 0  # what is sent next goes to who has proved it, or nowhere
        return line


def prove(token: str, host: str, challenge: str) -> str:
    """Return what only a desk of this version that knows the token can answer.

    Args:
        host: by which the desk was called: what a desk on another port answers proves nothing.
    """
    from rag_assets import __version__

    said = f"desk {__version__} {host} {challenge}"
    return hmac.new(token.encode(), said.encode(), hashlib.sha256).hexdigest()


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
