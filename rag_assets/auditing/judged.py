"""What was found out about one claim and one document, apart from where the claim stands."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from rag_assets.auditing.quoting import QuotationCheck
from rag_assets.auditing.showing import ShownWindow
from rag_assets.judging import Sign
from rag_assets.judging import Status as JudgedStatus
from rag_assets.judging.contract import ReasonCode as JudgedReason
from rag_assets.model import PageBox

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
        TypeError: a field is missing or unknown.
    """
    return Judged(
        **{
            **data,
            "speaks_for": read_signs(data["speaks_for"]),
            "speaks_against": read_signs(data["speaks_against"]),
            "boxes": read_boxes(data["boxes"]),
            "quotations": read_checks(data["quotations"]),
            "shown": tuple(
                ShownWindow(one["text"], one["share"], tuple(tuple(p) for p in one["parts"]))
                for one in data["shown"]
            ),
        }
    )


def read_signs(stored: Any) -> tuple[Sign, ...]:
    """Return signs that were written as JSON."""
    return tuple(Sign(**sign) for sign in stored)


def read_boxes(stored: Any) -> tuple[PageBox, ...]:
    """Return rectangles that were written as JSON."""
    return tuple(PageBox(**box) for box in stored)


def read_checks(stored: Any) -> tuple[QuotationCheck, ...]:
    """Return compared quotations that were written as JSON."""
    return tuple(
        QuotationCheck(
            **{
                **check,
                "changes": tuple((before, after) for before, after in check["changes"]),
                "chunk_ids": tuple(check["chunk_ids"]),
            }
        )
        for check in stored
    )
