import traceback
from datetime import UTC, datetime

import pytest
import time_machine

from rag_assets.llm.services import (
    PassingError,
    RefusedContentError,
    call_with_retries,
    public_url,
    raise_for_status,
)
from rag_assets.llm.services.calling import read_retry_after
from rag_assets.model import ServiceError


def attempt(errors: list[Exception], attempts: int = 4, backoff: float = 0.0) -> list[float]:
    """Call what raises `errors` one after the other; return how long was waited between."""
    waits: list[float] = []

    def call() -> str:
        if errors:
            raise errors.pop(0)
        return "done"

    found = call_with_retries(
        call, "asking", attempts=attempts, backoff_seconds=backoff, sleep=waits.append
    )
    assert found == "done"
    return waits


def test_passing_trouble_is_tried_again_without_wait_where_none_is_set() -> None:
    assert attempt([PassingError("a"), PassingError("b")]) == [0.0, 0.0]


def test_the_service_is_given_the_time_that_it_asks_for() -> None:
    assert attempt([PassingError("a", 7.0)]) == [7.0]


def test_no_service_is_given_more_than_a_minute() -> None:
    assert attempt([PassingError("a", 86400.0)]) == [60.0]


def test_waits_grow_within_their_bound() -> None:
    waits = attempt([PassingError("a")] * 9, attempts=10, backoff=2.0)
    assert all(0 <= wait <= min(2.0 * 2**turn, 60.0) for turn, wait in enumerate(waits))
    assert len(set(waits)) > 1


def test_lasting_trouble_ends_after_the_allowed_tries() -> None:
    errors: list[Exception] = [PassingError("HTTP 503")] * 9
    with pytest.raises(ServiceError, match=r"asking failed 3 times, at last with: HTTP 503.*again"):
        attempt(errors, attempts=3)
    assert len(errors) == 6


def test_other_errors_are_not_tried_again() -> None:
    errors: list[Exception] = [RefusedContentError("no"), PassingError("never met")]
    with pytest.raises(RefusedContentError):
        attempt(errors)
    assert len(errors) == 1


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 529])
def test_a_busy_service_passes(status: int) -> None:
    with pytest.raises(PassingError) as caught:
        raise_for_status(status, "busy", {"retry-after": "3"}, what="asking", mend="")
    assert caught.value.wait_seconds == 3.0


@pytest.mark.parametrize("status", [400, 413, 422])
def test_refused_content_is_told_from_a_broken_service(status: int) -> None:
    with pytest.raises(RefusedContentError, match="too long"):
        raise_for_status(status, "too long", {}, what="asking", mend="")


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_says_the_mend_and_nothing_of_the_answer(status: int) -> None:
    with pytest.raises(ServiceError) as caught:
        raise_for_status(status, "wrong key sk-123", {}, what="asking", mend="Write KEY=…")
    assert "sk-123" not in str(caught.value)
    assert "Write KEY=…" in str(caught.value)


def test_another_status_points_at_the_configuration() -> None:
    with pytest.raises(ServiceError, match=r"asking: HTTP 404 \(no such model\)\. Check"):
        raise_for_status(404, "no such\nmodel", {}, what="asking", mend="")


@time_machine.travel(datetime(2026, 11, 20, 12, 0, tzinfo=UTC), tick=False)
@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("12", 12.0),
        ("0.5", 0.5),
        ("Fri, 20 Nov 2026 12:00:09 GMT", 9.0),
        ("Fri, 20 Nov 2026 11:00:00 GMT", 0.0),
        ("-3", 0.0),
        ("soon", 0.0),
        ("", 0.0),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str, seconds: float) -> None:
    assert read_retry_after({"retry-after": value}) == seconds


def test_a_public_url_holds_no_secret() -> None:
    assert public_url("https://me:word@host:8/v1/?key=abc#x") == "https://host:8/v1"


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500])
def test_what_a_service_repeats_does_not_stand_behind_the_error(status: int) -> None:
    def refuse() -> None:
        try:
            int("you sent sk-secret")
        except ValueError:
            raise_for_status(status, "", {}, what="asking", mend="Write a key.")

    with pytest.raises(Exception) as caught:
        refuse()
    assert "sk-secret" not in "".join(traceback.format_exception(caught.value))
