"""Recipes as they are proposed, held against all rules, and shown as Markdown.

One recipe is looked at alone: neither other recipes of its run nor other runs count, since a
recipe that comes again is a sign of confidence (spec 004 §8.0).
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from rag_assets.lab.acids import acid_of
from rag_assets.lab.chemistry import Carboxyl, chemistry, disagreement
from rag_assets.lab.differences import lab_words
from rag_assets.lab.runs import Bearing, Ground, Modifier, Recipe, plain_ratio
from rag_assets.model import UsageError, shown_value
from rag_assets.model.markdown import escape_inline
from rag_assets.model.settings import RecipeRule

FIELDS = ("M1", "M2", "atomic_ratio", "small_molecule_modifier")
FIXED_RULES = (
    "The system is M1M2–TiO2 / Zr-BTB: TiO2 doped with two metals M1 and M2, on a Zr-BTB MOF.",
    "The linker is fixed: BTB.",
    "The small-molecule modifier holds a carboxyl group –COOH.",
    "atomic_ratio is M1:M2 as a formula counts atoms, for instance 1:1 or 2:1.",
)
_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_NUMBER = r"\d+(?:\.\d+)?"
_RATIO = re.compile(rf"({_NUMBER})\s*[:：∶]\s*({_NUMBER})")
_FORMULA = re.compile(rf"([A-Z][a-z]?)({_NUMBER})?([A-Z][a-z]?)({_NUMBER})?")
# "rare-earth metals", 稀土金属.
_KIND = re.compile(r"[\s-]*(?:metals?|elements?|金属|元素)$")
_NO_GROUND = "No ground was given for it."

Text = Annotated[str, Field(min_length=1, max_length=600)]


class ProposedModifier(BaseModel):
    """The small molecule, by name, and by structure where it is known."""

    model_config = ConfigDict(extra="forbid")

    name: Text
    smiles: str | None = None


class ProposedGround(BaseModel):
    """Why a field, or the whole recipe, is as it is."""

    model_config = ConfigDict(extra="forbid")

    statement: Text
    basis: Literal["evidence", "experience", "reasoning", "default"]
    field: Literal["M1", "M2", "atomic_ratio", "small_molecule_modifier"] | None = None
    citations: list[str] = []
    # Of what rules collect; a model does not say it.
    bearing: SkipJsonSchema[Bearing | None] = None


class ProposedRecipe(BaseModel):
    """A recipe before it was checked; its citations are resolved already."""

    model_config = ConfigDict(extra="forbid")

    M1: Text
    M2: Text
    atomic_ratio: Text
    small_molecule_modifier: ProposedModifier
    linker: str = "BTB"
    grounds: list[ProposedGround] = []


def check_recipe(
    proposed: ProposedRecipe,
    rules: Sequence[RecipeRule],
    judge: Callable[[str, str | None], Carboxyl],
) -> Recipe:
    """Return a recipe of rank 1 that follows all rules.

    A field without a ground gets one that says so.

    Args:
        rules: of the settings.
        judge: says of name and SMILES whether a molecule holds –COOH.

    Raises:
        UsageError: a rule is broken; the text says which, and what to do.
    """
    if proposed.linker.strip().upper() not in {"BTB", "ZR-BTB"}:
        raise UsageError(f"linker: it is fixed to BTB, got {shown_value(proposed.linker)}.")
    first, second = _metal("M1", proposed.M1), _metal("M2", proposed.M2)
    if first.casefold() == second.casefold():
        raise UsageError(f"M2: TiO2 is doped with two metals, and both are {first}.")
    ratio = _ratio(proposed.atomic_ratio, first, second)
    modifier = proposed.small_molecule_modifier
    name, smiles = modifier.name.strip(), (modifier.smiles or "").strip() or None
    _require_carboxyl(smiles, judge(name, smiles))
    if smiles and (wrong := disagreement(name, smiles)):
        raise UsageError(f"small_molecule_modifier: {wrong}. Give the SMILES of what is meant.")
    values = {
        "M1": first, "M2": second, "atomic_ratio": ratio, "small_molecule_modifier": name,
    }  # fmt: skip
    for rule in rules:
        _require_rule(rule, values)
    return Recipe(
        M1=first, M2=second, atomic_ratio=ratio, rank=1,
        small_molecule_modifier=Modifier(name=name, smiles=smiles),
        grounds=tuple(_checked_grounds(proposed.grounds)),
    )  # fmt: skip


def show_rules(rules: Sequence[RecipeRule]) -> tuple[str, ...]:
    """Return every rule as one sentence: the system's, then the configured ones."""
    told = (f"{rule.tell}{'' if rule.field else ' (told, not checked)'}" for rule in rules)
    return (*FIXED_RULES, *told)


