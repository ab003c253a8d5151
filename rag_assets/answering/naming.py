"""What the sources of an answer are called: `C1`, or `doc_2: 41-43, 57` (spec 002 §5.4)."""

import re
from collections.abc import Iterator, Mapping, Sequence

from rag_assets.agents import Passage

_ALIAS = re.compile(r"\[?(C\d+)\]?")
_CHUNKS = re.compile(r"(?P<uid>.+?):\s*(?:chunk_)?(?P<first>\d+)(?:\s*[-–]\s*(?P<last>\d+))?")


def show_chunks(uid: str, chunk_ids: Sequence[str]) -> str:
    """Return a document with the numbers of its passages; neighbours are a range."""
    numbers = sorted({int(chunk_id.rpartition(":")[2]) for chunk_id in chunk_ids})
    return f"{uid}: {', '.join(_ranges(numbers))}"


def unknown_sources(named: Sequence[str], passages: Mapping[str, Passage]) -> tuple[str, ...]:
    """Return the sources that an answer names and that are none of the passages found.

    Args:
        named: aliases, or documents with a passage or a range of them.
        passages: by alias.
    """
    found = {passage.chunk_id for passage in passages.values()}
    return tuple(name for name in named if not _is_known(name.strip(), passages, found))


def _is_known(name: str, passages: Mapping[str, Passage], found: set[str]) -> bool:
    alias = _ALIAS.fullmatch(name)
    if alias is not None:
        return alias[1] in passages
    chunks = _CHUNKS.fullmatch(name)
    if chunks is None:
        return False
    first, last = int(chunks["first"]), int(chunks["last"] or chunks["first"])
    wanted = {f"{chunks['uid']}:{number}" for number in (first, last)}
    return first <= last and wanted <= found


def _ranges(numbers: Sequence[int]) -> Iterator[str]:
    begin = end = numbers[0]
    for number in [*numbers[1:], None]:
        if number == end + 1:
            end = number
            continue
        yield str(begin) if begin == end else f"{begin}-{end}"
        if number is not None:
            begin = end = number
