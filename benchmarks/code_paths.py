"""How many modules and functions one piece of work runs through.

    python -m benchmarks.code_paths COMMAND…      e.g. query "How cool are sedum roofs?"

Runs one `rag` command in this process, in the workspace of the current folder, and prints each
module of the package in which a function was called, in the order of the first call, with how many
of its functions were. What runs while a module is imported does not count, nor what runs in worker
processes.
"""

import inspect
import sys
import threading
from pathlib import Path
from types import CodeType, FrameType

from rag_assets.cli import main as rag

_PACKAGE = Path(inspect.getfile(rag)).parent.parent


def main() -> None:
    """Run the command and print what it ran through, behind its own output."""
    called: dict[str, set[CodeType]] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        # Bodies of modules and classes have no optimized locals.
        if event == "call" and code.co_flags & inspect.CO_OPTIMIZED:
            called.setdefault(code.co_filename, set()).add(code)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        rag()
    except SystemExit as ended:
        print(f"exit code {ended.code}")
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type] # typeshed knows no None here
    own = {
        str(path.relative_to(_PACKAGE)): codes
        for file, codes in called.items()
        if (path := Path(file)).is_relative_to(_PACKAGE)
    }
    for name, codes in own.items():
        print(f"{len(codes):>6}  {name}")
    packages = {Path(name).parts[0] for name in own}
    functions = sum(map(len, own.values()))
    print(f"{len(own)} modules of {len(packages)} packages, {functions} functions")


if __name__ == "__main__":
    main()
