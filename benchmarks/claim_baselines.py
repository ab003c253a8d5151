"""The two baselines of the claim sets in binary form: overlap, and the claim's wording alone.

    python benchmarks/claim_baselines.py [NAME …]

Overlap: TF-IDF cosine of claim and evidence and of the best sentence, coverage, share of numbers
in common → logistic regression. Claim only: TF-IDF of the claim without its evidence → logistic
regression; where it beats overlap, the set gives its label away by wording. Both balanced, 5-fold,
grouped by source document and claim; macro-F1 of SUPPORT or ATTRIBUTABLE against the rest.
"""

import re
import sys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from support_sets import FITTING_SETS, MEASURED_SETS, Row, read_rows

from rag_assets.chunking import split_sentences
from rag_assets.evidence.wording import content_units, coverage

_FOLDS = 5


def groups_of(rows: Sequence[Row]) -> list[int]:
    """Return a number for each row; rows of one source document or claim share theirs."""
    parent = list(range(len(rows)))

    def root(i: int) -> int:
        while parent[i] != i:
            i = parent[i]
        return i

    seen: dict[str, int] = {}
    for i, row in enumerate(rows):
        for key in (f"source {row.source_doc}", f"claim {row.claim}"):
            parent[root(i)] = root(seen.setdefault(key, i))
    found = [root(i) for i in range(len(rows))]
    if len(set(found)) >= _FOLDS:
        return found
    # Claims made from a template stand with every document, and would bind all to one group.
    documents = sorted({row.source_doc for row in rows})
    return [documents.index(row.source_doc) for row in rows]


def overlap(rows: Sequence[Row]) -> NDArray[np.float64]:
    """Return the four measures of overlap, shape (rows, 4)."""
    texts = [" ".join(row.evidence) for row in rows]
    vectors = TfidfVectorizer(analyzer=lambda text: sorted(content_units(text)))
    vectors.fit([*texts, *(row.claim for row in rows)])
    found = []
    for row, text in zip(rows, texts, strict=True):
        sentences = [text[slice(*span)] for span in split_sentences(text)] or [text]
        claim, *others = vectors.transform([row.claim, text, *sentences])
        near = [float(claim.multiply(other).sum()) for other in others]
        numbers = set(re.findall(r"\d+(?:\.\d+)?", row.claim))
        held = set(re.findall(r"\d+(?:\.\d+)?", text))
        found.append([
            near[0], max(near[1:]), coverage(row.claim, text),
            len(numbers & held) / len(numbers) if numbers else 0.5,
        ])  # fmt: skip
    return np.array(found)


def main() -> None:
    """Print one line a set."""
    print("set                 n  overlap F1   AUC  claim-only F1   AUC")
    for name in sys.argv[1:] or [*FITTING_SETS, *MEASURED_SETS]:
        rows = read_rows(name)
        y = np.array([row.is_supported for row in rows])
        groups = groups_of(rows)
        folds = GroupKFold(_FOLDS)
        models = (
            (make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced")),
             overlap(rows)),
            (make_pipeline(TfidfVectorizer(analyzer=lambda t: sorted(content_units(t))),
                           LogisticRegression(class_weight="balanced", max_iter=1000)),
             np.array([row.claim for row in rows], object)),
        )  # fmt: skip
        cells = []
        for model, x in models:
            p = cross_val_predict(model, x, y, groups=groups, cv=folds, method="predict_proba")
            f1 = f1_score(y, p[:, 1] >= 0.5, average="macro")
            cells.append(f"{f1:10.3f} {roc_auc_score(y, p[:, 1]):.3f}")
        print(f"{name:17} {len(rows):4}", *cells, flush=True)


if __name__ == "__main__":
    main()
