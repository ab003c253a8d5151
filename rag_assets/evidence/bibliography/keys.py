"""Keys of references: what a draft cites by, each of one document only."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count

from rag_assets.evidence.bibliography.reference import Reference


def with_distinct_keys(
    references: Sequence[Reference],
) -> tuple[tuple[Reference, ...], tuple[str, ...]]:
    """Return the references with a key each of its own, and what to know of those that shared one.

    Documents of one uid in several namespaces are told apart by the namespace; those that were
    given one citation key by a, b, c behind it. Capitals tell no keys apart: to BibTeX they are
    one.
    """
    taken = {one.key.casefold() for one in references}
    groups: dict[str, list[Reference]] = {}
    for one in references:
        groups.setdefault(one.key.casefold(), []).append(one)
    new: dict[int, str] = {}
    notes = []
    for group in groups.values():
        if len(group) == 1:
            continue
        if all(one.key == one.doc_uid for one in group):
            keys = [f"{one.namespace}-{one.doc_uid}" for one in group]
        else:
            keys = [_free(group[0].key, taken) for _ in group]
            notes.append(_told(group, keys))
        new |= {id(one): key for one, key in zip(group, keys, strict=True)}
    return tuple(replace(one, key=new.get(id(one), one.key)) for one in references), tuple(notes)


def _free(key: str, taken: set[str]) -> str:
    found = next(one for end in _endings() if (one := f"{key}{end}").casefold() not in taken)
    taken.add(found.casefold())
    return found


def _endings() -> Iterator[str]:
    """Yield a to z, then z1, z2 and so on."""
    yield from "abcdefghijklmnopqrstuvwxyz"
    yield from (f"z{number}" for number in count(1))


def _told(group: Sequence[Reference], keys: Sequence[str]) -> str:
    pairs = ", ".join(
        f"`{one.namespace}:{one.doc_uid}` is `{key}` here"
        for one, key in zip(group, keys, strict=True)
    )
    return (
        f"`{group[0].key}` is the citation key of {len(group)} documents: {pairs}. A draft that "
        "cites it may mean either: give each its own with `rag meta set UID citation_key=…`."
    )
