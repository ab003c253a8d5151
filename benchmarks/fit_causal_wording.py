"""Fit the weights of causal wording (configs/causal_wording.json).

    python benchmarks/fit_causal_wording.py CLAIM_STRENGTH.jsonl [--out configs/causal_wording.json]

Fitted on the conclusions of PubMed abstracts by Yu, Li and Wang (EMNLP 2019) alone: the repository
of the set is under GPL-3.0, which goes together with AGPL-3.0-or-later. The other sets in the file
state no licence and are for evaluation alone. A sentence counts as causal where its label is
CAUSAL or CONDITIONAL_CAUSAL: that it is hedged is another question, asked by other rules.
"""

import argparse
import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline

from rag_assets.auditing.claims.causal import causal_features

FITTED_ON = "yu2019_pubmed"
CAUSAL_LABELS = ("CAUSAL", "CONDITIONAL_CAUSAL")
STRENGTH = 0.1  # inverse of the penalty on weights; 0.1 to 1 differ by less than 0.01 of F1
# Below one half: conclusions in PubMed are less often causal (23 %) than what drafts say.
THRESHOLD = 0.45


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--out", type=Path, default=Path("configs/causal_wording.json"))
    arguments = parser.parse_args()
    data = arguments.file.read_bytes()
    rows = [json.loads(line) for line in data.decode("utf-8").splitlines()]
    rows = [row for row in rows if row["set"] == FITTED_ON]
    features = [dict.fromkeys(causal_features(row["sentence"]), 1) for row in rows]
    truth = np.array([row["label"] in CAUSAL_LABELS for row in rows])
    model = make_pipeline(
        DictVectorizer(),
        LogisticRegression(C=STRENGTH, class_weight="balanced", max_iter=5000),
    )
    folds = StratifiedKFold(5, shuffle=True, random_state=7)
    guessed = cross_val_predict(model, features, truth, cv=folds, method="predict_proba")[:, 1]
    model.fit(features, truth)
    names = model[0].get_feature_names_out()
    weights = {name: round(float(w), 3) for name, w in zip(names, model[1].coef_[0], strict=True)}
    intercept = round(float(model[1].intercept_[0]), 3)
    decided = {"weights": weights, "intercept": intercept, "threshold": THRESHOLD}
    stored = {
        "what": "weights of causal wording in English; rag_assets/auditing/claims/causal.py",
        "fitted_by": "benchmarks/fit_causal_wording.py",
        "fitted_on": f"{FITTED_ON}: conclusions of PubMed abstracts, Yu, Li and Wang (EMNLP 2019), "
        "repository junwang4/causal-language-use-in-science; GPL-3.0",
        "rows": len(rows),
        "data_sha256": hashlib.sha256(data).hexdigest(),
        "date": datetime.now(UTC).date().isoformat(),
        "cross_validated_f1": round(float(f1_score(truth, guessed >= THRESHOLD)), 3),
        "fingerprint": hashlib.sha256(json.dumps(decided, sort_keys=True).encode()).hexdigest()[
            :16
        ],
        **decided,
    }
    arguments.out.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    print(f"{arguments.out}: {len(weights)} weights, F1 {stored['cross_validated_f1']} (5 folds)")


if __name__ == "__main__":
    main()
