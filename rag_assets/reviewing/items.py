"""The citations of a draft as items to look at, in the order in which they need eyes."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from rag_assets.auditing import CitationAudit, CitationVerdict, Draft, urgency
from rag_assets.auditing.judgements import (
    Judgements,
    citation_of,
    join_judgement,
    version_of,
    without_judgements,
)
from rag_assets.model import hash_fields

_KEY_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Item:
    """One citation of one sentence.

    Args:
        key: of the sentence's words and what it cites; stays when other sentences are edited. The
            second of the same words and document ends in `-2`.
        row: with what a person has decided; `machine` without.
        seen: number of the last judgement on it, 0 for none.
    """

    key: str
    row: CitationVerdict
    machine: CitationVerdict
    seen: int

    @property
    def is_open(self) -> bool:
        """Whether no judgement of a person holds."""
        return self.row.person is None

    @property
    def version(self) -> str:
        """The content of the source that it was judged on."""
        return version_of(self.machine)


@dataclass(frozen=True)
class Review:
    """The items of one revision of a draft.

    Args:
        name: path of the draft below drafts/.
        audit: with what people have decided.
        items: what needs eyes first; a judgement moves none, so that who looks knows the place.
        is_current: whether what is published now is what was judged.
        lost: numbers of the judgements made on sentences that the draft does not hold any more.
    """

    name: str
    draft: Draft
    audit: CitationAudit
    items: tuple[Item, ...]
    is_current: bool = True
    lost: tuple[int, ...] = ()

    @cached_property
    def _places(self) -> dict[str, int]:
        return {item.key: place for place, item in enumerate(self.items)}

    @cached_property
    def open_count(self) -> int:
        """How many are open."""
        return sum(item.is_open for item in self.items)

    def find(self, key: str) -> Item | None:
        """Return the item of a key, None where the draft has none (any more)."""
        place = self._places.get(key)
        return None if place is None else self.items[place]

    def beside(self, key: str, step: int, *, only_open: bool = False) -> Item | None:
        """Return the next item (`step` 1) or the one before (-1), None at the end.

        Args:
            only_open: pass over what was judged, and begin again at the other end.
        """
        place = self._places[key]
        if not only_open:
            there = place + step
            return self.items[there] if 0 <= there < len(self.items) else None
        count = len(self.items)
        turned = (self.items[(place + step * n) % count] for n in range(1, count))
        return next((item for item in turned if item.is_open), None)

    def first(self) -> Item | None:
        """Return the first open item, else the first of all; None where nothing is cited."""
        return next((item for item in self.items if item.is_open), None) or next(
            iter(self.items), None
        )

    def at(self, start: int, end: int) -> Item | None:
        """Return the first item of the sentence that stands at a span of the draft's text."""
        found = [
            item
            for item in self.items
            if item.row.sentence_start < end and start < item.row.sentence_end
        ]
        return min(found, key=lambda item: item.row.number, default=None)


def make_review(
    name: str,
    draft: Draft,
    audit: CitationAudit,
    judgements: Judgements,
    *,
    is_current: bool = True,
    before: Review | None = None,
) -> Review:
    """Return a draft's items.

    Args:
        audit: of this draft, joined with judgements or not.
        judgements: what people have decided so far.
        before: a review of the same audit with earlier judgements; items that nobody has judged
            since are taken from it.
    """
    known = before.items if before is not None else _machine_items(audit)
    lost = judgements.lost(draft.name, {citation_of(item.machine) for item in known})
    marks = tuple(one.number for one in lost)
    items = tuple(
        item
        if before is not None and before.lost == marks and item.seen == _last(item, judgements)
        else replace(
            item,
            row=join_judgement(item.machine, judgements, lost, draft),
            seen=_last(item, judgements),
        )
        for item in known
    )
    rows = tuple(sorted((item.row for item in items), key=lambda row: row.number))
    return Review(name, draft, replace(audit, rows=rows), items, is_current, marks)


def _machine_items(audit: CitationAudit) -> tuple[Item, ...]:
    """Return the items of an audit without judgements, what needs eyes first."""
    rows = without_judgements(audit.rows)
    items = [Item(key, row, row, 0) for key, row in zip(_keys(rows), rows, strict=True)]
    return tuple(sorted(items, key=lambda item: (urgency(item.machine), item.row.number)))


def _keys(rows: Sequence[CitationVerdict]) -> list[str]:
    seen: Counter[str] = Counter()
    keys = []
    for row in rows:
        key = hash_fields(citation_of(row))[:_KEY_DIGITS]
        seen[key] += 1
        keys.append(key if seen[key] == 1 else f"{key}-{seen[key]}")
    return keys


def _last(item: Item, judgements: Judgements) -> int:
    last = judgements.last.get(citation_of(item.machine))
    return last.number if last is not None else 0
