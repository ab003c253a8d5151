"""Feedback on runs: the form, comparison reports, history and sheets."""

from dataclasses import dataclass, replace

from fastapi import APIRouter, HTTPException, Request
from starlette.datastructures import FormData
from starlette.responses import RedirectResponse, Response

from rag_assets.desk.laboratory.shared import (
    LabOf,
    OpenLab,
    Unsaved,
    download,
    number,
    seen_of,
    texts_of,
    whole_number,
)
from rag_assets.desk.rendering import page, say
from rag_assets.desk.state import FormOf, Job, text_of
from rag_assets.lab.experience import Delta, Item, delta_of, find_item, list_extractions
from rag_assets.lab.feedback import (
    Comparison,
    Entry,
    FeedbackForm,
    Figures,
    Strategy,
    find_feedback,
    find_report,
    fractions,
    list_feedback,
    outdated_parts,
    signature,
)
from rag_assets.lab.products import product_names
from rag_assets.lab.recipes import formula
from rag_assets.lab.store import Reading
from rag_assets.lab.teaching import (
    FeedbackPage,
    compare_again,
    feedback_page,
    give_feedback,
    history_csv,
    learn_again,
    list_history,
    preview_comparison,
    withdraw_feedback,
)
from rag_assets.model import ChangedMeanwhileError, RagError, UsageError

reports_router = APIRouter(prefix="/runs/{run_id}/report")


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


@reports_router.get("")
def show_reports(request: Request, open_lab: LabOf, run_id: str) -> Response:
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


