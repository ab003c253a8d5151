"""Figures of calibrated probabilities on the cases of support_cases.py."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest
from sklearn.metrics import f1_score, roc_auc_score
from support_cases import NEAR, Array, Case, is_change

from rag_assets.evaluation.claims_rows import evidence_passages
from rag_assets.judging.repeating import find_repetition
from rag_assets.judging.statement import state
from rag_assets.judging.support import CONTRADICTED_AT_MOST, DOUBTFUL_AT_MOST, RESERVED_AT_MOST

_FEWEST_OK = 10


def calibration_error(p: Array, y: Array, bins: int = 10) -> float:
    """Return the expected calibration error over bins of equal width."""
    total = 0.0
    for b in range(bins):
        inside = (p >= b / bins) & ((p < (b + 1) / bins) | (b == bins - 1))
        if inside.any():
            total += inside.mean() * abs(p[inside].mean() - y[inside].mean())
    return float(total)


@dataclass(frozen=True)
class Table:
    """Cases with calibrated probabilities, and where a rule speaks against a claim."""

    rows: Sequence[Case]
    p: Array
    contradicted: NDArray[np.bool_]
    doubtful: NDArray[np.bool_]
    reserved: NDArray[np.bool_]

    @property
    def effective(self) -> Array:
        """Return the probabilities as the scorer gives them, where OK begins at one half."""
        capped = np.where(self.reserved, np.minimum(self.p, RESERVED_AT_MOST), self.p)
        capped = np.where(self.doubtful, np.minimum(capped, DOUBTFUL_AT_MOST), capped)
        return np.where(self.contradicted, np.minimum(self.p, CONTRADICTED_AT_MOST), capped)

    def ok(self, threshold: float) -> NDArray[np.bool_]:
        """Return which are OK."""
        ruled = self.contradicted | self.doubtful | self.reserved
        found: NDArray[np.bool_] = (self.p >= threshold) & ~ruled
        return found

    def mutated_ok(self, threshold: float) -> dict[str, tuple[float, int]]:
        """Return by kind and language the share that comes out OK, and of how many."""
        ok = self.ok(threshold)
        found: dict[str, list[bool]] = defaultdict(list)
        for case, is_ok in zip(self.rows, ok, strict=True):
            if case.kind != "row":
                found[f"{case.kind} {'zh' if case.is_han else 'en'}"].append(bool(is_ok))
        return {k: (float(np.mean(v)), len(v)) for k, v in sorted(found.items())}

    def by_set(self, threshold: float) -> dict[str, dict[str, float]]:
        """Return figures of the published rows of each set."""
        ok = self.ok(threshold)
        effective = self.effective
        found = {}
        for name in dict.fromkeys(c.set for c in self.rows):
            i = np.array([c.set == name and c.kind == "row" for c in self.rows])
            y = np.array([c.is_supported for c in self.rows])[i]
            if not i.any():
                continue
            found[name] = {
                "n": int(i.sum()),
                "auc": float(roc_auc_score(y, effective[i])),
                "f1": float(f1_score(y, ok[i], average="macro")),
                "f1_half": float(f1_score(y, effective[i] >= 0.5, average="macro")),
                "f1_best": max(
                    float(f1_score(y, effective[i] >= t, average="macro"))
                    for t in np.linspace(0.1, 0.9, 17)
                ),
                "false_ok": float((ok[i] & ~y).sum() / max(1, ok[i].sum())),
                "false_rate": float((ok[i] & ~y).sum() / max(1, (~y).sum())),
                "recall": float((ok[i] & y).sum() / max(1, y.sum())),
                "ece": calibration_error(effective[i], y),
            }
        return found


def show(title: str, table: Table, threshold: float) -> None:
    """Print the figures of a table."""
    print(f"\n{title} (OK from {threshold:.3f})")
    for name, f in table.by_set(threshold).items():
        print(
            f"  {name:17} n {f['n']:4} auc {f['auc']:.3f} F1 {f['f1']:.3f} "
            f"(best {f['f1_best']:.3f}) false_ok {f['false_ok']:.3f} "
            f"of-unsupported {f['false_rate']:.3f} "
            f"recall {f['recall']:.3f} ece {f['ece']:.3f}"
        )
    for kind, (share, n) in table.mutated_ok(threshold).items():
        print(f"  mutated {kind:14} n {n:4} still OK {share:.3f}")


def false_share(table: Table, threshold: float) -> float:
    """Return the share of what came out OK, of published rows, that is not supported."""
    ok = table.ok(threshold) & np.array([c.kind == "row" for c in table.rows])
    right = np.array([c.is_supported for c in table.rows])
    return float((ok & ~right).sum() / max(1, ok.sum()))


def surely_false(table: Table, threshold: float) -> float:
    """Return the highest share of a set's OK that is not supported, beyond chance.

    Of each set with ten OK or more, the lower end of the 95 % interval (Wilson).
    """
    ends = [0.0]
    ok = table.ok(threshold) & np.array([c.kind == "row" for c in table.rows])
    for name in {c.set for c in table.rows}:
        right = [c.is_supported for c, is_ok in zip(table.rows, ok, strict=True)
                 if is_ok and c.set == name]  # fmt: skip
        if len(right) >= _FEWEST_OK:
            wrong = binomtest(len(right) - sum(right), len(right))
            ends.append(float(wrong.proportion_ci(method="wilson").low))
    return max(ends)


def show_curve(table: Table) -> None:
    """Print what each threshold would give, out of fold."""
    print("\n  OK from  worst mutated  false_ok pooled  of sets  unchanged en  zh  macro F1")
    for threshold in np.round(np.arange(0.3, 0.96, 0.05), 2):
        mutated = table.mutated_ok(threshold)
        worst = max(s for k, (s, n) in mutated.items() if is_change(k[:-3]))
        sets = table.by_set(threshold).values()
        pooled = false_share(table, threshold)
        print(
            f"  {threshold:7.2f}  {worst:13.3f}  {pooled:15.3f}  "
            f"{np.mean([f['false_ok'] for f in sets]):7.3f}  "
            f"{mutated['unchanged en'][0]:12.3f}  {mutated['unchanged zh'][0]:.3f}  "
            f"{np.mean([f['f1'] for f in sets]):.3f}"
        )


def pooled_error(table: Table) -> float:
    """Return the calibration error over all published rows."""
    published = np.array([c.kind == "row" for c in table.rows])
    y = np.array([c.is_supported for c in table.rows])
    return calibration_error(table.effective[published], y[published])


def show_repetitions(measured: Sequence[tuple[Table, NDArray[np.bool_]]]) -> None:
    """Print how many claims stand in their evidence word for word, or with words between that
    they leave out and nothing against them; and how many of these are supported.
    """
    words: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for table, left_out in measured:
        ruled = table.contradicted | table.doubtful | table.reserved
        for case, is_left_out in zip(table.rows, left_out & ~ruled, strict=True):
            if case.kind != "row" and not case.kind.startswith(NEAR):
                continue
            kind = "published" if case.kind == "row" else "near copies"
            if find_repetition(state(case.claim), evidence_passages(case.evidence)):
                words["word for word", kind].append(case.is_supported)
            elif is_left_out:
                words["with words left out", kind].append(case.is_supported)
    for (how, kind), found in words.items():
        print(f"{how}, {kind}: {len(found)} rows, {sum(found)} supported")
