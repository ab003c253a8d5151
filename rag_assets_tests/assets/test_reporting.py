"""What the UI shows of a run over several partitions."""

import dagster as dg

from rag_assets.assets.reporting import report_partitions
from rag_assets.model import DocumentStatus, StageOutcome

FULL = StageOutcome(
    "d1",
    (
        DocumentStatus("raw/a.md", "ok", "", {}),
        DocumentStatus("raw/b.pdf", "failed", "damaged", {}),
    ),
    {"documents": 2, "chunks": 5},
    2,
    0.1,
)
EMPTY = StageOutcome("d0", (), {"documents": 0, "chunks": 0}, 0, 0.0)


def shown(outcomes: dict[str, StageOutcome]) -> dict[str, dict[str, object]]:
    keys = list(outcomes)

    @dg.asset(
        partitions_def=dg.StaticPartitionsDefinition(keys),
        backfill_policy=dg.BackfillPolicy.single_run(),
    )
    def stage(context: dg.AssetExecutionContext) -> None:
        report_partitions(context, outcomes)

    tags = {
        "dagster/asset_partition_range_start": keys[0],
        "dagster/asset_partition_range_end": keys[-1],
    }
    with dg.DagsterInstance.ephemeral() as instance:
        run = dg.materialize([stage], instance=instance, tags=tags)
    found = {}
    for event in run.asset_materializations_for_node("stage"):
        assert event.partition is not None
        found[event.partition] = {name: entry.value for name, entry in event.metadata.items()}
    return found


def test_each_partition_has_its_own_figures_and_the_totals_of_the_run() -> None:
    found = shown({"0": FULL, "1": EMPTY, "2": EMPTY})
    assert [found[key]["chunks"] for key in "012"] == [5, 0, 0]
    for metadata in found.values():
        # First: an overview shows one partition, whichever was stored last.
        assert next(iter(metadata)) == "whole run"
        assert metadata["whole run"] == (
            "3 partitions, 0 to 2: 2 documents, 5 chunks, 2 computed.\n\n"
            "- `raw/b.pdf` — failed: damaged"
        )


def test_a_run_over_one_partition_needs_no_totals() -> None:
    assert "whole run" not in shown({"0": FULL})["0"]
