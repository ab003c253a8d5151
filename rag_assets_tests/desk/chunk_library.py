"""A library of small chunks for the tests of the chunk editor."""

from collections.abc import Sequence
from pathlib import Path

from rag_assets.workspace import Workspace
from rag_assets_tests.laws.driver import SMALL
from rag_assets_tests.laws.strategies import SENTENCES
from rag_assets_tests.libraries import build, make_workspace
from rag_assets_tests.parsing.made_up_pdfs import make_pdf

HOSTILE = "<img src=x onerror=document.title='taken'>"


def make_library(folder: Path, names: Sequence[str]) -> Workspace:
    """Build a library with a Markdown document of each name, a printed and a hostile one."""
    files: dict[str, str | bytes] = {f"evidence/{name}.md": text_of(name) for name in names}
    files["evidence/long.md"] = "".join(f"## Part {n}\n\n{SENTENCES[0]}\n\n" for n in range(300))
    files["evidence/printed.pdf"] = _printed()
    files["evidence/hostile.md"] = f"# {HOSTILE}\n\n`{HOSTILE}` it says. {' '.join(SENTENCES)}\n"
    workspace = make_workspace(folder / "library", files, SMALL)
    build(workspace.namespace("thesis"))
    return workspace


def text_of(name: str) -> str:
    """Return the Markdown of a document: two sections of nine sentences, in two languages."""
    return f"# About {name}\n\n{' '.join(SENTENCES)}\n\n## Nights\n\n{' '.join(SENTENCES[::-1])}\n"


def _printed() -> bytes:
    lines = [f"Line {n} says that cool roofs reflect {n} percent of the light." for n in range(12)]
    page = [(72.0, 72.0 + 20 * n, line) for n, line in enumerate(lines)]
    return make_pdf([page, [(72.0, 72.0, "The second page holds another sentence.")]])
