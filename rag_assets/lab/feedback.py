"""What experiments gave: measured values, fractions, and how a run compares with others.

Of the same kind are two runs whose sets of products are equal; sharing some is not enough. A run
has at most one feedback, which can be edited.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean
from typing import Any, Literal, cast

from pydantic import TypeAdapter

from rag_assets.lab.products import product_names, read_product
from rag_assets.lab.runs import Run, read_run
from rag_assets.lab.store import Reading, Writing
from rag_assets.model import UsageError, count_of, shown_value


@dataclass(frozen=True, slots=True)
class Measured:
    """One product of a feedback.

    Args:
        product_id: of the catalogue.
        value: as measured, in the unit of the experimenter's sheet; not negative.
        fraction: of the sum of all values of the feedback, 0 to 1.
    """

    product_id: str
    value: float
    fraction: float


def fractions(values: Sequence[float]) -> list[float]:
    """Return the share of each value in their sum; all 0 where the sum is 0.

    Args:
        values: finite, not negative.
    """
    # Beyond the largest float a sum would be infinite, and each share 0.
    largest = max(values, default=0.0)
    if largest == 0:
        return [0.0 for _ in values]
    scaled = [value / largest for value in values]
    whole = math.fsum(scaled)
    return [value / whole for value in scaled]


def measure(
    values: Mapping[str, float], names: Mapping[str, str] | None = None
) -> tuple[Measured, ...]:
    """Return values with their fractions, by product, in the order given.

    Args:
        names: of products by id, for the message.

    Raises:
        UsageError: a value is negative or no number.
    """
    for product, value in values.items():
        if not math.isfinite(value) or value < 0:
            name = (names or {}).get(product, product)
            raise UsageError(
                f"the value of product {name} must be a number from 0, got {shown_value(value)}."
            )
    shares = fractions(list(values.values()))
    return tuple(
        Measured(product, float(value), share)
        for (product, value), share in zip(values.items(), shares, strict=True)
    )


def signature(product_ids: Iterable[str]) -> str:
    """Return what feedback of one set of products has in common: its sorted ids, joined."""
    return "|".join(sorted(set(product_ids)))


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


@dataclass(frozen=True, slots=True)
class Entry:
    """One run's feedback as it is compared.

    Args:
        run_id: the run; `version` of its feedback, counted by its changes.
        score: finite.
        products: each product once.
        given_at: when it was first given, ISO 8601: of equals the earlier is the best.
    """

    run_id: str
    version: int
    score: float
    products: tuple[Measured, ...]
    given_at: str

    @property
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
    # Of equal scores the earlier feedback is the best, then the lower run id.
    ranked = sorted(same, key=lambda one: (-one.score, one.given_at, one.run_id))
    best = ranked[0] if use_method3 and ranked else None
    base = same if use_method3 else list(named)
    counts = len(base) >= (ENOUGH_HISTORY if use_method3 else 1)
    mean = _figures(current, base, fmean) if counts else None
    first = [best] if best is not None else []
    notes: list[Note] = []
    if use_method3 and len(same) < ENOUGH_HISTORY:
        notes.append("one_entry" if same else "no_history")
    elif use_method3:
        notes.append("mean_and_maximum")
    if any(entry.signature != current.signature for entry in named):
        notes.append("other_products")
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
        minus_best=_less(current, _figures(current, first, fmean)) if first else None,
        notes=tuple(notes),
        history=len(same),
    )


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


_TEXTS = ("as_made", "pros", "cons", "other")


@dataclass(frozen=True, slots=True)
class FeedbackForm:
    """What an experimenter says of a run.

    Args:
        score: any finite number; "out of 10" is a hint to people, no rule.
        values: measured value by product id, in the unit of the experimenter's sheet.
        recipe_index: which of the run's recipes was made, from 1.
        as_made: how it was made otherwise than proposed; empty where it was not.
        pros, cons, other: what was good, what was not, what else there is to say.
    """

    score: float
    values: Mapping[str, float]
    recipe_index: int = 1
    as_made: str = ""
    pros: str = ""
    cons: str = ""
    other: str = ""


@dataclass(frozen=True, slots=True)
class Feedback:
    """A run's feedback as it stands; `version` is the number of its changes.

    Args:
        learn: whether it teaches, where a person said so; None where nobody did.
    """

    run_id: str
    version: int
    status: Literal["given", "deleted"]
    score: float
    products: tuple[Measured, ...]
    recipe_index: int
    as_made: str
    pros: str
    cons: str
    other: str
    given_at: str
    updated_at: str
    signature: str = ""
    learn: bool | None = None

    @property
    def form(self) -> FeedbackForm:
        """What was said, without what is computed."""
        values = {one.product_id: one.value for one in self.products}
        texts = {key: getattr(self, key) for key in _TEXTS}
        return FeedbackForm(self.score, values, self.recipe_index, **texts)

    @property
    def entry(self) -> Entry:
        """It, as it is compared."""
        return Entry(self.run_id, self.version, self.score, self.products, self.given_at)


def check_form(reading: Reading, run: Run, form: FeedbackForm) -> tuple[Measured, ...]:
    """Return the measured values of a form with their fractions.

    Raises:
        UsageError: a number is none, a product is not in the catalogue, there is no such recipe.
    """
    if not math.isfinite(form.score):
        raise UsageError(f"the score must be a number, got {shown_value(form.score)}.")
    if not form.values:
        raise UsageError(
            f"feedback on run {run.id} needs at least one product with its measured value."
        )
    names = {product_id: read_product(reading, product_id).name for product_id in form.values}
    if not run.recipes:
        raise UsageError(
            f"run {run.id} has no recipe that could have been made (it is {run.state})."
        )
    if not 1 <= form.recipe_index <= len(run.recipes):
        raise UsageError(
            f"run {run.id} has {len(run.recipes)} recipes: 'recipe_index' must be from 1 to "
            f"{len(run.recipes)}, got {form.recipe_index}."
        )
    return measure(form.values, names)


def write_feedback(
    writing: Writing,
    run: Run,
    form: FeedbackForm,
    seen: int | None = None,
    learn: bool | None = None,
) -> Feedback:
    """Store a feedback: a run's first one, one in place of a deleted one, or an edit.

    Args:
        learn: whether it is to teach; None where nobody said so.

    Raises:
        UsageError: as `check_form`.
        ChangedMeanwhileError: it has changed since it was seen.
    """
    old = find_feedback(writing, run.id)
    if old is not None and seen is not None:
        writing.require_version("feedback", run.id, "the feedback on run", seen)
    measured = check_form(writing, run, form)
    is_new = old is None or old.status == "deleted"
    writing.save("feedback", run.id, "given" if is_new else "edited", {
        "run_id": run.id, "status": "given", "score": float(form.score),
        "recipe_index": form.recipe_index,
        **{key: getattr(form, key).strip() for key in _TEXTS},
        "products": [asdict(one) for one in measured],
        "signature": signature(one.product_id for one in measured), "learn": learn,
        "given_at": writing.at if old is None or is_new else old.given_at,
        "updated_at": writing.at,
    })  # fmt: skip
    return require_feedback(writing, run.id)


def delete_feedback(writing: Writing, run_id: str, seen: int | None = None) -> Feedback:
    """Take a feedback back; its history stays.

    Raises:
        UsageError: there is none.
        ChangedMeanwhileError: it has changed since it was seen.
    """
    writing.require_version("feedback", run_id, "feedback on run", seen)
    require_feedback(writing, run_id)
    (row,) = writing.rows("feedback", run_id=run_id)
    row |= {"status": "deleted", "updated_at": writing.at}
    writing.save("feedback", run_id, "deleted", row)
    return cast("Feedback", find_feedback(writing, run_id))


def is_unchanged(given: Feedback | None, form: FeedbackForm) -> bool:
    """Say whether a form says what stands there already."""
    if given is None or given.status == "deleted":
        return False
    old = given.form
    same_texts = all(getattr(old, key) == getattr(form, key).strip() for key in _TEXTS)
    values = {key: float(value) for key, value in form.values.items()}
    return same_texts and (old.score, old.recipe_index, list(old.values.items())) == (
        float(form.score),
        form.recipe_index,
        list(values.items()),
    )


def find_feedback(reading: Reading, run_id: str) -> Feedback | None:
    """Return a run's feedback, deleted or not; None where none was ever given."""
    found = reading.rows("feedback", run_id=run_id)
    return _feedback(found[0]) if found else None


