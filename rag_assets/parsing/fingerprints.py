"""What a parse depends on, as one hash: equal fingerprints, equal parses."""

from rag_assets.model import hash_fields
from rag_assets.parsing.registry import all_parsers, types_by_extension
from rag_assets.parsing.sniffing import bare_extension, text_class
from rag_assets.workspace.settings import ParseSettings

# Changes when sniffing, the checks, what is dropped from every document, the year of statutes or
# the stored layout change what a parse is.
STAGE_VERSION = "4"
# Changes when what is made of recognised lines changes; other PDF files are not parsed again.
RECOGNITION_VERSION = "2"


def parse_fingerprint(
    content_hash: str,
    extension: str,
    password_hash: str | None,
    settings: ParseSettings,
    *,
    stem: str = "",
) -> str:
    """Return the SHA-256 of everything that can change the result of a parse.

    That is: the content; of the extension only what decides between text formats; the password;
    the stem where a parser reads it; `repeated_line_share`; `parser_options`; the limits of pages
    and size, which refuse the same document every time; how PDF files are read; the versions of
    all parsers (which of them reads the file is known only from its bytes). Limits of time and
    memory are not in it: they decide whether a parse ends, not what it returns.

    Args:
        content_hash: SHA-256 of the bytes.
        extension: of the file's name, with or without its dot.
        password_hash: of the password in its sidecar, None or empty without one.
        settings: of the namespace.
        stem: of the file's name.
    """
    parsers = all_parsers()
    reads_stem = any(parser.reads_stem for parser in parsers.values())
    return hash_fields(
        STAGE_VERSION,
        content_hash,
        types_by_extension().get(bare_extension(extension)) or text_class(extension),
        password_hash or "",
        stem if reads_stem else "",
        settings.repeated_line_share,
        settings.max_pages,
        settings.max_megabytes,
        _pdf_reading(settings),
        settings.parser_options,
        sorted((kind, parser.name, parser.version) for kind, parser in parsers.items()),
    )


def _pdf_reading(settings: ParseSettings) -> list[object]:
    """Return what decides how a PDF is read beside the parser's own version."""
    reading: list[object] = [settings.parser, _provider_version(settings.parser)]
    if settings.parser == "mineru":
        reading.append(settings.mineru.model_version)
    if settings.ocr != "none":
        reading += [
            settings.ocr,
            settings.ocr_languages,
            settings.ocr_dpi,
            RECOGNITION_VERSION,
        ]
    return reading


def _provider_version(parser: str) -> str:
    if parser == "pymupdf":
        return ""
    from rag_assets.parsing.pdf.providers import PDF_PROVIDERS  # the network's libraries

    chosen = PDF_PROVIDERS.get(parser)
    return chosen.version if chosen else ""
