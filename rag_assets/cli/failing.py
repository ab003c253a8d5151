"""Errors become one sentence on standard error and a documented exit code."""

import json
import sys
from typing import Any

import click

from rag_assets.model.errors import (
    ConfigurationError,
    PublicationError,
    RagError,
    UsageError,
    WorkspaceError,
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


class ExplainedErrors(click.Group):
    """A group that prints our own errors without a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; see the exit codes in `rag --help`."""
        try:
            return super().invoke(ctx)
        except RagError as error:
            _tell(error)
            ctx.exit(exit_code_of(error))
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


def _tell(error: RagError) -> None:
    if "--json" in sys.argv:
        click.echo(json.dumps({"error": str(error)}, ensure_ascii=False))
    click.echo(f"error: {error}", err=True)
