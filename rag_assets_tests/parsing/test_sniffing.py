import pytest

from rag_assets.model import ParseFailure
from rag_assets.model.settings import ParseSettings
from rag_assets.parsing import ParseHints, parse_document, sniff_media_type


@pytest.mark.parametrize(
    ("data", "extension", "expected"),
    [
        (b"%PDF-1.7 ...", ".md", "application/pdf"),
        (b"x" * 1000 + b"%PDF-1.7", ".txt", "application/pdf"),
        (b"\x89PNG\r\n\x1a\n....", ".md", "image/png"),
        (b"PK\x03\x04....[Content_Types].xml....word/document.xml", ".csv",
         "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        (b"PK\x03\x04....readme", ".txt", "application/zip"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1..", ".txt", "application/x-ole-storage"),
        (b"some\x00thing", ".md", "application/octet-stream"),
        (b"\x01\x02\x03\x04words", ".csv", "application/octet-stream"),
        (b"a,b", "CSV", "text/csv"),
        (b"a\tb", ".tsv", "text/csv"),
        (b"# a", ".Markdown", "text/markdown"),
        (b"# a", ".md", "text/markdown"),
        (b"# a", ".pdf", "text/plain"),
        (b"# a", "", "text/plain"),
        ("\ufeffa".encode("utf-16-le"), ".md", "text/markdown"),
        ("a".encode("utf-32"), ".txt", "text/plain"),
        (b"BMW is a maker of cars.", ".txt", "text/plain"),
        (b"ID3 was an algorithm for decision trees.", ".txt", "text/plain"),
    ],
)  # fmt: skip
def test_content_decides_and_the_name_only_between_text_formats(
    data: bytes, extension: str, expected: str
) -> None:
    assert sniff_media_type(data, extension) == expected


def test_pdf_mark_beyond_the_first_kilobyte_is_prose() -> None:
    assert sniff_media_type(b"x" * 1024 + b"%PDF-1.7", ".txt") == "text/plain"


def test_empty_file_has_its_own_reason() -> None:
    with pytest.raises(ParseFailure) as caught:
        sniff_media_type(b"", ".md")
    assert caught.value.reason_code == "empty_file"


def test_binary_named_md_says_that_its_name_is_wrong(settings: ParseSettings) -> None:
    with pytest.raises(ParseFailure) as caught:
        parse_document(b"\x89PNG\r\n\x1a\n\x00\x00", ParseHints(".md"), settings)
    assert caught.value.reason_code == "unsupported_format"
    assert ".md but holds binary data (image/png)" in caught.value.message
    assert "rag preview" in caught.value.message
