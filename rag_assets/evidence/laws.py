"""What an item of a pack says of the law that it is from."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rag_assets.evidence.pack import ItemLaw

if TYPE_CHECKING:
    from rag_assets.retrieval import Hit

_NOTED = {
    "not_yet_in_force": "NOT YET IN FORCE",
    "superseded": "SUPERSEDED",
    "repealed": "REPEALED",
    "unknown": "standing UNKNOWN",
}


def item_law(found: "Hit", shown: "Hit", quoted_at: int) -> ItemLaw | None:
    """Return what to say of the law of a passage; None where it is of none, or no day was asked.

    Args:
        found: the passage that the search found, which knows how its law stands.
        shown: the passage of the same parent that is quoted.
        quoted_at: where the quote begins in the document's clean text.
    """
    mark = found.law
    if mark is None:
        return None
    around = [one for one in shown.articles if one.char_start <= quoted_at < one.char_end]
    citation = mark.cite(shown.section_path, around[0]) if around else None
    return ItemLaw(
        mark.title,
        citation,
        mark.standing,
        str(mark.version_date) if mark.version_date is not None else None,
        str(mark.holds_from) if mark.holds_from is not None else None,
        mark.is_stated,
        mark.repeal,
    )


def describe_standing(law: ItemLaw, as_of: str | None) -> str:
    """Return how a wording stands on the day of a pack, in one line.

    What is not in force, or not known, is in capitals.
    """
    return ", ".join(_told(law, as_of))


def _told(law: ItemLaw, as_of: str | None) -> Iterator[str]:
    yield f"{_NOTED.get(law.standing, 'in force')} on {as_of}"
    yield f"wording of {law.version_date}" if law.version_date else "day of the wording not known"
    if law.holds_from and not law.is_stated:
        yield "the text does not say since when it holds"
    elif law.holds_from and law.holds_from != law.version_date:
        yield f"holds from {law.holds_from}"
    if law.repeal:
        yield law.repeal
