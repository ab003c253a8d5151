"""What may be amiss in a namespace of laws. Files are read, nothing is changed."""

import shutil
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import chain, pairwise, zip_longest
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from rag_assets.chunking import chunks_schema, parents_schema
from rag_assets.law.citing import write_citation
from rag_assets.law.curating import FILE_RULES, Finding, FindingKind, LawFile, curate_files
from rag_assets.law.structure import read_laws
from rag_assets.model import (
    RagError,
    UsageError,
    count_of,
    escape_inline,
    escape_prose,
    hash_fields,
)
from rag_assets.parsing import decode_text, read_parsed, read_reports
from rag_assets.retrieval import OpenedLibrary, Publications
from rag_assets.retrieval.statutes import LawShelf
from rag_assets.storage import Entry, Notify, put, read_entries, read_rows, refresh_record
from rag_assets.workspace import (
    REPEALED,
    SIDECAR_SUFFIX,
    Inventory,
    LivingContent,
    Namespace,
    SourceFile,
    Workspace,
    current_identities,
    current_overrides,
    newest_expired,
    require_inventory,
)
from rag_assets.workspace.stages import parsed_contents, stage_lock

if TYPE_CHECKING:
    import pyarrow as pa

_REPORT = "meta/law_curation/{name}.md"
# Text formats: their lines are those of the file, but for front matter.
_BY_LINE = frozenset({"text/markdown", "text/plain"})


@dataclass(frozen=True, slots=True)
class Curation:
    """What was found in a namespace.

    Args:
        files: how many were looked at; `flagged` how many have a finding.
        as_of: the day on which a wording had to hold.
        findings: by kind, rule, file and line.
    """

    namespace: str
    files: int
    as_of: date
    findings: tuple[Finding, ...]

    @property
    def flagged(self) -> int:
        """How many files have a finding."""
        return len({finding.file for finding in self.findings})

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """Findings by kind and rule, every kind named."""
        counted = Counter((finding.kind, finding.rule) for finding in self.findings)
        return {
            str(kind): {rule: n for (of, rule), n in sorted(counted.items()) if of is kind}
            for kind in FindingKind
        }


def curate_namespace(namespace: Namespace, as_of: date) -> Curation:
    """Look through the parsed files of a namespace.

    Raises:
        UsageError: it was not scanned, or files were not parsed yet.
    """
    inventory = require_inventory(namespace)
    empty: list[Finding] = []
    findings = curate_files(_files(namespace, inventory, empty), as_of)
    empty.sort(key=lambda finding: finding.file)
    count = sum(len(living.sources) for living in inventory.contents.values())
    return Curation(namespace.name, count, as_of, (*empty, *findings))


def _files(namespace: Namespace, inventory: Inventory, empty: list[Finding]) -> Iterator[LawFile]:
    """Yield what was parsed; of what holds no text put findings aside."""
    unparsed = 0
    kept = _kept(namespace, inventory)
    for partition in namespace.partition_keys:
        living = inventory.partition(namespace, partition)
        reports = {row["content_hash"]: row for row in read_reports(namespace, partition, living)}
        unparsed += len(living.keys() - reports.keys())
        for content, row in sorted(reports.items()):
            if row["status"] == "ok":
                parse = namespace.parsed_folder(partition) / row["parsed_file"]
                yield _read(parse, living[content], is_kept=content in kept)
            elif row["reason_code"] == "empty_file":
                empty += _empty(living[content], row["message"])
    if unparsed:
        raise UsageError(
            f"{namespace.name}: {count_of(unparsed, 'file')} of raw/ not parsed yet; run "
            f"`rag parse --namespace {namespace.name}` first."
        )


def _empty(living: LivingContent, message: str) -> Iterator[Finding]:
    for source in living.sources:
        yield Finding(
            FindingKind.EMPTY, "no-text", source.source_uri, None, None, message,
            "Fill the file with the published text, or take it out.",
        )  # fmt: skip


def _kept(namespace: Namespace, inventory: Inventory) -> set[str]:
    """Return the hashes of the contents of which a person has said that they are not repealed."""
    overrides = current_overrides(namespace)
    uids = current_identities(namespace, inventory).uids
    return {content for content, uid in uids.items() if REPEALED in overrides.get(uid, {})}


def _read(parse: Path, living: LivingContent, *, is_kept: bool) -> LawFile:
    document, _ = read_parsed(parse)
    before = 0
    if document.media_type in _BY_LINE:
        source = decode_text(Path(living.first.file).read_bytes())[0]
        before = max(0, source.count("\n") - document.text.count("\n"))
    first, *others = (source.source_uri for source in living.sources)
    return LawFile(first, document.text, before, tuple(others), is_kept)


@dataclass(frozen=True, slots=True)
class CurationReports:
    """What was written.

    Args:
        curations: one of each namespace of laws that could be looked through.
        left_out: a sentence for each that could not.
    """

    curations: tuple[Curation, ...]
    left_out: tuple[str, ...]


def write_curation_reports(workspace: Workspace, as_of: date) -> CurationReports:
    """Write `meta/law_curation/<namespace>.md` of each namespace of laws, where it has changed."""
    found: list[Curation] = []
    left_out: list[str] = []
    for name in workspace.namespace_names:
        try:
            namespace = workspace.namespace(name)
            if namespace.settings.chunk.mode == "law":
                found.append(curate_namespace(namespace, as_of))
        except RagError as error:
            left_out.append(f"{name} is left out: {error}")
    for curation in found:
        text = "\n".join(render_curation(curation)) + "\n"
        put(workspace.store, _REPORT.format(name=curation.namespace), text.encode())
    return CurationReports(tuple(found), tuple(left_out))


