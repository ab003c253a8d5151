"""The service's four calls, each tried again where trouble passes."""

import logging
import zipfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any, BinaryIO, TypeVar

import requests
import tenacity

from rag_assets.model import ParseFailure
from rag_assets.services import DownloadError, Limits, TooLargeError, download_into, hide
from rag_assets.settings import MineruSettings
from rag_assets.storage import LocalStore

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
