"""Parses of a namespace kept up to date, and the report on their quality."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_assets.model import (
    ConfigurationError,
    DocumentStatus,
    ParseReport,
    Progress,
    RagError,
    StageOutcome,
    StorageError,
    count_of,
    escape_inline,
    escape_prose,
    hash_fields,
    table_cell,
)
from rag_assets.model.markdown import code_span, fence
from rag_assets.parsing.document import parse_fingerprint, request_fingerprint
from rag_assets.parsing.pool import ParseJob, parse_files
from rag_assets.parsing.registry import PARSE_REASONS
from rag_assets.parsing.stored import LATER_FIELDS, has_blobs, read_beginning
from rag_assets.storage import (
    Computed,
    Entry,
    Listed,
    Notify,
    OpenRecord,
    Refreshed,
    explained_errors,
    has_layout,
    hold_lock,
    put,
    read_entries,
    read_once,
    read_rows,
)
from rag_assets.storage.execution import Execution
from rag_assets.workspace import SIDECAR_SUFFIX as SUFFIX
from rag_assets.workspace import (
    Inventory,
    LivingContent,
    Namespace,
    Workspace,
    newest_expired,
    read_inventory,
    read_sidecar,
)
from rag_assets.workspace.stages import PARSES, describe_partition, stage_lock

if TYPE_CHECKING:
    import pyarrow as pa

# The stage `parse_reports`: every living content has a report, and a parse where that worked.

_LISTS = ("authors", "page_labels", "removed_templates", "warnings", "blobs")
# What a person wants to know of a parse, in the tables of the UI and as plots over partitions.
_SHOWN = (
    "pages", "characters", "headings", "tables", "figures", "references", "textless_pages",
    "replacement_characters",
)  # fmt: skip
# Shown of a partition's first document in the UI.
_PREVIEW_CHARACTERS = 800


def reports_schema() -> "pa.Schema":
    """Return the schema of the record: one row a content, the fields of ParseReport."""
    import pyarrow as pa

    texts = (
        "content_hash",
        "status",
        "parser",
        "parser_version",
        "media_type",
        "doc_id",
        "reason_code",
        "message",
        "kind",
        "parsed_file",
        "parsed_digest",
        "title",
        "language",
        "doi",
        "journal",
        "volume",
        "issue",
        "page_range",
        "abstract",
    )
    counts = (
        "year",
        "pages",
        "characters",
        "blocks",
        "headings",
        "sections",
        "tables",
        "figures",
        "references",
        "attachments",
        "textless_pages",
        "replacement_characters",
        "attempts",
    )
    return pa.schema(
        [pa.field(name, pa.string()) for name in texts]
        + [pa.field(name, pa.int64()) for name in counts]
        + [pa.field(name, pa.list_(pa.string())) for name in _LISTS]
        + [pa.field("seconds", pa.float64())]
    )


def refresh_parse_reports(
    namespace: Namespace,
    inventory: Inventory,
    partitions: Sequence[str],
    notify: Notify,
    *,
    retry: bool = False,
    on_progress: Progress | None = None,
    execution: Execution | None = None,
) -> dict[str, StageOutcome]:
    """Parse what has no valid report yet, with one pool of workers for all partitions.

    No lock is held meanwhile: a partition's lock is taken when its last document is parsed, and
    what another run has written by then stays. Returns the outcome by partition.

    Args:
        retry: try resource failures again even where their attempts are used up.
        execution: where documents are parsed; this machine where nothing else is said.
    """
    open_partitions = {
        partition: _Partition(namespace, inventory, partition, retry, notify)
        for partition in partitions
    }
    jobs = [job for part in open_partitions.values() for job in part.jobs.values()]
    for part in open_partitions.values():
        part.finish_if_complete()
    ready, refused = _sent_to_provider(jobs, namespace, on_progress)
    parsed = parse_files(ready, namespace.settings.parse, execution=execution, notify=notify)
    for done, report in enumerate(chain(refused, parsed), start=1):
        if on_progress:
            on_progress("parsing", done, len(jobs))
        part = open_partitions[namespace.partition_of(report.content_hash)]
        part.reports[report.content_hash] = report
        part.finish_if_complete()
    return {key: part.outcome() for key, part in open_partitions.items()}


def _sent_to_provider(
    jobs: Sequence[ParseJob], namespace: Namespace, on_progress: Progress | None
) -> tuple[Sequence[ParseJob], Sequence[ParseReport]]:
    """Return what can be parsed now, and reports of what a provider failed to convert."""
    if namespace.settings.parse.parser != "mineru":
        return jobs, ()
    # Here, with the libraries of the network.
    from rag_assets.parsing.mineru_service import send_to_provider

    return send_to_provider(jobs, namespace, on_progress)


class _Partition:
    """One partition while its documents are being parsed; its lock is held to write alone."""

    def __init__(
        self,
        namespace: Namespace,
        inventory: Inventory,
        partition: str,
        retry: bool,
        notify: Notify,
    ) -> None:
        self.namespace, self.partition = namespace, partition
        self.retry, self.notify = retry, notify
        self.started = time.monotonic()
        self.seconds = 0.0
        # Damage is told by the one who mends it, under the lock.
        seen = self._open_record(lambda _: None)
        self.seen = seen.entries
        self.refreshed = Refreshed(seen.entries, (), wrote=False, mended=seen.mended)
        self.living = inventory.partition(namespace, partition)
        self.reports: dict[str, ParseReport] = {}
        self.jobs = {
            content: self._job(document)
            for content, document in self.living.items()
            if _is_stale(namespace, document, self.seen.get(content), retry)
        }

    def _open_record(self, notify: Notify) -> OpenRecord:
        path = self.namespace.record(PARSES, self.partition)
        return OpenRecord(path, reports_schema(), notify)

    def _job(self, document: LivingContent) -> ParseJob:
        return ParseJob(
            content_hash=document.content_hash,
            path=Path(document.first.file),
            extension=document.extension,
            password=password_of(document),
            folder=self.namespace.parsed_folder(self.partition),
            blobs=self.namespace.blobs,
            request=_request(self.namespace, document),
            stem=document.stem,
        )

    def finish_if_complete(self) -> None:
        """Write the record as soon as its last document is parsed."""
        if len(self.reports) < len(self.jobs) or self.seconds:
            return
        if self.reports or self.refreshed.mended:
            lock = stage_lock(self.namespace, PARSES, self.partition)
            with hold_lock(lock, f"{PARSES} {self.partition}", self.notify):
                self.refreshed = self._write(self._open_record(self.notify))
        self.seconds = time.monotonic() - self.started

    def _write(self, record: OpenRecord) -> Refreshed:
        """Write the reports beside those that another run has written meanwhile."""
        fresh = [
            self._computed(self.reports[content], record.entries.get(content))
            for content in sorted(self.reports)
            if not self._is_overtaken(content, record.entries.get(content))
        ]
        if not fresh and record.mended is None:
            return Refreshed(record.entries, (), wrote=False)
        return record.write(fresh, lambda: newest_expired(self.namespace))

    def _is_overtaken(self, content: str, entry: Entry | None) -> bool:
        """Say whether another run has written what this one was to write, since it looked."""
        if entry == self.seen.get(content):
            return False
        return not _is_stale(self.namespace, self.living[content], entry, self.retry)

    def _computed(self, report: ParseReport, entry: Entry | None) -> Computed:
        """Return what is written of a report; a resource failure counts its attempts."""
        import pyarrow as pa

        document = self.living[report.content_hash]
        if report.kind == "resource" and entry and _is_current(self.namespace, document, entry):
            report = replace(report, attempts=int(entry.note.get("attempts", 0)) + 1)
        row = {**asdict(report), **{name: list(getattr(report, name)) for name in _LISTS}}
        rows = pa.Table.from_pylist([row], schema=reports_schema())
        return report.content_hash, self._entry(report), rows

    def _entry(self, report: ParseReport) -> Entry:
        name = report.parsed_file
        size = _size(self.namespace, self.partition, name) if name else 0
        note = {
            "status": report.status,
            "reason_code": report.reason_code,
            "message": report.message,
            "kind": report.kind,
            "attempts": report.attempts,
            "parsed_file": report.parsed_file,
            "parsed_bytes": size,
            **{name: getattr(report, name) for name in _SHOWN},
            "blobs": list(report.blobs),
            "media_type": report.media_type,
            "parser": report.parser,
            "seconds": round(report.seconds, 3),
        }
        digest = report.parsed_digest or hash_fields(report.status, report.reason_code)
        document = self.living[report.content_hash]
        fingerprint = _fingerprint(self.namespace, document, report.media_type)
        return Entry(fingerprint, digest, 1, note)

    def outcome(self) -> StageOutcome:
        """Describe the partition as it stands now."""
        return describe_partition(
            self.refreshed,
            self.living,
            _describe,
            _count,
            self.seconds,
            preview_parse(self.namespace, self.partition, self.refreshed.entries, self.living),
        )


def _size(namespace: Namespace, partition: str, name: str) -> int:
    found = _find_parse(namespace, partition, name)
    if found is None:
        raise StorageError(
            f"{namespace.parsed_folder(partition) / name}: the parse was removed before its record "
            "was written, by `rag gc` or by hand. Run the command again: what stands there whole "
            "is not parsed again."
        )
    return found.size


def _find_parse(space: Namespace, partition: str, name: str) -> Listed | None:
    key = space.workspace.key_of(space.parsed_folder(partition) / name)
    return space.workspace.store.find(key)


def _count(documents: Sequence[DocumentStatus]) -> dict[str, int]:
    return {
        "failed": sum(document.status == "failed" for document in documents),
        **{name: sum(int(document.figures[name]) for document in documents) for name in _SHOWN},
        "mean_characters_a_page": _characters_a_page(documents),
    }


def has_stale_parses(namespace: Namespace, inventory: Inventory) -> bool:
    """Say whether `refresh_parse_reports` would parse anything. Reads no document.

    Raises:
        DamagedFileError: a record is not what was written.
    """
    for partition in namespace.partition_keys:
        living = inventory.partition(namespace, partition)
        entries = read_entries(namespace.record(PARSES, partition)) if living else {}
        for content, document in living.items():
            if _is_stale(namespace, document, entries.get(content), retry=False):
                return True
    return False


def _request(namespace: Namespace, document: LivingContent) -> str:
    return request_fingerprint(
        document.content_hash,
        document.extension,
        document.password_hash,
        namespace.settings.parse,
    )


def _fingerprint(namespace: Namespace, document: LivingContent, media_type: str) -> str:
    request, settings = _request(namespace, document), namespace.settings.parse
    return parse_fingerprint(request, media_type, settings, document.stem)


def _is_current(namespace: Namespace, document: LivingContent, entry: Entry) -> bool:
    """Say whether a parse made now would have the fingerprint that an entry has.

    As long as the request is the same, so is the media type that the entry found.
    """
    media_type = entry.note.get("media_type")  # none in records of older versions
    return media_type is not None and entry.fingerprint == _fingerprint(
        namespace, document, media_type
    )


def _is_stale(
    namespace: Namespace, document: LivingContent, entry: Entry | None, retry: bool
) -> bool:
    if entry is None or not _is_current(namespace, document, entry):
        return True
    if entry.note["status"] == "ok":
        partition = namespace.partition_of(document.content_hash)
        parsed = _find_parse(namespace, partition, entry.note["parsed_file"])
        is_whole = parsed is not None and parsed.size == entry.note["parsed_bytes"]
        return not (is_whole and has_blobs(namespace.blobs, entry.note["blobs"]))
    attempts_left = entry.note["attempts"] < namespace.settings.parse.max_attempts
    return entry.note["kind"] == "resource" and (retry or attempts_left)


def _characters_a_page(documents: Sequence[DocumentStatus]) -> int:
    """Return the mean over documents that have pages; text files and tables have none."""
    paged = [document.figures for document in documents if int(document.figures["pages"])]
    pages = sum(int(figures["pages"]) for figures in paged)
    return sum(int(figures["characters"]) for figures in paged) // max(1, pages)


def password_of(document: LivingContent) -> str | None:
    """Return the password that a document's sidecar gives, None without one."""
    if not document.password_hash:
        return None
    sidecar = Path(f"{document.speaking_file}{SUFFIX}")
    try:
        with explained_errors(sidecar, "read"):
            secret = read_sidecar(sidecar).password
    except (ConfigurationError, FileNotFoundError):
        return None  # it changed since the inventory: the parse fails and says password_required
    return secret.get_secret_value() if secret else None