def render_curation(curation: Curation) -> Iterator[str]:
    """Yield the lines of a report in Markdown: counts, then what was found by kind and rule."""
    yield f"# What to look at in the laws of {curation.namespace}\n"
    yield (
        f"{count_of(curation.files, 'file')}, {curation.flagged} of them with something to look "
        f"at. Wordings as of {curation.as_of}. Nothing was changed.\n"
    )
    for kind, rules in curation.counts.items():
        yield f"- {kind}: {sum(rules.values())}"
    for kind in FindingKind:
        of_kind = [finding for finding in curation.findings if finding.kind is kind]
        if of_kind:
            yield f"\n## {str(kind).capitalize()}\n"
        rule = ""
        for finding in of_kind:
            if finding.rule != rule:
                rule = finding.rule
                yield f"\n{rule}: {finding.advice}\n"
            yield f"- {escape_inline(place_of(finding))}: {escape_prose(told_of(finding))}"


def place_of(finding: Finding) -> str:
    """Return file and line as editors take them."""
    return finding.file + (f":{finding.line}" if finding.line is not None else "")


def told_of(finding: Finding) -> str:
    """Return why something was found, with the files that it is compared with."""
    return " ".join((finding.why, *(f"({other})" for other in finding.others)))


# Statements about laws: no text is lost, articles are whole, citations lead back.


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
    """Look at every law that was cut again since the last look, and remember what was seen.

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


# A random sample of a namespace's raw files, balanced by folder and size, for a test vault.


# Size classes of a folder: its smallest third of files, the middle one, the largest.
_CLASSES = 3


def draw_files(files: Iterable[SourceFile], count: int, seed: int) -> list[SourceFile]:
    """Return files drawn at random, by path; the same for the same files, count and seed.

    Every folder gives as many as every other until it has none left, and within a folder every
    third of its files by size. The order of `files` does not matter.

    Raises:
        UsageError: there are fewer than `count`.
    """
    by_folder: dict[PurePosixPath, list[SourceFile]] = defaultdict(list)
    for file in files:
        by_folder[PurePosixPath(file.source_uri).parent].append(file)
    there = sum(map(len, by_folder.values()))
    if there < count:
        raise UsageError(f"there are {there} files to draw from, fewer than {count}.")

    def shuffled(items: Iterable[SourceFile]) -> list[SourceFile]:
        return sorted(items, key=lambda file: hash_fields(seed, file.source_uri))

    folders = [
        list(_in_turn([shuffled(part) for part in _thirds(held)])) for held in by_folder.values()
    ]
    # Whose turn it is first matters where not every folder gets the last round.
    folders.sort(key=lambda held: hash_fields(seed, held[0].source_uri))
    drawn = list(_in_turn(folders))[:count]
    return sorted(drawn, key=lambda file: file.source_uri)


def _thirds(files: Sequence[SourceFile]) -> Iterator[list[SourceFile]]:
    """Yield the files of a folder by size, the smallest third first."""
    by_size = sorted(files, key=lambda file: (file.size, file.source_uri))
    for part in range(_CLASSES):
        yield by_size[part * len(files) // _CLASSES : (part + 1) * len(files) // _CLASSES]


def _in_turn(lists: Sequence[Sequence[SourceFile]]) -> Iterator[SourceFile]:
    """Yield the first of each list, then the second of each, and so on."""
    return (file for file in chain.from_iterable(zip_longest(*lists)) if file is not None)


def draw_sample(namespace: Namespace, count: int, seed: int) -> list[SourceFile]:
    """Return a sample of the files that the last inventory of a namespace found.

    Raises:
        UsageError: it was not scanned, or has fewer files.
    """
    found = require_inventory(namespace).sources
    return draw_files((one for one in found if one.status == "ok"), count, seed)


def copy_sample(namespace: Namespace, drawn: Sequence[SourceFile], target: Path) -> None:
    """Copy files with their sidecars into a folder, each to its path below the raw folder.

    Raises:
        UsageError: a file cannot be read, or something of its name is there already.
    """
    pairs = [(Path(one.file), target / _below_root(namespace, one)) for one in drawn]
    taken = next((path for _, path in pairs if path.exists()), None)
    if taken is not None:
        raise UsageError(f"{taken} is there already; name an empty folder.")
    for source, path in pairs:
        path.parent.mkdir(parents=True, exist_ok=True)
        sidecar = source.with_name(source.name + SIDECAR_SUFFIX)
        try:
            shutil.copyfile(source, path)
            if sidecar.is_file():
                shutil.copyfile(sidecar, path.with_name(path.name + SIDECAR_SUFFIX))
        except OSError as error:
            raise UsageError(
                f"{source} cannot be copied to {path} ({error.strerror}); scan again if it is gone."
            ) from error


def _below_root(namespace: Namespace, file: SourceFile) -> str:
    """Return a file's path below its raw folder; with several raw folders below their names."""
    root = namespace.root_of(file.source_uri)
    if root is None or len(namespace.root_names) > 1:
        return file.source_uri
    return file.source_uri.removeprefix(f"{root}/")
