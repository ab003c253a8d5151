"""From bytes to a finished document in this process, and the fingerprint of a parse."""

import dataclasses
import re

from rag_assets.law import find_statute_year
from rag_assets.model import (
    ParsedDocument,
    ParseFailure,
    Standing,
    describe_standing,
    hash_bytes,
    hash_fields,
    size_problem,
    standing_of_title,
    with_standing,
)
from rag_assets.model.settings import ParseSettings
from rag_assets.parsing.cleaning import is_garbled, without_controls
from rag_assets.parsing.markdown import plain_title
from rag_assets.parsing.registry import (
    ParseHints,
    Parser,
    extra_version,
    parser_for,
    types_by_extension,
)
from rag_assets.parsing.sections import make_sections
from rag_assets.parsing.sniffing import (
    BINARY_MEDIA_TYPE,
    PDF_TYPE,
    TEXT_ADVICE,
    TEXT_EXTENSIONS,
    bare_extension,
    sniff_media_type,
    text_class,
)

# What a parse depends on, as one hash: equal fingerprints, equal parses.
#
# Who reads a file is known only from its bytes. So a request is named first, by all that is known
# before they are read, and the parse itself by the request and the parser that its media type has.

# Changes when sniffing, the checks, what is dropped from every document, the year of statutes, what
# retracts a document, the words of section titles or the stored layout change what a parse is.
STAGE_VERSION = "6"
# Changes when what is made of recognised lines changes; other PDF files are not parsed again.
RECOGNITION_VERSION = "3"


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
            extra_version("rapidocr") if settings.ocr != "tesseract" else "",
        ]
    return reading


# What is no document though it opens: a site's refusal, and a text layer that says nothing.

_PDF_TYPE, _WEB_TYPE = "application/pdf", "text/html"
# A refusal is a line or two, with the site's menus a thousand characters; an abstract that speaks
# of such pages is longer, or does not begin so.
_MAX_CHARACTERS, _MAX_BEGINNING, _MAX_ONE_LINE = 1500, 120, 300
_MIN_SIGNS, _MAX_SENTENCES = 2, 2
_SENTENCE = re.compile(r"[^.!?。！？]{60,}[.!?]|[^.!?。！？]{25,}[。！？]")
_REFUSAL = re.compile(
    r"access (?:is |was )?(?:denied|forbidden|restricted)|forbidden"
    # A number alone is a dose or a year.
    r"|(?:error|http|status)(?: code)?:? ?(?:40[134]|50[0234])\b|\b(?:40[134]|50[0234])[ :–—-]+"
    r"(?:error|bad|not found|service|gateway|internal|access|unauthori)"
    r"|page (?:was )?not found|do(?:es)? ?n[o']t have (?:permission|access)|not authori[sz]ed"
    r"|unauthori[sz]ed|captcha|(?:verify|confirm|prove) (?:that )?you are (?:a |not a )?"
    r"(?:human|robot)|are you a (?:human|robot)|checking your browser|just a moment"
    r"|enable (?:javascript|cookies)|your download (?:will|should) (?:start|begin)"
    r"|(?:log|sign) ?in (?:to|with|via|through)|institution(?:al)? (?:login|access|sign)"
    r"|(?:purchase|buy|rent) (?:access|this article|the article|pdf)|subscribe to (?:read|access)"
    r"|session (?:has )?(?:expired|timed out)|too many requests|service unavailable|bad gateway"
    r"|访问被?拒绝|拒绝访问|禁止访问|无权访问|没有(?:访问)?权限|验证码|人机验证|(?:请先?|需要|先)登[录陆]"
    r"|登[录陆]后|下载(?:即将|马上|将)开始|页面不存在|找不到(?:该)?页面|服务不可用|访问过于频繁",
    re.IGNORECASE,
)
# So many characters without a Unicode value, and there is nothing to search.
_MAX_UNREADABLE_SHARE = 0.5


