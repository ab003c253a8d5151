"""The project in examples/ works as its README says."""

import importlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest
from pydantic import ValidationError

from rag_assets.components import NamespaceParams
from rag_assets_tests.e2e.workspaces import outside_environment
from rag_assets_tests.libraries import make_workspace

EXAMPLE = Path(__file__).parents[2] / "examples/dagster_project"
TREES = "# Trees\n\nStreets with trees were three degrees cooler at noon.\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the example with a library in it."""
    shutil.copytree(EXAMPLE, tmp_path / "project")
    make_workspace(tmp_path / "project/library", {"evidence/trees.md": TREES})
    return tmp_path / "project"


def test_the_project_is_materialized_and_follows_the_publication(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(project / "src"))
    monkeypatch.chdir(project)
    try:
        definitions = importlib.import_module("my_thesis.definitions").defs()
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "my_thesis"]:
            del sys.modules[name]
    assert definitions.executor is dg.in_process_executor
    library = [key for key in definitions.resolve_all_asset_keys() if key.path[0] == "thesis"]

    def run(*keys: dg.AssetKey) -> None:
        ends = {"start": "0", "end": "f"} if len(keys) > 1 else {}
        definitions.resolve_implicit_global_asset_job_def().execute_in_process(
            instance=instance,
            asset_selection=list(keys),
            tags={f"dagster/asset_partition_range_{end}": key for end, key in ends.items()},
        )

    with dg.DagsterInstance.ephemeral() as instance:
        cursor, requested = None, []
        for more in ("", "", "It rained."):  # a first look; nothing new; another publication
            (project / "library/raw/evidence/trees.md").write_text(f"{TREES}{more}\n")
            run(*library)
            looked = dg.evaluate_automation_conditions(definitions, instance, cursor=cursor)
            cursor, requested = looked.cursor, [*requested, looked.total_requested]
        assert requested[1:] == [0, 1]
        run(dg.AssetKey("street_trees"))
    written = (project / "street_trees.md").read_text(encoding="utf-8")
    assert "“Streets with trees were three degrees cooler at noon.” (trees, " in written


def test_its_defs_yaml_is_what_dg_scaffolds(project: Path) -> None:
    written = project / "src/my_thesis/defs/thesis/defs.yaml"
    expected = written.read_text(encoding="utf-8")
    shutil.rmtree(written.parent)
    dg_command = Path(sys.executable).parent / "dg"
    ran = subprocess.run(
        f"{dg_command} scaffold defs rag_assets.RagNamespace thesis --workspace library "
        "--namespace thesis".split(),
        cwd=project,
        env=outside_environment(HOME=str(project)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert written.read_text(encoding="utf-8") == expected


def test_scaffolding_what_could_not_be_loaded_is_refused(project: Path) -> None:
    for folder, name, told in (
        ("library", "thesi", "no namespace 'thesi' (declared: thesis)"),
        ("src", "thesis", "src is not a workspace"),
    ):
        with pytest.raises(ValidationError, match=re.escape(told)):
            NamespaceParams(workspace=str(project / folder), namespace=name)
