from pathlib import Path

import pytest

from rag_assets.workspace import Namespace, Workspace
from rag_assets_tests.laws.driver import make_workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return make_workspace(tmp_path / "library")


@pytest.fixture
def namespace(workspace: Workspace) -> Namespace:
    return workspace.namespace("lib")