def _metal(field: str, given: str) -> str:
    """Return a metal of the periodic table by its symbol; a kind of metal as it was written."""
    known = chemistry()
    name = given.strip()
    symbol = lab_words().elements.get(name.casefold(), name)
    if symbol in known.host:
        raise UsageError(f"{field}: {symbol} is a metal of the host; a dopant is another one.")
    kind = _KIND.sub("", name.casefold()).replace(" ", "-").rstrip("s")
    if symbol not in known.metals and kind not in known.kinds:
        raise UsageError(
            f"{field}: {shown_value(symbol)} is no metal of the periodic table. Write its symbol, "
            "for instance Cu."
        )
    return symbol


def _ratio(given: str, first: str, second: str) -> str:
    plain = given.translate(_SUBSCRIPTS).strip()
    found = _RATIO.fullmatch(plain)
    if found is not None:
        parts = (found[1], found[2])
    else:
        formula = _FORMULA.fullmatch(plain.replace(" ", ""))
        if formula is None or {formula[1], formula[3]} != {first, second}:
            raise UsageError(
                f"atomic_ratio: write it as M1:M2, for instance 2:1, or as {first}2{second}; got "
                f"{shown_value(given)}."
            )
        parts = (formula[2] or "1", formula[4] or "1")
        if formula[1] == second:
            parts = parts[::-1]
    if not all(float(part) > 0 for part in parts):
        raise UsageError(f"atomic_ratio: both numbers are above 0, got {shown_value(given)}.")
    return ":".join(parts)


def _require_carboxyl(smiles: str | None, found: Carboxyl) -> None:
    if found.holds:
        return
    if found.holds is None:
        what = "another SMILES" if smiles else "its SMILES"
        raise UsageError(
            f"small_molecule_modifier: whether it holds –COOH cannot be told: {found.why}. Give "
            f"{what}, or another molecule."
        )
    raise UsageError(
        f"small_molecule_modifier: it must hold a carboxyl group –COOH: {found.why}. Take another "
        "molecule."
    )


def _require_rule(rule: RecipeRule, values: dict[str, str]) -> None:
    if rule.field is None:
        return
    value = values[rule.field]

    def plain(text: str) -> str:
        return acid_of(text) or plain_ratio(text.casefold())

    broken = (
        (bool(rule.any_of) and plain(value) not in set(map(plain, rule.any_of)))
        or plain(value) in set(map(plain, rule.none_of))
        or (
            rule.matches is not None
            and not any(re.fullmatch(rule.matches, one) for one in (value, plain_ratio(value)))
        )
    )
    if broken:
        raise UsageError(f"{rule.field}: {rule.tell} Got {shown_value(value)}.")


def _checked_grounds(proposed: Sequence[ProposedGround]) -> list[Ground]:
    found = []
    for each in proposed:
        wanted = {"evidence": "kb:", "experience": "mem:"}.get(each.basis)
        if wanted is not None and not any(one.startswith(wanted) for one in each.citations):
            what = "a passage" if wanted == "kb:" else "an item of experience"
            raise UsageError(
                f"grounds: basis '{each.basis}' cites {what}, and \"{each.statement}\" does not. "
                "Cite one that was shown, or call it reasoning or default."
            )
        found.append(
            Ground(
                statement=each.statement, basis=each.basis, field=each.field,
                citations=tuple(dict.fromkeys(each.citations)), bearing=each.bearing,
            )
        )  # fmt: skip
    told = {each.field for each in found}
    missing = [field for field in FIELDS if field not in told]
    return [*found, *(Ground(statement=_NO_GROUND, basis="default", field=f) for f in missing)]


# Raise it when the same recipes are laid out otherwise.
LAYOUT_VERSION = 3
_NAMES = {"M1": "M1", "M2": "M2", "atomic_ratio": "ratio", "small_molecule_modifier": "modifier"}
_BASES = {
    "evidence": "literature", "experience": "experience", "reasoning": "reasoning, not cited",
    "default": "default, not cited",
}  # fmt: skip
_VERDICTS: dict[str, str] = {
    "supported": "supported", "not_supported": "**not supported with certainty**",
    "not_judged": "not judged",
}  # fmt: skip
_BEARINGS: dict[str, str] = {
    "for": "for, by its words", "against": "**against, by its words**", "names": "names it",
}  # fmt: skip
UNSUPPORTED = "**None of its sources supports with certainty what they are cited for.**"
OWN_WORDS = "the model's own words, not checked"
_QUOTED_CHARACTERS = 240


