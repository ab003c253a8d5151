"""`rag mcp`: a server for coding agents."""

import click

from rag_assets.cli.options import open_workspace


@click.command(help="Serve the workspace to a coding agent, read-only (MCP over stdio).")
def mcp() -> None:
    """Answer on standard input and output until the client closes them."""
    from rag_assets.mcp_server import serve_stdio

    serve_stdio(open_workspace())
