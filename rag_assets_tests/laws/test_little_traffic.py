"""Law 5 where what is derived is kept in a bucket: what is not changed is not sent."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks import cost
from rag_assets.model import ParseReport
from rag_assets.parsing import pool
from rag_assets.parsing.job import ParseJob
from rag_assets.retrieval import OpenedLibrary
from rag_assets.storage import MANIFEST, build_folder, mount_store, retire_publications
from rag_assets.workspace import Namespace
from rag_assets_tests.laws.driver import (
    InProcessWorker,
    build,
    make_workspace,
    put,
    search_results,
)
from rag_assets_tests.storage.buckets import (
    URL,
    WatchedBucket,
    keep_in,
    other_machine,
    watched_bucket,
)

# Stages with a record of every partition that has documents, each written whole.
RECORDS = 4
# A version of a table of a few fragments, in bytes.
SMALL_FILE = 4_096


@pytest.fixture
def bucket() -> Iterator[WatchedBucket]:
    with watched_bucket() as found:
        yield found


@pytest.fixture
def namespace(tmp_path: Path, bucket: WatchedBucket) -> Namespace:
    workspace = keep_in(make_workspace(tmp_path / "library").root, URL)
    fill(workspace.namespace("lib"), range(6))
    return workspace.namespace("lib")


def fill(namespace: Namespace, numbers: range) -> None:
    for number in numbers:
        text = f"# Roof {number}\n\nRoof number {number} reflects sunlight. It is white.\n"
        put(namespace.workspace, f"evidence/roof-{number}.md", text)
    build(namespace)


def test_an_unchanged_build_sends_nothing_and_asks_by_the_partition(
    namespace: Namespace, bucket: WatchedBucket
) -> None:
    asked = []
    for numbers in (range(6), range(6, 40)):
        fill(namespace, numbers)
        bucket.forget()
        build(namespace)
        assert bucket.put_keys() == []
        assert bucket.sent == {}
        assert {operation for operation, _ in bucket.log} <= {"download", "find", "get", "put"}
        asked.append(bucket.requests.total())
    # 40 documents lie in all 16 partitions, 6 in some; what each costs is a constant.
    assert asked[1] <= asked[0] + 10 * len(namespace.partition_keys)
    assert asked[1] < 20 * len(namespace.partition_keys)


def test_a_first_build_puts_as_often_as_the_table_of_cost_says(
    tmp_path: Path, bucket: WatchedBucket
) -> None:
    puts = []
    for count in (40, 80):
        workspace = keep_in(make_workspace(tmp_path / str(count)).root, f"{URL}-{count}")
        bucket.forget()
        for key in bucket.keys(""):
            bucket.delete(key)
        fill(workspace.namespace("lib"), range(count))
        puts.append(bucket.requests["put"])
    assert (puts[1] - puts[0]) / 40 == pytest.approx(cost.PUTS_PER_DOCUMENT, rel=0.05)


def test_a_changed_document_sends_what_holds_it(
    namespace: Namespace, bucket: WatchedBucket
) -> None:
    bucket.forget()
    put(namespace.workspace, "evidence/roof-0.md", "# Ice\n\nA slurry of ice stores cold.\n")
    published = build(namespace).published
    assert published is not None
    puts = bucket.put_keys()
    files = [key for key in puts if key.startswith(f"index/lib/{published.publication}/")]
    others = [key for key in puts if key not in files]
    assert len(others) <= RECORDS + 1 + 2, "a record each, the parse, the list and the pointer"
    assert len(puts) == len(set(puts)), "each once"
    assert bucket.sent == {}


def test_of_a_publication_that_grows_only_what_is_new_is_sent_and_fetched(
    tmp_path: Path, bucket: WatchedBucket
) -> None:
    settings = {"publish": {"segment_rows": 1}}
    workspace = keep_in(make_workspace(tmp_path / "library", lib=settings).root, URL)
    namespace = workspace.namespace("lib")
    fill(namespace, range(20))
    other = other_machine(workspace, tmp_path / "elsewhere").namespace("lib")
    assert search_results(other) == search_results(namespace)
    before = bucket.keys("index/lib/")
    bucket.forget()
    fill(namespace, range(20, 21))
    copied = {key for operation, key in bucket.log if operation == "copy"}
    sent = {key for key in bucket.put_keys() if key.startswith("index/lib/p-")}
    assert copied and sent and not copied & sent
    # By its SHA-256 each file that is copied was there; of those that are sent, what Lance writes
    # over with each version and is copied on the disk too, which is small.
    hashes = {key.rpartition("/")[2] for key in before}
    assert {key.rpartition("/")[2] for key in copied} <= hashes
    again = [bucket.find(key) for key in sent if key.rpartition("/")[2] in hashes]
    assert all(each is not None and each.size < SMALL_FILE for each in again), again
    bucket.forget()
    assert search_results(other) == search_results(namespace)
    assert set(bucket.sent) - {"index/lib/current.json"} <= sent


def test_files_of_equal_content_are_copied_once_and_not_sent_beside(
    namespace: Namespace, bucket: WatchedBucket
) -> None:
    """Of a publication that grows one may be linked to what was there and the other be new."""
    folder = namespace.publications
    first, second = folder / "p-one", folder / "p-two"

    def fill_first(built: Path) -> None:
        (built / "a.txn").write_text("equal")
        (built / MANIFEST).write_text(json.dumps({"publication": "p", "created_at": 1.0}))

    def fill_second(built: Path) -> None:
        fill_first(built)
        (built / "a.txn").unlink()
        (built / "a.txn").hardlink_to(first / "a.txn")
        (built / "b.txn").write_text("equal")

    build_folder(folder, first.name, fill_first)
    bucket.forget()
    build_folder(folder, second.name, fill_second)
    copied = [key for operation, key in bucket.log if operation == "copy"]
    assert len(copied) == 1
    assert not {key for key in bucket.put_keys() if key.startswith("index/lib/p-two/")}


def test_a_worker_that_has_opened_no_workspace_puts_what_it_parses(
    namespace: Namespace, bucket: WatchedBucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one of another machine, which knows of a job what its message says."""

    class Elsewhere(InProcessWorker):
        def parse(self, job: ParseJob) -> tuple[ParseReport, bool]:
            message = json.loads(json.dumps(job.to_message()))
            mount_store(namespace.workspace.root, None)
            done = super().parse(ParseJob.from_message(message))
            assert bucket.put_keys()[-1].startswith("data/lib/parsed/")
            return done

    monkeypatch.setattr(pool, "WorkerProcess", Elsewhere)
    bucket.forget()
    put(namespace.workspace, "evidence/ice.md", "# Ice\n\nA slurry of ice stores cold.\n")
    assert build(namespace).computed["parse_reports"] == 1


