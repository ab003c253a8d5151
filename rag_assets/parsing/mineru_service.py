"""PDF files sent to MinerU in batches; its answers are kept."""

import logging
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import requests
import tenacity

from rag_assets.llm.services import DownloadError, Limits, TooLargeError, download_into, hide
from rag_assets.model import ParseFailure, ParseReport, Progress
from rag_assets.model.settings import MineruSettings, ParseSettings
from rag_assets.parsing.document import parse_fingerprint
from rag_assets.parsing.mineru import (
    SPLIT_MANIFEST,
    MineruParser,
    Part,
    read_split_manifest,
    split_document,
)
from rag_assets.parsing.sniffing import PDF_TYPE, sniff_media_type
from rag_assets.parsing.stored import ParseJob, Reader, failed_report
from rag_assets.storage import LocalStore
from rag_assets.workspace import Namespace, read_secret

# The service's four calls, each tried again where trouble passes.

API_KEY_VARIABLE = "MINERU_API_KEY"
# Seconds without a byte from the other side after which a call is tried again.
_SILENCE_SECONDS = 60.0
_LONGEST_BACKOFF_SECONDS = 60.0
# The largest answers hold the pictures of a few hundred scanned pages.
_LARGEST_ANSWER_BYTES = 2 << 30
# For one whole answer, however its server sends it.
_ANSWER_SECONDS = 3600.0
_RETRIED_STATUS = (408, 425, 429, 500, 502, 503, 504)
_REFUSED_STATUS = (401, 403)
_FIRST_ERROR = 400

_Answer = TypeVar("_Answer")
_log = logging.getLogger(__name__)


class _PassingError(Exception):
    """Trouble that may be gone at the next try."""

    def __init__(self, message: str, wait_seconds: float = 0.0) -> None:
        super().__init__(message)
        self.wait_seconds = wait_seconds


class MineruService:
    """One key's access to the service. Its calls may be made from several threads."""

    def __init__(self, settings: MineruSettings, key: str) -> None:
        self._settings = settings
        self._authorization = {"Authorization": f"Bearer {key}"}

    def request_uploads(self, files: Sequence[tuple[str, str]]) -> tuple[str, list[str]]:
        """Ask for a place for each file.

        Args:
            files: (name, data_id), at most `batch_files`.

        Returns:
            The batch's id and a URL a file, in order.

        Raises:
            ParseFailure: `provider_refused` or `provider_failed`.
        """
        body: dict[str, Any] = {
            "files": [{"name": name, "data_id": data_id} for name, data_id in files],
            "model_version": self._settings.model_version,
            "enable_formula": True,
            "enable_table": True,
        }

        def ask() -> tuple[str, list[str]]:
            data = self._call("POST", "file-urls/batch", body)
            urls = [str(url) for url in data["file_urls"]]
            if len(urls) != len(files):
                raise _PassingError(f"{len(urls)} upload URLs for {len(files)} files")
            return str(data["batch_id"]), urls

        return self._retried("asking for upload URLs", ask)

    def upload(self, url: str, store: LocalStore, key: str) -> None:
        """PUT a value; the service begins with it by itself.

        Raises:
            ParseFailure: `provider_refused` or `provider_failed`.
        """

        def put() -> None:
            # The URL is signed for a request without Content-Type: a stream sends none.
            with store.reading(key) as stream:
                answer = requests.put(url, data=stream, timeout=_SILENCE_SECONDS)
            _check(answer.status_code, answer.headers)

        self._retried(f"uploading {key}", put)

    def results(self, batch: str) -> list[dict[str, Any]]:
        """Return the state of every file of a batch: `data_id`, `state`, `full_zip_url`.

        Raises:
            ParseFailure: `provider_refused` or `provider_failed`.
        """

        def ask() -> list[dict[str, Any]]:
            found = self._call("GET", f"extract-results/batch/{batch}")["extract_result"]
            return list(found)

        return self._retried(f"asking for batch {batch}", ask)

    def download(self, url: str, store: LocalStore, key: str) -> None:
        """Fetch an answer, whole or not at all; a broken zip is fetched again.

        Raises:
            ParseFailure: `provider_refused` or `provider_failed`.
        """
        # The service may stand in a private network, or behind a company's proxy.
        limits = Limits(_LARGEST_ANSWER_BYTES, _ANSWER_SECONDS, allow_private=True, use_proxy=True)

        def fetch() -> None:
            with store.filling(key) as stream:
                try:
                    answer = download_into(stream, url, limits)
                except TooLargeError:
                    raise _PassingError(f"more than {limits.bytes} bytes came") from None
                except DownloadError as error:
                    raise _PassingError(hide(str(error), None)) from None
                _check(answer.status, answer.headers)
                _check_zip(stream)

        self._retried(f"downloading {key}", fetch)

    def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        url = f"{self._settings.url.rstrip('/')}/{path}"
        answer = requests.request(
            method, url, json=body, headers=self._authorization, timeout=_SILENCE_SECONDS
        )
        _check(answer.status_code, answer.headers)
        content = answer.json()
        if content.get("code") != 0:
            raise ParseFailure(
                "provider_refused",
                f"MinerU refused the request ({content.get('msg', 'no reason given')}): see "
                "https://mineru.net/apiManage/docs for its error codes, then run with --retry.",
                kind="resource",
            )
        return content["data"]

    def _retried(self, what: str, call: Callable[[], _Answer]) -> _Answer:
        settings = self._settings
        backoff = tenacity.wait_random_exponential(
            multiplier=settings.backoff_seconds, max=_LONGEST_BACKOFF_SECONDS
        )

        def wait(state: tenacity.RetryCallState) -> float:
            error = state.outcome.exception() if state.outcome else None
            asked = error.wait_seconds if isinstance(error, _PassingError) else 0.0
            return max(backoff(state), min(asked, _LONGEST_BACKOFF_SECONDS))

        try:
            for attempt in tenacity.Retrying(
                stop=tenacity.stop_after_attempt(settings.attempts),
                wait=wait,
                retry=tenacity.retry_if_exception_type(_PassingError),
                before_sleep=tenacity.before_sleep_log(_log, logging.INFO),
                reraise=True,
            ):
                with attempt:
                    return _without_secrets(call)
        except _PassingError as error:
            raise ParseFailure(
                "provider_failed",
                f"MinerU: {what} failed {settings.attempts} times ({error}). Look whether the "
                "service and the network are up, then run with --retry.",
                kind="resource",
            ) from error
        raise AssertionError("tenacity ends with a result or an error")


