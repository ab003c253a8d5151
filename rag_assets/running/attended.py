"""A process of `rag ui` that ends when `rag ui` is gone, however that ended.

Started as `python -m rag_assets.running.attended MODULE ARGUMENT…`, as the first of its process
group, with a pipe for standard input to which only `rag ui` can write. The kernel closes that end
when `rag ui` ends, by SIGKILL too, and nobody else would end the web server that holds the port.
"""

import os
import runpy
import signal
import sys
import threading
from collections.abc import Sequence


def main(module: str, arguments: Sequence[str]) -> None:
    """Run a module as `python -m` does, until it ends or the other end of the pipe is gone."""
    # A copy of its own, which no child inherits; for all else there is nothing to read.
    pipe = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    threading.Thread(target=_end_with, args=(pipe,), daemon=True).start()
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _end_with(pipe: int) -> None:
    """Wait for the pipe's end, then interrupt the group: this process, its children, their runs."""
    while os.read(pipe, 1):
        pass
    os.killpg(0, signal.SIGINT)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
