"""A run on Ray for a process of its own: `python -m rag_assets_tests.execution.narrow WHAT FOLDER`.

WHAT is `parse` (the notes of the folder) or what the fourth of six jobs does (`harm.Act`). It
prints a line of JSON: results, beginnings, what was told.
"""

import json
import sys
from pathlib import Path

from rag_assets.storage.execution import open_engine
from rag_assets_tests.execution.harm import Act, Acts, begun
from rag_assets_tests.execution.test_ray import parse


def main() -> None:
    what, folder = sys.argv[1], Path(sys.argv[2])
    told: list[str] = []
    with open_engine("ray") as engine:
        if what == "parse":
            reports = parse(folder, engine, notify=told.append, megabytes_of_memory=16_000)
            results = {
                name: (each.status, each.reason_code, each.kind) for name, each in reports.items()
            }
        else:
            acts = ["gives", "gives", "gives", what, "gives", "gives"]
            jobs = [Act(number, act) for number, act in enumerate(acts)]
            results = dict(engine.map(Acts(folder), jobs, told.append))
    counted = {name: times for name, times in begun(folder).items() if name != "closed"}
    sys.stdout.write(json.dumps({"results": results, "begun": counted, "told": told}) + "\n")


if __name__ == "__main__":
    main()
