"""The entries of `.bib` files, and of the `.bbl` files that BibTeX and biber make of them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from rag_assets.auditing.references import Entry, read_doi

if TYPE_CHECKING:
    from pylatexenc.latex2text import LatexNodes2Text

# BibTeX and biblatex: https://ctan.org/pkg/biblatex, section "Database Guide".

_YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")
# What a part takes from the work that it is a part of, by the names of both.
_INHERITED = {"title": "booktitle"}
_NOT_INHERITED = frozenset({"subtitle", "doi", "pages", "ids", "crossref", "xref", "xdata"})


@dataclass(frozen=True, slots=True)
class BibliographyFile:
    """What a bibliography file holds.

    Args:
        warnings: sentences a person can act on.
    """

    entries: tuple[Entry, ...]
    warnings: tuple[str, ...] = ()


def bib_entries(text: str, file: str = "") -> BibliographyFile:
    """Return the entries of a `.bib` file.

    Args:
        text: of the file.
        file: its name, for the entries and for messages.
    """
    from bibtexparser import parse_string
    from bibtexparser.model import DuplicateBlockKeyBlock

    library = parse_string(text)
    by_key = {
        entry.key: {field.key.lower(): str(field.value) for field in entry.fields}
        for entry in library.entries
    }
    entries = tuple(
        _entry(entry.key, _with_inherited(by_key, entry.key), entry.start_line + 1, file)
        for entry in library.entries
        if entry.entry_type.lower() not in {"xdata", "control"}
    )
    warnings = []
    for block in library.failed_blocks:
        where = f"{file}, line {block.start_line + 1}"
        if isinstance(block, DuplicateBlockKeyBlock):
            warnings.append(f"{where}: the key {block.key} is used twice; the first entry counts.")
        else:
            warnings.append(f"{where}: this entry is not BibTeX and was left out.")
    return BibliographyFile(entries, tuple(warnings))


def _with_inherited(by_key: Mapping[str, Mapping[str, str]], key: str) -> dict[str, str]:
    fields = dict(by_key[key])
    for name in ("xdata", "crossref"):
        for parent in fields.get(name, "").split(","):
            given = by_key.get(parent.strip(), {})
            for field, value in given.items():
                named = _INHERITED.get(field, field) if name == "crossref" else field
                if field not in _NOT_INHERITED or name == "xdata":
                    fields.setdefault(named, value)
    return fields


def _entry(key: str, fields: Mapping[str, str], line: int, file: str) -> Entry:
    people = fields.get("author") or fields.get("editor") or fields.get("organization") or ""
    authors = tuple(_families(people))
    title = ": ".join(filter(None, (_said(fields.get(name)) for name in ("title", "subtitle"))))
    year = _YEAR.search(fields.get("year") or fields.get("date") or "")
    journal = _said(fields.get("journal") or fields.get("journaltitle") or fields.get("booktitle"))
    published = [
        journal, *(_said(fields.get(name)) for name in ("publisher", "institution", "school")),
        _said(fields.get("volume")), _said(fields.get("note")),
    ]  # fmt: skip
    pages = _said(fields.get("pages")).replace("–", "-")
    doi = read_doi(fields.get("doi") or fields.get("url") or "")
    shown_year = year.group() if year else ""
    printed = [", ".join(authors), shown_year, title, ", ".join(filter(None, published)), pages, doi]
    text = ". ".join(filter(None, printed))
    return Entry(text, key, authors, shown_year, title, doi, pages, line, file=file)


def _families(people: str) -> Iterator[str]:
    """Yield the family names of `A Lee and Chen, B and others`; braces hold one name together."""
    from bibtexparser.middlewares.names import (
        parse_single_name_into_parts,
        split_multiple_persons_names,
    )

    for name in split_multiple_persons_names(" ".join(people.split())):
        if name.lower() == "others":
            continue
        parts = parse_single_name_into_parts(name, strict=False)
        yield _said(" ".join([*parts.von, *parts.last]) or name)


def _said(value: str | None) -> str:
    """Return a field without the marks of LaTeX."""
    if not value:
        return ""
    return " ".join(_latex().latex_to_text(value).split())


@cache
def _latex() -> "LatexNodes2Text":
    from pylatexenc.latex2text import LatexNodes2Text

    return LatexNodes2Text(math_mode="text")


# https://ctan.org/pkg/biber: what it writes for biblatex to read.

_BIBER_ENTRY = re.compile(r"\\entry\{(?P<key>[^{}]*)\}\{[^{}]*\}(?P<body>.*?)\\endentry", re.DOTALL)
_BIBER_FIELD = re.compile(r"\\(?:field|strng)\{(?P<name>\w+)\}\{(?P<value>(?:[^{}]|\{[^{}]*\})*)\}")
_BIBER_VERB = re.compile(r"\\verb\{(?P<name>\w+)\}\s*\\verb (?P<value>[^\n]*)")
_BIBER_NAMES = re.compile(
    r"\\name\{(?P<role>author|editor)\}\{\d+\}\{[^{}]*\}\{(?P<names>.*?)\n\s*\}\s*\n", re.DOTALL
)
_BIBER_FAMILY = re.compile(r"family=\{((?:[^{}]|\{[^{}]*\})*)\}")


def bbl_entries(text: str, file: str = "") -> Sequence[Entry]:
    """Return the entries of a `.bbl` file that biber wrote; none of one by BibTeX.

    Args:
        file: its name, for the entries.
    """
    entries = []
    for match in _BIBER_ENTRY.finditer(text):
        found = [*_BIBER_FIELD.finditer(match["body"]), *_BIBER_VERB.finditer(match["body"])]
        fields = {one["name"]: one["value"] for one in found}
        names = {one["role"]: one["names"] for one in _BIBER_NAMES.finditer(match["body"])}
        people = _BIBER_FAMILY.findall(names.get("author") or names.get("editor") or "")
        fields["author"] = " and ".join(f"{{{family}}}" for family in people)
        line = text.count("\n", 0, match.start()) + 1
        entries.append(_entry(match["key"], fields, line, file))
    return entries
