"""Worker processes, with a parser that misbehaves on demand, installed as a user would."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from rag_assets.knowledge import KnowledgeSource
from rag_assets.model import (
    ConfigurationError,
    ParsedDocument,
    ParseReport,
    StorageError,
    hash_bytes,
)
from rag_assets.parsing import (
    ParseJob,
    ParserRegistry,
    observe_parses,
    parse_files,
    read_parsed,
    register_parser,
    request_fingerprint,
    unregister_parser,
)
from rag_assets.parsing.pool import worker_started_ahead
from rag_assets_tests.parsing.conftest import make_settings

# gzip's magic makes it a binary type of its own; the word after it says what to do.
MAGIC = b"\x1f\x8b\x08"
PARSER = """
import os, signal, sys, time
from rag_assets.parsing.registry import ask_for_seconds
from rag_assets.model import ParsedDocument, ParseFailure

class Parser:
    name, version, media_types, reads_stem = "odd", "1", ("application/gzip",), False

    def parse(self, data, hints, settings):
        word = data[3:].decode()
        if word == "loop":
            while True:
                pass
        if word == "scan":
            ask_for_seconds(600.0)
            while time.process_time() < 3.5:  # more than the second that is granted to all
                pass
        if word == "abort":
            os.abort()
        if word == "exit":
            os._exit(3)
        if word == "eat":
            # 600 MB: the machine has it, a limit of 256 MB does not.
            eaten = [b"x" * (10_000_000 + n) for n in range(60)]
        if word == "raise":
            raise LookupError("no such thing")
        if word == "invalid":
            return ParsedDocument(text="a\\0b", media_type="application/gzip")
        if word == "refuse":
            raise ParseFailure("damaged_file", "Mend it.")
        if word == "print":
            print("{}" * 10_000)
            os.write(1, b"noise")
        return ParsedDocument(text=word, media_type="application/gzip")
"""


@pytest.fixture
def odd_parser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, PARSER)


def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    packages = tmp_path / "packages"
    information = packages / "odd_parser-1.dist-info"
    information.mkdir(parents=True)
    (packages / "odd_parser.py").write_text(source)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: odd-parser\nVersion: 1\n")
    (information / "entry_points.txt").write_text("[rag_assets.parsers]\nodd = odd_parser:Parser\n")
    monkeypatch.setenv("PYTHONPATH", str(packages))


Make = Callable[..., ParseJob]


@pytest.fixture
def make_job(tmp_path: Path) -> Make:
    def make(word: str | bytes, *, name: str = "", extension: str = ".gz") -> ParseJob:
        data = MAGIC + word.encode() if isinstance(word, str) else word
        content = hash_bytes(data)
        path = tmp_path / (name or f"{content[:8]}{extension}")
        path.write_bytes(data)
        request = request_fingerprint(content, extension, None, make_settings())
        return ParseJob(content, path, extension, None, tmp_path / "out", tmp_path, request)

    return make


def run(*jobs: ParseJob, **changes: object) -> dict[str, ParseReport]:
    reports = list(parse_files(jobs, make_settings(**changes)))
    assert sorted(report.content_hash for report in reports) == sorted(
        job.content_hash for job in jobs
    )
    return {report.content_hash: report for report in reports}


def parse_of(job: ParseJob) -> Path:
    """The one parse that stands for a job's content."""
    (path,) = job.folder.glob(f"{job.content_hash}-*.parquet")
    return path


def failure(report: ParseReport) -> tuple[str, str | None, str | None]:
    return report.status, report.reason_code, report.kind


def test_a_parse_is_written_and_reported(make_job: Make) -> None:
    job = make_job(b"# Head\n\nWords.", extension=".md")
    report = run(job)[job.content_hash]
    document, stored = read_parsed(parse_of(job))
    assert stored == report
    assert (report.status, report.title, report.characters) == ("ok", "Head", len(document.text))
    assert report.parsed_file == parse_of(job).name


def test_a_document_that_takes_too_long_harms_no_other(odd_parser: None, make_job: Make) -> None:
    slow, good = make_job("loop"), make_job("good")
    reports = run(slow, good, seconds_per_document=1.0)
    assert failure(reports[slow.content_hash]) == ("failed", "time_limit", "resource")
    assert reports[slow.content_hash].parser == "odd"
    assert reports[good.content_hash].status == "ok"
    assert not list(slow.folder.glob(f"{slow.content_hash}*"))


