"""Whether the quote holds the answer, and whether a pack says so where nothing answers.

    python benchmarks/quote_finding.py --questions FILE.jsonl --workspace DIR [--ask]

A row of the questions; `answers` are the marked sentences, each of which answers, verbatim, and are
empty where nothing in the library answers:

    {"id": "q-01", "language": "en", "question": "How cool are sedum roofs?", "paper": "roofs.pdf",
     "answers": ["Sedum roofs were 16 degrees cooler than bitumen."]}

Prints by language, and for questions in another language than their paper: the share of answerable
questions of which the first quote holds a marked sentence, of which any quote of the pack does; the
share of all questions for which the pack says "no good match". With --ask of answers of `rag ask`
by rules, of which "No answer found" is counted; and the share of sentences beside the point.
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

from rag_assets.answering import ask_papers
from rag_assets.evidence import Question, make_pack
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
    parser.add_argument("--ask", action="store_true", help="measure answers, not packs")
    given = parser.parse_args()
    workspace = Workspace.open(given.workspace)
    rows = [json.loads(line) for file in given.questions for line in file.open(encoding="utf-8")]
    first, anywhere, refused = (defaultdict[str, list[bool]](list) for _ in range(3))
    beside: list[bool] = []
    for row in rows:
        if given.ask:
            answer = ask_papers(workspace, row["question"], policy="rules").answer
            is_refused, quotes = not answer.is_found, [one.text for one in answer.statements]
        else:
            pack = make_pack(workspace, Question(question=row["question"]))
            is_refused = pack.match is None or not pack.match.is_good
            quotes = [item.exact_quote for item in pack.items]
        held = [holds(row["answers"], quote) for quote in quotes]
        beside += [] if is_refused else [not one for one in held]
        for group in ("all", group_of(row)):
            if row["answers"]:
                first[group].append(held[:1] == [True])
                anywhere[group].append(any(held))
            refused[_named(row, group)].append(is_refused)
    print(f"{'the quote holds the answer':44}{'rows':>6}{'first':>8}{'any':>8}")
    for group in sorted(first):
        print(f"{group:44}{len(first[group]):6}{_mean(first[group])}{_mean(anywhere[group])}")
    print(f"{'the pack says no good match':44}{'rows':>6}{'share':>8}")
    for group in sorted(refused):
        print(f"{group:44}{len(refused[group]):6}{_mean(refused[group])}")
    print(f"{'sentences beside the point':44}{len(beside):6}{_mean(beside)}")


def _named(row: dict[str, Any], group: str) -> str:
    return f"{'answerable' if row['answers'] else 'unanswerable'}, {group}"


def _mean(values: Sequence[bool]) -> str:
    return f"{np.mean(values):8.3f}"


if __name__ == "__main__":
    main()