def _describe(document: LivingContent, entry: Entry) -> DocumentStatus:
    note = entry.note
    reason = f"{note['reason_code']}: {note['message']}" if note["reason_code"] else ""
    figures = {key: note[key] for key in (*_SHOWN, "parser", "seconds")}
    return DocumentStatus(document.first.source_uri, note["status"], reason, figures)


def preview_parse(
    namespace: Namespace,
    partition: str,
    entries: Mapping[str, Entry],
    living: Mapping[str, LivingContent],
) -> str:
    """Return the beginning of the partition's first readable document as Markdown."""
    for content, document in living.items():
        entry = entries.get(content)
        if entry and entry.note["status"] == "ok":
            path = namespace.parsed_folder(partition) / entry.note["parsed_file"]
            title, beginning = read_beginning(path, _PREVIEW_CHARACTERS)
            named = f"{code_span(document.first.source_uri)} — "
            named += escape_inline(title, opens=False) if title else "no title"
            return f"{named}\n\n{fence(beginning)}"
    return ""


def read_reports(
    namespace: Namespace, partition: str, contents: Iterable[str]
) -> list[dict[str, Any]]:
    """Return the reports of some contents of a partition as dictionaries.

    What a record of an older version does not hold is missing until the next run rewrites it.
    """
    path, wanted = namespace.record(PARSES, partition), set(contents)

    def read() -> list[dict[str, Any]]:
        schema = reports_schema()
        is_old = not has_layout(path, schema)
        names = [name for name in schema.names if not is_old or name not in LATER_FIELDS]
        rows: list[dict[str, Any]] = read_rows(path, schema, None, names).to_pylist()
        return rows

    return [row for row in read_once([path], "reports", read) if row["content_hash"] in wanted]