def check_is_document(document: ParsedDocument) -> None:
    """Refuse what nobody could cite.

    Raises:
        ParseFailure: `error_page`: a PDF of one page or a web page that holds nothing but a site's
            refusal or its form to log in; `unreadable_text`: the text layer of a PDF is not the
            text that its pages show.
    """
    text = document.text
    if (
        document.media_type in {_PDF_TYPE, _WEB_TYPE}
        and len(document.pages) <= 1
        and _is_refusal(" ".join(text.split()))
    ):
        raise ParseFailure(
            "error_page",
            f"The file is no document but a page of a web site that gave none (“{text[:80]}”): "
            "fetch the document again in a browser, logged in where that is needed.",
        )
    if document.media_type != _PDF_TYPE or not text:
        return
    if text.count("\ufffd") > _MAX_UNREADABLE_SHARE * len(text) or is_garbled(text):
        raise ParseFailure(
            "unreadable_text",
            "The text layer of the PDF is not what its pages show "
            f"(it reads “{' '.join(text[:80].split())}”): run text recognition (OCR) on the pages "
            "as pictures and replace the file, or look for another edition.",
        )


def _is_refusal(text: str) -> bool:
    signs = {sign.lower() for sign in _REFUSAL.findall(text)}
    if not signs or len(text) > _MAX_CHARACTERS:
        return False
    prose = [one for one in _SENTENCE.findall(text) if not _REFUSAL.search(one)]
    if len(prose) > _MAX_SENTENCES:
        return False
    begins = _REFUSAL.search(text[:_MAX_BEGINNING]) is not None
    return (begins and len(text) <= _MAX_ONE_LINE) or len(signs) >= _MIN_SIGNS


# Whether a document says that it was retracted, corrected, or that its publisher has concerns.

# A stamp is a line of its own on a page, or what repeats on each; so are they written there.
_STAMPS: dict[Standing, re.Pattern[str]] = {
    "retracted": re.compile(
        r"\W*(?:RETRACTED|Retracted|WITHDRAWN)(?:\s+(?:ARTICLE|PAPER|CHAPTER|Article|Paper))?\W*"
        r"|\W*(?:本文|论文|该文)?已?(?:撤稿|撤回)(?:声明)?\W*"
    ),
    "concern": re.compile(
        r"\W*(?:EDITORIAL )?EXPRESSION OF CONCERN\W*|\W*(?:Editorial )?Expression of [Cc]oncern\W*"
        r"|\W*(?:编辑)?关注声明\W*"
    ),
}
# The kind of a publication, above its title; further on `Correction` is a chapter.
_LABELS: dict[Standing, re.Pattern[str]] = {
    "retracted": re.compile(r"\W*(?:RETRACTION|Retraction)(?: (?i:note|notice|statement))?\W*"),
    "corrected": re.compile(
        r"\W*(?:ERRATUM|CORRIGENDUM|Erratum|Corrigendum|勘误|更正)\W*"
        r"|\W*(?:(?:AUTHOR |PUBLISHER )?CORRECTION|(?:Author|Publisher) Correction)\W*"
    ),
}
_MAX_LABEL_LINES = 6
# The notice stands at the beginning, mostly above the abstract.
_NOTICE_CHARACTERS = 4000
_THIS = r"this\s+(?:article|paper|chapter|publication|study|work|manuscript)"
_EDITORS = r"the\s+(?:editors?(?:-in-chief)?|publishers?|authors?|journal)"
_START = r"(?:^|[.!?:。！？]\s+|\n)\W*(?:(?:retraction|editorial|editor's)\s+(?:note|notice)\W+)?"
_NOTICES: dict[Standing, re.Pattern[str]] = {
    "retracted": re.compile(
        rf"{_START}(?:{_THIS}\s+(?:has\s+been|was|is)\s+(?:retracted|withdrawn)\b"
        rf"|{_EDITORS}(?:\s+(?:of|and|has|have)\b[^.\n]{{0,80}})?\s+(?:retracts?|retracted|withdrawn?)"
        rf"\s+{_THIS}|(?:本文|本论文|该论文|该文)(?:现)?(?:已|已经|已被|被)?(?:编辑部)?(?:撤稿|撤回|予以撤稿))",
        re.IGNORECASE,
    ),
    "concern": re.compile(
        rf"{_START}(?:an?\s+|the\s+)?(?:editorial\s+)?expression\s+of\s+concern\s+"
        rf"(?:has\s+been|was|is|for|about|on|regarding)\b|编辑部?对(?:本文|该文)[^。]{{0,20}}(?:关注|关切)",
        re.IGNORECASE,
    ),
    "corrected": re.compile(
        rf"{_START}(?:{_THIS}\s+(?:has\s+been|was)\s+corrected\b"
        rf"|an?\s+(?:erratum|corrigendum|(?:author\s+|publisher\s+)?correction)\s+to\s+{_THIS}"
        r"|本文(?:已|已经)(?:更正|勘误))",
        re.IGNORECASE,
    ),
}


