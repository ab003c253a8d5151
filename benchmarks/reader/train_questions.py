"""Teach the encoder that a question is near the articles that decide it; their vectors stay.

    python -m benchmarks.reader.train_questions DATA OUT [--first-layer N] [--aside N] ...

DATA is what benchmarks.reader.law wrote. Only the side of the questions is taught, against the
vectors that the library already has: each question is compared with every passage of it (softmax
over the whole library, no sampled negatives), so nothing has to be encoded again. Needs
NumPy and torch alone, and uses a GPU where there is one. OUT holds what train.py writes; the head
of its weights.npz is not taught.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from benchmarks.reader.train import PairReader, begin, follow, pad

_TEMPERATURE = 0.03
_AT_A_TIME = 64


class Asked:
    """The questions of asked.npz, each with the rows of the passages that decide it."""

    def __init__(self, path: Path) -> None:
        arrays = np.load(path)
        ends = np.cumsum(arrays["lengths"].astype(np.int64))[:-1]
        self.texts = np.split(arrays["tokens"].astype(np.int64), ends)
        counts = np.cumsum(arrays["right_counts"].astype(np.int64))[:-1]
        self.right = np.split(arrays["right"].astype(np.int64), counts)
        self.is_stard, self.folds = arrays["is_stard"], arrays["folds"]


def encode(model: PairReader, texts: "list[Any]", device: str) -> torch.Tensor:
    """Return the vectors of questions, shape (len(texts), hidden), each of length 1."""
    tokens, lengths = pad(texts, device)
    return functional.normalize(model.mean(tokens, lengths).float(), dim=1)


def look(
    model: PairReader, asked: Asked, rows: np.ndarray, vectors: torch.Tensor
) -> dict[str, float]:
    """Return how often a deciding passage is first, and the share of them among 10 and 100."""
    model.eval()
    first, among = [], {10: [], 100: []}  # type: ignore[var-annotated]
    with torch.inference_mode():
        for start in range(0, len(rows), _AT_A_TIME):
            some = rows[start : start + _AT_A_TIME]
            scores = encode(model, [asked.texts[row] for row in some], vectors.device.type)
            best = torch.topk(scores @ vectors.T, 100, dim=1).indices.cpu().numpy()
            for row, own in zip(some, best, strict=True):
                is_right = np.isin(own, asked.right[row])
                first.append(is_right[0])
                for most, found in among.items():
                    found.append(is_right[:most].sum() / min(len(asked.right[row]), most))
    model.train()
    return {
        "first": round(float(np.mean(first)), 4),
        **{f"among_{most}": round(float(np.mean(found)), 4) for most, found in among.items()},
    }


def teach(data: Path, out: Path, given: argparse.Namespace) -> None:
    """Teach, and write weights, curve and state; goes on where a run before it stopped."""
    asked, model = Asked(data / "asked.npz"), begin(data, given, dropout=0.0)
    model.head.requires_grad_(requires_grad=False)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    vectors = torch.from_numpy(np.load(data / "vectors.npy")).to(device)
    is_aside = asked.is_stard & (asked.folds % given.parts == given.aside)
    rows, aside = np.flatnonzero(~is_aside), np.flatnonzero(is_aside)
    if given.only_written:
        rows, aside = np.flatnonzero(~asked.is_stard), np.flatnonzero(asked.is_stard)
    dice = np.random.default_rng(given.seed)
    plan = [
        part
        for _ in range(given.epochs)
        for part in np.array_split(dice.permutation(rows), max(1, len(rows) // given.batch))
    ]

    def loss_at(step: int, device: str) -> torch.Tensor:
        batch = plan[step]
        scores = encode(model, [asked.texts[row] for row in batch], device) @ vectors.T
        scores = scores / _TEMPERATURE
        right = torch.stack(
            [
                torch.logsumexp(own[asked.right[row]], 0)
                for own, row in zip(scores, batch, strict=True)
            ]
        )
        return (torch.logsumexp(scores, dim=1) - right).mean()

    follow(model, len(plan), loss_at, lambda _: look(model, asked, aside, vectors), out, given)


def main() -> None:
    """Teach by the command's options."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--first-layer", type=int, default=6, help="layers below it stay")
    parser.add_argument("--start", type=Path, help="weights.npz to go on from")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--every", type=int, default=100, help="steps between two looks")
    parser.add_argument("--parts", type=int, default=20, help="parts that STARD is cut into")
    parser.add_argument("--aside", type=int, default=0, help="the part that is not taught")
    parser.add_argument("--only-written", action="store_true", help="teach nothing of STARD")
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    teach(given.data, given.out, given)


if __name__ == "__main__":
    main()
