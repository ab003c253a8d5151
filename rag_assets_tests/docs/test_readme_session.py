"""What the README shows is what the commands print, and the commands of the pages run."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from rag_assets.cli.main import build_cli
from rag_assets.parsing import pool
from rag_assets_tests.laws.driver import InProcessWorker
from rag_assets_tests.libraries import make_workspace
from rag_assets_tests.parsing.made_up_office import make_docx

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", "docs/python.md", "docs/tables.md"]
CI = (ROOT / "docs/ci.md").read_text(encoding="utf-8")


def run(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a script as a person would: our commands on the path, no workspace named."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    # Without a model that reads, as the README says of what it shows.
    given = {**os.environ, "PATH": path, "PYTHONUTF8": "1", "RAG_MODELS": str(folder / "none")}
    for name in ("RAG_WORKSPACE", "DAGSTER_HOME", "CI"):
        given.pop(name, None)
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder, env=given, capture_output=True, text=True, encoding="utf-8",
        timeout=900, check=False,
    )  # fmt: skip


def prepare(folder: Path) -> None:
    (folder / "samples").symlink_to(ROOT / "samples")
    (folder / "library").mkdir()
    # `rag init` changes nothing that exists: the words-only embedder makes the run short.
    (folder / "library" / "config.yaml").write_text("embed: {kind: hashing, model: words}\n")


@pytest.mark.slow
def test_ci_commands_run_word_for_word(tmp_path: Path) -> None:
    prepare(tmp_path)
    (commands,) = re.findall(r"^```bash ci\n(.*?)^```", CI, re.DOTALL | re.MULTILINE)
    done = run(commands, tmp_path)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    library = tmp_path / "library"
    assert (library / "index/thesis/current.json").is_file()
    assert '"items"' in (library / "pack.json").read_text(encoding="utf-8")
    assert '"rows"' in (library / "audit.json").read_text(encoding="utf-8")
    assert done.stdout.rstrip().splitlines()[-1].split()[0] in {"OK", "WEAK", "MISSING"}


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.parametrize("page", ["README.md", "README.zh.md"])
def test_shown_session_is_what_the_commands_print(page: str, tmp_path: Path) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    (console,) = re.findall(r"^```console\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    shutil.copy(ROOT / "samples/memo.md", tmp_path)
    shutil.copytree(ROOT / "samples/raw/evidence", tmp_path / "papers")
    # The memo cites a source that is not there: exit code 3.
    commands = re.sub(r"^(rag check .*)$", r"\1 || [ $? = 3 ]", "\n".join(
        re.findall(r"^\$ (.*)$", console, re.MULTILINE)), flags=re.MULTILINE)  # fmt: skip
    done = run(commands, tmp_path)
    assert done.returncode == 0, done.stderr[-4000:]
    printed = done.stdout.splitlines()
    shown = [line for line in console.splitlines() if line.strip(" …") and line[0] != "$"]
    assert [line for line in shown if line not in printed] == []


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_python_examples_run_as_they_stand(page: str, tmp_path: Path) -> None:
    prepare(tmp_path)
    assert run("rag init library && cp -R samples/raw samples/queries samples/drafts library/",
               tmp_path).returncode == 0  # fmt: skip
    text = (ROOT / page).read_text(encoding="utf-8")
    examples = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert examples
    if page == "docs/tables.md":
        assert run("rag --workspace library ingest", tmp_path).returncode == 0
    for number, example in enumerate(examples):
        file = tmp_path / f"example_{number}.py"
        file.write_text(example, encoding="utf-8")
        done = run(f"{sys.executable} {file.name}", tmp_path)
        assert done.returncode == 0, f"{page}, example {number + 1}: {done.stderr[-3000:]}"


SOURCE = "The coating wears off within two years {#cool-pavements-2023}."
# What a command names and the samples lack, by extension.
MADE = {
    ".md": SOURCE.encode(),
    ".tex": rb"\begin{document}It wears off \cite{cool-pavements-2023}.\end{document}",
    ".docx": make_docx(f"<w:p><w:r><w:t>{SOURCE}</w:t></w:r></w:p>"),
    ".pdf": (ROOT / "samples/raw/evidence/green-roofs-2024.pdf").read_bytes(),
}
LAWS = {
    "laws/刑法.md": "# 刑法\n\n第一百三十三条之一 在道路上追逐竞驶的，处拘役。\n",
    "laws/药品管理法.md": "# 药品管理法\n\n第八十一条 药品存在质量问题的，应当停止销售。\n",
    "laws/行政复议法.md": "# 行政复议法\n\n第十条 不履行决定的，应当处罚。\n",
}
# Serve, need a network or a laboratory, or show a placeholder: only their options are tested.
NOT_RUN = re.compile(r"rag (desk|ui|mcp|watch|models|lab (run|request))\b|\[--|\b(DIR|RUN)\b")


def commands() -> list[str]:
    """Return the commands in the blocks of the pages, and every statement of `rag sql`."""
    pages = [*sorted(ROOT.glob("README*.md")), *sorted((ROOT / "docs").glob("*.md"))]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages).replace("\\\n", " ")
    found = re.findall(r'`(rag sql "\w[^"]+")', text)
    for block in re.findall(r"^```.*?\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        found += re.findall(r"^(?:\$ )?(rag .*?)(?:  +#.*| > \S+)?$", block, re.MULTILINE)
    return found


@pytest.mark.slow
def test_commands_of_the_pages_run_on_the_samples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_workspace(tmp_path / "library", LAWS).root
    shutil.copytree(ROOT / "samples", root, dirs_exist_ok=True)
    shutil.copytree(ROOT / "samples/raw/evidence", root / "papers")
    laws = (
        'raw: [raw/laws]\nchunk: {mode: law}\nplaces: {"": {source_type: evidence, citable: true}}'
    )
    (root / "namespaces/laws.yaml").write_text(laws)
    monkeypatch.setattr(pool, "WorkerProcess", InProcessWorker)
    monkeypatch.setenv("RAG_WORKSPACE", str(root))
    monkeypatch.setenv("DAGSTER_HOME", str(root / "meta/dagster"))
    monkeypatch.chdir(root)
    for line in ["rag lab init", "rag ingest", *commands()]:
        for name in re.findall(r"[\w/-]+\.(?:md|tex|docx|pdf)\b", line):
            if not (made := Path(name)).exists() and made.parent.name != "outputs":
                made.write_bytes(MADE[made.suffix])
        shown = re.sub(r"[\[\]|…]", " ", line) + " --help" if NOT_RUN.search(line) else line
        words = shlex.split(shown)
        monkeypatch.setattr(sys, "argv", words)
        done = CliRunner().invoke(build_cli(), words[1:], catch_exceptions=False)
        assert done.exit_code != 2, f"{line}: {done.output[-300:]}"
