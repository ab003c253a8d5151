"""Which pairs of sentences of known truth would be merged as one lesson, and what each rule holds.

    python -m benchmarks.lesson_pairs [FOLDER]

FOLDER holds breaking_nli.jsonl.xz and cad_nli.jsonl.xz (rows of claim, evidence, label); without
it $RAG_SHARED_DATA/entailment/open (default ../shared/data). REFUTE pairs must never be merged;
SUPPORT pairs are entailments, of which only some say the same. The first 1,600 of a label were
looked at while rules were written and thresholds (`rag_assets/lab/recall.py`) fitted,
so that the figures, of pairs 800 to 1,200, say nothing of sentences that nobody has seen.
"""

import json
import lzma
import os
import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from rag_assets.embedding import load_embedder
from rag_assets.lab.differences import RULES, find_differences, spell_out
from rag_assets.lab.recall import NEAR_DUPLICATE, say_the_same
from rag_assets.workspace import shipped_settings

LEDGER_SETS = ("breaking_nli", "cad_nli")
FITTED = 800
COUNTED = 400

Pairs = Sequence[tuple[str, str]]


def read_pairs(folder: Path) -> dict[str, dict[str, Pairs]]:
    """Return the pairs of each set by label, always in the same drawn order."""
    rng = random.Random(1)
    found: dict[str, dict[str, Pairs]] = {}
    for name in LEDGER_SETS:
        with lzma.open(folder / f"{name}.jsonl.xz", "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        rng.shuffle(rows)
        found[name] = {
            label: [(row["evidence"], row["claim"]) for row in rows if row["label"] == label]
            for label in ("REFUTE", "SUPPORT")
        }
    return found


def count(pairs: Pairs, scores: Mapping[str, Sequence[float]]) -> None:
    """Print what the rules let through, by model, and what would be without each of them."""
    fired = [frozenset(find_differences(*pair)) for pair in pairs]
    header = " | ".join(scores)
    print(f"| rule | fired | {header} |\n|---|--:|{'--:|' * len(scores)}")
    for rule in (None, *RULES):
        without = [ids - {rule} for ids in fired]
        merged = [
            sum(
                score >= NEAR_DUPLICATE[model] and not ids
                for score, ids in zip(found, without, strict=True)
            )
            for model, found in scores.items()
        ]
        times = sum(rule in ids for ids in fired) if rule else ""
        name = f"without `{rule}`" if rule else "all rules"
        print(f"| {name} | {times} | {' | '.join(map(str, merged))} |")
    same = [say_the_same(*pair) for pair in pairs]
    joined = [
        sum(near >= NEAR_DUPLICATE[model] and says for near, says in zip(found, same, strict=True))
        for model, found in scores.items()
    ]
    print(f"| all rules, words by the reader | | {' | '.join(map(str, joined))} |")
    bare = [sum(s >= NEAR_DUPLICATE[model] for s in found) for model, found in scores.items()]
    print(f"| no rule at all | | {' | '.join(map(str, bare))} |\n")


def main() -> None:
    """Print a table for each set and label."""
    shared = Path(os.environ.get("RAG_SHARED_DATA", "../shared/data")) / "entailment" / "open"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else shared
    for name, by_label in read_pairs(folder).items():
        for label, every in by_label.items():
            pairs = every[FITTED : FITTED + COUNTED]
            scores = {}
            for model in shipped_settings().embed.dense:
                embedder = load_embedder(model)
                first = embedder.encode_passages([spell_out(one) for one, _ in pairs])
                second = embedder.encode_passages([spell_out(other) for _, other in pairs])
                scores[model.model] = (first * second).sum(axis=1).tolist()
            print(f"{name}, {label}: {len(pairs)} pairs")
            count(pairs, scores)


if __name__ == "__main__":
    main()
