"""The command `rag`: one module a command group, no logic.

Exit codes: 0 done; 1 a run or a check failed, or trouble of the machine; 2 wrong usage or
configuration; 3 an input was refused (an unknown or uncitable uid in a draft, a question without
text, nothing published).
"""

import os
import sys
import threading

from rag_assets.cli.main import build_cli


def main() -> None:
    """Run the command line; the entry point of the console script."""
    # What a library starts (resource trackers, pools) imports nothing of the current folder.
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        build_cli()()
    except SystemExit as ended:
        # A call of a local model that was left cannot be stopped, and llama.cpp crashes where the
        # interpreter ends under it.
        if any(thread.name == "language model" for thread in threading.enumerate()):
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(ended.code if isinstance(ended.code, int) else bool(ended.code))
        raise