def require_feedback(reading: Reading, run_id: str) -> Feedback:
    """Return a run's feedback.

    Raises:
        UsageError: there is no such run, or it has none.
    """
    read_run(reading, run_id)
    found = find_feedback(reading, run_id)
    if found is None or found.status == "deleted":
        raise UsageError(
            f"run {run_id} has no feedback. `rag lab feedback {run_id} --score …` gives it."
        )
    return found


def list_feedback(reading: Reading) -> list[Feedback]:
    """Return every feedback that is not deleted, in the order in which they were given."""
    return [_feedback(row) for row in reading.rows("feedback", "given_at, run_id", status="given")]


def _feedback(row: dict[str, Any]) -> Feedback:
    return Feedback(**{**row, "products": tuple(Measured(**one) for one in row["products"])})


@dataclass(frozen=True, slots=True)
class Strategy:
    """With what a run is compared.

    Args:
        chosen: runs that a person names (method 1).
        text: what a person knows besides (method 2).
        use_method3: whether the history of the same set of products counts (method 3).
    """

    chosen: tuple[str, ...] = ()
    text: str = ""
    use_method3: bool = True


@dataclass(frozen=True, slots=True)
class Report:
    """A comparison as it was made; `version` counts the reports on its run."""

    run_id: str
    version: int
    made_at: str
    strategy: Strategy
    comparison: Comparison


