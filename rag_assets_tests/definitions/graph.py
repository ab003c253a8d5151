"""The asset graph of a workspace as plain, readable values.

`python -m rag_assets_tests.definitions.graph` writes `asset_graph.json` anew.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

import dagster as dg

from rag_assets.definitions import build_definitions
from rag_assets.workspace import Workspace, create_workspace

SNAPSHOT = Path(__file__).parent / "asset_graph.json"


def make_workspace(root: Path) -> Workspace:
    """Return a workspace with one namespace, as `rag init` makes it."""
    workspace, _ = create_workspace(root, "thesis")
    return workspace


def describe_graph(workspace: Workspace) -> dict[str, Any]:
    """Return assets, checks, sensors and jobs by name."""
    definitions = build_definitions(workspace)
    graph = definitions.resolve_asset_graph()
    assets = {}
    for key in graph.toposorted_asset_keys:
        node = graph.get(key)
        assets[key.to_user_string()] = {
            "deps": sorted(parent.to_user_string() for parent in node.parent_keys),
            "group": node.group_name,
            "description": node.description,
            "kinds": sorted(
                tag.removeprefix("dagster/kind/")
                for tag in node.tags
                if tag.startswith("dagster/kind/")
            ),
            "owners": sorted(node.owners),
            "code_version": node.code_version,
            "partitions": _describe_partitions(node.partitions_def),
            "one_run_for_a_range": node.backfill_policy == dg.BackfillPolicy.single_run(),
            "checks": {
                check.name: {
                    "description": graph.get_check_spec(check).description,
                    "blocking": graph.get_check_spec(check).blocking,
                }
                for check in sorted(node.check_keys, key=lambda check: check.name)
            },
        }
    return {
        "assets": assets,
        "sensors": {
            sensor.name: {
                "job": sensor.job_name if sensor.has_jobs or sensor.targets else None,
                "runs_by_default": sensor.default_status == dg.DefaultSensorStatus.RUNNING,
                "seconds": sensor.minimum_interval_seconds,
                "description": sensor.description,
            }
            for sensor in sorted(definitions.sensors or (), key=lambda sensor: sensor.name)
        },
        "jobs": {
            job.name: sorted(key.to_user_string() for key in job.asset_layer.executable_asset_keys)
            for job in sorted(definitions.resolve_all_job_defs(), key=lambda job: job.name)
            if not job.name.startswith("__")
        },
    }


def _describe_partitions(partitions: dg.PartitionsDefinition | None) -> str | None:
    if partitions is None:
        return None
    if isinstance(partitions, dg.DynamicPartitionsDefinition):
        return f"dynamic: {partitions.name}"
    keys = partitions.get_partition_keys()
    return f"{len(keys)} static: {keys[0]} to {keys[-1]}"


def write_snapshot() -> None:
    """Write the snapshot anew."""
    with tempfile.TemporaryDirectory() as folder:
        graph = describe_graph(make_workspace(Path(folder) / "library"))
    SNAPSHOT.write_text(json.dumps(graph, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_snapshot()
