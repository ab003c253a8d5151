"""Many small records of one kind, held by field in arrays: a tenth of what objects need."""

from array import array
from collections.abc import Callable, Iterable, Iterator, MutableSequence, Sequence
from typing import Any, Generic, TypeVar, overload  # Any: fields of any record

Record = TypeVar("Record")


class _Words:
    """A field of which few values are different: each stands once, and a byte for each record."""

    def __init__(self) -> None:
        self._codes = array("B")
        self._words: list[Any] = []
        self._code_of: dict[Any, int] = {}

    def append(self, value: Any) -> None:
        code = self._code_of.setdefault(value, len(self._words))
        self._codes.append(code)  # OverflowError from 256 different ones on
        if code == len(self._words):
            self._words.append(value)

    def __getitem__(self, index: int) -> Any:
        return self._words[self._codes[index]]

    def __len__(self) -> int:
        return len(self._codes)


class _Seldom:
    """A field that most records have not: None but where it was given."""

    def __init__(self) -> None:
        self._given: dict[int, Any] = {}
        self._length = 0

    def append(self, value: Any) -> None:
        if value is not None:
            self._given[self._length] = value
        self._length += 1

    def __getitem__(self, index: int) -> Any:
        return self._given.get(index)

    def __len__(self) -> int:
        return self._length


_KINDS: dict[str, Callable[[], Any]] = {"word": _Words, "seldom": _Seldom}


class Columns(Sequence[Record], Generic[Record]):
    """Records in the order in which they were added; each is made when it is asked for.

    Equal to any sequence of equal records. A slice is a list of records.

    Args:
        make: builds a record of its fields, in order.
        fields: name → what it holds: the type code of an array (`q` whole numbers, `d` floats, `b`
            yes and no), `word` (at most 256 different values) or `seldom` (mostly None).
    """

    def __init__(self, make: Callable[..., Record], fields: dict[str, str]) -> None:
        self._make = make
        self._fields: dict[str, Any] = {
            name: _KINDS[kind]() if kind in _KINDS else array(kind) for name, kind in fields.items()
        }
        self._columns: list[MutableSequence[Any]] = list(self._fields.values())

    def add(self, *values: Any) -> None:
        """Append a record, given by its fields."""
        for column, value in zip(self._columns, values, strict=True):
            column.append(value)

    def column(self, name: str) -> Sequence[Any]:
        """Return one field of all records, to be read and searched, not changed."""
        found: Sequence[Any] = self._fields[name]
        return found

    def values(self, name: str, some: slice) -> list[Any]:
        """Return one field of some records."""
        column = self._fields[name]
        return [column[place] for place in range(*some.indices(len(self)))]

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self._columns[0])

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> list[Record]: ...
    def __getitem__(self, index: int | slice) -> Record | list[Record]:
        """Return one record, or a list of some."""
        if isinstance(index, slice):
            return [self._at(place) for place in range(*index.indices(len(self)))]
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(f"no record {index} of {len(self)}")
        return self._at(place)

    def _at(self, place: int) -> Record:
        return self._make(*[column[place] for column in self._columns])

    def __iter__(self) -> Iterator[Record]:
        """Yield the records in order."""
        return map(self._at, range(len(self)))

    def __eq__(self, other: object) -> bool:
        """Say whether another sequence has equal records."""
        if not isinstance(other, Sequence) or len(other) != len(self):
            return False
        return all(own == its for own, its in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]


SPAN_FIELDS = {"start": "q", "end": "q"}


def spans(pairs: Iterable[tuple[int, int]] = ()) -> Columns[tuple[int, int]]:
    """Return (start, end) pairs as columns."""
    found: Columns[tuple[int, int]] = Columns(_pair, SPAN_FIELDS)
    for start, end in pairs:
        found.add(start, end)
    return found


def _pair(start: int, end: int) -> tuple[int, int]:
    return start, end
