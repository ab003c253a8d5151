"""A recipe as Markdown: what to make, and why, with the words of each source."""

from collections.abc import Iterator, Mapping, Sequence

from rag_assets.lab.recipes.checking import FIELDS
from rag_assets.lab.store import Ground, Recipe
from rag_assets.model.markdown import escape_inline

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
    yield f"### {recipe.rank}. {escape_inline(formula(recipe))}"
    yield ""
    if recipe.why_ranked:
        said = f" ({OWN_WORDS})" if is_own_words else ""
        yield f"Why here{said}: {escape_inline(recipe.why_ranked)}"
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
    yield "Said in another language than its source, and not certain to say the same:"
    yield ""
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
