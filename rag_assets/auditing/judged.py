"""What was found out about one claim and one document, apart from where the claim stands."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from rag_assets.auditing.quoting import QuotationCheck
from rag_assets.auditing.showing import ShownWindow
from rag_assets.judging import ReasonCode as JudgedReason
from rag_assets.judging import Sign
from rag_assets.judging import Status as JudgedStatus
from rag_assets.model import PageBox

if TYPE_CHECKING:
    from pydantic import TypeAdapter

PlaceFound = Literal["as_named", "elsewhere", "unchecked"]
"""How the place that a citation names compares with where support was found: there, on another
page, or it cannot be checked (no pages, a page that the file does not have, a chapter)."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A judgement that can be kept: it holds neither uid nor place in a draft.

    Args:
        passage: index of the best passage among those of the document.
        start: of its best sentence in the passage; `end` exclusive.
        boxes: around the printed lines of that sentence.
        note: what could not be looked at as it should.
        place: None where the citation names none.
        quotations: of the sentence, compared with the document.
        shown: the windows of the document that were judged, best first.
    """

    score: float
    status: JudgedStatus
    reason_code: JudgedReason
    reason: str
    passage: int
    start: int
    end: int
    speaks_for: tuple[Sign, ...] = ()
    speaks_against: tuple[Sign, ...] = ()
    boxes: tuple[PageBox, ...] = ()
    note: str | None = None
    place: PlaceFound | None = None
    quotations: tuple[QuotationCheck, ...] = ()
    shown: tuple[ShownWindow, ...] = ()


def judged_to_json(judged: Judged) -> dict[str, Any]:
    """Return `judged` as values that JSON knows."""
    return asdict(judged)


def judged_from_json(data: Mapping[str, Any]) -> Judged:
    """Return what `judged_to_json` wrote.

    Raises:
        ValueError: a field is missing, unknown or of another type.
    """
    if set(data) != {each.name for each in fields(Judged)}:
        raise ValueError("the judgement has other fields than this version writes")
    return _judged_type().validate_python(data)


@cache
def _judged_type() -> "TypeAdapter[Judged]":
    from pydantic import TypeAdapter

    return TypeAdapter(Judged)
