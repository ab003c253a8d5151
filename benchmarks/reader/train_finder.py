"""Teach the encoder that a question and the sentences that answer it have like vectors.

    python -m benchmarks.reader.train_finder DATA OUT [--first-layer N] [--epochs N] ...

DATA is what benchmarks.reader.examples wrote. A question is taught to be nearer to a sentence that
answers it than to wrong ones of its document and to those of the other questions of its batch
(InfoNCE: van den Oord et al., 2018; hard negatives as in Karpukhin et al., 2020). Needs NumPy and
torch alone, and uses a GPU where there is one. OUT holds what train.py writes; the head of its
weights.npz is not taught.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from benchmarks.reader.train import PairReader, begin, follow, pad

_TEMPERATURE = 0.02
_NEVER = -1e4
# Sentences that are encoded at a time.
_AT_A_TIME = 64


class Questions:
    """The questions of questions.npz: texts by their places, and of each question its own."""

    def __init__(self, path: Path) -> None:
        arrays = np.load(path)
        self.lengths = arrays["lengths"].astype(np.int64)
        self.texts = np.split(arrays["tokens"].astype(np.int64), np.cumsum(self.lengths)[:-1])
        self.questions, self.folds = arrays["questions"], arrays["folds"]
        self.right, self.wrong = (
            np.split(arrays[name], np.cumsum(arrays[f"{name}_counts"].astype(np.int64))[:-1])
            for name in ("right", "wrong")
        )


def encode(
    model: PairReader, asked: Questions, places: "np.ndarray | list[int]", device: str
) -> torch.Tensor:
    """Return the vectors of texts, shape (len(places), hidden), each of length 1."""
    order = np.argsort(asked.lengths[np.asarray(places)], kind="stable")
    parts = []
    for start in range(0, len(order), _AT_A_TIME):
        chosen = [asked.texts[places[place]] for place in order[start : start + _AT_A_TIME]]
        tokens, lengths = pad(chosen, device)
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            parts.append(model.mean(tokens, lengths).float())
    back = torch.from_numpy(np.argsort(order, kind="stable")).to(device)
    return functional.normalize(torch.cat(parts)[back], dim=1)


def loss_of(
    model: PairReader, asked: Questions, batch: np.ndarray, wrong: int, dice: Any, device: str
) -> torch.Tensor:
    """Return the mean loss of some questions, each with one right and some wrong sentences."""
    right = [int(dice.choice(asked.right[number])) for number in batch]
    shown = [
        *right,
        *(
            int(place)
            for number in batch
            for place in dice.choice(
                asked.wrong[number], min(wrong, len(asked.wrong[number])), replace=False
            )
        ),
    ]
    alike = (
        encode(model, asked, list(asked.questions[batch]), device)
        @ encode(model, asked, shown, device).T
    )
    # Another right sentence of the same question is not a wrong one.
    also_right = np.array([np.isin(shown, asked.right[number]) for number in batch])
    also_right[np.arange(len(batch)), np.arange(len(batch))] = False
    scores = (alike / _TEMPERATURE).masked_fill(torch.from_numpy(also_right).to(device), _NEVER)
    return functional.cross_entropy(scores, torch.arange(len(batch), device=device))


def look(model: PairReader, asked: Questions, rows: np.ndarray, device: str) -> dict[str, float]:
    """Return how often a right sentence is first among it and the wrong ones, and the mean of
    1 / its place.
    """
    model.eval()
    places = []
    with torch.inference_mode():
        for number in rows:
            right = asked.right[number][:4]
            shown = encode(model, asked, [*right, *asked.wrong[number]], device)
            question = encode(model, asked, [int(asked.questions[number])], device)[0]
            order = torch.argsort(-(shown @ question)).tolist()
            places.append(min(order.index(place) for place in range(len(right))) + 1)
    model.train()
    found = np.array(places)
    return {
        "first": round(float((found == 1).mean()), 4),
        "reciprocal": round(float((1 / found).mean()), 4),
    }


def teach(data: Path, out: Path, given: argparse.Namespace) -> None:
    """Teach, and write weights, curve and state; goes on where a run before it stopped."""
    asked, model = Questions(data / "questions.npz"), begin(data, given, dropout=0.0)
    model.head.requires_grad_(requires_grad=False)
    aside, rows = np.flatnonzero(asked.folds < 2), np.flatnonzero(asked.folds >= 2)
    dice = np.random.default_rng(given.seed)
    plan = [
        part
        for _ in range(given.epochs)
        for part in np.array_split(dice.permutation(rows), max(1, len(rows) // given.batch))
    ]

    def loss_at(step: int, device: str) -> torch.Tensor:
        drawn = np.random.default_rng([given.seed, step])
        return loss_of(model, asked, plan[step], given.wrong, drawn, device)

    follow(model, len(plan), loss_at, lambda device: look(model, asked, aside, device), out, given)


def main() -> None:
    """Teach by the command's options."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--first-layer", type=int, default=6, help="layers below it stay")
    parser.add_argument("--start", type=Path, help="weights.npz to go on from")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch", type=int, default=20)
    parser.add_argument("--wrong", type=int, default=3, help="wrong sentences of each question")
    parser.add_argument("--rate", type=float, default=4e-5)
    parser.add_argument("--every", type=int, default=50, help="steps between two looks")
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    teach(given.data, given.out, given)


if __name__ == "__main__":
    main()
