"""Which format a file is: its bytes decide, its name only between text formats."""

import io
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping
from types import MappingProxyType

from rag_assets.model import HAN_RANGES, ParseFailure
from rag_assets.parsing.delimited import looks_like_table

# Text files that are no documents: which kind they are, and what to do about each.
#
# Their bytes decide where they show the kind, whatever the name says; the name decides for source
# code and settings, which look like any text.

NOTEBOOK_TYPE = "application/x-ipynb+json"
MAIL_TYPE = "message/rfc822"
ARCHIVE_TYPE = "multipart/related"
_SOURCE_TYPE = "text/x-source-code"
_SETTINGS_TYPE = "text/x-settings"

# What a person can do about a kind that is not read, by its media type.
TEXT_ADVICE: Mapping[str, str] = MappingProxyType(
    {
        "application/json": "The file holds data (JSON), not a text: save a table as .csv or "
        ".xlsx, or describe the data in a document",
        "text/x-tex": "A LaTeX source is not what was printed: compile it and put the PDF here",
        "text/x-bibtex": "A bibliography database (BibTeX) is a list of references, no evidence: "
        "name it to the commands that read bibliographies, and put the works themselves here",
        "application/x-research-info-systems": "A bibliography database (RIS, EndNote, PubMed) is "
        "a list of references, no evidence: put the works themselves here",
        "image/svg+xml": "A drawing (SVG) has no running text: export the page that shows it as "
        "PDF",
        "application/xml": "XML is a source for programs: export what it holds as PDF, HTML or "
        ".docx",
        "text/x-url": "The file is a link, not the page: open it, save the page as complete HTML "
        "or PDF and put that here",
        _SOURCE_TYPE: "The file is source code: describe it in a document, or rename it to .txt "
        "if it is a text after all",
        _SETTINGS_TYPE: "The file holds settings or data for programs: describe them in a "
        "document, or rename it to .txt if it is a text after all",
    }
)
_BY_EXTENSION: dict[str, str] = {
    "ipynb": NOTEBOOK_TYPE, "eml": MAIL_TYPE, "mht": ARCHIVE_TYPE, "mhtml": ARCHIVE_TYPE,
    "tex": "text/x-tex", "ltx": "text/x-tex", "sty": "text/x-tex", "cls": "text/x-tex",
    "bib": "text/x-bibtex", "svg": "image/svg+xml", "url": "text/x-url",
    "webloc": "text/x-url", "desktop": "text/x-url",
    **dict.fromkeys(("ris", "enw", "nbib"), "application/x-research-info-systems"),
    **dict.fromkeys(("json", "jsonl", "ndjson", "geojson", "har", "jsonld"), "application/json"),
    **dict.fromkeys(("xml", "xsl", "xslt", "xsd", "rss", "atom", "kml", "opml"), "application/xml"),
    **dict.fromkeys(
        (
            "py", "pyi", "js", "mjs", "cjs", "ts", "jsx", "tsx", "vue", "css", "scss", "sass",
            "less", "c", "h", "cc", "cpp", "cxx", "hpp", "cs", "java", "kt", "scala", "go", "rs",
            "rb", "php", "pl", "pm", "lua", "swift", "dart", "hs", "jl", "r", "f90", "sql", "sh",
            "bash", "zsh", "fish", "ps1", "bat", "cmd", "vbs", "asm", "diff", "patch",
        ),
        _SOURCE_TYPE,
    ),
    **dict.fromkeys(
        (
            "yaml", "yml", "toml", "ini", "cfg", "conf", "env", "properties", "lock", "plist",
            "gitignore", "editorconfig", "ics", "vcf", "reg",
        ),
        _SETTINGS_TYPE,
    ),
}  # fmt: skip
TEXT_KIND_EXTENSIONS = frozenset(_BY_EXTENSION)
# What begins a file of the kind; each is read after a mark of order and blank lines.
_BEGINNINGS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), kind)
    for pattern, kind in (
        (r"\[InternetShortcut\]\s", "text/x-url"),
        (r"\[Desktop Entry\]\s", "text/x-url"),
        (r"TY  - [A-Z]+\s*?\n(?:[A-Z][A-Z0-9]  -|\s)", "application/x-research-info-systems"),
        (r"%0 (?:Journal|Book|Conference|Thesis|Report|Generic|Web)",
         "application/x-research-info-systems"),
        (r"PMID- \d+\s*?\n[A-Z]{2,4} *- ", "application/x-research-info-systems"),
        ((r"(?:%[^\n]*\n\s*)*@(?:article|book|booklet|comment|conference|data|dataset|inbook"
         r"|incollection|inproceedings|manual|mastersthesis|misc|online|phdthesis|preamble"
         r"|proceedings|string|techreport|thesis|unpublished)\s*[{(]"), "text/x-bibtex"),
        ((r"(?:%[^\n]*\n\s*)*\\(?:documentclass|documentstyle|begin\{document\}|RequirePackage"
         r"|NeedsTeXFormat)"), "text/x-tex"),
        (r"(?:<\?xml[^>]*>\s*|<!--.*?-->\s*|<!DOCTYPE svg[^>]*>\s*)*<svg[\s>]", "image/svg+xml"),
        (r"<\?xml\s[^>]*\?>", "application/xml"),
        (r"#!\s*/\S*(?:bin|env)\b", _SOURCE_TYPE),
    )
)  # fmt: skip
_HEADER = re.compile(r"(?:[A-Za-z][A-Za-z0-9-]*:[^\n]*\n(?:[ \t]+[^\n]*\n)*){2,}\r?\n?")
# Headers that programs write and people do not.
_MAIL_MARK = re.compile(
    r"^(?:MIME-Version|Message-ID|Received|Return-Path|Delivered-To|Content-Transfer-Encoding):",
    re.IGNORECASE | re.MULTILINE,
)
_ARCHIVE_MARK = re.compile(r"^Content-Type:\s*multipart/related", re.IGNORECASE | re.MULTILINE)
_WINDOW = 65_536
# Larger text is told by its beginning alone.
_MOST_JSON_BYTES = 50_000_000


