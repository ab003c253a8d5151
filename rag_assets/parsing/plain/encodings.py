"""Which encoding a text has: marks, declarations, strict UTF-8, then detectors that must agree.

The order follows the WHATWG encoding sniffing algorithm (mark, declaration, content), except that
bytes that are valid UTF-8 are UTF-8 whatever they declare: no other encoding of real text passes
that test by chance.
"""

import codecs
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from rag_assets.model import ParseFailure
from rag_assets.parsing.cleaning import clean_source
from rag_assets.parsing.plain.encoding_evidence import (
    coherence_of,
    wide_encoding_of,
    without_padding,
)
from rag_assets.parsing.unseen import turned_note

DETECTORS = ("charset-normalizer", "chardet", "faust-cchardet")

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
    "shift_jisx0213": ("cp932", "shift_jisx0213"),
    "euc_jis_2004": ("euc_jp", "euc_jis_2004"),
    "euc_jisx0213": ("euc_jp", "euc_jisx0213"),
    "euc_kr": ("cp949", "euc_kr"),
    "iso2022_jp": ("iso2022_jp", "iso2022_jp_ext", "iso2022_jp_2004"),
}
_ESCAPED = re.compile(rb"\x1b[$(.\-]|~\{")
# Detectors read a sample: more bytes change no answer and one of them is not linear.
_SAMPLE_BYTES = 400_000
# A candidate whose text reads clearly worse than the best one's cannot win by votes.
_MIN_RELATIVE_COHERENCE = 0.9
# Below this the bytes read as no writing in any encoding: symbols, boxes, unassigned characters.
_MIN_COHERENCE = 0.8
# A damaged UTF-8 file has this many valid multi-byte sequences for each invalid byte; text in
# another encoding has next to none (Duerst, RFC 3629 §6: false positives fall off with length).
_VALID_PER_INVALID = 20
# Above this a reading leaves no doubt that it is writing.
_PLAIN_COHERENCE = 0.9
# Where fewer bytes are beyond ASCII, the text can be read whatever they are: it is kept and said.
_MAX_ASCII_LIKE_SHARE = 0.05
_SELF_CHECKING = ("gb18030", "big5hkscs", "cp932", "euc_jp", "cp949")
# A broken copy has a byte here and there; a wrong encoding fails every few characters.
_MAX_REPLACED_SHARE = 0.001
_MULTI_BYTE = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)


@dataclass(frozen=True, slots=True)
class _Reading:
    encoding: str
    text: str
    votes: int


def decoder_version(own_version: str) -> str:
    """Return a parser's version, joined with those of the encoding detectors."""
    return "+".join([own_version, *(f"{name}-{version(name)}" for name in DETECTORS)])


def decode_text(data: bytes) -> tuple[str, str, tuple[str, ...]]:
    """Return (clean text, Python name of the encoding, warnings) of a text file.

    A byte order mark decides, then NUL patterns (UTF-16/32 without a mark), escape sequences
    (ISO-2022, HZ), strict UTF-8, and last a vote of what the file declares with three detectors.

    Args:
        data: the whole file.

    Raises:
        ParseFailure: `unknown_encoding` where nothing fits, `empty_file` where only white space
            is left.
    """
    data, padding = without_padding(data)
    warnings: tuple[str, ...] = ()
    if padding:
        gaps = (
            f"The file is text; {padding} NUL bytes between its characters were left out: it may "
            "be damaged, compare it with its source."
        )
        warnings = (gaps,)
    reading, doubts = _read(data)
    text = clean_source(reading.text)
    if not text.strip():
        raise ParseFailure(
            "empty_file", "The file holds only white space: remove it or write its text."
        )
    return text, reading.encoding, (*warnings, *doubts, *turned_note(reading.text))


def declared_encoding(data: bytes) -> str | None:
    """Return the Python codec that a text names in its first bytes, None without a known one."""
    head = data[:_DECLARATION_WINDOW]
    for pattern in _DECLARATIONS:
        match = pattern.search(head)
        codec = _codec_of(match[1].decode("ascii")) if match else None
        if codec is not None:
            return codec
    return None


