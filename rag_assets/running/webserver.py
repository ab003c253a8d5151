"""The process of the web server behind `rag ui`: Dagster's own, with the guard before it.

Started as `python -m rag_assets.running.webserver WORKSPACE_FILE PORT`. Dagster's own command
cannot be given a layer, so the server is put together here, with two of its private names; a
contract test holds them.
"""

import sys
from http import HTTPStatus
from pathlib import Path

import dagster as dg
import uvicorn
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import WorkspaceFileTarget
from dagster_webserver.app import create_app_from_workspace_process_context
from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

NAMES = ("127.0.0.1", "localhost", "[::1]")

_GRAPHQL = "/graphql"
# What a browser says of who asks: this server's page, or the person (address bar, bookmark).
_OWN_SITES = frozenset({"same-origin", "none"})
# A policy beside Dagster's own, and a browser keeps to both. Nothing that a shown text names is
# fetched from another machine, and no other page can lay this one under its own buttons.
_POLICY = (
    "default-src 'self'; script-src * 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; "
    "media-src 'self'; worker-src 'self' blob:; connect-src 'self' ws://{host}; "
    "form-action 'self'; frame-ancestors 'none'"
)


class Guard:
    """An ASGI layer that refuses what neither the UI's own pages nor a program would ask.

    A program of this user (the command line, a script) sends no Origin and is let through: it
    could read and write the workspace anyway.

    Args:
        app: what is guarded.
        port: on which the server is reached.
    """

    def __init__(self, app: ASGIApp, port: int) -> None:
        self._app = app
        self._hosts = {f"{name}:{port}" for name in NAMES}
        if port == 80:
            self._hosts |= set(NAMES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it with the sentence that says why not."""
        if scope["type"] not in {"http", "websocket"}:  # the server's own start and end
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is None:
            await self._app(scope, receive, _with_policy(send, Headers(scope=scope)["host"]))
            return
        answer = PlainTextResponse(f"{refusal}\n", HTTPStatus.FORBIDDEN)
        if scope["type"] == "websocket":
            await WebSocket(scope, receive, send).send_denial_response(answer)
        else:
            await answer(scope, receive, send)

    def _refusal(self, scope: Scope) -> str | None:
        headers = Headers(scope=scope)
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return (
                f"Refused: this server is not {', '.join(hosts) or 'without a name'}; a name that "
                f"leads here may be another site's. Open http://{min(self._hosts)}."
            )
        if origins and origins != [f"http://{hosts[0]}"]:
            return (
                f"Refused: the page that asks is of {', '.join(origins)}, and only this server's "
                f"own pages (http://{hosts[0]}) may ask."
            )
        site = headers.get("sec-fetch-site", "none")
        # A person who follows a link to a page of the UI changes nothing.
        if site not in _OWN_SITES and not (
            scope["type"] == "http"
            and scope["method"] == "GET"
            and headers.get("sec-fetch-mode") == "navigate"
            and headers.get("sec-fetch-dest") == "document"
            and not _is_graphql(scope)
        ):
            return (
                f"Refused: a page of another origin asks ({site}), and only this server's own "
                f"pages (http://{hosts[0]}) may ask."
            )
        # Dagster takes a query in the address from any request that is no JSON.
        if (
            scope["type"] == "http"
            and _is_graphql(scope)
            and "query" in QueryParams(scope["query_string"])
        ):
            return (
                "Refused: any image or link could run a GraphQL query given in the address; send "
                "it as JSON by POST."
            )
        return None


def _is_graphql(scope: Scope) -> bool:
    path: str = scope["path"]
    return path.rstrip("/") == _GRAPHQL


def _with_policy(send: Send, host: str) -> Send:
    async def send_with_policy(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.append("Content-Security-Policy", _POLICY.format(host=host))
            headers.append("X-Frame-Options", "DENY")
            headers.append("Cross-Origin-Resource-Policy", "same-origin")
        await send(message)

    return send_with_policy


# How often an open page asks for news; what Dagster's own command has.
_POLL_MILLISECONDS = 2000
# How long answers may still go out when it is asked to end; an open page would hold it for ever.
_LEAVE_SECONDS = 3


def main(workspace_file: Path, port: int) -> None:
    """Serve the instance of DAGSTER_HOME on 127.0.0.1 until interrupted.

    Args:
        workspace_file: names the code server, as Dagster's `workspace.yaml` does.
    """
    target = WorkspaceFileTarget(paths=[str(workspace_file)])
    with dg.DagsterInstance.get() as instance, WorkspaceProcessContext(instance, target) as context:
        app = create_app_from_workspace_process_context(
            context, live_data_poll_rate=_POLL_MILLISECONDS
        )
        # `proxy_headers` off: nobody stands between this server and the browser.
        uvicorn.run(
            Guard(app, port),
            host="127.0.0.1",
            port=port,
            log_level="warning",
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=_LEAVE_SECONDS,
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
