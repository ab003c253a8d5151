"""Calls that are tried again where trouble passes, and what is said where it does not."""

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar
from urllib.parse import urlsplit, urlunsplit

import tenacity
from pydantic import SecretStr

from rag_assets.model import ConfigurationError, ServiceError, hide_credentials
from rag_assets.workspace import find_secret

if TYPE_CHECKING:
    from google.auth.credentials import Credentials


def require_key(variable: str, what: str) -> SecretStr:
    """Return the key of that variable's name, from the environment or the workspace's `.env`.

    Args:
        what: what needs it, for the error: "embedding by text-embedding-3-small".

    Raises:
        ConfigurationError: it is not set; the text says where to write it.
    """
    key = find_secret(variable)
    if key is None:
        raise ConfigurationError(f"{what} needs a key. {key_advice(variable)}")
    return key


def key_advice(variable: str) -> str:
    """Return the sentence that says where a key is to be written."""
    return (
        f"Write {variable}=… into the workspace's .env (or set it in the environment), then run "
        "the command again."
    )


def hide(text: str, key: SecretStr | None) -> str:
    """Return `text` without the key and what is secret in addresses; errors repeat both."""
    return hide_credentials(text.replace(key.get_secret_value(), "…") if key else text)


def missing_extra(extra: str, what: str) -> ConfigurationError:
    """Return the error for an optional package that is not installed."""
    return ConfigurationError(f"{what} is an extra: run `pip install 'rag-assets[{extra}]'`.")


# Where Google's own clients look, in this order of ours: settings, environment, `.env`.
CREDENTIALS_VARIABLE = "GOOGLE_APPLICATION_CREDENTIALS"
PROJECT_VARIABLE = "GOOGLE_CLOUD_PROJECT"
LOCATION_VARIABLE = "GOOGLE_CLOUD_LOCATION"
_SCOPES = ("https://www.googleapis.com/auth/cloud-platform",)


@dataclass(frozen=True)
class GoogleAccess:
    """Who asks, and for which project."""

    credentials: "Credentials"
    project: str


def google_access(project: str | None, what: str) -> GoogleAccess:
    """Return credentials and project, from settings, environment, `.env` or Google's own files.

    Args:
        project: from the settings; None looks for GOOGLE_CLOUD_PROJECT, then in the credentials.
        what: what needs them, for the error.

    Raises:
        ConfigurationError: the extra is not installed, or there are no credentials or no project;
            the text says what to do.
    """
    try:
        import google.auth
        from google.auth.exceptions import DefaultCredentialsError
    except ImportError as error:
        raise missing_extra("vertex", what) from error
    file = find_secret(CREDENTIALS_VARIABLE)
    try:
        if file is not None:
            load: Any = google.auth.load_credentials_from_file  # untyped
            credentials, owner = load(file.get_secret_value(), scopes=list(_SCOPES))
        else:
            credentials, owner = google.auth.default(scopes=list(_SCOPES))
    except DefaultCredentialsError as error:
        raise ConfigurationError(
            f"{what} needs Google credentials ({error}). Run `gcloud auth application-default "
            f"login`, or write {CREDENTIALS_VARIABLE}=<file of a service account> into the "
            "workspace's .env."
        ) from error
    chosen = project or find_value(PROJECT_VARIABLE) or owner
    if not chosen:
        raise ConfigurationError(
            f"{what} needs the name of a Google Cloud project: set `project`, or write "
            f"{PROJECT_VARIABLE}=… into the workspace's .env."
        )
    return GoogleAccess(credentials, chosen)


def find_value(variable: str) -> str | None:
    """Return a variable that is no secret, from the environment or the workspace's `.env`."""
    found = find_secret(variable)
    return found.get_secret_value() if found else None


Answer = TypeVar("Answer")

_LONGEST_WAIT_SECONDS = 60.0
# Of what a service says of an error; some repeat the whole request.
_LONGEST_REASON_CHARACTERS = 300
_RETRIED_STATUS = frozenset({408, 409, 425, 429})
_KEY_STATUS = frozenset({401, 403})
_CONTENT_STATUS = frozenset({400, 413, 422})
_SERVER_FAULT = 500
_log = logging.getLogger(__name__)


