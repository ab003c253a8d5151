"""Count the frozen term weights of configs/term_weights.json.

    python benchmarks/fit_term_weights.py [--write]

A document is one evidence passage, reference sentence or claim of the sets whose licence lets the
counts ship. The weight of a unit is ln(N / df) over ln(N / 2), for its language's N; units that
stand in fewer than three documents are left out, and weigh 1 when they are asked.
"""

import argparse
import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterator

from support_sets import FITTING_SETS, claims_folder, read_rows

from rag_assets.evidence.wording import content_units
from rag_assets.finding import is_chinese
from rag_assets.judging.term_weights import WEIGHTS_FILE, stem
from rag_assets.model import hash_fields
from rag_assets.workspace.configuration import configs_folder

_RAREST = 3
_STEP = 0.02  # weights are kept in these steps


def documents() -> Iterator[str]:
    """Yield every text once, in a fixed order."""
    seen: set[str] = set()
    for name in FITTING_SETS:
        for row in read_rows(name):
            for text in (*row.evidence, row.claim):
                if text not in seen:
                    seen.add(text)
                    yield text
    folder = claims_folder()
    with (folder / "citations" / "clscisumm_refs.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            yield from (text for _, text in json.loads(line)["sentences"])
    with (folder / "assertions" / "hedges.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if row["set"].startswith("bioscope"):
                yield row["sentence"]


def main() -> None:
    """Count, print, and write where it is wanted."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true")
    is_written = parser.parse_args().write
    counts = {True: Counter[str](), False: Counter[str]()}
    sizes = {True: 0, False: 0}
    digest = []
    for text in documents():
        is_han = is_chinese(text)
        sizes[is_han] += 1
        digest.append(text)
        units = {stem(unit) for unit in content_units(text)}
        counts[is_han].update(u for u in units if not any(c.isdigit() for c in u))
    groups: dict[str, list[str]] = defaultdict(list)
    for is_han, counter in counts.items():
        rarest = math.log(sizes[is_han] / 2)
        for unit, count in counter.items():
            if count < _RAREST or (is_han and unit.isascii()):
                continue
            weight = math.log(sizes[is_han] / count) / rarest
            groups[f"{round(weight / _STEP) * _STEP:.2f}"].append(unit)
    stored = {
        "provenance": {
            "script": "benchmarks/fit_term_weights.py",
            "sets": [*FITTING_SETS, "clscisumm", "bioscope"],
            "documents": {"en": sizes[False], "zh": sizes[True]},
            "inputs": hash_fields(sorted(digest)),
        },
        "weights": {weight: " ".join(sorted(groups[weight])) for weight in sorted(groups)},
    }
    text = json.dumps(stored, ensure_ascii=False, indent=0) + "\n"
    print(sizes, sum(map(len, groups.values())), "units,", len(text), "characters")
    if is_written:
        (configs_folder() / WEIGHTS_FILE).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
