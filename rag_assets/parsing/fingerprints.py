"""What a parse depends on, as one hash: equal fingerprints, equal parses.

Who reads a file is known only from its bytes. So a request is named first, by all that is known
before they are read, and the parse itself by the request and the parser that its media type has.
"""

from rag_assets.model import ParseFailure, hash_fields
from rag_assets.parsing.registry import parser_for, types_by_extension
from rag_assets.parsing.sniffing import PDF_TYPE, bare_extension, text_class
from rag_assets.settings import ParseSettings

# Changes when sniffing, the checks, what is dropped from every document, the year of statutes or
# the stored layout change what a parse is.
STAGE_VERSION = "5"
# Changes when what is made of recognised lines changes; other PDF files are not parsed again.
RECOGNITION_VERSION = "2"


def request_fingerprint(
    content_hash: str, extension: str, password_hash: str | None, settings: ParseSettings
) -> str:
    """Return the SHA-256 of what a parse depends on, whoever reads the file.

    That is: the content; of the extension only what decides between text formats; the password;
    `repeated_line_share`; the limits of pages and size, which refuse the same document every time.
    Limits of time and memory are not in it: they decide whether a parse ends, not what it returns.
    Equal requests have equal media types.

    Args:
        content_hash: SHA-256 of the bytes.
        extension: of the file's name, with or without its dot.
        password_hash: of the password in its sidecar, None or empty without one.
        settings: of the namespace.
    """
    return hash_fields(
        STAGE_VERSION,
        content_hash,
        types_by_extension().get(bare_extension(extension)) or text_class(extension),
        password_hash or "",
        settings.repeated_line_share,
        settings.max_pages,
        settings.max_megabytes,
    )


def parse_fingerprint(
    request: str, media_type: str, settings: ParseSettings, stem: str = ""
) -> str:
    """Return the SHA-256 of everything that can change the result of a parse.

    That is the request, and of the parser that reads the media type now: its name, version and
    options, the stem where it reads that, and how PDF files are read where it is one. Another
    parser that is installed, changed or removed changes nothing.

    Args:
        request: from `request_fingerprint`.
        media_type: from `media_type_of`, empty where the file was not looked at.
        settings: of the namespace.
        stem: of the file's name.
    """
    try:
        parser = parser_for(media_type, settings.parser)
    except ParseFailure:
        return hash_fields(request, media_type)
    return hash_fields(
        request,
        media_type,
        parser.name,
        parser.version,
        settings.parser_options.get(parser.name, {}),
        stem if parser.reads_stem else "",
        _pdf_reading(settings) if media_type == PDF_TYPE else [],
    )


def _pdf_reading(settings: ParseSettings) -> list[object]:
    """Return what decides how a PDF is read beside the parser's own version."""
    reading: list[object] = []
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
