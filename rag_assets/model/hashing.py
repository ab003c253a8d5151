"""Digests. Everything that names content is a lower-case hexadecimal SHA-256."""

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable
from typing import Any

_WHITE_SPACE = re.compile(r"\s+")


def hash_bytes(data: bytes) -> str:
    """Return the SHA-256 of `data`."""
    return hashlib.sha256(data).hexdigest()


def hash_text(text: str) -> str:
    """Return the SHA-256 of `text` in UTF-8; a lone surrogate counts as itself."""
    return hash_bytes(text.encode("utf-8", "surrogatepass"))


def hash_fields(*fields: Any) -> str:
    """Return the SHA-256 of JSON-able values, each clearly apart from the next."""
    canonical = json.dumps(fields, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hash_bytes(canonical.encode("ascii"))


def combine_digests(digests: Iterable[str]) -> str:
    """Return one digest for a sequence of digests, in the order given."""
    total = hashlib.sha256()
    for digest in digests:
        total.update(digest.encode("utf-8", "surrogatepass"))
        total.update(b"\n")
    return total.hexdigest()


def normalise_text(text: str) -> str:
    """Return `text` in NFKC with white space folded: the rule behind `doc_id`."""
    return _WHITE_SPACE.sub(" ", unicodedata.normalize("NFKC", text)).strip()


def document_id(text: str, data: bytes) -> str:
    """Return the `doc_id`: of the normalised text, of the bytes where there is no text."""
    normalised = normalise_text(text)
    return hash_text(normalised) if normalised else hash_bytes(data)
