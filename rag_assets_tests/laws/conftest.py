from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets.parsing import pool
from rag_assets.workspace import Namespace, Workspace
from rag_assets_tests.laws.driver import InProcessWorker, make_workspace


@pytest.fixture(scope="package", autouse=True)
def parse_in_process() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "WorkerProcess", InProcessWorker)
        yield


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return make_workspace(tmp_path / "library")


@pytest.fixture
def namespace(workspace: Workspace) -> Namespace:
    return workspace.namespace("lib")
