"""Options that several commands share, and how they print."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from rag_assets.cli.failing import remember_trouble
from rag_assets.model import ConfigurationError, Progress
from rag_assets.workspace import Namespace, Workspace, changed_files, choose_secrets

# Files that a warning names.
_SHOWN = 3

Command = TypeVar("Command", bound=Callable[..., Any])

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON to standard output.")
namespace_option = click.option(
    "--namespace", "-n", "names", multiple=True, metavar="NAME",
    help="Only this namespace; may be repeated. Without it: all of them.",
)  # fmt: skip
draft_namespace_option = click.option(
    "--namespace", "-n", "names", multiple=True, metavar="NAME",
    help="Only this namespace, for what is cited and what is searched; may be repeated. Without "
    "it: those that the front matter of the draft names, else all.",
)  # fmt: skip


def open_workspace() -> Workspace:
    """Return the workspace that the command line names or that is around."""
    workspace = Workspace.find(click.get_current_context().find_root().obj)
    choose_secrets(workspace)
    return workspace


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


def print_json(value: Any) -> None:
    """Print a value as JSON to standard output."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=1, default=str))


@contextmanager
def shown_progress() -> Iterator[Progress | None]:
    """Show progress on a terminal's standard error; None where nobody is looking."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
               TimeElapsedColumn())  # fmt: skip
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task("starting", total=None)

        def report(what: str, done: int, total: int) -> None:
            bars.update(task, description=what[:60], completed=done, total=total or None)

        yield report


def say(text: str, *, quiet: bool) -> None:
    """Print a line for a person, unless the command prints JSON."""
    if not quiet:
        click.echo(text)


def warn_of_changes(workspace: Workspace, names: Iterable[str]) -> None:
    """Say which files hold something else now than what was searched or judged."""
    for name in names:
        changed = changed_files(workspace.namespace(name))
        if changed:
            more = f" and {len(changed) - _SHOWN} more" if len(changed) > _SHOWN else ""
            click.echo(
                f"warning: {', '.join(changed[:_SHOWN])}{more} changed since the ingestion: what "
                f"is said here is of the text as it was. Run `rag ingest --namespace {name}` and "
                "ask again.",
                err=True,
            )
