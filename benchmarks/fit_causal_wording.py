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
from numpy.typing import NDArray
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from rag_assets.auditing.claims.causal import causal_features, has_causal_cue, names_a_reason
from rag_assets.auditing.claims.causal_model import ENCODER, LAYERS, mean_states

FITTED_ON = "yu2019_pubmed"
CAUSAL_LABELS = ("CAUSAL", "CONDITIONAL_CAUSAL")
# Inverse of the penalty on weights; 0.01 to 0.05 differ by less than 0.02 of F1.
STRENGTH = 0.02
# A feature of wording may weigh ten times as much as a state for the same penalty: there are few,
# and each has a reason; states are many, and none has.
WORDING_SCALE, STATE_SCALE = 3.0, 0.3
# Below one half: conclusions in PubMed are less often causal (23 %) than what drafts say.
THRESHOLD = 0.40


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--out", type=Path, default=Path("configs/causal_wording.json"))
    arguments = parser.parse_args()
    data = arguments.file.read_bytes()
    rows = [json.loads(line) for line in data.decode("utf-8").splitlines()]
    rows = [row for row in rows if row["set"] == FITTED_ON]
    sentences = [row["sentence"] for row in rows]
    truth = np.array([row["label"] in CAUSAL_LABELS for row in rows])
    features = [causal_features(sentence) for sentence in sentences]
    vectorizer = DictVectorizer(sparse=False)
    wording = vectorizer.fit_transform([dict.fromkeys(of, 1) for of in features])
    states = np.stack([mean_states(sentence) for sentence in sentences]).astype(np.float64)
    centre, spread = states.mean(axis=0), states.std(axis=0)
    x = np.hstack([wording * WORDING_SCALE, (states - centre) / spread * STATE_SCALE])
    model = LogisticRegression(C=STRENGTH, class_weight="balanced", max_iter=5000)
    folds = StratifiedKFold(5, shuffle=True, random_state=7)
    guessed = cross_val_predict(model, x, truth, cv=folds, method="predict_proba")[:, 1]
    outright = np.array([names_a_reason(sentence) for sentence in sentences])
    cued = np.array([has_causal_cue(of) for of in features])
    decided = outright | (cued & (guessed >= THRESHOLD))
    model.fit(x, truth)
    of_wording, of_states = np.split(model.coef_[0], [wording.shape[1]])
    per_state: NDArray[np.float64] = of_states * STATE_SCALE / spread
    names = vectorizer.get_feature_names_out()
    kept = {
        "weights": {
            name: round(float(weight), 3)
            for name, weight in zip(names, of_wording * WORDING_SCALE, strict=True)
        },
        "intercept": round(float(model.intercept_[0] - per_state @ centre), 3),
        "threshold": THRESHOLD,
        "encoder": ENCODER.model,
        "layers": list(LAYERS),
        "states": [round(float(weight), 3) for weight in per_state],
    }
    stored = {
        "what": "weights of causal wording in English; rag_assets/auditing/claims/causal_model.py",
        "fitted_by": "benchmarks/fit_causal_wording.py",
        "fitted_on": f"{FITTED_ON}: conclusions of PubMed abstracts, Yu, Li and Wang (EMNLP 2019), "
        "repository junwang4/causal-language-use-in-science; GPL-3.0",
        "rows": len(rows),
        "data_sha256": hashlib.sha256(data).hexdigest(),
        "date": datetime.now(UTC).date().isoformat(),
        "cross_validated_f1": round(float(f1_score(truth, decided)), 3),
        "fingerprint": hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()[:16],
        **kept,
    }
    text = json.dumps(stored | {"states": "?"}, indent=1)
    text = text.replace('"?"', json.dumps(stored["states"]))
    arguments.out.write_text(text + "\n", encoding="utf-8")
    print(
        f"{arguments.out}: {len(names)} features, {len(per_state)} states, "
        f"F1 {stored['cross_validated_f1']} (5 folds)"
    )


if __name__ == "__main__":
    main()
