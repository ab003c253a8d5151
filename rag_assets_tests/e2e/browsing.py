"""`rag ui` on a workspace, and a headless Chromium that looks at it."""

import json
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import Any, TypeVar

import psutil
from playwright.sync_api import Page, sync_playwright

from rag_assets_tests.e2e.workspaces import MARK, marked_processes, outside_environment

CHROMIUM = next(filter(None, map(which, ("chromium", "chromium-browser", "google-chrome"))), None)
NO_CHROMIUM = "no chromium, chromium-browser or google-chrome on PATH"
VIEW = {"width": 1700, "height": 1050}
# Bounds, not expectations: a busy machine of two cores needs a minute for what takes ten seconds.
READY_SECONDS = 240
STOP_SECONDS = 120
SEE_MILLISECONDS = 120_000
_POLL_SECONDS = 0.5

Found = TypeVar("Found")
_READY = "{repositoriesOrError{__typename ... on RepositoryConnection{nodes{name}}}}"


@dataclass(frozen=True)
class Server:
    """A running `rag ui`; `mark` finds all of its processes, adopted ones included."""

    url: str
    process: "subprocess.Popen[bytes]"
    mark: str
    log: Path

    def ask(self, query: str, **variables: Any) -> dict[str, Any]:
        """Return the data of a GraphQL query."""
        request = urllib.request.Request(  # noqa: S310 - our own server, by http
            f"{self.url}/graphql",
            json.dumps({"query": query, "variables": variables}).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
            data: dict[str, Any] = json.load(answer)["data"]
        return data

    def wait(self, what: str, is_there: Callable[[], Found], seconds: float) -> Found:
        """Ask again and again until `is_there()` says something, while the server lives."""
        for _ in range(int(seconds / _POLL_SECONDS)):
            found = is_there()
            if found:
                return found
            try:
                code = self.process.wait(_POLL_SECONDS)
            except subprocess.TimeoutExpired:
                continue
            raise AssertionError(f"rag ui ended with {code}:\n{self.said()}")
        raise AssertionError(f"{what} did not come in {seconds} s:\n{self.said()}")

    def is_ready(self) -> bool:
        """Say whether the code location is loaded."""
        try:
            found = self.ask(_READY)["repositoriesOrError"]
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return False
        return bool(found.get("nodes"))

    def said(self) -> str:
        """Return the end of what the server printed."""
        return self.log.read_text(encoding="utf-8", errors="replace")[-4000:]

    def stop(self) -> list[str]:
        """Interrupt the server as Ctrl-C does; returns the command lines that outlived it."""
        family = marked_processes(self.mark)
        self.process.send_signal(signal.SIGINT)
        self.process.wait(STOP_SECONDS)
        psutil.wait_procs(family, timeout=STOP_SECONDS)
        left = marked_processes(self.mark)
        lines = [" ".join(process.cmdline()) for process in left]
        for process in left:
            process.kill()
        return lines


def free_port() -> int:
    """Return a port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@contextmanager
def serve(root: Path, log: Path, *more: str) -> Iterator[Server]:
    """Run `rag ui` on a workspace, from a shell's background as it were; stop it at the end."""
    port, mark = free_port(), uuid.uuid4().hex
    command = "from rag_assets.cli import main; main()"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                command,
                "--workspace",
                str(root),
                "ui",
                "--port",
                str(port),
                *more,
            ],
            env=outside_environment(**{MARK: mark}),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    server = Server(f"http://127.0.0.1:{port}", process, mark, log)
    try:
        server.wait("the UI", server.is_ready, READY_SECONDS)
        yield server
    finally:
        left = server.stop() if process.poll() is None else []
    assert not left, f"processes outlived `rag ui`: {left}"


@contextmanager
def browse(scale: float = 1.0) -> Iterator[Page]:
    """Open a page in headless Chromium."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        page = browser.new_page(
            viewport={"width": VIEW["width"], "height": VIEW["height"]}, device_scale_factor=scale
        )
        page.set_default_timeout(SEE_MILLISECONDS)
        yield page
        browser.close()
