"""Reports of comparisons, kept with what they were made from."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rag_assets.lab.feedback.comparing import Comparison, Entry, Figures, compare
from rag_assets.lab.feedback.giving import (
    Feedback,
    find_feedback,
    list_feedback,
    require_feedback,
)
from rag_assets.lab.feedback.measuring import Measured
from rag_assets.lab.products import product_names
from rag_assets.lab.store import Draft, EntityKind, Event, Reading, Rows, Writing
from rag_assets.lab.store.tables import reports
from rag_assets.model import count_of


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


def write_report(writing: Writing, feedback: Feedback, strategy: Strategy) -> Report:
    """Compare a run and keep the report; the ones before stay in the events.

    Raises:
        UsageError: as `make_comparison`.
    """
    comparison = make_comparison(writing, feedback.entry, strategy)
    body = {"strategy": asdict(strategy), "comparison": asdict(comparison)}
    writing.append(Draft("report", feedback.run_id, "made", body))
    return _require(find_report(writing, feedback.run_id))


def find_report(reading: Reading, run_id: str) -> Report | None:
    """Return the newest report on a run; None where there is none."""
    found = reading.rows(reports, run_id=run_id)
    if not found:
        return None
    row = found[0]
    strategy = row["report"]["strategy"]
    return Report(
        run_id,
        row["version"],
        row["made_at"],
        Strategy(**{**strategy, "chosen": tuple(strategy["chosen"])}),
        read_comparison(row["report"]["comparison"]),
    )


def outdated_parts(reading: Reading, report: Report) -> list[str]:
    """Return a sentence for each run that a report compares otherwise than it stands now."""
    said = []
    comparison = report.comparison
    for entry in (comparison.current, *comparison.details):
        now = find_feedback(reading, entry.run_id)
        if now is None or now.status == "deleted":
            said.append(f"The feedback on run {entry.run_id} has been deleted since.")
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
                f"with other values. `rag lab compare {report.run_id} --history` compares again."
            )
    return said


def _named(reading: Reading, entry: Entry) -> str:
    return ", ".join(product_names(reading, [one.product_id for one in entry.products]))


def _require(report: Report | None) -> Report:
    if report is None:
        raise LookupError("a report that was just written is not there.")
    return report


def read_comparison(values: Mapping[str, Any]) -> Comparison:
    """Return the comparison of which `asdict` and JSON made `values`."""
    return Comparison(
        **{
            **values,
            "current": _entry(values["current"]),
            "mean": _figures(values["mean"]),
            "maximum": _figures(values["maximum"]),
            "best": _entry(values["best"]) if values["best"] else None,
            "details": tuple(_entry(one) for one in values["details"]),
            "minus_mean": _figures(values["minus_mean"]),
            "minus_best": _figures(values["minus_best"]),
            "notes": tuple(values["notes"]),
        }
    )


def _entry(values: Mapping[str, Any]) -> Entry:
    products = tuple(Measured(**one) for one in values["products"])
    return Entry(**{**values, "products": products})


def _figures(values: Mapping[str, Any] | None) -> Figures | None:
    if values is None:
        return None
    return Figures(**{**values, "products": tuple(Measured(**one) for one in values["products"])})


def _rows(subject: str, stream: Sequence[Event]) -> Rows:
    last = stream[-1]
    row = {
        "run_id": subject,
        "version": len(stream),
        "made_at": last.at,
        "signature": last.body["comparison"]["signature"],
        "report": dict(last.body),
    }
    return {"reports": [row]}


REPORTS = EntityKind("report", _rows, lambda stream: dict(stream[-1].body["strategy"]))
