"""A small workspace with both knowledge bases, published, and a laboratory."""

from pathlib import Path

import yaml

from rag_assets.lab.laboratory import init_laboratory
from rag_assets.workspace import Workspace
from rag_assets_tests.libraries import build, make_workspace

PAPERS = {
    "kb_principles/coupling.md": "# Coupling\n\nTiO2 doped with copper and molybdenum coupled CO "
    "to ethylene. The Cu:Mo atomic ratio of 2:1 was the most selective.\n",
    "kb_modulation/acids.md": "# Acids\n\nZr nodes were modified with 4-aminobenzoic acid; Cu and "
    "Mo doped TiO2 then gave more ethylene.\n",
}
BASES = ("kb_principles", "kb_modulation")


def make_bases(root: Path) -> Workspace:
    """Return the workspace; its embedder knows words only."""
    make_workspace(root, PAPERS)
    (root / "namespaces" / "thesis.yaml").unlink()
    for name in BASES:
        places = {"": {"source_type": "evidence", "citable": True}}
        values = {"raw": [f"raw/{name}"], "places": places}
        (root / "namespaces" / f"{name}.yaml").write_text(yaml.safe_dump(values), encoding="utf-8")
    workspace = Workspace.open(root)
    for name in BASES:
        build(workspace.namespace(name))
    init_laboratory(workspace)
    return Workspace.open(root)
