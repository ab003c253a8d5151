"""Which parser reads which media type: built in, registered, or from an entry point."""

from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from rag_assets.model import ConfigurationError, ParseFailure
from rag_assets.parsing.contract import Parser
from rag_assets.parsing.csv_rows import CsvParser
from rag_assets.parsing.markdown import MarkdownParser
from rag_assets.parsing.pdf import PdfParser
from rag_assets.parsing.plaintext import TextParser

ENTRY_POINT_GROUP = "rag_assets.parsers"

_registered: dict[str, Parser] = {}


def register_parser(parser: Parser) -> None:
    """Let `parser` read its media types in this process, before any other parser.

    Worker processes see only parsers from entry points (group `rag_assets.parsers`, the value a
    parser or a class without arguments): a package that is installed beside this one.
    """
    _check(parser, "register_parser")
    for media_type in parser.media_types:
        _registered[media_type] = parser


def unregister_parser(parser: Parser) -> None:
    """Undo `register_parser`; a parser that is not registered is left alone."""
    for media_type, holder in list(_registered.items()):
        if holder is parser:
            del _registered[media_type]


def parser_for(media_type: str) -> Parser:
    """Return the parser of a media type.

    Raises:
        ParseFailure: `unsupported_format`, with the media types that are supported.
        ConfigurationError: an installed entry point is not a parser.
    """
    parsers = all_parsers()
    if media_type not in parsers:
        raise ParseFailure(
            "unsupported_format",
            f"Files of type {media_type} cannot be read; supported are "
            f"{', '.join(sorted(parsers))}. Convert the file, or install a parser for it (entry "
            f"point {ENTRY_POINT_GROUP}).",
        )
    return parsers[media_type]


def all_parsers() -> Mapping[str, Parser]:
    """Return every media type that can be read, with its parser."""
    return {**_built_in(), **_installed(), **_registered}


@cache
def _built_in() -> dict[str, Parser]:
    parsers: tuple[Parser, ...] = (PdfParser(), MarkdownParser(), TextParser(), CsvParser())
    return {media_type: parser for parser in parsers for media_type in parser.media_types}


@cache
def _installed() -> dict[str, Parser]:
    found: dict[str, Parser] = {}
    origins: dict[str, str] = {}
    for entry_point in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda item: item.name):
        parser = _load(entry_point)
        for media_type in parser.media_types:
            if media_type in found:
                raise ConfigurationError(
                    f"Two installed parsers read {media_type}: entry points "
                    f"{origins[media_type]!r} and {entry_point.name!r}; uninstall one."
                )
            found[media_type], origins[media_type] = parser, entry_point.name
    return found


def _load(entry_point: EntryPoint) -> Parser:
    where = f"entry point {entry_point.name!r} ({entry_point.value})"
    try:
        loaded = entry_point.load()
    except (ImportError, AttributeError) as error:
        raise ConfigurationError(
            f"The parser of {where} cannot be loaded ({error}): repair or uninstall its package."
        ) from error
    parser = loaded() if isinstance(loaded, type) else loaded
    return _check(parser, where)


def _check(parser: object, where: str) -> Parser:
    if not isinstance(parser, Parser):
        raise ConfigurationError(
            f"{where}: {parser!r} is no parser; it needs name, version, media_types, reads_stem "
            "and parse(data, hints, settings)."
        )
    return parser
