"""Drafts as people have them, through `rag verify-citations`, and what docs/ci.md runs."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from rag_assets.cli.main import build_cli
from rag_assets.workspace import Workspace
from rag_assets_tests.e2e.workspaces import SETTINGS, outside_environment
from rag_assets_tests.libraries import make_workspace

NOTES = {
    "evidence/roofs.md": "# Green roofs in hot cities\n\nAnna Keller, Jonas Brandt. 2024.\n\n"
    "A green roof was 7 degrees cooler than bitumen at noon. It held half of the rain.\n",
    "evidence/streets.md": "# Shade of trees along streets\n\nMary Lee, Omar Diaz, Ida Berg. "
    "2019.\n\nTrees along a street lower the radiant temperature. Pale asphalt glares.\n",
    "evidence/树荫.md": "# 行道树对行人热舒适的影响\n\n张三，李四，王五（2021）\n\n"
    "行道树使行人感到凉爽。正午的地面温度下降了九度。\n",
}
HEAT = "A green roof was 7 degrees cooler than bitumen at noon"
TREES = "Trees along a street lower the radiant temperature"
BY_NAME = """

## References

Keller, A., & Brandt, J. (2024). Green roofs in hot cities. *Urban Climate*, *12*, 1–9.

Lee, M., Diaz, O., & Berg, I. (2019). Shade of trees along streets. *Cities*, *3*, 20–31.

Osei, K. (2018). Albedo of pavements. *Roads*, *1*, 1–4.
"""
BY_NUMBER = """

参考文献

[1] KELLER A, BRANDT J. Green roofs in hot cities[J]. Urban Climate, 2024, 12: 1-9.
[2] LEE M, DIAZ O, BERG I. Shade of trees along streets[J]. Cities, 2019, 3: 20-31.
[3] 张三, 李四, 王五. 行道树对行人热舒适的影响[J]. 城市气候, 2021, 5(2): 11-19.
"""
BIB = """@article{keller24, author = {Keller, Anna and Brandt, Jonas}, year = 2024,
  title = {Green Roofs in Hot Cities}}
@article{lee2019, author = {Mary Lee and Omar Diaz and others}, year = {2019},
  title = {Shade of Trees along Streets}}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, parse_in_process: None) -> Workspace:
    root = tmp_path_factory.mktemp("own") / "library"
    workspace = make_workspace(root, NOTES, {**SETTINGS, "verify": {"scorer": "similarity"}})
    assert call(workspace, "ingest").exit_code == 0
    return workspace


def call(workspace: Workspace, *arguments: object) -> Result:
    given = ["--workspace", str(workspace.root), *map(str, arguments)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["rag", *given])
        return CliRunner().invoke(build_cli(), given)


def checked(workspace: Workspace, text: str, *options: object, name: str = "own.md") -> Result:
    path = workspace.root.parent / name
    path.write_text(text, encoding="utf-8")
    return call(workspace, "verify-citations", path, *options)


def cited(ran: Result) -> list[tuple[str, str]]:
    """Return what each row cites, as printed, and the document or what is wrong."""
    found: list[dict[str, Any]] = json.loads(ran.stdout)["rows"]
    return [
        (row["cites"], row["reason_code"] if row["status"] == "ERROR" else row["doc_uid"])
        for row in found
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"{HEAT} (Keller & Brandt, 2024).{BY_NAME}", [("Keller & Brandt, 2024", "roofs")]),
        (
            f"{TREES} (see Lee et al., 2019, p. 21; Osei, 2018).{BY_NAME}",
            [("Lee et al., 2019, p. 21", "streets"), ("Osei, 2018", "not_in_library")],
        ),
        (f"Lee et al. (2019) found that trees cool.{BY_NAME}", [("Lee et al. (2019)", "streets")]),
        (f"{TREES} (Okoro, 2016).{BY_NAME}", [("Okoro, 2016", "no_entry")]),
        (
            f"{HEAT} [1], and {TREES.lower()} [2].{BY_NUMBER}",
            [("[1]", "roofs"), ("[2]", "streets")],
        ),
        (f"{TREES}<sup>2</sup>.{BY_NUMBER}", [("<sup>2</sup>", "streets")]),
        (f"行道树使行人感到凉爽〔3〕。{BY_NUMBER}", [("〔3〕", "树荫")]),
        (f"行道树使行人感到凉爽（张三等，2021）。{BY_NUMBER}", [("张三等，2021", "树荫")]),
        # No list: authors and year of the library's documents have to do.
        (f"{HEAT} (Keller & Brandt, 2024).", [("Keller & Brandt, 2024", "roofs")]),
    ],
)  # fmt: skip
def test_citations_as_printed_are_checked(
    library: Workspace, text: str, found: list[tuple[str, str]]
) -> None:
    ran = checked(library, text, "--json")
    assert cited(ran) == found
    assert ran.exit_code == (3 if {"not_in_library", "no_entry"} & {f for _, f in found} else 0)


