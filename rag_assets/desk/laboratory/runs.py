"""Runs of the laboratory: the queue, recipes, traces and what they cite."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from fastapi import APIRouter, HTTPException, Request
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.datastructures import FormData
from starlette.responses import RedirectResponse, Response

from rag_assets.desk.laboratory.shared import (
    LabOf,
    OpenLab,
    download,
    number,
    status_of,
    whole_number,
)
from rag_assets.desk.library import read_passage
from rag_assets.desk.rendering import page
from rag_assets.desk.state import FormOf, text_of
from rag_assets.desk.working import last_event
from rag_assets.lab.experience import CITATION
from rag_assets.lab.feedback import find_feedback, find_report
from rag_assets.lab.products import list_products
from rag_assets.lab.prompts import ROLES
from rag_assets.lab.queue import (
    MOST_RUNS,
    RecipeRequest,
    cancel_run,
    choose_policy,
    parse_request,
    queue_again,
    sampled_temperature,
    submit_request,
)
from rag_assets.lab.recipes import FIELDS, formula
from rag_assets.lab.runs import Ground, Recipe
from rag_assets.lab.showing import (
    RunView,
    events_after,
    read_queue,
    render_run,
    replay_run,
    view_run,
)
from rag_assets.lab.teaching import HistoryRow, list_history
from rag_assets.lab.trace import SECTIONS
from rag_assets.model import ConfigurationError, PublicationError, RagError, UsageError

queue_router = APIRouter()
_LATEST = 10


@queue_router.get("")
def front(request: Request, open_lab: LabOf) -> Response:
    """Show what waits and works, the latest runs, and what is to be set up first."""
    queue = read_queue(open_lab.lab)
    asked = [run for run in queue.runs if run.kind != "imported"]
    with open_lab.lab.store.reading() as reading:
        has_products = bool(list_products(reading))
    return page(
        request,
        "lab/front.html",
        waiting=[run for run in asked if run.state in ("queued", "running")],
        latest=[run for run in reversed(asked) if run.state not in ("queued", "running")][:_LATEST],
        is_worked_on=queue.is_worked_on,
        formula=formula,
        job=open_lab.worker.job,
        missing_bases=_missing_bases(open_lab),
        has_products=has_products,
    )


@queue_router.post("/work")
def work(open_lab: LabOf) -> Response:
    """Work on what waits."""
    open_lab.worker.wake()
    return RedirectResponse("/lab", 303)


@queue_router.get("/runs")
def list_all(request: Request, open_lab: LabOf, state: str = "", kind: str = "") -> Response:
    """List every run, the newest first."""
    runs = read_queue(open_lab.lab).runs
    shown = [
        run
        for run in reversed(runs)
        if (not state or run.state == state) and (not kind or run.kind == kind)
    ]
    return page(
        request, "lab/runs.html", runs=shown, count=len(runs), state=state, kind=kind,
        states=("queued", "running", "done", "failed", "canceled"),
        kinds=("model", "collect", "imported"), formula=formula,
    )  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """The form of a request as it was typed."""

    text: str = ""
    n: str = "1"
    recipes_per_run: str = "1"
    policy: str = ""
    temperature: str = ""


@queue_router.get("/runs/new")
def new(request: Request, open_lab: LabOf, again: str = "") -> Response:
    """Ask for recipes; `again` names a run whose request is to be changed."""
    values = Asked()
    if again:
        asked = open_lab.run(again).request
        values = Asked(text=str(asked.get("text", "")))
    return _form(request, open_lab, values)


@queue_router.post("/runs/new")
def submit(request: Request, open_lab: LabOf, form: FormOf) -> Response:
    """Queue the runs of a request and begin to work; shown again where it cannot be done."""
    values = _typed(form)
    try:
        asked = _request(values)
        runs = submit_request(open_lab.lab, asked, at=open_lab.now(), by=open_lab.person)
    except RagError as error:
        return _form(request, open_lab, values, str(error), status_of(error))
    open_lab.worker.wake()
    return RedirectResponse(f"/lab/runs/{runs[0].id}" if len(runs) == 1 else "/lab", 303)


def _typed(form: FormData) -> Asked:
    return Asked(**{name: text_of(form, name) for name in Asked.__dataclass_fields__})


def _request(values: Asked) -> RecipeRequest:
    return parse_request(
        {
            "text": values.text,
            "n": whole_number(values.n, "n"),
            "recipes_per_run": whole_number(values.recipes_per_run, "recipes_per_run"),
            "policy": values.policy or None,
            "temperature": number(values.temperature, "temperature")
            if values.temperature.strip()
            else None,
        }
    )


def _form(
    request: Request, open_lab: OpenLab, values: Asked, trouble: str = "", status: int = 200
) -> Response:
    lab = open_lab.lab
    llm = lab.workspace.settings.llm
    try:
        policy = choose_policy(lab, None)
    except ConfigurationError as error:
        policy, trouble = "collect", trouble or str(error)
    return page(
        request,
        "lab/request.html",
        status,
        values=values,
        trouble=trouble,
        policy=policy,
        has_model=all(llm.for_role(role).kind != "none" for role in ROLES),
        temperature=sampled_temperature(lab, "orchestrator"),
        missing_bases=_missing_bases(open_lab),
        most_runs=MOST_RUNS,
        rules=lab.settings.recipes.rules,
    )


def _missing_bases(open_lab: OpenLab) -> list[str]:
    """Return the namespaces of knowledge bases that are not declared or not published."""
    from rag_assets.storage import read_pointer

    workspace, bases = open_lab.lab.workspace, open_lab.lab.settings.bases
    declared = {one.name for one in workspace.namespaces()}
    return [
        name
        for name in (bases.principles, bases.modulation)
        if name not in declared or read_pointer(workspace.namespace(name).publications) is None
    ]


traces_router = APIRouter(prefix="/runs/{run_id}/trace")


@traces_router.get("")
def show_traces(request: Request, open_lab: LabOf, run_id: str) -> Response:
    """Show the tree; each step leads to all that was recorded of it."""
    open_lab.run(run_id)
    view = view_run(open_lab.lab, run_id)
    return page(request, "lab/trace.html", run=view.run, view=view)


@traces_router.get("/{seq}")
def show_step(request: Request, open_lab: LabOf, run_id: str, seq: int) -> Response:
    """Show one step whole, with the note as it stood then."""
    open_lab.run(run_id)
    view = view_run(open_lab.lab, run_id)
    event = next((one for one in view.events if one["seq"] == seq), None)
    if event is None:
        raise HTTPException(404, f"the trace of run {run_id} has no step {seq}.")
    return page(
        request, "lab/trace_step.html", run=view.run, event=event, note=view.note_at(seq),
        note_sections=SECTIONS, last_seq=view.events[-1]["seq"],
    )  # fmt: skip


passages_router = APIRouter()


@passages_router.get("/passages/{citation}")
def show_passages(request: Request, open_lab: LabOf, citation: str, run: str = "") -> Response:
    """Show a passage: as the run read it, and as it stands in the publication of now."""
    if citation.startswith(CITATION):
        return RedirectResponse(f"/lab/experience/{citation}", 303)
    shown = None
    if run:
        open_lab.run(run)
        shown = view_run(open_lab.lab, run).sources.get(citation)
    found, trouble = None, ""
    try:
        found = read_passage(open_lab.desk, citation)
    except (UsageError, PublicationError) as error:
        trouble = str(error)
    status = 404 if found is None and shown is None else 200
    return page(
        request, "lab/passage.html", status, citation=citation, shown=shown, found=found,
        trouble=trouble, run=run,
    )  # fmt: skip


router = APIRouter(prefix="/runs/{run_id}")
_POLL_SECONDS = 0.2
_BASES = ("evidence", "experience", "reasoning", "default")


@dataclass(frozen=True)
class ShownRecipe:
    """A recipe as the page shows it.

    Args:
        fields: name of a field, None for the whole; its value; its grounds that stand, by basis.
        apart: grounds whose sources do not say it with certainty.
    """

    recipe: Recipe
    title: str
    fields: tuple[tuple[str | None, str, tuple[Ground, ...]], ...]
    apart: tuple[Ground, ...]


@router.get("")
def show(request: Request, open_lab: LabOf, run_id: str) -> Response:
    """Show a run."""
    open_lab.run(run_id)
    view = view_run(open_lab.lab, run_id)
    lab = open_lab.lab
    history = list_history(lab)
    with lab.store.reading() as reading:
        feedback = find_feedback(reading, run_id)
        report = find_report(reading, run_id)
    product, evidence = view.evidence
    return page(
        request,
        "lab/run.html",
        product=product,
        evidence=evidence,
        view=view,
        run=view.run,
        recipes=[shown_recipe(one) for one in view.run.recipes],
        proposed=_proposed(view),
        numbers=numbers_of(view),
        note_sections=SECTIONS,
        tried={one.rank: made_before(one, history, run_id) for one in view.run.recipes},
        feedback=feedback if feedback is not None and feedback.status == "given" else None,
        report=report,
        last_seq=view.events[-1]["seq"] if view.events else 0,
    )


@router.get("/events")
async def follow(request: Request, open_lab: LabOf, run_id: str, after: int = 0) -> Response:
    """Send each step as it happens, numbered as in the trace, and the end."""
    await asyncio.to_thread(open_lab.run, run_id)
    begin = max(after, last_event(request))
    return EventSourceResponse(_steps(request, open_lab, run_id, begin))


async def _steps(
    request: Request, open_lab: OpenLab, run_id: str, after: int
) -> AsyncIterator[ServerSentEvent]:
    seq = after
    while True:
        try:
            events, is_over = await asyncio.to_thread(events_after, open_lab.lab, run_id, seq)
        except RagError:
            # The page itself says what is wrong with the trace.
            break
        for event in events:
            text = bytes(page(request, "lab/step.html", event=event).body).decode()
            yield ServerSentEvent(text, event="item", id=str(event["seq"]))
            seq = int(event["seq"])
        if is_over:
            break
        await asyncio.sleep(_POLL_SECONDS)
    yield ServerSentEvent(f"/lab/runs/{run_id}", event="end")


@router.post("/cancel")
def cancel(open_lab: LabOf, run_id: str) -> Response:
    """Cancel a run that waits or works."""
    open_lab.run(run_id)
    cancel_run(open_lab.lab, run_id, at=open_lab.now(), by=open_lab.person)
    return RedirectResponse(f"/lab/runs/{run_id}", 303)


@router.post("/again")
def again(open_lab: LabOf, run_id: str) -> Response:
    """Begin a run that failed or was canceled once more."""
    open_lab.run(run_id)
    queue_again(open_lab.lab, run_id, at=open_lab.now(), by=open_lab.person)
    open_lab.worker.wake()
    return RedirectResponse(f"/lab/runs/{run_id}", 303)


@router.get("/replay")
def replay(request: Request, open_lab: LabOf, run_id: str) -> Response:
    """Make a run again from its trace and say whether it is the same; nothing is written."""
    run = open_lab.run(run_id)
    return page(request, "lab/replay.html", run=run, found=replay_run(open_lab.lab, run_id))


@router.get("/export.md")
def export_text(open_lab: LabOf, run_id: str) -> Response:
    """Return the run as Markdown."""
    open_lab.run(run_id)
    view = view_run(open_lab.lab, run_id)
    text = render_run(view.run, view.events, view.fault)
    return download(text.encode(), "text/markdown; charset=utf-8", f"{run_id}.md")


def shown_recipe(recipe: Recipe) -> ShownRecipe:
    """Return a recipe with its grounds by field and basis, and what is not certain apart."""
    modifier = recipe.small_molecule_modifier
    values: dict[str | None, str] = {
        **{name: str(getattr(recipe, name)) for name in FIELDS},
        "small_molecule_modifier": modifier.name,
        "linker": recipe.linker,
        None: "",
    }
    apart = tuple(one for one in recipe.grounds if is_apart(one))
    standing = [one for one in recipe.grounds if not is_apart(one)]
    fields = tuple(
        (name, value, tuple(
            sorted((one for one in standing if one.field == name),
                   key=lambda one: _BASES.index(one.basis))))
        for name, value in values.items()
    )  # fmt: skip
    return ShownRecipe(recipe, formula(recipe), fields, apart)


def made_before(recipe: Recipe, history: Sequence[HistoryRow], run_id: str) -> list[HistoryRow]:
    """Return the experiments of other runs on the same recipe."""
    return [row for row in history if row.run_id != run_id and row.recipe.key == recipe.key]


def is_apart(ground: Ground) -> bool:
    """Say whether what a ground cites does not say it with certainty."""
    return ground.support is not None and (
        ground.stands_apart or ground.support.verdict == "not_supported"
    )


def numbers_of(view: RunView) -> dict[str, int]:
    """Return the number by which the page calls each source that is cited."""
    cited = [c for recipe in view.run.recipes for one in recipe.grounds for c in one.citations]
    cited += [c for recipe in view.run.recipes for one in recipe.dropped for c in one.citations]
    cited += [c for name in SECTIONS for one in view.note.entries(name) for c in one.citations]
    cited += [one.citation for row in view.evidence[1] for one in (*row.on, *row.other)]
    return {citation: number for number, citation in enumerate(dict.fromkeys(cited), start=1)}


def _proposed(view: RunView) -> list[str]:
    """Return what a run that came to nothing had proposed."""
    if view.run.recipes:
        return []
    found = [Recipe.model_validate(e["recipe"]) for e in view.events if e["kind"] == "proposed"]
    return [formula(one) for one in found]
