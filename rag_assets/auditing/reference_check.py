"""What is wrong with a reference list: entries without a document, doubles, other years, retracted.

Nothing leaves this machine; `online.py` asks services where the user wants that.
"""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from rapidfuzz import fuzz

from rag_assets.auditing.citation_forms import Citation, read_citations, read_hint
from rag_assets.auditing.draft import Draft, DraftSentence, files_of, place_in, read_draft
from rag_assets.auditing.library import (
    CitedDocumentRef,
    FaultyCitation,
    Library,
    References,
    is_number,
    look_up,
    resolve_citation,
)
from rag_assets.auditing.pairing import FIRST_PAGE, Known, Pairing, is_nameless, is_same_work
from rag_assets.auditing.published import open_published
from rag_assets.auditing.references import Entry, family_name, fold, read_doi, repeated_keys
from rag_assets.auditing.settling import Settlement, append_settlement
from rag_assets.evidence.bibliography import split_names
from rag_assets.model import (
    HAN,
    PublicationError,
    UsageError,
    count_of,
    describe_standing,
    standing_of_title,
    with_standing,
)
from rag_assets.retrieval import Asked, workspace_of
from rag_assets.storage import Notify
from rag_assets.workspace import Workspace

# What was found.

FindingCode = Literal[
    "retracted", "no_entry", "several_entries", "unsure", "unpaired",
    "concern", "corrected", "reinstated", "doi_of_another", "other_doi", "other_year",
    "other_title", "other_authors", "pages", "same_work", "repeated_key", "uncited",
    "online_not_found", "online_year", "online_title",
]  # fmt: skip
# These must be fixed before the list can be relied on; the others are to be looked at.
URGENT: tuple[FindingCode, ...] = (
    "retracted", "no_entry", "several_entries", "unsure", "unpaired",
)  # fmt: skip
_ORDER: tuple[FindingCode, ...] = (
    *URGENT, "concern", "corrected", "reinstated", "doi_of_another", "other_doi",
    "online_not_found", "other_year", "online_year", "other_title", "online_title",
    "other_authors", "pages", "same_work", "repeated_key", "uncited",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ReferenceFinding:
    """One thing to fix or to check.

    Args:
        text: a sentence that names both sources where they differ.
        row: of the entry, as `CheckedEntry.row`; 0 where it is about none.
        place: of a citation in the draft, as it is shown; empty where it is about none.
    """

    code: FindingCode
    text: str
    row: int = 0
    place: str = ""

    @property
    def is_urgent(self) -> bool:
        """Whether it must be fixed."""
        return self.code in URGENT


@dataclass(frozen=True, slots=True)
class CheckedEntry:
    """An entry of the reference list with the document that it means.

    Args:
        row: in the report, from 1.
        title: of the document; empty unless paired.
        places: of the draft that cite it, as they are shown.
        is_settled: a person has said what it means.
        candidates: as of `Pairing`, each with its title.
    """

    row: int
    entry: Entry
    pairing: Pairing
    title: str = ""
    places: tuple[str, ...] = ()
    is_settled: bool = False
    candidates: tuple[tuple[str, str, str], ...] = ()

    @property
    def name(self) -> str:
        """How the report calls it, and `--settle` takes it: its number or key, else its row."""
        return self.entry.label or str(self.row)

    @property
    def is_open(self) -> bool:
        """Whether somebody has to say what it means."""
        return self.pairing.state != "paired" and not self.is_settled


@dataclass(frozen=True, slots=True)
class ReferenceCheck:
    """A draft's references.

    Args:
        entries: of the draft's own list, and those of bibliography files that it cites.
        findings: most urgent first.
        unlisted: how many entries of the bibliography files beside the draft it does not cite.
        uncited: a sentence where the draft cites nothing; empty where it does.
        without_entry: citations as written, no numbers, that mean no one entry of the list.
    """

    draft: str
    entries: tuple[CheckedEntry, ...]
    findings: tuple[ReferenceFinding, ...]
    unlisted: int = 0
    uncited: str = ""
    warnings: tuple[str, ...] = ()
    without_entry: tuple[str, ...] = ()

    @property
    def must_fix(self) -> bool:
        """Whether something must be fixed before the list can be relied on."""
        return bool(self.uncited) or any(finding.is_urgent for finding in self.findings)

    @property
    def by_urgency(self) -> tuple[CheckedEntry, ...]:
        """Return the entries, those that somebody has to settle first."""
        return tuple(
            sorted(
                self.entries,
                key=lambda one: (not one.is_open, one.pairing.state != "unsure", one.row),
            )
        )


def check_references(asked: Asked, path: Path, namespaces: Sequence[str] = ()) -> ReferenceCheck:
    """Pair each entry of a draft's reference list with a document, and say what is wrong with it.

    Args:
        path: of the draft.
        namespaces: in place of those that its front matter names.

    Raises:
        UsageError: the draft, a bibliography or a table of retractions cannot be read.
        PublicationError: nothing is published.
    """
    draft = read_draft(path, namespaces)
    keys = [said for file in files_of(path)[1:] for said in repeated_keys(file)]
    workspace = workspace_of(asked)
    with open_published(asked) as library:
        if not library.publications:
            raise PublicationError(
                f"nothing is published in {workspace.root}. Run `rag ingest` first."
            )
        return _check(draft, library, read_retractions(workspace), keys)


def _check(
    draft: Draft, library: Library, retractions: "Retractions", repeated: Sequence[str]
) -> ReferenceCheck:
    references = References(draft.references, library, draft.namespaces)
    known = {(one.namespace, one.doc_uid): one for one in library.known(draft.namespaces)}
    cited, missing = _read_citations(draft, library, references)
    # What a bibliography file holds and the draft does not cite is no part of its list.
    numbers = [
        number
        for number, entry in enumerate(references.entries)
        if number in cited or (not entry.file and number < len(draft.references))
    ]
    entries = [
        _checked(row, references, number, library, known, cited.get(number, ()))
        for row, number in enumerate(numbers, 1)
    ]
    retractions = retractions.among([one.entry for one in entries])
    findings = [*missing, *(ReferenceFinding("repeated_key", said) for said in repeated)]
    for one in entries:
        document = one.pairing.document
        found = _faults(one, known.get(document) if document else None, known, retractions)
        findings += found
        if not one.places and not one.entry.file:
            findings.append(ReferenceFinding(
                "uncited", "It is in the list and cited nowhere. Cite it, or take it out.", one.row,
            ))  # fmt: skip
    findings += _doubles(entries)
    findings += _pages(draft, entries, numbers, library)
    return ReferenceCheck(
        draft.name, tuple(entries), tuple(sort_findings(findings)),
        len(draft.references) - sum(number < len(draft.references) for number in numbers),
        draft.uncited, draft.warnings,
        tuple(dict.fromkeys(
            one.label for _, one in _citations(draft)
            if len(one.entries or references.labelled(one.label)) != 1
            and not is_number(one.label)
        )),
    )  # fmt: skip


def sort_findings(findings: Iterable[ReferenceFinding]) -> list[ReferenceFinding]:
    """Return findings, the most urgent first."""
    return sorted(findings, key=lambda one: (_ORDER.index(one.code), one.row))


def _read_citations(
    draft: Draft, library: Library, references: References
) -> tuple[dict[int, tuple[str, ...]], list[ReferenceFinding]]:
    """Return the places that cite each entry, and what is cited and means none."""
    cited: dict[int, tuple[str, ...]] = {}
    missing: dict[str, list[str]] = {}
    several: dict[str, tuple[str, list[str]]] = {}
    for sentence, citation in _citations(draft):
        place = place_in(draft.name, sentence.line, sentence.file)
        numbers = citation.entries or tuple(references.labelled(citation.label))
        for number in numbers:
            cited[number] = tuple(dict.fromkeys((*cited.get(number, ()), place)))
        if citation.form == "written" and not numbers:
            missing.setdefault(citation.label, []).append(place)
        elif len(numbers) > 1:
            meant = resolve_citation(citation, library, draft.namespaces, references)
            if isinstance(meant, FaultyCitation):
                several.setdefault(citation.label, (meant.reason, []))[1].append(place)
        elif not numbers and citation.form not in {"statute", "words"}:
            found = resolve_citation(citation, library, draft.namespaces, references)
            if isinstance(found, FaultyCitation) and found.code in {"unknown_uid", "no_entry"}:
                missing.setdefault(citation.label, []).append(place)
    findings = [
        ReferenceFinding(
            "no_entry",
            f"“{label}”{_at(places)} has no entry in the reference list. Add the entry, "
            "or correct the citation.",
            place=places[0],
        )
        for label, places in missing.items()
    ]
    findings += [
        ReferenceFinding("several_entries", f"“{label}”{_at(places)}: {why}", place=places[0])
        for label, (why, places) in several.items()
    ]
    return cited, findings


def _citations(draft: Draft) -> Iterator[tuple[DraftSentence, Citation]]:
    for sentence in draft.all_sentences:
        if not sentence.is_listed:
            for citation in dict.fromkeys((*sentence.citations, *sentence.noted)):
                yield sentence, citation


def _at(places: Sequence[str]) -> str:
    return f" ({', '.join(dict.fromkeys(places))})"


def _checked(
    row: int,
    references: References,
    number: int,
    library: Library,
    known: Mapping[tuple[str, str], Known],
    places: tuple[str, ...],
) -> CheckedEntry:
    entry, pairing = references.entries[number], references.pairing(number)
    document = known.get(pairing.document) if pairing.document else None
    candidates = tuple(
        (f"{pair[0]}:{pair[1]}", known[pair].title, why)
        for pair, why in pairing.candidates
        if pair in known
    )
    is_settled = library.settled(entry) != "open"
    title = document.title if document is not None else ""
    return CheckedEntry(row, entry, pairing, title, places, is_settled, candidates)


# What is wrong with one entry.

# Dates of a manuscript say when it was written, not when it was published.
_MANUSCRIPT_DATE = re.compile(
    r"(?:received|accepted|revised|submitted|收稿|修回|定稿|录用)[^\n]{0,60}", re.IGNORECASE
)
_PUBLISHED = (
    r"(?i:©|\(c\)|copyright|published|vol\b|journal|proceedings|出版|学报|第)[^\n]{{0,60}}{0}"
    r"|{0}\s*[;:,]\s*\d|\({0}\)"
)
_OTHERS = re.compile(r"\bet\s+al\b|\bothers\b|等|…|\.\s?\.\s?\.|\bu\.\s?a\.", re.IGNORECASE)
_SAID_RETRACTED = re.compile(
    r"[(（\[［]\s*(?:this\s+\w+\s+(?:was|has\s+been)\s+)?(?:retracted|retraction|withdrawn|已?撤稿|已?撤回)"
    r"(?![\w-]*\s+(?:papers|articles|by\s+the))[^()（）\[\]［］]{0,120}[)）\]］]",
    re.IGNORECASE,
)
# Behind a family name, unless they are those of the next one: `Dean, J., S. Ghemawat`.
_INITIAL = r",?\s+([A-Z])\.?(?:[\s\-]?[A-Z]\.?)*(?=\s*(?:[,;&(]|and\b|et\b))"
_MARK_BEHIND = re.compile(r"\s*[(（\[［]\s*(?:retract|withdrawn|已?撤)", re.IGNORECASE)
# rapidfuzz ratio, 0 to 100: from here on a name is another spelling, a title the same one.
_SAME_NAME, _SAME_WORDS = 75.0, 98.0
_MOST_NAMED = 3


def _faults(
    one: CheckedEntry,
    document: Known | None,
    known: Mapping[tuple[str, str], Known],
    retractions: "Retractions",
) -> Iterator[ReferenceFinding]:
    entry, pairing = one.entry, one.pairing

    def finding(code: FindingCode, text: str) -> ReferenceFinding:
        return ReferenceFinding(code, text, one.row)

    if one.is_open:
        yield finding("unsure" if pairing.state == "unsure" else "unpaired", _say_open(one))
    for code, text in _standing(entry, document, retractions):
        yield finding(code, text)
    of_doi = [each for each in known.values() if entry.doi and each.doi.lower() == entry.doi]
    if of_doi and document not in of_doi:
        yield finding(
            "doi_of_another",
            f"Its DOI {entry.doi} is that of `{of_doi[0].doc_uid}` (“{of_doi[0].title}”).",
        )
    elif document is not None and entry.doi and document.doi and entry.doi != document.doi.lower():
        yield finding(
            "other_doi", f"The entry has the DOI {entry.doi}, the document {document.doi}."
        )
    if document is not None:
        if _is_other_year(entry, document):
            yield finding(
                "other_year", f"The entry says {entry.year}, the document {document.year}."
            )
        if told := _other_title(entry, document):
            yield finding("other_title", told)
        for told in _other_authors(entry, document):
            yield finding("other_authors", told)


def _say_open(one: CheckedEntry) -> str:
    if one.pairing.state == "unsure":
        return f"It is not sure which document this is: {one.pairing.reason}."
    # The nearest ones follow as candidates.
    return "No document of the library fits."


def _standing(
    entry: Entry, document: Known | None, retractions: "Retractions"
) -> Iterator[tuple[FindingCode, str]]:
    standing = standing_of_title(document.title) if document is not None else None
    if document is not None and standing is not None:
        yield standing, f"`{document.doc_uid}`: {describe_standing(document.title)}"
    if standing_of_title(entry.title) == "retracted" or _SAID_RETRACTED.search(entry.text):
        yield "retracted", "The entry itself says that the work was retracted."
    yield from retractions.find(entry)


def _is_other_year(entry: Entry, document: Known) -> bool:
    year, other = entry.year[:4], document.year
    first = document.head[:FIRST_PAGE]
    if not (year.isdigit() and other.isdigit()) or year == other:
        return False
    # Both may be printed there: a volume of 2021 with a copyright of 2020.
    if re.search(_PUBLISHED.format(year), _MANUSCRIPT_DATE.sub("", first)):
        return False
    # A manuscript of one year is often printed in the next.
    is_manuscript = any(other in match.group() for match in _MANUSCRIPT_DATE.finditer(first))
    return not (is_manuscript and int(year) == int(other) + 1)


def _other_title(entry: Entry, document: Known) -> str:
    title, printed = fold(entry.title), fold(document.title)
    if not title or not printed or standing_of_title(document.title):
        return ""
    told = f"The entry's title is “{entry.title}”, the document's “{document.title}”"
    if title in printed:
        return "" if title == printed else f"{told}: parts are left out."
    is_there = printed in fold(entry.text) or title in fold(document.head[:FIRST_PAGE])
    is_alike = fuzz.partial_ratio(title, printed) >= _SAME_WORDS
    return "" if is_there or is_alike else f"{told}."


def _other_authors(entry: Entry, document: Known) -> Iterator[str]:
    """Yield how the authors differ from those that the document prints."""
    people = [(name, person) for name in document.authors for person in split_names(name)]
    is_han = any(HAN.search(name) for name in document.authors)
    names = [name for name in entry.authors if not is_nameless(fold(name))]
    if not people or not names or is_han != any(HAN.search(name) for name in names):
        return
    families = [fold(family_name(name)) for name, _ in people]
    given = [fold(person.given) for _, person in people]
    written = [name for name, _ in people]
    # Each author of the entry, with the place of the one that is meant; -1 for none.
    meant = [_meant_author(fold(name), families) for name in names]
    turned = [name for name, place in zip(names, meant, strict=True) if place < 0]
    turned = [name for name in turned if fold(name) in given]
    if turned:
        printed = [written[given.index(fold(name))] for name in turned]
        yield f"Given names as family names: {_some(turned)}. The document has {_some(printed)}."
    if max(meant) < 0 and not turned:
        yield f"The entry names {_some(names)}, the document {_some(written)}."
    for name, place in zip(names, meant, strict=True):
        if place >= 0 and fold(name) not in families[place]:
            yield f"The entry names “{name}”, the document “{written[place]}”."
    found = [families[place] for place in meant if place >= 0]
    rest = iter(families)
    if found and (found[0] != families[0] or not all(name in rest for name in found)):
        yield f"The order of the authors differs: the document begins {_some(written)}."
    text = fold(entry.text)
    left = [
        name
        for place, name in enumerate(written)
        if place not in meant and families[place] not in text
    ]
    if found and left and not _OTHERS.search(entry.text):
        yield (
            f"The document names {count_of(len(written), 'author')}, the entry {len(names)} "
            f"without “et al.”; left out: {_some(left)}."
        )
    for name, person in people:
        initial = re.search(rf"\b{re.escape(person.family)}{_INITIAL}", entry.text)
        is_only = families.count(fold(family_name(name))) == 1 and not is_han
        if initial and person.given and is_only and initial[1] != fold(person.given)[:1].upper():
            yield f"The entry has “{person.family}, {initial[1]}.”, the document “{name}”."


def _meant_author(name: str, families: Sequence[str]) -> int:
    if name in families:
        return families.index(name)
    scored = [
        (_name_likeness(name, family), -place) for place, family in enumerate(families) if family
    ]
    score, place = max(scored, default=(0.0, 0))
    return -place if score >= _SAME_NAME else -1


def _name_likeness(name: str, family: str) -> float:
    if HAN.search(name):
        same = sum(a == b for a, b in zip(name, family, strict=False))
        return 100.0 if len(name) == len(family) > 1 and same >= len(name) - 1 else 0.0
    if len(name) > 2 and (name in family or family in name):
        return 100.0
    return fuzz.ratio(name, family)


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


# What is wrong between entries, and between the list and the text.


def _doubles(entries: Sequence[CheckedEntry]) -> Iterator[ReferenceFinding]:
    """Yield entries of one list that are of the same work, and keys that two of them have."""
    for place, one in enumerate(entries):
        for before in entries[:place]:
            if before.entry.file != one.entry.file:
                continue
            document = one.pairing.document
            same = document is not None and document == before.pairing.document
            if same or is_same_work(before.entry, one.entry):
                why = (
                    f"both are paired with `{document[1]}`"
                    if same and document
                    else "the same work"
                )
                yield ReferenceFinding(
                    "same_work",
                    f"{before.name} and {one.name} look like one work ({why}). Keep one entry.",
                    one.row,
                )
            elif one.entry.label and one.entry.label == before.entry.label:
                yield ReferenceFinding(
                    "repeated_key", f"Two entries of the list have the number or key "
                    f"`{one.entry.label}`. Give one of them another.", one.row)  # fmt: skip


def _pages(
    draft: Draft, entries: Sequence[CheckedEntry], numbers: Sequence[int], library: Library
) -> Iterator[ReferenceFinding]:
    """Yield pages that a citation names and neither the entry nor the document has."""
    of_number = dict(zip(numbers, entries, strict=True))
    for sentence, citation in _citations(draft):
        if len(citation.entries) != 1 or citation.hint is None or not citation.hint.pages:
            continue
        one = of_number[citation.entries[0]]
        named = read_hint(one.entry.pages, bare=True) if one.entry.pages else None
        printed = named.pages if named is not None else ()
        document = one.pairing.document
        refs = library.find(document[1], document[0]) if document else []
        is_there = bool(refs) and refs[0].withheld_reason is None
        sheets = library.load(refs[0]).pages if is_there else 0
        for first, last in citation.hint.pages:
            has_page = any(a <= first and last <= b for a, b in printed) or last <= sheets
            if has_page or not (printed or sheets):
                continue
            sides = [f"the entry has pages {one.entry.pages}"] if printed else []
            sides += [f"the document {count_of(sheets, 'page')}"] if sheets else []
            yield ReferenceFinding(
                "pages",
                f"“{citation.label}” cites {citation.hint.text}; {' and '.join(sides)}.",
                one.row,
                place_in(draft.name, sentence.line, sentence.file),
            )


# Tables of retractions that the user puts into `retractions/`, as Retraction Watch writes them.

_COLUMNS = ("OriginalPaperDOI", "Title", "RetractionNature")
_NATURES: dict[str, FindingCode] = {
    "retraction": "retracted",
    "expression of concern": "concern",
    "correction": "corrected",
    "reinstatement": "reinstated",
}
_SAID: dict[FindingCode, str] = {
    "retracted": "was retracted",
    "concern": "has an expression of concern",
    "corrected": "was corrected",
    "reinstated": "was reinstated",
}


@dataclass(frozen=True, slots=True)
class Retractions:
    """Rows of the tables.

    Args:
        tables: files, each read when entries are looked up.
        by_doi: of the entries that are looked for; `by_title` likewise.
    """

    tables: tuple[Path, ...] = ()
    by_doi: Mapping[str, Sequence[Mapping[str, str]]] = field(default_factory=dict)
    by_title: Mapping[str, Sequence[Mapping[str, str]]] = field(default_factory=dict)

    def among(self, entries: Sequence[Entry]) -> "Retractions":
        """Return the rows that may be about these entries; a table can have 60,000."""
        dois = {entry.doi for entry in entries} - {""}
        titles = {_bare_title(entry.title) for entry in entries} - {""}
        by_doi: dict[str, list[Mapping[str, str]]] = {}
        by_title: dict[str, list[Mapping[str, str]]] = {}
        for path in self.tables:
            for row in _read_table(path):
                doi = read_doi(row["OriginalPaperDOI"] or "")
                title = _bare_title(row["Title"] or "")
                if doi in dois:
                    by_doi.setdefault(doi, []).append(row)
                if title in titles:
                    by_title.setdefault(title, []).append(row)
        return replace(self, by_doi=by_doi, by_title=by_title)

    def find(self, entry: Entry) -> Iterator[tuple[FindingCode, str]]:
        """Yield what the tables say of an entry, the newest last: by DOI, else by title."""
        rows = self.by_doi.get(entry.doi, ())
        if not rows:
            rows = [
                r for r in self.by_title.get(_bare_title(entry.title), ()) if _is_author(entry, r)
            ]
        codes = {_NATURES.get(row["RetractionNature"].strip().lower()) for row in rows}
        for row in sorted(rows, key=_day_of):
            code = _NATURES.get(row["RetractionNature"].strip().lower())
            if code is None or (code == "retracted" and "reinstated" in codes):
                continue
            day = _day_of(row)
            notice = read_doi(row.get("RetractionDOI") or "")
            reasons = [r.strip(" +") for r in (row.get("Reason") or "").split(";") if r.strip(" +")]
            parts = [f" on {day}" if day else "", f", notice {notice}" if notice else ""]
            why = f" ({'; '.join(reasons)})" if reasons else ""
            yield code, f"{row['file']}: this work {_SAID[code]}{''.join(parts)}{why}."


def read_retractions(workspace: Workspace) -> Retractions:
    """Return the tables in the workspace's `retractions/`; there may be none."""
    return Retractions(tuple(sorted(workspace.retractions.glob("*.csv"))))


def _read_table(path: Path) -> Iterator[dict[str, str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream)
            missing = [name for name in _COLUMNS if name not in (reader.fieldnames or ())]
            if missing:
                raise UsageError(
                    f"{path}: this is no table of Retraction Watch: it has no column "
                    f"'{missing[0]}'. Its first line must name {', '.join(_COLUMNS)}."
                )
            for row in reader:
                yield {**row, "file": path.name}
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(
            f"{path}: the table of retractions cannot be read: {error}. Save it as CSV in UTF-8."
        ) from error


def _bare_title(title: str) -> str:
    """Return a title folded, without what says that the work was retracted."""
    return fold(with_standing(_MARK_BEHIND.split(title)[0], None))


def _is_author(entry: Entry, row: Mapping[str, str]) -> bool:
    named = fold(row.get("Author") or "")
    return not named or not entry.authors or any(fold(name) in named for name in entry.authors)


def _day_of(row: Mapping[str, str]) -> str:
    """Return the day of a notice, ISO 8601; Retraction Watch writes 8/26/2011 0:00."""
    written = (row.get("RetractionDate") or "").partition(" ")[0]
    try:
        return datetime.strptime(written, "%m/%d/%Y").date().isoformat()
    except ValueError:
        return written


# A person says what an entry means.

NOT_IN_LIBRARY, OPEN = "none", "open"


def settle_reference(
    asked: Asked,
    path: Path,
    which: str,
    meant: str,
    namespaces: Sequence[str] = (),
    *,
    by: str,
    at: str,
    notify: Notify = lambda sentence: None,
) -> Settlement:
    """Keep in the journal which document an entry of a draft means; it holds for all drafts.

    Args:
        path: of the draft.
        which: number or key of the entry, its row in the report, or its text; or a citation as
            written, where no one entry of the list is meant by it.
        meant: uid or `namespace:uid` of a document; `none` for a work that is not in the library;
            `open` takes back what was said.
        namespaces: in place of those that the draft's front matter names.
        by: who says so; `at` when, ISO 8601.

    Raises:
        UsageError: the draft has no such entry, or the library no such document.
    """
    check = check_references(asked, path, namespaces)
    text = which if which in check.without_entry else _find_entry(check, which).entry.text
    namespace, uid = None, None
    if meant not in (NOT_IN_LIBRARY, OPEN):
        with open_published(asked) as library:
            found = _find_document(meant, library, read_draft(path, namespaces).namespaces)
        namespace, uid = found.namespace, found.doc_uid
    made = Settlement(text, namespace, uid, by, at, check.draft, is_withdrawn=meant == OPEN)
    append_settlement(workspace_of(asked), made, notify)
    return made


def _find_entry(check: ReferenceCheck, which: str) -> CheckedEntry:
    given = which.strip()
    for found in (
        [one for one in check.entries if one.entry.label == given.strip("[]［］")],
        [one for one in check.entries if str(one.row) == given],
        [one for one in check.entries if one.entry.text == which],
    ):
        if len(found) == 1:
            return found[0]
        if found:
            raise UsageError(
                f"{len(found)} entries of {check.draft} have the number or key '{given}'. Give one "
                "of them another, and settle it then."
            )
    raise UsageError(
        f"{check.draft} has no entry '{given}'. `rag references` lists the entries with what they "
        "are called."
    )


def _find_document(written: str, library: Library, namespaces: Sequence[str]) -> CitedDocumentRef:
    citation = read_citations(f"{{#{written}}}", 0)[0]
    found = [ref for ref in look_up(citation, library, namespaces) if not ref.is_removed]
    if len(found) == 1:
        return found[0]
    fault = resolve_citation(citation, library, namespaces)
    raise UsageError(
        fault.reason if isinstance(fault, FaultyCitation)
        else f"`{written}` names no one document. Give its uid, as `rag documents` lists it."
    )  # fmt: skip


# The report.

_SHOWN = 100
_STATES = {"paired": "paired", "unsure": "unsure", "unpaired": "not in the library"}


def render_references(check: ReferenceCheck) -> str:
    """Return the report: what to fix, what to check, what is paired."""
    return "\n".join(_report(check))


def _report(check: ReferenceCheck) -> Iterator[str]:
    states = [one.pairing.state for one in check.entries]
    counts = [f"{states.count('paired')} paired", f"{states.count('unsure')} unsure"]
    counts.append(f"{states.count('unpaired')} not in the library")
    yield f"{check.draft}: {_entries(len(check.entries))}: {', '.join(counts)}"
    if check.uncited:
        yield f"\n{check.uncited}"
    for is_urgent, heading in ((True, "To fix"), (False, "To check")):
        some = [one for one in check.findings if one.is_urgent == is_urgent]
        if some:
            yield f"\n{heading}"
            yield from _grouped(check, some)
    paired = [one for one in check.entries if not one.is_open]
    if paired:
        yield "\nPaired or settled"
        yield from map(_line_of_pair, paired)
    if check.unlisted:
        yield f"\nNot cited here: {_entries(check.unlisted)} of bibliography files."
    if any(one.is_open for one in check.entries):
        yield (
            f"\nSettle an entry for good: rag references {check.draft} --settle ENTRY=UID "
            "(ENTRY as in the first column; UID `none`: not in the library, `open`: take it back)"
        )


def _grouped(check: ReferenceCheck, findings: Sequence[ReferenceFinding]) -> Iterator[str]:
    """Yield the lines of findings, those of an entry together."""
    of_entry: dict[int, list[ReferenceFinding]] = {}
    for one in findings:
        of_entry.setdefault(one.row, []).append(one)
    for finding in of_entry.pop(0, ()):
        yield f"  {finding.text}"
    for row, some in of_entry.items():
        checked = check.entries[row - 1]
        entry = checked.entry
        where = (
            f", {place_in(entry.file or check.draft, entry.line, entry.file)}" if entry.line else ""
        )
        yield f"  {checked.name}{where}  {_shown(checked.entry)}"
        for finding in some:
            yield f"      {finding.text}"
        if any(finding.code in ("unsure", "unpaired") for finding in some):
            for uid, title, why in checked.candidates:
                yield f"      candidate {uid} “{title}”: {why}"


def _line_of_pair(one: CheckedEntry) -> str:
    document = one.pairing.document
    if document is None:
        return f"  {one.name}  not in the library (settled)  {_shown(one.entry)}"
    reason = f"{one.pairing.certainty:.2f}: {one.pairing.reason}"
    return f"  {one.name}  {document[1]} ({reason})  {_shown(one.entry)}"


def _shown(entry: Entry) -> str:
    return entry.text if len(entry.text) <= _SHOWN else f"{entry.text[:_SHOWN]}…"


def _entries(count: int) -> str:
    return f"{count} {'entry' if count == 1 else 'entries'}"


def references_to_json(check: ReferenceCheck) -> dict[str, Any]:
    """Return a check as JSON: its entries with pairing and certainty, and the findings."""
    return {
        "draft": check.draft,
        "must_fix": check.must_fix,
        "uncited": check.uncited,
        "warnings": list(check.warnings),
        "entries": [
            {
                "row": one.row, "name": one.name, "line": one.entry.line, "file": one.entry.file,
                "text": one.entry.text, "state": one.pairing.state, "is_settled": one.is_settled,
                "document": ":".join(one.pairing.document) if one.pairing.document else None,
                "title": one.title, "certainty": round(one.pairing.certainty, 3),
                "reason": one.pairing.reason, "cited_at": list(one.places),
                "candidates": [
                    {"document": uid, "title": title, "reason": why}
                    for uid, title, why in one.candidates
                ],
            }
            for one in check.entries
        ],
        "findings": [
            {"code": one.code, "is_urgent": one.is_urgent, "row": one.row or None,
             "place": one.place, "text": one.text}
            for one in check.findings
        ],
    }  # fmt: skip
