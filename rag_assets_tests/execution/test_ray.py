"""Ray as an engine gives what this machine gives, also where workers or the run itself die."""

import colorsys
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag_assets.model import ParseReport, StorageError, hash_bytes
from rag_assets.parsing.pool import parse_files
from rag_assets.parsing.registry import ParserRegistry
from rag_assets.parsing.stored import ParseJob
from rag_assets.storage import Notify
from rag_assets.storage.execution import Execution, LocalExecution, open_engine
from rag_assets_tests.execution.harm import FOLDER, Act, Acts, Harming, begun
from rag_assets_tests.parsing.conftest import make_settings

pytest.importorskip("ray", reason="ray is not installed (extra `ray`)")

ROOT = Path(__file__).parents[2]
_SECONDS = 240
# Parses what a folder holds; the run that a document kills.
RUN = """
import os, sys
from pathlib import Path
from rag_assets_tests.execution.test_ray import parse
folder = Path(sys.argv[1])
(folder / "run.pid").write_text(str(os.getpid()))
from rag_assets.storage.execution import open_engine
with open_engine("ray") as engine:
    parse(folder, engine)
"""


@pytest.fixture(scope="module")
def harmed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return the folder that harming parsers use; Ray's processes inherit its name."""
    folder = tmp_path_factory.mktemp("harmed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(FOLDER, str(folder))
        yield folder


@pytest.fixture(scope="module")
def engine(harmed: Path) -> Iterator[Execution]:
    with open_engine("ray") as engine:
        yield engine


@pytest.fixture
def folder(harmed: Path) -> Iterator[Path]:
    yield harmed
    for path in sorted(harmed.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()


def parse(
    folder: Path, engine: Execution, notify: Notify = lambda _: None, **changes: object
) -> dict[str, ParseReport]:
    """Parse every note of a folder with changed settings; return the reports by name."""
    ParserRegistry.register("text/markdown", Harming())
    try:
        names = {hash_bytes(path.read_bytes()): path for path in sorted(folder.glob("*.md"))}
        jobs = [
            ParseJob(content, path, ".md", None, folder / "out", folder / "out", "request")
            for content, path in names.items()
        ]
        (folder / "out").mkdir(exist_ok=True)
        settings = make_settings(**{"workers": 2, **changes})
        reports = list(parse_files(jobs, settings, execution=engine, notify=notify))
    finally:
        ParserRegistry.unregister("text/markdown")
    assert len(reports) == len(jobs)
    return {names[report.content_hash].stem: report for report in reports}


def write_notes(folder: Path, **sentences: str) -> None:
    for name, sentence in sentences.items():
        (folder / f"{name}.md").write_text(f"# {name}\n\n{sentence}\n", encoding="utf-8")


def told_by(engine: Execution, jobs: list[Act]) -> object:
    """Return all that an engine gives for jobs: results and what was told, or the trouble."""
    parts: dict[int, int] = {}
    try:
        results = list(
            engine.map(
                Acts(),
                jobs,
                pytest.fail,
                on_part=lambda job, part: parts.update({job.number: part}),
            )
        )
    except StorageError as error:
        return type(error), str(error)
    return sorted(results), parts


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.sampled_from(["gives", "fails"]), max_size=12),
    st.one_of(st.none(), st.integers(0, 11)),
)
def test_both_engines_give_the_same(
    engine: Execution, acts: list[str], trouble: int | None
) -> None:
    jobs = [Act(number, what) for number, what in enumerate(acts)]
    if trouble is not None and trouble < len(jobs):
        jobs[trouble] = Act(trouble, "troubles")
    assert told_by(engine, jobs) == told_by(LocalExecution(), jobs)


