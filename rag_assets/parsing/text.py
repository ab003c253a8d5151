"""Text files: the encoding is found, paragraphs are cut at empty lines.

A mark of order decides on the encoding, then NUL patterns (UTF-16 and UTF-32 without a mark),
escape sequences (ISO-2022, HZ), strict UTF-8, what the file declares, and last charset-normalizer.
"""

import codecs
import re
from functools import cached_property
from importlib.metadata import version

from rag_assets.model import Block, ParsedDocument, ParseFailure
from rag_assets.model.settings import ParseSettings
from rag_assets.parsing.cleaning import clean_source, guess_language
from rag_assets.parsing.registry import ParseHints
from rag_assets.parsing.seen import turned_note
from rag_assets.parsing.sniffing import foreign_name_warning, wide_encoding_of, without_padding

PARSER_VERSION = "3"

_PARAGRAPH = re.compile(r"\S(?:.*\S)?(?:\n[^\S\n]*\S(?:.*\S)?)*")
# The longer mark first: UTF-32's begins with UTF-16's.
_MARKS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (b"\x84\x31\x95\x33", "gb18030"),
)
# XML 1.0 §4.3.3, HTML's two meta forms, CSS, and the comment that PEP 263, Emacs and Vim share.
_DECLARATIONS = (
    re.compile(rb"""\A\s*<\?xml[^>]*?\bencoding\s*=\s*["']([\w.:-]+)["']""", re.IGNORECASE),
    re.compile(rb"""<meta[^>]*?\bcharset\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE),
    re.compile(rb"""\A\s*@charset\s+["']([\w.:-]+)["']""", re.IGNORECASE),
    re.compile(rb"\A(?:[^\n]*\n)?[ \t]*(?:#|%|//|;)[^\n]*?coding[:=][ \t]*([\w.-]+)"),
)
# HTML wants the declaration in the first 1,024 bytes; real pages have it a little later.
_DECLARATION_WINDOW = 4096
# What programs write under a label: the vendor's superset (WHATWG encoding standard §4.2). The
# first that decodes the whole file is taken; a codec that is not listed stands for itself.
_READINGS: dict[str, tuple[str, ...]] = {
    "ascii": ("cp1252", "iso8859-1"),
    "iso8859-1": ("cp1252", "iso8859-1"),
    "iso8859-9": ("cp1254", "iso8859-9"),
    "iso8859-11": ("cp874", "iso8859-11"),
    "tis-620": ("cp874", "iso8859-11"),
    "gb2312": ("gb18030",),
    "gbk": ("gb18030",),
    "big5": ("big5hkscs", "cp950", "big5"),
    "cp950": ("big5hkscs", "cp950"),
    "shift_jis": ("cp932", "shift_jis_2004", "shift_jis"),
    "shift_jis_2004": ("cp932", "shift_jis_2004"),
    "euc_jis_2004": ("euc_jp", "euc_jis_2004"),
    "euc_kr": ("cp949", "euc_kr"),
}
_ESCAPED = re.compile(rb"\x1b[$(.\-]|~\{")
# A sample is enough: more bytes change no answer.
_SAMPLE_BYTES = 400_000
_SAMPLE_CHARACTERS = 20_000
# Above this share of noise charset-normalizer does not take a reading for a text.
_MAX_MESS = 0.2
# A damaged UTF-8 file has this many valid multi-byte sequences for each invalid byte; text in
# another encoding has next to none (Duerst, RFC 3629 §6: false positives fall off with length).
_VALID_PER_INVALID = 20
_MULTI_BYTE = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
# charset-normalizer takes one East Asian encoding for another in short texts. What every text in
# these scripts is full of tells them apart: kana and the most frequent Hangul and ideographs.
_EAST_ASIAN = ("gb18030", "big5hkscs", "cp932", "euc_jp", "cp949")
_FREQUENT = re.compile(
    "[\u3041-\u3096\u30a1-\u30fc이다는의가을에를은고하지한도로서니기사어인자있으그나대시것해리라만아과수、。，的一是不了在人有这這中大来來上国國个個到说說们們为為子和出"
    "也时時年得要下以生会會自之过過学學对對可后後多能好日于於发發成事作用主行方法如前所本公同从從动動分"
    "将將高理明其全者定力等业業最新被第相政平信关關加化由产產人任何规規受保护護他权權]"
)
_MIN_FREQUENT_SHARE = 0.15
# Short texts of Western Europe are taken for others of one byte a character. What Windows-1252
# makes of those has letters and signs that are not among these.
_WESTERN = re.compile(
    "[\0-\x7fàâäáãåçèéêëìíîïñòóôöùúûüÿßœæøÀÂÄÁÅÇÈÉÊËÍÎÏÑÓÔÖÙÚÛÜŒÆØ°±·×£€§«»‘’“”–—…\xa0]*"
)
# A broken copy has a byte here and there; a wrong encoding fails every few characters.
_MAX_REPLACED_SHARE = 0.001


class TextParser:
    """Reads text files that are neither Markdown nor a table nor a page."""

    name = "text"
    media_types = ("text/plain",)
    reads_stem = False

    @cached_property
    def version(self) -> str:
        """Own version and that of the encoding detector."""
        return decoder_version(PARSER_VERSION)

    def parse(self, data: bytes, hints: ParseHints, _settings: ParseSettings) -> ParsedDocument:
        """Return the text as it stands, one block a paragraph.

        Raises:
            ParseFailure: `unknown_encoding`, `empty_file`.
        """
        text, encoding, warnings = decode_text(data)
        blocks = tuple(
            Block("paragraph", match.start(), match.end()) for match in _PARAGRAPH.finditer(text)
        )
        return ParsedDocument(
            text=text,
            media_type=self.media_types[0],
            blocks=blocks,
            language=guess_language(text),
            metadata={"encoding": encoding},
            warnings=(*foreign_name_warning(hints.extension, data), *warnings),
        )


def decoder_version(own_version: str) -> str:
    """Return a parser's version, joined with that of the encoding detector."""
    return f"{own_version}+charset-normalizer-{version('charset-normalizer')}"


def decode_text(data: bytes) -> tuple[str, str, tuple[str, ...]]:
    """Return (clean text, Python name of the encoding, warnings) of a text file.

    Args:
        data: the whole file.

    Raises:
        ParseFailure: `unknown_encoding` where nothing fits, `empty_file` where only white space
            is left.
    """
    data, padding = without_padding(data)
    warnings: list[str] = []
    if padding:
        warnings.append(
            f"The file is text; {padding} NUL bytes between its characters were left out: it may "
            "be damaged, compare it with its source."
        )
    read, encoding, doubt = _read(data)
    text = clean_source(read)
    if not text.strip():
        raise ParseFailure(
            "empty_file", "The file holds only white space: remove it or write its text."
        )
    return text, encoding, (*warnings, *filter(None, [doubt]), *turned_note(read))


def declared_encoding(data: bytes) -> str | None:
    """Return the Python codec that a text names in its first bytes, None without a known one."""
    head = data[:_DECLARATION_WINDOW]
    labels = (match[1].decode("ascii") for p in _DECLARATIONS if (match := p.search(head)))
    return next(filter(None, map(_codec_of, labels)), None)


def _read(data: bytes) -> tuple[str, str, str]:
    """Return (text, encoding, warning or "")."""
    for mark, encoding in _MARKS:
        if not data.startswith(mark):
            continue
        try:
            return data.decode(encoding), encoding, ""
        except UnicodeDecodeError as error:
            damaged = _read_damaged_utf8(data) if encoding == "utf-8-sig" else None
            if damaged is None:
                raise ParseFailure(
                    "unknown_encoding",
                    f"The file begins with the mark of {encoding.upper()}, but byte "
                    f"{error.start} does not fit: save the text as UTF-8.",
                ) from error
            return damaged
    wide = wide_encoding_of(data)
    if wide is not None:
        return data.decode(wide), wide, ""
    if data.isascii() and _ESCAPED.search(data):
        for encoding in ("iso2022_jp", "iso2022_kr", "iso2022_jp_2", "iso2022_jp_ext", "hz"):
            text = _decoded(data, encoding)
            # Escape sequences that stay are mere text.
            if text and not text.isascii() and not _ESCAPED.search(text.encode("ascii", "ignore")):
                return text, encoding, ""
    utf8 = _decoded(data, "utf-8")
    if utf8 is not None:
        return utf8, "utf-8", ""
    return _read_damaged_utf8(data) or _read_declared(data) or _detect(data)


def _read_damaged_utf8(data: bytes) -> tuple[str, str, str] | None:
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    invalid = text.count("\ufffd") - data.count("\ufffd".encode())
    if len(_MULTI_BYTE.findall(data)) < _VALID_PER_INVALID * invalid:
        return None
    return text, "utf-8", _replaced("UTF-8", invalid)


def _read_declared(data: bytes) -> tuple[str, str, str] | None:
    """Return the text in the encoding that it declares, None where that makes noise of it."""
    from charset_normalizer.md import mess_ratio

    declared = declared_encoding(data)
    found = None if declared is None else _decode_strictly(data, declared)
    if found is None or mess_ratio(found[0][:_SAMPLE_CHARACTERS], _MAX_MESS) >= _MAX_MESS:
        return None
    return *found, ""


def _detect(data: bytes) -> tuple[str, str, str]:
    from charset_normalizer import from_bytes

    readings = [(text, name) for name in _EAST_ASIAN if (text := _decoded(data, name)) is not None]
    shares = [(_frequent_share(text), text, encoding) for text, encoding in readings]
    share, text, encoding = max(shares, default=(0.0, "", ""))
    if share >= _MIN_FREQUENT_SHARE:
        return text, encoding, ""
    best = from_bytes(data[:_SAMPLE_BYTES]).best()
    codec = None if best is None else _codec_of(best.encoding)
    western = _decoded(data, "cp1252") if codec and re.match(r"cp125|iso8859", codec) else None
    if western is not None and _WESTERN.fullmatch(western):
        codec = "cp1252"
    found = None if codec is None else _decode_strictly(data, codec)
    if found is not None:
        doubt = (
            f"The text is not UTF-8; it was read as {found[1]}, a guess: where characters look "
            "wrong, save the file as UTF-8."
        )
        return *found, doubt
    text = data.decode("gb18030", "replace")
    count = text.count("\ufffd")
    if count <= _MAX_REPLACED_SHARE * len(text) and _frequent_share(text) >= _MIN_FREQUENT_SHARE:
        return text, "gb18030", _replaced("gb18030", count)
    raise ParseFailure(
        "unknown_encoding",
        "The encoding of the text cannot be recognised: save the file as UTF-8.",
    )


def _frequent_share(text: str) -> float:
    """Return which share of the characters beyond ASCII are frequent in East Asian texts."""
    special = [character for character in text[:_SAMPLE_CHARACTERS] if not character.isascii()]
    return len(_FREQUENT.findall("".join(special))) / len(special) if special else 0.0


def _replaced(encoding: str, count: int) -> str:
    return (
        f"The text was read as {encoding}; {count} places in it are damaged and show as U+FFFD: "
        "correct them in the source or save it again as UTF-8."
    )


def _decoded(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None


def _decode_strictly(data: bytes, codec: str) -> tuple[str, str] | None:
    readings = _READINGS.get(codec, (codec,))
    return next(((text, e) for e in readings if (text := _decoded(data, e)) is not None), None)


def _codec_of(label: str) -> str | None:
    """Return Python's name of a text encoding, None where Python has none."""
    plain = label.strip().lower().removeprefix("x-")
    for name in (plain, plain.replace("windows-", "cp"), plain.replace("dos-", "cp")):
        try:
            found = codecs.lookup(name)
        except LookupError:
            continue
        if found._is_text_encoding:  # Python's own mark for codecs of text
            return found.name
    return None
