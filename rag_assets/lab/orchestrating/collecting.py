"""`policy: rules`: combinations whose parts stand in the sources. It collects and does not reason.

A metal, a modifier, a ratio is taken where a passage or a lesson of success names it; nothing is
concluded. What no source says is marked as default, and that parts were not named together too.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

from rag_assets.lab.orchestrating.engine import RunState
from rag_assets.lab.orchestrating.naming import Named, name_parts
from rag_assets.lab.orchestrating.note import Revision
from rag_assets.lab.orchestrating.sources import Source
from rag_assets.lab.recipes import ProposedRecipe, check_recipe, find_carboxyl
from rag_assets.lab.store import Dropped, Recipe
from rag_assets.model import UsageError

RULES_NAME = "rules:collect/2"
WHAT_IT_IS = (
    "Collected by rules, without a language model: parts that stand in passages or in lessons of "
    "success were put together. Nothing was concluded, and nobody judged whether they fit."
)
_DEFAULT_RATIO = "1:1"
# What is searched beside the request; both bases are asked each of them.
_QUERIES = (
    "TiO2 doped with two metals for photocatalytic CO2 reduction",
    "carboxylic acid modifier in a MOF for CO2 reduction",
)
# Combinations that are looked at: the metals and modifiers with most sources.
_MOST_METALS = 12
_MOST_MODIFIERS = 8
_MOST_CITED = 4
_TOLD_DROPPED = 5
# Characters of a sentence that a ground repeats; a statement has 600 at most.
_MOST_QUOTED = 560


@dataclass(slots=True)
class _Found:
    """Sources by what they name, and what each of them names."""

    sources: dict[str, Source] = field(default_factory=dict)
    named: dict[str, Named] = field(default_factory=dict)
    metals: dict[str, list[str]] = field(default_factory=dict)
    modifiers: dict[str, list[str]] = field(default_factory=dict)

    def add(self, source: Source, named: Named) -> None:
        if source.citation in self.named:
            return
        self.sources[source.citation] = source
        self.named[source.citation] = named
        for metal in named.metals:
            self.metals.setdefault(metal, []).append(source.citation)
        for modifier in named.modifiers:
            self.modifiers.setdefault(modifier, []).append(source.citation)

    def describe(self) -> str:
        """Say what was named, where it counts."""
        metals = ", ".join(sorted(self.metals)) or "none"
        modifiers = ", ".join(sorted(self.modifiers)) or "none"
        return (
            f"metals where doping is told of: {metals}; molecules with –COOH in sentences on "
            f"modifying: {modifiers}"
        )


@dataclass(frozen=True, slots=True)
class _Combination:
    metals: tuple[str, str]
    modifier: str
    together: tuple[str, ...]
    pair: tuple[str, ...]
    count: int

    @property
    def key(self) -> tuple[int, int, int, tuple[str, str], str]:
        return (-len(self.together), -len(self.pair), -self.count, self.metals, self.modifier)

    def describe(self) -> str:
        """Say by what it was ranked."""
        return (
            f"sources that name all three parts: {len(self.together)}; both metals: "
            f"{len(self.pair)}; its parts are named {self.count} times in all."
        )


def collect_recipes(state: RunState) -> tuple[list[Recipe], str]:
    """Look into both bases and the experience, and propose what stands there.

    Returns:
        As many recipes as are wanted, by the number of sources; none where the sources do not
        name enough. And what they were found to name.
    """
    found = _gather(state)
    ranked = _rank(found)
    recipes: list[Recipe] = []
    dropped: list[Dropped] = []
    for combination in ranked:
        try:
            made = _recipe(state, found, combination)
        except UsageError as error:
            dropped.append(_dropped(combination, str(error)))
            continue
        if len(recipes) < state.job.wanted:
            state.propose(made, RULES_NAME)
            changes = {"rank": len(recipes) + 1, "why_ranked": combination.describe()}
            recipes.append(made.model_copy(update=changes))
        elif len(dropped) < _TOLD_DROPPED:
            dropped.append(_dropped(combination, f"fewer sources: {combination.describe()}"))
        else:
            break
    if len(recipes) < state.job.wanted:
        return [], found.describe()
    told = dropped[:_TOLD_DROPPED]
    for each in told:
        state.leave_out(each, None, RULES_NAME)
    recipes[0] = recipes[0].model_copy(update={"dropped": tuple(told)})
    return recipes, found.describe()


def _gather(state: RunState) -> _Found:
    found = _Found()
    for tool in ("search_principles", "search_modulation"):
        for query in (state.job.text, *_QUERIES):
            seen = state.look(tool, {"query": query}, "1")
            if isinstance(seen, str):
                key = state.note.next_key("risks")
                said = f"{tool} could not be asked: {seen}"
                state.revise(Revision("append", "risks", key, said, (), RULES_NAME))
                continue
            for source in seen.sources:
                found.add(source, name_parts(source.text))
    arguments = {"question": state.job.text, "role": "orchestrator"}
    recalled = state.look("recall_experience", arguments, "1")
    if isinstance(recalled, str):
        said = f"experience could not be asked: {recalled}"
        key = state.note.next_key("risks")
        state.revise(Revision("append", "risks", key, said, (), RULES_NAME))
        return found
    for source in recalled.sources:
        if source.found_by.get("kind") == "success" and source.found_by.get("well_scored"):
            # The recipe that was made stands in `where`: a lesson need not say it again.
            found.add(source, name_parts(f"{_content(source)}\n\n{source.where}", everything=True))
        elif source.found_by.get("kind") == "failure":
            key = state.note.next_key("risks")
            said = f"Lesson of failure: {_content(source)}"
            cited = (source.citation,)
            state.revise(Revision("append", "risks", key, said, cited, RULES_NAME))
    return found


def _content(source: Source) -> str:
    """Return what an item says, without what its template puts around it."""
    return " ".join(str(source.found_by.get("content", source.text)).split())[:600]


def _rank(found: _Found) -> list[_Combination]:
    metals = sorted(found.metals, key=lambda one: (-len(found.metals[one]), one))[:_MOST_METALS]
    modifiers = sorted(found.modifiers, key=lambda one: (-len(found.modifiers[one]), one))
    made = []
    for first, second in combinations(metals, 2):
        pair = tuple(c for c in found.metals[first] if c in found.metals[second])
        ordered = _ordered(found, pair, (first, second))
        for modifier in modifiers[:_MOST_MODIFIERS]:
            together = tuple(c for c in pair if c in found.modifiers[modifier])
            count = sum(
                map(len, (found.metals[first], found.metals[second], found.modifiers[modifier]))
            )
            made.append(_Combination(ordered, modifier, together, pair, count))
    return sorted(made, key=lambda one: one.key)


def _ordered(found: _Found, pair: Sequence[str], metals: tuple[str, str]) -> tuple[str, str]:
    """Return two metals as the first source that names both writes them."""
    for citation in pair:
        named = [metal for metal in found.named[citation].metals if metal in metals]
        return named[0], named[1]
    return metals


def _recipe(state: RunState, found: _Found, one: _Combination) -> Recipe:
    first, second = one.metals
    ratio, cited = _ratio(found, one)
    grounds = [
        _ground(found, "M1", first, _best(found.metals[first], one)),
        _ground(found, "M2", second, _best(found.metals[second], one)),
        _ground(found, "atomic_ratio", one.metals, cited)
        if cited
        else {
            "field": "atomic_ratio", "basis": "default",
            "statement": f"No ratio of the two was recognised in what was found; {ratio} is "
            "assumed.",
        },
        _ground(
            found, "small_molecule_modifier", one.modifier,
            _best(found.modifiers[one.modifier], one),
        ),
        {"field": None, "basis": "default", "statement": _together(one)}
        if not one.together
        else {
            "field": None, "basis": _basis(one.together), "citations": one.together[:_MOST_CITED],
            "statement": "All three parts are named there; whether of one catalyst, nobody read.",
        },
    ]  # fmt: skip
    proposed = ProposedRecipe.model_validate(
        {
            "M1": first, "M2": second, "atomic_ratio": ratio, "grounds": grounds,
            "small_molecule_modifier": {"name": one.modifier},
        }
    )  # fmt: skip
    # By its name alone: a trace of rules must be made again anywhere.
    return check_recipe(proposed, state.job.rules, lambda name, _: find_carboxyl(name, None))


def _best(citations: Sequence[str], one: _Combination) -> list[str]:
    """Return the sources to cite: those that name more of the combination first."""
    order = {citation: place for place, citation in enumerate((*one.together, *one.pair))}
    return sorted(dict.fromkeys(citations), key=lambda c: order.get(c, len(order)))[:_MOST_CITED]


def _ground(
    found: _Found, named: str, part: str | tuple[str, str], citations: Sequence[str]
) -> dict[str, object]:
    """Return a ground that says word for word what one of its sources says of a part."""
    cited = list(citations)[:_MOST_CITED]
    told = [_told(found, citation, part) for citation in cited]
    # A sentence before a heading, which states nothing.
    said = next((each for each in told if not each.startswith("#")), told[0])
    return {
        "field": named, "basis": _basis(cited), "statement": _quote(said), "citations": cited,
    }  # fmt: skip


def _told(found: _Found, citation: str, part: str | tuple[str, str]) -> str:
    sentences = found.named[citation].sentences
    said = sentences.get(part) or sentences.get(_reversed(part))
    return said or found.sources[citation].where


def _quote(said: str) -> str:
    """Return words between quotation marks; what is cut off is told behind them."""
    if len(said) <= _MOST_QUOTED:
        return f'"{said}"'
    return f'"{said[:_MOST_QUOTED].rsplit(" ", 1)[0]}" …'


def _reversed(part: str | tuple[str, str]) -> str | tuple[str, str]:
    return part if isinstance(part, str) else (part[1], part[0])


def _basis(citations: Sequence[str]) -> str:
    return "evidence" if any(one.startswith("kb:") for one in citations) else "experience"


def _together(one: _Combination) -> str:
    first, second = one.metals
    if one.pair:
        return (
            f"Not found together in one source: {first} and {second} are named together, "
            f"{one.modifier} elsewhere."
        )
    return f"Not found together in one source: {first}, {second}, {one.modifier}."


def _ratio(found: _Found, one: _Combination) -> tuple[str, list[str]]:
    first, second = one.metals
    for citation in (*one.together, *one.pair):
        ratios = found.named[citation].ratios
        if (first, second) in ratios:
            return ratios[first, second], [citation]
        if (second, first) in ratios:
            return ":".join(reversed(ratios[second, first].split(":"))), [citation]
    return _DEFAULT_RATIO, []


def _dropped(one: _Combination, why: str) -> Dropped:
    return Dropped(what=f"{one.metals[0]}, {one.metals[1]}, {one.modifier}", why=why)
