"""A run as an experimenter reads it: recipes with grounds and their sources, note, what to ask."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rag_assets.lab.orchestrating import WHAT_IT_IS, RunNote, fold_note, sources_of
from rag_assets.lab.recipes import OWN_WORDS, Quoted, formula, render_recipe
from rag_assets.lab.store import Run
from rag_assets.model import count_of
from rag_assets.model.markdown import escape_inline

_NOT_ENDED = {"queued": "It waits in the queue.", "running": "It is being worked on."}
_SHOWN = ("decisions", "evidence", "risks", "questions")


def render_run(run: Run, events: Sequence[Mapping[str, Any]], fault: str = "") -> str:
    """Return a run as Markdown.

    Args:
        events: of its trace; none where there is no trace.
        fault: why there is none where there should be one.
    """
    note = fold_note(events)
    quotes = _quotes(run, note, events)
    return "\n".join(_lines(run, note, quotes, events, fault)).rstrip() + "\n"


def _lines(
    run: Run,
    note: RunNote,
    quotes: Mapping[str, Quoted],
    events: Sequence[Mapping[str, Any]],
    fault: str,
) -> Iterator[str]:
    yield f"# {escape_inline(str(run.request.get('text', run.id)))}"
    yield ""
    reason = f" ({escape_inline(run.reason)})" if run.reason else ""
    came = "imported" if run.kind == "imported" else "asked for"
    yield f"Run {run.id}: **{run.state}**{reason}, {came} {run.created_at}."
    yield _made_by(run, events)
    if fault:
        yield ""
        yield f"Its trace cannot be shown: {escape_inline(fault)}"
    if run.recipes:
        yield ""
        if run.kind == "collect":
            yield f"## {count_of(len(run.recipes), 'candidate')}, as found: not ranked"
        else:
            order = ", best first" if run.is_ranked_by_model else ""
            yield f"## {count_of(len(run.recipes), 'recipe')}{order}"
        yield ""
        for recipe in run.recipes:
            yield from render_recipe(recipe, quotes, is_own_words=run.is_ranked_by_model)
        yield from _left_out(run, quotes)
    else:
        yield from _proposed(events)
    told = {ground.statement for recipe in run.recipes for ground in recipe.grounds}
    for section in _SHOWN:
        # What stands at a recipe is not said again.
        entries = [e for e in note.entries(section) if e.text not in told]  # type: ignore[arg-type]
        if entries:
            yield f"## {section.capitalize()}"
            yield ""
            for entry in entries:
                said = f" *({OWN_WORDS})*" if entry.is_own_words else ""
                yield f"- {escape_inline(entry.text)}{_cited(entry.citations, quotes)}{said}"
            yield ""
    if quotes:
        yield "## Sources"
        yield ""
        yield f"`rag trace {run.id}` leads from each ground to the bytes of the file."
        yield ""
        for citation, quote in quotes.items():
            yield f"{quote.number}. {escape_inline(quote.where)} `{citation}`"
            yield f"   > {escape_inline(quote.beginning)}"


def _left_out(run: Run, quotes: Mapping[str, Quoted]) -> Iterator[str]:
    dropped = [one for recipe in run.recipes for one in recipe.dropped]
    if dropped:
        said = f" ({OWN_WORDS})" if run.is_ranked_by_model else ""
        yield f"## Considered and left out{said}"
        yield ""
        for one in dropped:
            cited = _cited(one.citations, quotes)
            yield f"- {escape_inline(one.what)}: {escape_inline(one.why)}{cited}"
        yield ""


def _made_by(run: Run, events: Sequence[Mapping[str, Any]]) -> str:
    if run.kind == "imported":
        return "An experiment of before; nobody proposed it."
    if run.state in _NOT_ENDED:
        return _NOT_ENDED[run.state]
    if not events:
        return "There is no trace of it."
    if run.kind == "collect":
        return WHAT_IT_IS
    models = run.snapshot.get("decided_by")
    names = sorted({str(one) for one in models.values()}) if isinstance(models, dict) else []
    asked = sum(event["kind"] == "asked" for event in events)
    looked = sum(event["kind"] == "called" for event in events)
    by = f"Made by {', '.join(names)}: " if names else ""
    return f"{by}{count_of(asked, 'model call')}, {count_of(looked, 'look')} into the sources."


def _proposed(events: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield what a run without a result had proposed."""
    from rag_assets.lab.store import Recipe

    found = [Recipe.model_validate(e["recipe"]) for e in events if e["kind"] == "proposed"]
    if found:
        yield ""
        yield "## Proposed before it ended, not a result"
        yield ""
        for recipe in found:
            yield f"- {escape_inline(formula(recipe))}"
        yield ""


def _quotes(run: Run, note: RunNote, events: Sequence[Mapping[str, Any]]) -> dict[str, Quoted]:
    sources = sources_of(events)
    cited = [c for r in run.recipes for ground in r.grounds for c in ground.citations]
    cited += [c for r in run.recipes for one in r.dropped for c in one.citations]
    cited += [c for name in _SHOWN for e in note.entries(name) for c in e.citations]  # type: ignore[arg-type]
    found: dict[str, Quoted] = {}
    for citation in dict.fromkeys(cited):
        source = sources.get(citation)
        where, text = "", "(its trace is not at hand)"
        if source is not None:
            parts = (source.title, source.where, source.name)
            where, text = ", ".join(part for part in parts if part), source.text
        found[citation] = Quoted(len(found) + 1, where, text)
    return found


def _cited(citations: Sequence[str], quotes: Mapping[str, Quoted]) -> str:
    return "".join(f" [{quotes[one].number}]" for one in citations if one in quotes)
