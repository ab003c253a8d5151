"""What the UI shows of a run over several partitions."""

import dagster as dg

from rag_assets.defs.assets.reporting import report_partitions, run_metadata
from rag_assets.model import DocumentStatus, StageOutcome

FULL = StageOutcome(
    "d1",
    (
        DocumentStatus("raw/a.md", "ok", "", {}),
        DocumentStatus("raw/b.pdf", "failed", "damaged", {}),
    ),
    {"documents": 2, "chunks": 5, "mean_length": 7},
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
    assert [found[key]["documents"] for key in "012"] == [2, 0, 0]
    assert [found[key].get("chunks") for key in "012"] == [5, None, None]
    for metadata in found.values():
        # First, and numbers: an overview shows one partition, whichever was stored last.
        totals = dict(list(metadata.items())[:5])
        assert totals == {
            "whole run: documents": 2,
            "whole run: failed": 1,
            "whole run: seconds": 0.1,
            "whole run: chunks": 5,
            "whole run: computed": 2,
        }
        # Dagster paints an empty partition like a full one: links lead to those with documents.
        assert metadata["whole run"] == (
            "Partitions 0 to 2, 1 of 3 with documents.\n\n"
            "[0](/assets/stage?view=partitions&partition=0): 2 documents\n\n"
            "- `raw/b.pdf` — failed: damaged"
        )


def test_a_partition_tells_first_what_a_person_asks_and_its_digest_last() -> None:
    names = list(shown({"0": FULL})["0"])
    assert names[:3] == ["documents", "failed", "seconds"]
    assert names[-1] == "digest"


def test_with_very_many_partitions_the_links_are_few() -> None:
    told = run_metadata(dg.AssetKey("stage"), {f"{n:02x}": FULL for n in range(256)})["whole run"]
    assert "256 of 256 with documents" in told.value
    assert told.value.count("](/assets/") == 32
    assert "and 224 more" in told.value


def test_a_run_over_one_partition_needs_no_totals() -> None:
    assert "whole run" not in shown({"0": FULL})["0"]
