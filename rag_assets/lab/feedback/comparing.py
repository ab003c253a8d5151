"""A run beside others: those that a person names, what a person tells, those of the same kind.

Of the same kind are two runs whose sets of products are equal; sharing some is not enough.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import Literal

from rag_assets.lab.feedback.measuring import Measured, signature
from rag_assets.model import UsageError

# From here, mean and maximum are given of the history.
ENOUGH_HISTORY = 2

Note = Literal["no_history", "one_entry", "mean_and_maximum", "other_products"]
NOTES: dict[Note, str] = {
    "no_history": "No other run with feedback has the same set of products: tell what is known "
    "instead, for instance the best of the literature (method 2).",
    "one_entry": "One other run has the same set of products: it is shown; a mean takes two.",
    "mean_and_maximum": "Mean and maximum are those of all other runs of the same set of products.",
    "other_products": "A run that was chosen has another set of products: it counts for the "
    "products in common.",
}


@dataclass(frozen=True)
class Entry:
    """One run's feedback as it is compared.

    Args:
        run_id: the run; `version` of its feedback, counted by its events.
        score: finite.
        products: each product once.
        given_at: when it was first given, ISO 8601: of equals the earlier is the best.
    """

    run_id: str
    version: int
    score: float
    products: tuple[Measured, ...]
    given_at: str

    @cached_property
    def signature(self) -> str:
        """The key of its set of products."""
        return signature(one.product_id for one in self.products)

    def find(self, product_id: str) -> Measured | None:
        """Return what it measured of a product."""
        return next((one for one in self.products if one.product_id == product_id), None)


@dataclass(frozen=True, slots=True)
class Figures:
    """Mean, maximum or difference: of the score, and of each product where there is any.

    Args:
        score: of all entries that count; `count` is their number.
        products: by product in the order of the run, value and fraction; without a product that
            no entry has.
    """

    score: float
    count: int
    products: tuple[Measured, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a report says.

    Args:
        current: the run that is compared.
        signature: of its set of products when it was compared.
        text: what the person told (method 2).
        used_method3: whether the history of the same kind was asked for.
        mean_of: what mean and maximum are over; None where there is neither.
        mean, maximum: None where there are none.
        best: the entry of the same kind with the highest score; None without method 3 or history.
        details: the entries that are compared one by one: the best, then the chosen ones.
        minus_mean, minus_best: the run's figures less those.
        notes: codes of `NOTES`, what a reader is told.
        history: how many other runs of the same kind there are.
    """

    current: Entry
    signature: str
    text: str
    used_method3: bool
    mean_of: Literal["history", "chosen"] | None
    mean: Figures | None
    maximum: Figures | None
    best: Entry | None
    details: tuple[Entry, ...]
    minus_mean: Figures | None
    minus_best: Figures | None
    notes: tuple[Note, ...]
    history: int


def compare(
    current: Entry,
    chosen: Sequence[Entry],
    text: str,
    *,
    use_method3: bool,
    history: Iterable[Entry],
) -> Comparison:
    """Compare a run with chosen ones, with what a person tells, with the history of its kind.

    Args:
        current: the run; it is no history of itself.
        chosen: method 1: entries that a person names, of any set of products.
        text: method 2; may be empty.
        use_method3: whether the history counts.
        history: every feedback that is not deleted.

    Raises:
        UsageError: the run itself was chosen.
    """
    if any(entry.run_id == current.run_id for entry in chosen):
        raise UsageError(
            f"run {current.run_id} cannot be compared with itself: name other runs, or none."
        )
    named = tuple({entry.run_id: entry for entry in chosen}.values())
    same = [
        entry
        for entry in history
        if entry.run_id != current.run_id and entry.signature == current.signature
    ]
    best = _best(same) if use_method3 else None
    base = same if use_method3 else list(named)
    counts = len(base) >= (ENOUGH_HISTORY if use_method3 else 1)
    mean = _figures(current, base, _mean) if counts else None
    first = [best] if best is not None else []
    return Comparison(
        current=current,
        signature=current.signature,
        text=text,
        used_method3=use_method3,
        mean_of=("history" if use_method3 else "chosen") if counts else None,
        mean=mean,
        maximum=_figures(current, base, max) if counts else None,
        best=best,
        details=tuple({entry.run_id: entry for entry in (*first, *named)}.values()),
        minus_mean=_less(current, mean),
        minus_best=_less(current, _figures(current, first, _mean)) if first else None,
        notes=_notes(current, named, len(same), use_method3=use_method3),
        history=len(same),
    )


def _best(entries: Sequence[Entry]) -> Entry | None:
    """Of equal scores the earlier feedback is the best, then the lower run id."""
    return min(entries, key=lambda e: (-e.score, e.given_at, e.run_id), default=None)


def _mean(values: Sequence[float]) -> float:
    return fsum(values) / len(values)


def _figures(
    current: Entry, entries: Sequence[Entry], of: Callable[[Sequence[float]], float]
) -> Figures:
    products = []
    for own in current.products:
        found = [one for entry in entries if (one := entry.find(own.product_id)) is not None]
        if found:
            values, shares = [one.value for one in found], [one.fraction for one in found]
            products.append(Measured(own.product_id, of(values), of(shares)))
    return Figures(of([entry.score for entry in entries]), len(entries), tuple(products))


def _less(current: Entry, other: Figures | None) -> Figures | None:
    if other is None:
        return None
    products = []
    for one in other.products:
        own = current.find(one.product_id)
        if own is not None:
            products.append(
                Measured(one.product_id, own.value - one.value, own.fraction - one.fraction)
            )
    return Figures(current.score - other.score, other.count, tuple(products))


def _notes(
    current: Entry, named: Sequence[Entry], history: int, *, use_method3: bool
) -> tuple[Note, ...]:
    notes: list[Note] = []
    if use_method3:
        notes.append(
            "no_history"
            if history == 0
            else "one_entry"
            if history < ENOUGH_HISTORY
            else "mean_and_maximum"
        )
    if any(entry.signature != current.signature for entry in named):
        notes.append("other_products")
    return tuple(notes)
