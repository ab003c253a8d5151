"""How often each checkable fact fires on sentences of known truth, and how often it is right.

    python -m benchmarks.rules_ledger [DRAFTS.jsonl ...]

Without files it reads train.jsonl and dev.jsonl of $RAG_SHARED_DATA/claims/drafts (default
../shared/data). A rule sees the quotations that decide each row. Right is a rule that speaks
against a sentence that is not wholly supported, or for one that is.
"""

import json
import os
import sys
from collections import Counter
from pathlib import Path

from rag_assets.judging.facts import RULES
from rag_assets.judging.statement import state

FLOOR = 0.8  # share of right firings below which a rule that speaks against goes
FEWEST = 3  # rows on which it must fire


def main(files: list[Path]) -> None:
    """Print the ledger."""
    rows = [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]
    rows = [row for row in rows if any(quotation.strip() for quotation in row["evidence"])]
    counted = Counter(row["label"] for row in rows)
    print(f"{len(rows)} rows: " + ", ".join(f"{n} {label}" for label, n in counted.items()))
    print("| rule | speaks | fired | sources | right | wrong | share right | stays |")
    print("|---|---|--:|--:|--:|--:|--:|---|")
    for rule in RULES:
        fired = [row for row in rows if rule.check(state(row["sentence"]), row["evidence"])]
        supported = sum(row["label"] == "SUPPORTED" for row in fired)
        right = supported if rule.bearing == "for" else len(fired) - supported
        share = right / len(fired) if fired else 0.0
        stays = rule.bearing == "for" or (share >= FLOOR and len(fired) >= FEWEST)
        print(
            f"| {rule.id} | {rule.bearing} | {len(fired)} | {len({r['paper'] for r in fired})} "
            f"| {right} | {len(fired) - right} | {share:.2f} | {'yes' if stays else 'NO'} |"
        )


if __name__ == "__main__":
    drafts = Path(os.environ.get("RAG_SHARED_DATA", "../shared/data")) / "claims" / "drafts"
    main([Path(a) for a in sys.argv[1:]] or [drafts / "train.jsonl", drafts / "dev.jsonl"])
