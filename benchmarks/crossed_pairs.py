"""Sentences and their translations: what the model of crossed claims is fitted on.

    python benchmarks/crossed_pairs.py

XQuAD's paragraphs (Artetxe et al. 2020, CC BY-SA 4.0) stand in English and in Chinese. A Chinese
sentence and the English paragraph that it translates are supported; with the paragraph that
resembles it most among the others they are not. Both directions, folds by paragraph.
"""

import json
import os
import random
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold, cross_val_predict

from rag_assets.chunking import split_sentences
from rag_assets.judging.contract import PassageText
from rag_assets.judging.crossed import answer_crossed

_SEED = 7
_SHORTEST = {"en": 40, "zh": 15}
_PARAGRAPHS = 40  # of 240: encoding takes time
_MOST_FALSE_OK = 0.05
# A whole other paragraph is easily told from a translation; sentences that only come close are not.
_LEAST_OK = 0.8
_WEAK = 0.3


def _paragraphs(name: str) -> dict[str, str]:
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("RAG_SHARED_DATA", default)) / "retrieval" / "beir" / name
    rows = (json.loads(line) for line in (folder / "corpus.jsonl").open(encoding="utf-8"))
    return {row["_id"][3:]: row["text"] for row in rows}


def _passage(text: str) -> PassageText:
    return PassageText(text, tuple(split_sentences(text)))


def pairs() -> list[tuple[str, PassageText, bool, str]]:
    """Return claim, passage, whether it is its translation, and the paragraph's name."""
    texts = {"en": _paragraphs("xquad_zh_en"), "zh": _paragraphs("xquad_zh_zh")}
    names = sorted(texts["en"].keys() & texts["zh"].keys())
    chance = random.Random(_SEED)
    chosen = chance.sample(names, _PARAGRAPHS)
    found = []
    for i, name in enumerate(chosen):
        for own, other in (("zh", "en"), ("en", "zh")):
            sentences = [
                texts[own][name][slice(*span)] for span in split_sentences(texts[own][name])
            ]
            sentences = [s for s in sentences if len(s) >= _SHORTEST[own]]
            if not sentences:
                continue
            claim = chance.choice(sentences)
            # Paragraphs of one article have neighbouring names: the hardest wrong source.
            topic = [n for n in names if n != name and n.split("_")[0] == name.split("_")[0]]
            wrong = chance.choice(topic or [chosen[i - 1]])
            found.append((claim, _passage(texts[other][name]), True, name))
            found.append((claim, _passage(texts[other][wrong]), False, name))
    return found


def fit_crossed() -> dict[str, Any]:
    """Return weights, intercept and thresholds of a logistic model; print what it is worth."""
    rows = pairs()
    measured = [answer_crossed(claim, [passage])[1] for claim, passage, _, _ in rows]
    x = np.array([[n.whole, n.mean, n.lowest, n.middle_mean, n.middle_lowest] for n in measured])
    y = np.array([is_same for _, _, is_same, _ in rows])
    model = LogisticRegression(C=10.0, max_iter=2000)
    p = cross_val_predict(
        model, x, y, groups=[g for *_, g in rows], cv=GroupKFold(5), method="predict_proba"
    )[:, 1]
    model.fit(x, y)
    ok = 0.95
    for threshold in np.round(np.arange(_LEAST_OK, 0.96, 0.01), 2):
        if (p[~y] >= threshold).mean() <= _MOST_FALSE_OK:
            ok = float(threshold)
            break
    chosen = (
        f"{len(rows)} pairs of XQuAD (CC BY-SA 4.0): AUC {roc_auc_score(y, p):.3f}, of wrong "
        f"sources {(p[~y] >= ok).mean():.3f} OK, of translations {(p[y] >= ok).mean():.3f}"
    )
    print("crossed:", chosen)
    return {
        "weights": [round(float(w), 5) for w in model.coef_[0]],
        "intercept": round(float(model.intercept_[0]), 5),
        "thresholds": {"ok": ok, "weak": _WEAK, "chosen": chosen},
    }


if __name__ == "__main__":
    fit_crossed()
