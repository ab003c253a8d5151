from collections.abc import Iterator

import pytest

from rag_assets.model import ConfigurationError, ParsedDocument, ParseFailure
from rag_assets.model.settings import ParseSettings
from rag_assets.parsing import (
    ParseHints,
    Parser,
    parse_document,
    parse_fingerprint,
    parser_for,
    register_parser,
    request_fingerprint,
    unregister_parser,
)
from rag_assets.parsing.sniffing import PDF_TYPE
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


def of_text(extension: str, password: str | None, settings: ParseSettings, **known: str) -> str:
    request = request_fingerprint(known.pop("content", CONTENT), extension, password, settings)
    return parse_fingerprint(request, known.pop("media_type", "text/plain"), settings, **known)


def test_a_rename_within_a_class_of_formats_changes_nothing(settings: ParseSettings) -> None:
    by_name = [
        of_text(extension, None, settings, stem=stem)
        for extension, stem in [(".txt", "a"), (".TXT", "b"), (".log", "c"), ("text", "d")]
    ]
    assert len(set(by_name)) == 1
    assert of_text(".md", None, settings) == of_text("Markdown", "", settings)


def test_what_changes_a_parse_changes_its_fingerprint(settings: ParseSettings) -> None:
    fingerprints = {
        of_text(".txt", None, settings),
        of_text(".txt", None, settings, content="cd" * 32),
        of_text(".txt", None, settings, media_type="text/html"),
        of_text(".md", None, settings),
        of_text(".csv", None, settings),
        of_text(".txt", "ef" * 32, settings),
        of_text(".txt", None, make_settings(repeated_line_share=0.7)),
        of_text(".txt", None, make_settings(max_pages=1)),
        of_text(".txt", None, make_settings(max_megabytes=1)),
    }
    assert len(fingerprints) == 9


def test_limits_of_the_machine_do_not_enter_the_fingerprint(settings: ParseSettings) -> None:
    others = make_settings(workers=2, seconds_per_document=1.0, megabytes_of_memory=512)
    assert of_text(".pdf", None, settings) == of_text(".pdf", None, others)


def test_a_parser_and_its_version_enter_the_fingerprint_of_what_it_reads(
    settings: ParseSettings, png_parser: PngParser
) -> None:
    def of(media_type: str) -> str:
        return parse_fingerprint("request", media_type, settings)

    first, others = of("image/png"), [of(PDF_TYPE), of("text/plain"), of("image/gif"), of("")]
    png_parser.version = "2"
    second = of("image/png")
    unregister_parser(png_parser)
    assert len({first, second, of("image/png")}) == 3
    assert [of(PDF_TYPE), of("text/plain"), of("image/gif"), of("")] == others


def test_options_enter_the_fingerprint_of_what_their_parser_reads(settings: ParseSettings) -> None:
    changed = make_settings(parser_options={"markdown": {"any": 1}})
    of_markdown, of_plain = (
        [parse_fingerprint("request", media_type, each) for each in (settings, changed)]
        for media_type in ("text/markdown", "text/plain")
    )
    assert of_markdown[0] != of_markdown[1]
    assert of_plain[0] == of_plain[1]


def test_the_stem_enters_only_where_the_parser_reads_it(
    settings: ParseSettings, png_parser: PngParser
) -> None:
    def of_stem(stem: str, media_type: str = "image/png") -> str:
        return parse_fingerprint("request", media_type, settings, stem)

    assert of_stem("a") == of_stem("b")
    png_parser.reads_stem = True
    assert of_stem("a") != of_stem("b")
    assert of_stem("a", "text/plain") == of_stem("b", "text/plain")


def test_a_registered_parser_reads_its_media_type(
    settings: ParseSettings, png_parser: PngParser
) -> None:
    assert isinstance(png_parser, Parser)
    document = parse_document(b"\x89PNG\r\n\x1a\n", ParseHints(".png", stem="x"), settings)
    assert document.text == "picture x"


def test_an_unknown_media_type_says_where_the_known_ones_are_listed() -> None:
    with pytest.raises(ParseFailure, match=r"video/mp4 cannot be read \(`rag preview`") as without:
        parser_for("video/mp4")
    parser = PngParser()
    register_parser(parser)
    with pytest.raises(ParseFailure) as beside:
        parser_for("video/mp4")
    unregister_parser(parser)
    # The report of a file changes only with who reads it.
    assert str(beside.value) == str(without.value)


def test_what_is_no_parser_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="is no parser"):
        register_parser("pdf")  # type: ignore[arg-type]