def test_keys_of_a_bibliography_beside_the_draft_are_looked_up(library: Workspace) -> None:
    (library.root.parent / "keys.bib").write_text(BIB, encoding="utf-8")
    ran = checked(library, f"{HEAT} [@keller24]. {TREES} [@lee2019].", "--json", name="keys.md")
    assert cited(ran) == [("keller24", "roofs"), ("lee2019", "streets")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Roofs are warm.\n", "cites nothing"),
        (f"{HEAT} [1].\n", "no reference list was found"),
    ],
)
def test_nothing_checked_is_no_success(library: Workspace, text: str, said: str) -> None:
    ran = checked(library, text)
    assert ran.exit_code == 3
    assert said in " ".join(ran.stdout.split())


def test_what_could_not_be_checked_is_said_first(library: Workspace) -> None:
    ran = checked(library, f"{HEAT} (Keller & Brandt, 2024). {TREES} (Okoro, 2016).{BY_NAME}")
    assert ran.stdout.startswith("1 of 2 citations was not checked")


def test_fail_on_says_which_verdicts_fail(library: Workspace) -> None:
    text = f"Penguins invented the steam engine in Lima (Keller & Brandt, 2024).{BY_NAME}"
    assert checked(library, text, "--fail-on", "unpaired").exit_code == 0
    assert checked(library, text, "--fail-on", "missing").exit_code == 3


def test_sarif_names_file_line_rule_and_level(library: Workspace, tmp_path: Path) -> None:
    target = tmp_path / "out.sarif"
    text = f"Intro.\n\n{TREES} (Okoro, 2016).{BY_NAME}"
    checked(library, text, "--sarif", target)
    (run,) = json.loads(target.read_text("utf-8"))["runs"]
    (result,) = run["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"].endswith("own.md")
    assert (place["region"]["startLine"], result["level"]) == (3, "error")
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "no_entry"


def test_the_hook_and_the_workflow_of_the_documentation_run(
    library: Workspace, tmp_path: Path
) -> None:
    hooks, workflow = map(
        yaml.safe_load,
        re.findall(r"```yaml\n(.*?)```", Path("docs/ci.md").read_text("utf-8"), re.DOTALL),
    )
    draft = library.drafts / "chapter.md"
    draft.write_text(f"{TREES} (Okoro, 2016).{BY_NAME}", encoding="utf-8")
    rag = tmp_path / "rag"
    rag.write_text(
        f"#!/bin/sh\nexec {sys.executable} -c 'from rag_assets.cli import main; main()' \"$@\"\n"
    )
    rag.chmod(0o755)
    environment = outside_environment(PATH=f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    (hook,) = hooks["repos"][0]["hooks"]
    assert re.search(hook["files"], "drafts/chapter.md")
    steps = [step["run"] for step in workflow["jobs"]["citations"]["steps"] if "run" in step]
    checks = [step for step in steps if "verify-citations" in step]
    for command in (f"{hook['entry']} drafts/chapter.md", *checks):
        ran = subprocess.run(
            ["sh", "-c", command], cwd=library.root, env=environment, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        assert ran.returncode in {1, 3}, ran.stderr
        assert "Okoro, 2016" in ran.stdout
    assert (library.root / "citations.sarif").is_file()
