"""The sources that a pack or an audit uses, for a reference manager."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rag_assets.evidence.pack import READABLE_SCHEMAS, pack_from_json
from rag_assets.law import LAW_NOUNS, NUMBER
from rag_assets.model import UsageError, code_span, drop_controls, escape_inline, escape_prose
from rag_assets.publishing import PersonName, endings, split_names
from rag_assets.publishing.catalogue import catalogue_name, open_catalogue, read_table
from rag_assets.storage import (
    current_folder,
    find_versions,
    read_json,
    read_pointer,
    rows_of,
    write_version,
)
from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    from pylatexenc.latexencode import UnicodeToLatexEncoder

# One cited document as a reference manager knows it.

Kind = Literal["article", "conference", "preprint", "statute", "webpage", "document"]

# DOIs that servers of preprints give: arXiv, bioRxiv and medRxiv, SSRN, Preprints.org.
_PREPRINT_DOI = re.compile(r"10\.(?:48550/|1101/\d|2139/ssrn|20944/)")
_DATE = re.compile(r"(?P<year>\d{4})(?:[-/.](?P<month>\d{1,2})(?:[-/.](?P<day>\d{1,2}))?)?(?!\d)")
# Locators in a statute begin with the article; in English a title must be that of a law as well,
# since a chapter may be called “Article 3”, too.
_IN_ARTICLE = re.compile(rf"第\s?{NUMBER}\s?条")
_IN_ENGLISH_ARTICLE = re.compile(r"(?:Article|Art\.|Section|Sec\.|§)\s*\d", re.IGNORECASE)
# Where only a preamble is used, the title says it. 算法 and 方法 are no laws.
_STATUTE_TITLE = re.compile(
    r"^中华人民共和国\S*(?:法|法典|条例|细则|办法|规定)(?:\s*[（(].*)?$|(?:法典|宪法|条例|实施细则|管理办法)"
    r"(?:\s*[（(].*)?$|\bAct(?:\s+of)?,?\s+\d{4}$|^(?:Regulation|Directive)\s+\((?:EU|EC|EEC)\)"
)
_PLACE = re.compile(
    r"\(sheets? (?P<sheet>\d+)|\bpp?\. (?P<page>\d+)(?!.*\(sheet)|\bcharacters (?P<character>\d+)"
)
# What a source has under the name of its column.
_PLAIN = ("title", "publisher", "url", "doi", "language")
# Likewise; a pack knows none of them.
_IMPRINT = ("journal", "volume", "issue", "page_range")
_PROCEEDINGS = re.compile(
    r"\b(?:proceedings|conference|symposium|workshop)\b|^Actes de |会议|大会", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Reference:
    """What is known of a cited document.

    Args:
        key: what a draft cites it by: its citation key, else its uid.
        cite_as: what names it between `{#` and `}`: its uid, with its namespace where another one
            has a citable document of that uid.
        kind: an article where it has a DOI or a journal, of a conference where that is one's
            proceedings; a statute where articles of it are used or its title
            is that of one; a web page where it has only an address; what the file does not say is
            not guessed.
        issued: year, month and day as far as known.
        accessed: likewise, when it was looked at.
        where: locators of the passages that are used, each once, in the order of their places.
        missing: what a reference list wants and nothing says, in words.
    """

    key: str
    namespace: str
    doc_uid: str
    cite_as: str
    kind: Kind
    title: str
    authors: tuple[PersonName, ...] = ()
    issued: tuple[int, ...] = ()
    accessed: tuple[int, ...] = ()
    publisher: str = ""
    url: str = ""
    doi: str = ""
    language: str = ""
    journal: str = ""
    volume: str = ""
    issue: str = ""
    page_range: str = ""
    where: tuple[str, ...] = ()
    missing: tuple[str, ...] = field(default=())


def make_reference(row: Mapping[str, Any], where: tuple[str, ...]) -> Reference:
    """Return the reference of a row of the published table `documents`, or of a pack's source.

    Args:
        row: with `namespace`, `doc_uid`, `cite_as`, `citation_key`, `title`, `authors`,
            `year`, dates, ….
        where: locators of the passages that are used.
    """
    plain = {name: _one_line(str(row[name] or "")) for name in _PLAIN}
    issued = read_date(str(row["published_date"] or "")) or (
        (int(row["year"]),) if row["year"] else ()
    )
    names = [name for printed in row["authors"] or () for name in split_names(_one_line(printed))]
    authors = tuple(name for name in names if name.inverted)
    imprint = {name: _one_line(str(row.get(name) or "")) for name in _IMPRINT}
    kind = _kind(plain["doi"], imprint["journal"], plain["url"], plain["title"], where)
    wanted = {"author": authors, "year": issued, "DOI or URL": plain["doi"] or plain["url"]}
    if kind == "statute":  # is cited by its title and year
        wanted = {"year": issued}
    return Reference(
        key=_one_line(row["citation_key"] or "") or row["doc_uid"],
        namespace=row["namespace"],
        doc_uid=row["doc_uid"],
        cite_as=row["cite_as"],
        kind=kind,
        title=plain.pop("title") or row["doc_uid"],
        authors=authors,
        issued=issued,
        accessed=read_date(str(row["accessed_at"] or "")),
        where=tuple(sorted(where, key=_place)),
        missing=tuple(name for name, value in wanted.items() if not value),
        **plain,
        **imprint,
    )


def _one_line(text: str) -> str:
    """Return a value as every format holds it: a line break would begin another field or record."""
    return " ".join(drop_controls(text).split())


def read_date(text: str) -> tuple[int, ...]:
    """Return year, month and day of a date as far as it names them; empty where it does not."""
    match = _DATE.match(text.strip())
    if match is None:
        return ()
    parts = [int(match["year"])]
    for name, most in (("month", 12), ("day", 31)):
        if not match[name] or not 1 <= int(match[name]) <= most:
            break
        parts.append(int(match[name]))
    return tuple(parts)


def _place(locator: str) -> tuple[int, int]:
    """Return page or first character of a locator, by which it is sorted; others come last."""
    match = _PLACE.search(locator)
    if match is None:
        return 1, 0
    return 0, int(match["sheet"] or match["page"] or match["character"])


def _kind(doi: str, journal: str, url: str, title: str, where: Sequence[str]) -> Kind:
    if _PROCEEDINGS.search(journal):
        return "conference"
    if journal:
        return "article"
    if doi:
        return "preprint" if _PREPRINT_DOI.match(doi.lower()) else "article"
    if _is_statute(title, where):
        return "statute"
    return "webpage" if url else "document"


def _is_statute(title: str, where: Sequence[str]) -> bool:
    if _STATUTE_TITLE.search(title) or any(map(_IN_ARTICLE.match, where)):
        return True
    is_law = not LAW_NOUNS.isdisjoint(re.findall(r"\w+", title.lower()))
    return is_law and any(map(_IN_ENGLISH_ARTICLE.match, where))


# Keys of references: what a draft cites by, each of one document only.


def with_distinct_keys(
    references: Sequence[Reference],
) -> tuple[tuple[Reference, ...], tuple[str, ...]]:
    """Return the references with a key each of its own, and what to know of those that shared one.

    Documents of one uid in several namespaces are told apart by the namespace; those that were
    given one citation key by a, b, c behind it. Capitals tell no keys apart: to BibTeX they are
    one.
    """
    taken = {one.key.casefold() for one in references}
    groups: dict[str, list[Reference]] = {}
    for one in references:
        groups.setdefault(one.key.casefold(), []).append(one)
    new: dict[int, str] = {}
    notes = []
    for group in groups.values():
        if len(group) == 1:
            continue
        if all(one.key == one.doc_uid for one in group):
            keys = [f"{one.namespace}-{one.doc_uid}" for one in group]
        else:
            keys = [_free(group[0].key, taken) for _ in group]
            notes.append(_told(group, keys))
        new |= {id(one): key for one, key in zip(group, keys, strict=True)}
    return tuple(replace(one, key=new.get(id(one), one.key)) for one in references), tuple(notes)


def _free(key: str, taken: set[str]) -> str:
    found = next(one for end in endings() if (one := f"{key}{end}").casefold() not in taken)
    taken.add(found.casefold())
    return found


def _told(group: Sequence[Reference], keys: Sequence[str]) -> str:
    pairs = ", ".join(
        f"`{one.namespace}:{one.doc_uid}` is `{key}` here"
        for one, key in zip(group, keys, strict=True)
    )
    return (
        f"`{group[0].key}` is the citation key of {len(group)} documents: {pairs}. A draft that "
        "cites it may mean either: give each its own with `rag meta set UID citation_key=…`."
    )


# References as CSL-JSON, BibTeX, RIS and Markdown, written by libraries.

_CSL_TYPES: dict[Kind, str] = {
    "article": "article-journal", "conference": "paper-conference", "preprint": "article",
    "statute": "legislation",
    "webpage": "webpage", "document": "document",
}  # fmt: skip
_BIBTEX_TYPES: dict[Kind, str] = {
    "article": "article", "conference": "inproceedings", "preprint": "misc", "statute": "misc",
    "webpage": "misc", "document": "misc",
}  # fmt: skip
_RIS_TYPES: dict[Kind, str] = {
    "article": "JOUR", "conference": "CPAPER", "preprint": "UNPB", "statute": "STAT",
    "webpage": "ELEC", "document": "GEN",
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
        "container-title": reference.journal,
        "volume": reference.volume,
        "issue": reference.issue,
        "page": reference.page_range,
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
        "booktitle" if reference.kind == "conference" else "journal": _CAPITALS.sub(
            r"{\g<0>}", encode(reference.journal)
        ),
        "volume": encode(reference.volume),
        "number": encode(reference.issue),
        "pages": reference.page_range.replace("-", "--"),
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
        "secondary_title" if reference.kind == "conference" else "journal_name": reference.journal,
        "volume": reference.volume,
        "number": reference.issue,
        "start_page": reference.page_range.partition("-")[0],
        "end_page": reference.page_range.partition("-")[2],
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
    yield f"# Sources used: {_line(title)}\n"
    for note in notes:
        yield f"- WARN: {escape_prose(note)}"
    if notes:
        yield ""
    for number, one in enumerate(references, start=1):
        year = str(one.issued[0]) if one.issued else "n.d."
        names = escape_inline("; ".join(name.inverted for name in one.authors))
        yield (
            f"{number}. {f'{names} ({year})' if names else f'({year})'}. *{_line(one.title)}*."
            + (f" {_line(_in_journal(one))}." if one.journal else "")
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
                "`<file>.meta.yaml` or with `rag meta set`, then `rag ingest`."
            )
    yield ""
    yield f"Sources used (doc_uid list): {', '.join(code_span(one.doc_uid) for one in references)}"


def _in_journal(one: Reference) -> str:
    """Return journal, volume, issue and pages as they are printed: `Medicine 100(5), e23878`."""
    issue = f"({one.issue})" if one.issue else ""
    place = f" {one.volume}{issue}" if one.volume else ""
    pages = one.page_range.replace("-", "–")
    return f"{one.journal}{place}" + (f", {pages}" if pages else "")


def _line(text: str) -> str:
    """Return what stands behind words of ours, on one line."""
    return escape_inline(text, opens=False)


# Which documents a pack or an audit uses, and their references written beside it.

Notify = Callable[[str], None]

# By the name that the command line uses: the suffix of the file.
FORMATS = {"markdown": ".md", "csl": ".json", "bibtex": ".bib", "ris": ".ris"}

# What an audit offers beside what the draft cites.
_NOT_USED = ("counter", "suggest", "nearest")

# (namespace, doc_uid); the namespace is empty where an audit does not say it.
DocumentKey = tuple[str, str]


@dataclass(frozen=True, slots=True)
class ExportedSources:
    """References and where they lie.

    Args:
        used_by: name of the pack or audit.
        files: by suffix.
        is_new: False where the same files stood there already.
        notes: sentences a person should know.
    """

    used_by: str
    references: tuple[Reference, ...]
    files: Mapping[str, Path]
    is_new: bool
    notes: tuple[str, ...]


def export_used_sources(
    workspace: Workspace,
    path: Path | None = None,
    *,
    formats: Sequence[str] = (),
    notify: Notify = lambda sentence: None,
) -> ExportedSources:
    """Write the references of the documents that a pack or an audit uses.

    Title, authors, year, DOI and the rest are those of today's publication, so that a sidecar or
    an override that was added since counts; for a document that is not published any more, those
    that the pack was made with.

    Args:
        workspace: that holds the publications.
        path: of a pack (any of its files) or of an audit's JSON; without, the latest pack.
        formats: names of `FORMATS`; without, all.
        notify: is told where another process is writing.

    Returns:
        Files `outputs/used_sources_v###.*`; where the last version holds the same, that one.

    Raises:
        UsageError: no pack; not a pack or audit; it uses nothing; a document that nothing knows.
        DamagedFileError: the file is not what was written.
    """
    data = _json_of(path) if path is not None else latest_pack(workspace)
    known, pairs = _used(read_json(data, "evidence pack or audit"), data)
    if not pairs:
        raise UsageError(f"{data}: it uses no source. Name another pack or audit, or ask again.")
    return export_references(
        workspace, data.stem, pairs, known=known, formats=formats, notify=notify
    )


def export_references(
    workspace: Workspace,
    used_by: str,
    pairs: Iterable[tuple[DocumentKey, str]],
    *,
    known: Mapping[DocumentKey, Mapping[str, Any]] | None = None,
    notes: Sequence[str] = (),
    formats: Sequence[str] = (),
    notify: Notify = lambda sentence: None,
) -> ExportedSources:
    """Write the references of documents, as `export_used_sources` does.

    Args:
        used_by: what uses them, for people.
        pairs: of a document and where it is used in it, in the order of the references; the place
            is empty where none is named.
        known: what is known of documents that are not published any more.
        notes: sentences a person should know, to which others are added.

    Raises:
        UsageError: a document that nothing knows.
    """
    used: dict[DocumentKey, tuple[str, ...]] = {}
    for key, locator in pairs:
        before = used.get(key, ())
        used[key] = before if not locator or locator in before else (*before, locator)
    rows, unpublished = _rows(workspace, known or {}, used, used_by)
    references, shared = with_distinct_keys(
        [make_reference(rows[key], where) for key, where in used.items()]
    )
    notes = (*notes, *unpublished, *shared)
    suffixes = [FORMATS[name] for name in formats or FORMATS]
    texts = {
        ".md": render_markdown(references, used_by, notes),
        ".json": render_csl(references),
        ".bib": render_bibtex(references),
        ".ris": render_ris(references),
    }
    texts = {suffix: texts[suffix] for suffix in suffixes}
    stored = _stored(workspace, texts)
    if stored is not None:
        return ExportedSources(used_by, references, stored, False, notes)
    written = write_version(
        workspace.outputs,
        "used_sources",
        texts,
        workspace.meta / "version_log.jsonl",
        workspace.locks / "outputs.lock",
        f"sources of {used_by}",
        notify,
    )
    return ExportedSources(used_by, references, written.files, True, notes)


def latest_pack(workspace: Workspace) -> Path:
    """Return the JSON file of the pack with the highest number.

    Raises:
        UsageError: there is none.
    """
    found = find_versions(workspace.outputs, "evidence_pack", ".json")
    if not found:
        raise UsageError(
            f"{workspace.outputs} holds no evidence pack. Make one with `rag query`, or name an "
            "audit's JSON."
        )
    return found[-1][1]


def _json_of(path: Path) -> Path:
    data = path.with_suffix(".json")
    if not data.is_file():
        found = f"{data.name} beside it is missing" if path.exists() else "there is no such file"
        raise UsageError(
            f"{path}: {found}. Name a draft (.md, .txt, .tex, .docx), or a pack or an audit below "
            "outputs/."
        )
    return data


def _used(
    loaded: Mapping[str, Any], data: Path
) -> tuple[dict[DocumentKey, Mapping[str, Any]], list[tuple[DocumentKey, str]]]:
    """Return what the file itself knows of documents, and those that it uses with locators."""
    schema = str(loaded.get("schema"))
    known: dict[DocumentKey, Mapping[str, Any]] = {}
    if schema in READABLE_SCHEMAS:
        pack = pack_from_json(loaded)
        known = {(one.namespace, one.doc_uid): asdict(one) for one in pack.sources}
        pairs = [((item.namespace, item.doc_uid), item.locator) for item in pack.items]
    elif schema.startswith("rag-assets/") and "audit" in schema:
        pairs = list(dict.fromkeys(_cited(loaded)))
    else:
        raise UsageError(
            f"{data}: neither an evidence pack of this version nor an audit (schema {schema}). "
            "Ask the question again, or audit the draft again."
        )
    return known, pairs


def _cited(value: Any, namespace: str = "") -> Iterator[tuple[DocumentKey, str]]:
    """Yield every document that an audit names, wherever it names it, unless it is an error."""
    if isinstance(value, Mapping):
        if value.get("status") == "ERROR":
            return
        namespace = str(value.get("namespace") or namespace)
        if value.get("doc_uid"):
            yield (namespace, str(value["doc_uid"])), str(value.get("locator") or "")
        for name, one in value.items():
            if not name.startswith(_NOT_USED):
                yield from _cited(one, namespace)
    elif isinstance(value, list):
        for one in value:
            yield from _cited(one, namespace)


def _rows(
    workspace: Workspace,
    known: Mapping[DocumentKey, Mapping[str, Any]],
    used: Mapping[DocumentKey, tuple[str, ...]],
    used_by: str,
) -> tuple[dict[DocumentKey, Mapping[str, Any]], tuple[str, ...]]:
    published = {
        (row["namespace"], row["doc_uid"]): row
        for name in workspace.namespace_names
        for row in _published(workspace, name, {uid for _, uid in used})
    }
    rows: dict[DocumentKey, Mapping[str, Any]] = {}
    notes = []
    for key in used:
        namespace, uid = key
        anywhere = [row for (_, one), row in published.items() if one == uid]
        if key in published:
            rows[key] = published[key]
        elif not namespace and len(anywhere) == 1:
            rows[key] = anywhere[0]
        elif key in known:
            rows[key] = known[key]
            notes.append(
                f"`{uid}` is not published in '{namespace}' any more: its reference is what the "
                "pack was made with."
            )
        else:
            raise UsageError(
                f"{used_by} uses '{uid}', which no current publication holds. `rag documents` "
                "lists what is there; `rag ingest` publishes what is in raw/."
            )
        homes = [row["namespace"] for row in anywhere if row["citable"]]
        own = rows[key]["namespace"]
        rows[key] = {**rows[key], "cite_as": f"{own}:{uid}" if set(homes) - {own} else uid}
    return rows, tuple(notes)


def _published(workspace: Workspace, name: str, uids: set[str]) -> list[dict[str, Any]]:
    folder = workspace.namespace(name).publications
    if read_pointer(folder) is None:
        return []
    found = current_folder(folder, name)
    with open_catalogue(found / catalogue_name(found.name)) as connection:
        rows = read_table(connection, "documents", "doc_uid", sorted(uids))
    return list(rows_of(rows))


def _stored(workspace: Workspace, texts: Mapping[str, str]) -> dict[str, Path] | None:
    """Return the files of the last version where they hold the same."""
    found = {s: find_versions(workspace.outputs, "used_sources", s) for s in texts}
    if not all(found.values()) or len({versions[-1][0] for versions in found.values()}) != 1:
        return None
    files = {suffix: versions[-1][1] for suffix, versions in found.items()}
    same = all(files[s].read_text(encoding="utf-8") == text for s, text in texts.items())
    return files if same else None
