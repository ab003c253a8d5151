"""Whether the values that a filter names are ones that a document has: a typo finds nothing."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from rapidfuzz import process

from rag_assets.model import UsageError
from rag_assets.retrieval.filters import SearchFilters

# From here a name is taken for a typo of another, on rapidfuzz's scale to 100.
_ALIKE = 60
_MOST_SHOWN = 8


@dataclass(frozen=True, slots=True)
class _Named:
    """A field whose values a person writes, and the column of `documents` that has them.

    Args:
        is_closed: the settings' places decide its values, so that another one is an error.
    """

    field: str
    name: str
    column: str
    is_closed: bool = False


_NAMED = (
    _Named("source_types", "source_type", "source_type", is_closed=True),
    _Named("source_subtypes", "source_subtype", "source_subtype", is_closed=True),
    _Named("doc_uids", "doc_uid", "doc_uid"),
    _Named("tags", "tag", "tags"),
    _Named("languages", "language", "language"),
)


def check_filter_values(
    filters: SearchFilters,
    documents: Sequence[pa.Table],
    declared: Mapping[str, Iterable[str]],
) -> list[str]:
    """Return a sentence for each value of a filter that no document has.

    Args:
        filters: of a search.
        documents: the published tables `documents` that are searched.
        declared: by filter, values that the settings know, whether a document has them or not.

    Raises:
        UsageError: a source type or subtype that neither a document nor the settings know.
    """
    return [*_unknown(filters, documents, declared)]


def _unknown(
    filters: SearchFilters,
    documents: Sequence[pa.Table],
    declared: Mapping[str, Iterable[str]],
) -> Iterator[str]:
    for one in _NAMED:
        wanted = getattr(filters, one.field)
        if not wanted:
            continue
        known = {value for table in documents for value in _values(table, one.column)}
        known.update(declared.get(one.name, ()))
        for value in wanted:
            if value in known:
                continue
            told, hint = f"filter '{one.name}={value}'", _hint(value, known)
            if one.is_closed:
                raise UsageError(f"{told}: there is no such {one.name}. {hint}")
            yield f"{told}: no document has it. {hint}"


def _hint(value: str, known: Iterable[str]) -> str:
    names = sorted(known)
    if not names:
        return "No document has any."
    alike = [name for name, _, _ in process.extract(value, names, limit=3, score_cutoff=_ALIKE)]
    meant = f"Did you mean {' or '.join(repr(name) for name in alike)}? " if alike else ""
    if len(names) > _MOST_SHOWN:
        return meant or f"There are {len(names)}, such as {', '.join(names[:_MOST_SHOWN])}."
    return f"{meant}There {'is' if len(names) == 1 else 'are'} {', '.join(names)}."


def _values(table: pa.Table, column: str) -> Iterator[str]:
    for value in table.column(column).to_pylist():
        if isinstance(value, list):
            yield from value
        elif value:
            yield value
