"""What `rag ui` starts ends when the pipe from it is closed, whatever closed it."""

import os
import signal
from pathlib import Path

import pytest

from rag_assets.running.serving import start_module

WAITS = """
import signal, subprocess, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
child = subprocess.Popen(
    [sys.executable, "-c", "import signal; signal.signal(signal.SIGINT, signal.SIG_DFL);"
     "print('up', flush=True); signal.pause()"], stdout=subprocess.PIPE)
child.stdout.readline()
try:  # from before it says so: the interrupt may come at once
    open(sys.argv[1], "w").write(sys.stdin.read() + "up\\n")
    signal.pause()
except KeyboardInterrupt:
    open(sys.argv[1], "w").write(f"{child.wait()}")
"""


def test_a_module_and_its_children_are_interrupted_when_the_pipe_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "waits.py").write_text(WAITS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))  # nothing is imported from where it runs
    fifo = tmp_path / "said"
    os.mkfifo(fifo)
    process = start_module(["waits", str(fifo)], tmp_path)
    assert fifo.read_text() == "up\n"  # nothing comes from its standard input
    assert process.stdin is not None
    process.stdin.close()
    assert fifo.read_text() == f"{-signal.SIGINT}"
    assert process.wait() == 0
