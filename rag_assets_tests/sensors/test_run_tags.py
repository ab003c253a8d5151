"""A run that a sensor asks for carries two tags of ours, that a person can read."""

import dagster as dg
import pytest

from rag_assets.workspace import Workspace

from .conftest import Ask, publish_as_seen


def ours(request: dg.RunRequest) -> set[str]:
    return {tag for tag in request.tags if not tag.startswith("dagster/")}


@pytest.mark.usefixtures("later")
def test_runs_of_every_sensor_carry_two_tags_of_ours(ask: Ask, workspace: Workspace) -> None:
    (workspace.root / "raw/evidence/note.md").write_text("Leaves cool the street.")
    raw = ask("thesis_raw_files")
    assert isinstance(raw, dg.RunRequest)
    publish_as_seen(workspace)
    (workspace.queries / "q.yaml").write_text("question: Do leaves cool?\n")
    (workspace.drafts / "chapter.md").write_text("Leaves cool. {#note}\n")
    asked = [ask("questions"), ask("drafts")]
    (workspace.root / "config.yaml").write_text(
        "embed: {kind: hashing, model: words}\nchunk: {target_tokens: 99}\n"
    )
    configuration = ask("thesis_configuration")
    assert isinstance(configuration, dg.RunRequest)
    of_files = [run for each in asked if isinstance(each, dg.SensorResult)
                for run in each.run_requests or ()]  # fmt: skip
    assert len(of_files) == 2
    assert ours(raw) == ours(configuration) == {"rag/state", "rag/reason"}
    assert [ours(run) for run in of_files] == [{"rag/partition", "rag/reason"}] * 2
