"""What a search is confined to, from Python or from the command line."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import pyarrow as pa
from rapidfuzz import process

from rag_assets.model import SectionCategory, UsageError
from rag_assets.publishing import quote_text

# Chunks that state nothing: headings alone, told with the text below them, and the labels inside
# a diagram.
WORDLESS_KINDS = ("heading", "drawing")
# Nor is the title of somebody else's work evidence for what its citing document says.
NOT_EVIDENCE = (*WORDLESS_KINDS, "reference")

# The subtype of passages of a bibliography, whatever place their document lies in (spec 000).
REFERENCES = "references"

_CATEGORIES: Mapping[str, int] = {item.name.lower(): int(item) for item in SectionCategory}
_FORM = re.compile(r"\s*(?P<name>[\w-]+)\s*(?P<sign>>=|<=|!=|=)\s*(?P<value>.*?)\s*", re.DOTALL)
_RANGE = re.compile(r"(?P<low>\d{1,4})?\s*\.\.\s*(?P<high>\d{1,4})?")
_FORMS = (
    "year>=2020, year=2019..2021, source_type=evidence, source_subtype=slides, doc_uid=a,b, "
    "doc_uid!=c, section_category=method,3, tag=x or language=zh"
)


@dataclass(frozen=True, slots=True)
class SearchFilters:
    """What a search is confined to; applied before it, so that it still fills its pool.

    Of what names several values each is one of the allowed; None allows all, an empty tuple
    nothing. A chunk about which the value is not known (no year, no language) does not pass.

    Args:
        citable_only: only chunks that may be cited as evidence.
        doc_uids: only chunks of these documents.
        without: no chunks of these documents: a uid of any namespace, or `namespace:uid`.
        without_wordings: likewise, of documents of laws in whose place another wording is in force.
        with_references: also entries of bibliographies; so too where `source_subtypes` names
            references. What says nothing by itself is never found (`WORDLESS_KINDS`).
        years: first and last year of publication, both included; None for an open end.
        source_types: evidence, instruction, …
        source_subtypes: guidance, slides, references, …
        section_categories: 0 abstract to 6 related work (spec 002).
        standing_in: `chunk_key` of chunks that pass whatever their section is: what stands for an
            abstract in a paper that has none. Only beside `section_categories`.
        tags: documents that carry at least one of these.
        languages: codes of the documents' languages.
        passage_languages: zh, en or other, by the chunks' own script.
    """

    citable_only: bool = False
    doc_uids: tuple[str, ...] | None = None
    without: tuple[str, ...] = ()
    without_wordings: tuple[str, ...] = ()
    with_references: bool = False
    years: tuple[int | None, int | None] | None = None
    source_types: tuple[str, ...] | None = None
    source_subtypes: tuple[str, ...] | None = None
    section_categories: tuple[int, ...] | None = None
    standing_in: tuple[str, ...] = ()
    tags: tuple[str, ...] | None = None
    languages: tuple[str, ...] | None = None
    passage_languages: tuple[str, ...] | None = None

    @property
    def finds_references(self) -> bool:
        """Whether entries of bibliographies pass."""
        return self.with_references or REFERENCES in (self.source_subtypes or ())

    @property
    def excludes_everything(self) -> bool:
        """Whether no row can pass."""
        low, high = self.years or (None, None)
        is_empty_range = low is not None and high is not None and low > high
        return is_empty_range or any(getattr(self, name) == () for name in _LISTS)

    def condition(self) -> str:
        """Return the SQL condition on the search table's columns."""
        wordless = ", ".join(map(quote_text, WORDLESS_KINDS))
        parts = [f"(kind IS NULL OR kind NOT IN ({wordless}))"]
        if not self.finds_references:
            parts.append(f"(section_subtype IS NULL OR section_subtype <> '{REFERENCES}')")
        if self.citable_only:
            parts.append("citable = true")
        parts += map(_is_other, sorted(self.without))
        parts += _are_other(self.without_wordings)
        low, high = self.years or (None, None)
        if low is not None:
            parts.append(f"year >= {int(low)}")
        if high is not None:
            parts.append(f"year <= {int(high)}")
        for name, column in _LISTS.items():
            values = getattr(self, name)
            if not values or name == "tags":
                continue
            literals = sorted({_literal(value) for value in values})
            condition = f"{column} IN ({', '.join(literals)})"
            if name == "section_categories" and self.standing_in:
                keys = ", ".join(sorted(map(quote_text, self.standing_in)))
                condition = f"({condition} OR chunk_key IN ({keys}))"
            parts.append(condition)
        if self.tags:
            wanted = ", ".join(sorted({quote_text(tag) for tag in self.tags}))
            parts.append(f"array_has_any(tags, [{wanted}])")
        return " AND ".join(parts)

    def with_filter(self, text: str) -> "SearchFilters":
        """Return these filters narrowed by one condition as the command line writes it.

        Args:
            text: as `parse_filter` takes it.

        Raises:
            UsageError: `text` is no condition, or together with these filters nothing can pass.
        """
        added = parse_filter(text)
        changes: dict[str, Any] = {}
        if added.without:
            changes["without"] = tuple(dict.fromkeys((*self.without, *added.without)))
        if added.years is not None:
            changes["years"] = _common_range(self.years, added.years)
        for name in _LISTS:
            mine, other = getattr(self, name), getattr(added, name)
            if other is None:
                continue
            if mine is None:
                changes[name] = other
            elif name == "tags":
                raise UsageError(
                    f"filter '{text}': tags are asked for already ({', '.join(mine)}). One filter "
                    f"names all that may be carried: tag={','.join((*mine, *other))}"
                )
            else:
                changes[name] = tuple(value for value in mine if value in other)
        narrowed = replace(self, **changes)
        if narrowed.excludes_everything and not self.excludes_everything:
            raise UsageError(
                f"filter '{text}': together with the other filters nothing can pass. Write "
                "alternative values in one filter: doc_uid=a,b"
            )
        return narrowed


