"""A laboratory by `dagster` alone, without a language model: a run, a report, an extraction."""

import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest
import yaml

from rag_assets.lab import (
    add_product,
    find_report,
    list_items,
    list_revisions,
    living_extraction,
    open_laboratory,
    read_run,
)
from rag_assets.running import open_instance
from rag_assets.tracing import trace
from rag_assets.workspace import Workspace
from rag_assets_tests.e2e.workspaces import outside_environment, run_rag
from rag_assets_tests.lab.bases import make_bases
from rag_assets_tests.lab.laboratories import AT


def materialize(root: Path, *arguments: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "dagster", "asset", "materialize", "-m", "rag_assets.definitions",
         "--select", *arguments],
        cwd=root, env=outside_environment(), capture_output=True, text=True, timeout=300,
        check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-3000:]


@pytest.mark.slow
def test_a_run_a_report_and_an_extraction_are_materialized_and_traced(tmp_path: Path) -> None:
    root = make_bases(tmp_path / "lab").root
    config = yaml.safe_load((root / "config.yaml").read_text("utf-8"))
    # Feedback waits for its asset.
    config["lab"]["experience"]["learn"] = False
    (root / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    (root / "requests").mkdir()
    request = {"text": "A recipe for ethylene from CO2.", "policy": "rules"}
    (root / "requests" / "ethylene.yaml").write_text(yaml.safe_dump(request), encoding="utf-8")

    materialize(root, "lab/requests")
    with open_instance(Workspace.open(root)) as instance:
        (key,) = instance.get_dynamic_partitions("recipe_runs")
    materialize(root, "lab/recipe_runs", "--partition", key)
    lab = open_laboratory(Workspace.open(root))
    with lab.store.writing(AT, "ana") as writing:
        add_product(writing, "C2H4")
        run, _ = read_run(writing, key)
    assert (run.state, run.kind) == ("done", "rules")
    lab.store.close()

    given = run_rag("--workspace", root, "lab", "feedback", key, "--score", "8", "--product",
                    "C2H4=6", "--pros", "Copper beside molybdenum raised ethylene.")  # fmt: skip
    assert given.returncode == 0, given.stderr
    assert "learned" not in given.stdout
    # Its revision becomes a partition, and the report that the command made is told.
    materialize(root, "lab/requests")
    with open_instance(Workspace.open(root)) as instance:
        (revision,) = instance.get_dynamic_partitions("feedback_revisions")
        assert instance.get_materialized_partitions(REPORTS) == {revision}
        assert instance.get_materialized_partitions(EXTRACTIONS) == set()
    materialize(root, "lab/feedback_reports,lab/memory_extractions,lab/experience_index",
                "--partition", revision)  # fmt: skip
    with lab.store.reading() as reading:
        (one,) = list_revisions(reading)
        assert find_report(reading, key) == one.report
        assert one.extraction is not None
        assert living_extraction(reading, key) == one.extraction
        assert [item.content for item in list_items(reading)] == [
            "Copper beside molybdenum raised ethylene."
        ]
    assert one.key == revision
    with open_instance(Workspace.open(root)) as instance:
        assert instance.get_materialized_partitions(EXTRACTIONS) == {revision}
        experience = instance.get_latest_materialization_event(EXPERIENCE)
        assert experience is not None
        assert experience.run_id == ""  # reported, without a run

    chains = trace(Workspace.open(root), key)
    assert {chain.end for chain in chains} == {"file"}
    assert all(chain.holds for chain in chains)


REPORTS, EXTRACTIONS, EXPERIENCE = (
    dg.AssetKey(["lab", name]) for name in ("feedback_reports", "memory_extractions", "experience")
)
