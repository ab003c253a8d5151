"""Fit configs/finding.json: which sentences of a document decide a statement.

    python -m benchmarks.fit_finding [--cache DIR] [--write]

A softmax over the sentences of the cited document, linear in the features of `rag_assets.finding`;
the loss of a row is the mean, over its quotations, of the log share of the sentences that hold the
quotation. Fitted on the drafts' training rows; the table is out of fold, folds by source.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz

from benchmarks.evidence_finding import CACHE, print_table
from benchmarks.known_drafts import Cited, bare, read_documents, read_rows
from rag_assets.embedding import load_word_pieces
from rag_assets.finding import (
    FEATURES,
    WEIGHTS_FILE,
    DocumentFeatures,
    FindingWeights,
    read_sentences,
    without_references,
)
from rag_assets.workspace.configuration import configs_folder

_PENALTY = 0.05
_FOLDS = 5
_STEPS = 80
# A sentence holds a quotation that covers half of it, or of which it has three tenths.
_OF_SENTENCE, _OF_QUOTATION, _ALIGNED = 0.5, 0.3, 80

Case = tuple[dict[str, Any], NDArray[np.float64], list[list[int]]]


def _cases(rows: Sequence[dict[str, Any]], documents: dict[str, Cited]) -> list[Case]:
    pieces, opened, cases = load_word_pieces(), dict[str, Any](), []
    for row in rows:
        name = row["paper"]
        if name not in opened:
            cited = documents[name]
            sentences = read_sentences(cited.passages, cited.title)
            texts = [bare(sentence.text) for sentence in sentences]
            bounds = np.cumsum([0, *map(len, texts)])
            opened[name] = DocumentFeatures(sentences, pieces), "".join(texts), bounds
        features, text, bounds = opened[name]
        held = [_holders(bare(quotation), text, bounds) for quotation in row["evidence"]]
        measured = features.measure(without_references(row["sentence"]))
        cases.append((row, measured, [one for one in held if one]))
    return cases


def _holders(quotation: str, text: str, bounds: NDArray[np.int64]) -> list[int]:
    found = fuzz.partial_ratio_alignment(quotation, text)
    if not quotation or found is None or found.score < _ALIGNED:
        return []
    low, high = found.dest_start, found.dest_end
    shared = np.minimum(bounds[1:], high) - np.maximum(bounds[:-1], low)
    is_held = (shared >= _OF_SENTENCE * np.diff(bounds)) | (shared >= _OF_QUOTATION * (high - low))
    return [int(i) for i in np.flatnonzero((shared > 0) & is_held)]


def fit(cases: Sequence[Case]) -> NDArray[np.float64]:
    """Return one weight a feature."""
    import torch

    known = [case for case in cases if case[2]]
    stacked = np.concatenate([measured for _, measured, _ in known])
    spread = stacked.std(axis=0)
    spread = np.where(spread < 1e-5, 1.0, spread)
    rows = [
        torch.tensor((measured - stacked.mean(axis=0)) / spread, dtype=torch.float32)
        for _, measured, _ in known
    ]
    weights = torch.zeros(stacked.shape[1], requires_grad=True)
    optimizer = torch.optim.LBFGS([weights], max_iter=_STEPS, line_search_fn="strong_wolfe")

    def closure() -> Any:
        optimizer.zero_grad()
        loss = _PENALTY * (weights**2).sum()
        for row, (_, _, held) in zip(rows, known, strict=True):
            scores = torch.log_softmax(row @ weights, 0)
            likely = torch.stack([torch.logsumexp(scores[one], 0) for one in held])
            loss = loss - likely.mean() / len(known)
        loss.backward()
        return loss

    optimizer.step(closure)
    fitted: NDArray[np.float64] = weights.detach().numpy().astype(np.float64) / spread
    return fitted


def main() -> None:
    """Print the table out of fold; with --write store the weights of all training rows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cache", type=Path, default=CACHE, help="where parses are kept")
    parser.add_argument("--folds", action="store_true", help="print the table out of fold")
    parser.add_argument("--write", action="store_true", help="store configs/finding.json")
    given = parser.parse_args()
    rows = read_rows("train")
    documents = read_documents(rows, given.cache)
    cases = _cases(rows, documents)
    if given.folds:
        sources = sorted(documents)
        weights: dict[str, FindingWeights] = {}
        for number in range(_FOLDS):
            left_out = set(sources[number::_FOLDS])
            fitted = fit([case for case in cases if case[0]["paper"] not in left_out])
            weights |= dict.fromkeys(left_out, FindingWeights(fitted, {}, f"fold {number}"))
        print_table(rows, documents, weights)
    if given.write:
        provenance = {
            "script": "benchmarks/fit_finding.py",
            "data": "claims/drafts/train.jsonl (CC0)",
            "rows": sum(bool(held) for *_, held in cases),
            "sources": len(documents),
            "penalty": _PENALTY,
        }
        fitted = fit(cases).tolist()
        stored = {
            "provenance": provenance,
            "weights": {
                name: float(f"{weight:.6g}") for name, weight in zip(FEATURES, fitted, strict=True)
            },
        }
        path = configs_folder() / WEIGHTS_FILE
        path.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
