"""Names of passages that outlive edits (spec 004)."""

import hashlib
from collections import Counter
from collections.abc import Sequence


def citation_ids(namespace: str, uids: Sequence[str], hashes: Sequence[str]) -> list[str]:
    """Return an id for each passage: of uid, text hash and which of equal texts it is.

    Args:
        uids: of its document.
        hashes: SHA-256 of what is printed there.
    """
    seen: Counter[tuple[str, str]] = Counter()
    ids = []
    for uid, text_hash in zip(uids, hashes, strict=True):
        nth = seen[uid, text_hash]
        seen[uid, text_hash] += 1
        digest = hashlib.sha256(f"{uid}\n{text_hash}\n{nth}".encode()).hexdigest()
        ids.append(f"kb:{namespace}__chunk-{digest[:16]}")
    return ids
