"""Whether what runs came to still holds: the rules, and the citations of every recipe."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from rag_assets.lab.experience import CITATION, find_item
from rag_assets.lab.opening import Laboratory
from rag_assets.lab.orchestrating import job_from_json, read_trace, sources_of
from rag_assets.lab.queueing.places import trace_file
from rag_assets.lab.recipes import Carboxyl, ProposedRecipe, check_recipe, find_carboxyl
from rag_assets.lab.store import Run, list_runs
from rag_assets.model import DamagedFileError, UsageError


def broken_rules(lab: Laboratory) -> Iterator[str]:
    """Yield a sentence for each recipe that breaks a rule: the system's, or one of its run's."""
    for run in _done(lab):
        events = _events(lab, run)
        wanted = run.request.get("recipes_per_run", len(run.recipes))
        if len(run.recipes) != wanted:
            yield f"run {run.id} was to give {wanted} recipe(s) and gave {len(run.recipes)}."
        # Rules that came later are no fault of a run.
        rules = job_from_json(events[0]["job"]).rules if events else ()
        judge = partial(_judge, _judged(events or ()))
        for recipe in run.recipes:
            values = recipe.model_dump(exclude={"rank", "why_ranked", "dropped", "grounds"})
            try:
                check_recipe(ProposedRecipe.model_validate(values), rules, judge)
            except UsageError as error:
                yield f"run {run.id}, recipe {recipe.rank}: {error}"


_Judged = Mapping[tuple[str, str | None], Carboxyl]


def _judged(events: Iterable[Mapping[str, Any]]) -> _Judged:
    """Return what was found of each molecule then, perhaps by a structure that nobody reads now."""
    return {
        (one["name"], one["smiles"]): Carboxyl(one["holds"], one["by"], one["why"])
        for event in events
        for one in event.get("judged", ())
    }


def _judge(known: _Judged, name: str, smiles: str | None) -> Carboxyl:
    return known.get((name, smiles)) or find_carboxyl(name, smiles)


def lost_citations(lab: Laboratory) -> Iterator[str]:
    """Yield a sentence for each citation that its run was not shown, or that does not open."""
    for run in _done(lab):
        events = _events(lab, run)
        if events is None:
            yield f"run {run.id}: its trace is gone or was changed: its citations cannot be shown."
            continue
        shown = sources_of(events)
        cited = [c for recipe in run.recipes for ground in recipe.grounds for c in ground.citations]
        cited += [c for recipe in run.recipes for one in recipe.dropped for c in one.citations]
        for citation in dict.fromkeys(cited):
            if citation not in shown:
                yield f"run {run.id} cites {citation}, which it was not shown."
            elif citation.startswith(CITATION) and not _opens(lab, citation):
                yield f"run {run.id} cites {citation}, which does not open."


def _opens(lab: Laboratory, citation: str) -> bool:
    with lab.store.reading() as reading:
        try:
            find_item(reading, citation)
        except UsageError:
            return False
    return True


def _done(lab: Laboratory) -> list[Run]:
    with lab.store.reading() as reading:
        return [run for run, _ in list_runs(reading, "done") if run.kind != "imported"]


def _events(lab: Laboratory, run: Run) -> list[dict[str, Any]] | None:
    try:
        return read_trace(trace_file(lab.workspace, run))
    except DamagedFileError:
        return None
