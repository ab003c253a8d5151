"""Feedback and all that follows from it: report, rollback, learning anew, in one transaction."""

from dataclasses import asdict, dataclass, replace
from typing import Any

from rag_assets.lab.experience import (
    Delta,
    Extracted,
    Teaching,
    delta_of,
    extract_lessons,
    living_extraction,
    teach,
)
from rag_assets.lab.feedback import (
    Comparison,
    Entry,
    Feedback,
    FeedbackForm,
    Measured,
    Report,
    Strategy,
    check_form,
    delete_feedback,
    find_feedback,
    find_report,
    is_unchanged,
    make_comparison,
    require_feedback,
    signature,
    write_feedback,
    write_report,
)
from rag_assets.lab.opening import Laboratory
from rag_assets.lab.products import product_names
from rag_assets.lab.store import Reading, Run, Writing, new_id, read_run
from rag_assets.model import AnswerError, LanguageModelError


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a feedback.

    Args:
        changed: False where everything stood there already, and nothing was written.
        report: None where the feedback was deleted.
        taken_back: what the learning before had changed and was voided.
        learned: what was added, updated or archived now; None where nothing was to be learned.
        refused: lessons of the model that say other numbers than the feedback has, with the reason.
    """

    feedback: Feedback
    report: Report | None
    changed: bool
    taken_back: tuple[Delta, ...] = ()
    learned: tuple[Delta, ...] | None = None
    refused: tuple[str, ...] = ()


def give_feedback(
    lab: Laboratory,
    run_id: str,
    form: FeedbackForm,
    strategy: Strategy,
    *,
    at: str,
    by: str,
    seen: int | None = None,
    learn: bool | None = None,
) -> Outcome:
    """Store a feedback or an edit of it, compare the run, and learn from it.

    A model is asked before anything is written: where it fails, all is as it was. What the
    feedback taught before is taken back with every edit by hand since, then it is learned anew.

    Args:
        at: now, ISO 8601 with zone; `by` who.
        seen: the version of the feedback that was edited, 0 where there was none; None for the one
            that stands there now.
        learn: None for what was said of this feedback before, else the settings'
            `experience.learn`, but for an imported run: those teach only where a person says so,
            now or before. False takes back what was learned and learns nothing, also where the
            form says nothing new.

    Raises:
        UsageError: the run is unknown, or the form cannot be used.
        ChangedMeanwhileError: somebody else has edited it.
        LanguageModelError: the model could not be asked; nothing was changed.
    """
    with lab.store.reading() as reading:
        run, _ = read_run(reading, run_id)
        given = find_feedback(reading, run_id)
        if seen is not None and given is not None:
            reading.require_version("feedback", run_id, "feedback on run", seen)
        has_taught = living_extraction(reading, run_id) is not None
        # What was said of learning counts as the form does: unticked, what it taught goes.
        is_refused = given is not None and given.learn is False and not has_taught
        is_same = is_unchanged(given, form) and (
            learn is None or (has_taught if learn else is_refused)
        )
        if given is not None and is_same:
            report = find_report(reading, run_id)
            if report is not None and report.strategy == strategy:
                return Outcome(given, report, changed=False)
        measured = check_form(reading, run, form)
        version = given.version if given is not None else 0
        entry = Entry(run_id, version + 1, float(form.score), measured, _given_at(given, at))
        comparison = make_comparison(reading, entry, strategy)
        names = _names(reading, entry, comparison)
    if is_same:
        return compare_again(lab, run_id, strategy, at=at, by=by)
    extraction_id = new_id()
    extracted = None
    by_itself = lab.settings.experience.learn and (run.kind != "imported" or has_taught)
    if learn is None and is_refused:
        learn = False
    if by_itself if learn is None else learn:
        teaching = _teaching(run, form, measured, comparison, names)
        extracted = _extract(lab, teaching, extraction_id)

    def write(writing: Writing) -> tuple[Feedback, Report, str | None]:
        # While a model was asked somebody else may have given one, a first one too.
        if writing.stream("feedback", run_id):
            writing.require_version("feedback", run_id, "feedback on run", version)
        feedback = write_feedback(writing, run, form, version or None, learn)
        old = living_extraction(writing, run_id)
        return feedback, write_report(writing, feedback, strategy), old.id if old else None

    feedback, report, old = teach(
        lab.store, lab.nearness, run_id, extraction_id, extracted, at=at, by=by, beside=write
    )
    return _outcome(lab, feedback, report, old, extraction_id, extracted)


def withdraw_feedback(
    lab: Laboratory, run_id: str, *, at: str, by: str, seen: int | None = None
) -> Outcome:
    """Delete a feedback and take back what it taught; nothing is learned in its place.

    Raises:
        UsageError: the run has no feedback.
        ChangedMeanwhileError: somebody else has edited it.
    """

    def write(writing: Writing) -> tuple[Feedback, str | None]:
        old = living_extraction(writing, run_id)
        return delete_feedback(writing, run_id, seen), old.id if old else None

    feedback, old = teach(
        lab.store, lab.nearness, run_id, new_id(), None, at=at, by=by, beside=write
    )
    return _outcome(lab, feedback, None, old)


def learn_again(
    lab: Laboratory, run_id: str, *, at: str, by: str, seen: int | None = None
) -> Outcome:
    """Learn from a feedback as it stands, in place of what it taught before.

    Raises:
        UsageError: the run has no feedback.
        ChangedMeanwhileError: somebody has edited it since it was seen, or while the model was
            asked.
        LanguageModelError: the model could not be asked; nothing was changed.
    """
    with lab.store.reading() as reading:
        run, _ = read_run(reading, run_id)
        given = require_feedback(reading, run_id)
        reading.require_version("feedback", run_id, "feedback on run", seen)
        report = find_report(reading, run_id)
        comparison = make_comparison(
            reading, given.entry, report.strategy if report else Strategy()
        )
        names = _names(reading, given.entry, comparison)
    extraction_id = new_id()
    teaching = _teaching(run, given.form, given.products, comparison, names)
    extracted = _extract(lab, teaching, extraction_id)

    def write(writing: Writing) -> str | None:
        writing.require_version("feedback", run_id, "feedback on run", given.version)
        old = living_extraction(writing, run_id)
        return old.id if old else None

    old = teach(
        lab.store, lab.nearness, run_id, extraction_id, extracted, at=at, by=by, beside=write
    )
    return _outcome(lab, given, report, old, extraction_id, extracted)


def compare_again(
    lab: Laboratory, run_id: str, strategy: Strategy, *, at: str, by: str, seen: int | None = None
) -> Outcome:
    """Make the report on a run anew, with the same strategy or another; nothing is learned.

    Args:
        seen: the version of the report that was seen, 0 where there was none.

    Raises:
        UsageError: the run has no feedback, or a chosen one cannot be compared.
        ChangedMeanwhileError: somebody else has made one since it was seen.
    """
    with lab.store.writing(at, by) as writing:
        feedback = require_feedback(writing, run_id)
        if seen is not None and writing.stream("report", run_id):
            writing.require_version("report", run_id, "the report on run", seen)
        return Outcome(feedback, write_report(writing, feedback, strategy), changed=True)


def refuses_to_teach(run: Run, feedback: Feedback) -> str:
    """Return why a feedback that has taught nothing is not to teach; empty where it may."""
    if feedback.learn is None and run.kind == "imported":
        return "it is of an experiment of before, which teaches only where a person says so"
    return "it was stored with the word that it is not to teach" if feedback.learn is False else ""


def _given_at(given: Feedback | None, now: str) -> str:
    return given.given_at if given is not None and given.status == "given" else now


def _extract(lab: Laboratory, teaching: Teaching, extraction_id: str) -> Extracted:
    try:
        return extract_lessons(
            teaching, extraction_id, lab.open_model(), lab.settings.experience.lessons
        )
    except AnswerError as error:
        raise AnswerError(f"{error} {_NOTHING_CHANGED}", error.answer) from error
    except LanguageModelError as error:
        raise type(error)(f"{error} {_NOTHING_CHANGED}") from error


_NOTHING_CHANGED = (
    "Nothing was changed: the feedback and what was learned before stand as they were. "
    "`--no-learn` stores the feedback alone."
)


def _teaching(
    run: Run,
    form: FeedbackForm,
    measured: tuple[Measured, ...],
    comparison: Comparison,
    names: dict[str, str],
) -> Teaching:
    return Teaching(
        run=run,
        recipe_index=form.recipe_index,
        as_made=form.as_made,
        score=float(form.score),
        measured=[
            {"product": names[one.product_id], "value": one.value, "fraction": one.fraction}
            for one in measured
        ],
        comparison=_named(comparison, names),
        pros=form.pros,
        cons=form.cons,
        other=form.other,
    )


def _named(comparison: Comparison, names: dict[str, str]) -> dict[str, Any]:
    """Return the figures of a comparison by the names of products, for a reader."""

    def put(value: Any) -> Any:
        if isinstance(value, dict):
            product = value.get("product_id")
            rest = {key: put(each) for key, each in value.items() if key != "product_id"}
            return {"product": names.get(product, product), **rest} if product else rest
        return [put(each) for each in value] if isinstance(value, (list, tuple)) else value

    whole = asdict(replace(comparison))
    kept = ("text", "mean_of", "mean", "maximum", "best", "minus_mean", "minus_best", "details")
    return {key: put(whole[key]) for key in kept if whole[key]}


def _names(reading: Reading, entry: Entry, comparison: Comparison) -> dict[str, str]:
    entries = (entry, *comparison.details)
    ids = [
        one for each in entries for one in signature(p.product_id for p in each.products).split("|")
    ]
    return dict(zip(ids, product_names(reading, ids), strict=True))


def _outcome(
    lab: Laboratory, feedback: Feedback, report: Report | None, old: str | None, new: str = "",
    extracted: Extracted | None = None,
) -> Outcome:  # fmt: skip
    with lab.store.reading() as reading:
        taken = tuple(delta_of(reading, old)) if old is not None else ()
        if extracted is None:
            return Outcome(feedback, report, True, taken)
        learned = tuple(delta_of(reading, new))
    refused = tuple(extracted.record.get("refused", ()))
    return Outcome(feedback, report, True, taken, learned, refused)
