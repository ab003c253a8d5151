"""The `.env` of a workspace: what a bare `dagster` command finds there, and the user's keys."""

import io
import os
import stat
from pathlib import Path

from dotenv import dotenv_values, set_key

from rag_assets.model import ConfigurationError, WorkspaceError
from rag_assets.storage import explained_errors
from rag_assets.workspace.bounded_yaml import read_bounded
from rag_assets.workspace.layout import MARKER, Workspace

ENVIRONMENT_FILE = ".env"
# Set to `off` for the processes of a `rag ui` that was not asked for sensors.
SENSORS_VARIABLE = "RAG_SENSORS"
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def environment_of(workspace: Workspace) -> dict[str, str]:
    """Return the variables by which Dagster finds a workspace."""
    return {
        "DAGSTER_HOME": str(workspace.dagster_home),
        "RAG_WORKSPACE": str(workspace.root),
    }


def read_environment(workspace: Workspace) -> dict[str, str | None]:
    """Return what a workspace's `.env` sets; nothing where there is none.

    Raises:
        ConfigurationError: it is no file, cannot be read, or is not UTF-8.
    """
    path = workspace.root / ENVIRONMENT_FILE
    try:
        text = read_bounded(path).decode("utf-8")
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError as error:
        raise ConfigurationError(
            f"{path}: not UTF-8 text (byte {error.start}). Save the file as UTF-8."
        ) from error
    return dotenv_values(stream=io.StringIO(text))


def lend_environment(workspace: Workspace, prefix: str) -> None:
    """Let this process, and those it starts, have what `.env` sets of names that begin so.

    For libraries that read the environment alone. What the environment says already holds.
    """
    for name, value in read_environment(workspace).items():
        if name.startswith(prefix) and value is not None:
            os.environ.setdefault(name, value)


def stale_environment(workspace: Workspace) -> dict[str, str | None]:
    """Return those variables that `.env` sets otherwise, or not at all, with what it says.

    In a folder that was moved or copied it names the place where the workspace was made.
    """
    written = read_environment(workspace)
    return {
        name: written.get(name)
        for name, right in environment_of(workspace).items()
        if written.get(name) != right
    }


def readers_of_secrets(workspace: Workspace) -> str | None:
    """Return the rights of a `.env` with keys that others than its owner may read, as in `644`.

    None where nobody else may, where it sets nothing but where the workspace is, and on systems
    whose files have no such rights.
    """
    file = workspace.root / ENVIRONMENT_FILE
    if os.name == "nt" or not file.is_file():
        return None
    has_secrets = dotenv_values(file).keys() - environment_of(workspace).keys()
    mode = stat.S_IMODE(file.stat().st_mode)
    return f"{mode:o}" if has_secrets and mode & _OTHERS else None


def correct_environment(workspace: Workspace) -> dict[str, str]:
    """Write the right values over other ones; returns what stood there, by name.

    What `.env` does not set is left out: somebody took it away. Its rights stay as they are.
    """
    right = environment_of(workspace)
    wrong = {name: old for name, old in stale_environment(workspace).items() if old is not None}
    file = workspace.root / ENVIRONMENT_FILE
    for name in wrong:
        with explained_errors(file):
            set_key(file, name, right[name], quote_mode="auto")
    return wrong


def require_own_environment(folder: Path) -> None:
    """Refuse to work on another workspace because this one's `.env` was copied along.

    Args:
        folder: where a command was started; anything but a workspace is let through.

    Raises:
        WorkspaceError: it is a workspace whose `.env` made this process look elsewhere.
    """
    if not (folder / MARKER).is_file():
        return
    named = stale_environment(Workspace(folder)).get("RAG_WORKSPACE")
    if named is not None and os.environ.get("RAG_WORKSPACE") == named:
        raise WorkspaceError(
            f"{folder / ENVIRONMENT_FILE} names the workspace {named}, not the folder in which it "
            f"stands: was that moved or copied? Set RAG_WORKSPACE={folder} there and DAGSTER_HOME "
            "likewise, or run `rag ui` once, which corrects both."
        )
