"""From a recipe to what its grounds rest on: the upper steps of its chains.

Below a citation `kb:…` the chain goes on as every passage's, down to the bytes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rag_assets.model import DamagedFileError, UsageError, count_of, hash_text
from rag_assets.tracing.chain import Chain, Step
from rag_assets.workspace import Workspace

# A laboratory is imported where there is one.
if TYPE_CHECKING:
    from rag_assets.lab.laboratory import Laboratory
    from rag_assets.lab.runs import Ground, Recipe, Run

_Shown = Mapping[str, Mapping[str, Any]]
_PASSAGE = "kb:"


@dataclass(frozen=True, slots=True)
class Grounded:
    """A ground of a recipe with one of its citations.

    Args:
        name: `<run>#<rank>.<number>`, counted through the recipe.
        run_id: the run.
        passage: the citation `kb:…` under which the chain goes on; None where it ends here.
        steps: recipe and ground; for an item of experience that item, too.
        shown_hash: SHA-256 of what the run was shown under the citation; None where unknown.
        sentence: of a chain that ends here, why.
    """

    name: str
    run_id: str
    passage: str | None
    steps: tuple[Step, ...]
    shown_hash: str | None = None
    sentence: str = ""


def find_grounds(workspace: Workspace, name: str) -> list[Grounded] | None:
    """Return the grounds of what `name` names, one a citation; None where it is no run.

    Args:
        name: `<run>`, `<run>#<rank>` or `<run>#<rank>.<number>`.

    Raises:
        UsageError: the run has no such recipe or ground.
    """
    if workspace.settings.lab is None:
        return None
    from rag_assets.lab.laboratory import lab_file, open_laboratory
    from rag_assets.lab.runs import list_runs

    if not lab_file(workspace).is_file():
        return None
    head = name.rpartition("#")[0]
    lab = open_laboratory(workspace)
    with lab.store.reading() as reading:
        runs = {run.id: run for run, _ in list_runs(reading)}
    run = runs.get(name) or runs.get(head)
    if run is None:
        return None
    shown, whole = _trace_of(lab, run)
    found = [each for r in run.recipes for each in _grounds(lab, run, r, shown, whole)]
    wanted = [each for each in found if f"{each.name}.".startswith((f"{name}#", f"{name}."))]
    if not wanted:
        raise UsageError(
            f"run {run.id} ({run.state}) has no ground '{name}'; it has "
            f"{count_of(len(run.recipes), 'recipe')}. `rag lab show {run.id}` shows it."
        )
    return wanted


def go_on(grounded: Grounded, below: Sequence[Chain]) -> Iterator[Chain]:
    """Yield the whole chains of a ground.

    Args:
        below: those of its passage; none where no publication holds it.
    """
    *upper, last = grounded.steps
    if grounded.passage is None:
        holds = all(step.holds is not False for step in grounded.steps)
        yield Chain(grounded.name, "recipe", grounded.steps, last.kind, grounded.sentence, holds)
        return
    for chain in below:
        passage = next(step for step in chain.steps if step.kind == "passage")
        said = _compare(grounded.shown_hash, str(passage.facts.get("hash")), last)
        steps = (*upper, said, *chain.steps)
        holds = chain.holds and all(step.holds is not False for step in (*upper, said))
        broken = next((s for s in (*upper, said) if s.holds is False), None)
        told = f"Something has changed since ({broken.finding})." if broken else chain.sentence
        yield Chain(grounded.name, "recipe", steps, chain.end, told, holds)
    if not below:
        gone = "no current publication holds it: it was edited, or its document removed since"
        told = f"{gone}. `rag lab show {grounded.run_id}` has the words that the run was shown."
        steps = (*upper, replace(last, holds=False, finding=gone))
        yield Chain(grounded.name, "recipe", steps, "ground", told, holds=False)


def _compare(shown: str | None, published: str, ground: Step) -> Step:
    if shown is None:
        return ground
    if shown == published:
        return replace(ground, holds=True, finding="the run was shown this passage word for word")
    # An edited passage is shown as it was edited; its hash is of what is printed.
    return replace(ground, finding="the run was shown other words under this citation")


def _trace_of(lab: "Laboratory", run: "Run") -> tuple[_Shown, Step]:
    """Return what a run was shown, by citation, and the step that says whether its trace stands."""
    from rag_assets.lab.queue import trace_file
    from rag_assets.lab.trace import read_trace

    facts = {"asked": str(run.request.get("text", "")), "made by": run.kind,
             "asked at": run.created_at}  # fmt: skip
    step = Step("run", run.id, {name: value for name, value in facts.items() if value})
    if run.trace is None:
        return {}, replace(step, finding="it has no trace")
    path = trace_file(lab.workspace, run)
    try:
        events = read_trace(path)
    except DamagedFileError as error:
        return {}, replace(step, holds=False, finding=str(error))
    if hash_text(path.read_text(encoding="utf-8")) != run.trace:
        return {}, replace(step, holds=False, finding=f"{path} was changed since it was written")
    shown = {
        source["citation"]: source
        for event in events
        if event["kind"] == "called" and event["observed"]
        for source in event["observed"]["sources"]
    }
    return shown, replace(step, holds=True, finding="its trace is as it was written")


def _grounds(
    lab: "Laboratory", run: "Run", recipe: "Recipe", shown: _Shown, whole: Step
) -> Iterator[Grounded]:
    from rag_assets.lab.recipes import formula

    recipe_name = f"{run.id}#{recipe.rank}"
    made = Step("recipe", recipe_name, {"recipe": formula(recipe)})
    # What cites nothing has a chain, too: it says so.
    cited = [(ground, c) for ground in recipe.grounds for c in ground.citations or (None,)]
    for number, (ground, citation) in enumerate(cited, start=1):
        name = f"{recipe_name}.{number}"
        upper = (made, whole, _ground(ground, citation))
        if citation is None:
            told = f"The chain ends at the ground: its basis is '{ground.basis}', it cites nothing."
            yield Grounded(name, run.id, None, upper, None, told)
        elif citation.startswith(_PASSAGE):
            digest = str(shown[citation]["content_hash"]) if citation in shown else None
            yield Grounded(name, run.id, citation, upper, digest)
        else:
            item, sentence = _item(lab, citation)
            yield Grounded(name, run.id, None, (*upper, item), None, sentence)


def _ground(ground: "Ground", citation: str | None) -> Step:
    facts = {"field": ground.field or "the whole", "basis": ground.basis, "cites": citation}
    return Step("ground", ground.statement, {k: v for k, v in facts.items() if v is not None})


def _item(lab: "Laboratory", citation: str) -> tuple[Step, str]:
    from rag_assets.lab.experience import find_item

    try:
        with lab.store.reading() as reading:
            item = find_item(reading, citation)
    except UsageError as error:
        return Step("experience", citation, {}, {}, False, str(error)), str(error)
    runs = ", ".join(dict.fromkeys(lesson.run_id for lesson in item.lessons)) or "a person's note"
    step = Step("experience", citation, {"says": item.content, "learned from": runs})
    if item.rolled_back:
        step = replace(step, holds=False, finding="it was taken back since")
    told = f"The chain ends at experience (learned from: {runs}). `rag lab edit` shows it."
    return step, told
