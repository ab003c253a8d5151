"""Where a command may write what a person asks for: never among raw files, nor over our own."""

from collections.abc import Iterator
from pathlib import Path

from rag_assets.model import UsageError, WorkspaceError
from rag_assets.workspace.environment_file import ENVIRONMENT_FILE
from rag_assets.workspace.layout import MARKER, Workspace

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
