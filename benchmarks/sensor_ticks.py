"""Ticks of the raw-files sensor over many small files: all new, new on a budget, all unchanged."""

import json
import os
import statistics
import sys
import time
from pathlib import Path

import dagster as dg
import yaml

from rag_assets.sensors import build_namespace_sensors
from rag_assets.storage import point_at
from rag_assets.workspace import Workspace, take_inventory
from rag_assets.workspace.creating import create_workspace

_FILES_A_FOLDER = 100
_PARAGRAPHS = 20
_REPEATS = 11
# Of some 8 MB in 5,000 files: the budget of a tick is used up four times.
_SMALL_BUDGET_MEGABYTES = 2


def _make_files(folder: Path, count: int) -> int:
    written = 0
    for number in range(count):
        path = folder / f"{number // _FILES_A_FOLDER:03d}" / f"note-{number:05d}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = "".join(
            f"Paragraph {paragraph} of note {number}: it has its own bytes, 每个文件不同。\n\n"
            for paragraph in range(_PARAGRAPHS)
        )
        written += path.write_text(f"# Note {number}\n\n{text}", encoding="utf-8")
    return written


def main(root: Path, count: int) -> None:
    workspace, _ = create_workspace(root, "papers")
    size = _make_files(root / "raw" / "evidence", count)
    rest = workspace.namespace("papers").settings.sensors.rest_seconds
    time.sleep(rest + 1)  # files that were written just now are left alone

    def tick() -> tuple[float, float, str]:
        (sensor, _) = build_namespace_sensors(
            Workspace.open(root).namespace("papers"), "papers_ingest"
        )
        with dg.instance_for_test() as instance:
            context = dg.build_sensor_context(instance=instance)
            wall, processor = time.monotonic(), time.process_time()
            answer = sensor(context)
            wall, processor = time.monotonic() - wall, time.process_time() - processor
        said = answer.skip_message if isinstance(answer, dg.SkipReason) else "run requested"
        return wall, processor, str(said)

    tick_on_nothing = tick()
    namespace = workspace.namespace("papers")
    namespace.hash_cache.unlink(missing_ok=True)
    new = tick()

    namespace.hash_cache.unlink()
    config = root / "config.yaml"
    before = config.read_text(encoding="utf-8")
    settings = yaml.safe_load(before) or {}
    settings["sensors"] = {"megabytes_per_tick": _SMALL_BUDGET_MEGABYTES}
    config.write_text(yaml.safe_dump(settings), encoding="utf-8")
    budgeted = [tick()]
    while budgeted[-1][2].startswith("hashing goes on"):
        budgeted.append(tick())
    config.write_text(before, encoding="utf-8")

    # As after a build, without building 5,000 files: the pointer names what was built.
    outcome = take_inventory(namespace, notify=lambda sentence: None)
    point_at(namespace.publications, "p-none", {"inventory": outcome.inventory.digest})
    unchanged = [tick() for _ in range(_REPEATS)]
    if not all("nothing changed" in said for _, _, said in unchanged):
        raise RuntimeError(f"the sensor saw a change where there is none: {unchanged}")

    def medians(ticks: list[tuple[float, float, str]]) -> dict[str, object]:
        return {
            "ticks": len(ticks),
            "median_wall_s": round(statistics.median(wall for wall, _, _ in ticks), 3),
            "median_user_plus_sys_s": round(statistics.median(cpu for _, cpu, _ in ticks), 3),
            "raw_wall_s": [round(wall, 3) for wall, _, _ in ticks],
            "said": ticks[-1][2],
        }

    print(
        json.dumps(
            {
                "files": count,
                "characters": size,
                "first_tick_of_the_process": medians([tick_on_nothing]),
                "new": medians([new]),
                f"new_with_{_SMALL_BUDGET_MEGABYTES}_megabytes_per_tick": medians(budgeted),
                "unchanged": medians(unchanged),
            }
        )
    )


if __name__ == "__main__":
    os.environ.setdefault("DAGSTER_DISABLE_TELEMETRY", "yes")
    main(Path(sys.argv[1]), int(sys.argv[2]))
