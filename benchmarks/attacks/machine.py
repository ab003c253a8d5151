"""A machine that lacks memory, open files or disk, and processes that build at once."""

import random
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.attacks.attack import (
    TIMEOUT_SECONDS,
    Attack,
    BrokeError,
    Library,
    ingest,
    last_line,
    require,
    require_sentence,
    require_state,
    run_limited,
)

_MEGABYTES = (300, 600, 900, 1200, 1800, 2500)
_FILES = (12, 20, 32, 48, 64)
_FREE_KILOBYTES = (0, 8, 64, 160)
_HOLDS = "a sentence, nothing called damaged, and afterwards a clean build's state"
_QUESTION = "Which roof was cooler at noon?"


def machine(library: Library, chance: random.Random) -> Iterator[Attack]:
    """Yield limits of each sort in turn, without end."""
    while True:
        memory, files = chance.choice(_MEGABYTES), chance.choice(_FILES)
        free = chance.choice(_FREE_KILOBYTES)
        for command in (("ingest",), ("query", _QUESTION)):
            yield Attack("machine", f"{command[0]}, {memory} MB of memory", _HOLDS,
                         partial(_limited, library, command, memory * 2**20, 1024))  # fmt: skip
            yield Attack("machine", f"{command[0]}, {files} open files", _HOLDS,
                         partial(_limited, library, command, 6 * 2**30, files))  # fmt: skip
            yield Attack("machine", f"{command[0]}, {free} kB of disk", _HOLDS,
                         partial(_full_disk, library, command, free))  # fmt: skip


def _limited(
    library: Library, command: tuple[str, ...], memory_bytes: int, files: int, folder: Path
) -> None:
    root = library.copy_to(folder)
    ran = run_limited("--workspace", root, *command, memory_bytes=memory_bytes, files=files)
    _require_mended(library, root, ran)


def _full_disk(library: Library, command: tuple[str, ...], free: int, folder: Path) -> None:
    disk = folder / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        raise NotImplementedError("no small disk can be mounted here")
    try:
        root = library.copy_to(disk)
        ballast, block = disk / "ballast", bytes(4096)
        with ballast.open("wb", buffering=0) as file:
            try:
                while file.write(block):
                    pass
            except OSError:
                file.truncate(max(0, file.tell() - free * 1024))
        ran = run_limited("--workspace", root, *command)
        ballast.unlink()
        _require_mended(library, root, ran)
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def _require_mended(library: Library, root: Path, ran: subprocess.CompletedProcess[str]) -> None:
    # What Python cannot even import under the limit never came to our code.
    if "rag_assets" in ran.stderr or "Traceback" not in ran.stderr:
        require_sentence(ran)
    said = ran.stderr + ran.stdout
    require("is damaged" not in said and "was damaged" not in said, f"says: {last_line(ran)}")
    again = ingest(root)
    require(again.returncode == 0, f"afterwards: {last_line(again)}")
    require_state(root, library.after)


def processes(library: Library, chance: random.Random) -> Iterator[Attack]:
    """Yield crowds of processes that build and ask at once, without end."""
    while True:
        builds, questions = chance.randint(2, 3), chance.randint(1, 2)
        yield Attack("processes", f"{builds} ingests, {questions} questions at once",
                     "each ends well; what is published is a clean build's",
                     partial(_crowd, library, builds, questions))  # fmt: skip


def _crowd(library: Library, builds: int, questions: int, folder: Path) -> None:
    root = library.copy_to(folder)
    code = "from rag_assets.cli import main; main()"
    commands = [["ingest"]] * builds + [["query", _QUESTION]] * questions
    started = [
        subprocess.Popen(
            [sys.executable, "-c", code, "--workspace", str(root), *command],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        for command in commands
    ]  # fmt: skip
    try:
        for command, process in zip(commands, started, strict=True):
            said, _ = process.communicate(timeout=TIMEOUT_SECONDS)
            require(process.returncode == 0, f"{command[0]}: {said.strip()[-150:]}")
    except subprocess.TimeoutExpired as error:
        raise BrokeError(f"hangs: not done after {TIMEOUT_SECONDS} s") from error
    finally:
        for process in started:
            if process.poll() is None:
                process.kill()
                process.communicate()
    require_state(root, library.after)
