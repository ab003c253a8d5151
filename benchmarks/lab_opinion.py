"""What `rag lab suggest` claims of made-up laboratories whose truth is known.

    python -m benchmarks.lab_opinion [HISTORIES]

Each row: so many histories (default 40) of recipes drawn from five pairs of metals, four ratios and
eight modifiers. `structure`: each metal and each modifier adds its own, the ratio has a best, pairs
and modifiers interact, and results scatter by 0.5. `noise`: results scatter and nothing else;
`skewed noise`: as a lognormal. Replicates: each recipe is made one to three times. `claims`: of how
many histories it says that recipes tell more than the mean (of noise, each is false). `cover`: how
many new results, of recipes never made, lie in their intervals at 95 %; `where claimed` of those
histories alone. `error` and `width` are parts of those of the mean of all results. The bound for
"not enough data", the level of the test and the widening (`_FITTED`) were chosen by 40 other
histories of much the same worlds for each row; bounds between 8, 12 and 20 were not tried.
"""

import sys
import warnings
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from rag_assets.lab import opinion
from rag_assets.lab.chemistry import chemistry
from rag_assets.lab.opinion import Judged, Made, judge_history

PAIRS = (("Cu", "Mo"), ("Cu", "Zn"), ("In", "Zn"), ("Ag", "Cu"), ("Mo", "Ni"))
RATIOS = (Fraction(1, 2), Fraction(1), Fraction(2), Fraction(3))
MODIFIERS = ("acetic acid", "benzoic acid", "citric acid", "formic acid", "glycolic acid",
             "lactic acid", "oxalic acid", "trifluoroacetic acid")  # fmt: skip
SPACE = [Made(pair, ratio, name) for pair in PAIRS for ratio in RATIOS for name in MODIFIERS]
SIZES = (8, 12, 20)
FIRST_SEED = 1000


def make_world(rng: np.random.Generator, kind: str) -> Callable[[Made], float]:
    """Return what measures a recipe."""
    metals = {metal: rng.normal() for metal in sorted({one for pair in PAIRS for one in pair})}
    modifiers = {name: rng.normal() for name in MODIFIERS}
    both = {(pair, name): 0.5 * rng.normal() for pair in PAIRS for name in MODIFIERS}
    best = rng.uniform(0.3, 0.8)

    def measure(made: Made) -> float:
        if kind == "skewed noise":
            return float(rng.lognormal(0, 0.7))
        noise = 0.5 * rng.normal()
        if kind == "noise":
            return float(noise)
        share = float(made.ratio / (1 + made.ratio))
        of_metals = metals[made.metals[0]] + metals[made.metals[1]]
        of_modifier = modifiers[made.modifier] + both[made.metals, made.modifier]
        return float(of_metals + of_modifier - 6 * (share - best) ** 2 + noise)

    return measure


def try_history(seed: int, kind: str, size: int, replicates: int) -> dict[str, float]:
    """Return what was claimed of one history, and what was true of it."""
    rng = np.random.default_rng(seed)
    measure = make_world(rng, kind)
    drawn = [SPACE[n] for n in rng.permutation(len(SPACE))]
    made, rest = drawn[:size], drawn[size:]
    results = [(one, measure(one)) for one in made for _ in range(rng.integers(1, replicates + 1))]
    smiles = {name: chemistry().structures[name] for name in MODIFIERS}
    judged: Judged = judge_history(results, smiles, count=0, pending=rest)
    told = [(one, measure(one.made)) for one in judged.others if one is not None]
    within = [one.low <= value <= one.high for one, value in told]
    mean = np.mean([value for _, value in results])
    spread = np.std([value for _, value in results])
    return {
        "claims": judged.knows_more,
        "cover": float(np.mean(within)),
        "error": sum((one.expected - value) ** 2 for one, value in told),
        "error_of_mean": sum((mean - value) ** 2 for _, value in told),
        "width": float(np.mean([one.high - one.low for one, _ in told]) / (4 * spread)),
    }


def main() -> None:
    warnings.filterwarnings("ignore")
    histories = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    print(f"not enough data: below {opinion.FEWEST_RECIPES} recipes\n")
    print("| truth | replicates | recipes | claims | cover | where claimed | error | width |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for size in SIZES:
        for kind, replicates in (("noise", 1), ("noise", 3), ("skewed noise", 1),
                                 ("structure", 1), ("structure", 3)):  # fmt: skip
            rows = [try_history(FIRST_SEED + n, kind, size, replicates) for n in range(histories)]
            claimed = [row["cover"] for row in rows if row["claims"]]
            error = sum(row["error"] for row in rows) / sum(row["error_of_mean"] for row in rows)
            print(
                f"| {kind} | {'1' if replicates == 1 else f'1 to {replicates}'} | {size} "
                f"| {len(claimed)} of {histories} | {np.mean([row['cover'] for row in rows]):.3f} "
                f"| {f'{np.mean(claimed):.3f}' if claimed else '–'} | {error:.2f} "
                f"| {np.mean([row['width'] for row in rows]):.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
