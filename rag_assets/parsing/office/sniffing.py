"""Which office format a zip or OLE container is, by its content."""

import io
import re
import zipfile

from rag_assets.parsing.office.package import ZIP_ERRORS

_OFFICE = "application/vnd.openxmlformats-officedocument."
DOCX_TYPE = _OFFICE + "wordprocessingml.document"
PPTX_TYPE = _OFFICE + "presentationml.presentation"
XLSX_TYPE = _OFFICE + "spreadsheetml.sheet"
XLSB_TYPE = "application/vnd.ms-excel.sheet.binary.macroenabled.12"
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