# Broken connections and answers that are not what the protocol says; both may pass.
_TRANSPORT_ERRORS = (
    requests.ConnectionError,
    requests.Timeout,
    requests.exceptions.ChunkedEncodingError,
    requests.exceptions.ContentDecodingError,
    requests.exceptions.JSONDecodeError,
)


def _without_secrets(call: Callable[[], _Answer]) -> _Answer:
    """Call; trouble of the connection names no address with the signature that is in it."""
    try:
        return call()
    except _TRANSPORT_ERRORS as error:
        said = hide(str(error), None)
        raise _PassingError(f"{type(error).__name__}: {said}") from None


def _check(status: int, headers: Mapping[str, str]) -> None:
    if status in _RETRIED_STATUS:
        asked = headers.get("retry-after", "")
        raise _PassingError(f"HTTP {status}", float(asked) if asked.isdigit() else 0.0)
    if status in _REFUSED_STATUS:
        raise ParseFailure(
            "provider_refused",
            f"MinerU does not accept the key (HTTP {status}): put a valid one into "
            f"{API_KEY_VARIABLE} (https://mineru.net/apiManage/token), then run with --retry.",
            kind="resource",
        )
    if status >= _FIRST_ERROR:
        raise ParseFailure(
            "provider_failed",
            f"MinerU answered HTTP {status}: see https://mineru.net/apiManage/docs, "
            "then run with --retry.",
            kind="resource",
        )


def _check_zip(stream: BinaryIO) -> None:
    try:
        with zipfile.ZipFile(stream) as archive:
            broken = archive.testzip()
    except (zipfile.BadZipFile, EOFError) as error:
        raise _PassingError(f"the zip is broken: {error}") from error
    if broken is not None:
        raise _PassingError(f"the zip is broken at {broken}")


# Many PDFs through the service: split, upload in batches, poll, download.

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
                f"MinerU was not done after {self._settings.wait_seconds:g} seconds. "
                "Run with --retry later.",
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


# Before parsing: what a cloud provider must convert is sent, and its answers are fetched.

# A PDF's mark stands in its first kilobyte.
_HEAD_BYTES = 4096


def send_to_provider(
    jobs: Sequence[ParseJob], namespace: Namespace, on_progress: Progress | None
) -> tuple[list[ParseJob], list[ParseReport]]:
    """Return the jobs that can be parsed now, and reports of those whose provider failed.

    For namespaces with `parse.parser: mineru` alone: every PDF that has no answer yet is sent.
    """
    settings = namespace.settings.parse

    ready = [job for job in jobs if not _is_pdf(job)]
    conversions = {
        job.content_hash: Conversion(
            job.content_hash,
            job.path,
            namespace.answers / f"{job.content_hash}-{_fingerprint(job, settings)[:16]}",
            job.password,
        )
        for job in jobs
        if _is_pdf(job)
    }
    key = read_secret(namespace.workspace, API_KEY_VARIABLE)
    if key is not None:
        convert_documents(
            list(conversions.values()),
            settings.mineru,
            key.get_secret_value(),
            lambda done, total: (
                on_progress("converting by MinerU", done, total) if on_progress else None
            ),
        )
    reports = []
    for job in jobs:
        conversion = conversions.get(job.content_hash)
        if conversion is None:
            continue
        failure = conversion.failure
        if key is None and not conversion.is_complete():
            failure = ParseFailure(
                "missing_key",
                f"`parser: mineru` needs a key: get one at https://mineru.net/apiManage/token, "
                f"write {API_KEY_VARIABLE}=… into the workspace's .env (or the environment), then "
                "run with --retry.",
                kind="resource",
            )
        if failure is None:
            ready.append(replace(job, answer=conversion.folder))
        else:
            parser = MineruParser()
            reader = Reader(PDF_TYPE, parser.name, parser.version)
            reports.append(failed_report(job, reader, failure, 0.0))
    return ready, reports


def _fingerprint(job: ParseJob, settings: ParseSettings) -> str:
    return parse_fingerprint(job.request, PDF_TYPE, settings, job.stem)


def _is_pdf(job: ParseJob) -> bool:
    try:
        with job.path.open("rb") as stream:
            return sniff_media_type(stream.read(_HEAD_BYTES), job.extension) == PDF_TYPE
    except (OSError, ParseFailure):
        return False  # the worker meets the same trouble and reports it