def test_a_killed_worker_costs_the_job_at_hand(
    engine: Execution, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    said: list[str] = []
    jobs = [Act(number) for number in range(8)]
    jobs[3] = replace(jobs[3], what="dies once")
    results = list(engine.map(Acts(folder), jobs, said.append))
    assert sorted(results) == [(number, "done") for number in range(8)]
    counted = begun(folder)
    assert [counted[str(number)] for number in range(8)] == [1, 1, 1, 2, 1, 1, 1, 1]
    assert Counter(each.getMessage() for each in caplog.records if each.name == "harm") == Counter(
        f"job {number}" for number in range(8)
    )
    (sentence,) = said
    assert "a worker to act died; its job is given to another one (2 tries left)" in sentence


def test_a_worker_that_died_between_two_jobs_costs_neither_a_try(
    engine: Execution, folder: Path
) -> None:
    jobs = [Act(number) for number in range(4)]
    list(engine.map(Acts(folder), jobs, pytest.fail))
    actors = [psutil.Process(int(path.name.partition("-")[2])) for path in folder.glob("actor-*")]
    assert actors
    for actor in actors:
        actor.kill()
    psutil.wait_procs(actors, timeout=_SECONDS)
    assert len(list(engine.map(Acts(folder), jobs, pytest.fail))) == len(jobs)


def test_a_job_that_kills_every_worker_is_given_up(engine: Execution, folder: Path) -> None:
    jobs = [Act(0), Act(1, "dies"), Act(2)]
    results = list(engine.map(Acts(folder), jobs, lambda _: None))
    assert sorted(results) == [(0, "done"), (1, "given up"), (2, "done")]
    assert {name: times for name, times in begun(folder).items() if name.isdigit()} == {
        "0": 1, "1": 3, "2": 1,
    }  # fmt: skip


def test_closing_early_ends_the_actors(engine: Execution, folder: Path) -> None:
    results = engine.map(Acts(folder), [Act(number) for number in range(500)], pytest.fail)
    next(results)
    results.close()  # type: ignore[attr-defined]
    assert len(begun(folder)) < 500
    assert not list(folder.glob("*.lock"))


def test_a_parse_survives_its_worker_and_a_document_that_takes_it_down_is_a_resource_failure(
    engine: Execution, folder: Path
) -> None:
    write_notes(
        folder, a="Roofs.", b="kill worker once", c="kill worker", d="take memory", e="Trees."
    )
    reports = parse(folder, engine)
    found = {name: (each.status, each.reason_code, each.kind) for name, each in reports.items()}
    resource = ("failed", "memory_limit", "resource")
    good = ("ok", reports["a"].reason_code, reports["a"].kind)
    assert found == {"a": good, "b": good, "c": resource, "d": resource, "e": good}
    assert "no memory left" in reports["c"].message
    assert Counter(begun(folder)) == {"a": 1, "b": 2, "c": 3, "d": 1, "e": 1}
    # A second run has what was parsed, and tries what lacked resources.
    assert {name: each.status for name, each in parse(folder, engine).items()} == {
        name: status for name, (status, _, _) in found.items()
    }
    assert {name: begun(folder)[name] for name in "abe"} == {"a": 1, "b": 2, "e": 1}


def test_a_killed_run_leaves_nobody_and_is_taken_up_where_it_was(
    engine: Execution, folder: Path
) -> None:
    write_notes(folder, **{f"n{number}": "Roofs." for number in range(8)}, zz="kill run")
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(folder)], cwd=ROOT, timeout=_SECONDS, check=False
    )
    assert done.returncode == -9
    run = int((folder / "run.pid").read_text())
    before = begun(folder)
    finished = {path.name.partition("-")[0] for path in (folder / "out").glob("*-*.parquet")}
    assert finished
    # Ray's servers name the session, which ends in the run's number; actors have left theirs.
    servers = [each for each in psutil.process_iter(["cmdline"]) if is_of(each, run)]
    actors = [int(path.name.partition("-")[2]) for path in folder.glob("actor-*")]
    assert actors
    left = servers + [psutil.Process(pid) for pid in actors if psutil.pid_exists(pid)]
    assert psutil.wait_procs(left, timeout=_SECONDS)[1] == []
    reports = parse(folder, engine)
    assert {report.status for report in reports.values()} == {"ok"}
    after = begun(folder)
    for name, report in reports.items():
        if report.content_hash in finished:
            assert after[name] == before[name] == 1, name
        else:
            assert after[name] <= 2, name


def test_workers_import_nothing_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "colorsys.py").write_text("raise SystemExit('imported')")
    code = (
        "from rag_assets.storage.execution.on_ray import connect; ray = connect(); "
        "print(ray.get(ray.remote(lambda: __import__('colorsys').__file__).remote()))"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        cwd=tmp_path, timeout=_SECONDS, check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert Path(done.stdout.strip()) == Path(colorsys.__file__)


def is_of(process: psutil.Process, run: int) -> bool:
    """Say whether a process belongs to the Ray that a run has started."""
    return any(f"_{run}" in word for word in process.info["cmdline"] or ())
