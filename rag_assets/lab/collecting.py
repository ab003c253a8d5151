"""`policy: collect`: candidates, the best supported first, with what speaks for and against them.

Without a language model nobody reads: two metals, a modifier and a ratio that passages or lessons
of success name are put beside each other. Their order is that of the evidence on the product that
is asked for, of sources and of what was made here (`evidence.py`); the sentences stand beside it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from rag_assets.lab.chemistry import Named, find_carboxyl, name_parts
from rag_assets.lab.engine import RunState
from rag_assets.lab.evidence import (
    UNWANTED,
    Finding,
    PartEvidence,
    own_results,
    pair_name,
    ratio_name,
    read_findings,
    requested_product,
    support_of,
    weigh_evidence,
)
from rag_assets.lab.prompts import RecipeJob
from rag_assets.lab.recipes import ProposedRecipe, check_recipe
from rag_assets.lab.runs import Dropped, Recipe
from rag_assets.lab.tools import EXPERIENCE
from rag_assets.lab.trace import Revision, Source
from rag_assets.model import UsageError

COLLECT_NAME = "collect/4"
WHAT_IT_IS = (
    "Collected without a language model: candidates whose parts passages or lessons of success "
    "name, ordered by the sources that say that they raise the product less those that deny it, "
    "and by what was made here. Words decided which is which; nobody judged whether the parts fit."
)
_DEFAULT_RATIO = "1:1"
# What a lesson of failure on the same three parts takes from a combination.
_FAILED_HERE = 4
# What is searched beside the request; both bases are asked each of them.
_QUERIES = (
    "TiO2 doped with two metals for photocatalytic CO2 reduction",
    "carboxylic acid modifier in a MOF for CO2 reduction",
)
# Sentences of each bearing that a field shows, and candidates left out that are listed.
_MOST_SENTENCES = 3
_TOLD_DROPPED = 5
# Characters of a sentence that a ground repeats; a statement has 600 at most.
_MOST_QUOTED = 560
# An acid that is to be made is no modifier.
_TARGET = re.compile(
    r"\b(?:for|to|into|towards?|of|make|produce)\s+(?:\w+\s+)?[\w-]+ic acid\b"
    r"|\b[\w-]+ic acid(?=\s+(?:from|production|formation|selectiv|yield))",
    re.IGNORECASE,
)
_Combination = tuple[str, str, str]


@dataclass(slots=True)
class _Found:
    """Sources in the order of finding, what each names, and where a part was found first."""

    sources: dict[str, Source] = field(default_factory=dict)
    named: dict[str, Named] = field(default_factory=dict)
    metals: dict[str, int] = field(default_factory=dict)
    modifiers: dict[str, int] = field(default_factory=dict)
    rejected: dict[frozenset[str], Source] = field(default_factory=dict)
    praised: set[frozenset[str]] = field(default_factory=set)

    def add(self, source: Source, text: str, *, is_lesson: bool = False) -> None:
        if source.citation in self.sources:
            return
        place = len(self.sources)
        self.sources[source.citation] = source
        named = name_parts(text, everything=is_lesson)
        # A sentence against a modifier need not tell of modifying.
        everything = named if is_lesson else name_parts(text, everything=True)
        self.named[source.citation] = Named(
            named.metals, named.modifiers, named.ratios, everything.sentences
        )
        for metal in named.metals:
            self.metals.setdefault(metal, place)
        for modifier in named.modifiers:
            self.modifiers.setdefault(modifier, place)

    def describe(self) -> str:
        """Say what was named, where it counts."""
        metals = ", ".join(sorted(self.metals)) or "none"
        modifiers = ", ".join(sorted(self.modifiers)) or "none"
        return (
            f"metals where doping is told of: {metals}; molecules with –COOH in sentences on "
            f"modifying: {modifiers}"
        )


@dataclass(frozen=True, slots=True)
class _Asked:
    """Parts that a request names, and those that it does not want."""

    metals: frozenset[str]
    modifiers: frozenset[str]
    unwanted: frozenset[str]

    @classmethod
    def of(cls, text: str) -> "_Asked":
        unwanted = name_parts(" ; ".join(m[0] for m in UNWANTED.finditer(text)), everything=True)
        wanted = name_parts(_TARGET.sub(" ", UNWANTED.sub(" ", text)), everything=True)
        return cls(
            frozenset(wanted.metals), frozenset(wanted.modifiers),
            frozenset((*unwanted.metals, *unwanted.modifiers)),
        )  # fmt: skip

    def refusal(self, one: _Combination) -> str:
        """Return why a combination is not what was asked for; empty where it may be."""
        unwanted = sorted(self.unwanted & set(one))
        if unwanted:
            return f"the request does not want {', '.join(unwanted)}"
        metals = set(one[:2])
        # Of one metal that is named the other is free; of several both are among them.
        is_of_them = metals <= self.metals if len(self.metals) > 1 else self.metals <= metals
        if self.metals and not is_of_them:
            return f"the request names {', '.join(sorted(self.metals))}"
        if self.modifiers and one[2] not in self.modifiers:
            return f"the request names {', '.join(sorted(self.modifiers))}"
        return ""


def collect_recipes(state: RunState) -> tuple[list[Recipe], str]:
    """Look into both bases and the experience, and put up what stands there.

    Returns:
        As many candidates as are wanted, the best supported first; none where the sources do not
        name enough. And what they were found to name.
    """
    found = _gather(state)
    asked = _Asked.of(state.job.text)
    product = requested_product(state.job.text)
    rows = {row.part: row for row in evidence_of(state.job, found.sources, product)}
    recipes: list[Recipe] = []
    dropped: list[Dropped] = []
    for one, why_here in _ranked(found, rows):
        if len(recipes) == state.job.wanted:
            break
        why = asked.refusal(one)
        try:
            made = _recipe(state, found, one, rows) if not why else None
        except UsageError as error:
            made, why = None, str(error)
        if made is None:
            dropped.append(Dropped(what=", ".join(one), why=why))
            continue
        state.propose(made, COLLECT_NAME)
        place = {"rank": len(recipes) + 1, "why_ranked": f"{product}. {why_here}."}
        recipes.append(made.model_copy(update=place))
    # What a rule refuses counts before what was merely not asked for.
    dropped.sort(key=lambda each: each.why.startswith("the request"))
    told = tuple(dropped[:_TOLD_DROPPED])
    for each in told:
        state.leave_out(each, None, COLLECT_NAME)
    if len(recipes) < state.job.wanted:
        left_out = "; ".join(f"{each.what}: {each.why}" for each in told)
        return [], found.describe() + (f"; left out: {left_out}" if left_out else "")
    recipes[0] = recipes[0].model_copy(update={"dropped": told})
    return recipes, found.describe()


def _gather(state: RunState) -> _Found:
    found = _Found()
    for tool in ("search_principles", "search_modulation"):
        for query in (state.job.text, *_QUERIES):
            seen = state.look(tool, {"query": query}, "1")
            if isinstance(seen, str):
                _risk(state, f"{tool} could not be asked: {seen}")
                continue
            for source in seen.sources:
                found.add(source, source.text)
    arguments = {"question": state.job.text, "role": "orchestrator"}
    recalled = state.look("recall_experience", arguments, "1")
    if isinstance(recalled, str):
        _risk(state, f"experience could not be asked: {recalled}")
        return found
    for source in recalled.sources:
        kind = source.found_by.get("kind")
        made = name_parts(source.where, everything=True)
        parts = frozenset((*made.metals, *made.modifiers))
        if kind == "success" and source.found_by.get("well_scored"):
            found.praised.add(parts)
            # The recipe that was made stands in `where`: a lesson need not say it again.
            found.add(source, f"{_content(source)}\n\n{source.where}", is_lesson=True)
        elif kind == "failure":
            found.rejected.setdefault(parts, source)
            found.sources.setdefault(source.citation, source)
            _risk(state, f"Lesson of failure: {_content(source)}", source.citation)
    return found


def _risk(state: RunState, said: str, *citations: str) -> None:
    key = state.note.next_key("risks")
    state.revise(Revision("append", "risks", key, said, citations, COLLECT_NAME))


def _content(source: Source) -> str:
    """Return what an item says, without what its template puts around it."""
    return " ".join(str(source.found_by.get("content", source.text)).split())[:600]


def _combinations(found: _Found) -> list[_Combination]:
    """Return all of two metals and a modifier, each where its last part was found."""
    made: list[tuple[tuple[int, int, int], _Combination]] = []
    for first, second in combinations(found.metals, 2):
        pair = max(found.metals[first], found.metals[second])
        for modifier, place in found.modifiers.items():
            one = (*_ordered(found, (first, second)), modifier)
            made.append(((max(pair, place), pair, place), one))
    return [one for _, one in sorted(made, key=lambda each: each[0])]


def _ranked(found: _Found, rows: Mapping[str, PartEvidence]) -> list[tuple[_Combination, str]]:
    """Return the combinations, the best supported first, each with why it stands there."""
    ranked = []
    for place, one in enumerate(_combinations(found)):
        first, second, modifier = one
        score, why = support_of(rows, pair_name(first, second), (first, second), modifier)
        rejecting = found.rejected.get(frozenset(one))
        if rejecting is not None and frozenset(one) not in found.praised:
            score -= _FAILED_HERE
            why = f"It failed here: {_content(rejecting).rstrip('.')}. {why}"
        ranked.append((-score, place, one, why))
    return [(one, why) for _, _, one, why in sorted(ranked)]


def _ordered(found: _Found, metals: tuple[str, str]) -> tuple[str, str]:
    """Return two metals as the first source that names both writes them."""
    for named in found.named.values():
        own = [metal for metal in named.metals if metal in metals]
        if len(own) == len(metals):
            return own[0], own[1]
    return metals


def _recipe(
    state: RunState, found: _Found, one: _Combination, rows: Mapping[str, PartEvidence]
) -> Recipe:
    first, second, modifier = one
    ratio, cited = _ratio(found, (first, second), rows)
    pair = pair_name(first, second)

    def told(*parts: str) -> list[PartEvidence]:
        return [rows[part] for part in parts if part in rows]

    grounds = [
        *_grounds(found, "M1", first, told(first, pair)),
        *_grounds(found, "M2", second, told(second, pair)),
        *_grounds(
            found, "atomic_ratio", (first, second), told(ratio_name(first, second, ratio)), cited
        ),
        *_grounds(found, "small_molecule_modifier", modifier, told(modifier)),
    ]
    rejecting = found.rejected.get(frozenset(one))
    if rejecting is not None:
        grounds.append({
            "field": None, "basis": "experience", "citations": [rejecting.citation],
            "statement": _quote(_content(rejecting)), "bearing": "against",
        })  # fmt: skip
    if not cited:
        grounds.append({
            "field": "atomic_ratio", "basis": "default",
            "statement": f"No ratio of the two was recognised in what was found; {ratio} is "
            "assumed.",
        })  # fmt: skip
    together = [
        citation for citation, named in found.named.items()
        if {first, second} <= set(named.metals) and modifier in named.modifiers
    ]  # fmt: skip
    said = f"Not found together in one source: {first}, {second}, {modifier}."
    if together:
        said = "All three parts are named there; whether of one catalyst, nobody read."
    grounds.append({
        "field": None, "basis": _basis(together) if together else "default", "statement": said,
        "citations": together[:_MOST_SENTENCES],
    })  # fmt: skip
    proposed = ProposedRecipe.model_validate(
        {
            "M1": first, "M2": second, "atomic_ratio": ratio, "grounds": grounds,
            "small_molecule_modifier": {"name": modifier},
        }
    )  # fmt: skip
    # By its name alone: a trace must be made again anywhere.
    return check_recipe(proposed, state.job.rules, lambda name, _: find_carboxyl(name, None))


def _grounds(
    found: _Found, named: str, part: str | tuple[str, str], told: Sequence[PartEvidence],
    among: Sequence[str] | None = None,
) -> Iterator[dict[str, object]]:  # fmt: skip
    """Yield the sentences that name a part, a few of each bearing, each with what holds it.

    Args:
        told: evidence on the part, and on the pair that it belongs to.
    """
    holding: dict[str, list[str]] = {}
    for citation in found.named if among is None else among:
        sentences = found.named[citation].sentences
        own = sentences.get(part) or (sentences.get(part[::-1]) if isinstance(part, tuple) else ())
        for sentence in own or ():
            holding.setdefault(sentence, []).append(citation)
    # A heading states nothing where a sentence does.
    stating = [each for each in holding if not each.startswith("#")] or list(holding)
    by_bearing: dict[str, list[str]] = {"for": [], "against": [], "names": []}
    for sentence in stating:
        bearing = _bearing(
            one for row in told for one in row.on
            if one.citation in holding[sentence] and one.sentence in sentence
        )  # fmt: skip
        by_bearing[bearing].append(sentence)
    # What merely names a part says nothing beside what speaks for it or against it.
    if by_bearing["for"] or by_bearing["against"]:
        del by_bearing["names"]
    for bearing, said in by_bearing.items():
        for sentence in said[:_MOST_SENTENCES]:
            cited = holding[sentence]
            yield {
                "field": named, "basis": _basis(cited),
                "statement": _quote(sentence), "citations": cited, "bearing": bearing,
            }  # fmt: skip


def _bearing(findings: Iterable[Finding]) -> str:
    directions = {one.direction for one in findings} - {"names"}
    if directions - {"raises"}:
        return "against"
    return "for" if directions else "names"


def evidence_of(
    job: RecipeJob, sources: Mapping[str, Source], product: str
) -> tuple[PartEvidence, ...]:
    """Return what the sources of a run say for and against each part, and what was made here."""
    findings = [
        (source.document or source.citation, replace(one, citation=source.citation))
        for source in sources.values()
        for one in read_findings(
            str(source.found_by.get("content", source.text)), everything=source.base == EXPERIENCE
        )
    ]
    made = job.snapshot.get("made_here", ())
    return weigh_evidence(findings, own_results(made, product), product)


def _basis(citations: Sequence[str]) -> str:
    return "evidence" if any(one.startswith("kb:") for one in citations) else "experience"


def _quote(said: str) -> str:
    """Return words between quotation marks; what is cut off is told behind them."""
    if len(said) <= _MOST_QUOTED:
        return f'"{said}"'
    return f'"{said[:_MOST_QUOTED].rsplit(" ", 1)[0]}" …'


def _ratio(
    found: _Found, metals: tuple[str, str], rows: Mapping[str, PartEvidence]
) -> tuple[str, list[str]]:
    """Return the ratio that is best supported, the first one found of equals, with its sources."""
    told: dict[str, list[str]] = {}
    for citation, named in found.named.items():
        for pair, ratio in named.ratios.items():
            if set(pair) == set(metals):
                turned = ratio if pair == metals else ":".join(reversed(ratio.split(":")))
                told.setdefault(turned, []).append(citation)
    if not told:
        return _DEFAULT_RATIO, []

    def support(ratio: str) -> int:
        row = rows.get(ratio_name(*metals, ratio))
        return row.net if row is not None else 0

    best = max(told, key=support)
    return best, told[best]
