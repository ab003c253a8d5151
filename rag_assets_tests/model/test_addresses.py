"""What is secret in an address is dropped, and all else stays as it is written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.model import hide_credentials


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("https://ann:s3cret@example.org/a", "https://example.org/a"),
        ("https://ann@example.org/a", "https://example.org/a"),
        ("https://ann:p%40ss@example.org:8443/a", "https://example.org:8443/a"),
        ("https://ann:p@ss@example.org/a", "https://example.org/a"),
        ("https://ann:it's@example.org/a", "https://example.org/a"),
        ("https://ann:p/w@example.org/a", "https://example.org/a"),
        ("//ann:pw@example.org/a", "//example.org/a"),
        ("ftp://ann:pw@example.org/a", "ftp://example.org/a"),
        ("postgresql://ann:pw@db:5432/x?sslmode=on", "postgresql://db:5432/x?sslmode=on"),
        ("https://ann:pw@[::1]:80/a", "https://[::1]:80/a"),
        ("https://ann:pw@[bad/a", "https://[bad/a"),
        ("HTTPS://h/a?id=7&TOKEN=x&page=2", "HTTPS://h/a?id=7&page=2"),
        ("https://h/a?token=x", "https://h/a"),
        ("https://h/a?api_key=x&id=7", "https://h/a?id=7"),
        ("https://h/a?api%5Fkey=x&id=7", "https://h/a?id=7"),
        ("https://h/a?id=7;key=x;page=2", "https://h/a?id=7;page=2"),
        ("https://h/a?access-token=x&apikey=y&X-Api-Key=z", "https://h/a"),
        ("https://h/a?sv=2022&sig=abc%3D&sp=r", "https://h/a?sv=2022&sp=r"),
        (
            "https://h/a?X-Amz-Credential=a&X-Amz-Signature=b&X-Amz-Security-Token=c&X-Amz-Date=d",
            "https://h/a?X-Amz-Date=d",
        ),
        ("https://h/a?X-Goog-Signature=b&GoogleAccessId=c&generation=1", "https://h/a?generation=1"),
        ("https://h/a?user=ann&password=x&id=1", "https://h/a?id=1"),
        ("https://h/a?jwt=x&session=y&auth=z&PHPSESSID=q", "https://h/a"),
        ("https://h/a;jsessionid=12AB?id=1", "https://h/a?id=1"),
        ("https://h/a#access_token=x&state=1", "https://h/a#state=1"),
        ("https://h/a#token=x", "https://h/a"),
        ("https://h/a#/reset?token=x", "https://h/a#/reset"),
        ("https://h/a#dGhpc0lzQVNlY3JldEtleTEyMw", "https://h/a"),
        ("https://h/a?next=https%3A%2F%2Fann%3Apw%40b%2F", "https://h/a?next=https%3A%2F%2Fb%2F"),
        ("host: with url: /v1/rerank?key=x (timed out)", "host: with url: /v1/rerank (timed out)"),
        (
            "no answer from 'https://ann:pw@h/a?sig=x' and https://b/?token=y.",
            "no answer from 'https://h/a' and https://b/",
        ),
    ],
)  # fmt: skip
def test_secrets_are_dropped(given: str, kept: str) -> None:
    assert hide_credentials(given) == kept
    assert hide_credentials(kept) == kept


@pytest.mark.parametrize(
    "address",
    [
        "https://example.org/search?id=7&page=2&lang=zh",
        "https://example.org/?q=token+ring&code=GB-50001&sid=9&policy=3&user=ann",
        "https://example.org/list?pageToken=abc",
        "https://example.org/@ann/token/key?",
        "https://example.org/act#section-5",
        "https://example.org/act#:~:text=token",
        "https://example.org:8080/a;b/c%20d?x=%E6%B3%95&x=&y",
        "10.1000/182",
        "raw/evidence/a?token=1.md",
        "mailto:ann@example.org",
        "C:\\papers\\a.pdf",
        "Ask ann@example.org // or bob@example.org",
    ],
)
def test_what_identifies_a_document_stays(address: str) -> None:
    assert hide_credentials(address) == address


_PASSWORD = st.characters(exclude_characters=' \t\r\n"<>/?#\\@', exclude_categories=["Z", "C"])


@given(st.text(alphabet=_PASSWORD, min_size=1), st.text(max_size=40))
def test_no_text_breaks_it_and_no_password_survives(password: str, around: str) -> None:
    marked = f"Zq9{password}9qZ"
    cleaned = hide_credentials(f"{around} https://ann:{marked}@example.org/x {around}")
    assert marked not in cleaned
    assert "https://example.org/x" in cleaned