# Fields that name allowed values, and the column that each looks at.
_LISTS: Mapping[str, str] = {
    "doc_uids": "doc_uid",
    "source_types": "source_type",
    "source_subtypes": "source_subtype",
    "section_categories": "section_category",
    "tags": "tags",
    "languages": "language",
    "passage_languages": "passage_language",
}
EVERYTHING = SearchFilters()


def parse_filter(text: str) -> SearchFilters:
    """Return the one condition that a command line's `--filter` states.

    Args:
        text: `year>=2020`, `year<=2020`, `year=2020`, `year=2019..2021` (either end may be left
            out), `doc_uid!=` and documents that are left out, or a name of `doc_uid source_type
            source_subtype section_category tag language`, `=` and values divided by commas. A
            section category is a number or a name of spec 002 (`method`, `related_work`).

    Raises:
        UsageError: the form or the name is unknown, or a value is none of the possible ones.
    """
    match = _FORM.fullmatch(text)
    if match is None:
        raise UsageError(f"filter '{text}': must be a name, a sign and values, such as {_FORMS}")
    name, sign, value = match["name"].lower().replace("-", "_"), match["sign"], match["value"]
    if name not in _PARSERS:
        nearest = process.extractOne(name, list(_PARSERS), score_cutoff=50)
        hint = f" Did you mean '{nearest[0]}'?" if nearest else ""
        raise UsageError(f"filter '{text}': '{name}' is no filter.{hint} Filters are {_FORMS}")
    if not value:
        raise UsageError(f"filter '{text}': a value must follow '{sign}', such as {_FORMS}")
    if sign == "!=":
        if name != "doc_uid":
            raise UsageError(f"filter '{text}': only documents are left out; write doc_uid!=…")
        return SearchFilters(without=_values(text, value))
    if sign != "=" and name != "year":
        raise UsageError(f"filter '{text}': only years are compared; write {name}={value}")
    return _PARSERS[name](text, sign, value)