def make_comparison(reading: Reading, entry: Entry, strategy: Strategy) -> Comparison:
    """Return how a run compares, by what stands in the store.

    Raises:
        UsageError: a chosen run is the run itself, is unknown or has no feedback.
    """
    chosen = [
        entry if run_id == entry.run_id else require_feedback(reading, run_id).entry
        for run_id in strategy.chosen
    ]
    history = [one.entry for one in list_feedback(reading)]
    return compare(entry, chosen, strategy.text, use_method3=strategy.use_method3, history=history)


def strategy_now(reading: Reading, report: Report) -> Strategy:
    """Return the strategy of a report without chosen runs whose feedback has been deleted."""
    given = {one.run_id for one in list_feedback(reading)}
    strategy = report.strategy
    return replace(strategy, chosen=tuple(one for one in strategy.chosen if one in given))


def write_report(writing: Writing, feedback: Feedback, strategy: Strategy) -> Report:
    """Compare a run and keep the report; the ones before stay in `changes`.

    Raises:
        UsageError: as `make_comparison`.
    """
    comparison = make_comparison(writing, feedback.entry, strategy)
    report = {"strategy": asdict(strategy), "comparison": asdict(comparison)}
    version = writing.change("report", feedback.run_id, "made", report["strategy"])
    writing.put("reports", {
        "run_id": feedback.run_id, "version": version, "made_at": writing.at,
        "signature": comparison.signature, "report": report,
    })  # fmt: skip
    return Report(feedback.run_id, version, writing.at, strategy, comparison)


def find_report(reading: Reading, run_id: str) -> Report | None:
    """Return the newest report on a run; None where there is none."""
    found = reading.rows("reports", run_id=run_id)
    if not found:
        return None
    (row,) = found
    return Report(
        run_id, row["version"], row["made_at"],
        TypeAdapter(Strategy).validate_python(row["report"]["strategy"]),
        TypeAdapter(Comparison).validate_python(row["report"]["comparison"]),
    )  # fmt: skip


def outdated_parts(reading: Reading, report: Report) -> list[str]:
    """Return a sentence for each run that a report compares otherwise than it stands now."""
    said = []
    comparison = report.comparison
    for entry in (comparison.current, *comparison.details):
        now = find_feedback(reading, entry.run_id)
        if now is None or now.status == "deleted":
            said.append(
                f"The feedback on run {entry.run_id} has been deleted since; a new report leaves "
                "it out."
            )
        elif now.signature != entry.signature:
            said.append(
                f"Run {entry.run_id} was compared with the products {_named(reading, entry)} "
                f"(version {entry.version}); it has {_named(reading, now.entry)} since version "
                f"{now.version}."
            )
        elif now.entry.products != entry.products or now.score != entry.score:
            said.append(f"The feedback on run {entry.run_id} has other values since.")
    if report.strategy.use_method3:
        # Mean, maximum and best are over entries that are not listed one by one.
        today = make_comparison(reading, comparison.current, Strategy())
        of_history = ("history", "mean", "maximum", "best")
        if any(getattr(today, key) != getattr(comparison, key) for key in of_history):
            said.append(
                "The history of this set of products has changed since: the report counts "
                f"{count_of(comparison.history, 'other run')}, and now there "
                f"{'is' if today.history == 1 else 'are'} {today.history}, some of them perhaps "
                "with other values."
            )
    return said


def _named(reading: Reading, entry: Entry) -> str:
    return ", ".join(product_names(reading, [one.product_id for one in entry.products]))
