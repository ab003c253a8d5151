"""Statements about laws: no text is lost, articles are whole, citations lead back."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_assets.chunking import chunks_schema, parents_schema
from rag_assets.law.citing import write_citation
from rag_assets.law.curating import FILE_RULES, LawFile
from rag_assets.law.structure import read_laws
from rag_assets.model import UsageError, hash_fields
from rag_assets.parsing import read_parsed, read_reports
from rag_assets.retrieval import OpenedLibrary, Publications
from rag_assets.stages import parsed_contents, stage_lock
from rag_assets.statutes.shelf import LawShelf
from rag_assets.storage import Entry, Notify, read_entries, read_rows, refresh_record
from rag_assets.workspace import Inventory, Namespace, newest_expired

if TYPE_CHECKING:
    import pyarrow as pa

# Counts as code: raise it when something else is said of the same law.
_VERSION = 1
# The folder of the records of what was seen.
_RECORD = "cut_faults"

# Two line ends: a line that is lost leaves three characters at least, its own among them.
_WHITE = 2
# Documents and articles of each whose citations are tried with a publication.
_DOCUMENTS, _ARTICLES = 40, 5
_NUMBERING = tuple(rule for rule in FILE_RULES if rule.id.startswith("article-"))


@dataclass(frozen=True, slots=True)
class _Cut:
    """A law as it was cut: its parents with their text, where its chunks begin, all in order."""

    content: str
    characters: int
    parse: Path
    parents: list[dict[str, Any]]
    chunk_starts: frozenset[int]

    @property
    def text(self) -> str:
        """The text of the document as its parents hold it; what is between them is blank."""
        text, reached = "", 0
        for row in self.parents:
            text += "\n" * (row["char_start"] - reached) + row["text"]
            reached = row["char_end"]
        return text


@dataclass(frozen=True, slots=True)
class CutFaults:
    """What is amiss with laws as they were cut, a sentence each.

    Args:
        lost: for every stretch of text that stands in no parent.
        broken: for every article that begins no passage, and for numbers out of order.
    """

    lost: tuple[str, ...]
    broken: tuple[str, ...]


def find_cut_faults(namespace: Namespace, inventory: Inventory, notify: Notify) -> CutFaults:
    """Look at every law that was cut anew since the last look, and remember what was seen.

    It stands in records beside those of the stages: who edits one law of a vault waits for that
    one. What is said of a law is a function of its parse, its parents and its chunks.
    """
    lost: list[str] = []
    broken: list[str] = []
    for partition in namespace.partition_keys:
        wanted = _fingerprints(namespace, inventory, partition)
        if not wanted:
            continue
        seen = refresh_record(
            namespace.record(_RECORD, partition),
            stage_lock(namespace, _RECORD, partition),
            _schema(),
            wanted,
            lambda: newest_expired(namespace),
            lambda stale, key=partition, of=wanted: (  # type: ignore[misc]
                (law.content, _look_at(namespace, law, of[law.content]), _schema().empty_table())
                for law in _read_cut(namespace, key, stale)
            ),
            notify,
        )
        for content in wanted:
            name, note = inventory.contents[content].first.source_uri, seen.entries[content].note
            lost += (f"{name}: {sentence}" for sentence in note["lost"])
            broken += (f"{name}: {sentence}" for sentence in note["broken"])
    return CutFaults(tuple(lost), tuple(broken))


def _fingerprints(namespace: Namespace, inventory: Inventory, partition: str) -> dict[str, str]:
    parsed = parsed_contents(namespace, inventory, partition)
    if not parsed:
        return {}
    rule = hash_fields(_VERSION, namespace.settings.chunk.law.search_unit)
    # A parent's digest is over that of its parse too.
    parents, chunks = (
        read_entries(namespace.record(stage, partition)) for stage in ("parents", "chunks")
    )
    return {
        content: hash_fields(rule, parents[content].digest, chunks[content].digest)
        for content in parsed
        if content in parents and content in chunks
    }


def _schema() -> "pa.Schema":
    """Return the schema of a record that says all in its entries."""
    import pyarrow as pa

    return pa.schema([("content_hash", pa.string())])


def _read_cut(namespace: Namespace, partition: str, contents: Collection[str]) -> Iterator[_Cut]:
    parents: dict[str, list[dict[str, Any]]] = {content: [] for content in contents}
    columns = ["content_hash", "char_start", "char_end", "text"]
    path = namespace.record("parents", partition)
    for row in read_rows(path, parents_schema(), contents, columns).to_pylist():
        parents[row["content_hash"]].append(row)
    starts: dict[str, set[int]] = {content: set() for content in contents}
    path = namespace.record("chunks", partition)
    columns = ["content_hash", "char_start"]
    for row in read_rows(path, chunks_schema(), contents, columns).to_pylist():
        starts[row["content_hash"]].add(row["char_start"])
    folder = namespace.parsed_folder(partition)
    for report in read_reports(namespace, partition, contents):
        content = report["content_hash"]
        yield _Cut(
            content,
            report["characters"],
            folder / report["parsed_file"],
            sorted(parents[content], key=lambda row: row["char_start"]),
            frozenset(starts[content]),
        )


def _look_at(namespace: Namespace, law: _Cut, fingerprint: str) -> Entry:
    is_merged = namespace.settings.chunk.law.search_unit == "merged"
    note = {"lost": list(_lost_text(law)), "broken": list(_broken_articles(law, is_merged))}
    return Entry(fingerprint, hash_fields(note), 0, note)


def _lost_text(law: _Cut) -> Iterator[str]:
    """Yield what is lost; the parse is read only where more than line ends is between parents."""
    spans = [(row["char_start"], row["char_end"]) for row in law.parents]
    bounds = [(0, 0), *spans, (law.characters, law.characters)]
    gaps = [(end, start) for (_, end), (start, _) in pairwise(bounds) if start - end > _WHITE]
    text = read_parsed(law.parse)[0].text if gaps else ""
    for start, end in gaps:
        lost = " ".join(text[start:end].split())
        if lost:
            yield f"no passage holds “{lost[:40]}” (characters {start} to {end})"


def _broken_articles(law: _Cut, is_merged: bool) -> Iterator[str]:
    """Yield what is broken.

    Args:
        is_merged: merged units are searched: an article stands in one or begins its parts.
    """
    file = LawFile("", law.text)
    spans = [(row["char_start"], row["char_end"]) for row in law.parents]
    for unit in (unit for one in file.laws for unit in one.units if unit.article):
        start = unit.start + _blank(file.text[unit.start : unit.end])
        end = unit.start + len(file.text[unit.start : unit.end].rstrip())
        is_held = any(first <= start and end <= last for first, last in spans)
        if not (start in law.chunk_starts or (is_merged and is_held)):
            shown = unit.article.shown if unit.article else ""
            yield f"{shown} does not begin a passage (character {start})"
    for rule in _NUMBERING:
        yield from (found.why for found in rule.apply(file))


def _blank(text: str) -> int:
    return len(text) - len(text.lstrip())


def unresolved_citations(namespace: Namespace, as_of: date) -> Iterator[str]:
    """Yield a sentence for every citation of a sample that does not lead back to its article.

    The sample is the same for the same publication. An equal article of another file is no other.

    Args:
        as_of: the day on which wordings are judged; each citation names its own.
    """
    with (
        OpenedLibrary(namespace.workspace) as library,
        library.hold([namespace.name]) as held,
    ):
        reader = held.readers.get(namespace.name)
        if reader is None:
            return
        columns = ["doc_uid", "title", "source_uri", "content_ref"]
        rows = reader.documents().select(columns).to_pylist()
        rows.sort(key=lambda row: hash_fields(held.names[namespace.name], row["doc_uid"]))
        shelf = LawShelf(held, as_of)
        tried = 0
        for row in rows:
            told = list(_tried(held, shelf, row))
            yield from (sentence for sentence in told if sentence)
            tried += bool(told)
            if tried == _DOCUMENTS:
                return


def _tried(held: Publications, shelf: LawShelf, row: dict[str, Any]) -> Iterator[str]:
    """Yield for articles of a document why a citation does not lead back, "" where it does."""
    text = read_parsed(held.workspace.root / "data" / row["content_ref"])[0].text
    laws = read_laws(text)
    units = [(law, unit) for law in laws for unit in law.units if unit.article is not None]
    title = laws[0].title if laws else None
    if not units or title is None:
        return
    wordings = shelf.versions(title)
    own = next((one for one in wordings if one.law.doc_uid == row["doc_uid"]), None)
    if own is None:
        yield f"{row['source_uri']}: its title “{title}” leads to other documents only"
        return
    day = str(own.version_date) if len(wordings) > 1 and own.version_date else ""
    for at in range(0, len(units), max(1, len(units) // _ARTICLES)):
        law, unit = units[at]
        article = unit.article.shown if unit.article else ""
        citation = write_citation(law.title or title, unit.path, article, version=day)
        try:
            found = shelf.article(citation)
        except UsageError as error:
            yield f"{row['source_uri']}: {citation}: {error}"
            continue
        leads_back = found.text == text[unit.start : unit.end].rstrip()
        yield "" if leads_back else f"{citation} leads to other text, in {found.version.law.file}"
