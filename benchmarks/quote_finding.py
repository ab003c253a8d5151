"""Whether the quote holds the answer, and whether a pack says so where nothing answers.

    python benchmarks/quote_finding.py --questions FILE.jsonl --workspace DIR [--rows]

A row of the questions; `answers` are the marked sentences, each of which answers, verbatim, and are
empty where nothing in the library answers:

    {"id": "q-01", "language": "en", "question": "How cool are sedum roofs?", "paper": "roofs.pdf",
     "answers": ["Sedum roofs were 16 degrees cooler than bitumen."]}

Prints by language, and for questions in another language than their paper: the share of answerable
questions of which the first quote holds a marked sentence, of which any quote of the pack does; the
share of all questions for which the pack says "no good match".
"""

import argparse
import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rapidfuzz import fuzz

from rag_assets.evidence import EvidencePack, Question, make_pack
from rag_assets.model import is_chinese
from rag_assets.workspace import Workspace

# A marked sentence stands in a quote from this partial ratio on, where the quote has as much text.
_FOUND, _AS_MUCH, _COMPARED = 88, 0.8, 20


def bare(text: str) -> str:
    """Return a text without white space, punctuation and ligatures."""
    return re.sub(r"\W", "", unicodedata.normalize("NFKC", text)).casefold()


def holds(answers: Sequence[str], shown: str) -> bool:
    """Say whether one of the marked sentences stands in what is shown."""
    text = bare(shown)
    for answer in map(bare, answers):
        is_long = len(answer) >= _COMPARED and len(text) >= _AS_MUCH * len(answer)
        if answer in text or (is_long and fuzz.partial_ratio(answer, text) >= _FOUND):
            return True
    return False


def group_of(row: dict[str, Any]) -> str:
    """Return the group that the figures are given for."""
    crosses = (
        row["paper"]
        and row["answers"]
        and is_chinese(row["answers"][0]) != (row["language"] == "zh")
    )
    return f"{row['language']}, across" if crosses else str(row["language"])


def main() -> None:
    """Ask all questions and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--questions", type=Path, required=True, nargs="+")
    parser.add_argument("--workspace", type=Path, required=True, help="with the papers, ingested")
    parser.add_argument("--rows", action="store_true", help="print each question too")
    given = parser.parse_args()
    workspace = Workspace.open(given.workspace)
    rows = [json.loads(line) for file in given.questions for line in file.open(encoding="utf-8")]
    first, anywhere, refused = (defaultdict[str, list[bool]](list) for _ in range(3))
    for row in rows:
        pack = make_pack(workspace, Question(question=row["question"]))
        is_refused = pack.match is None or not pack.match.is_good
        held = [holds(row["answers"], item.exact_quote) for item in pack.items]
        for group in ("all", group_of(row)):
            if row["answers"]:
                first[group].append(held[:1] == [True])
                anywhere[group].append(any(held))
            refused[_named(row, group)].append(is_refused)
        if given.rows:
            _print_row(row, pack, held, is_refused=is_refused)
    print(f"{'the quote holds the answer':44}{'rows':>6}{'first':>8}{'any':>8}")
    for group in sorted(first):
        print(f"{group:44}{len(first[group]):6}{_mean(first[group])}{_mean(anywhere[group])}")
    print(f"{'the pack says no good match':44}{'rows':>6}{'share':>8}")
    for group in sorted(refused):
        print(f"{group:44}{len(refused[group]):6}{_mean(refused[group])}")


def _named(row: dict[str, Any], group: str) -> str:
    return f"{'answerable' if row['answers'] else 'unanswerable'}, {group}"


def _mean(values: Sequence[bool]) -> str:
    return f"{np.mean(values):8.3f}"


def _print_row(
    row: dict[str, Any], pack: EvidencePack, held: Sequence[bool], *, is_refused: bool
) -> None:
    quote = pack.items[0].exact_quote if pack.items else ""
    likelihood = pack.match.likelihood if pack.match is not None else 0.0
    place = held.index(True) + 1 if any(held) else "-"
    print(f"{row['id']} {likelihood:.3f} {'no match' if is_refused else 'match':8} holds: {place}")
    print(f"    {row['question']}\n    {quote[:160]}")


if __name__ == "__main__":
    main()
