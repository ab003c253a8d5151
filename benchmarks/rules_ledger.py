"""How often each checkable fact fires on sentences of known truth, and how often it is right.

    python -m benchmarks.rules_ledger [DRAFTS.jsonl ...]
    python -m benchmarks.rules_ledger --slips [DRAFTS.jsonl ...]
    python -m benchmarks.rules_ledger --frames FOLDER
    python -m benchmarks.rules_ledger --routes QUESTIONS.jsonl

Without files it reads train.jsonl and dev.jsonl of $RAG_SHARED_DATA/claims/drafts (default
../shared/data). A rule sees the quotations that decide each row. Right is a rule that speaks
against a sentence that is not wholly supported, or for one that is.

`--slips` counts the false numbers, units and directions that are noticed.
`--frames` seeks twenty sentences of each paper, drawn with a seed, word for word in their own paper
and lists those that are told not to be asserted there: whether they are not, a person sees.
`--routes` reads labelled questions (question, intent, categories, part) and counts each rule of a
question's route where it is the one that decides.
"""

import argparse
import json
import os
import random
import re
from collections import Counter
from pathlib import Path

from benchmarks.evaluating.drafts import read_sources
from rag_assets.judging import find_frame
from rag_assets.judging.facts import RULES, check_facts
from rag_assets.judging.statement import state
from rag_assets.retrieval.finding import read_sentences
from rag_assets.retrieval.papers import INTENT_RULES, SECTION_RULES, IntentRule
from rag_assets.workspace import shipped_settings

FLOOR = 0.8  # share of right firings below which a rule that speaks against goes
FEWEST = 3  # rows on which it must fire
# Sentences that are drawn of a paper, and characters that make one.
OF_A_PAPER, SHORTEST = 20, 50


_DIGITS = re.compile(r"\d+")


def count_facts(files: list[Path]) -> None:
    """Print the ledger of checkable facts."""
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


def count_slips(files: list[Path]) -> None:
    """Print how many false numbers, units and directions are noticed, and how many true sentences
    accused, where the quotations that decide are shown.

    “Digits equal or swapped”: each run of digits in the wrong words stands in the quotations too,
    in its order or another. Of `number` that is mostly the right number of another row or group.
    """
    rows = [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]
    counted: dict[str, list[bool]] = {}
    for row in rows:
        if not any(quotation.strip() for quotation in row["evidence"]):
            continue
        is_noticed = bool(check_facts(state(row["sentence"]), row["evidence"], "against"))
        if row["label"] == "SUPPORTED":
            names = ["SUPPORTED (accused)"]
        elif row["kind"] in {"number", "unit", "direction"}:
            wrong = _DIGITS.findall(row.get("wrong_span") or row["sentence"])
            there = {"".join(sorted(d)) for d in _DIGITS.findall(" ".join(row["evidence"]))}
            is_equal = wrong and all("".join(sorted(digits)) in there for digits in wrong)
            names = [
                row["kind"],
                *([f"{row['kind']}, digits equal or swapped"] if is_equal else []),
            ]
        else:
            continue
        for name in names:
            counted.setdefault(name, []).append(is_noticed)
    print("| rows | all | noticed | share |\n|---|--:|--:|--:|")
    for name, noticed in sorted(counted.items()):
        print(f"| {name} | {len(noticed)} | {sum(noticed)} | {sum(noticed) / len(noticed):.3f} |")


def count_frames(folder: Path) -> None:
    """Print which sentences of papers are told to be framed, and by which rule."""
    papers = read_sources(
        sorted(path.name for path in folder.glob("*.pdf")), [folder], shipped_settings(), None
    )
    chance, tried, told = random.Random(3), 0, []
    for paper in papers.values():
        sentences = read_sentences(paper.passages, paper.title)
        body = [
            each.text for each in sentences if each.kind == "text" and len(each.text) > SHORTEST
        ]
        for text in chance.sample(body, min(OF_A_PAPER, len(body))):
            claim, tried = " ".join(text.split()), tried + 1
            frame = find_frame(claim, claim, sentences, paper.passages)
            if frame is not None:
                told.append(f"{frame.rule.id}: {frame.sentence}\n    {frame.told}")
    print(f"framed: {len(told)} of {tried} sentences of {len(papers)} papers", *told, sep="\n  ")


def count_routes(file: Path) -> None:
    """Print how often each rule of a route decides, and how often rightly, by part."""
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    print("| rule | decides | part | fired | right |\n|---|---|---|--:|--:|")
    for rule in (*INTENT_RULES, *SECTION_RULES):
        for part in sorted({row["part"] for row in rows}):
            fired = right = 0
            for row in (row for row in rows if row["part"] == part):
                if isinstance(rule, IntentRule):
                    first = next((r for r in INTENT_RULES if r.check(row["question"])), None)
                    is_right = rule.intent == row["intent"]
                else:
                    first = next((r for r in SECTION_RULES if r.check(row["question"])), None)
                    is_right = list(rule.categories) == row["categories"]
                fired += first is rule
                right += first is rule and is_right
            decides = "intent" if isinstance(rule, IntentRule) else "sections"
            print(f"| {rule.id} | {decides} | {part} | {fired} | {right} |")


def main() -> None:
    """Print the ledger that is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("drafts", nargs="*", type=Path, metavar="DRAFTS.jsonl")
    parser.add_argument("--slips", action="store_true")
    parser.add_argument("--frames", type=Path, metavar="FOLDER")
    parser.add_argument("--routes", type=Path, metavar="QUESTIONS.jsonl")
    given = parser.parse_args()
    if given.frames:
        count_frames(given.frames)
    elif given.routes:
        count_routes(given.routes)
    else:
        shared = Path(os.environ.get("RAG_SHARED_DATA", "../shared/data")) / "claims" / "drafts"
        count = count_slips if given.slips else count_facts
        count(given.drafts or [shared / "train.jsonl", shared / "dev.jsonl"])


if __name__ == "__main__":
    main()
