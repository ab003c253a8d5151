"""Fit configs/answering.json: which sentence answers a question, and whether anything does.

    python benchmarks/fit_answering.py --source QUESTIONS.jsonl WORKSPACE WEIGHT [--source …]
        [--write]

Rows as `quote_finding.py` reads them; an answer may be a whole paragraph. The score of a sentence
is that of the finder for statements, scaled, and corrections of the features in _CORRECTED; the
loss of a row is the log share of the sentences that hold a marked answer. Whether anything answers
is a logistic regression over the rows, those without an answer, and the rows once more without the
pages that hold their answer. The threshold is chosen out of fold: so much of the first source's
answerable questions lies below.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from quote_finding import bare, holds
from scipy.optimize import minimize

from rag_assets.evidence.answer_weights import MATCH_FEATURES, SENTENCE_FEATURES, WEIGHTS_FILE
from rag_assets.evidence.answering import FoundParent, ReadParents, fetch_passages, read_parents
from rag_assets.evidence.matching import measure_match
from rag_assets.finding import FEATURES, KINDS, load_weights
from rag_assets.retrieval import Retriever, SearchFilters
from rag_assets.workspace import Workspace
from rag_assets.workspace.configuration import configs_folder

Floats = NDArray[np.float64]

_CORRECTED = (
    "covered", "bm25", "pairs", "grams", "cosine", "values", "names", "answered", "clearly",
    "same", "similar", "means", "covered in the document", "bm25 in the document",
    "grams in the document", "cosine in the document", "answered in the document",
    "clearly in the document", "means in the document", "row", "caption", "item", "size", "own",
    "cites", *KINDS, "found", "search score",
)  # fmt: skip
_PENALTY, _FOLDS, _REFUSED, _LEAST_PARENTS = 0.03, 5, 0.04, 3
# Letters from which a sentence that stands in a marked paragraph is told from a phrase.
_PART = 12


@dataclass(frozen=True, slots=True)
class _Case:
    question: str
    read: ReadParents
    held: tuple[int, ...]
    weight: float
    fold: int
    decides: bool


def _cases(file: Path, workspace: Path, weight: float, *, decides: bool) -> list[_Case]:
    rows = [json.loads(line) for line in file.open(encoding="utf-8")]
    papers = sorted({row["paper"] or row["id"] for row in rows})
    cases: list[_Case] = []
    filters = SearchFilters(citable_only=True)
    with Retriever(Workspace.open(workspace)) as retriever:
        for row in rows:
            found = retriever.retrieve(row["question"], filters=filters)
            passages = fetch_passages(retriever, found, filters)
            fold = papers.index(row["paper"] or row["id"]) % _FOLDS
            case = _case(row, passages, weight, fold, decides=decides)
            if bool(case.held) == bool(row["answers"]):
                cases.append(case)
            others = [one for one in passages if not _holds(row, one)] if row["answers"] else []
            if len(others) >= _LEAST_PARENTS:
                cases.append(_case(row, others, weight / 2, fold, decides=False))
    return cases


def _case(
    row: dict[str, Any],
    passages: Sequence[FoundParent],
    weight: float,
    fold: int,
    *,
    decides: bool,
) -> _Case:
    read = read_parents(row["question"], passages)
    held = tuple(
        number
        for number, sentence in enumerate(read.sentences)
        if _marks(row["answers"], sentence.text)
    )
    return _Case(row["question"], read, held, weight, fold, decides and bool(held))


def _marks(answers: Sequence[str], sentence: str) -> bool:
    """Say whether a sentence holds a marked answer, or is part of a marked paragraph."""
    text = bare(sentence)
    return holds(answers, sentence) or (
        len(text) >= _PART and any(text in bare(answer) for answer in answers)
    )


def _holds(row: dict[str, Any], parent: FoundParent) -> bool:
    return holds(row["answers"], " ".join(hit.text for hit in parent.passages))


def _fit_sentences(cases: Sequence[_Case]) -> Floats:
    base = np.concatenate(
        [load_weights().weights, np.zeros(len(SENTENCE_FEATURES) - len(FEATURES))]
    )
    columns = [SENTENCE_FEATURES.index(name) for name in _CORRECTED]
    known = [case for case in cases if case.held]
    values = [
        np.column_stack([case.read.features @ base, case.read.features[:, columns]])
        for case in known
    ]
    spread = np.concatenate(values).std(axis=0)
    spread = np.where(spread < 1e-4, 1.0, spread)
    spread[0] = 1.0
    start = np.eye(1, len(columns) + 1)[0]
    total = sum(case.weight for case in known)

    def loss(change: Floats) -> tuple[float, Floats]:
        weights = start + change / spread
        value, slope = _PENALTY * float(change @ change), 2 * _PENALTY * change
        for case, own in zip(known, values, strict=True):
            scores = own @ weights
            likely = np.exp(scores - scores.max())
            likely /= likely.sum()
            held = np.zeros_like(likely)
            held[list(case.held)] = likely[list(case.held)]
            share = max(float(held.sum()), 1e-12)
            value -= case.weight / total * float(np.log(share))
            slope = slope + case.weight / total * (own.T @ (likely - held / share)) / spread
        return value, slope

    found = minimize(loss, np.zeros(len(start)), jac=True, method="L-BFGS-B").x / spread + start
    weights: Floats = base * found[0]
    weights[columns] += found[1:]
    return weights


def _fit_match(values: Floats, answered: Floats, weights: Floats) -> tuple[Floats, float]:
    spread = values.std(axis=0)
    spread = np.where(spread < 1e-6, 1.0, spread)
    scaled = values / spread

    def loss(given: Floats) -> tuple[float, Floats]:
        logits = scaled @ given[:-1] + given[-1]
        wrong = weights * (1 / (1 + np.exp(-logits)) - answered) / weights.sum()
        value = weights @ (np.logaddexp(0, logits) - answered * logits) / weights.sum()
        slope = np.append(scaled.T @ wrong + 2 * _PENALTY * given[:-1], wrong.sum())
        return float(value + _PENALTY * given[:-1] @ given[:-1]), slope

    found = minimize(loss, np.zeros(values.shape[1] + 1), jac=True, method="L-BFGS-B").x
    return found[:-1] / spread, float(found[-1])


def main() -> None:
    """Fit both, print how they do out of fold, and store them with --write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--source", nargs=3, action="append", required=True, metavar=("FILE", "DIR", "WEIGHT")
    )
    parser.add_argument("--write", action="store_true", help=f"store configs/{WEIGHTS_FILE}")
    given = parser.parse_args()
    cases = [
        case
        for number, (file, folder, weight) in enumerate(given.source)
        for case in _cases(Path(file), Path(folder), float(weight), decides=number == 0)
    ]
    cases = [case for case in cases if case.read.sentences]
    sentences = _fit_sentences(cases)
    values = np.array(
        [measure_match(c.question, c.read, c.read.features @ sentences) for c in cases]
    )
    answered = np.array([bool(case.held) for case in cases], np.float64)
    weights = np.array([case.weight for case in cases])
    folds = np.array([case.fold for case in cases])
    logits = np.zeros(len(cases))
    for fold in range(_FOLDS):
        out = folds == fold
        fitted, bias = _fit_match(values[~out], answered[~out], weights[~out])
        logits[out] = values[out] @ fitted + bias
    deciding = logits[[case.decides for case in cases]]
    threshold = float(1 / (1 + np.exp(-np.quantile(deciding, _REFUSED))))
    refused = 1 / (1 + np.exp(-logits)) < threshold
    print(f"refused out of fold: {refused[answered > 0].mean():.3f} of the answered, "
          f"{refused[answered == 0].mean():.3f} of the others")  # fmt: skip
    if given.write:
        match, bias = _fit_match(values, answered, weights)
        stored = {
            "provenance": {
                "script": "benchmarks/fit_answering.py",
                "data": [Path(file).name for file, *_ in given.source],
                "sentences": {"rows": int(answered.sum()), "penalty": _PENALTY},
                "match": {"rows": len(cases), "penalty": _PENALTY},
                "threshold": f"{_REFUSED} of the first file's answerable questions, out of fold",
            },
            "sentences": _named(SENTENCE_FEATURES, sentences),
            "match": _named(MATCH_FEATURES, match),
            "bias": float(f"{bias:.6g}"),
            "threshold": float(f"{threshold:.4g}"),
        }
        path = configs_folder() / WEIGHTS_FILE
        path.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


def _named(names: Sequence[str], values: Floats) -> dict[str, float]:
    return {name: float(f"{value:.6g}") for name, value in zip(names, values, strict=True)}


if __name__ == "__main__":
    main()
