"""Options and errors that several commands share, and how they print."""

import getpass
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import click

from rag_assets.model import (
    ConfigurationError,
    PublicationError,
    RagError,
    UsageError,
    WorkspaceError,
    drop_controls,
    hide_credentials,
)
from rag_assets.storage import write_bytes
from rag_assets.workspace import (
    Namespace,
    Workspace,
    choose_secrets,
    require_free_place,
)

if TYPE_CHECKING:
    from rag_assets.lab.laboratory import Laboratory

Command = TypeVar("Command", bound=Callable[..., Any])

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON to standard output.")
as_of_option = click.option(
    "--as-of", "as_of", type=click.DateTime(["%Y-%m-%d"]), metavar="DATE",
    help="Day for the wordings of laws; default: today.",
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
    help="Only this namespace; may be repeated. Without it: those of the draft's front matter, "
    "else all.",
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


def print_result(as_json: bool, value: Any, *lines: str) -> None:
    """Print what a command did: a value as JSON, or lines for a person."""
    if as_json:
        print_json(value)
    else:
        for line in lines:
            click.echo(line)


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


_SOME_FILE = "a file that the command needs"

DONE, FAILED, MISUSED, REFUSED = 0, 1, 2, 3


def exit_code_of(error: RagError) -> int:
    """Return the documented exit code of an error."""
    if isinstance(error, (ConfigurationError, WorkspaceError)):
        return MISUSED
    if isinstance(error, (UsageError, PublicationError)):
        return REFUSED
    return FAILED


_TROUBLED = f"{__name__}.troubled"


def remember_trouble(trouble: str) -> None:
    """Tell what keeps one of several namespaces from being worked on, and go on with the others.

    The command ends with the exit code of wrong configuration, whatever became of the others.
    """
    click.echo(f"error: {trouble}", err=True)
    click.get_current_context().find_root().meta[_TROUBLED] = True


def has_trouble() -> bool:
    """Say whether a trouble was told."""
    return _TROUBLED in click.get_current_context().find_root().meta


class ExplainedErrors(click.Command):
    """A command or group that prints our own errors without a traceback, and nothing that acts."""

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run the command line; all that it prints can only be read."""
        with shown_output():
            return super().main(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; see the exit codes in `rag --help`."""
        try:
            result = super().invoke(ctx)
        except click.exceptions.Exit as ended:
            ctx.exit(MISUSED if _TROUBLED in ctx.meta else ended.exit_code)
        except RagError as error:
            _tell(error)
            ctx.exit(exit_code_of(error))
        except click.ClickException as error:
            # click's own classes print this attribute, and declare it final.
            vars(error)["message"] = _indented(error.message)
            raise
        except BrokenPipeError:  # the reader of our output has gone, `rag documents | head`
            sys.stderr.close()
            ctx.exit(FAILED)
        except Exception as error:  # of a library that reads and writes without us
            from rag_assets.storage import trouble_of_machine

            named = error.filename if isinstance(error, OSError) else None
            trouble = trouble_of_machine(error, named or _SOME_FILE, "opened")
            if trouble is None:
                raise
            _tell(trouble)
            ctx.exit(FAILED)
        if _TROUBLED in ctx.meta:
            ctx.exit(MISUSED)
        return result


def _tell(error: RagError) -> None:
    said = hide_credentials(str(error))
    if "--json" in sys.argv:
        click.echo(json.dumps({"error": said}, ensure_ascii=False))
    click.echo(f"error: {_indented(said)}", err=True)


def _indented(message: str) -> str:
    """Return a message in which a line break, as in a file's name, begins no line of its own."""
    return message.replace("\n", "\n  ")


class _ShownText:
    """A text stream that writes to another what `drop_controls` leaves."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        self.stream.write(drop_controls(text))
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextmanager
def shown_output() -> Iterator[None]:
    """Let what is printed within, by whichever library, have no control character.

    File names, titles and messages come from files; a terminal would obey what stands in them.
    """
    with (
        redirect_stdout(_ShownText(sys.stdout)),
        redirect_stderr(_ShownText(sys.stderr)),
    ):
        yield


def terminal_of(stream: Any) -> TextIO:
    """Return the stream behind one of `shown_output`, for what draws on a terminal itself."""
    terminal: TextIO = getattr(stream, "stream", stream)
    return terminal


by_option = click.option(
    "--by", metavar="NAME", help="Name that is recorded; default: your login name."
)
reason_option = click.option("--reason", default="", help="Why, for the log.")
seen_option = click.option(
    "--seen", type=click.IntRange(0), metavar="VERSION",
    help="The version that you looked at (0 for none). A newer version is not overwritten; the "
    "command shows what changed.",
)  # fmt: skip


def opened_laboratory() -> "Laboratory":
    """Open the laboratory of the workspace that the command line names or that is around."""
    from rag_assets.lab.laboratory import open_laboratory

    return open_laboratory(open_workspace())


def now() -> str:
    """Return the time, ISO 8601 with zone."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def who(by: str | None) -> str:
    """Return who acts."""
    return by or getpass.getuser()


class RenamedGroup(click.Group):
    """A group that says what to use in place of commands that earlier versions had.

    Args:
        renamed: removed command → what to use now.
    """

    def __init__(self, *args: Any, renamed: Mapping[str, str], **values: Any) -> None:
        super().__init__(*args, **values)
        self.renamed = renamed

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command."""
        if cmd_name in self.renamed:
            told = f"'{ctx.command_path} {cmd_name}' was removed. {self.renamed[cmd_name]}"
            raise click.UsageError(told, ctx)
        return super().get_command(ctx, cmd_name)
