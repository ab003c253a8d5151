"""Reference lists: their entries, read from a draft or a bibliography file."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rag_assets.auditing.citation_forms import WrittenCitation

# One entry of a list of references.

_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)")
_DOI = re.compile(r"10\.\d{4,9}/[^\s\"<>{}|\\^`\[\]]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a reference list.

    Args:
        text: as printed, or composed from the fields of a bibliography file.
        label: what the draft cites it by: a number (`3`), a BibTeX key; empty in a list that is
            cited by author and year.
        authors: family names or organisations in their order; editors where there are no authors.
        year: with the letter that tells two works of a year apart (`2021a`); empty where unknown.
        title: empty where it could not be told from the rest of the text.
        doi: lower case, without `https://doi.org/`; empty where unknown.
        pages: the range of pages, as printed (`55-65`); empty where unknown.
        line: of the draft or the file, from 1; 0 where it has none. `file` names another file.
        start: offset in the draft's text, code points; -1 for an entry from a file. `end` its end.
    """

    text: str
    label: str = ""
    authors: tuple[str, ...] = ()
    year: str = ""
    title: str = ""
    doi: str = ""
    pages: str = ""
    line: int = 0
    start: int = -1
    end: int = -1
    file: str = ""


def csl_entry(item: Mapping[str, Any], label: str, *, file: str = "") -> Entry:
    """Return the entry of a CSL-JSON item, as Zotero and Mendeley store it in Word fields too.

    Args:
        item: https://docs.citationstyles.org, "CSL-JSON".
        label: what the draft cites it by.
        file: that it was read from.
    """
    people = item.get("author") or item.get("editor") or ()
    authors = tuple(filter(None, map(_csl_family, people)))
    date = item.get("issued") or {}
    parts = (date.get("date-parts") or [[]])[0]
    written = str(parts[0]) if parts else str(date.get("raw") or date.get("literal") or "")
    year = found[0] if (found := _YEAR.findall(written)) else ""
    title = " ".join(re.sub(r"</?\w+[^<>]*>", "", str(item.get("title") or "")).split())
    container = str(item.get("container-title") or "")
    text = ". ".join(filter(None, [", ".join(authors), year, title, container]))
    doi = read_doi(str(item.get("DOI") or ""))
    return Entry(text, label, authors, year, title, doi, str(item.get("page") or ""), file=file)


def _csl_family(person: Mapping[str, Any]) -> str:
    particle = str(person.get("non-dropping-particle") or "")
    family = str(person.get("family") or person.get("literal") or "")
    return f"{particle} {family}".strip()


def read_doi(text: str) -> str:
    """Return the first DOI of a text in lower case, empty where there is none."""
    match = _DOI.search(unicodedata.normalize("NFKC", text))
    return match.group().rstrip(".,;:)").lower() if match else ""


# What a reader of LaTeX or Word hands on.


@dataclass(frozen=True, slots=True)
class DraftSource:
    """A draft that is not written in Markdown, as Markdown.

    Args:
        text: Markdown.
        written: citations that the format marks (fields of Word), by their offsets in `text`.
        entries: references that the file carries beside its text: fields, `.bib` files, a LaTeX
            `thebibliography`.
        lines: (offset in `text`, file, line from 1) wherever the place in the source changes,
            ascending; empty where lines are those of `text`.
        digest: SHA-256 of everything that was read, the draft and what it includes.
        warnings: sentences a person can act on.
    """

    text: str
    digest: str
    written: tuple[WrittenCitation, ...] = ()
    entries: tuple[Entry, ...] = ()
    lines: tuple[tuple[int, str, int], ...] = ()
    warnings: tuple[str, ...] = ()