def formula(recipe: Recipe) -> str:
    """Return what is doped with what: `CuMo-TiO2 / Zr-BTB, Cu:Mo = 1:1, glycine`."""
    modifier = recipe.small_molecule_modifier
    return (
        f"{recipe.M1}{recipe.M2}-TiO2 / Zr-{recipe.linker}, "
        f"{recipe.M1}:{recipe.M2} = {recipe.atomic_ratio}, {modifier.name}"
    )


def render_recipe(
    recipe: Recipe, quotes: Mapping[str, "Quoted"], *, is_own_words: bool = False
) -> Iterator[str]:
    """Yield the lines of a recipe.

    Args:
        quotes: by citation, what was read there.
        is_own_words: whether a model says why it has its place.
    """
    modifier = recipe.small_molecule_modifier
    yield f"### {recipe.rank}. {escape_inline(formula(recipe))}\n"
    if recipe.why_ranked:
        said = f" ({OWN_WORDS})" if is_own_words else ""
        yield f"Why here{said}: {escape_inline(recipe.why_ranked)}\n"
    if recipe.is_unsupported:
        yield UNSUPPORTED
        yield ""
    values = {
        "M1": recipe.M1, "M2": recipe.M2, "atomic_ratio": recipe.atomic_ratio,
        "small_molecule_modifier": f"{modifier.name} ({modifier.smiles})"
        if modifier.smiles else modifier.name,
    }  # fmt: skip
    for field in FIELDS:
        yield f"- **{_NAMES[field]}**: {escape_inline(values[field])}"
        yield from _grounds(recipe.grounds, field, quotes)
    yield f"- **linker**: {recipe.linker} (fixed)"
    whole = list(_grounds(recipe.grounds, None, quotes))
    if whole:
        yield "- **the whole**"
        yield from whole
    yield ""
    yield from _apart(recipe.grounds, quotes)


class Quoted:
    """What is shown of a source: where it stands and what was read there.

    Args:
        where: title, section and pages, or title and version of an item.
        text: as it was read.
        number: by which the page's list of sources calls it.
    """

    def __init__(self, number: int, where: str, text: str) -> None:
        self.number = number
        self.where = where
        self.text = text

    @property
    def beginning(self) -> str:
        """Return the text on one line, cut where it is long."""
        # A passage may begin with its heading, which stands beside it already.
        lines = self.text.splitlines()
        while len(lines) > 1 and (not lines[0].strip() or lines[0].startswith("#")):
            lines = lines[1:]
        flat = " ".join(" ".join(lines).split())
        if len(flat) <= _QUOTED_CHARACTERS:
            return flat
        return f"{flat[:_QUOTED_CHARACTERS].rsplit(' ', 1)[0]} …"


def _grounds(
    grounds: Sequence[Ground], field: str | None, quotes: Mapping[str, Quoted]
) -> Iterator[str]:
    of_field = [ground for ground in grounds if ground.field == field]
    for ground in of_field:
        if not ground.stands_apart:
            said = _BASES[ground.basis]
            if ground.bearing is not None:
                said = f"{said}; {_BEARINGS[ground.bearing]}"
            if ground.support is not None and (
                ground.bearing is None or ground.support.verdict == "not_supported"
            ):
                said = f"{said}; {_VERDICTS[ground.support.verdict]}"
                if ground.support.verdict == "not_supported":
                    said = f"{said}: {escape_inline(ground.support.reason)}"
            for other in ground.contradicted_by:
                said = f"{said}; **contradicted by “{escape_inline(other)}”**"
            yield f"    - {escape_inline(ground.statement)}{_cited(ground, quotes)} *({said})*"
    if of_field and all(ground.stands_apart for ground in of_field):
        yield "    - what was said of it stands below, with the words of its source"


def _apart(grounds: Sequence[Ground], quotes: Mapping[str, Quoted]) -> Iterator[str]:
    """Yield what was said in another language than its source, and is not certain of it."""
    apart = [ground for ground in grounds if ground.stands_apart]
    if not apart:
        return
    yield "Said in another language than its source, and not certain to say the same:\n"
    for ground in apart:
        name = _NAMES[ground.field] if ground.field else "the whole"
        statement = escape_inline(ground.statement)
        yield f"- {name}: {statement}{_cited(ground, quotes)}"
        if ground.support is not None:
            yield f"    - {escape_inline(ground.support.reason)}"
            quote = " ".join(ground.support.quote.split())
            if quote:
                yield f"    > {escape_inline(quote)}"
    yield ""


def _cited(ground: Ground, quotes: Mapping[str, Quoted]) -> str:
    return "".join(f" [{quotes[one].number}]" for one in ground.citations if one in quotes)
