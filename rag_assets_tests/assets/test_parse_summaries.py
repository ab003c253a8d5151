"""The quality report and the briefs are assets of the workspace, written by every parse."""

from pathlib import Path

import pytest

from rag_assets.running import materialize_stages
from rag_assets.workspace import Namespace
from rag_assets.workspace.stages import PARSE_SUMMARIES, stage_names, way_to
from rag_assets_tests.libraries import make_workspace, write_raw

FILES = {
    "evidence/roofs.md": "# Roofs\n\nCool roofs reflect the light of the sun.\n",
    "instruction/guidance/rubric.md": "# Rubric\n\nEvery claim must cite a source.\n",
}
SUMMARIES = ("parse_quality_report.md", "instruction_brief.md", "style_brief.md")


@pytest.fixture
def namespace(tmp_path: Path) -> Namespace:
    return make_workspace(tmp_path / "library", FILES).namespace("thesis")


def summaries(namespace: Namespace) -> dict[str, str]:
    meta = namespace.workspace.meta
    return {name: (meta / name).read_text() for name in SUMMARIES if (meta / name).is_file()}


@pytest.mark.parametrize("stages", [way_to("parse_reports"), stage_names()], ids=["parse", "all"])
def test_a_run_that_parses_writes_them(namespace: Namespace, stages: tuple[str, ...]) -> None:
    (namespace.workspace.root / "raw/instruction/guidance/empty.md").write_text("")
    run = materialize_stages(namespace, stages)
    assert run.is_published, run.errors
    assert set(PARSE_SUMMARIES) <= set(run.metadata)
    assert run.metadata["instruction_briefs"]["texts"] == 1
    assert "empty.md is left out" in run.metadata["instruction_briefs"]["left out"]
    found = summaries(namespace)
    assert "Every claim must cite a source" in found["instruction_brief.md"]
    assert "raw/evidence/roofs.md" in found["parse_quality_report.md"]
    assert "There is no exemplar" in found["style_brief.md"]


def test_other_runs_leave_them_alone(namespace: Namespace) -> None:
    run = materialize_stages(namespace, ("inventory",))
    assert run.is_published
    assert not set(PARSE_SUMMARIES) & set(run.metadata)
    assert summaries(namespace) == {}


def test_they_trouble_no_stage_where_they_cannot_be_written(namespace: Namespace) -> None:
    (namespace.workspace.meta / "style_brief.md").mkdir()
    write_raw(namespace.workspace, "evidence/walls.md", "# Walls\n\nWalls hold the warmth.\n")
    run = materialize_stages(namespace, stage_names())
    assert not run.is_success
    assert run.metadata["thesis/search_index"]["documents"] == 3
    assert "parse_quality_report" in run.metadata