def _read(data: bytes) -> tuple[_Reading, tuple[str, ...]]:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _read_marked(data, encoding)
    wide = wide_encoding_of(data)
    if wide is not None:
        return _Reading(wide, data.decode(wide), 1), ()
    if data.isascii() and _ESCAPED.search(data):
        escaped = _read_escaped(data)
        if escaped is not None:
            return escaped, ()
    try:
        return _Reading("utf-8", data.decode("utf-8"), 1), ()
    except UnicodeDecodeError:
        return _read_damaged_utf8(data) or _read_by_vote(data)


def _read_marked(data: bytes, encoding: str) -> tuple[_Reading, tuple[str, ...]]:
    try:
        return _Reading(encoding, data.decode(encoding), 1), ()
    except UnicodeDecodeError as error:
        damaged = _read_damaged_utf8(data) if encoding == "utf-8-sig" else None
        if damaged is not None:
            return damaged
        raise ParseFailure(
            "unknown_encoding",
            f"The file begins with the mark of {encoding.upper()}, but byte {error.start} does "
            "not fit: save the text as UTF-8.",
        ) from error


def _read_escaped(data: bytes) -> _Reading | None:
    """Return the text of a 7-bit file with escape sequences, None where they are mere text."""
    for encoding in ("iso2022_jp", "iso2022_kr", "iso2022_jp_2", "iso2022_jp_ext", "hz"):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if not text.isascii() and not _ESCAPED.search(text.encode("ascii", "ignore")):
            return _Reading(encoding, text, 1)
    return None


def _read_damaged_utf8(data: bytes) -> tuple[_Reading, tuple[str, ...]] | None:
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    invalid = text.count("\ufffd") - data.count("\ufffd".encode())
    if len(_MULTI_BYTE.findall(data)) < _VALID_PER_INVALID * invalid:
        return None
    return _Reading("utf-8", text, 1), (_replaced("UTF-8", invalid),)


def _replaced(encoding: str, count: int) -> str:
    return (
        f"The text was read as {encoding}; {count} places in it are damaged and show as U+FFFD: "
        "correct them in the source or save it anew as UTF-8."
    )


def _read_by_vote(data: bytes) -> tuple[_Reading, tuple[str, ...]]:
    ballots = list(_ballots(data))
    readings = _count_votes(data, ballots)
    coherence = {reading.encoding: coherence_of(reading.text) for reading in readings}
    best = max(coherence.values(), default=0.0)
    if best < _PLAIN_COHERENCE:
        damaged = _read_damaged(data)
        if damaged is not None:
            return damaged
    if not readings or (best < _MIN_COHERENCE and not _is_mostly_ascii(data)):
        raise _unknown()
    fit = [r for r in readings if coherence[r.encoding] >= _MIN_RELATIVE_COHERENCE * best]
    # max takes the first of equals, and the ballots stand in the order of their trust.
    chosen = max(fit, key=lambda reading: reading.votes)
    others = [reading.encoding for reading in readings if _differs(reading.text, chosen.text)]
    if not others and best >= _MIN_COHERENCE:
        return chosen, ()
    rivals = f" ({', '.join(others)} would fit too)" if others else ""
    doubt = (
        f"The text is not UTF-8; it was read as {chosen.encoding}, a guess{rivals}: where "
        "characters look wrong, save the file as UTF-8."
    )
    return chosen, (doubt,)


def _is_mostly_ascii(data: bytes) -> bool:
    sample = data[:_SAMPLE_BYTES]
    return sum(byte >= 0x80 for byte in sample) < _MAX_ASCII_LIKE_SHARE * len(sample)