def find_standing(document: ParsedDocument) -> Standing | None:
    """Return what a document's title, stamps, label or notice says of it; None without.

    A paper about retractions, or one that mentions them, says nothing of itself.
    """
    found = standing_of_title(document.title)
    if found is not None:
        return found
    printed = [document.text[line.start : line.end] for line in document.lines]
    lines = [*document.removed_templates, *(printed or document.text.splitlines())]
    beginning = document.text[:_NOTICE_CHARACTERS]
    labels = [line for line in document.text[:_NOTICE_CHARACTERS].split("\n") if line.strip()]
    for standing in ("retracted", "concern", "corrected"):
        stamp, label = _STAMPS.get(standing), _LABELS.get(standing)
        if (
            (stamp and any(map(stamp.fullmatch, lines)))
            or (label and any(map(label.fullmatch, labels[:_MAX_LABEL_LINES])))
            or _NOTICES[standing].search(beginning)
        ):
            return standing
    return None


# Bytes to document: the one call that every parse goes through.

# What is taken for a broken PDF where the name promises one. A web page under that name is not:
# it is what a site answered in place of the file, and its text says so.
_NO_PDF = ("text/plain", "text/csv", BINARY_MEDIA_TYPE)
# A few words under a PDF's name are what a failed download left.
_PROSE_WINDOW = 4096
_MIN_PROSE_LETTERS = 200
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def check_size(size: int, settings: ParseSettings) -> None:
    """Refuse a file that is too large.

    Args:
        size: in bytes.
        settings: `max_megabytes` is in 10⁶ bytes.

    Raises:
        ParseFailure: `size_limit`.
    """
    problem = size_problem(size, settings.max_megabytes)
    if problem:
        raise ParseFailure("size_limit", problem)


def media_type_of(data: bytes, hints: ParseHints) -> str:
    """Return the media type of a file, which decides who reads it.

    Raises:
        ParseFailure: `empty_file`, `damaged_file`.
    """
    media_type = sniff_media_type(data, hints.extension)
    extension = bare_extension(hints.extension)
    is_open = media_type in TEXT_ADVICE or media_type == BINARY_MEDIA_TYPE
    if is_open or media_type.startswith("text/"):
        media_type = types_by_extension().get(extension, media_type)
    if extension == "pdf" and media_type in _NO_PDF and data.strip() and not _is_prose(data):
        raise ParseFailure(
            "damaged_file",
            "The file is named .pdf but holds no PDF: fetch it again from where it came, or give "
            "it its true extension.",
        )
    return media_type


def choose_parser(media_type: str, hints: ParseHints, settings: ParseSettings) -> Parser:
    """Return the parser of a media type.

    Raises:
        ParseFailure: `unsupported_format`.
    """
    extension = bare_extension(hints.extension)
    try:
        return parser_for(media_type, settings.parser)
    except ParseFailure as failure:
        if extension in TEXT_EXTENSIONS:
            raise ParseFailure(
                failure.reason_code,
                f"The file is named .{extension} but holds binary data ({media_type}), not text: "
                "give it its true extension, or save the text that it should hold. "
                f"{failure.message}",
            ) from failure
        raise