def text_kind(data: bytes, extension: str) -> str | None:
    """Return the media type of a text file that is no plain document, None for any other.

    Args:
        data: the whole file, in an encoding that keeps ASCII.
        extension: of its name, bare.
    """
    head = data[:_WINDOW].decode("latin-1").removeprefix("\xef\xbb\xbf").lstrip()
    head = head.replace("\r\n", "\n")
    header = _HEADER.match(head)
    if header and _MAIL_MARK.search(header[0]):
        return ARCHIVE_TYPE if _ARCHIVE_MARK.search(header[0]) else MAIL_TYPE
    for pattern, kind in _BEGINNINGS:
        if pattern.match(head):
            return kind
    if head[:1] in {"{", "["} and _is_json(data):
        return NOTEBOOK_TYPE if extension == "ipynb" or _is_notebook(head) else "application/json"
    return _BY_EXTENSION.get(extension)


def _is_notebook(head: str) -> bool:
    return head[0] == "{" and '"cells"' in head and '"cell_type"' in head


def _is_json(data: bytes) -> bool:
    """Tell whether a file is JSON, or has a value of JSON on each line."""
    if len(data) > _MOST_JSON_BYTES:
        return True
    try:
        json.loads(data)
    except RecursionError:
        return True
    except ValueError:
        lines = data.split(b"\n", 2)
        try:
            return len(lines) > 1 and all(isinstance(json.loads(x), dict) for x in lines[:2])
        except (ValueError, RecursionError):
            return False
    return True


# Which format a file is: its bytes decide, its name only between text formats.

# What zipfile and zlib raise for broken bytes: found by fuzzing.
ZIP_ERRORS = (
    zipfile.BadZipFile, zlib.error, EOFError, struct.error, NotImplementedError, RuntimeError,
    OSError, ValueError, OverflowError, KeyError, IndexError,
)  # fmt: skip
_OFFICE = "application/vnd.openxmlformats-officedocument."
DOCX_TYPE = _OFFICE + "wordprocessingml.document"
PPTX_TYPE = _OFFICE + "presentationml.presentation"
XLSX_TYPE = _OFFICE + "spreadsheetml.sheet"
XLSB_TYPE = "application/vnd.ms-excel.sheet.binary.macroenabled.12"
ODS_TYPE = "application/vnd.oasis.opendocument.spreadsheet"
OLE_TYPE = "application/x-ole-storage"
DOC_TYPE, PPT_TYPE, XLS_TYPE = (
    "application/msword",
    "application/vnd.ms-powerpoint",
    "application/vnd.ms-excel",
)
# There is no registered type; Apache Tika's name for it.
PROTECTED_OFFICE_TYPE = "application/x-tika-ooxml-protected"