# `meta/parse_quality_report.md`: how well the library was read, for a person (spec 000 §4.2).

_KEY = "meta/parse_quality_report.md"
# A page of running text has 1,500 to 4,000 characters; far fewer point to scans or slides.
_FEW_CHARACTERS_A_PAGE = 400
_MOST_TEMPLATES_SHOWN = 8
_COLUMNS = (
    ("pages", "pages"),
    ("characters", "characters"),
    ("language", "language"),
    ("headings", "headings"),
    ("tables", "tables"),
    ("figures", "figures"),
    ("references", "references"),
    ("textless_pages", "pages without text"),
    ("replacement_characters", "unreadable characters"),
)

_Row = Mapping[str, Any]


def write_quality_report(workspace: Workspace) -> Path:
    """Write the report over all namespaces that have been scanned, where it has changed.

    A namespace whose configuration or records cannot be read is named with the reason: it must
    not keep the others from being built.

    Returns:
        The report's path.
    """
    parts = ["# How well the library was read\n"]
    for name in workspace.namespace_names:
        try:
            namespace = workspace.namespace(name)
            inventory = read_inventory(namespace)
            parts += _describe_quality(namespace, inventory) if inventory else ()
        except RagError as error:
            parts.append(f"## {name}\n\nIts reports cannot be read: {escape_prose(str(error))}\n")
    put(workspace.store, _KEY, ("\n".join(parts) + "\n").encode())
    return workspace.store.place(_KEY)


