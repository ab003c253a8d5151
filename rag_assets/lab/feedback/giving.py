"""Feedback on a run: at most one, editable, with the fractions that the system computes."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, cast

from rag_assets.lab.feedback.comparing import Entry
from rag_assets.lab.feedback.measuring import Measured, measure, signature
from rag_assets.lab.products import read_product
from rag_assets.lab.store import Draft, EntityKind, Event, Reading, Rows, Run, Writing, read_run
from rag_assets.lab.store.tables import feedback, feedback_products
from rag_assets.model import UsageError, shown_value

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
    """A run's feedback as it stands; `version` is the number of its events.

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
    signature: str = field(default="")
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
    stream = writing.stream("feedback", run.id)
    if stream and seen is not None:
        writing.require_version("feedback", run.id, "the feedback on run", seen)
    body = {
        "score": float(form.score),
        "recipe_index": form.recipe_index,
        **{key: getattr(form, key).strip() for key in _TEXTS},
        "products": [asdict(one) for one in check_form(writing, run, form)],
        "learn": learn,
    }
    is_new = not stream or stream[-1].kind == "deleted"
    writing.append(Draft("feedback", run.id, "given" if is_new else "edited", body))
    return require_feedback(writing, run.id)


def delete_feedback(writing: Writing, run_id: str, seen: int | None = None) -> Feedback:
    """Take a feedback back; its history stays.

    Raises:
        UsageError: there is none.
        ChangedMeanwhileError: it has changed since it was seen.
    """
    writing.require_version("feedback", run_id, "feedback on run", seen)
    require_feedback(writing, run_id)
    writing.append(Draft("feedback", run_id, "deleted"))
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
    found = reading.rows(feedback, run_id=run_id)
    return _feedback(reading, found[0]) if found else None


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
    found = [_feedback(reading, row) for row in reading.rows(feedback, status="given")]
    return sorted(found, key=lambda one: (one.given_at, one.run_id))


def _feedback(reading: Reading, row: dict[str, Any]) -> Feedback:
    rows = sorted(
        reading.rows(feedback_products, run_id=row["run_id"]), key=lambda one: int(one["place"])
    )
    measured = tuple(Measured(one["product_id"], one["value"], one["fraction"]) for one in rows)
    return Feedback(products=measured, **row)


def _state(stream: Sequence[Event]) -> dict[str, Any]:
    state: dict[str, Any] = {}
    for event in stream:
        match event.kind:
            case "given":
                # Events of older versions do not say what a person said of learning.
                state = {"learn": None, **event.body, "status": "given", "given_at": event.at}
            case "edited":
                state |= {"learn": None, **event.body}
            case "deleted":
                state["status"] = "deleted"
            case other:
                raise ValueError(f"a feedback knows no event '{other}'.")
    return state


def _rows(subject: str, stream: Sequence[Event]) -> Rows:
    state = _state(stream)
    products = state.pop("products")
    row = {
        "run_id": subject,
        "version": len(stream),
        "updated_at": stream[-1].at,
        "signature": signature(one["product_id"] for one in products),
        **state,
    }
    return {
        "feedback": [row],
        "feedback_products": [
            {"run_id": subject, "place": place, **one} for place, one in enumerate(products)
        ],
    }


FEEDBACK = EntityKind("feedback", _rows, _state)
