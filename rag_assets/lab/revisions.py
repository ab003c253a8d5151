"""Revisions of feedback: what each was compared with and what it taught, made where it lacks.

A command compares and learns in the transaction that stores a feedback. What it left undone, since
settings or a person said so, is done here, by the same functions; what is done is left as it is.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from rag_assets.lab.experience import Extraction, living_extraction
from rag_assets.lab.feedback import (
    Feedback,
    Report,
    Strategy,
    find_report,
    list_feedback,
)
from rag_assets.lab.opening import Laboratory
from rag_assets.lab.store import Reading, Run, read_run
from rag_assets.lab.teaching import compare_again, learn_again, refuses_to_teach
from rag_assets.model import UsageError, hash_fields

_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Revision:
    """A feedback as it stands, with what came of it.

    Args:
        key: `<run>-<digits>`; an edit has another one.
        report: on this revision; None where it was not compared.
        extraction: that holds; None where nothing was learned.
        refusal: why it is not to teach; empty where it may.
    """

    key: str
    run: Run
    feedback: Feedback
    report: Report | None
    extraction: Extraction | None
    refusal: str

    def is_due(self, *, learns: bool) -> bool:
        """Say whether something of it is to be made unasked.

        Args:
            learns: whether feedback teaches by itself (`experience.learn`).
        """
        is_to_learn = learns and not self.refusal and self.extraction is None
        return self.report is None or is_to_learn


def revision_key(feedback: Feedback) -> str:
    """Return the name of a revision: its run, and digits of what it says and which one it is."""
    form = feedback.form
    texts = [form.as_made, form.pros, form.cons, form.other]
    values = [[name, value] for name, value in form.values.items()]
    said = [form.score, values, form.recipe_index, *texts]
    return f"{feedback.run_id}-{hash_fields(feedback.run_id, feedback.version, said)[:_DIGITS]}"


def list_revisions(reading: Reading) -> list[Revision]:
    """Return what stands of every feedback that is not deleted, in the order of their giving."""
    return [_revision(reading, feedback) for feedback in list_feedback(reading)]


def find_revision(reading: Reading, key: str) -> Revision:
    """Return the revision of a key.

    Raises:
        UsageError: the feedback was edited or deleted since, or there never was such a one.
    """
    found = [one for one in list_feedback(reading) if revision_key(one) == key]
    if not found:
        raise UsageError(
            f"no feedback is the revision '{key}' any more: it was edited or deleted. Materialize "
            "lab/requests, then the present partitions."
        )
    return _revision(reading, found[0])


def compare_revision(lab: Laboratory, key: str, *, at: str, by: str) -> Revision:
    """Return a revision with its report, which is made where there is none.

    Raises:
        UsageError: no feedback is that revision any more.
    """
    with lab.store.reading() as reading:
        found = find_revision(reading, key)
    if found.report is None:
        strategy = Strategy(use_method3=lab.settings.comparison.method3)
        compare_again(lab, found.run.id, strategy, at=at, by=by)
    return _look(lab, key)


def learn_revision(lab: Laboratory, key: str, *, at: str, by: str) -> Revision:
    """Return a revision with its extraction, made where there is none and a person did not refuse.

    Raises:
        UsageError: no feedback is that revision any more.
        LanguageModelError: the model could not be asked; nothing was changed.
    """
    with lab.store.reading() as reading:
        found = find_revision(reading, key)
    if found.extraction is None and not found.refusal:
        learn_again(lab, found.run.id, at=at, by=by)
    return _look(lab, key)


def lost_reports(lab: Laboratory) -> Iterator[str]:
    """Yield a sentence for each feedback whose report is missing, or is not what it would be."""
    with lab.store.reading() as reading:
        revisions = list_revisions(reading)
        for one in revisions:
            mend = f"Materialize the partition {one.key} of lab/feedback_reports."
            if one.report is None:
                yield (
                    f"run {one.run.id} has a feedback (version {one.feedback.version}) and no "
                    f"report on it. {mend}"
                )
            elif one.report.comparison.current != one.feedback.entry:
                yield f"the report on run {one.run.id} is of other values than its feedback has."


def _look(lab: Laboratory, key: str) -> Revision:
    with lab.store.reading() as reading:
        return find_revision(reading, key)


def _revision(reading: Reading, feedback: Feedback) -> Revision:
    run, _ = read_run(reading, feedback.run_id)
    report = find_report(reading, run.id)
    # A report of a revision before is none on this one.
    is_present = report is not None and report.comparison.current.version == feedback.version
    extraction = living_extraction(reading, run.id)
    refusal = "" if extraction is not None else refuses_to_teach(run, feedback)
    return Revision(
        revision_key(feedback), run, feedback, report if is_present else None, extraction, refusal
    )
