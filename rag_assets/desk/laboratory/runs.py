"""One run: its recipes with their grounds, live while it works; what can be done with it."""

import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

import anyio
from fastapi import APIRouter, HTTPException, Request
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.responses import RedirectResponse, Response

from rag_assets.desk.laboratory.shared import LabOf, OpenLab, download
from rag_assets.desk.rendering import page
from rag_assets.desk.working import last_event
from rag_assets.lab.feedback import find_feedback, find_report
from rag_assets.lab.queue import cancel_run, queue_again, trace_file
from rag_assets.lab.recipes import FIELDS, formula
from rag_assets.lab.runs import Ground, Recipe
from rag_assets.lab.showing import RunView, events_after, render_run, replay_run, view_run
from rag_assets.lab.teaching import HistoryRow, list_history
from rag_assets.lab.trace import SECTIONS
from rag_assets.model import RagError

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
    return page(
        request,
        "lab/run.html",
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
    await anyio.to_thread.run_sync(open_lab.run, run_id)
    begin = max(after, last_event(request))
    return EventSourceResponse(_steps(request, open_lab, run_id, begin))


async def _steps(
    request: Request, open_lab: OpenLab, run_id: str, after: int
) -> AsyncIterator[ServerSentEvent]:
    seq = after
    while True:
        try:
            found = await anyio.to_thread.run_sync(events_after, open_lab.lab, run_id, seq)
        except RagError:
            # The page itself says what is wrong with the trace.
            break
        for event in found.events:
            text = bytes(page(request, "lab/step.html", event=event).body).decode()
            yield ServerSentEvent(text, event="item", id=str(event["seq"]))
            seq = int(event["seq"])
        if found.is_over:
            break
        await anyio.sleep(_POLL_SECONDS)
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


@router.get("/card")
def card(request: Request, open_lab: LabOf, run_id: str, recipe: int = 1) -> Response:
    """Show one recipe on one sheet, for the bench."""
    open_lab.run(run_id)
    view = view_run(open_lab.lab, run_id)
    if not 1 <= recipe <= len(view.run.recipes):
        raise HTTPException(404, f"run {run_id} has no recipe {recipe}.")
    return page(
        request,
        "lab/card.html",
        view=view,
        run=view.run,
        one=shown_recipe(view.run.recipes[recipe - 1]),
        numbers=numbers_of(view),
    )


@router.get("/export.md")
def export_text(open_lab: LabOf, run_id: str) -> Response:
    """Return the run as Markdown."""
    open_lab.run(run_id)
    view = view_run(open_lab.lab, run_id)
    text = render_run(view.run, view.events, view.fault)
    return download(text.encode(), "text/markdown; charset=utf-8", f"{run_id}.md")


@router.get("/export.json")
def export_values(open_lab: LabOf, run_id: str) -> Response:
    """Return the run as it is stored, with its version and note."""
    open_lab.run(run_id)
    view = view_run(open_lab.lab, run_id)
    values = {**view.run.model_dump(mode="json"), "version": view.version,
              "note": view.note.to_json()}  # fmt: skip
    text = json.dumps(values, ensure_ascii=False, indent=1) + "\n"
    return download(text.encode(), "application/json", f"{run_id}.json")


@router.get("/export.jsonl")
def export_trace(open_lab: LabOf, run_id: str) -> Response:
    """Return the trace as it is stored."""
    run = open_lab.run(run_id)
    path = trace_file(open_lab.lab.workspace, run)
    if not path.is_file():
        raise HTTPException(404, f"run {run_id} has no trace: it is {run.state}.")
    return download(path.read_bytes(), "application/jsonl", f"{run_id}.jsonl")


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
    """Return the experiments of other runs on the same recipe: told, and no part of any proposal.

    The same are both metals with their ratio as it is written, and the modifier by its name.
    """

    def key(one: Recipe) -> tuple[str, ...]:
        return (one.M1, one.M2, one.atomic_ratio, one.small_molecule_modifier.name.casefold())

    return [row for row in history if row.run_id != run_id and key(row.recipe) == key(recipe)]


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
    return {citation: number for number, citation in enumerate(dict.fromkeys(cited), start=1)}


def _proposed(view: RunView) -> list[str]:
    """Return what a run that came to nothing had proposed."""
    if view.run.recipes:
        return []
    found = [Recipe.model_validate(e["recipe"]) for e in view.events if e["kind"] == "proposed"]
    return [formula(one) for one in found]
