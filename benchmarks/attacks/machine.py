"""A machine that lacks memory, open files or disk, and processes that build at once."""

import random
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.attacks.attack import (
    Attack,
    Library,
    NotTriedError,
    ingest,
    last_line,
    require,
    require_sentence,
    require_state,
    run_limited,
)
from benchmarks.attacks.forked import Limits, start

# Of address space, beyond what a command has when it has imported what it needs.
_MEGABYTES = (20, 60, 150, 300, 600, 1200)
_FILES = (12, 20, 32, 48, 64)
_FREE_KILOBYTES = (0, 8, 64, 160)
_HOLDS = "a sentence, nothing called damaged, and afterwards a clean build's state"
_QUESTION = "Which roof was cooler at noon?"


def machine(library: Library, chance: random.Random) -> Iterator[Attack]:
    """Yield limits of each sort in turn, without end."""
    while True:
        memory, files = chance.choice(_MEGABYTES), chance.choice(_FILES)
        free = chance.choice(_FREE_KILOBYTES)
        little = Limits(memory_bytes=memory * 2**20)
        few = Limits(files=files)
        for command in (("ingest",), ("query", _QUESTION)):
            for what, attack in (
                (f"{memory} MB of memory left", partial(_limited, library, command, little)),
                (f"{files} open files", partial(_limited, library, command, few)),
                (f"{free} kB of disk", partial(_full_disk, library, command, free)),
            ):
                yield Attack("machine", f"{command[0]}, {what}", _HOLDS, attack)


def _limited(library: Library, command: tuple[str, ...], limits: Limits, folder: Path) -> None:
    root = library.copy_to(folder)
    ran = run_limited("--workspace", root, *command, scratch=folder, limits=limits)
    _require_mended(library, root, ran)


def _full_disk(library: Library, command: tuple[str, ...], free: int, folder: Path) -> None:
    disk = folder / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        raise NotTriedError("no small disk can be mounted here")
    try:
        root = library.copy_to(disk)
        ballast, block = disk / "ballast", bytes(4096)
        with ballast.open("wb", buffering=0) as file:
            try:
                while file.write(block):
                    pass
            except OSError:
                file.truncate(max(0, file.tell() - free * 1024))
        ran = run_limited("--workspace", root, *command, scratch=folder)
        ballast.unlink()
        _require_mended(library, root, ran)
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def _require_mended(library: Library, root: Path, ran: subprocess.CompletedProcess[str]) -> None:
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
    commands = [["ingest"]] * builds + [["query", _QUESTION]] * questions
    started = [start("--workspace", root, *command, folder=folder) for command in commands]
    try:
        for command, process in zip(commands, started, strict=True):
            ran = process.end()
            require(ran.returncode == 0, f"{command[0]}: {last_line(ran)}")
    finally:
        for process in started:
            process.kill()
    require_state(root, library.after)
