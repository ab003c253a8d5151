"""Kill, starve and deceive a small library, and say what held.

    python -m benchmarks.attacks [--kind KIND …] [--count N] [--seed S]

Prints a line an attack and the table: tried, held, broke. Exits 1 where anything broke. By default
a few attacks of each kind; `--count 50` tries what there is.
"""

import argparse
import os
import random
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

from benchmarks.attacks.attack import Attack, NotTriedError, make_library
from benchmarks.attacks.doors import doors
from benchmarks.attacks.files import contents, sidecars
from benchmarks.attacks.injections import injections
from benchmarks.attacks.kills import kills
from benchmarks.attacks.lies import lies
from benchmarks.attacks.machine import machine, processes
from rag_assets.model import RagError

KINDS = {
    "kills": kills,
    "machine": machine,
    "processes": processes,
    "contents": contents,
    "sidecars": sidecars,
    "injections": injections,
    "doors": doors,
    "lies": lies,
}
# A look at each kind; `--count` says more.
USUAL = {
    "kills": 3, "machine": 3, "processes": 1, "contents": 4, "sidecars": 4, "injections": 1,
    "doors": 3, "lies": 21,
}  # fmt: skip


def tried(attack: Attack, folder: Path) -> tuple[str, str]:
    """Attack; returns `held`, `broke` or `not tried`, and what was seen."""
    folder.mkdir()
    try:
        attack.run(folder)
    except NotTriedError as error:
        return "not tried", str(error)
    except (AssertionError, RagError, OSError, ValueError) as error:
        return "broke", f"{type(error).__name__}: {error}".removeprefix("BrokeError: ")
    return "held", ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", action="append", choices=[*KINDS], help="may be given again")
    parser.add_argument("--count", type=int, help="of each kind")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for variable in ("RAG_WORKSPACE", "DAGSTER_HOME"):
        os.environ.pop(variable, None)
    table: dict[str, dict[str, int]] = {}
    with tempfile.TemporaryDirectory(prefix="attacks-") as scratch:
        library = make_library(Path(scratch))
        for kind in options.kind or KINDS:
            chance = random.Random(f"{options.seed} {kind}")
            counts = table[kind] = {"held": 0, "broke": 0, "not tried": 0}
            attacks = KINDS[kind](library, chance)
            for number, attack in enumerate(islice(attacks, options.count or USUAL[kind])):
                started = time.monotonic()
                outcome, seen = tried(attack, Path(scratch) / f"{kind}-{number}")
                counts[outcome] += 1
                seconds = time.monotonic() - started
                print(f"{outcome:9} {kind:10} {seconds:5.0f} s  {attack.name}", flush=True)
                if outcome != "held":
                    print(f"          must hold: {attack.holds}\n          seen: {seen}")
    print("\n| attacks | tried | held | broke | not tried |\n|---|---|---|---|---|")
    for kind, counts in table.items():
        number = counts["held"] + counts["broke"]
        print(f"| {kind} | {number} | {counts['held']} | {counts['broke']} |"
              f" {counts['not tried']} |")  # fmt: skip
    sys.exit(any(counts["broke"] for counts in table.values()))


if __name__ == "__main__":
    main()
