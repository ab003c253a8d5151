"""One small library for all tests of the laboratory's pages; each test has a copy."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets_tests.desk.laboratory.visits import Visit, make_library, visit_laboratory


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_library(tmp_path_factory.mktemp("bases") / "lab")


@pytest.fixture
def root(tmp_path: Path, library: Path) -> Path:
    return Path(shutil.copytree(library, tmp_path / "lab"))


@pytest.fixture
def visited(root: Path) -> Iterator[Visit]:
    with visit_laboratory(root) as opened:
        yield opened
