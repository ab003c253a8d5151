"""The process of the web server behind `rag ui`: Dagster's own, with the guard before it.

Started as `python -m rag_assets.running.webserver WORKSPACE_FILE PORT`. Dagster's own command
cannot be given a layer, so the server is put together here, with two of its private names; a
contract test holds them.
"""

import sys
from pathlib import Path

import dagster as dg
import uvicorn
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import WorkspaceFileTarget
from dagster_webserver.app import create_app_from_workspace_process_context

from rag_assets.running.guarding import Guard

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
