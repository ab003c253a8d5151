"""How well prompts make a small reader tell supported sentences from others, and its calibration.

The reader gets what an audit shows it of the cited document; with `--true` the quotations that
decide a row, which says what better finding would bring. Answers are appended to OUT one by one,
so that a run that was stopped goes on; `fit` reads them. Drafts and documents are those of
RAG_SHARED_DATA (default ../shared/data).

    python -m benchmarks.reader_prompts ask train OUT.jsonl --prompts few,plain --rows 150
    python -m benchmarks.reader_prompts table OUT.jsonl
    python -m benchmarks.reader_prompts fit OUT.jsonl --write configs/readers.json
"""

import argparse
import json
import statistics
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.calibrate import LabelledScore, auc, fit_reader, hold_back, shares_from
from benchmarks.evidence_finding import CACHE
from benchmarks.known_drafts import GROUPS, group_of, is_located, read_documents, read_rows
from rag_assets.judging import PassageText
from rag_assets.judging.facts import ShownSentence, choose_sentences
from rag_assets.judging.readers import READ_TASK, OddsReader, logit_of
from rag_assets.judging.statement import state
from rag_assets.llm import ChatModel, ChatRequest, Message, load_prompt, open_local_model
from rag_assets.llm.local_models import default_reader
from rag_assets.retrieval.finding import EvidenceFinder, OpenDocument, text_size

SEED = 7
# Thresholds whose shares are shown.
CHOICES = (0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8)

Row = dict[str, Any]
Shown = Sequence[ShownSentence]
SHIPPED = load_prompt(READ_TASK).text
SYSTEM = SHIPPED.partition("### user")[0].removeprefix("### system").strip()
WHOLE = "Is the statement fully supported by the source? Answer Yes or No."
REVERSE = "Is anything in the statement wrong or not stated in the source? Answer Yes or No."


def plain(question: str) -> Callable[[str, Shown], tuple[Message, ...]]:
    def make(statement: str, shown: Shown) -> tuple[Message, ...]:
        source = "\n".join(f"[{n}] {each.text}" for n, each in enumerate(shown, start=1))
        asked = f"Source:\n{source}\n\nStatement: {statement}\n\n{question}"
        return Message("system", SYSTEM), Message("user", asked)

    return make


# name → (turns, whether yes speaks for the statement)
PROMPTS: dict[str, tuple[Callable[[str, Shown], tuple[Message, ...]], bool]] = {
    "few": (OddsReader.messages, True),  # the shipped one
    "plain": (plain(WHOLE), True),
    "reverse": (plain(REVERSE), False),
}


def ordered(rows: Sequence[Row], count: int) -> list[Row]:
    """Return rows of every group and both labels in turn, drawn with a seed."""
    pools: dict[tuple[str, bool], list[Row]] = {}
    for row in rows:
        pools.setdefault((group_of(row), row["label"] == "SUPPORTED"), []).append(row)
    drawing = np.random.default_rng(SEED)
    for key in sorted(pools):
        pools[key] = [pools[key][place] for place in drawing.permutation(len(pools[key]))]
    order: list[Row] = []
    while any(pools.values()) and len(order) < count:
        order += [pools[key].pop() for key in sorted(pools) if pools[key]]
    return order[:count]


def ask(args: argparse.Namespace) -> None:
    rows = ordered(read_rows(str(args.files[0])), args.rows)
    done = {(r["id"], r["prompt"]) for r in read_answers(args.out)} if args.out.exists() else set()
    model = open_local_model(args.model or default_reader())
    show = quoted if args.true else Finding(rows, args.cache)
    with args.out.open("a", encoding="utf-8") as out:
        for row in rows:
            for name in args.prompts.split(","):
                if (row["id"], name) not in done:
                    said = answer(model, row, show(row), name)
                    print(json.dumps(said, ensure_ascii=False), file=out, flush=True)


def quoted(row: Row) -> Shown:
    """Return the quotations that decide a row."""
    return [ShownSentence(quote, 0, (0, len(quote))) for quote in row["evidence"]]


