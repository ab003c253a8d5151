"""Digests. Everything that names content is a lower-case hexadecimal SHA-256."""

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

_WHITE_SPACE = re.compile(r"\s+")
_PIECE_CHARACTERS = 1_000_000
_PIECE_ITEMS = 50_000


def hash_bytes(data: bytes) -> str:
    """Return the SHA-256 of `data`."""
    return hashlib.sha256(data).hexdigest()


def hash_text(text: str) -> str:
    """Return the SHA-256 of `text` in UTF-8; a lone surrogate counts as itself."""
    total = hashlib.sha256()
    # Piece by piece: a long text is not copied whole.
    for start in range(0, len(text), _PIECE_CHARACTERS):
        piece = text[start : start + _PIECE_CHARACTERS]
        total.update(piece.encode("utf-8", "surrogatepass"))
    return total.hexdigest()


def hash_fields(*fields: Any) -> str:
    """Return the SHA-256 of JSON-able values, each clearly apart from the next."""
    return hash_text(_canonical(fields))


def hash_long(value: Any) -> str:
    """Return `hash_fields(value)` without making all of its JSON at once.

    Args:
        value: JSON-able; a long text, any sequence, or a mapping from names to such.
    """
    total = hashlib.sha256(b"[")
    for piece in _canonical_pieces(value):
        total.update(piece.encode("ascii"))
    total.update(b"]")
    return total.hexdigest()


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))


def _canonical_pieces(value: Any) -> Iterator[str]:
    """Yield the canonical JSON of a value; long texts and sequences slice by slice."""
    if isinstance(value, str):
        yield '"'
        for start in range(0, len(value), _PIECE_CHARACTERS):
            yield _canonical(value[start : start + _PIECE_CHARACTERS])[1:-1]
        yield '"'
    elif isinstance(value, Mapping):
        opening = "{"
        for name in sorted(value):
            yield f"{opening}{_canonical(name)}:"
            yield from _canonical_pieces(value[name])
            opening = ","
        yield "}" if value else "{}"
    elif isinstance(value, Sequence):
        yield "["
        for start in range(0, len(value), _PIECE_ITEMS):
            yield "," if start else ""
            yield _canonical(list(value[start : start + _PIECE_ITEMS]))[1:-1]
        yield "]"
    else:
        yield _canonical(value)


def combine_digests(digests: Iterable[str]) -> str:
    """Return one digest for a sequence of digests, in the order given."""
    total = hashlib.sha256()
    for digest in digests:
        total.update(digest.encode("utf-8", "surrogatepass"))
        total.update(b"\n")
    return total.hexdigest()


def normalise_text(text: str) -> str:
    """Return `text` in NFKC with white space folded: the rule behind `doc_id`."""
    # In pieces that end before white space, where neither rule looks across: at once, the words
    # of 100 MB of text would need ten times its memory.
    folded: list[str] = []
    start = 0
    while start < len(text):
        gap = _WHITE_SPACE.search(text, start + _PIECE_CHARACTERS)
        end = gap.start() if gap else len(text)
        piece = _WHITE_SPACE.sub(" ", unicodedata.normalize("NFKC", text[start:end]))
        if folded and folded[-1].endswith(" "):
            piece = piece.removeprefix(" ")
        if piece:
            folded.append(piece)
        start = end
    return "".join(folded).strip()


def document_id(text: str, data: bytes) -> str:
    """Return the `doc_id`: of the normalised text, of the bytes where there is no text."""
    normalised = normalise_text(text)
    return hash_text(normalised) if normalised else hash_bytes(data)
