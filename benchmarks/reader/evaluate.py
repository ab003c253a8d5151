"""What a taught reader is worth on the drafts and questions that are kept for measuring.

    python -m benchmarks.reader.evaluate DATA WEIGHTS [--cache DIR] [--most N]

DATA is what benchmarks.reader.examples wrote, WEIGHTS the folder that train.py wrote. Prints the
area under the ROC curve of supported against unsupported drafts, with the quotations that decide
and with the windows that the finder shows, by group; and of the answerable questions of `dev` the
share whose first sentence answers, in the order of the finder and in that of the reader.
"""

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.evaluating.drafts import GROUPS, bare, group_of
from benchmarks.known_drafts import (
    CACHE,
    read_documents,
    read_rows,
    shared_data,
)
from benchmarks.reader.train import PairReader, area, support_log_odds
from rag_assets.embedding.bundled_files import E5
from rag_assets.embedding.local import read_e5
from rag_assets.embedding.taught import pair_ids
from rag_assets.model.settings import ModelSettings
from rag_assets.retrieval.finding import EvidenceFinder, shown_sentence

_ANSWERS = 3  # the reader's output
# Sentences of a paper that the reader is shown, as the finder ranks them.
_POOL = 60
_BATCH = 32


class Reader:
    """A taught encoder that reads texts: any token, not only those of the examples."""

    def __init__(self, data: Path, weights: Path) -> None:
        with np.load(data / "encoder.npz") as arrays:
            encoder = {name: arrays[name] for name in arrays}
        with np.load(weights / "weights.npz") as arrays:
            taught = {name: arrays[name] for name in arrays}
        encoder |= {name: array for name, array in taught.items() if name in encoder}
        self._bert = read_e5(ModelSettings(kind="bundled", model=E5))
        self.model = PairReader(encoder, first_layer=len(encoder)).eval()
        for kind in ("weight", "bias"):
            array = torch.from_numpy(taught[f"head.{kind}"].astype(np.float32))
            getattr(self.model.head, kind).data = array
        self.pairs, self.seconds = 0, 0.0

    def scores(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """Return the log odds of `supported`, then those of `answers` and `relevant`."""
        ids, found = pair_ids(pairs), np.zeros((len(pairs), 3))
        began = time.process_time()
        order = np.argsort([len(one) for one in ids], kind="stable")
        with torch.inference_mode():
            for start in range(0, len(order), _BATCH):
                rows = order[start : start + _BATCH]
                words, places = np.unique(
                    np.concatenate([np.array(ids[row]) for row in rows]), return_inverse=True
                )
                self.model.rows = torch.from_numpy(self._bert.words(words.tolist()))
                self.model.scales = torch.ones(len(words), 1)
                lengths = torch.tensor([len(ids[row]) for row in rows])
                padded = torch.zeros(len(rows), int(lengths.max()), dtype=torch.long)
                parts = np.split(places, np.cumsum(lengths.numpy())[:-1])
                for line, part in zip(padded, parts, strict=True):
                    line[: len(part)] = torch.from_numpy(part)
                outputs = self.model(padded, lengths)
                found[rows] = torch.cat(
                    [support_log_odds(outputs)[:, None], outputs[:, _ANSWERS:]], dim=1
                ).numpy()
        self.pairs += len(pairs)
        self.seconds += time.process_time() - began
        return found


def print_drafts(reader: Reader, cache: Path, most: int) -> None:
    """Print the areas by group."""
    rows = [row for row in read_rows("dev") if row["label"] in {"SUPPORTED", "NOT"}][:most]
    documents = read_documents(rows, cache)
    finder = EvidenceFinder()
    opened = {name: finder.open(one.passages, one.title) for name, one in documents.items()}
    truth = np.array([row["label"] == "SUPPORTED" for row in rows])
    decides = reader.scores([(row["sentence"], " … ".join(row["evidence"])) for row in rows])[:, 0]
    shown = [[w.text for w in opened[row["paper"]].find(row["sentence"])] for row in rows]
    flat = [
        (row["sentence"], text) for row, texts in zip(rows, shown, strict=True) for text in texts
    ]
    read = reader.scores(flat)[:, 0]
    ends = np.cumsum([len(texts) for texts in shown])[:-1]
    best = np.array([part.max(initial=-99.0) for part in np.split(read, ends)])
    groups = np.array([group_of(row["paper"], row["language"]) for row in rows])
    print("| drafts of dev | rows | AUC, deciding quotations | AUC, windows found |")
    print("|---|--:|--:|--:|")
    for group in ("all", *GROUPS):
        chosen = np.full(len(rows), fill_value=True) if group == "all" else groups == group
        figures = [f"{area(scores[chosen], truth[chosen]):.3f}" for scores in (decides, best)]
        print(f"| {group} | {int(chosen.sum())} | {' | '.join(figures)} |")


def print_questions(reader: Reader, cache: Path, most: int) -> None:
    """Print how often the first sentence answers."""
    file = shared_data() / "questions" / "dev.jsonl"
    asked: list[dict[str, Any]] = [
        json.loads(line) for line in file.read_text("utf-8").splitlines()
    ]
    asked = [row for row in asked if row["answers"]][:most]
    documents = read_documents(asked, cache)
    finder = EvidenceFinder()
    opened = {name: finder.open(one.passages, one.title) for name, one in documents.items()}
    first = np.zeros((len(asked), 2))
    for row, hits in zip(asked, first, strict=True):
        document, question = opened[row["paper"]], row["question"]
        pool = document.rank(question)[:_POOL]
        answers = [bare(answer) for answer in row["answers"]]

        def holds(index: int, document: Any = document, answers: list[str] = answers) -> bool:
            said = bare(document.sentences[index].text)
            return any(said in answer or answer in said for answer in answers) and bool(said)

        texts = [shown_sentence(document.sentences, index) for index in pool]
        read = reader.scores([(question, text) for text in texts])[:, 1]
        hits[:] = holds(pool[0]), holds(pool[int(read.argmax())])
    before, after = first.mean(axis=0)
    print(f"\nquestions of dev, each in its own paper: {len(asked)}; the first sentence answers: ")
    print(f"finder {before:.3f}, reader {after:.3f}")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("weights", type=Path)
    parser.add_argument("--cache", type=Path, default=CACHE, help="where parses are kept")
    parser.add_argument("--most", type=int, default=10**6, help="rows of each kind")
    given = parser.parse_args()
    reader = Reader(given.data, given.weights)
    print_drafts(reader, given.cache, given.most)
    print_questions(reader, given.cache, given.most)
    print(f"{reader.pairs / max(reader.seconds, 1e-9):.1f} pairs a processor second, in torch")


if __name__ == "__main__":
    main()