def _describe_quality(namespace: Namespace, inventory: Inventory) -> Iterator[str]:
    named = sorted(_named_reports(namespace, inventory), key=lambda item: item[0])
    rows = [row for _, row in named]
    read = [row for row in rows if row["status"] == "ok"]
    pages = sum(row["pages"] for row in read)
    textless = sum(row["textless_pages"] for row in read)
    yield f"## {namespace.name}\n"
    yield f"{count_of(len(rows), 'document')}: {len(read)} read, {len(rows) - len(read)} not."
    if pages:
        yield (
            f"{count_of(pages, 'page')}, {textless} of them without text "
            f"({100 * textless / pages:.1f} %)."
        )
    treed = sum(row["headings"] > 0 for row in read)
    if read:
        yield f"{treed} of {len(read)} have headings ({100 * treed / len(read):.0f} %).\n"
        yield _totals("Formats", Counter(row["media_type"] for row in read))
        yield _totals("Languages", Counter(row["language"] or "unknown" for row in read))
    yield from _failures(named)
    yield from _doubts(named)
    yield from _table([(name, row) for name, row in named if row["status"] == "ok"])


def _named_reports(namespace: Namespace, inventory: Inventory) -> Iterator[tuple[str, _Row]]:
    for partition in namespace.partition_keys:
        living = inventory.partition(namespace, partition)
        for row in read_reports(namespace, partition, living):
            yield living[row["content_hash"]].first.source_uri, row


