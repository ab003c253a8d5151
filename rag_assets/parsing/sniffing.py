"""Which format a file is: its bytes decide, its name only between text formats."""

from rag_assets.model import ParseFailure
from rag_assets.parsing.html.sniffing import HTML_EXTENSIONS, is_html, is_whole_page
from rag_assets.parsing.office.sniffing import OLE_TYPE, ole_office_type, zip_office_type
from rag_assets.parsing.plain.encoding_evidence import wide_encoding_of, without_padding
from rag_assets.parsing.plain.kinds import TEXT_KIND_EXTENSIONS, text_kind
from rag_assets.parsing.sheets.csv_dialect import looks_like_table

BINARY_MEDIA_TYPE = "application/octet-stream"
PDF_TYPE = "application/pdf"

# Adobe's own reader takes a PDF whose header starts within the first 1,024 bytes.
_PDF_HEADER_WINDOW = 1024
# Words of a PDF's body, which only a PDF holds.
_PDF_MARKS = (b"endobj", b"startxref")
# git looks for a NUL in the first 8,000 bytes to tell text from binary; so do we.
_NUL_WINDOW = 8000
_CONTROL_WINDOW = 65536
# Uniformly random bytes hold 11 % of these control characters, prose none.
_MAX_CONTROL_SHARE = 0.02
_CONTROL_BYTES = bytes([*range(9), *range(14, 27), 28, 29, 30, 31, 127])
# ISO-2022-KR says so at its beginning and shifts with SO and SI, controls everywhere else.
_SHIFTED_TEXT_MARK = b"\x1b$)C"

_TEXT_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")

_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", OLE_TYPE),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"\x00\x00\x00\x0cjP  ", "image/jp2"),
    (b"AT&TFORM", "image/vnd.djvu"),
    (b"8BPS", "image/vnd.adobe.photoshop"),
    (b"%!PS", "application/postscript"),
    (b"{\\rtf", "application/rtf"),
    (b"\x1f\x8b", "application/gzip"),
    (b"BZh", "application/x-bzip2"),
    (b"\xfd7zXZ\x00", "application/x-xz"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"Rar!\x1a\x07", "application/vnd.rar"),
    (b"SQLite format 3\x00", "application/vnd.sqlite3"),
    (b"PAR1", "application/vnd.apache.parquet"),
    (b"\x7fELF", "application/x-elf"),
    (b"ID3", "audio/mpeg"),
    (b"OggS", "application/ogg"),
    (b"fLaC", "audio/flac"),
    (b"\x1aE\xdf\xa3", "video/x-matroska"),
)
# Signatures so short that prose may begin with them: they count only where the rest is binary.
_WEAK_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"BM", "image/bmp"),
    (b"MZ", "application/vnd.microsoft.portable-executable"),
)
_PROSE_LIKE = frozenset({b"BZh", b"ID3", b"OggS", b"fLaC", b"PAR1", b"8BPS", b"GIF87a", b"GIF89a"})

_OFFICE = "application/vnd.openxmlformats-officedocument."
# Names of members stand uncompressed in a zip file, so the bytes can be searched for them.
_ZIP_MEMBERS: tuple[tuple[bytes, str], ...] = (
    (b"mimetypeapplication/epub+zip", "application/epub+zip"),
    (
        b"mimetypeapplication/vnd.oasis.opendocument.text",
        "application/vnd.oasis.opendocument.text",
    ),
    (
        b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet",
        "application/vnd.oasis.opendocument.spreadsheet",
    ),
    (
        b"mimetypeapplication/vnd.oasis.opendocument.presentation",
        "application/vnd.oasis.opendocument.presentation",
    ),
    (b"word/document", _OFFICE + "wordprocessingml.document"),
    (b"xl/workbook", _OFFICE + "spreadsheetml.sheet"),
    (b"ppt/presentation", _OFFICE + "presentationml.presentation"),
)

_TEXT_TYPES = {
    "md": "text/markdown",
    "markdown": "text/markdown",
    "csv": "text/csv",
    "tsv": "text/csv",
}
# Names of text without marks of its own.
_PLAIN_EXTENSIONS = frozenset({"txt", "text", "rst", "log"})
TEXT_EXTENSIONS = frozenset({*_TEXT_TYPES, *_PLAIN_EXTENSIONS, *HTML_EXTENSIONS})
# Names of formats that are never text: on a text file they are wrong, and the reader is told.
_BINARY_EXTENSIONS = frozenset(
    {
        "bmp", "djvu", "doc", "docm", "docx", "epub", "gif", "jpeg", "jpg", "odp", "ods", "odt",
        "pdf", "png", "ppt", "pptm", "pptx", "tif", "tiff", "webp", "xls", "xlsb", "xlsm", "xlsx",
        "zip",
    }
)  # fmt: skip