def _is_prose(data: bytes) -> bool:
    """Tell whether a file that is no PDF holds a text worth reading, not a rest or garbage."""
    letters = sum(
        character.isalpha() for character in data[:_PROSE_WINDOW].decode("utf-8", "ignore")
    )
    return letters >= _MIN_PROSE_LETTERS and b"\x00" not in data[:_PROSE_WINDOW]


def parse_document(data: bytes, hints: ParseHints, settings: ParseSettings) -> ParsedDocument:
    """Return the document that `data` holds, parsed in this process, without time limit.

    Args:
        data: the whole file.
        hints: what is known besides.
        settings: size and page limits, rules.

    Raises:
        ParseFailure: with a reason code of `PARSE_REASONS`.
        MemoryError: the document needs more memory than the process has.
        ValueError: the parser broke its contract.
    """
    check_size(len(data), settings)
    parser = choose_parser(media_type_of(data, hints), hints, settings)
    return finish_document(parser.parse(data, hints, settings), parser)


def finish_document(document: ParsedDocument, parser: Parser) -> ParsedDocument:
    """Return `document` checked, without control characters, with section tree, year, the hashes of
    its attachments, and in its title whether it was retracted or corrected.

    Raises:
        ParseFailure: `empty_file`: it has no text; `error_page`, `unreadable_text`.
        ValueError: page spans do not partition the text, a block or line lies outside it, blocks
            overlap, or the text holds a NUL or a lone surrogate.
    """
    _check_document(document, parser)
    check_is_document(document)
    document = without_controls(document)
    if not document.text.strip():
        raise ParseFailure(
            "empty_file",
            f"The parser {parser.name} found no text in it: look whether it is the right file, and "
            "remove it or write its text.",
        )
    attachments = tuple(
        item
        if item.content is None
        else dataclasses.replace(item, content_hash=hash_bytes(item.content))
        for item in document.attachments
    )
    # Markdown keeps its marks in the clean text; its titles are shown without them.
    title_of = plain_title if document.is_markdown else None
    sections = make_sections(
        document.text,
        document.blocks,
        document.abstract,
        title_of=title_of,
        document_title=document.title,
    )
    return dataclasses.replace(
        _with_standing(document),
        attachments=attachments,
        sections=sections,
        year=_year_of(document),
    )


def _with_standing(document: ParsedDocument) -> ParsedDocument:
    """Return `document` with what its publisher says of it in its title and among the warnings."""
    standing = find_standing(document)
    if standing is None:
        return document
    title = with_standing(document.title or "", standing)
    warning = describe_standing(title)
    return dataclasses.replace(
        document, title=title, warnings=(*document.warnings, *filter(None, [warning]))
    )


def _year_of(document: ParsedDocument) -> int | None:
    """Return the year of a document; that of a statute is said by its head.

    A page only prints years, and of several dates a statute's head says which is which; what front
    matter or metadata state is taken.
    """
    if document.year is not None and not document.pages:
        return document.year
    return find_statute_year(document.text) or document.year


def _check_document(document: ParsedDocument, parser: Parser) -> None:
    length = len(document.text)
    edges = [0, *(page.end for page in document.pages)]
    starts = [*(page.start for page in document.pages), length]
    if document.pages and (edges != starts or edges != sorted(edges)):
        raise ValueError(f"parser {parser.name}: page spans do not partition the text")
    reached = 0
    for block in document.blocks:
        if not reached <= block.start < block.end <= length:
            raise ValueError(f"parser {parser.name}: block {block} overlaps or lies outside")
        reached = block.end
    for line in document.lines:
        if not 0 <= line.start < line.end <= length:
            raise ValueError(f"parser {parser.name}: line {line} lies outside the text")
    if _UNSTORABLE.search(document.text):
        raise ValueError(f"parser {parser.name}: the text holds a NUL or a lone surrogate")