def _totals(what: str, counts: Counter[str]) -> str:
    listed = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
    return f"- {what}: {listed}"


def _failures(named: Sequence[tuple[str, _Row]]) -> Iterator[str]:
    failed = [(name, row) for name, row in named if row["status"] != "ok"]
    if not failed:
        return
    yield "\n### Not read\n"
    for code, count in sorted(Counter(row["reason_code"] for _, row in failed).items()):
        yield f"- **{code}** ({count}): {PARSE_REASONS.get(code, '')}"
        names: dict[str, list[str]] = {}
        for name, row in failed:
            if row["reason_code"] == code:
                names.setdefault(escape_prose(row["message"]), []).append(escape_inline(name))
        yield from (f"  - {', '.join(found)}: {message}" for message, found in names.items())


def _doubts(named: Sequence[tuple[str, _Row]]) -> Iterator[str]:
    doubts = [(name, list(_doubts_of(row))) for name, row in named if row["status"] == "ok"]
    if not any(sentences for _, sentences in doubts):
        return
    yield "\n### Read, with something to look at\n"
    for name, sentences in doubts:
        yield from (f"- {escape_inline(name)}: {escape_prose(sentence)}" for sentence in sentences)


def _doubts_of(row: _Row) -> Iterator[str]:
    yield from row["warnings"]
    with_text = row["pages"] - row["textless_pages"]
    if with_text and row["characters"] < _FEW_CHARACTERS_A_PAGE * with_text:
        yield (
            f"only {row['characters'] // with_text} characters a page: slides, or pages that are "
            "pictures; look at them with `rag preview`."
        )
    templates = row["removed_templates"]
    if templates:
        shown = " | ".join(templates[:_MOST_TEMPLATES_SHOWN])
        more = len(templates) - _MOST_TEMPLATES_SHOWN
        yield f"removed as running heads and feet: {shown}" + (
            f" and {more} more" if more > 0 else ""
        )


def _table(named: Sequence[tuple[str, _Row]]) -> Iterator[str]:
    if not named:
        return
    yield "\n### Documents\n"
    yield "| document | parser | " + " | ".join(label for _, label in _COLUMNS) + " | seconds |"
    yield "| --- | --- |" + " --- |" * (len(_COLUMNS) + 1)
    for name, row in named:
        values = [row[field] for field, _ in _COLUMNS]
        cells = [str(v) if isinstance(v, int) else table_cell(str(v or "")) for v in values]
        cells = [table_cell(name), row["parser"], *cells, f"{row['seconds']:.2f}"]
        yield f"| {' | '.join(cells)} |"
    yield ""
