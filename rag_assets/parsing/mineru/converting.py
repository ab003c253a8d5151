"""Many PDFs through the service: split, upload in batches, poll, download."""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from rag_assets.model import ParseFailure
from rag_assets.parsing.mineru.service import MineruService
from rag_assets.parsing.mineru.splitting import (
    SPLIT_MANIFEST,
    Part,
    read_split_manifest,
    split_document,
)
from rag_assets.settings import MineruSettings
from rag_assets.storage import LocalStore

# Transfers at once: the line is the limit, not the machine.
_TRANSFERS = 4


@dataclass(slots=True)
class Conversion:
    """One document and what became of it.

    Args:
        folder: where its split manifest and the answers are kept; a complete one is not sent
            again.
        failure: why there is no answer, None where there is one.
    """

    content_hash: str
    path: Path
    folder: Path
    password: str | None = None
    failure: ParseFailure | None = None
    parts: list[Part] = field(default_factory=list)

    def is_complete(self) -> bool:
        """Tell whether every part's answer is there."""
        store = LocalStore(self.folder)
        if store.find(SPLIT_MANIFEST) is None:
            return False
        _, parts = read_split_manifest(self.folder)
        return all(store.find(part.answer) is not None for part in parts)


def convert_documents(
    conversions: Sequence[Conversion],
    settings: MineruSettings,
    key: str,
    on_done: Callable[[int, int], None] | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Send what has no answer yet and fetch the answers; failures are noted at each document.

    Args:
        conversions: of PDFs; completed in place.
        key: for the service.
        on_done: told (parts done, all parts).
        sleep: waits between two polls.
    """
    service = MineruService(settings, key)
    waiting = [item for item in conversions if not item.is_complete()]
    for item in waiting:
        try:
            item.parts = split_document(
                item.path, item.content_hash, item.folder, settings, item.password
            )
        except ParseFailure as failure:
            item.failure = failure
    sending = [(item, part) for item in waiting for part in item.parts]
    total, done = len(sending), 0
    for batch in _batches(sending, settings.batch_files):
        _Batch(service, settings, batch, sleep).run()
        done += len(batch)
        if on_done is not None:
            on_done(done, total)
    for item, part in sending:
        LocalStore(item.folder).delete(part.name)


_Sending = tuple[Conversion, Part]


def _batches(items: Sequence[_Sending], size: int) -> Iterator[list[_Sending]]:
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch


class _Batch:
    """At most `batch_files` parts that are uploaded and awaited together."""

    def __init__(
        self,
        service: MineruService,
        settings: MineruSettings,
        sending: Sequence[_Sending],
        sleep: Callable[[float], None],
    ) -> None:
        self._service, self._settings, self._sleep = service, settings, sleep
        self._by_id = {
            f"{item.content_hash[:32]}-{part.number:03d}": (item, part) for item, part in sending
        }

    def run(self) -> None:
        names = [(part.name, data_id) for data_id, (_, part) in self._by_id.items()]
        try:
            batch, urls = self._service.request_uploads(names)
        except ParseFailure as failure:
            self._fail(self._by_id, failure)
            return
        self._each(
            list(zip(self._by_id, urls, strict=True)),
            self._send,
        )
        self._await(batch)

    def _send(self, data_id: str, url: str) -> None:
        item, part = self._by_id[data_id]
        self._service.upload(url, LocalStore(item.folder), part.name)

    def _await(self, batch: str) -> None:
        """Poll until every part is done, failed or out of time; fetch answers as they come."""
        open_ids = {data_id for data_id, (item, _) in self._by_id.items() if not item.failure}
        polls = max(1, round(self._settings.wait_seconds / self._settings.poll_seconds))
        for _ in range(polls):
            if not open_ids:
                return
            try:
                results = self._service.results(batch)
            except ParseFailure as failure:
                self._fail(open_ids, failure)
                return
            ready: list[tuple[str, str]] = []
            for result in results:
                data_id = str(result.get("data_id", ""))
                if data_id not in open_ids:
                    continue
                if result.get("state") == "done":
                    ready.append((data_id, str(result["full_zip_url"])))
                elif result.get("state") == "failed":
                    self._fail([data_id], _refusal(result))
                    open_ids.discard(data_id)
            self._each(ready, self._fetch)
            open_ids -= {data_id for data_id, _ in ready}
            if open_ids:
                self._sleep(self._settings.poll_seconds)
        self._fail(
            open_ids,
            ParseFailure(
                "provider_timeout",
                f"MinerU was not done after {self._settings.wait_seconds:g} seconds "
                "(parse.mineru.wait_seconds): raise the setting, or run with --retry later.",
                kind="resource",
            ),
        )

    def _fetch(self, data_id: str, url: str) -> None:
        item, part = self._by_id[data_id]
        self._service.download(url, LocalStore(item.folder), part.answer)

    def _each(self, pairs: Sequence[tuple[str, str]], call: Callable[[str, str], None]) -> None:
        """Run a transfer for each part, a few at once; a failure harms its own document."""

        def guarded(pair: tuple[str, str]) -> None:
            try:
                call(*pair)
            except ParseFailure as failure:
                self._fail([pair[0]], failure)

        with ThreadPoolExecutor(_TRANSFERS) as pool:
            list(pool.map(guarded, pairs))

    def _fail(
        self, data_ids: "Sequence[str] | set[str] | dict[str, Any]", failure: ParseFailure
    ) -> None:
        for data_id in data_ids:
            item = self._by_id[data_id][0]
            item.failure = item.failure or failure


def _refusal(result: dict[str, Any]) -> ParseFailure:
    reason = result.get("err_msg") or "no reason given"
    return ParseFailure(
        "provider_failed",
        f"MinerU could not read the document ({reason}): use `parser: pymupdf` for it, or run "
        "with --retry.",
        kind="resource",
    )
