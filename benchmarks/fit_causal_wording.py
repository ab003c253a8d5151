"""Teach what claims a cause (configs/causal_wording.json and .npz).

    python benchmarks/fit_causal_wording.py CLAIM_STRENGTH.jsonl [--out configs/causal_wording.json]

Fitted on the conclusions of PubMed abstracts by Yu, Li and Wang (EMNLP 2019) alone: the repository
of the set is under GPL-3.0, which goes together with AGPL-3.0-or-later. The other sets in the file
state no licence and are for evaluation alone. A sentence counts as causal where its label is
CAUSAL or CONDITIONAL_CAUSAL: that it is hedged is another question, asked by other rules.
Takes some 20 minutes of two cores.
"""

import argparse
import hashlib
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from low_rank_training import class_shares, teach
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold

from rag_assets.auditing.claims.causal import CAUSAL_CUE
from rag_assets.auditing.claims.causal_model import (
    CAUSAL,
    CHANGES_FILE,
    ENCODER,
    STRENGTHS,
    log_odds,
)
from rag_assets.embedding.bundled import read_bert

FITTED_ON = "yu2019_pubmed"
# Log-odds. Conclusions in PubMed are less often causal (23 %) than what drafts say, and say it in
# other words: chosen on the other sets of the file.
THRESHOLD = -3.7
SEED = 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--out", type=Path, default=Path("configs/causal_wording.json"))
    arguments = parser.parse_args()
    data = arguments.file.read_bytes()
    rows = [json.loads(line) for line in data.decode("utf-8").splitlines()]
    rows = [row for row in rows if row["set"] == FITTED_ON]
    sentences = [row["sentence"] for row in rows]
    labels = [STRENGTHS.index(row["label"]) for row in rows]
    f1 = cross_validate(sentences, labels)
    print(f"F1 {f1:.3f} (5 folds)")

    bert = read_bert(ENCODER)
    changes = teach(bert, bert.token_ids(sentences), labels, seed=SEED).arrays()
    changes_file = arguments.out.with_name(CHANGES_FILE)
    with changes_file.open("wb") as file:
        np.savez_compressed(file, **changes)
    stored = {
        "what": "what claims a cause in English; rag_assets/auditing/claims/causal_model.py",
        "fitted_by": "benchmarks/fit_causal_wording.py",
        "fitted_on": f"{FITTED_ON}: conclusions of PubMed abstracts, Yu, Li and Wang (EMNLP 2019), "
        "repository junwang4/causal-language-use-in-science; GPL-3.0",
        "rows": len(rows),
        "data_sha256": hashlib.sha256(data).hexdigest(),
        "date": datetime.now(UTC).date().isoformat(),
        "cross_validated_f1": round(f1, 3),
        "threshold": THRESHOLD,
        "threshold_chosen_on": "the development halves of insciout_press_release, "
        "insciout_abstract and yu2020_eureka",
        "encoder": ENCODER.model,
        "changes_sha256": hashlib.sha256(changes_file.read_bytes()).hexdigest(),
    }
    arguments.out.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    print(f"{arguments.out}; {changes_file}: {len(changes)} arrays")


def cross_validate(sentences: Sequence[str], labels: Sequence[int]) -> float:
    """Return F1 of what is decided about sentences that were left out, in five folds."""
    truth = np.isin(labels, CAUSAL)
    decided = np.zeros(len(sentences), dtype=bool)
    bert = read_bert(ENCODER)
    ids = bert.token_ids(sentences)
    folds = StratifiedKFold(5, shuffle=True, random_state=7).split(ids, truth)
    for seed, (seen, left_out) in enumerate(folds):
        taught = teach(bert, [ids[row] for row in seen], [labels[row] for row in seen], seed=seed)
        shares = class_shares(taught, [ids[row] for row in left_out])
        for row, of in zip(left_out, shares, strict=True):
            decided[row] = CAUSAL_CUE.check(sentences[row]) and log_odds(of) >= THRESHOLD
        print(f"fold {seed}: {f1_score(truth[left_out], decided[left_out]):.3f}", flush=True)
    return float(f1_score(truth, decided))


if __name__ == "__main__":
    main()
