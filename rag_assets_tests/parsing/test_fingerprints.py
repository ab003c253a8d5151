from collections.abc import Iterator

import pytest

from rag_assets.model import ConfigurationError, ParsedDocument, ParseFailure
from rag_assets.parsing import (
    ParseHints,
    Parser,
    parse_document,
    parse_fingerprint,
    parser_for,
    register_parser,
    unregister_parser,
)
from rag_assets.workspace.settings import ParseSettings
from rag_assets_tests.parsing.conftest import make_settings

CONTENT = "ab" * 32


class PngParser:
    name = "png"
    media_types = ("image/png",)
    reads_stem = False

    def __init__(self, version: str = "1") -> None:
        self.version = version

    def parse(self, data: bytes, hints: ParseHints, settings: ParseSettings) -> ParsedDocument:
        return ParsedDocument(text=f"picture {hints.stem}", media_type="image/png")


@pytest.fixture
def png_parser() -> Iterator[PngParser]:
    parser = PngParser()
    register_parser(parser)
    yield parser
    unregister_parser(parser)


def test_a_rename_within_a_class_of_formats_changes_nothing(settings: ParseSettings) -> None:
    by_name = [
        parse_fingerprint(CONTENT, extension, None, settings, stem=stem)
        for extension, stem in [(".txt", "a"), (".TXT", "b"), (".log", "c"), ("text", "d")]
    ]
    assert len(set(by_name)) == 1
    assert parse_fingerprint(CONTENT, ".md", None, settings) == parse_fingerprint(
        CONTENT, "Markdown", "", settings
    )


def test_what_changes_a_parse_changes_its_fingerprint(settings: ParseSettings) -> None:
    fingerprints = {
        parse_fingerprint(CONTENT, ".txt", None, settings),
        parse_fingerprint("cd" * 32, ".txt", None, settings),
        parse_fingerprint(CONTENT, ".md", None, settings),
        parse_fingerprint(CONTENT, ".csv", None, settings),
        parse_fingerprint(CONTENT, ".txt", "ef" * 32, settings),
        parse_fingerprint(CONTENT, ".txt", None, make_settings(repeated_line_share=0.7)),
        parse_fingerprint(CONTENT, ".txt", None, make_settings(max_pages=1)),
        parse_fingerprint(CONTENT, ".txt", None, make_settings(max_megabytes=1)),
    }
    assert len(fingerprints) == 8


def test_limits_of_the_machine_do_not_enter_the_fingerprint(settings: ParseSettings) -> None:
    others = make_settings(workers=2, seconds_per_document=1.0, megabytes_of_memory=512)
    assert parse_fingerprint(CONTENT, ".pdf", None, settings) == parse_fingerprint(
        CONTENT, ".pdf", None, others
    )


def test_a_parser_and_its_version_enter_the_fingerprint(
    settings: ParseSettings, png_parser: PngParser
) -> None:
    with_first = parse_fingerprint(CONTENT, ".pdf", None, settings)
    png_parser.version = "2"
    with_second = parse_fingerprint(CONTENT, ".pdf", None, settings)
    unregister_parser(png_parser)
    without = parse_fingerprint(CONTENT, ".pdf", None, settings)
    assert len({with_first, with_second, without}) == 3


def test_the_stem_enters_only_where_a_parser_reads_it(
    settings: ParseSettings, png_parser: PngParser
) -> None:
    def of_stem(stem: str) -> str:
        return parse_fingerprint(CONTENT, ".png", None, settings, stem=stem)

    assert of_stem("a") == of_stem("b")
    png_parser.reads_stem = True
    assert of_stem("a") != of_stem("b")


def test_a_registered_parser_reads_its_media_type(
    settings: ParseSettings, png_parser: PngParser
) -> None:
    assert isinstance(png_parser, Parser)
    document = parse_document(b"\x89PNG\r\n\x1a\n", ParseHints(".png", stem="x"), settings)
    assert document.text == "picture x"


def test_an_unknown_media_type_names_what_is_supported() -> None:
    with pytest.raises(ParseFailure, match=r"application/pdf, .*text/csv, .*text/plain"):
        parser_for("video/mp4")


def test_what_is_no_parser_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="is no parser"):
        register_parser("pdf")  # type: ignore[arg-type]
