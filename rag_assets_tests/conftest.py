import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from rag_assets.llm.local_models import CACHE_VARIABLE, default_folder
from rag_assets.parsing import pool
from rag_assets.workspace import environment_file
from rag_assets_tests.durations import read_durations, slow_files
from rag_assets_tests.laws.driver import InProcessWorker
from rag_assets_tests.storage.object_servers import seaweedfs_server, store_url  # noqa: F401

if "PYTEST_XDIST_WORKER" in os.environ:
    # Side by side, each process and those it starts have a core; threads would fight over them.
    os.environ.setdefault("OMP_NUM_THREADS", "1")

_KEPT_MODELS = os.environ.get(CACHE_VARIABLE)

# A shell that starts us in the background makes SIGINT ignored; Dagster, run by a test, copies that
# to SIGTERM, and what tests start inherits both and could not be ended.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The clock decides nothing: beside other processes an example of a millisecond may take a second.
# `--hypothesis-profile nightly` looks harder; 25 examples find what a change breaks.
settings.register_profile("whatever-the-clock", max_examples=25, deadline=None)
settings.register_profile("nightly", max_examples=300, deadline=None)
settings.load_profile("whatever-the-clock")


@pytest.fixture(autouse=True)
def _no_workspace_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test read the `.env` of a workspace that an earlier one worked on."""
    monkeypatch.setattr(environment_file._Chosen, "workspace", None)


@pytest.fixture(scope="session", autouse=True)
def _no_model_is_here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let no verdict depend on the models that this machine happens to keep."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CACHE_VARIABLE, str(tmp_path_factory.mktemp("no-models")))
        yield


@pytest.fixture
def kept_models(monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of models of this machine, for the tests that need a real one."""
    if _KEPT_MODELS is None:
        monkeypatch.delenv(CACHE_VARIABLE)
    else:
        monkeypatch.setenv(CACHE_VARIABLE, _KEPT_MODELS)
    return default_folder()


# Here worker processes are what is tested; e2e says for itself when it needs none.
_WITH_WORKERS = (
    "e2e/", "parsing/test_workers.py", "parsing/test_mineru.py", "parsing/test_real_papers.py",
    "benchmarks/test_survival.py", "execution/test_ray.py",
)  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def _parse_in_process(request: pytest.FixtureRequest) -> Iterator[None]:
    """Start no worker for the builds of other tests: each takes seconds of imports."""
    with pytest.MonkeyPatch.context() as patch:
        if not _place(request.path, request.config).startswith(_WITH_WORKERS):
            patch.setattr(pool, "WorkerProcess", InProcessWorker)
        yield


def _place(path: Path, config: pytest.Config) -> str:
    return path.relative_to(config.rootpath / "rag_assets_tests").as_posix()


# Folders whose files take minutes, first: else the last of them runs while other cores rest.
_LONG_FIRST = ("e2e", "laws", "parsing", "auditing", "evaluation", "benchmarks")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what durations.tsv says is slow, and put the files of long folders first."""
    slow = slow_files(read_durations())
    for item in items:
        if _place(item.path, item.config) in slow:
            item.add_marker(pytest.mark.slow)

    def place(item: pytest.Item) -> int:
        folder = _place(item.path, item.config).partition("/")[0]
        return _LONG_FIRST.index(folder) if folder in _LONG_FIRST else len(_LONG_FIRST)

    items.sort(key=place)
