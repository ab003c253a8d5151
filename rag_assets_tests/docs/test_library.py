"""The ten lines of docs/library.md are those of the notebook, and they run."""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Runs a cell as a notebook does: `await` may stand outside of functions.
_RUN = """
import ast, asyncio, inspect, sys
code = compile(open(sys.argv[1]).read(), "cell", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
names = {"__name__": "__main__"}
async def run():
    waiting = eval(code, names)
    if inspect.isawaitable(waiting):
        await waiting
asyncio.run(run())
"""


def ten_lines() -> str:
    page = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
    found = re.search(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert found
    return found[1].rstrip("\n")


def test_page_shows_what_the_notebook_holds_in_ten_lines() -> None:
    notebook = json.loads((ROOT / "samples" / "library.ipynb").read_text(encoding="utf-8"))
    (cell,) = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert "".join(cell["source"]) == ten_lines()
    # Long ones are wrapped: a line is a statement.
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    assert len(compile(ten_lines(), "page", "exec", flags).body) == 10


@pytest.mark.slow
def test_notebook_runs_from_an_empty_folder_to_a_cited_context(tmp_path: Path) -> None:
    (tmp_path / "cell.py").write_text(ten_lines(), encoding="utf-8")
    (tmp_path / "knowledge").mkdir()
    # What exists is not changed: the words-only embedder makes the run short.
    config = tmp_path / "knowledge" / "config.yaml"
    config.write_text("embed: {kind: hashing, model: words}\nparse: {workers: 1}\n")
    hidden = {"RAG_WORKSPACE", "DAGSTER_HOME"}
    done = subprocess.run(
        [sys.executable, "-c", _RUN, "cell.py"], cwd=tmp_path, capture_output=True, text=True,
        env={k: v for k, v in os.environ.items() if k not in hidden}, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert "1 chunk, nothing stored" in done.stdout
    assert "[C1] Roofs" in done.stdout
    assert "7 degrees cooler" in done.stdout
    assert re.search(r"\{'C1': 'kb:demo__chunk-[0-9a-f]{16}'\}", done.stdout)


def test_example_of_a_script_can_be_read(tmp_path: Path) -> None:
    from rag_assets.llm import read_script

    page = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    script = next(s for s in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL) if "answers" in s)
    (tmp_path / "script.yaml").write_text(script, encoding="utf-8")
    assert len(read_script(tmp_path / "script.yaml").answers) == 3
