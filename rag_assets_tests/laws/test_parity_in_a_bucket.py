"""Laws 3 and 4 where what is derived is kept in a bucket, and the folder is a cache of it."""

import os
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import rule

from rag_assets.storage import s3
from rag_assets.storage.bucket import _Whatever
from rag_assets.storage.leases import Holder
from rag_assets_tests.laws.driver import build
from rag_assets_tests.laws.test_parity import Histories, run_histories
from rag_assets_tests.storage.buckets import URL, Killed, WatchedBucket, keep_in, watched_bucket
from rag_assets_tests.storage.object_servers import ObjectServer, fresh_url

_QUICK_EXAMPLES = 3
_LONG_EXAMPLES = int(os.environ.get("RAG_PARITY_EXAMPLES", "30"))
# A request to a server takes some milliseconds, and a history makes some thousands.
_SERVER_EXAMPLES = 4


class WatchedS3(s3.S3Bucket):
    """A bucket of a server whose puts are shown to the test, as `WatchedBucket` does."""

    asked: Callable[[str, str], None]
    answered: Callable[[str, str], None]

    def put(self, key: str, data: bytes | Path, expected: str | _Whatever | None) -> str | None:
        self.asked("put", key)
        version = super().put(key, data, expected)
        self.answered("put", key)
        return version


@contextmanager
def watched_s3() -> Iterator[WatchedS3]:
    """Have a place of its own on the server of the environment, for this process alone."""
    name, prefix = fresh_url().removeprefix("s3://").split("/")
    bucket = WatchedS3(name, prefix)
    die_after(bucket, None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(s3, "open_bucket", lambda url: bucket)
        yield bucket


class HistoriesInABucket(Histories):
    """The same histories, of a library in a bucket, by machines that lose what they have."""

    watching: ClassVar[Callable[[], AbstractContextManager[Any]]] = watched_bucket

    def __init__(self) -> None:
        super().__init__()
        # A process that is made to die lives on, as another one: its leases are those of the dead.
        self.lives = 0
        self._patch = pytest.MonkeyPatch()
        self._patch.setattr(Holder, "here", classmethod(lambda cls: self._holder()))
        self._patch.setattr(Holder, "is_gone", lambda holder: holder != self._holder())
        self._watching = type(self).watching()
        self.bucket = self._watching.__enter__()
        self.workspace = keep_in(self.workspace.root, URL)
        self.namespace = self.workspace.namespace("lib")

    def _holder(self) -> Holder:
        return Holder(host="here", process=self.lives, place=None, started=None)

    @rule()
    def lose_the_cache(self) -> None:
        for name in ("data", "index"):
            shutil.rmtree(self.workspace.root / name, ignore_errors=True)

    @rule(seed=st.integers(0, 2**20))
    def lose_half_of_the_cache(self, seed: int) -> None:
        chosen = random.Random(seed)
        for name in ("data", "index"):
            for path in sorted((self.workspace.root / name).rglob("*")):
                if path.is_file() and chosen.random() < 0.5:
                    path.unlink()

    @rule(seed=st.integers(0, 2**20))
    def die_at_some_request(self, seed: int) -> None:
        die_after(self.bucket, random.Random(seed).randrange(60))
        try:
            build(self.namespace)
        except Killed:
            pass
        finally:
            die_after(self.bucket, None)
            self.lives += 1

    def teardown(self) -> None:
        try:
            super().teardown()
        finally:
            self._watching.__exit__(None, None, None)
            self._patch.undo()


def die_after(bucket: WatchedBucket | WatchedS3, puts: int | None) -> None:
    """Let whoever asks die at the put of that number, before or after it was served."""
    left = [puts]

    def count(operation: str, key: str) -> None:
        if operation != "put" or left[0] is None:
            return
        left[0] -= 1
        if left[0] < 0:
            raise Killed

    bucket.asked = count if puts is not None and puts % 2 else lambda operation, key: None
    bucket.answered = count if puts is not None and not puts % 2 else lambda operation, key: None


class HistoriesOnAServer(HistoriesInABucket):
    """The same, of a server."""

    watching = watched_s3


def test_clean_build_equals_short_histories_in_a_bucket() -> None:
    run_histories(_QUICK_EXAMPLES, 14, fixed=True, machine=HistoriesInABucket)


@pytest.mark.slow
def test_clean_build_equals_long_histories_in_a_bucket() -> None:
    run_histories(_LONG_EXAMPLES, 30, fixed=False, machine=HistoriesInABucket)


@pytest.mark.slow
def test_clean_build_equals_histories_on_each_server(object_server: ObjectServer) -> None:
    run_histories(_SERVER_EXAMPLES, 12, fixed=True, machine=HistoriesOnAServer)