@reports_router.post("")
def compare(open_lab: LabOf, run_id: str, form: FormOf) -> Response:
    """Compare again, with the same strategy or another; nothing is learned."""
    open_lab.run(run_id)
    strategy = None if text_of(form, "do") == "again" else Strategy(
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


history_router = APIRouter(prefix="/history")


@history_router.get("")
def show_history(request: Request, open_lab: LabOf, products: str = "") -> Response:
    """Show what experiments gave, the newest first, of all sets of products or of one."""
    rows = list_history(open_lab.lab)
    sets = sorted({row.set_name for row in rows})
    shown = [row for row in rows if not products or row.set_name == products]
    return page(
        request,
        "lab/history.html",
        rows=shown,
        sets=sets,
        chosen=products,
        count=len(rows),
        formula=formula,
    )


@history_router.get("/history.csv")
def as_csv(open_lab: LabOf) -> Response:
    """Return the history as CSV."""
    return download(history_csv(list_history(open_lab.lab)), "text/csv", "history.csv")


router = APIRouter(prefix="/runs/{run_id}/feedback")
KIND = "feedback"


@dataclass(frozen=True)
class Row:
    """One product of the form, as it was typed."""

    product_id: str = ""
    value: str = ""


@dataclass(frozen=True)
class Typed:
    """The form as it was typed.

    Args:
        seen: version of the feedback that it was made from; 0 for none.
        learns: whether it is to be learned from.
    """

    seen: int
    score: str = ""
    recipe_index: str = "1"
    as_made: str = ""
    pros: str = ""
    cons: str = ""
    other: str = ""
    rows: tuple[Row, ...] = (Row(),)
    chosen: tuple[str, ...] = ()
    text: str = ""
    method3: bool = True
    learns: bool = True

    @property
    def strategy(self) -> Strategy:
        """With what the run is to be compared."""
        return Strategy(self.chosen, self.text.strip(), self.method3)

    def form(self) -> FeedbackForm:
        """Return what is said.

        Raises:
            UsageError: a number is none, a row has no product, or one occurs twice.
        """
        values: dict[str, float] = {}
        for place, row in enumerate(self.rows, start=1):
            if not row.product_id and not row.value.strip():
                continue
            if not row.product_id:
                raise UsageError(f"row {place} of the products has a value and no product.")
            if row.product_id in values:
                raise UsageError(f"row {place} repeats a product named above.")
            values[row.product_id] = number(row.value, f"value of row {place}")
        return FeedbackForm(
            number(self.score, "score"),
            values,
            whole_number(self.recipe_index, "recipe_index"),
            self.as_made,
            self.pros,
            self.cons,
            self.other,
        )


@router.get("")
def show(request: Request, open_lab: LabOf, run_id: str, preset: str = "") -> Response:
    """Show the form: what could not be stored yet, what stands there, or an empty one."""
    open_lab.run(run_id)
    found = feedback_page(open_lab.lab, run_id)
    kept = open_lab.unsaved.get(run_id)
    if kept is not None and isinstance(kept.values, Typed):
        return _form(request, open_lab, found, kept.values, kept.trouble)
    typed = _as_stored(found)
    return _form(request, open_lab, found, _with_preset(found, typed, preset) if preset else typed)


@router.post("")
def change(request: Request, open_lab: LabOf, run_id: str, form: FormOf) -> Response:
    """Store the form, or show it with a row more or less, a preset, or the comparison."""
    open_lab.run(run_id)
    found = feedback_page(open_lab.lab, run_id)
    typed, do = _typed(form), text_of(form, "do")
    if do == "save":
        return _save(request, open_lab, run_id, typed)
    if do == "discard":
        open_lab.unsaved.pop(run_id, None)
        return RedirectResponse(f"/lab/runs/{run_id}/feedback", 303)
    focus = ""
    if do == "add":
        focus, typed = "last", replace(typed, rows=(*typed.rows, Row()))
    elif do.startswith("remove-") and do.removeprefix("remove-").isdecimal():
        place = int(do.removeprefix("remove-"))
        rows = tuple(row for at, row in enumerate(typed.rows, start=1) if at != place)
        focus, typed = "add", replace(typed, rows=rows)
    elif do == "preset":
        focus, typed = "first", _with_preset(found, typed, text_of(form, "preset"))
    preview, trouble = None, ""
    if do == "preview":
        try:
            preview = preview_comparison(open_lab.lab, run_id, typed.form(), typed.strategy)
        except RagError as error:
            trouble = str(error)
    status = 400 if trouble else 200
    return _form(request, open_lab, found, typed, trouble, status, preview, focus)


@router.post("/delete")
def delete(open_lab: LabOf, run_id: str, form: FormOf) -> Response:
    """Delete the feedback; what it taught is taken back."""
    open_lab.run(run_id)
    withdraw_feedback(
        open_lab.lab, run_id, at=open_lab.now(), by=open_lab.person, seen=seen_of(form)
    )
    open_lab.unsaved.pop(run_id, None)
    return RedirectResponse(f"/lab/runs/{run_id}", 303)


@router.post("/learn")
def learn(request: Request, open_lab: LabOf, run_id: str, form: FormOf) -> Response:
    """Learn from the feedback as it stands, in place of what it taught."""
    open_lab.run(run_id)
    seen = seen_of(form)
    begins = say(request, "Lessons are made from the feedback again.")

    def work(job: Job) -> str:
        job.tell(begins)
        learn_again(open_lab.lab, run_id, at=open_lab.now(), by=open_lab.person, seen=seen)
        return f"/lab/runs/{run_id}/report"

    return open_lab.follow(KIND, work)


def _save(request: Request, open_lab: OpenLab, run_id: str, typed: Typed) -> Response:
    begins = say(request, "The feedback is compared and learned from.")
    here = f"/lab/runs/{run_id}/feedback"
    # Kept before anything can go wrong, until it is stored.
    try:
        said = typed.form()
    except UsageError as error:
        found = feedback_page(open_lab.lab, run_id)
        return _form(request, open_lab, found, typed, str(error), 400)

    def work(job: Job) -> str:
        job.tell(begins)
        try:
            give_feedback(
                open_lab.lab, run_id, said, typed.strategy, at=open_lab.now(),
                by=open_lab.person, seen=typed.seen, learn=typed.learns,
            )  # fmt: skip
        except ChangedMeanwhileError as error:
            # Saved again it would be on purpose: it was told what it takes the place of.
            version = feedback_page(open_lab.lab, run_id).version
            open_lab.unsaved[run_id] = Unsaved(replace(typed, seen=version), str(error))
            return here
        except RagError as error:
            open_lab.unsaved[run_id] = Unsaved(typed, str(error))
            return here
        open_lab.unsaved.pop(run_id, None)
        return f"/lab/runs/{run_id}/report"

    return open_lab.follow(KIND, work)


def _typed(form: FormData) -> Typed:
    texts = {
        name: text_of(form, name)
        for name in ("score", "recipe_index", "as_made", "pros", "cons", "other", "text")
    }
    pairs = zip(texts_of(form, "product"), texts_of(form, "value"), strict=False)
    return Typed(
        seen=seen_of(form),
        rows=tuple(Row(product, value) for product, value in pairs),
        chosen=tuple(texts_of(form, "chosen")),
        method3=bool(text_of(form, "method3")),
        learns=bool(text_of(form, "learn")),
        **texts,
    )


def _as_stored(found: FeedbackPage) -> Typed:
    given, strategy = found.feedback, found.strategy
    begun = Typed(
        seen=found.version,
        chosen=strategy.chosen,
        text=strategy.text,
        method3=strategy.use_method3,
        learns=found.teaches,
    )
    if given is None or given.status == "deleted":
        return begun
    return replace(
        begun,
        score=f"{given.score!r}",
        recipe_index=str(given.recipe_index),
        as_made=given.as_made,
        pros=given.pros,
        cons=given.cons,
        other=given.other,
        rows=tuple(Row(one.product_id, f"{one.value!r}") for one in given.products),
    )


def _with_preset(found: FeedbackPage, typed: Typed, preset_id: str) -> Typed:
    """Return the form with the products of a preset; values that were typed stay with theirs."""
    preset = next((one for one in found.presets if one.id == preset_id), None)
    if preset is None:
        return typed
    values = {row.product_id: row.value for row in typed.rows}
    return replace(typed, rows=tuple(Row(one, values.get(one, "")) for one in preset.product_ids))


def _form(
    request: Request, open_lab: OpenLab, found: FeedbackPage, typed: Typed, trouble: str = "",
    status: int = 200, preview: Comparison | None = None, focus: str = "",
) -> Response:  # fmt: skip
    others = [row for row in list_history(open_lab.lab) if row.run_id != found.run.id]
    return page(
        request,
        "lab/feedback.html",
        status,
        found=found,
        run=found.run,
        recipes=[(one.rank, formula(one)) for one in found.run.recipes],
        typed=typed,
        trouble=open_lab.named(trouble),
        preview=preview,
        focus=focus,
        is_kept=found.run.id in open_lab.unsaved,
        others=others,
        history=_history(open_lab, typed, found.run.id),
        short_history=open_lab.lab.settings.comparison.short_history,
        shares=_shares(typed),
        formula=formula,
    )


def _history(open_lab: OpenLab, typed: Typed, run_id: str) -> int | None:
    """Return how many others have the products of the form; None while it names none."""
    wanted = signature(row.product_id for row in typed.rows if row.product_id)
    if not wanted:
        return None
    with open_lab.lab.store.reading() as reading:
        given = list_feedback(reading)
    return sum(one.signature == wanted and one.run_id != run_id for one in given)


def _shares(typed: Typed) -> list[float | None]:
    """Return the fraction of each row as it will be stored; None where it cannot be told."""
    places = [at for at, row in enumerate(typed.rows) if row.value.strip()]
    found: list[float | None] = [None for _ in typed.rows]
    try:
        values = [number(typed.rows[at].value, "value") for at in places]
    except UsageError:
        return found
    if all(0 <= value < float("inf") for value in values):
        for at, share in zip(places, fractions(values), strict=True):
            found[at] = share
    return found
