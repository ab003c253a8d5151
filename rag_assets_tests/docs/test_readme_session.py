"""What the README shows is what the commands print, and its CI commands run as they stand."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", "docs/python.md", "docs/tables.md"]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def run(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a script as a person would: our commands on the path, no workspace named."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in {"RAG_WORKSPACE", "DAGSTER_HOME", "CI"}
    }
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    environment["PYTHONUTF8"] = "1"
    # Without a model that reads, as the README says of what it shows.
    environment["RAG_MODELS"] = str(folder / "no-models")
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8",
        timeout=900, check=False,
    )  # fmt: skip


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def prepare(folder: Path) -> None:
    (folder / "samples").symlink_to(ROOT / "samples")
    (folder / "library").mkdir()
    # `rag init` changes nothing that exists: the words-only embedder makes the run short.
    (folder / "library" / "config.yaml").write_text("embed: {kind: hashing, model: words}\n")


@pytest.mark.slow
def test_ci_commands_run_word_for_word(tmp_path: Path) -> None:
    prepare(tmp_path)
    (commands,) = blocks("bash ci")
    done = run(commands, tmp_path)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    library = tmp_path / "library"
    assert (library / "index/thesis/current.json").is_file()
    assert '"items"' in (library / "pack.json").read_text(encoding="utf-8")
    assert '"rows"' in (library / "audit.json").read_text(encoding="utf-8")
    assert done.stdout.rstrip().splitlines()[-1].split("\t")[0] in {"OK", "WEAK", "MISSING"}


@pytest.mark.slow
@pytest.mark.model
def test_shown_session_is_what_the_commands_print(tmp_path: Path) -> None:
    (console,) = blocks("console")
    shown = console.split("$ rag query", 1)[1]
    commands = re.findall(r"^\$ (rag .*)$", console, re.MULTILINE)
    script = "\n".join(
        ["rag init library", "cp -R samples/raw samples/queries samples/drafts library/",
         "cd library", "rag ingest", *commands]
    )  # fmt: skip
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    done = run(script, tmp_path)
    assert done.returncode == 0, done.stderr[-4000:]
    printed = done.stdout.splitlines()
    for line in shown.splitlines()[1:]:
        if line.startswith("$") or line.strip() in {"", "…"}:
            continue
        begin = line.removesuffix("…") if line.endswith("| …") else line
        assert any(found.startswith(begin) for found in printed), line


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