# Content types of main parts: documents, templates, slide shows, with and without macros.
_MAIN_PARTS: tuple[tuple[re.Pattern[bytes], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), media_type)
    for pattern, media_type in (
        (rb"ms-excel\.sheet\.binary\.macroEnabled\.main", XLSB_TYPE),
        (rb"(wordprocessingml|ms-word)\.(document|template)[.\w]*\.main\+xml", DOCX_TYPE),
        (
            rb"(presentationml|ms-powerpoint)\.(presentation|slideshow|template)[.\w]*\.main\+xml",
            PPTX_TYPE,
        ),
        (rb"(spreadsheetml|ms-excel)\.(sheet|template)[.\w]*\.main\+xml", XLSX_TYPE),
    )
)
_EXTENSIONS = {
    "docx": DOCX_TYPE, "docm": DOCX_TYPE, "doc": DOC_TYPE, "pptx": PPTX_TYPE, "pptm": PPTX_TYPE,
    "ppt": PPT_TYPE, "xlsx": XLSX_TYPE, "xlsm": XLSX_TYPE, "xls": XLS_TYPE,
}  # fmt: skip
_MAX_LISTING_BYTES = 10_000_000
_OLE_STREAMS = (
    ("EncryptedPackage", PROTECTED_OFFICE_TYPE),
    ("WordDocument", DOC_TYPE),
    ("PowerPoint Document", PPT_TYPE),
    ("Workbook", XLS_TYPE),
    ("Book", XLS_TYPE),
)


BINARY_MEDIA_TYPE = "application/octet-stream"
PDF_TYPE = "application/pdf"

# Adobe's own reader takes a PDF whose header starts within the first 1,024 bytes.
_PDF_HEADER_WINDOW = 1024
# Words of a PDF's body, which only a PDF holds.
_PDF_MARKS = (b"endobj", b"startxref")
# git looks for a NUL in the first 8,000 bytes to tell text from binary; so do we.
_NUL_WINDOW = 8000
# Signatures that no text begins with, whatever follows: PNG, JPEG, gzip.
_NEVER_TEXT = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"\x1f\x8b\x08")
_CONTROL_WINDOW = 65536
# Uniformly random bytes hold 11 % of these control characters, prose none.
_MAX_CONTROL_SHARE = 0.02
_CONTROL_BYTES = bytes([*range(9), *range(14, 27), 28, 29, 30, 31, 127])
# ISO-2022-KR says so at its beginning and shifts with SO and SI, controls everywhere else.
_SHIFTED_TEXT_MARK = b"\x1b$)C"

_TEXT_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")

# Formats that are written in characters and are no text all the same.
_WRITTEN = {b"%!PS": "application/postscript", b"{\\rtf": "application/rtf"}
_OLE_SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

# Names of members stand uncompressed in a zip file, so the bytes can be searched for them.
_ZIP_MEMBERS: tuple[tuple[bytes, str], ...] = (
    (b"mimetypeapplication/epub+zip", "application/epub+zip"),
    (
        b"mimetypeapplication/vnd.oasis.opendocument.text",
        "application/vnd.oasis.opendocument.text",
    ),
    (
        b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet",
        ODS_TYPE,
    ),
    (
        b"mimetypeapplication/vnd.oasis.opendocument.presentation",
        "application/vnd.oasis.opendocument.presentation",
    ),
    (b"word/document", DOCX_TYPE),
    (b"xl/workbook", XLSX_TYPE),
    (b"ppt/presentation", PPTX_TYPE),
)


HTML_EXTENSIONS = frozenset({"html", "htm", "xhtml", "xht", "shtml"})

