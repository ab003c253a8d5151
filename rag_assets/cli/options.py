"""Options that several commands share, and how they print."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import click

from rag_assets.cli.failing import remember_trouble
from rag_assets.model import ConfigurationError, WorkspaceError
from rag_assets.storage import write_bytes
from rag_assets.workspace import (
    Namespace,
    Workspace,
    choose_secrets,
    require_free_place,
)

Command = TypeVar("Command", bound=Callable[..., Any])

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON to standard output.")
as_of_option = click.option(
    "--as-of", "as_of", type=click.DateTime(["%Y-%m-%d"]), metavar="DATE",
    help="The day on which wordings of laws have to hold; today without.",
)  # fmt: skip


def _take_workspace(context: click.Context, _: click.Parameter, value: str | None) -> None:
    if value is not None:
        context.find_root().obj = value


project_option = click.option(
    "--project", metavar="DIR", expose_value=False, callback=_take_workspace,
    help="The workspace, as `rag --workspace DIR`.",
)  # fmt: skip
namespace_option = click.option(
    "--namespace", "-n", "names", multiple=True, metavar="NAME",
    help="Only this namespace; may be repeated. Without it: all of them.",
)  # fmt: skip
draft_namespace_option = click.option(
    "--namespace", "-n", "names", multiple=True, metavar="NAME",
    help="Only this namespace, for what is cited and what is searched; may be repeated. Without "
    "it: those that the front matter of the draft names, else all.",
)  # fmt: skip


class OutputPath(click.Path):
    """A path that the user names and a command writes to. Every such option has this type.

    Args:
        is_folder: others are put into it; else it is a file.
    """

    def __init__(self, *, is_folder: bool = False) -> None:
        super().__init__(file_okay=not is_folder, dir_okay=is_folder, path_type=Path)

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Path:
        """Return the path; refuse one among raw files or over what the workspace keeps."""
        path = Path(value)
        try:
            workspace = Workspace.find(ctx.find_root().obj if ctx else None)
        except WorkspaceError:
            workspace = None  # most commands that write a file need none
        require_free_place(path, workspace)
        super().convert(value, param, ctx)
        return path


def default_output(name: str) -> Path:
    """Return a file in the current folder, where the user has named none."""
    return OutputPath().convert(name, None, click.get_current_context())


def write_output(target: Path, data: bytes) -> None:
    """Write a file that the user named, whole or not at all; a pipe or terminal as it is.

    What stood there is replaced, not written over: another name of it, in `raw/` perhaps, keeps
    what it had.
    """
    if target.exists() and not target.is_file():
        with target.open("wb") as stream:
            stream.write(data)
    else:
        write_bytes(target.resolve(), data)


def open_workspace() -> Workspace:
    """Return the workspace that the command line names or that is around."""
    workspace = Workspace.find(click.get_current_context().find_root().obj)
    choose_secrets(workspace)
    return workspace


def read_models_ahead(workspace: Workspace) -> None:
    """Begin to read the models' files while the command is still being imported."""
    from rag_assets.embedding.bundled_files import E5, read_ahead

    # The vocabulary of e5 tells sentences apart whatever the settings are.
    sound, _ = workspace.sound_namespaces()
    read_ahead([E5, *(model.model for each in sound for model in each.settings.embed.models)])


def open_namespaces(names: tuple[str, ...]) -> list[Namespace]:
    """Return the namespaces that were named, all of them where none was.

    Of all, one whose file cannot be read is told, and the command ends with the exit code of wrong
    configuration when it has done its work on the others.

    Raises:
        ConfigurationError: one that was named, or every one, cannot be read.
    """
    workspace = open_workspace()
    if names:
        return [workspace.namespace(name) for name in names]
    sound, troubles = workspace.sound_namespaces()
    if troubles and not sound:
        raise ConfigurationError(" ".join(troubles))
    for trouble in troubles:
        remember_trouble(trouble)
    return list(sound)


def open_with_models(names: tuple[str, ...]) -> "list[tuple[Namespace, tuple[str, ...]]]":
    """Return namespaces as `open_namespaces`, each with the fingerprints of its models.

    Of all, one whose models cannot be used is told like one whose file cannot be read.

    Raises:
        ConfigurationError: one that was named, or every one, cannot be used.
    """
    from rag_assets.embedding import sound_models

    namespaces = open_namespaces(names)
    sound, troubles = sound_models(namespaces)
    if troubles and (names or not sound):
        raise ConfigurationError(" ".join(troubles))
    for trouble in troubles:
        remember_trouble(trouble)
    return sound


def print_json(value: Any) -> None:
    """Print a value as JSON to standard output."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=1, default=str))


def say(text: str, *, quiet: bool) -> None:
    """Print a line for a person, unless the command prints JSON."""
    if not quiet:
        click.echo(text)


def warn_of_changes(workspace: Workspace, names: Iterable[str]) -> None:
    """Say which documents are otherwise now than what was searched or judged."""
    from rag_assets.publishing import look_since_publication

    for name in names:
        told = look_since_publication(workspace.namespace(name)).outdated
        if told:
            click.echo(f"warning: {' '.join(told.split())}", err=True)