def test_a_page_that_asks_for_more_time_is_given_it(odd_parser: None, make_job: Make) -> None:
    scan, slow = make_job("scan"), make_job("loop")
    reports = run(scan, slow, seconds_per_document=1.0)
    assert reports[scan.content_hash].status == "ok"
    assert reports[slow.content_hash].reason_code == "time_limit"


@pytest.mark.parametrize("word", ["abort", "exit", "raise", "invalid"])
def test_a_parser_that_crashes_harms_no_other(odd_parser: None, make_job: Make, word: str) -> None:
    bad, good = make_job(word), make_job("good")
    reports = run(bad, good)
    assert failure(reports[bad.content_hash]) == ("failed", "parser_crashed", "deterministic")
    assert reports[good.content_hash].status == "ok"


def test_a_document_that_eats_memory_is_a_resource_failure(
    odd_parser: None, make_job: Make
) -> None:
    hungry, good = make_job("eat"), make_job("good")
    reports = run(hungry, good, megabytes_of_memory=256)
    assert failure(reports[hungry.content_hash]) == ("failed", "memory_limit", "resource")
    assert reports[good.content_hash].status == "ok"


def test_the_least_memory_that_may_be_set_parses_a_small_file(make_job: Make) -> None:
    job = make_job(b"Words.", extension=".txt")
    assert run(job, megabytes_of_memory=256)[job.content_hash].status == "ok"


def test_a_failure_of_the_document_is_reported_as_it_is(odd_parser: None, make_job: Make) -> None:
    job = make_job("refuse")
    report = run(job)[job.content_hash]
    assert failure(report) == ("failed", "damaged_file", "deterministic")
    assert (report.message, report.doc_id) == ("Mend it.", job.content_hash)


def test_a_parser_that_prints_does_not_break_the_protocol(odd_parser: None, make_job: Make) -> None:
    job = make_job("print")
    assert run(job)[job.content_hash].status == "ok"


def test_a_file_saved_after_hashing_is_never_stored_under_the_old_hash(make_job: Make) -> None:
    job = make_job(b"First.", extension=".txt")
    job.path.write_bytes(b"Second.")
    report = run(job)[job.content_hash]
    assert failure(report) == ("failed", "changed_while_reading", "resource")
    assert not list(job.folder.glob("*.parquet"))


def test_a_file_that_is_gone_is_a_resource_failure(make_job: Make) -> None:
    job = make_job(b"First.", extension=".txt")
    job.path.unlink()
    assert failure(run(job)[job.content_hash]) == ("failed", "unreadable_file", "resource")


def test_a_parse_that_is_on_disk_is_not_made_again(make_job: Make) -> None:
    job = make_job(b"Words.", extension=".txt")
    first = run(job)[job.content_hash]
    written = parse_of(job).stat()
    with observe_parses() as seen:
        assert run(job)[job.content_hash] == first
    assert seen == [("reused", job.content_hash)]
    assert parse_of(job).stat().st_ino == written.st_ino


def test_a_damaged_parse_on_disk_is_made_again(make_job: Make) -> None:
    job = make_job(b"Words.", extension=".txt")
    run(job)
    parse_of(job).write_bytes(parse_of(job).read_bytes()[:-20])
    with observe_parses() as seen:
        run(job)
    assert seen == [("parsed", job.content_hash)]
    assert read_parsed(parse_of(job))[0].text == "Words."


@pytest.mark.parametrize("name", ["a\nb.txt", "🙂.txt", "x" * 251 + ".txt", "\udce9.txt"])
def test_odd_file_names_are_read(make_job: Make, name: str) -> None:
    job = make_job(b"Words.", name=name, extension=".txt")
    assert run(job)[job.content_hash].status == "ok"


def test_a_place_that_cannot_be_written_stops_the_whole_run(make_job: Make, tmp_path: Path) -> None:
    job = make_job(b"Words.", extension=".txt")
    (tmp_path / "out").write_text("a file where the folder should be")
    with pytest.raises(StorageError):
        run(job)