def bare_extension(extension: str) -> str:
    """Return `extension` without its dot, in lower case."""
    return extension.lower().lstrip(".")


def text_class(extension: str) -> str:
    """Return the part of the extension that may change a parse.

    That is `md`, `csv`, `tsv`, `txt`, `html`, the extension of a binary format (on a text file it
    is wrong, which the parse says) or of text that is no document, or "".
    """
    bare = bare_extension(extension)
    if bare in _PLAIN_EXTENSIONS:
        return "txt"
    if bare in HTML_EXTENSIONS:
        return "html"
    named = bare in _TEXT_TYPES or bare in _BINARY_EXTENSIONS or bare in TEXT_KIND_EXTENSIONS
    return {"markdown": "md"}.get(bare, bare if named else "")


def foreign_name_warning(extension: str, data: bytes) -> tuple[str, ...]:
    """Return a warning where a file's name says another format than the text that it holds.

    Args:
        extension: of the name, bare or not.
        data: the whole file, which is text.
    """
    bare = bare_extension(extension)
    if bare in _BINARY_EXTENSIONS:
        promise = (
            f"The file is named .{bare} but holds text and was read as text: give it its true "
            "extension, or put the file here that its name promises."
        )
        return (promise,)
    if bare in _PLAIN_EXTENSIONS and is_html(data, is_named_html=False):
        page = (
            f"The file is named .{bare} but holds an HTML page and was read as one: rename it to "
            ".html."
        )
        return (page,)
    return ()


def sniff_media_type(data: bytes, extension: str) -> str:
    """Return the media type of a file.

    Args:
        data: the whole file.
        extension: of its name; looked at only where the bytes are text.

    Returns:
        The type that the content shows; for text `text/markdown`, `text/csv` or `text/plain` by
        the extension, `text/html` or `text/csv` by the content where it is of none of those three;
        `application/octet-stream` for other binary data, whatever its name says.

    Raises:
        ParseFailure: `empty_file`.
    """
    if not data:
        raise ParseFailure(
            "empty_file", "The file is empty (0 bytes): remove it or copy it here again."
        )
    if b"%PDF-" in data[:_PDF_HEADER_WINDOW]:
        return PDF_TYPE
    bare = bare_extension(extension)
    if bare == "pdf" and any(mark in data for mark in _PDF_MARKS):
        return PDF_TYPE  # its head is lost; MuPDF looks for the rest
    return _binary_type(data) or _text_type(data, bare)


def _text_type(data: bytes, bare: str) -> str:
    is_page = is_html(data, is_named_html=bare in HTML_EXTENSIONS)
    # A page under the name of Markdown is one where it says so: Markdown may begin with tags.
    if is_page and (bare not in _TEXT_TYPES or is_whole_page(data)):
        return "text/html"
    kind = text_kind(data, bare)
    if kind is not None:
        return kind
    if bare in _TEXT_TYPES or bare in _PLAIN_EXTENSIONS:
        return _TEXT_TYPES.get(bare, "text/plain")
    return "text/csv" if looks_like_table(data) else "text/plain"


def _binary_type(data: bytes) -> str | None:
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip_type(data)
    looks_like_text = _looks_like_text(data)
    for signature, media_type in _SIGNATURES:
        if data.startswith(signature) and not (looks_like_text and signature in _PROSE_LIKE):
            return ole_office_type(data) if media_type == OLE_TYPE else media_type
    return None if looks_like_text else _weakly_signed_type(data)


def _weakly_signed_type(data: bytes) -> str:
    if data[:4] == b"RIFF":
        kinds = {b"WEBP": "image/webp", b"WAVE": "audio/wav", b"AVI ": "video/x-msvideo"}
        return kinds.get(data[8:12], BINARY_MEDIA_TYPE)
    if data[4:8] == b"ftyp":
        return "image/heic" if data[8:12] in {b"heic", b"heix", b"mif1"} else "video/mp4"
    for signature, media_type in _WEAK_SIGNATURES:
        if data.startswith(signature):
            return media_type
    return BINARY_MEDIA_TYPE


def _zip_type(data: bytes) -> str:
    office = zip_office_type(data)
    if office is not None:
        return office
    for name, media_type in _ZIP_MEMBERS:
        if name in data:
            return media_type
    return "application/zip"


def _looks_like_text(data: bytes) -> bool:
    if data.startswith(_TEXT_MARKS):
        return True
    text, _ = without_padding(data)
    sample = text[:_CONTROL_WINDOW]
    if wide_encoding_of(sample) is not None:
        return True
    if b"\x00" in sample[:_NUL_WINDOW]:
        return False
    controls = len(sample) - len(sample.translate(None, _CONTROL_BYTES))
    if _SHIFTED_TEXT_MARK in sample:
        controls -= sample.count(b"\x0e") + sample.count(b"\x0f")
    return controls <= _MAX_CONTROL_SHARE * len(sample)