class Finding:
    """What an audit shows a reader of the document that a row cites."""

    def __init__(self, rows: Sequence[Row], cache: Path) -> None:
        self._documents = read_documents(rows, cache)
        self._finder = EvidenceFinder()
        self._opened: dict[str, OpenDocument] = {}

    def _open(self, name: str) -> OpenDocument:
        if name not in self._opened:
            cited = self._documents[name]
            self._opened[name] = self._finder.open(cited.passages, cited.title)
        return self._opened[name]

    def __call__(self, row: Row) -> Shown:
        """Return the numbered sentences for a row."""
        statement = state(row["sentence"])
        windows = self._open(row["paper"]).find(statement)
        texts = [PassageText(w.text, w.spans, "", w.shares, w.leads) for w in windows]
        return choose_sentences(statement, texts)


def answer(model: ChatModel, row: Row, shown: Shown, name: str) -> Row:
    make, is_for = PROMPTS[name]
    messages = make(state(row["sentence"]), shown)
    request = ChatRequest(messages, temperature=0.0, max_tokens=1, top_logprobs=20)
    wall, work = time.monotonic(), time.process_time()
    logit = logit_of(model.complete(request))
    return {
        "id": row["id"], "prompt": name, "paper": row["paper"], "group": group_of(row),
        "kind": row["kind"], "label": row["label"], "logit": logit if is_for else -logit,
        "located": is_located(row, " ".join(each.text for each in shown)),
        "tokens": round(sum(text_size(each.text) for each in shown)),
        "seconds": round(time.monotonic() - wall, 2),
        "processor_seconds": round(time.process_time() - work, 2),
    }  # fmt: skip


def read_answers(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def labelled(rows: Sequence[Row]) -> list[LabelledScore]:
    return [LabelledScore(row["logit"], row["label"], row["paper"]) for row in rows]


def weighted(answers: Sequence[Row], rows: Sequence[Row]) -> list[LabelledScore]:
    """Return answers with the number of rows of their group and label that each stands for."""
    there = Counter((group_of(row), row["label"]) for row in rows)
    asked = Counter((row["group"], row["label"]) for row in answers)
    weights = [there[key] / asked[key] for row in answers for key in [(row["group"], row["label"])]]
    pairs = zip(labelled(answers), weights, strict=True)
    return [replace(score, weight=weight) for score, weight in pairs]


def table(args: argparse.Namespace) -> None:
    rows = read_answers(args.out)
    names = list(dict.fromkeys(row["prompt"] for row in rows))
    print("| prompt | rows | " + " | ".join(("all", *GROUPS)) + " | processor seconds | seconds |")
    print("|---" * (len(GROUPS) + 5) + "|")
    for name in names:
        of = [row for row in rows if row["prompt"] == name]
        shown = [
            f"{auc(labelled([r for r in of if g in ('all', r['group'])])):.2f}"
            for g in ("all", *GROUPS)
        ]
        work = statistics.median(row["processor_seconds"] for row in of)
        wall = statistics.median(row["seconds"] for row in of)
        print(f"| {name} | {len(of)} | {' | '.join(shown)} | {work:.1f} | {wall:.1f} |")


def fit(args: argparse.Namespace) -> None:
    answers = [row for row in read_answers(args.out) if row["prompt"] == "few"]
    rows = weighted(answers, read_rows(args.set))
    said = hold_back(rows)
    print("| OK from | of the supported OK | of the unsupported OK |\n|---|---|---|")
    for choice in CHOICES:
        print("| {:.2f} | {:.2f} | {:.2f} |".format(choice, *shares_from(said, choice)))
    model = open_local_model(args.model or default_reader())
    fitted = fit_reader(
        rows, fingerprint=OddsReader(model).fingerprint, model=model.name,
        data=f"{len(rows)} drafted sentences with what was found of "
        f"{len({row.source for row in rows})} sources, folds over them",
    )  # fmt: skip
    print(fitted.model_dump_json(indent=1))
    if args.write is not None:
        text = json.dumps({"readers": [fitted.model_dump()]}, indent=1)
        args.write.write_text(text + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["ask", "table", "fit"])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--prompts", default="few")
    parser.add_argument("--rows", type=int, default=150)
    parser.add_argument("--model")
    parser.add_argument("--true", action="store_true", help="show the quotations that decide")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where parses are kept")
    parser.add_argument("--write", type=Path)
    parser.add_argument("--set", default="train", help="of which OUT holds answers, for `fit`")
    args = parser.parse_args()
    args.out = args.files[-1]
    {"ask": ask, "table": table, "fit": fit}[args.what](args)


if __name__ == "__main__":
    main()
