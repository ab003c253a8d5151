"""`rag desk`: the web page of a workspace."""

import getpass
from datetime import datetime

import click

from rag_assets.cli.options import open_workspace
from rag_assets.model import UsageError


@click.command(
    help="Open the desk: one web page for reading, checking, editing and asking. Serves until "
    "Ctrl-C; `rag query` and `rag ask` use its warm models while it does."
)
@click.option(
    "--port", "-p", type=click.IntRange(0, 65535), default=8765, show_default=True,
    help="Port; 0 for any that is free.",
)  # fmt: skip
@click.option(
    "--host", default="127.0.0.1", show_default=True,
    help="Address to listen on. Another than this machine's own opens the desk to who has the "
    "token: put a server with TLS before it.",
)  # fmt: skip
@click.option(
    "--allow-host", "further", multiple=True, metavar="NAME[:PORT]",
    help="Also answer when called so, behind another server; may be repeated.",
)  # fmt: skip
@click.option("--person", help="Who sits here, for journals; else the name of this account.")
@click.option(
    "--address", "shows_address", is_flag=True,
    help="Print the address of the desk that serves, and start none.",
)  # fmt: skip
def desk(
    port: int, host: str, further: tuple[str, ...], person: str | None, shows_address: bool
) -> None:
    """Serve the desk, or say where it serves."""
    from rag_assets.workspace.desk_address import noted_desk

    workspace = open_workspace()
    if shows_address:
        noted = noted_desk(workspace)
        line = noted.connect() if noted is not None else None
        if noted is None or line is None:
            raise UsageError("no desk serves this workspace. `rag desk` starts one.")
        line.close()
        click.echo(noted.opened_at())
        return
    from rag_assets.desk import serve_desk

    serve_desk(
        workspace,
        host=host,
        port=port,
        further_hosts=further,
        person=person or getpass.getuser(),
        now=datetime.now,
        begin=lambda address: click.echo(f"{address.opened_at()}\nCtrl-C ends the desk."),
    )
