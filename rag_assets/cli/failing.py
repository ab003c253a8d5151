"""Errors become one sentence on standard error and a documented exit code."""

import json
import sys
from typing import Any

import click

from rag_assets.cli.printing import shown_output
from rag_assets.model import (
    ConfigurationError,
    PublicationError,
    RagError,
    UsageError,
    WorkspaceError,
    hide_credentials,
)

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