def _ballots(data: bytes) -> Iterator[tuple[str, int]]:
    """Yield (codec, votes) in the order of trust.

    A declaration weighs as much as the better detector and is asked first: it loses only against
    detectors that agree, which is when a file was converted and kept its old header. chardet has
    two votes because it names more than nine in ten of the others' misses rightly.
    """
    import cchardet
    import chardet
    import charset_normalizer

    sample = data[:_SAMPLE_BYTES]
    declared = declared_encoding(data)
    if declared is not None:
        yield declared, 2
    # No file that a person writes is in EBCDIC; random bytes often look like it.
    era = chardet.EncodingEra.ALL & ~chardet.EncodingEra.MAINFRAME
    found = chardet.detect(sample, encoding_era=era, compat_names=False, max_bytes=_SAMPLE_BYTES)
    names = [
        (found["encoding"], 2),
        (cchardet.detect(sample)["encoding"], 1),
        (getattr(charset_normalizer.from_bytes(sample).best(), "encoding", None), 1),
    ]
    if _is_mostly_ascii(data):
        # A few signs in ASCII tell a detector little: the fallback of the WHATWG standard counts.
        names.insert(1, ("cp1252", 1))
    for name, votes in names:
        codec = _codec_of(name) if name else None
        if codec is not None:
            yield codec, votes


def _count_votes(data: bytes, ballots: Sequence[tuple[str, int]]) -> list[_Reading]:
    """Return one reading for every different text, with the votes of all who lead to it."""
    by_text: dict[str, _Reading] = {}
    for codec, votes in ballots:
        decoded = _decode_strictly(data, codec)
        if decoded is None:
            continue
        encoding, text = decoded
        earlier = by_text.get(text)
        by_text[text] = (
            _Reading(encoding, text, votes)
            if earlier is None
            else _Reading(earlier.encoding, text, earlier.votes + votes)
        )
    return list(by_text.values())


def _decode_strictly(data: bytes, codec: str) -> tuple[str, str] | None:
    for encoding in _READINGS.get(codec, (codec,)):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if encoding in {"cp1252", "iso8859-1"}:
            return _western(data, encoding, text)
        return encoding, text
    return None


# Where ISO 8859-15 has letters, ISO 8859-1 and Windows-1252 have signs that stand between words.
_LETTERS_OF_15 = re.compile(rb"(?<=[A-Za-z])[\xa6\xa8\xbd\xbe\xbc]|[\xa6\xa8\xbd\xbc](?=[a-z])")
_SIGNS_OF_1 = re.compile(rb"(?<![A-Za-z])[\xa6\xa8\xbc-\xbe](?![A-Za-z])")
_C1 = re.compile(rb"[\x80-\x9f]")


def _western(data: bytes, encoding: str, text: str) -> tuple[str, str]:
    """Return (encoding, text) with Latin-9 told from Latin-1 by the eight places that differ.

    A generic currency sign is in no one's keyboard: the byte is the euro. Œ, œ, Š, š and Ÿ stand
    in words, fractions and bars do not.
    """
    if _C1.search(data):
        return encoding, text
    letters, signs = len(_LETTERS_OF_15.findall(data)), len(_SIGNS_OF_1.findall(data))
    if letters > signs or (b"\xa4" in data and not signs):
        return "iso8859-15", data.decode("iso8859-15")
    return encoding, text


def _read_damaged(data: bytes) -> tuple[_Reading, tuple[str, ...]] | None:
    """Return the reading of a damaged multi-byte text, None where it is none.

    Those encodings check themselves: a text that decodes but for a byte in a thousand is one. The
    detectors give up at such a byte; asked again about the rest, they must name the encoding.
    """
    for encoding in _SELF_CHECKING:
        text = data.decode(encoding, "replace")
        count = text.count("\ufffd")
        if count > _MAX_REPLACED_SHARE * len(text):
            continue
        sound = text.replace("\ufffd", "").encode(encoding)
        named = [_READINGS.get(codec, (codec,))[0] for codec, _ in _ballots(sound)]
        if encoding in named and coherence_of(text) >= _PLAIN_COHERENCE:
            return _Reading(encoding, text, 1), (_replaced(encoding, count),)
    return None


def _unknown() -> ParseFailure:
    return ParseFailure(
        "unknown_encoding",
        "The encoding of the text cannot be recognised: save the file as UTF-8.",
    )


def _differs(text: str, chosen: str) -> bool:
    """Tell whether two readings are another text, not one or two other signs in the same text."""
    if len(text) != len(chosen):
        return True
    different = sum(a != b for a, b in zip(text, chosen, strict=True))
    special = sum(not character.isascii() for character in chosen)
    return different > special / 20


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