class PassingError(Exception):
    """Trouble that may be gone at the next try.

    Args:
        wait_seconds: what the service asked for by Retry-After, 0.0 for nothing.
    """

    def __init__(self, message: str, wait_seconds: float = 0.0) -> None:
        super().__init__(message)
        self.wait_seconds = wait_seconds


class RefusedContentError(Exception):
    """The service is well and the key is right, but it refuses what was sent: 400, 413, 422."""


def call_with_retries(
    call: Callable[[], Answer],
    what: str,
    *,
    attempts: int,
    backoff_seconds: float,
    sleep: Callable[[float], None] = time.sleep,
) -> Answer:
    """Return what `call` returns, trying again as long as it raises `PassingError`.

    Between two tries passes a random time below `backoff_seconds` · 2ⁿ (Brooker, "Exponential
    Backoff and Jitter", 2015), or what the service asked for where that is longer; never more
    than a minute.

    Args:
        what: the call in words, for the error: "embedding by text-embedding-3-small".
        attempts: tries in all, at least 1.

    Raises:
        ServiceError: every try met trouble.
    """
    backoff = tenacity.wait_random_exponential(
        multiplier=backoff_seconds, max=_LONGEST_WAIT_SECONDS
    )

    def wait(state: tenacity.RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = error.wait_seconds if isinstance(error, PassingError) else 0.0
        return max(backoff(state), min(asked, _LONGEST_WAIT_SECONDS))

    try:
        return tenacity.Retrying(
            stop=tenacity.stop_after_attempt(attempts),
            wait=wait,
            retry=tenacity.retry_if_exception_type(PassingError),
            before_sleep=tenacity.before_sleep_log(_log, logging.INFO),
            sleep=sleep,
            reraise=True,
        )(call)
    except PassingError as error:
        raise ServiceError(
            f"{what} failed {attempts} times, at last with: {error}. Look whether the service and "
            "the network are up, then run the same command again; what is done is kept."
        ) from error


def raise_for_status(
    status: int, reason: str, headers: Mapping[str, str], *, what: str, mend: str
) -> NoReturn:
    """Raise the error that an HTTP status other than success stands for.

    Args:
        reason: what the service said, free of secrets; not shown where it refuses the key.
        headers: of the answer, with names in lower case or in a case-insensitive mapping.
        what: the call in words, for the error.
        mend: what to do where the key is refused.

    Raises:
        PassingError: 408, 409, 425, 429 and 5xx.
        RefusedContentError: 400, 413 and 422.
        ServiceError: everything else, with what to do.
    """
    # `from None`: the client's own error repeats what the service said, the key included, and
    # whoever stores an error stores what it came from.
    said = f"HTTP {status}" + (f" ({shorten(reason)})" if reason else "")
    if status in _RETRIED_STATUS or status >= _SERVER_FAULT:
        raise PassingError(said, read_retry_after(headers)) from None
    if status in _KEY_STATUS:
        raise ServiceError(
            f"{what}: the service does not accept the key (HTTP {status}). {mend}"
        ) from None
    if status in _CONTENT_STATUS:
        raise RefusedContentError(said) from None
    raise ServiceError(
        f"{what}: {said}. Check the model's name and the URL in the configuration against the "
        "service's documentation."
    ) from None


def read_retry_after(headers: Mapping[str, str]) -> float:
    """Return the seconds that Retry-After asks for (RFC 9110 §10.2.3), 0.0 where it does not."""
    value = headers.get("retry-after", "").strip()
    if not value:
        return 0.0
    try:
        return max(float(value), 0.0)
    except ValueError:
        pass  # the other form that the standard allows is a date
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return 0.0
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max((aware - datetime.now(UTC)).total_seconds(), 0.0)


def shorten(reason: str) -> str:
    """Return a service's words in one line of bounded length."""
    line = " ".join(reason.split())
    if len(line) <= _LONGEST_REASON_CHARACTERS:
        return line
    return line[: _LONGEST_REASON_CHARACTERS - 1] + "…"


def public_url(url: str) -> str:
    """Return an endpoint without user, password and query: what may stand in a manifest."""
    parts = urlsplit(url)
    return urlunsplit(
        (parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", "")
    )
