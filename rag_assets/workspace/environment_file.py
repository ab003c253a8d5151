"""The `.env` of a workspace: what a bare `dagster` command finds there, and the user's keys."""

import io
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from dotenv import dotenv_values, set_key
from pydantic import SecretStr

from rag_assets.model import ConfigurationError, UsageError, WorkspaceError
from rag_assets.storage import explained_errors
from rag_assets.workspace.bounded_yaml import read_bounded
from rag_assets.workspace.layout import MARKER, Workspace

ENVIRONMENT_FILE = ".env"
# Set to `off` for the processes of a `rag ui` that was not asked for sensors.
SENSORS_VARIABLE = "RAG_SENSORS"
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def environment_of(workspace: Workspace) -> dict[str, str]:
    """Return the variables by which Dagster finds a workspace."""
    return {"DAGSTER_HOME": str(workspace.dagster_home), "RAG_WORKSPACE": str(workspace.root)}


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
            f"{folder / ENVIRONMENT_FILE} names the workspace {named}, not its own folder: was it "
            f"moved or copied? Set RAG_WORKSPACE={folder} there and DAGSTER_HOME "
            "likewise, or run `rag ui` once, which corrects both."
        )


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


# What a workspace keeps for itself: written by its own commands, or by a person's editor.
_OWN = ("meta", "data", "index", "namespaces", MARKER, ENVIRONMENT_FILE)


def require_free_place(target: Path, workspace: Workspace | None = None) -> None:
    """Refuse a target that a command may not write to, before anything is written.

    Looked at are the workspace given and every one around the target, with all their namespaces.
    Links, `..`, relative names and folders that are mounted twice lead to where they lead.

    Args:
        target: a file or folder that is to be made or replaced, or that others are put into.
        workspace: that the command works on, where there is one: its raw folders may lie
            anywhere.

    Raises:
        UsageError: it lies below a folder of raw files, is one of a workspace's own files, or a
            numbered output that is there already.
        ConfigurationError: a namespace file cannot be read, so that nobody knows its folders.
    """
    place = target.expanduser()
    _refuse_raw(place, _concerned(place, workspace))
    for each in _concerned(place, workspace):
        own = [name for name in _OWN if _lies_in(place, each.root / name)]
        if own:
            raise UsageError(
                f"{target}: {each.root / own[0]} is the workspace's own and nothing else is "
                f"written there. {_elsewhere(each, place)}"
            )
        if _lies_in(place, each.outputs) and place.is_file():
            raise UsageError(
                f"{target} is there already, and outputs are never changed. Choose a name that is "
                "not taken."
            )


def require_outside_raw(target: Path) -> None:
    """Refuse a place for a workspace among the raw files of another one.

    Raises:
        UsageError, ConfigurationError: as `require_free_place`.
    """
    place = target.expanduser()
    others = [each for each in _concerned(place, None) if not _is_same(each.root, place)]
    _refuse_raw(place, others)


def _refuse_raw(place: Path, workspaces: list[Workspace]) -> None:
    for each in workspaces:
        for namespace in each.namespaces():
            for root in namespace.roots:
                if _lies_in(place, root):
                    raise UsageError(
                        f"{place}: {root} holds the raw files of namespace '{namespace.name}', "
                        "and nothing is ever written among those: it would be read as a source. "
                        f"{_elsewhere(each, place)}"
                    )


def _elsewhere(workspace: Workspace, place: Path) -> str:
    return f"Write to another place, for instance {workspace.outputs / place.name}."


def _concerned(place: Path, workspace: Workspace | None) -> list[Workspace]:
    """Return the workspaces whose files could be met, each once."""
    found = [] if workspace is None else [workspace]
    for folder in _around(place):
        try:
            found.append(Workspace.open(folder))
        except WorkspaceError:
            continue  # most folders are none
    return list({each.root.resolve(): each for each in found}.values())


def _around(place: Path) -> Iterator[Path]:
    """Yield a place and all folders around it, as it is written and where its links lead."""
    for form in (place.absolute(), place.resolve()):
        yield form
        yield from form.parents


def _lies_in(place: Path, folder: Path) -> bool:
    """Say whether a place is a folder or below it, by name or by what the disk says it is."""
    real = folder.resolve()
    return any(each == real or _is_same(each, real) for each in _around(place))


def _is_same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)
