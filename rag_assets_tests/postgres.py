"""A Postgres of a test's own: in a folder that goes with it, on a free port of this machine."""

import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

# Where Debian's package lays its programs, newest last.
_DEBIAN = "/usr/lib/postgresql"
_USER = "rag"
# Whom the server runs as where the tests run as root, which it refuses.
_OTHERS = ("postgres", "nobody")


@dataclass(frozen=True, slots=True)
class Postgres:
    """Where a server listens, and with what."""

    port: int
    password: str

    @property
    def environment(self) -> dict[str, str]:
        """What a team's dagster.yaml asks the environment for."""
        return {
            "DAGSTER_PG_HOST": "127.0.0.1",
            "DAGSTER_PG_PORT": str(self.port),
            "DAGSTER_PG_DB": "postgres",
            "DAGSTER_PG_USERNAME": _USER,
            "DAGSTER_PG_PASSWORD": self.password,
        }

    @property
    def url(self) -> str:
        """The same for SQLAlchemy."""
        return f"postgresql+psycopg2://{_USER}:{self.password}@127.0.0.1:{self.port}/postgres"


def why_not() -> str | None:
    """Return why no server can be started here, None where one can."""
    if find_spec("dagster_postgres") is None:
        return "dagster-postgres is not installed: `pip install 'rag-assets[postgres]'`"
    if _programs() is None:
        return "no initdb on this machine: `apt-get install postgresql` brings one"
    if os.geteuid() == 0 and _other_user() is None:
        return f"Postgres does not run as root, and there is no user {' or '.join(_OTHERS)}"
    return None


@contextmanager
def running_postgres() -> Iterator[Postgres]:
    """Yield a server that has just been made; it ends with the block."""
    programs = _programs()
    assert programs is not None
    folder = Path(tempfile.mkdtemp(prefix="rag-postgres-"))
    data, log = folder / "data", folder / "log"
    password = secrets.token_hex()
    try:
        (folder / "password").write_text(password)
        other = _other_user() if os.geteuid() == 0 else None
        if other is not None:
            for path in (folder, folder / "password"):
                shutil.chown(path, user=other)
        initdb = [programs / "initdb", "-D", data, "-U", _USER, f"--pwfile={folder / 'password'}"]
        _run([*initdb, "-A", "scram-sha-256", "-E", "UTF8", "--no-sync"], folder, other)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        # No socket in the file system; what a test stores need not outlive a power cut.
        options = f"-c listen_addresses=127.0.0.1 -p {port} -c unix_socket_directories='' -F"
        pg_ctl = [programs / "pg_ctl", "-D", data, "-w"]
        try:
            _run([*pg_ctl, "-l", log, "-o", options, "start"], folder, other)
            yield Postgres(port, password)
        finally:
            if (data / "postmaster.pid").exists():
                _run([*pg_ctl, "-m", "fast", "stop"], folder, other)
    finally:
        shutil.rmtree(folder)


def _programs() -> Path | None:
    places = sorted(
        (path for path in Path(_DEBIAN).glob("*/bin") if path.parent.name.isdigit()),
        key=lambda path: int(path.parent.name),
    )
    on_path = shutil.which("initdb")
    places += [Path(on_path).resolve().parent] if on_path else []
    return next((p for p in reversed(places) if (p / "initdb").is_file()), None)


def _other_user() -> str | None:
    known = {entry.pw_name for entry in pwd.getpwall()}
    return next((name for name in _OTHERS if name in known), None)


def _run(command: list[object], folder: Path, user: str | None) -> None:
    ran = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        user=user,
        # Else it would keep the groups of root.
        extra_groups=[] if user else None,
        stdout=subprocess.DEVNULL,  # the server would hold a pipe open
        stderr=subprocess.DEVNULL,
        check=False,
    )
    log = folder / "log"
    assert ran.returncode == 0, log.read_text() if log.exists() else command