def test_a_query_asks_for_the_pointer_and_fetches_a_publication_once(
    namespace: Namespace, bucket: WatchedBucket, tmp_path: Path
) -> None:
    other = other_machine(namespace.workspace, tmp_path / "elsewhere").namespace("lib")
    expected = search_results(namespace)
    assert search_results(other) == expected
    bucket.forget()
    with OpenedLibrary(other.workspace) as library:
        for _ in range(2):
            with library.hold() as held:
                assert held.readers["lib"].rows > 0
    assert bucket.sent == {}
    assert bucket.requests.total() <= 6, bucket.log
    assert not [key for _, key in bucket.log if key.startswith("data/")]


def test_who_reads_elsewhere_sees_one_publication_to_the_end_and_then_the_next(
    namespace: Namespace, bucket: WatchedBucket, tmp_path: Path
) -> None:
    other = other_machine(namespace.workspace, tmp_path / "elsewhere").namespace("lib")
    with OpenedLibrary(other.workspace) as library:
        with library.hold() as held:
            before, rows = held.names["lib"], held.readers["lib"].rows
            put(namespace.workspace, "evidence/ice.md", "# Ice\n\nA slurry of ice stores cold.\n")
            build(namespace)
            assert retire_publications(namespace.publications, 1, 0.0) == (before,)
            assert held.readers["lib"].search_text("sunlight", 5)
            assert held.readers["lib"].rows == rows
            assert held.readers["lib"].search_text("slurry", 5) == []
        with library.hold() as held:
            assert held.names["lib"] != before
            assert held.readers["lib"].search_text("slurry", 5)
    assert not (other.publications / before).exists()
