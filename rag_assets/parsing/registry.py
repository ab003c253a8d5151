"""What a parser is, and which parser reads which media type."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, version
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import Protocol, runtime_checkable

from rag_assets.model import ConfigurationError, ParsedDocument, ParseFailure
from rag_assets.model.settings import ParseSettings
from rag_assets.parsing.sniffing import DOC_TYPE, PPT_TYPE, TEXT_ADVICE

# What a parser is: the interface that built-in and added parsers share.


@dataclass(frozen=True, slots=True)
class ParseHints:
    """What is known about a file besides its bytes.

    Args:
        extension: of the file's name, with or without the dot, in any case; decides only between
            text formats.
        password: from the sidecar, None where there is none.
        stem: of the file's name, "" unless the parser declares `reads_stem`.
        answer: folder that holds what a cloud provider answered for this file, None without.
    """

    extension: str = ""
    password: str | None = None
    stem: str = ""
    answer: Path | None = None


@runtime_checkable
class Parser(Protocol):
    """Turns the bytes of some media types into a ParsedDocument.

    A parse is a function of bytes, hints and settings alone: no clock, no network, no other file.
    """

    @property
    def name(self) -> str:
        """Short stable word, unique among parsers."""

    @property
    def version(self) -> str:
        """Changes whenever the same bytes could give another result, libraries included."""

    @property
    def media_types(self) -> Sequence[str]:
        """What `sniff_media_type` returns for the files that this parser reads."""

    @property
    def reads_stem(self) -> bool:
        """Whether `hints.stem` changes the result (then a rename is a new parse)."""

    def parse(self, data: bytes, hints: ParseHints, settings: ParseSettings, /) -> ParsedDocument:
        """Return the document.

        Raises:
            ParseFailure: with a reason code of `PARSE_REASONS`.
        """


# More time for a document, asked for by the parser that reads it.
#
# A page that is read by text recognition costs seconds where another costs milliseconds. The limit
# of a document would have to be that of the longest scan; so a page adds its own when it is begun.

Grant = Callable[[float], None]

_grant: ContextVar[Grant | None] = ContextVar("grant", default=None)


@contextmanager
def granting(grant: Grant) -> Iterator[None]:
    """Let `ask_for_seconds` reach `grant` inside of the block."""
    token = _grant.set(grant)
    try:
        yield
    finally:
        _grant.reset(token)


def ask_for_seconds(seconds: float) -> None:
    """Lengthen the time of the document at hand; outside of a worker there is no limit.

    Args:
        seconds: of wall time, for the piece of work that begins now.
    """
    grant = _grant.get()
    if grant is not None:
        grant(seconds)


# Why a document could not be parsed: reason codes and what a person can do about each.

# Shown by `rag documents` beside the message; a code never changes its meaning.
PARSE_REASONS: Mapping[str, str] = MappingProxyType(
    {
        "changed_while_reading": "The file was saved during the build; build again.",
        "damaged_file": "Open the file in its own program, save it again and replace it.",
        "empty_file": "The file holds no text; remove it or fill it.",
        "error_page": "Download the document itself, signed in if needed, and replace the file.",
        "hostile_file": "Find out where the file comes from; save it again with its own program.",
        "memory_limit": "Raise parse.megabytes_of_memory, or split the document; then --retry.",
        "missing_extra": "Install the package that the message names; then --retry.",
        "missing_key": "Put the key that the message names into .env; then --retry.",
        "no_pages": "The document has no pages; export it again.",
        "no_text_layer": "The pages are pictures; run text recognition (OCR) on the file.",
        "page_limit": "Raise parse.max_pages, or split the document; build again.",
        "parser_crashed": "Save the file again with another program; report the crash if it stays.",
        "password_required": "Write `password: …` into the file's sidecar <file>.meta.yaml.",
        "password_wrong": "Correct `password:` in the file's sidecar <file>.meta.yaml.",
        "provider_failed": "Look whether the service is up; then --retry, or parser: pymupdf.",
        "provider_refused": "Put a valid key into .env; then --retry.",
        "provider_timeout": "Run with --retry later.",
        "size_limit": "Raise parse.max_megabytes, or split the document; build again.",
        "time_limit": "Raise parse.seconds_per_document, or split the document; then --retry.",
        "unreadable_text": "Run text recognition (OCR) on the file; its text layer is wrong.",
        "unknown_encoding": "Save the text as UTF-8.",
        "unreadable_file": "Check that the file is there and may be read; build again.",
        "unsupported_format": "Convert the file to one of the supported formats.",
    }
)


# Which parser reads which media type: built in, registered, or from an entry point.

ENTRY_POINT_GROUP = "rag_assets.parsers"

_registered: dict[str, Parser] = {}
_MENDS = {
    DOC_TYPE: "Open it in Word or LibreOffice and save it as .docx",
    PPT_TYPE: "Open it in PowerPoint or LibreOffice and save it as .pptx",
}


def register_parser(parser: Parser) -> None:
    """Let `parser` read its media types, before any other parser, until this process ends.

    The processes that read files for it import its class and make one without arguments. Another
    command knows nothing of it: what is to be read by every command comes from an entry point
    (group `rag_assets.parsers`, the value a parser, or a class or function that makes one without
    arguments) of a package that is installed beside this one.

    Raises:
        ConfigurationError: it is not a parser.
    """
    _check(parser, "register_parser")
    for media_type in parser.media_types:
        _registered[media_type] = parser


class ParserRegistry:
    """The registry under the names of spec 001."""

    @staticmethod
    def register(media_type: str, parser: Parser | type[Parser]) -> None:
        """Let a parser read one media type, as `register_parser` does for all of its own.

        Args:
            parser: or its class, of which one is made without arguments.

        Raises:
            ConfigurationError: it is not a parser, or `media_type` is none.
        """
        made = parser() if isinstance(parser, type) else parser
        _check(made, "ParserRegistry.register")
        if "/" not in media_type:
            raise ConfigurationError(
                f"ParserRegistry.register: a media type such as 'text/x-log' comes first, got "
                f"{media_type!r}."
            )
        _registered[media_type] = made

    @staticmethod
    def unregister(media_type: str) -> None:
        """Let the parser read a media type that did before `register`."""
        _registered.pop(media_type, None)

    @staticmethod
    def parser_for(media_type: str) -> Parser:
        """Return the parser of a media type; raises ParseFailure where there is none."""
        return parser_for(media_type)


def registered_recipes() -> list[dict[str, str]]:
    """Return how another process makes the registered parsers, as values that JSON knows.

    Raises:
        ConfigurationError: a parser's class cannot be imported, or is made with arguments.
    """
    return [
        {"media_type": media_type, **_recipe(parser)} for media_type, parser in _registered.items()
    ]


def carried_recipes() -> list[dict[str, str]]:
    """Return `registered_recipes` for a process that may never read with any of them.

    Of a parser that no other process can make the sentence that says so stands instead of the
    recipe, as `refused`: `import_registered` raises it there.
    """
    carried = []
    for media_type, parser in _registered.items():
        try:
            recipe = _recipe(parser)
        except ConfigurationError as error:
            recipe = {"refused": str(error)}
        carried.append({"media_type": media_type, **recipe})
    return carried


def _recipe(parser: Parser) -> dict[str, str]:
    kind = type(parser)
    module, name = kind.__module__, kind.__qualname__
    if module != "__main__" and "<locals>" not in name:
        try:
            is_same = vars(kind()) == vars(parser)
        except TypeError:
            is_same = False
        if is_same:
            file = Path(sys.modules[module].__file__ or "").resolve()
            depth = module.count(".") + (file.name == "__init__.py")
            return {"module": module, "name": name, "path": str(file.parents[depth])}
    raise ConfigurationError(
        f"The parser '{parser.name}' was registered with an object that the processes that read "
        f"files cannot make: its class {module}.{name} must stand at the top level of a module, "
        "not of a notebook or script, and need no arguments. Move it there, or install it (entry "
        f"point {ENTRY_POINT_GROUP}); `parse_document` reads with it in this process."
    )


def import_registered(recipes: Iterable[Mapping[str, str]]) -> None:
    """Register what another process has registered (`registered_recipes`, `carried_recipes`).

    Raises:
        ConfigurationError: a module cannot be imported; names it. Or there is no recipe.
    """
    for recipe in recipes:
        if refused := recipe.get("refused"):
            raise ConfigurationError(refused)
        if recipe["path"] not in sys.path:
            sys.path.append(recipe["path"])
        where = f"{recipe['module']}.{recipe['name']}"
        try:
            kind = attrgetter(recipe["name"])(import_module(recipe["module"]))
            ParserRegistry.register(recipe["media_type"], kind())
        except ConfigurationError:
            raise
        except Exception as error:  # whatever a foreign module raises, it is named
            raise ConfigurationError(
                f"The registered parser {where} cannot be imported by the processes that read "
                f"files ({type(error).__name__}: {error}): repair its module."
            ) from error


def unregister_parser(parser: Parser) -> None:
    """Undo `register_parser`; a parser that is not registered is left alone."""
    for media_type, holder in list(_registered.items()):
        if holder is parser:
            del _registered[media_type]


def parser_for(media_type: str, pdf_parser: str = "pymupdf") -> Parser:
    """Return the parser of a media type.

    Args:
        media_type: as sniffed.
        pdf_parser: `parse.parser`; any but `pymupdf` reads PDF files in place of what is
            registered for them.

    Raises:
        ParseFailure: `unsupported_format`.
        ConfigurationError: an installed entry point is not a parser.
    """
    if media_type == "application/pdf" and pdf_parser == "mineru":
        from rag_assets.parsing.mineru import MineruParser

        return MineruParser()
    parsers = all_parsers()
    if media_type not in parsers:
        mend = _MENDS.get(media_type) or TEXT_ADVICE.get(media_type, "Convert the file")
        raise ParseFailure(
            "unsupported_format",
            # Without a list of what can be: another parser must not change this file's report.
            f"Files of type {media_type} cannot be read (`rag preview` lists what can). {mend}, or "
            f"install a parser for it (entry point {ENTRY_POINT_GROUP}).",
        )
    return parsers[media_type]


def all_parsers() -> Mapping[str, Parser]:
    """Return every media type that can be read, with its parser.

    Registered parsers come before installed ones, those before the built-in ones.

    Raises:
        ConfigurationError: an installed entry point is not a parser; names it.
    """
    installed = {kind: parser for kind, (parser, _) in _installed().items()}
    return {**_built_in(), **installed, **_registered}


@dataclass(frozen=True, slots=True)
class ParserLine:
    """One media type that can be read.

    Args:
        extensions: that the parser claims for it, besides what the bytes show.
        origin: `built in`, `registered`, or the entry point.
    """

    media_type: str
    parser: str
    version: str
    extensions: tuple[str, ...]
    origin: str


def describe_parsers() -> list[ParserLine]:
    """Return what can be read and by which parser, by parser and media type.

    Raises:
        ConfigurationError: an installed entry point is not a parser; names it.
    """
    claimed = types_by_extension()
    points = {parser.name: origin for parser, origin in _installed().values()}
    built_in = _built_in().values()
    lines = []
    for kind, parser in all_parsers().items():
        origin = "built in" if parser in built_in else points.get(parser.name, "registered")
        extensions = tuple(sorted(key for key, value in claimed.items() if value == kind))
        lines.append(ParserLine(kind, parser.name, parser.version, extensions, origin))
    return sorted(lines, key=lambda line: (line.parser, line.media_type))


def types_by_extension() -> Mapping[str, str]:
    """Return the media types that parsers give to extensions (bare, in lower case).

    A parser may have an attribute `extensions` for formats that their bytes do not show: it
    holds for text files and for binary files of no known format.
    """
    found: dict[str, str] = {}
    for parser in all_parsers().values():
        found |= {key.lower().lstrip("."): kind for key, kind in _extensions(parser).items()}
    return found


def _extensions(parser: Parser) -> Mapping[str, str]:
    extensions: Mapping[str, str] = getattr(parser, "extensions", {})
    return extensions


def check_parser_options(options: Mapping[str, object]) -> None:
    """Refuse options (`parse.parser_options`) of a parser that there is not.

    Raises:
        ConfigurationError: names the parser and those that there are.
    """
    names = {parser.name for parser in all_parsers().values()}
    for name in options:
        if name not in names:
            raise ConfigurationError(
                f"'parse.parser_options.{name}': no parser is called so; there are "
                f"{', '.join(sorted(names))}. Install its package or remove the key."
            )


@cache
def _built_in() -> dict[str, Parser]:
    # Here, since a question, a listing or a publication comes by and parses nothing.
    from rag_assets.parsing.containers import MailParser, NotebookParser
    from rag_assets.parsing.docx import DocxParser
    from rag_assets.parsing.html import HtmlParser
    from rag_assets.parsing.markdown import MarkdownParser
    from rag_assets.parsing.ods_xls import LegacySheetParser, OdsParser
    from rag_assets.parsing.package import ProtectedOfficeParser
    from rag_assets.parsing.pdf.parser import PdfParser
    from rag_assets.parsing.pptx import PptxParser
    from rag_assets.parsing.sheets import CsvParser
    from rag_assets.parsing.text import TextParser
    from rag_assets.parsing.xlsx import XlsxParser

    office: tuple[Parser, ...] = (DocxParser(), PptxParser(), XlsxParser(), LegacySheetParser())
    parsers: tuple[Parser, ...] = (
        PdfParser(), MarkdownParser(), HtmlParser(), TextParser(), CsvParser(), OdsParser(),
        NotebookParser(), MailParser(), *office, ProtectedOfficeParser(office),
    )  # fmt: skip
    return {media_type: parser for parser in parsers for media_type in parser.media_types}


@cache
def _installed() -> dict[str, tuple[Parser, str]]:
    """Return the parsers of installed packages, each with its entry point."""
    found: dict[str, tuple[Parser, str]] = {}
    taken = {parser.name for parser in _built_in().values()}
    for entry_point in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda item: item.name):
        origin = f"entry point {entry_point.name!r} ({entry_point.value})"
        parser = _load(entry_point, origin)
        if parser.name in taken:
            raise ConfigurationError(
                f"The parser of {origin} is called {parser.name!r}, as another parser: a report "
                "could not tell them apart; give it a name of its own."
            )
        taken.add(parser.name)
        for media_type in parser.media_types:
            if media_type in found:
                raise ConfigurationError(
                    f"Two installed parsers read {media_type}: {found[media_type][1]} and "
                    f"{origin}; uninstall one."
                )
            found[media_type] = parser, origin
    return found


def _load(entry_point: EntryPoint, where: str) -> Parser:
    try:
        loaded = entry_point.load()
        parser = loaded if _is_parser(loaded) else loaded() if callable(loaded) else loaded
        return _check(parser, where)
    except ConfigurationError:
        raise
    except Exception as error:  # whatever a foreign package raises, its entry point is named
        raise ConfigurationError(
            f"The parser of {where} cannot be loaded ({type(error).__name__}: {error}): repair or "
            "uninstall its package."
        ) from error


def _is_parser(loaded: object) -> bool:
    return not isinstance(loaded, type) and isinstance(loaded, Parser)


def _check(parser: object, where: str) -> Parser:
    if not isinstance(parser, Parser):
        raise ConfigurationError(
            f"{where}: {parser!r} is no parser; it needs name, version, media_types, reads_stem "
            "and parse(data, hints, settings)."
        )
    for field in ("name", "version"):
        value = getattr(parser, field)
        if not isinstance(value, str) or not value:
            raise ConfigurationError(f"{where}: {field} must be a text, got {value!r}.")
    kinds = parser.media_types
    if isinstance(kinds, str) or not kinds or not all("/" in str(kind) for kind in kinds):
        raise ConfigurationError(
            f"{where}: media_types must be a list of media types such as 'text/x-log', got "
            f"{kinds!r}."
        )
    extensions = _extensions(parser)
    if not isinstance(extensions, Mapping) or not set(extensions.values()) <= set(kinds):
        raise ConfigurationError(
            f"{where}: extensions must map extensions to media types of the parser, such as "
            f"{{'log': {kinds[0]!r}}}, got {extensions!r}."
        )
    return parser


def extra_version(package: str) -> str:
    """Return the version of an optional package, "missing" without it."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"


def require_extra(module: str, extra: str, what: str) -> None:
    """Raise ParseFailure with the install command where an optional package is missing.

    Args:
        module: as it is imported.
        extra: of this package, which brings it.
        what: what needs it, for the message.

    Raises:
        ParseFailure: `missing_extra`.
    """
    if find_spec(module) is None:
        raise ParseFailure(
            "missing_extra",
            f"{what}: run `pip install 'rag-assets[{extra}]'`, then ingest with --retry.",
            kind="resource",
        )
