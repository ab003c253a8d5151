"""A small library with a PDF, a text without pages and what must not be cited."""

import shutil
from pathlib import Path

import pytest

from rag_assets.workspace import Workspace
from rag_assets_tests.libraries import build, make_workspace
from rag_assets_tests.parsing.made_up_pdfs import make_pdf, paragraph

ROOFS_TITLE = "Cool roofs in warm cities"
# A hyphen at the end of a line and a sentence that begins within a line.
ROOFS = make_pdf(
    [
        [(70, 80, ROOFS_TITLE, 20), *paragraph(
            "We measured surfaces for two years. Sedum roofs were 16.7 degrees cooler than bitu-",
            "men in every summer month, and the wet ones cooler still. Rain changed",
            "nothing about that.",
            y=160,
        )],
        paragraph("In the street below the roofs no cooling was found at all.", y=100),
    ],
    title=ROOFS_TITLE,
)  # fmt: skip
FILES: dict[str, str | bytes] = {
    "evidence/roofs.pdf": ROOFS,
    "evidence/roofs.pdf.meta.yaml": "authors: [Anna Müller, 欧阳修文]\nyear: 2019\n"
    "doi: 10.1000/roofs_1%2\ncitation_key: mueller2019\n",
    "evidence/树木.md": "# 行道树\n\n树冠覆盖率最高的街道午后气温低1.8度。\n",
    "evidence/asked.md": "Q: How much cooler are sedum roofs?\nA: By sixteen degrees in July.\n\n"
    "Q: Why are white roofs cool?\nA: They reflect sunlight.\n",
    "instruction/guidance/rubric.md": "# Rubric\n\nSedum roofs must be discussed critically.\n",
}


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Return a workspace that tests read and ask, and never change otherwise."""
    made = make_workspace(tmp_path_factory.mktemp("cited"), FILES)
    build(made.namespace("thesis"))
    return made


@pytest.fixture
def own(library: Workspace, tmp_path: Path) -> Workspace:
    """Return a copy of the library that the test may write into."""
    root = tmp_path / "own"
    ignored = shutil.ignore_patterns("outputs", "query_runs", "version_log.jsonl")
    shutil.copytree(library.root, root, ignore=ignored)
    return Workspace.open(root)
