"""Measure what a scorer says of supported claims in which one thing was changed.

    python benchmarks/mutated_citations.py [--scorer support] [--sets NAME …] [--limit N]
        [--per-claim N] [--json OUT]

Supported claims of all sets that are no copies of their source, unchanged and with a number, unit,
direction, negation, entity or source changed (mutations.py says how). Prints by kind and language
how many there are and which share still comes out OK, and WEAK. The kind `unit` was left out of
all fitting of the scorer `support`.
"""

import argparse
import json
import random
from collections import defaultdict
from pathlib import Path

from mutated_rows import MutatedRow, mutated_rows
from support_sets import FITTING_SETS, MEASURED_SETS

from rag_assets.evaluation.claims import open_scorer
from rag_assets.evaluation.claims_rows import evidence_passages
from rag_assets.workspace import shipped_settings

_SEED = 3


def main() -> None:
    """Judge, print, and write where it is wanted."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scorer", default="support")
    parser.add_argument("--sets", nargs="+", default=[*FITTING_SETS, *MEASURED_SETS])
    parser.add_argument("--limit", type=int, help="of each kind and language at most")
    parser.add_argument("--per-claim", type=int, default=1, help="changes of a kind to one claim")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    shipped = shipped_settings(None)
    verify = shipped.verify.model_copy(update={"scorer": args.scorer})
    scorer = open_scorer(shipped.model_copy(update={"verify": verify}))
    rows = mutated_rows(args.sets, args.per_claim)
    random.Random(_SEED).shuffle(rows)
    by_kind: dict[tuple[str, str], list[MutatedRow]] = defaultdict(list)
    for row in rows:
        by_kind[row.kind, "zh" if row.is_han else "en"].append(row)
    figures = {}
    print(f"{scorer.name}, OK from {scorer.thresholds.ok:.3f}")
    for (kind, language), of_kind in sorted(by_kind.items()):
        asked = of_kind[: args.limit]
        found = [scorer.judge([(r.claim, evidence_passages(r.evidence))])[0] for r in asked]
        shares = {
            "rows": len(asked),
            "still_ok": sum(j.status == "OK" for j in found) / len(asked),
            "weak": sum(j.status == "WEAK" for j in found) / len(asked),
            "contradicted": sum(j.reason_code == "contradicted" for j in found) / len(asked),
        }
        figures[f"{kind} {language}"] = shares
        print(f"  {kind:10} {language}", *(f"{k} {v:.3f}" for k, v in shares.items()), flush=True)
    if args.json:
        args.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
