"""How well the shipped reader tells supported, refuted and open claims, with their evidence given.

    python -m benchmarks.claims_reading [SET …]

Reads $RAG_SHARED_DATA/claims/support/SET.jsonl (all sets of three labels, unless some are named).
Of a long evidence it is shown the sentences that share most with the claim. Prints macro-F1 of its
likeliest class, nothing fitted, and what naming the commonest label brings.
"""

import argparse
import json
import time
from collections import Counter
from collections.abc import Sequence

import numpy as np
from sklearn.metrics import f1_score

from benchmarks.known_drafts import shared_data
from benchmarks.reader.examples import near_sentences
from rag_assets.embedding.taught import PairScores, load_pair_model

_LABELS = ("SUPPORT", "REFUTE", "NOT_ENOUGH")


def likeliest(scores: PairScores) -> str:
    """Return the class that a reading makes likeliest."""
    supports, contradicts = (1 / (1 + np.exp(-odds)) for odds in scores[:2])
    shares = (supports, contradicts, 1 - supports - contradicts)
    return _LABELS[int(np.argmax(shares))]


def _f1(truth: Sequence[str], said: Sequence[str]) -> float:
    return float(f1_score(truth, said, labels=_LABELS, average="macro", zero_division=0))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sets", nargs="*")
    given = parser.parse_args()
    model = load_pair_model()
    print("| set | rows | macro-F1 | the commonest label | ms of the processor a row |")
    print("|---|--:|--:|--:|--:|")
    for file in sorted((shared_data() / "claims" / "support").glob("*.jsonl")):
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        truth = [row.get("label") for row in rows]
        if set(truth) != set(_LABELS) or (given.sets and file.stem not in given.sets):
            continue
        began = time.process_time()
        pairs = [
            (row["claim"], near_sentences(" ".join(row["evidence"]), row["claim"])) for row in rows
        ]
        said = [likeliest(scores) for scores in model.read(pairs)]
        cost = 1000 * (time.process_time() - began) / len(rows)
        ((commonest, _),) = Counter(truth).most_common(1)
        print(
            f"| {file.stem} | {len(rows)} | {_f1(truth, said):.3f} | "
            f"{_f1(truth, [commonest] * len(rows)):.3f} | {cost:.0f} |"
        )


if __name__ == "__main__":
    main()
