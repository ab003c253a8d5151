"""One worker process: `python -m rag_assets.parsing.worker`, JSON lines on its pipes.

It reads jobs from standard input and ends with it, so that no worker outlives its parent; a
document that never comes back to Python is ended by the limit on processor time.
"""

import dataclasses
import importlib
import json
import math
import os
import queue
import resource
import threading
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from rag_assets.model import (
    ConfigurationError,
    DamagedFileError,
    OutOfMemoryError,
    ParsedDocument,
    ParseFailure,
    ParseReport,
    StorageError,
    document_id,
    hash_bytes,
)
from rag_assets.model.settings import ParseSettings
from rag_assets.parsing.document import (
    check_size,
    choose_parser,
    finish_document,
    media_type_of,
    parse_fingerprint,
)
from rag_assets.parsing.pdf.opening import load_pymupdf
from rag_assets.parsing.registry import (
    ParseHints,
    check_parser_options,
    granting,
    import_registered,
)
from rag_assets.parsing.stored import (
    ParseJob,
    Reader,
    failed_report,
    has_blobs,
    parsed_digest,
    read_parsed,
    write_blobs,
    write_parsed,
)
from rag_assets.storage import (
    LocalStore,
    describe_trouble,
    explained_errors,
    remove_unfinished,
)

# Beyond the wall time that the parent grants, and for a second thread: only orphans reach it.
_CPU_SECONDS_PER_WALL_SECOND, _SPARE_CPU_SECONDS = 2, 10
_BYTES_PER_MEGABYTE = 1_000_000


class _Channel:
    """The protocol's pipes; whatever a parser prints goes to standard error."""

    def __init__(self) -> None:
        self._input: BinaryIO = os.fdopen(os.dup(0), "rb")
        self._output: BinaryIO = os.fdopen(os.dup(1), "wb", buffering=0)
        os.dup2(2, 1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)

    def receive(self) -> dict[str, Any] | None:
        line = self._input.readline()
        return json.loads(line) if line else None

    def send(self, event: str, **fields: Any) -> None:
        self._output.write(json.dumps({"event": event, **fields}).encode() + b"\n")


def main() -> None:
    """Serve jobs until standard input ends."""
    channel = _Channel()
    opening = channel.receive()
    if opening is None:
        return
    settings = ParseSettings.model_validate(opening["settings"])
    try:
        import_registered(opening["registered"])
        check_parser_options(settings.parser_options)
    except ConfigurationError as error:
        channel.send("trouble", error="ConfigurationError", message=str(error))
        return
    _import_libraries()
    _limit_memory(settings)
    jobs: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=_read_jobs, args=(channel, jobs), daemon=True).start()
    channel.send("ready")
    while True:
        message = jobs.get()
        if "call" in message:
            _limit_processor_time(message["seconds"])
            module, name = message["call"].split(":")
            value = getattr(importlib.import_module(module), name)(**message["arguments"])
            channel.send("result", value=value)
            continue
        job = ParseJob.from_message(message)
        _limit_processor_time(settings.seconds_per_document)
        try:
            report, reused = _perform(job, settings, channel)
        except StorageError as error:
            channel.send("trouble", error="StorageError", message=str(error))
        else:
            channel.send("report", report=dataclasses.asdict(report), reused=reused)


def _read_jobs(channel: _Channel, jobs: "queue.SimpleQueue[dict[str, Any]]") -> None:
    folder = None
    while (message := channel.receive()) is not None:
        if "call" not in message:
            folder = ParseJob.from_message(message).folder
        jobs.put(message)
    # The parent is gone: nobody waits for the document at hand. Files are written whole or not.
    try:
        if folder is not None:
            remove_unfinished(folder, lambda process: process != os.getpid())
    finally:
        os._exit(0)


def _import_libraries() -> None:
    """Import what parsing needs before the memory is measured and limited."""
    import pyarrow as pa
    import pyarrow.parquet

    pa.set_cpu_count(1)
    load_pymupdf()


def _limit_memory(settings: ParseSettings) -> None:
    statistics = Path("/proc/self/statm")
    if not statistics.exists():  # macOS neither has it nor enforces RLIMIT_AS
        return
    own = int(statistics.read_text().split()[0]) * resource.getpagesize()
    limit = own + settings.megabytes_of_memory * _BYTES_PER_MEGABYTE
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def _limit_processor_time(wall_seconds: float) -> None:
    budget = _CPU_SECONDS_PER_WALL_SECOND * wall_seconds + _SPARE_CPU_SECONDS
    limit = math.ceil(time.process_time() + budget)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, hard))


def _grant(channel: _Channel, seconds: float) -> None:
    """Tell the parent, whose clock decides, and let the processor's limit follow."""
    channel.send("allowance", seconds=seconds)
    _limit_processor_time(seconds)


