"""The sample papers, published, and a search of them."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets.retrieval import Retriever
from rag_assets.workspace import Workspace
from rag_assets_tests.libraries import build, make_workspace

EVIDENCE = Path(__file__).parents[2] / "samples" / "raw" / "evidence"
INSTRUCTION = {"instruction/guidance/rubric.md": "# Rubric\n\nSedum roofs must be discussed.\n"}


@pytest.fixture(scope="session")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    papers = {f"evidence/{one.name}": one.read_bytes() for one in sorted(EVIDENCE.glob("*.pdf"))}
    made = make_workspace(tmp_path_factory.mktemp("papers"), {**papers, **INSTRUCTION})
    build(made.namespace("thesis"))
    return made


@pytest.fixture(scope="session")
def retriever(workspace: Workspace) -> Iterator[Retriever]:
    with Retriever(workspace) as opened:
        yield opened


@pytest.fixture
def own(workspace: Workspace, tmp_path: Path) -> Workspace:
    """Return a copy of the published papers that the test may write into."""
    root = tmp_path / "own"
    shutil.copytree(workspace.root, root, ignore=shutil.ignore_patterns("outputs"))
    return Workspace.open(root)
