"""What the client of an object server raises, told apart and put into words."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rag_assets.model import StorageError, hide_credentials

# What a server, or what stands before it, answers where the same request may be taken later.
_PASSING_STATUS: Final = frozenset({408, 409, 425, 429})
# Answered with 400: the content came too slowly, or not as it was sent.
_PASSING_CODES: Final = frozenset(
    {"BadDigest", "IncompleteBody", "RequestTimeout", "XAmzContentSHA256Mismatch"}
)
_SERVER_FAULT: Final = 500
_NO_KEYS = (
    "no keys for {server} are set. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
)
_WRONG_KEYS = (
    "{server} does not take these keys ({code}). Correct AWS_ACCESS_KEY_ID, "
    "AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and AWS_DEFAULT_REGION"
)
_NO_ACCESS = (
    "{server} refuses access ({code}: {said}). Let the user of these keys list the bucket and get, "
    "put and delete its objects, and look whether there is such a bucket"
)
# What is wrong and what to do, by the server's or the client's word for it.
_MENDS: Final = {
    "NoSuchBucket": (
        "there is no such bucket at {server}. Make it, or correct its name or AWS_ENDPOINT_URL_S3"
    ),
    "RequestTimeTooSkewed": (
        "{server} refuses this machine's clock, which is off by more than 15 minutes. Set it "
        "(`timedatectl set-ntp true`)"
    ),
    "NoCredentialsError": _NO_KEYS,
    "PartialCredentialsError": _NO_KEYS,
    "AuthorizationHeaderMalformed": _WRONG_KEYS,
    "ExpiredToken": _WRONG_KEYS,
    "InvalidAccessKeyId": _WRONG_KEYS,
    "InvalidToken": _WRONG_KEYS,
    "SignatureDoesNotMatch": _WRONG_KEYS,
    "AccessDenied": _NO_ACCESS,
    "401": _NO_ACCESS,
    "403": _NO_ACCESS,
}
_PASSING = (
    "{server} failed {tries} times, at last with {code}: {said}. Look whether the server and the "
    "network are up and AWS_ENDPOINT_URL_S3 is right"
)
_OTHER = (
    "{server} refuses the request ({code}: {said}). Look whether AWS_ENDPOINT_URL_S3, "
    "AWS_DEFAULT_REGION and the bucket belong together"
)


def client_errors() -> tuple[type[Exception], ...]:
    """Return what boto3 raises for an answer that is an error, and for none."""
    from botocore.exceptions import BotoCoreError, ClientError

    return BotoCoreError, ClientError


def status_of(error: Exception) -> int | None:
    """Return the HTTP status of an error that a server answered, None where there was no answer."""
    answer = getattr(error, "response", None)
    status = answer.get("ResponseMetadata", {}).get("HTTPStatusCode") if answer else None
    return int(status) if status is not None else None


def code_of(error: Exception) -> str:
    """Return the word by which the server calls an error; without an answer, its class."""
    answer = getattr(error, "response", None) or {}
    return str(answer.get("Error", {}).get("Code") or type(error).__name__)


def is_absence(error: Exception) -> bool:
    """Return whether the server says that there is no such object, or nothing more than 404."""
    return status_of(error) == 404 and code_of(error) != "NoSuchBucket"


def is_passing(error: Exception) -> bool:
    """Return whether the same request may succeed later: no answer, a fault of the server, too many
    requests, or a conflict. Whether a write was applied is unknown then, except after a conflict.
    """
    from botocore import exceptions
    from botocore.parsers import ResponseParserError

    status = status_of(error)
    if status is None:
        passing = (
            exceptions.ConnectionError, exceptions.HTTPClientError,
            exceptions.IncompleteReadError, ResponseParserError,
        )  # fmt: skip
        return isinstance(error, passing) and not isinstance(error, exceptions.SSLError)
    return (
        status >= _SERVER_FAULT or status in _PASSING_STATUS or code_of(error) in _PASSING_CODES
    ) and status != 501


@contextmanager
def explained_answers(what: str, endpoint: str, tries: int) -> Iterator[None]:
    """Turn what the client raises into a StorageError with the mend.

    Args:
        what: the object, for the sentence.
        tries: how often a passing error was met, where it was one.
    """
    try:
        yield
    except client_errors() as error:
        raise StorageError(explain(error, what, endpoint, tries)) from error


def explain(error: Exception, what: str, endpoint: str, tries: int) -> str:
    """Return what is wrong with an object, and what to do. It holds no key."""
    answer = getattr(error, "response", None) or {}
    said = str(answer.get("Error", {}).get("Message") or error).strip().rstrip(".")
    code = code_of(error)
    mend = _PASSING if is_passing(error) else _MENDS.get(code, _OTHER)
    sentence = mend.format(
        server=hide_credentials(endpoint), code=code, said=hide_credentials(said), tries=tries
    )
    return f"{what}: {sentence}; then run the command again. What is stored stays."
