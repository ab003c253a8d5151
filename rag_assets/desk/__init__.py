"""The desk: one web page for reading, checking and editing, over functions that stand below it.

A page is a module with a `router` (listed in `application.py`), a template that extends
`base.html`, and its static text in `messages/zh/`, a file for each part of
the desk. A handler gathers what a function below
returns and renders it; it decides nothing. Pages work without JavaScript: `desk.js` only replaces
a block of a page where a link or form names one (`data-part`), presses what a key names
(`data-key`) and appends what a stream says (`data-stream`).
"""

from typing import TYPE_CHECKING

from rag_assets.lazily import lazy_names

if TYPE_CHECKING:
    from rag_assets.desk.application import build_application
    from rag_assets.desk.serving import serve_desk
    from rag_assets.desk.state import Desk

PUBLIC_MODULES = ("tools", "mcp_server")


# Imported on first use: the web framework is for who serves.
__getattr__ = lazy_names(
    __name__,
    {
        "Desk": "state",
        "build_application": "application",
        "serve_desk": "serving",
    },
)
