from pathlib import Path

import pytest

from rag_assets.workspace import Namespace
from rag_assets_tests.laws.driver import build, make_workspace, put
from rag_assets_tests.laws.strategies import SENTENCES

ROOFS = f"# Roofs\n\n{' '.join(SENTENCES)}\n\n## Nights\n\n{' '.join(reversed(SENTENCES))}\n"
LEAF = f"# Leaf\n\n{' '.join(SENTENCES[2:5])}\n"


@pytest.fixture
def namespace(tmp_path: Path) -> Namespace:
    """Two published documents, roofs and leaf."""
    workspace = make_workspace(tmp_path / "library")
    put(workspace, "evidence/roofs.md", ROOFS)
    put(workspace, "evidence/leaf.md", LEAF)
    namespace = workspace.namespace("lib")
    build(namespace)
    return namespace
