"""What the commands of `rag lab` share."""

import getpass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from rag_assets.cli.options import open_workspace

if TYPE_CHECKING:
    from rag_assets.lab.laboratory import Laboratory

by_option = click.option("--by", metavar="NAME", help="Who does it; your login name without.")
reason_option = click.option("--reason", default="", help="Why, for the log.")
seen_option = click.option(
    "--seen", type=click.IntRange(0), metavar="VERSION",
    help="The version that you looked at, 0 where there was none: a newer one is not overwritten, "
    "you are told what changed.",
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
