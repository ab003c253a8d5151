"""Teach the encoder to read pairs: does a source say it, does a sentence answer, is it relevant.

    python -m benchmarks.reader.train DATA OUT [--examples N] [--first-layer N] [--epochs N] ...

DATA is what benchmarks.reader.examples wrote. Needs NumPy and torch alone, and uses a GPU where
there is one: `python train.py DATA OUT` works on a machine without this package. OUT/weights.npz
holds what was taught, OUT/curve.jsonl the figures on the fold kept aside, OUT/state.pt where it
stopped: the same command goes on from there.
"""

import argparse
import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

# Labels, in the order of packing.py: the first three are classes of `supports`.
NOT_SUPPORTED, ANSWERS, ANSWERS_NOT, RELEVANT, IRRELEVANT = 3, 4, 5, 6, 7
# Sets that were made of the documents and questions that the product is for.
OWN = ("drafts", "copies", "questions")
OUTPUTS = 5  # supported, contradicted, not stated; answers; relevant
_NEVER = -1e4


class Layer(nn.Module):
    """One layer of a BERT (Devlin et al., 2019)."""

    def __init__(self, hidden: int, inner: int, heads: int, epsilon: float, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(hidden, hidden) for _ in range(4))
        self.up, self.down = nn.Linear(hidden, inner), nn.Linear(inner, hidden)
        self.norm_one, self.norm_two = (nn.LayerNorm(hidden, eps=epsilon) for _ in range(2))
        self.drop = nn.Dropout(dropout)

    def forward(self, states: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
        """Return the states, shape (texts, tokens, hidden)."""
        texts, tokens, hidden = states.shape
        parts = [
            linear(states).view(texts, tokens, self.heads, -1).transpose(1, 2)
            for linear in (self.query, self.key, self.value)
        ]
        seen = functional.scaled_dot_product_attention(*parts, attn_mask=mask)
        states = self.norm_one(
            states + self.drop(self.out(seen.transpose(1, 2).reshape(texts, tokens, hidden)))
        )
        taught: torch.Tensor = self.norm_two(
            states + self.drop(self.down(functional.gelu(self.up(states))))
        )
        return taught


_PARTS = {
    "query": "attention.self.query", "key": "attention.self.key", "value": "attention.self.value",
    "out": "attention.output.dense", "norm_one": "attention.output.LayerNorm",
    "up": "intermediate.dense", "down": "output.dense", "norm_two": "output.LayerNorm",
}  # fmt: skip


class PairReader(nn.Module):
    """The encoder, and five scores from the mean of its last states.

    Args:
        encoder: the arrays of encoder.npz.
        first_layer: layers below it stay as they are.
    """

    def __init__(self, encoder: dict[str, Any], first_layer: int, dropout: float = 0.1) -> None:
        super().__init__()
        rows = torch.from_numpy(encoder["rows"])
        self.register_buffer("rows", rows, persistent=False)
        self.register_buffer("scales", torch.from_numpy(encoder["scales"]), persistent=False)
        inner, hidden = encoder["encoder.layer.0.intermediate.dense.weight"].shape
        heads, epsilon = int(encoder["heads"]), float(encoder["epsilon"])
        count = sum(name.endswith("intermediate.dense.weight") for name in encoder)
        self.layers = nn.ModuleList(
            Layer(hidden, inner, heads, epsilon, dropout) for _ in range(count)
        )
        for number, layer in enumerate(self.layers):
            for own, theirs in _PARTS.items():
                for kind in ("weight", "bias"):
                    array = encoder[f"encoder.layer.{number}.{theirs}.{kind}"]
                    getattr(layer.get_submodule(own), kind).data = torch.from_numpy(
                        array.astype(np.float32)
                    )
            layer.requires_grad_(number >= first_layer)
        self.first_layer = first_layer
        self.norm = nn.LayerNorm(hidden, eps=epsilon).requires_grad_(requires_grad=False)
        for kind in ("weight", "bias"):
            array = encoder[f"embeddings.LayerNorm.{kind}"].astype(np.float32)
            getattr(self.norm, kind).data = torch.from_numpy(array)
        places = encoder["embeddings.position_embeddings.weight"].astype(np.float32)
        places = places + encoder["embeddings.token_type_embeddings.weight"][0].astype(np.float32)
        self.register_buffer("places", torch.from_numpy(places), persistent=False)
        self.head = nn.Linear(hidden, OUTPUTS)

    def forward(self, tokens: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return the scores, shape (texts, 5), of padded tokens, shape (texts, tokens)."""
        scores: torch.Tensor = self.head(self.mean(tokens, lengths))
        return scores

    def mean(self, tokens: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Return the mean of the last states, shape (texts, hidden), of padded tokens."""
        width = tokens.shape[1]
        kept = torch.arange(width, device=tokens.device) < lengths[:, None]
        mask = None
        if not bool(kept.all()):
            mask = torch.zeros(kept.shape, device=tokens.device).masked_fill(~kept, _NEVER)
            mask = mask[:, None, None, :]
        with torch.no_grad():
            words = self.rows[tokens].float() * self.scales[tokens]
            states = self.norm(words + self.places[:width])
            for layer in self.layers[: self.first_layer].eval():
                states = layer(states, mask)
        for layer in self.layers[self.first_layer :]:
            states = layer(states, mask)
        weights = kept.unsqueeze(-1).to(states.dtype)
        mean: torch.Tensor = (states * weights).sum(1) / weights.sum(1)
        return mean

    def take(self, weights: Path) -> None:
        """Go on from what was taught before: the weights.npz of another run."""
        with np.load(weights) as arrays:
            taught = {name: torch.from_numpy(arrays[name].astype(np.float32)) for name in arrays}
        for name, weight in self._taught():
            # What was taught to find sentences has no head.
            weight.data = taught.get(name, weight.data)

    def _taught(self) -> Iterator[tuple[str, torch.Tensor]]:
        yield "head.weight", self.head.weight
        yield "head.bias", self.head.bias
        for number, layer in enumerate(self.layers):
            if number >= self.first_layer:
                for own, theirs in _PARTS.items():
                    for kind in ("weight", "bias"):
                        weight = getattr(layer.get_submodule(own), kind)
                        yield f"encoder.layer.{number}.{theirs}.{kind}", weight

    def arrays(self) -> dict[str, Any]:
        """Return what was taught, by the names that `transformers` gives a BERT."""
        return {name: one.detach().cpu().numpy().astype(np.float16) for name, one in self._taught()}


def loss_of(scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Return the mean loss: cross-entropy of the classes, and of yes or no for the other tasks."""
    shares = functional.log_softmax(scores[:, :3], dim=1)
    is_class = labels < NOT_SUPPORTED
    losses = torch.zeros(len(labels), device=scores.device)
    known = functional.nll_loss(shares[is_class], labels[is_class], reduction="none")
    losses[is_class] = known.to(losses.dtype)
    other = labels == NOT_SUPPORTED
    losses[other] = -torch.logsumexp(shares[other][:, 1:], dim=1).to(losses.dtype)
    for output, yes in ((3, ANSWERS), (4, RELEVANT)):
        asked = (labels == yes) | (labels == yes + 1)
        target = (labels[asked] == yes).to(scores.dtype)
        losses[asked] = functional.binary_cross_entropy_with_logits(
            scores[asked][:, output], target, reduction="none"
        ).to(losses.dtype)
    return losses.mean()


def support_log_odds(scores: torch.Tensor) -> torch.Tensor:
    """Return the log odds of `supported` against the other two classes."""
    return scores[:, 0] - torch.logsumexp(scores[:, 1:3], dim=1)


def area(scores: np.ndarray, is_true: np.ndarray) -> float:
    """Return the area under the ROC curve, ties counted half; NaN where a class is missing."""
    ranks = np.empty(len(scores))
    order = np.argsort(scores, kind="stable")
    ranks[order] = np.arange(1, len(scores) + 1)
    for value in np.unique(scores):
        same = scores == value
        ranks[same] = ranks[same].mean()
    positive = int(is_true.sum())
    negative = len(scores) - positive
    if not positive or not negative:
        return math.nan
    return float((ranks[is_true].sum() - positive * (positive + 1) / 2) / positive / negative)


class Packed:
    """The examples of examples.npz."""

    def __init__(self, path: Path) -> None:
        arrays = np.load(path)
        self.tokens, self.lengths = arrays["tokens"].astype(np.int32), arrays["lengths"]
        self.ends = np.concatenate([[0], np.cumsum(self.lengths.astype(np.int64))])
        self.labels, self.folds = arrays["labels"].astype(np.int64), arrays["folds"]
        self.origins = arrays["origin_names"][arrays["origins"]]

    def batch(self, rows: np.ndarray, device: str) -> tuple[torch.Tensor, torch.Tensor]:
        """Return padded tokens and lengths."""
        texts = [self.tokens[self.ends[row] : self.ends[row + 1]] for row in rows]
        return pad(texts, device)


def pad(texts: Sequence[np.ndarray], device: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the tokens of texts as one tensor, shape (texts, most tokens), and their lengths."""
    lengths = torch.tensor([len(text) for text in texts])
    padded = np.ones((len(texts), int(lengths.max())), np.int64)
    for place, text in enumerate(texts):
        padded[place, : len(text)] = text
    return torch.from_numpy(padded).to(device), lengths.to(device)


def look(model: PairReader, packed: Packed, rows: np.ndarray, device: str) -> dict[str, float]:
    """Return the area of each task, and of the drafts alone, on rows that were not taught."""
    model.eval()
    found = []
    with torch.inference_mode():
        for start in range(0, len(rows), 64):
            tokens, lengths = packed.batch(rows[start : start + 64], device)
            scores = model(tokens, lengths)
            both = torch.cat([support_log_odds(scores)[:, None], scores[:, 3:]], dim=1)
            found.append(both.float().cpu().numpy())
    model.train()
    scores, labels = np.concatenate(found), packed.labels[rows]
    origins = packed.origins[rows]
    tasks = {
        "supports": (0, labels <= NOT_SUPPORTED, 0),
        "drafts": (0, (labels <= NOT_SUPPORTED) & np.char.startswith(origins, "drafts"), 0),
        "answers": (1, (labels == ANSWERS) | (labels == ANSWERS_NOT), ANSWERS),
        "relevant": (2, (labels == RELEVANT) | (labels == IRRELEVANT), RELEVANT),
    }
    return {
        name: round(area(scores[chosen, column], labels[chosen] == yes), 4)
        for name, (column, chosen, yes) in tasks.items()
    }


def batches(lengths: np.ndarray, rows: np.ndarray, size: int, dice: Any) -> list[np.ndarray]:
    """Return the rows of each batch: at random, but of like lengths, so that little is padded."""
    mixed = dice.permutation(rows)
    made = []
    for start in range(0, len(mixed), size * 32):
        window = mixed[start : start + size * 32]
        window = window[np.argsort(lengths[window], kind="stable")]
        made += [window[first : first + size] for first in range(0, len(window), size)]
    return [made[place] for place in dice.permutation(len(made))]


def taught_rows(packed: Packed, given: argparse.Namespace) -> np.ndarray:
    """Return the rows that are taught, in their order."""
    is_own = np.char.startswith(packed.origins, OWN[0])
    for origin in OWN[1:]:
        is_own |= np.char.startswith(packed.origins, origin)
    dice = np.random.default_rng(given.seed)
    is_taught = is_own | (dice.random(len(is_own)) < given.open_share)
    is_taught &= (packed.folds != 0) & (packed.lengths <= given.most_tokens)
    return np.flatnonzero(is_taught)[: given.examples]


def begin(data: Path, given: argparse.Namespace, dropout: float = 0.1) -> PairReader:
    """Return the model to begin with."""
    torch.manual_seed(given.seed)
    with np.load(data / "encoder.npz") as arrays:
        encoder = {name: arrays[name] for name in arrays}
        model = PairReader(encoder, given.first_layer, dropout)
    if given.start:
        model.take(given.start)
    return model


def teach(data: Path, out: Path, given: argparse.Namespace) -> None:
    """Teach, and write weights, curve and state; goes on where a run before it stopped."""
    packed, model = Packed(data / "examples.npz"), begin(data, given)
    aside = np.flatnonzero(packed.folds == 0)[: given.most_aside]
    rows = taught_rows(packed, given)
    plan: list[np.ndarray] = []
    for epoch in range(given.epochs):
        plan += batches(
            packed.lengths, rows, given.batch, np.random.default_rng([given.seed, epoch])
        )

    def loss_at(step: int, device: str) -> torch.Tensor:
        tokens, lengths = packed.batch(plan[step], device)
        labels = torch.from_numpy(packed.labels[plan[step]]).to(device)
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            scores = model(tokens, lengths)
        return loss_of(scores.float(), labels)

    follow(model, len(plan), loss_at, lambda device: look(model, packed, aside, device), out, given)


def follow(
    model: PairReader,
    steps: int,
    loss_at: Callable[[int, str], torch.Tensor],
    look_at: Callable[[str], dict[str, float]],
    out: Path,
    given: argparse.Namespace,
) -> None:
    """Teach step by step, from where a run before stopped; write weights, curve and state.

    Args:
        loss_at: of the step with this number, on this device; `look_at` the figures on what is
            kept aside.
        given: rate, batch, every.
    """
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model.to(device)
    learnt = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(learnt, lr=given.rate, weight_decay=0.01)
    rise = max(1, steps // 20)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / rise, 1.0) * (1 - step / (steps + 1))
    )
    out.mkdir(parents=True, exist_ok=True)
    told = {key: value for key, value in vars(given).items() if not isinstance(value, Path)}
    (out / "given.json").write_text(json.dumps(told, indent=1), encoding="utf-8")
    done, state_file = 0, out / "state.pt"
    if state_file.exists():
        state = torch.load(state_file, map_location=device)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        schedule.load_state_dict(state["schedule"])
        done = state["done"]
    began, mean = time.monotonic(), 0.0
    for step in range(done + 1, steps + 1):
        loss = loss_at(step - 1, device)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(learnt, 1.0)
        optimizer.step()
        schedule.step()
        mean = 0.98 * mean + 0.02 * float(loss.detach())
        if step % given.every and step != steps:
            continue
        line = {"step": step, "of": steps, "examples": step * given.batch, "loss": round(mean, 4)}
        line |= look_at(device) | {"seconds": round(time.monotonic() - began)}
        print(json.dumps(line), flush=True)
        with (out / "curve.jsonl").open("a", encoding="utf-8") as curve:
            curve.write(json.dumps(line) + "\n")
        np.savez(out / "weights.npz", **model.arrays())
        state = {
            "model": model.state_dict(), "optimizer": optimizer.state_dict(),
            "schedule": schedule.state_dict(), "done": step,
        }  # fmt: skip
        torch.save(state, out / "state.tmp")
        (out / "state.tmp").replace(state_file)


def main() -> None:
    """Teach by the command's options."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--examples", type=int, default=10**9, help="of all, the first so many")
    parser.add_argument("--most-tokens", type=int, default=10**6, help="longer are left out")
    parser.add_argument("--open-share", type=float, default=1.0, help="of the other sets")
    parser.add_argument("--first-layer", type=int, default=0, help="layers below it stay")
    parser.add_argument("--start", type=Path, help="weights.npz to go on from")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--every", type=int, default=250, help="steps between two looks")
    parser.add_argument("--most-aside", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    teach(given.data, given.out, given)


if __name__ == "__main__":
    main()
