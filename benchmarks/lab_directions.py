"""How often the direction that `rag_assets.lab.evidence` reads of a sentence is the labelled one.

    python -m benchmarks.lab_directions [FILE]

Each line of benchmarks/lab/sentences-*.tsv has a sentence, a part, a product, a direction and a
value; papers.json has three sets of ten papers that contradict each other, with the pair and acid
that are best supported and the pair that is refuted. All were made up by somebody who did not see
the program (CC0). Sets `a` and `b` were looked at while the rules were written, set `c` was not.
"""

import json
import sys
from collections import Counter
from pathlib import Path

from rag_assets.lab.acids import acid_of
from rag_assets.lab.evidence import (
    FIRST_PRODUCT,
    pair_name,
    ratio_name,
    read_findings,
    weigh_evidence,
)

FOLDER = Path(__file__).parent / "lab"
# A sentence alone does not say that the paper is on doping.
_BEFORE = "TiO2 was doped with metals.\n\n"


def part_of(written: str) -> str:
    """Return what the program calls a part of the file: `Cu+Mo`, `Cu:Mo=2:1`, `glycine`."""
    if "=" in written:
        metals, ratio = written.split("=")
        return ratio_name(*metals.split(":"), ratio)
    return pair_name(*written.split("+")) if "+" in written else acid_of(written) or written


def measure(path: Path, *, shows_wrong: bool) -> None:
    """Print how many directions of a file are found, missed and wrong."""
    counts: Counter[str] = Counter()
    sentences: dict[str, dict[tuple[str, str], str]] = {}
    for line in path.read_text("utf-8").splitlines():
        sentence, part, product, direction, _ = line.split("\t")
        product = "" if product == "activity" else product
        told = sentences.setdefault(sentence, {})
        told[part_of(part), product] = direction.replace("_", " ")
    for sentence, told in sentences.items():
        found = {
            (one.part, one.product): one.direction
            for one in read_findings(_BEFORE + sentence)
            if one.direction != "names"
        }
        meant = {key: direction for key, direction in told.items() if direction != "names"}
        wrong = {key for key in found if found[key] != meant.get(key)}
        counts["right"] += len(found) - len(wrong)
        counts["found"] += len(found)
        counts["meant"] += len(meant)
        counts["reversed"] += sum(
            key in meant and (found[key] == "raises") != (meant[key] == "raises") for key in found
        )
        if shows_wrong and (wrong or meant.keys() - found.keys()):
            print(f"{sentence}\n    meant {meant}\n    found {found}")
    print(
        f"{path.stem}: {counts['right']} of {counts['meant']} found, "
        f"{counts['right'] / max(counts['found'], 1):.2f} of {counts['found']} right, "
        f"{counts['reversed']} turned round"
    )


def rank_papers() -> None:
    """Print which pair and acid ten papers support best, and where the refuted pair stands."""
    for name, each in json.loads((FOLDER / "papers.json").read_text("utf-8")).items():
        findings = [
            (str(number), one)
            for number, text in enumerate(each["papers"])
            for one in read_findings(text)
        ]
        rows = weigh_evidence(findings, [], FIRST_PRODUCT)
        pairs = {row.part: row.describe() for row in rows if " + " in row.part}
        acids = [row.part for row in rows if acid_of(row.part)]
        refuted = [pair_name(*pair) for pair in each["refuted"]]
        best = pair_name(*each["best"][:2])
        print(
            f"papers {name}: best {best}, {acid_of(each['best'][2])}; found {next(iter(pairs))}, "
            f"{acids[0]} ({pairs.get(best)}); "
            f"refuted {next(pairs.get(one) for one in refuted)}"
        )


if __name__ == "__main__":
    for file in map(Path, sys.argv[1:]) if sys.argv[1:] else sorted(FOLDER.glob("*.tsv")):
        measure(file, shows_wrong=bool(sys.argv[1:]))
    if not sys.argv[1:]:
        rank_papers()
