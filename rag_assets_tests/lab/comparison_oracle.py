"""What a comparison has to say, written from the list of requirements and from nothing else.

Entries are plain tuples here: run id, time of the feedback, score, {product: value}; dead ones are
left out by whoever asks.
"""

from fractions import Fraction

Entry = tuple[str, str, float, dict[str, float]]


def share(values: dict[str, float], product: str) -> Fraction:
    whole = sum(Fraction(value) for value in values.values())
    return Fraction(values[product]) / whole if whole else Fraction(0)


def average(numbers: list[Fraction]) -> Fraction:
    return sum(numbers, Fraction(0)) / len(numbers)


def quantities(entries: list[Entry], current: Entry) -> dict[tuple[str, str], list[Fraction]]:
    """Every figure that can be averaged: the score, and each product of the run."""
    found = {("", "score"): [Fraction(score) for _, _, score, _ in entries]}
    for product in current[3]:
        having = [values for _, _, _, values in entries if product in values]
        if having:
            found[product, "value"] = [Fraction(values[product]) for values in having]
            found[product, "fraction"] = [share(values, product) for values in having]
    return found


def expected(
    current: Entry, chosen: list[Entry], history: list[Entry], *, method3: bool
) -> dict[str, object]:
    """Return what a report must say: figures by name as exact numbers, runs by id."""
    kind = "|".join(sorted(current[3]))
    # 121, 154: the same kind is an equal set; a run is no history of itself.
    alike = [e for e in history if "|".join(sorted(e[3])) == kind and e[0] != current[0]]
    own = {name: numbers[0] for name, numbers in quantities([current], current).items()}
    said: dict[str, object] = {"signature": kind, "mean": None, "maximum": None, "best": None,
                               "minus_mean": None, "minus_best": None,
                               "history": len(alike)}  # fmt: skip
    details: list[str] = []
    advice = None
    averaged: list[Entry] = []
    if method3:
        if alike:
            # 124, 155: the highest score; of equals the earlier feedback, then the lower id.
            top = max(score for _, _, score, _ in alike)
            best = min((at, run) for run, at, score, _ in alike if score == top)[1]
            said["best"] = best
            details.append(best)
            (entry,) = [e for e in alike if e[0] == best]
            of_best = {name: numbers[0] for name, numbers in quantities([entry], current).items()}
            said["minus_best"] = {name: own[name] - number for name, number in of_best.items()}
        # 123, 126, 127, 128, 155: all the history of the kind, whatever else was chosen.
        averaged = alike if len(alike) > 1 else []
        advice = {0: "no_history", 1: "one_entry"}.get(len(alike), "mean_and_maximum")
    else:
        averaged = chosen  # 125
    if averaged:
        table = quantities(averaged, current)
        said["mean"] = {name: average(numbers) for name, numbers in table.items()}
        said["maximum"] = {name: max(numbers) for name, numbers in table.items()}
        said["minus_mean"] = {name: own[name] - average(n) for name, n in table.items()}
    # 125, 126: the best of the kind, then every chosen one, each once.
    details += [run for run, _, _, _ in chosen]
    said["details"] = sorted(set(details), key=details.index)
    told = [advice] if advice else []
    if any("|".join(sorted(values)) != kind for _, _, _, values in chosen):  # 157
        told.append("other_products")
    said["notes"] = told
    return said
