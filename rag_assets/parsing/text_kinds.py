"""Text files that are no documents: which kind they are, and what to do about each.

Their bytes decide where they show the kind, whatever the name says; the name decides for source
code and settings, which look like any text.
"""

import json
import re
from collections.abc import Mapping
from types import MappingProxyType

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
