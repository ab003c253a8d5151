import os
import sys
from collections.abc import Callable, Iterator

import pytest
from click.testing import CliRunner, Result

from rag_assets.cli.main import build_cli
from rag_assets.parsing import pool
from rag_assets_tests.laws.driver import InProcessWorker


@pytest.fixture(scope="module")
def parse_in_process() -> Iterator[None]:
    """Builds in the tests' own process start no workers; those in other processes do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "WorkerProcess", InProcessWorker)
        yield


@pytest.fixture(autouse=True)
def environment_as_before() -> Iterator[None]:
    """A command names its workspace in the environment of its process; here many share one."""
    before = dict(os.environ)
    os.environ.pop("RAG_WORKSPACE", None)
    os.environ.pop("DAGSTER_HOME", None)
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture
def rag(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Run `rag` in the tests' own process: the imports are paid for once."""

    def run(*arguments: object) -> Result:
        given = [str(argument) for argument in arguments]
        monkeypatch.setattr(sys, "argv", ["rag", *given])
        return CliRunner().invoke(build_cli(), given)

    return run
