"""Commands that are killed where they write, and what the next run makes of what is left."""

import os
import random
import shutil
import signal
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from benchmarks.attacks.attack import (
    Attack,
    Library,
    last_line,
    namespace_of,
    rag,
    require,
    require_sentence,
    require_state,
    run_limited,
)
from rag_assets_tests.e2e.workspaces import published_state

_HOLDS = "the command runs again, and ends in what a clean build publishes"
# What it says → whether it publishes the added file, and where its changes of files lie.
_COMMANDS: dict[tuple[str, ...], tuple[bool, int]] = {
    ("ingest",): (True, 120),
    ("parse",): (False, 12),
    ("namespace", "add", "second"): (False, 6),
    ("query", "Which roof was cooler at noon?"): (False, 20),
    ("verify-citations", "drafts/draft.md"): (False, 20),
    ("gc",): (False, 6),
    ("meta", "set", "roofs", "year=2024"): (False, 6),
}

_ENDINGS = {"publish": 60, "discard": 8}


def kills(library: Library, chance: random.Random) -> Iterator[Attack]:
    """Yield kills of every command in turn, each at a place of its own, without end."""
    while True:
        for command, (publishes, most) in _COMMANDS.items():
            nth = chance.randint(1, most)
            name = f"{' '.join(command[:2])}, change {nth}"
            yield Attack("kills", name, _HOLDS, partial(_kill, library, command, publishes, nth))
        for ending, most in _ENDINGS.items():
            nth = chance.randint(1, most)
            name = f"draft {ending}, change {nth}"
            yield Attack("kills", name, _HOLDS, partial(_kill_ending, library, ending, nth))


_MOVES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.truncate")


def _kill_at(nth: int, root: str) -> None:
    """Let this process be killed before its nth change of a file below a folder."""
    left = nth

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal left
        if event == "open":
            path, _, flags = arguments
            writes = isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
        else:
            path, writes = next(iter(arguments), None), event in _MOVES
        is_path = isinstance(path, str | bytes | os.PathLike)
        if writes and is_path and os.fsdecode(path).startswith(root):
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)


def _kill(
    library: Library, command: Sequence[str], publishes: bool, nth: int, folder: Path
) -> None:
    root = library.copy_to(folder)
    said = [str(root / part) if part.startswith("drafts/") else part for part in command]
    # A number beyond the command's last change kills nothing: a run undisturbed, then one more.
    killed = run_limited(
        "--workspace", root, *said, scratch=folder, before=partial(_kill_at, nth, str(root))
    )
    if killed.returncode != -9:
        require_sentence(killed)
    status = rag(root, "status")
    require_sentence(status)
    require(status.returncode in {0, 1}, f"`rag status` after it: {last_line(status)}")
    again = rag(root, *said)
    require_sentence(again)
    is_there = command[0] == "namespace" and "second" in again.stderr
    require(again.returncode == 0 or is_there, f"run again: {last_line(again)}")
    if command[0] == "meta":  # it publishes what it overrides, which no build of the files has
        return
    require_state(root, library.after if publishes else library.before)


def _kill_ending(library: Library, ending: str, nth: int, folder: Path) -> None:
    root = library.copy_to(folder)
    edit = ("edit_text", "0", "--text", "Zebras keep cool.")
    ran = rag(root, "draft", "edit", "roofs", *edit)
    require(ran.returncode == 0, f"draft edit: {last_line(ran)}")
    undisturbed = folder / "undisturbed"
    shutil.copytree(root, undisturbed)
    ends = ("publish", "roofs") if ending == "publish" else ("edit", "roofs", "discard")
    command = ("draft", *ends, "--revision", "2")
    ran = rag(undisturbed, *command)
    require(ran.returncode == 0, f"undisturbed: {last_line(ran)}")
    killed = run_limited(
        "--workspace", root, *command, scratch=folder, before=partial(_kill_at, nth, str(root))
    )
    require(killed.returncode in {-9, 0}, f"ends with {killed.returncode}: {last_line(killed)}")
    again = rag(root, *command)
    require(again.returncode == 0, f"run again: {last_line(again)}")
    require_state(root, published_state(namespace_of(undisturbed)))
    shown = rag(root, "draft", "show", "roofs")
    require("no draft; as published" in shown.stdout, f"then: {last_line(shown)}")
