import os
from collections.abc import Iterator

import pytest

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
