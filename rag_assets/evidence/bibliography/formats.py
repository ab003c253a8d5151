"""References as CSL-JSON, BibTeX, RIS and Markdown, written by libraries."""

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any  # Any: CSL JSON, entries of bibtexparser

from rag_assets.evidence.bibliography.names import PersonName
from rag_assets.evidence.bibliography.reference import Kind, Reference
from rag_assets.model import code_span, escape_inline, escape_prose

if TYPE_CHECKING:
    from pylatexenc.latexencode import UnicodeToLatexEncoder

_CSL_TYPES: dict[Kind, str] = {
    "article": "article-journal", "preprint": "article", "statute": "legislation",
    "webpage": "webpage", "document": "document",
}  # fmt: skip
_BIBTEX_TYPES: dict[Kind, str] = {
    "article": "article", "preprint": "misc", "statute": "misc", "webpage": "misc",
    "document": "misc",
}  # fmt: skip
_RIS_TYPES: dict[Kind, str] = {
    "article": "JOUR", "preprint": "UNPB", "statute": "STAT", "webpage": "ELEC",
    "document": "GEN",
}  # fmt: skip
# Words whose capitals a style must not lower: COVID-19, SSTables, mRNA.
_CAPITALS = re.compile(r"(?<![\\\w{])[A-Za-z]*(?:[a-z0-9][A-Z]|[A-Z]{2})[\w-]*(?![\w}])")
_UNSAFE_IN_BIBTEX = str.maketrans({"{": "%7B", "}": "%7D", "\\": "%5C", " ": "%20"})
# A key may hold any letter, but not what ends it.
_UNSAFE_IN_KEY = re.compile(r"[\s,{}%#~@\\\"'=()]+")


def render_csl(references: Sequence[Reference]) -> str:
    """Return CSL-JSON, which Zotero, Pandoc and citeproc read."""
    return json.dumps([_csl(one) for one in references], indent=1, ensure_ascii=False) + "\n"


def _csl(reference: Reference) -> dict[str, Any]:
    values: dict[str, Any] = {
        "id": reference.key,
        "type": _CSL_TYPES[reference.kind],
        "title": reference.title,
        "author": [_csl_name(name) for name in reference.authors],
        "issued": {"date-parts": [list(reference.issued)]} if reference.issued else None,
        "publisher": reference.publisher,
        "DOI": reference.doi,
        "URL": reference.url,
        "accessed": {"date-parts": [list(reference.accessed)]} if reference.accessed else None,
        "language": reference.language,
    }
    return {name: value for name, value in values.items() if value}


def _csl_name(name: PersonName) -> dict[str, str]:
    parts = {
        "literal": name.literal,
        "family": name.family,
        "given": name.given,
        "non-dropping-particle": name.particle,
        "suffix": name.suffix,
    }
    return {part: value for part, value in parts.items() if value}


def render_bibtex(references: Sequence[Reference]) -> str:
    """Return BibTeX: characters of TeX escaped, capitals inside words protected.

    DOI and URL are left as they are: BibTeX styles and biblatex take them verbatim.
    """
    from bibtexparser.entrypoint import write_string
    from bibtexparser.library import Library
    from bibtexparser.middlewares import MergeCoAuthors, MergeNameParts

    library = Library([_bibtex(one) for one in references])
    return write_string(library, prepend_middleware=[MergeNameParts("last"), MergeCoAuthors()])


def _bibtex(reference: Reference) -> Any:
    from bibtexparser.model import Entry, Field

    encode = _encoder().unicode_to_latex
    month = f"{reference.issued[1]:02d}" if len(reference.issued) > 1 else ""
    values: dict[str, Any] = {
        "author": [_bibtex_name(name) for name in reference.authors],
        "title": _CAPITALS.sub(r"{\g<0>}", encode(reference.title)),
        "year": str(reference.issued[0]) if reference.issued else "",
        "month": month,
        # BibTeX styles know no statutes; this is printed by all of them.
        "howpublished": _called(reference) if reference.kind == "statute" else "",
        "publisher": encode(reference.publisher),
        "doi": reference.doi.translate(_UNSAFE_IN_BIBTEX),
        "url": reference.url.translate(_UNSAFE_IN_BIBTEX),
        "urldate": _date(reference.accessed, "-"),
        "langid": {"zh": "chinese", "en": "english"}.get(reference.language[:2], ""),
    }
    fields = [Field(name, value) for name, value in values.items() if value]
    return Entry(_BIBTEX_TYPES[reference.kind], _UNSAFE_IN_KEY.sub("-", reference.key), fields)


def _called(statute: Reference) -> str:
    return "法律法规" if statute.language.startswith("zh") else "Statute"


