"""Two runs parse the same partition at once: no lock meanwhile, nothing twice, nothing lost."""

import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from rag_assets.model import ParseReport, StageOutcome, StorageError
from rag_assets.parsing import observe_parses, pool
from rag_assets.parsing.stage import refresh_parse_reports
from rag_assets.parsing.stored import ParseJob
from rag_assets.storage import read_entries
from rag_assets.workspace import Namespace, Workspace, take_inventory
from rag_assets.workspace.stages import PARSES, stage_lock
from rag_assets_tests.laws.driver import (
    InProcessWorker,
    build,
    clean_build,
    make_workspace,
    put,
    silent,
    state_of,
)

# In a process of its own: it fails where the lock is not free at once.
TAKE = """
import sys
from pathlib import Path
from rag_assets.storage import hold_lock
with hold_lock(Path(sys.argv[1]), "a record", print, seconds=0):
    print("free")
"""
_WAIT_SECONDS = 120


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return make_workspace(tmp_path / "library", lib={"hex_digits": 1})


def texts_of(namespace: Namespace, partition: str, count: int) -> list[str]:
    """Return so many texts whose contents lie in one partition."""
    import hashlib

    numbered = (f"# Note {number}\n\nRoofs are cool.\n" for number in range(100_000))
    fitting = (
        text
        for text in numbered
        if namespace.partition_of(hashlib.sha256(text.encode()).hexdigest()) == partition
    )
    return [next(fitting) for _ in range(count)]


@pytest.fixture
def namespace(workspace: Workspace) -> Namespace:
    """Five notes of one partition, seen and not parsed."""
    namespace = workspace.namespace("lib")
    for number, text in enumerate(texts_of(namespace, "a", 5)):
        put(workspace, f"evidence/{number}.md", text)
    return namespace


def parse(namespace: Namespace, notify: Callable[[str], None] = silent) -> StageOutcome:
    """Take the inventory and parse the partition, as a run does."""
    inventory = take_inventory(namespace, notify=silent).inventory
    return refresh_parse_reports(namespace, inventory, ["a"], notify)["a"]


class Held:
    """Holds the first document of one run in the middle of its parse."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.reached, self.goes_on = threading.Event(), threading.Event()
        guard, held = threading.Lock(), self

        class Worker(InProcessWorker):
            def parse(self, job: ParseJob) -> tuple[ParseReport, bool]:
                with guard:
                    is_first, _ = not held.reached.is_set(), held.reached.set()
                if is_first:
                    assert held.goes_on.wait(_WAIT_SECONDS)
                return super().parse(job)

        monkeypatch.setattr(pool, "WorkerProcess", Worker)

    def run(self, namespace: Namespace) -> Callable[[], StageOutcome]:
        """Start a run that is held, and return what lets it go on and gives its outcome."""
        found: list[StageOutcome] = []
        thread = threading.Thread(target=lambda: found.append(parse(namespace)))
        thread.start()
        assert self.reached.wait(_WAIT_SECONDS)

        def finish() -> StageOutcome:
            self.goes_on.set()
            thread.join(_WAIT_SECONDS)
            return found[0]

        return finish


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Held:
    return Held(monkeypatch)


def test_the_lock_of_a_partition_is_free_while_its_documents_are_parsed(
    namespace: Namespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers: list[str] = []
    lock = stage_lock(namespace, PARSES, "a")

    class Asking(InProcessWorker):
        def parse(self, job: ParseJob) -> tuple[ParseReport, bool]:
            ran = subprocess.run(
                [sys.executable, "-c", TAKE, str(lock)], capture_output=True, text=True, check=False
            )
            answers.append(ran.stdout.strip() or ran.stderr)
            return super().parse(job)

    monkeypatch.setattr(pool, "WorkerProcess", Asking)
    assert parse(namespace).computed == 5
    assert answers == ["free"] * 5


def test_two_runs_share_the_documents_and_parse_none_twice(
    namespace: Namespace, held: Held, tmp_path: Path
) -> None:
    with observe_parses() as parses:
        finish = held.run(namespace)
        said: list[str] = []

        def notify(sentence: str) -> None:
            said.append(sentence)
            held.goes_on.set()

        second = parse(namespace, notify)
        first = finish()
    assert said[0] == "waiting for another process that does 1 of the jobs to parse"
    times = Counter(content for what, content in parses if what == "parsed")
    assert sorted(times.values()) == [1] * 5
    assert first.digest == second.digest
    assert first.computed + second.computed == 5
    assert not [*namespace.parsed_folder("a").glob(".*")]
    build(namespace)
    assert state_of(namespace) == state_of(clean_build(namespace, tmp_path / "clean"))


@pytest.fixture
def no_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs that do not see each other's claims, as on two machines."""
    monkeypatch.setattr(pool.ParseKind, "claim", lambda _self, _job: None)


@pytest.mark.usefixtures("no_claims")
def test_a_run_that_was_overtaken_writes_nothing(namespace: Namespace, held: Held) -> None:
    finish = held.run(namespace)
    assert parse(namespace).computed == 5
    record = namespace.record(PARSES, "a")
    written = record.stat().st_ino
    outcome = finish()
    assert (outcome.computed, outcome.counts["documents"]) == (0, 5)
    assert record.stat().st_ino == written
    assert parse(namespace).computed == 0


@pytest.mark.usefixtures("no_claims")
def test_a_run_that_was_overtaken_keeps_what_it_has_never_seen(
    namespace: Namespace, held: Held, tmp_path: Path
) -> None:
    finish = held.run(namespace)
    *_, late = texts_of(namespace, "a", 6)
    put(namespace.workspace, "evidence/late.md", late)
    (namespace.workspace.root / "raw/evidence/0.md").unlink()
    parse(namespace)
    finish()
    assert len(read_entries(namespace.record(PARSES, "a"))) == 6
    assert build(namespace).computed["parse_reports"] == 0
    assert state_of(namespace) == state_of(clean_build(namespace, tmp_path / "clean"))


def test_a_parse_that_was_removed_meanwhile_is_told(
    namespace: Namespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Losing(InProcessWorker):
        def parse(self, job: ParseJob) -> tuple[ParseReport, bool]:
            report, reused = super().parse(job)
            (job.folder / str(report.parsed_file)).unlink()
            return report, reused

    with monkeypatch.context() as patch:
        patch.setattr(pool, "WorkerProcess", Losing)
        with pytest.raises(StorageError, match=r"was removed .* Run the command again"):
            parse(namespace)
    assert parse(namespace).computed == 5


def test_a_parse_whose_attachments_are_gone_is_made_again(namespace: Namespace) -> None:
    picture = "# Seen\n\n![dot](data:image/png;base64,aGVsbG8=)\n"
    put(namespace.workspace, "evidence/picture.md", picture)
    build(namespace)
    blobs = [path for path in namespace.blobs.glob("??/*") if path.is_file()]
    assert blobs
    for path in blobs:
        path.unlink()
    with observe_parses() as parses:
        build(namespace)
    assert [what for what, _ in parses] == ["parsed"]
    assert all(path.is_file() for path in blobs)
