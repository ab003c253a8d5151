"""An extraction into the bank, or out of it: all in one transaction, or nothing."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from rag_assets.lab.experience.extracting import Extracted
from rag_assets.lab.experience.nearness import FindEqual, Nearness
from rag_assets.lab.experience.rolling import place_lesson, take_back
from rag_assets.lab.experience.stored import living_extraction
from rag_assets.lab.store import Draft, Event, Store, Writing, new_id
from rag_assets.model import LockedError

# How often the texts are looked at again where others have written new ones meanwhile.
_TRIES = 8
_Result = TypeVar("_Result")


def teach(
    store: Store,
    nearness: Nearness,
    run_id: str,
    extraction_id: str,
    extracted: Extracted | None,
    *,
    at: str,
    by: str,
    beside: Callable[[Writing], _Result],
) -> _Result:
    """Take back what a run's feedback taught, and put what it teaches now in its place.

    Args:
        extracted: None to take back alone.
        at: now; `by` who.
        beside: writes what belongs to the same transaction, first.

    Raises:
        LockedError: others write experience faster than it can be compared.
    """
    new = [lesson.content for lesson in extracted.lessons] if extracted is not None else []
    for _ in range(_TRIES):
        with store.reading() as reading:
            known = {*new, *_contents(reading.streams("item").values())}
        # Made here, so that nobody waits for a model.
        find_equal = nearness.finder(sorted(known))
        with store.writing(at, by) as writing:
            if known >= set(_contents(writing.streams("item").values())):
                result = beside(writing)
                _relearn(writing, run_id, extraction_id, extracted, find_equal)
                return result
    raise LockedError(
        f"{store.path}: others write experience faster than new lessons can be compared with it. "
        "Nothing was changed: do it again."
    )


def _relearn(
    writing: Writing,
    run_id: str,
    extraction_id: str,
    extracted: Extracted | None,
    find_equal: FindEqual,
) -> None:
    bank = writing.streams("item")

    def append(draft: Draft) -> None:
        event = writing.append(draft)
        bank.setdefault(event.subject, []).append(event)

    old = living_extraction(writing, run_id)
    if old is not None:
        writing.append(Draft("extraction", old.id, "rolled_back", {"run_id": run_id}))
        take_back(bank, old.id, append, find_equal, new_id)
    if extracted is not None:
        body = {"run_id": run_id, "record": dict(extracted.record)}
        writing.append(Draft("extraction", extraction_id, "made", body))
        for lesson in extracted.lessons:
            place_lesson(bank, lesson, append, find_equal, new_id)


def _contents(streams: Iterable[Sequence[Event]]) -> list[str]:
    """Return every content that an item has had, or may have again."""
    found = []
    for stream in streams:
        for event in stream:
            bodies: list[Mapping[str, object]] = [event.body]
            bodies += [event.body[key] for key in ("lesson", "changes") if key in event.body]
            found += [str(body["content"]) for body in bodies if "content" in body]
    return found