def _perform(job: ParseJob, settings: ParseSettings, channel: _Channel) -> tuple[ParseReport, bool]:
    """Return the report and whether an earlier parse was reused."""
    started = time.perf_counter()
    reader = Reader()
    try:
        data = _read_bytes(job, settings)
        hints = ParseHints(job.extension, job.password, job.stem, job.answer)
        reader = Reader(media_type_of(data, hints))
        parser = choose_parser(reader.media_type, hints, settings)
        reader = Reader(reader.media_type, parser.name, parser.version)
        output = job.output(parse_fingerprint(job.request, reader.media_type, settings, job.stem))
        earlier = _earlier_report(job, output)
        if earlier is not None:
            return earlier, True
        # Told at once, so that a time-out or a crash can name the parser.
        channel.send("sniffed", **dataclasses.asdict(reader))
        with granting(partial(_grant, channel)):
            document = finish_document(parser.parse(data, hints, settings), parser)
        report = _describe(job, output, reader, document, data, time.perf_counter() - started)
        _write(job, output, document, report)
    except ParseFailure as failure:
        return _failed(job, reader, failure, started)
    except MemoryError:
        return _failed(job, reader, memory_failure(settings), started)
    except StorageError:
        raise
    except Exception as error:  # a parser may raise anything; one file, one report
        # By its number alone: what an error says may be what the document says.
        number = error.errno if isinstance(error, OSError) else None
        trouble = describe_trouble(number, job.folder, "opened")
        if isinstance(trouble, OutOfMemoryError):
            return _failed(job, reader, memory_failure(settings), started)
        if trouble is not None:
            raise trouble from error
        crash = ParseFailure(
            "parser_crashed",
            f"The parser {reader.parser} stopped with {type(error).__name__}: {error}. Save the "
            "file again with another program and replace it.",
        )
        return _failed(job, reader, crash, started)
    return report, False


def _write(job: ParseJob, output: Path, document: ParsedDocument, report: ParseReport) -> None:
    """Write the parse; what is in the way of it is no fault of the document."""
    try:
        with explained_errors(output):
            write_blobs(job.blobs, document)
            write_parsed(output, document, report)
    except StorageError:
        raise
    except OSError as error:
        raise StorageError(
            f"{output}: cannot be written ({error.strerror}). Move away what stands in its "
            "place, and run the command again."
        ) from error


def _failed(
    job: ParseJob, reader: Reader, failure: ParseFailure, started: float
) -> tuple[ParseReport, bool]:
    return failed_report(job, reader, failure, time.perf_counter() - started), False


def memory_failure(settings: ParseSettings) -> ParseFailure:
    """Return the failure of a document that needs more memory than it may have."""
    return ParseFailure(
        "memory_limit",
        f"The document needs more than {settings.megabytes_of_memory} MB of memory "
        "(parse.megabytes_of_memory): raise the setting in config.yaml or split the document, "
        "then run with --retry.",
        kind="resource",
    )


def _earlier_report(job: ParseJob, output: Path) -> ParseReport | None:
    """Return the report of a parse that stands there whole, None without one.

    Another run has written it, or one that ended before its record was written.
    """
    try:
        _, report = read_parsed(output)
    except DamagedFileError:
        return None  # none there, or parsed again and replaced: it is a function of its inputs
    if report.content_hash != job.content_hash or not has_blobs(job.blobs, report.blobs):
        return None
    # Young again: `rag gc` leaves it until a record names it.
    LocalStore(job.folder).renew(output.name)
    return report


def _read_bytes(job: ParseJob, settings: ParseSettings) -> bytes:
    try:
        check_size(job.path.stat().st_size, settings)
        data = job.path.read_bytes()
    except OSError as error:
        raise ParseFailure(
            "unreadable_file",
            f"The file cannot be read ({error.strerror}): check that it is there and may be read, "
            "then build again.",
            kind="resource",
        ) from error
    if hash_bytes(data) != job.content_hash:
        raise ParseFailure(
            "changed_while_reading",
            "The file was changed after its content was hashed: build again once it rests.",
            kind="resource",
        )
    return data


def _describe(
    job: ParseJob,
    output: Path,
    reader: Reader,
    document: ParsedDocument,
    data: bytes,
    seconds: float,
) -> ParseReport:
    kinds = Counter(block.kind for block in document.blocks)
    attached = Counter(item.kind for item in document.attachments)
    return ParseReport(
        content_hash=job.content_hash,
        status="ok",
        parser=reader.parser,
        parser_version=reader.parser_version,
        media_type=reader.media_type,
        doc_id=document_id(document.text, data),
        parsed_file=output.name,
        parsed_digest=parsed_digest(document),
        title=document.title,
        language=document.language,
        authors=document.authors,
        year=document.year,
        doi=document.doi,
        journal=document.journal,
        volume=document.volume,
        issue=document.issue,
        page_range=document.page_range,
        page_labels=document.page_labels,
        abstract=document.abstract_text,
        pages=len(document.pages),
        characters=len(document.text),
        blocks=len(document.blocks),
        headings=kinds["heading"],
        sections=len(document.sections),
        tables=max(kinds["table"], attached["table"]),
        figures=attached["figure"],
        references=kinds["reference"],
        attachments=len(document.attachments),
        textless_pages=sum(page.start == page.end for page in document.pages),
        replacement_characters=document.text.count("\ufffd"),
        removed_templates=document.removed_templates,
        warnings=document.warnings,
        blobs=tuple(
            sorted({item.content_hash for item in document.attachments if item.content_hash})
        ),
        seconds=seconds,
    )


if __name__ == "__main__":
    main()