def _years(text: str, sign: str, value: str) -> SearchFilters:
    wrong = UsageError(
        f"filter '{text}': a year must be a number of up to four digits or a range, such as "
        "year>=2020, year=2020 or year=2019..2021"
    )
    if value.isdecimal() and len(value) <= 4:
        year = int(value)
        return SearchFilters(years=(None if sign == "<=" else year, None if sign == ">=" else year))
    match = _RANGE.fullmatch(value)
    if sign != "=" or match is None or not (match["low"] or match["high"]):
        raise wrong
    low, high = (int(end) if end else None for end in (match["low"], match["high"]))
    if low is not None and high is not None and low > high:
        raise UsageError(f"filter '{text}': the first year must not be after the last")
    return SearchFilters(years=(low, high))


def _section_categories(text: str, _: str, value: str) -> SearchFilters:
    found = []
    for item in _values(text, value):
        name = item.lower().replace(" ", "_").replace("-", "_")
        number = int(name) if name.isdecimal() else _CATEGORIES.get(name)
        if number is None or number not in _CATEGORIES.values():
            nearest = process.extractOne(name, list(_CATEGORIES), score_cutoff=50)
            hint = f"; did you mean '{nearest[0]}'?" if nearest else ""
            names = ", ".join(f"{number} {name}" for name, number in _CATEGORIES.items())
            raise UsageError(f"filter '{text}': '{item}' is no section category{hint} ({names})")
        found.append(number)
    return SearchFilters(section_categories=tuple(dict.fromkeys(found)))


def _names_of(field: str) -> Callable[[str, str, str], SearchFilters]:
    def parse(text: str, _: str, value: str) -> SearchFilters:
        named: dict[str, Any] = {field: _values(text, value)}
        return replace(EVERYTHING, **named)

    return parse


def _values(text: str, value: str) -> tuple[str, ...]:
    values = tuple(dict.fromkeys(item.strip() for item in re.split("[,，]", value)))
    if "" in values:
        raise UsageError(f"filter '{text}': a value is missing beside a comma")
    return values


_PARSERS: Mapping[str, Callable[[str, str, str], SearchFilters]] = {
    "year": _years,
    "section_category": _section_categories,
    "doc_uid": _names_of("doc_uids"),
    "source_type": _names_of("source_types"),
    "source_subtype": _names_of("source_subtypes"),
    "tag": _names_of("tags"),
    "language": _names_of("languages"),
}


def _common_range(
    mine: tuple[int | None, int | None] | None, other: tuple[int | None, int | None]
) -> tuple[int | None, int | None]:
    if mine is None:
        return other
    lows = [low for low in (mine[0], other[0]) if low is not None]
    highs = [high for high in (mine[1], other[1]) if high is not None]
    return max(lows, default=None), min(highs, default=None)


def _is_other(name: str) -> str:
    """Return the condition that a row is of another document than a uid or `namespace:uid`."""
    namespace, _, uid = name.rpartition(":")
    condition = f"doc_uid <> {quote_text(uid)}"
    return f"({condition} OR namespace <> {quote_text(namespace)})" if namespace else condition


def _are_other(names: Sequence[str]) -> Iterator[str]:
    """Yield for each namespace that a row is of none of some documents, `namespace:uid`."""
    for namespace, own in groupby(sorted(names), key=lambda name: name.rpartition(":")[0]):
        uids = ", ".join(quote_text(name.rpartition(":")[2]) for name in own)
        yield f"NOT (namespace = {quote_text(namespace)} AND doc_uid IN ({uids}))"


def _literal(value: str | int) -> str:
    return quote_text(value) if isinstance(value, str) else str(int(value))


# Whether the values that a filter names are ones that a document has: a typo finds nothing.


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
    filters: SearchFilters, documents: Sequence[pa.Table], declared: Mapping[str, Iterable[str]]
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
    filters: SearchFilters, documents: Sequence[pa.Table], declared: Mapping[str, Iterable[str]]
) -> Iterator[str]:
    for one in _NAMED:
        wanted = getattr(filters, one.field)
        if not wanted:
            continue
        known = {value for table in documents for value in _held_values(table, one.column)}
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


def _held_values(table: pa.Table, column: str) -> Iterator[str]:
    for value in table.column(column).to_pylist():
        if isinstance(value, list):
            yield from value
        elif value:
            yield value
