"""The comparison of a run with others, and what its feedback taught."""

from dataclasses import dataclass

from fastapi import APIRouter, HTTPException, Request
from starlette.responses import RedirectResponse, Response

from rag_assets.desk.laboratory.shared import LabOf, seen_of, texts_of
from rag_assets.desk.rendering import page
from rag_assets.desk.state import FormOf, text_of
from rag_assets.lab.experience import Delta, Item, delta_of, find_item, list_extractions
from rag_assets.lab.feedback import (
    Comparison,
    Entry,
    Figures,
    Strategy,
    find_feedback,
    find_report,
    outdated_parts,
)
from rag_assets.lab.products import product_names
from rag_assets.lab.recipes import formula
from rag_assets.lab.store import Reading
from rag_assets.lab.teaching import compare_again, list_history

router = APIRouter(prefix="/runs/{run_id}/report")


@dataclass(frozen=True)
class Line:
    """One measure of a comparison.

    Args:
        product: name; empty for the score.
        part: `value` or `fraction`; empty for the score.
        figures: one for each column, None where a column has none.
    """

    product: str
    part: str
    figures: tuple[float | None, ...]


@dataclass(frozen=True)
class Learned:
    """One learning of the feedback, with what it changed."""

    made_at: str
    is_living: bool
    changes: tuple[tuple[Delta, Item], ...]
    refused: tuple[str, ...]


@router.get("")
def show(request: Request, open_lab: LabOf, run_id: str) -> Response:
    """Show the report."""
    run = open_lab.run(run_id)
    with open_lab.lab.store.reading() as reading:
        report = find_report(reading, run_id)
        feedback = find_feedback(reading, run_id)
        if report is None:
            raise HTTPException(404, f"run {run_id} has no report: it has no feedback yet.")
        columns, lines = table_of(reading, report.comparison)
        outdated = outdated_parts(reading, report)
        learned = [
            Learned(
                one.made_at,
                one.status == "made",
                tuple((delta, find_item(reading, delta.item_id))
                      for delta in delta_of(reading, one.id)),
                tuple(one.record.get("refused", ())),
            )
            for one in reversed(list_extractions(reading, run_id))
        ]  # fmt: skip
    return page(
        request, "lab/report.html", run=run, report=report, feedback=feedback, columns=columns,
        lines=lines, outdated=outdated, learned=learned,
        formula=formula,
        others=[row for row in list_history(open_lab.lab) if row.run_id != run_id],
    )  # fmt: skip


@router.post("")
def compare(open_lab: LabOf, run_id: str, form: FormOf) -> Response:
    """Compare anew, with another strategy; nothing is learned."""
    open_lab.run(run_id)
    strategy = Strategy(
        tuple(texts_of(form, "chosen")), text_of(form, "text").strip(),
        bool(text_of(form, "method3")),
    )  # fmt: skip
    compare_again(
        open_lab.lab, run_id, strategy, at=open_lab.now(), by=open_lab.person, seen=seen_of(form)
    )
    return RedirectResponse(f"/lab/runs/{run_id}/report", 303)


def table_of(reading: Reading, comparison: Comparison) -> tuple[list[tuple[str, str]], list[Line]]:
    """Return the columns of a comparison, kind and run id, and its lines."""
    shown: list[tuple[str, str, Entry | Figures]] = [
        ("current", comparison.current.run_id, comparison.current)
    ]
    best = comparison.best.run_id if comparison.best is not None else None
    for kind, figures in (
        ("mean", comparison.mean), ("maximum", comparison.maximum),
        ("minus_mean", comparison.minus_mean), ("minus_best", comparison.minus_best),
    ):  # fmt: skip
        if figures is not None:
            shown.append((kind, "", figures))
    shown += [
        ("best" if one.run_id == best else "chosen", one.run_id, one) for one in comparison.details
    ]
    ids = [one.product_id for one in comparison.current.products]
    lines = [Line("", "", tuple(one.score for _, _, one in shown))]
    for product_id, name in zip(ids, product_names(reading, ids), strict=True):
        measured = [
            next((each for each in one.products if each.product_id == product_id), None)
            for _, _, one in shown
        ]
        lines += [
            Line(name, part, tuple(getattr(one, part) if one else None for one in measured))
            for part in ("value", "fraction")
        ]
    return [(kind, run_id) for kind, run_id, _ in shown], lines