def _bibtex_name(name: PersonName) -> Any:
    from bibtexparser.middlewares import NameParts

    encode = _encoder().unicode_to_latex
    if name.literal:
        return NameParts(last=[f"{{{encode(name.literal)}}}"])
    if name.is_chinese:
        # In one piece: styles would print given name and family name with a blank between.
        return NameParts(last=[name.written])
    parts = {"first": name.given, "von": name.particle, "last": name.family, "jr": name.suffix}
    return NameParts(**{part: [encode(text)] if text else [] for part, text in parts.items()})


@cache
def _encoder() -> "UnicodeToLatexEncoder":
    from pylatexenc.latexencode import (
        RULE_DICT,
        UnicodeToLatexConversionRule,
        UnicodeToLatexEncoder,
    )

    # BibTeX counts braces before TeX sees them, those behind a backslash too.
    braces = {ord("{"): r"\textbraceleft", ord("}"): r"\textbraceright"}
    # Chinese stays as it is: no TeX has commands for it, and those that set it read UTF-8.
    return UnicodeToLatexEncoder(
        conversion_rules=[UnicodeToLatexConversionRule(RULE_DICT, braces), "defaults"],
        unknown_char_policy="keep",
        unknown_char_warning=False,
        replacement_latex_protection="braces-all",
    )


def render_ris(references: Sequence[Reference]) -> str:
    """Return RIS, which every reference manager imports."""
    import rispy

    class Writer(rispy.RisWriter):  # type: ignore[misc]
        def set_header(self, count: int) -> str:  # noqa: ARG002 - the library's signature
            return ""  # the number that it writes before an entry is not of the format

    text: str = rispy.dumps([_ris(one) for one in references], implementation=Writer)
    return text


def _ris(reference: Reference) -> dict[str, Any]:
    values: dict[str, Any] = {
        "type_of_reference": _RIS_TYPES[reference.kind],
        "id": reference.key,
        "title": reference.title,
        "authors": [name.inverted for name in reference.authors],
        "year": str(reference.issued[0]) if reference.issued else "",
        "date": _ris_date(reference.issued) if len(reference.issued) > 1 else "",
        "publisher": reference.publisher,
        "doi": reference.doi,
        "urls": [reference.url] if reference.url else [],
        "access_date": _ris_date(reference.accessed) if reference.accessed else "",
        "language": reference.language,
    }
    return {name: value for name, value in values.items() if value}


def _ris_date(parts: Sequence[int]) -> str:
    """Return `YYYY/MM/DD/`, parts that are not known left empty."""
    return _date(parts, "/") + "/" * (4 - len(parts))


def _date(parts: Sequence[int], between: str) -> str:
    return between.join(
        f"{part:04d}" if place == 0 else f"{part:02d}" for place, part in enumerate(parts)
    )


def render_markdown(references: Sequence[Reference], title: str, notes: Sequence[str]) -> str:
    """Return the list for a reader: who, when, what, where it is used, and what is missing.

    Args:
        references: in their order.
        title: of what they are used by.
        notes: sentences that a person should know.
    """
    return "\n".join([*_markdown(references, title, notes)]).rstrip("\n") + "\n"


def _markdown(references: Sequence[Reference], title: str, notes: Sequence[str]) -> Iterator[str]:
    yield f"# Sources used: {_line(title)}"
    yield ""
    for note in notes:
        yield f"- WARN: {escape_prose(note)}"
    if notes:
        yield ""
    for number, one in enumerate(references, start=1):
        year = str(one.issued[0]) if one.issued else "n.d."
        names = escape_inline("; ".join(name.inverted for name in one.authors))
        yield (
            f"{number}. {f'{names} ({year})' if names else f'({year})'}. *{_line(one.title)}*."
            + (f" {_line(one.publisher)}." if one.publisher else "")
        )
        if one.doi or one.url:
            yield f"   {escape_inline(f'https://doi.org/{one.doi}' if one.doi else one.url)}"
        cite = code_span(f"{{#{one.cite_as}}}")
        yield f"   - cite as {cite}, key {code_span(one.key)}"
        if one.accessed:
            yield f"   - looked at on {_date(one.accessed, '-')}"
        if one.where:
            yield f"   - used: {_line(', '.join(one.where))}"
        if one.missing:
            yield (
                f"   - not found in the document: {', '.join(one.missing)}. State it in "
                "`<file>.meta.yaml` or with `rag meta set`, then `rag index`."
            )
    yield ""
    yield f"Sources used (doc_uid list): {', '.join(code_span(one.doc_uid) for one in references)}"


def _line(text: str) -> str:
    """Return what stands behind words of ours, on one line."""
    return escape_inline(text, opens=False)