def test_a_parser_that_cannot_be_loaded_stops_the_whole_run(
    make_job: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = make_job(b"Words.", extension=".txt")
    install(tmp_path, monkeypatch, "import no_such_module_anywhere")
    with pytest.raises(ConfigurationError, match="odd_parser"):
        run(job)


def test_no_jobs_need_no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_assets.parsing.pool.WorkerProcess", None)
    assert list(parse_files([], make_settings())) == []


def test_a_progress_callback_sees_every_report(make_job: Make) -> None:
    jobs = [make_job(f"Words {n}.".encode(), extension=".txt") for n in range(5)]
    seen: list[ParseReport] = []
    reports = list(parse_files(jobs, make_settings(workers=2), seen.append))
    assert seen == reports
    assert {report.content_hash for report in reports} == {job.content_hash for job in jobs}


@pytest.fixture
def children() -> Callable[[], list[psutil.Process]]:
    """Return what lists the processes that the test has started: a session's servers run too."""
    before = set(psutil.Process().children(recursive=True))

    def started() -> list[psutil.Process]:
        return [one for one in psutil.Process().children(recursive=True) if one not in before]

    return started


def test_closing_early_ends_the_workers(
    odd_parser: None, make_job: Make, children: Callable[[], list[psutil.Process]]
) -> None:
    # The limit is so long that only closing can end the loop.
    endless = make_settings(seconds_per_document=86_400.0)
    reports = parse_files([make_job("good"), make_job("loop")], endless)
    assert next(reports).status == "ok"
    workers = children()
    assert workers
    reports.close()  # type: ignore[attr-defined]
    assert not any(worker.is_running() for worker in workers)


def test_a_worker_that_was_started_ahead_parses(
    make_job: Make, children: Callable[[], list[psutil.Process]]
) -> None:
    with worker_started_ahead(make_settings()):
        (ahead,) = children()
        reports = parse_files([make_job(b"Words.", extension=".md")], make_settings())
        assert children() == [ahead]
        assert next(reports).status == "ok"
        assert children() == [ahead]
        reports.close()  # type: ignore[attr-defined]
        assert not ahead.is_running()


def test_a_worker_that_was_started_ahead_is_not_taken_for_other_settings(
    make_job: Make, children: Callable[[], list[psutil.Process]]
) -> None:
    with worker_started_ahead(make_settings(max_pages=1)):
        (ahead,) = children()
        (report,) = run(make_job(b"Words.", extension=".md")).values()
        assert report.status == "ok"
        assert ahead.is_running()
    assert not ahead.is_running()


PARENT = """
import sys
from pathlib import Path
from rag_assets.parsing import ParseJob, parse_files
from rag_assets_tests.parsing.conftest import make_settings
good, slow = (ParseJob(h, Path(p), ".gz", None, Path(o), Path(o).parent, "") for h, p, o in
              (line.split("|") for line in sys.argv[1:]))
for report in parse_files([good, slow], make_settings()):
    print(report.status, flush=True)
"""


def test_a_killed_parent_leaves_no_worker(
    odd_parser: None, make_job: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = str(Path(__file__).resolve().parents[2])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([root, os.environ["PYTHONPATH"]]))
    jobs = [f"{j.content_hash}|{j.path}|{j.folder}" for j in (make_job("good"), make_job("loop"))]
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, *jobs], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    assert parent.stdout.readline() == "ok\n"
    workers = psutil.Process(parent.pid).children(recursive=True)
    assert workers
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    _, alive = psutil.wait_procs(workers, timeout=30)
    assert not alive


def test_a_parser_that_is_registered_at_run_time_reads_previews_and_builds(
    make_job: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "odd_at_run_time.py").write_text(PARSER)
    monkeypatch.syspath_prepend(tmp_path)
    import odd_at_run_time  # type: ignore[import-not-found]

    job = make_job("good")
    before = run(job)[job.content_hash]
    assert failure(before) == ("failed", "unsupported_format", "deterministic")
    ParserRegistry.register("application/gzip", odd_at_run_time.Parser)
    try:
        assert run(job)[job.content_hash].parser == "odd"
        preview = KnowledgeSource("a.gz", MAGIC + b"good").chunk()
        assert [chunk.content for chunk in preview.chunks] == ["good"]
    finally:
        ParserRegistry.unregister("application/gzip")
    assert failure(run(make_job("more")).popitem()[1])[1] == "unsupported_format"


def test_a_registered_parser_that_workers_cannot_make_is_told(make_job: Make) -> None:
    class Local:
        name, version, media_types, reads_stem = "local", "1", ("application/gzip",), False

        def parse(self, data: bytes, hints: object, settings: object) -> ParsedDocument:
            return ParsedDocument(text="read", media_type="application/gzip")

    parser = Local()
    register_parser(parser)
    try:
        with pytest.raises(ConfigurationError, match="top level of a module"):
            run(make_job("good"))
    finally:
        unregister_parser(parser)
    with pytest.raises(ConfigurationError, match="media type"):
        ParserRegistry.register("gzip", Local)
