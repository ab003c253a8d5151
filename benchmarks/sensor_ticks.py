"""Ticks of a namespace's sensors over many small files: all new, unchanged, with single changes.

    python benchmarks/sensor_ticks.py FOLDER FILES [SIDECARS]

The first SIDECARS files have a sidecar. Prints JSON: seconds by the clock, processor seconds and
the peak of the process's memory, tick by tick. A tick that takes 60 s is ended by Dagster.
"""

import json
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import dagster as dg

from rag_assets.defs.sensors import build_namespace_sensors
from rag_assets.model.settings import Watching
from rag_assets.storage import point_at
from rag_assets.workspace import Workspace, take_inventory
from rag_assets.workspace.creating import create_workspace

_FILES_A_FOLDER = 100
_PARAGRAPHS = 20
_UNCHANGED_TICKS = 5
# Of some 8 MB in 5,000 files: the budget of a tick is used up four times.
_SMALL_BUDGET_MEGABYTES = 2


def _path_of(folder: Path, number: int) -> Path:
    return folder / f"{number // _FILES_A_FOLDER:03d}" / f"note-{number:05d}.md"


def _make_files(folder: Path, count: int, sidecars: int) -> int:
    written = 0
    for number in range(count):
        path = _path_of(folder, number)
        path.parent.mkdir(parents=True, exist_ok=True)
        text = "".join(
            f"Paragraph {paragraph} of note {number}: it has its own bytes, 每个文件不同。\n\n"
            for paragraph in range(_PARAGRAPHS)
        )
        written += path.write_text(f"# Note {number}\n\n{text}", encoding="utf-8")
        if number < sidecars:
            said = f"title: Note {number}\nauthors: [A. Writer, B. Reader]\nyear: 2020\n"
            path.with_name(f"{path.name}.meta.yaml").write_text(said, encoding="utf-8")
    return written


class _Ticks:
    """The sensors of one process, as in a code server, with the cursors that Dagster keeps."""

    def __init__(self, root: Path, instance: dg.DagsterInstance) -> None:
        declared = Workspace.open(root).namespace("papers")
        sensors = build_namespace_sensors(declared, "papers_ingest")
        self._sensors = {sensor.name.removeprefix("papers_"): sensor for sensor in sensors}
        self._cursors: dict[str, str | None] = {}
        self._instance = instance

    def forget(self) -> None:
        """Take the cursors away, as a person may in the UI."""
        self._cursors.clear()

    def tick(self, name: str = "raw_files") -> dict[str, object]:
        context = dg.build_sensor_context(instance=self._instance, cursor=self._cursors.get(name))
        wall, processor = time.monotonic(), time.process_time()
        answer = self._sensors[name](context)
        wall, processor = time.monotonic() - wall, time.process_time() - processor
        self._cursors[name] = context.cursor
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        said = answer.skip_message if isinstance(answer, dg.SkipReason) else "run requested"
        print(f"{name}: {wall:.2f} s, {processor:.2f} s, {said}", file=sys.stderr)
        return {
            "wall_s": round(wall, 3),
            "user_plus_sys_s": round(processor, 3),
            "peak_memory_mb": peak,
            "said": said,
            "cursor_characters": len(context.cursor or ""),
        }


def _until_seen(tick: Callable[[], dict[str, object]]) -> list[dict[str, object]]:
    ticks = [tick()]
    while str(ticks[-1]["said"]).startswith("hashing goes on"):
        ticks.append(tick())
    return ticks


def main(root: Path, count: int, sidecars: int) -> None:
    workspace, _ = create_workspace(root, "papers")
    namespace = workspace.namespace("papers")
    with dg.instance_for_test() as instance:
        ticks = _Ticks(root, instance)
        result: dict[str, object] = {"files": count, "sidecars": sidecars, "nothing": ticks.tick()}
        raw = root / "raw" / "evidence"
        result["characters"] = _make_files(raw, count, sidecars)
        rest = Watching.rest_seconds
        time.sleep(rest + 1)  # files that were written just now are left alone
        result["new"] = _until_seen(ticks.tick)

        namespace.hash_cache.unlink()
        if count <= 10_000:
            Watching.megabytes_per_tick, whole = (
                _SMALL_BUDGET_MEGABYTES,
                Watching.megabytes_per_tick,
            )
            ticks.forget()
            result[f"new_with_{_SMALL_BUDGET_MEGABYTES}_megabytes_per_tick"] = _until_seen(
                ticks.tick
            )
            Watching.megabytes_per_tick = whole

        def publish() -> None:
            # As after a build, without building so many files: the pointer names what was built.
            outcome = take_inventory(namespace, notify=lambda sentence: None)
            built = {"inventory": outcome.inventory.digest, "edits": ""}
            point_at(namespace.publications, "p-none", built)

        publish()
        result["unchanged"] = unchanged = [ticks.tick() for _ in range(_UNCHANGED_TICKS)]
        if not all("nothing changed" in str(one["said"]) for one in unchanged):
            raise RuntimeError(f"the sensor saw a change where there is none: {unchanged}")
        result["chunk_edits"] = ticks.tick("chunk_edits")

        def changed(change: Callable[[], object]) -> dict[str, object]:
            change()
            time.sleep(rest + 1)
            seen = ticks.tick()
            if seen["said"] != "run requested":
                raise RuntimeError(f"the sensor did not see the change: {seen}")
            return seen

        one = _path_of(raw, 1)
        result["one_edited"] = changed(lambda: one.write_text("Edited.\n", encoding="utf-8"))
        result["one_renamed"] = changed(lambda: one.rename(one.with_name("renamed.md")))
        result["one_removed"] = changed(_path_of(raw, 2).unlink)
        publish()
        result["published_again"] = [ticks.tick() for _ in range(2)]
        if sidecars:
            beside = one.with_name(f"{_path_of(raw, 3).name}.meta.yaml")
            result["sidecar_edited"] = changed(
                lambda: beside.write_text("year: 2021\n", encoding="utf-8")
            )
    print(json.dumps(result, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    os.environ.setdefault("DAGSTER_DISABLE_TELEMETRY", "yes")
    main(Path(sys.argv[1]), int(sys.argv[2]), int((sys.argv[3:] or ["0"])[0]))
