"""The workspace for AI agents: a server of the Model Context Protocol."""

from rag_assets.desk.mcp_server.server import build_server, serve_stdio