# The WHATWG MIME sniffing standard (§7.1) looks into 1,445 bytes; licences in a leading comment
# are longer, and UTF-32 needs four bytes a character.
_PAGE_WINDOW = 16_384
_ORDER_MARKS = (b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe\x00\x00", "utf-32"), (b"\xff\xfe", "utf-16")
_BE_MARKS = (b"\x00\x00\xfe\xff", "utf-32"), (b"\xfe\xff", "utf-16")
_PREFIX = re.compile(r"(?:\s+|<\?xml[^>]*>|<!--.*?-->|\ufeff)*", re.DOTALL)
_PAGE = re.compile(r"<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_OTHER_DOCTYPE = re.compile(r"<!doctype\s+(?!html\b)", re.IGNORECASE)
_ELEMENT = (
    r"(?:html|head|body|title|meta|p|div|section|article|main|h[1-6]|ul|ol|li|dl|table|t[rhd]|pre|"
    r"blockquote|form|span|a|b|i|em|strong|br|hr|img|center|font)"
)
_FRAGMENT = re.compile(rf"<{_ELEMENT}\b[^<>]*>", re.IGNORECASE)
_CLOSING = re.compile(rf"</{_ELEMENT}\s*>", re.IGNORECASE)
# A fragment without <html> is a page where it begins with a tag and closes some.
_MIN_CLOSING_TAGS = 3

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
    named = _TEXT_TYPES.get(bare, "text/plain")
    if named == "text/plain":
        is_prose = bare in _TEXT_TYPES or bare in _PLAIN_EXTENSIONS
        named = "text/csv" if looks_like_table(data, is_prose=is_prose) else named
    return named


def _binary_type(data: bytes) -> str | None:
    """Return the type of what is no text, None for text."""
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        office = zip_office_type(data)
        named = (media_type for name, media_type in _ZIP_MEMBERS if name in data)
        return office or next(named, "application/zip")
    if data.startswith(_OLE_SIGNATURE):
        return ole_office_type(data)
    if not data.startswith(_NEVER_TEXT) and _looks_like_text(data):
        return next((kind for sign, kind in _WRITTEN.items() if data.startswith(sign)), None)
    import puremagic

    try:
        found = puremagic.from_string(data, mime=True)
    except (puremagic.PureError, ValueError):
        found = ""  # nothing that it knows
    if not found or found.startswith("text/"):
        return BINARY_MEDIA_TYPE
    return found.replace("application/x-gzip", "application/gzip")  # its name since RFC 6713


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


def zip_office_type(data: bytes) -> str | None:
    """Return the media type of an office package, None where its listing of parts says nothing.

    Macro-enabled files and templates have the type of their plain form: they are read alike and
    macros are never looked at.

    Args:
        data: a zip file, perhaps damaged.
    """
    try:
        with (
            zipfile.ZipFile(io.BytesIO(data)) as archive,
            archive.open("[Content_Types].xml") as stream,
        ):
            listing = stream.read(_MAX_LISTING_BYTES)
    except ZIP_ERRORS:
        return None  # the names of its members may still tell
    if listing.startswith((b"\xff\xfe", b"\xfe\xff")):
        listing = listing.replace(b"\x00", b"")
    return next((kind for pattern, kind in _MAIN_PARTS if pattern.search(listing)), None)


def ole_office_type(data: bytes) -> str:
    """Return the media type of an OLE container by the streams in its root.

    Args:
        data: begins with the signature of OLE.
    """
    import olefile

    try:
        with olefile.OleFileIO(io.BytesIO(data)) as container:
            streams = {path[0].casefold() for path in container.listdir()}
    except (OSError, ValueError, IndexError, TypeError, AttributeError):
        return OLE_TYPE  # too damaged to tell
    return next((kind for name, kind in _OLE_STREAMS if name.casefold() in streams), OLE_TYPE)


def misnamed_warning(extension: str, media_type: str) -> tuple[str, ...]:
    """Return a warning where a file is named as another office format than it holds.

    Args:
        extension: of the name, with or without its dot.
        media_type: of the content.
    """
    bare = extension.lower().lstrip(".")
    if bare not in _EXTENSIONS or _EXTENSIONS[bare] == media_type:
        return ()
    true = next(name for name, kind in _EXTENSIONS.items() if kind == media_type)
    warning = (
        f"The file is named .{bare} but holds a document of type .{true} and was read as that: "
        "give it its true extension, or put the file here that its name promises."
    )
    return (warning,)


def is_html(data: bytes, *, is_named_html: bool) -> bool:
    """Tell whether a text file is an HTML page or a fragment of one.

    Args:
        data: the whole file.
        is_named_html: its name says so; then any HTML element will do.
    """
    head = _decode_head(data)
    start = _PREFIX.match(head)
    beginning = head[start.end() :] if start else head
    if _PAGE.match(beginning):
        return True
    if _OTHER_DOCTYPE.match(beginning):
        return False
    if is_named_html:
        return _FRAGMENT.search(head) is not None
    if _FRAGMENT.match(beginning) is None:
        return False
    return len(_CLOSING.findall(head)) >= _MIN_CLOSING_TAGS


def is_whole_page(data: bytes) -> bool:
    """Tell whether a text begins as a whole HTML page does."""
    head = _decode_head(data)
    start = _PREFIX.match(head)
    return _PAGE.match(head, start.end() if start else 0) is not None


def _decode_head(data: bytes) -> str:
    """Return the first characters; tags are ASCII in every encoding but UTF-16 and UTF-32."""
    trimmed, _ = without_padding(data)
    head = trimmed[:_PAGE_WINDOW]
    for mark, encoding in (*_ORDER_MARKS, *_BE_MARKS):
        if head.startswith(mark):
            return head.decode(encoding, "ignore")
    return head.decode(wide_encoding_of(head) or "latin-1", "ignore")


# Text in UTF-16 and UTF-32 without a mark

# No encoding of text has so many NULs in a row.
_PADDING = re.compile(rb"\x00{16,}")
_SAMPLE_CHARACTERS = 20_000
_MIN_WIDE_CHARACTERS = 4
_MIN_NUL_SHARE_OF_ASCII = 0.25
_CONTROLS = bytes([*range(9), 11, *range(14, 32), 127])
# Prose has no unassigned or private characters; a few may stand for ornaments.
_MIN_EVERYDAY_SHARE = 0.95

# Blocks that hold the world's running text: alphabets of everyday use, punctuation, CJK, kana,
# hangul, full-width forms; pairs of surrogates decode to planes above and are let through.
_EVERYDAY = re.compile(
    r"[\t\n\r\x20-\x7e\xa0-\u024f\u0300-\u06ff\u0900-\u0eff\u10a0-\u11ff\u1e00-\u20cf\u2100-\u22ff"
    rf"\u2500-\u26ff\u3000-\u33ff{HAN_RANGES}\uac00-\ud7a3\uff00-\uffef"
    r"\ufeff\U00010000-\U0003ffff]"
)
# Characters that every text has, and what they look like with their bytes exchanged.
_COMMON = re.compile(r"[\t\n\r \u3000-\u3002\uff0c]")
_EXCHANGED = re.compile(r"[\u0900\u0a00\u0d00\u2000\u0030\u0130\u0230\u0cff]")


def without_padding(data: bytes) -> tuple[bytes, int]:
    """Return (data without long runs of NUL bytes, how many were left out).

    A disk that lost power or a program that wrote in blocks leaves them. Where NULs stand outside
    such runs too, they may belong to UTF-16 or to a binary format, and nothing is left out.
    """
    if _PADDING.search(data) is None:
        return data, 0
    text = _PADDING.sub(b"", data)
    return (data, 0) if not text or b"\x00" in text else (text, len(data) - len(text))


def wide_encoding_of(data: bytes) -> str | None:
    """Return `utf-32-le`, `utf-32-be`, `utf-16-le` or `utf-16-be` of a text without a mark.

    UTF-32 shows by itself: the eleven high bits of every unit are zero. UTF-16 must decode into
    everyday characters, with more blanks and line ends than the other byte order gives, and hold
    a NUL (the other half of an ASCII character), without which it cannot be told from ASCII.

    Args:
        data: the whole file, or a part of it whose length is a multiple of 4.
    """
    nuls = data.count(b"\x00")
    if nuls == 0 or _is_ascii_with_nuls(data, nuls):
        return None
    for encoding in ("utf-32-le", "utf-32-be"):
        if _everyday_share(data, encoding) >= _MIN_EVERYDAY_SHARE:
            return encoding
    shares = {name: _everyday_share(data, name) for name in ("utf-16-le", "utf-16-be")}
    fit = [name for name, share in shares.items() if share >= _MIN_EVERYDAY_SHARE]
    return max(fit, key=lambda name: (_order_evidence(data, name), shares[name]), default=None)


def _is_ascii_with_nuls(data: bytes, nuls: int) -> bool:
    """Tell whether data are ASCII with a stray NUL, which would decode into rare ideographs.

    ASCII in UTF-16 is half NULs; alphabets in UTF-16 are full of what ASCII uses for controls.
    """
    if not data.isascii() or nuls >= _MIN_NUL_SHARE_OF_ASCII * len(data):
        return False
    return len(data.translate(None, _CONTROLS)) >= (1 - _MAX_CONTROL_SHARE) * (len(data) - nuls)


def _everyday_share(data: bytes, encoding: str) -> float:
    width = 4 if encoding.startswith("utf-32") else 2
    if len(data) % width or len(data) < width * _MIN_WIDE_CHARACTERS:
        return 0.0
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return 0.0
    sample = text[:_SAMPLE_CHARACTERS]
    return len(_EVERYDAY.findall(sample)) / len(sample)


def _order_evidence(data: bytes, encoding: str) -> int:
    sample = data[: 2 * _SAMPLE_CHARACTERS].decode(encoding, "ignore")
    return len(_COMMON.findall(sample)) - len(_EXCHANGED.findall(sample))
