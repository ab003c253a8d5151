"""Which of the ranked hits are kept: one of those that say the same, a few of a document."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rag_assets.retrieval.hits import Hit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rag_assets.retrieval.reader import Reader

# Vectors of some hits by one model, by `chunk_key`; none of them zero.
Vectors = Mapping[str, "NDArray[np.float32]"]

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*|[〇零一二两三四五六七八九十百千万亿]+")


def keep_one_of_equal(hits: Sequence[Hit]) -> list[Hit]:
    """Return one hit for each text, at the best one's place and with its score.

    Kept is the citable one, then an article that the question names, then the one with pages, then
    the one with the lower uid; it names the others as `copies`.

    Args:
        hits: best first.
    """
    groups: dict[str, list[Hit]] = defaultdict(list)
    for hit in hits:
        groups[hit.content_hash].append(hit)
    return [_stand_for(min(group, key=_preference), group) for group in groups.values()]


def _preference(hit: Hit) -> tuple[bool, bool, bool, str, str, int]:
    return (
        not hit.citable,
        "named_article" not in hit.explanation,
        hit.page_start is None,
        hit.doc_uid,
        hit.namespace,
        hit.chunk_index,
    )


def keep_one_of_similar(
    hits: Sequence[Hit], vectors: Sequence[Vectors], threshold: float
) -> list[Hit]:
    """Return hits of which no two say the same: the higher ranked is kept, a citable one first.

    Two hits say the same where their cosine reaches `threshold`, by the first model that has
    vectors of both, and where the numbers in them are the same: tables, statutes and results
    differ in nothing else. What is kept stands at the place, and has the score, of the best that
    it stands for. Done twice, the second time changes nothing.

    Args:
        hits: best first.
        vectors: one mapping a model, the most trusted first; may lack any hit.
        threshold: cosine, 0 to 1.
    """
    close = _close(hits, vectors, threshold)
    order = sorted(range(len(hits)), key=lambda place: (not hits[place].citable, place))
    groups: dict[int, list[int]] = {}
    for place in order:
        kept = [
            other
            for other in groups.keys() & close.get(place, frozenset())
            if _numbers(hits[other].text) == _numbers(hits[place].text)
        ]
        if kept:
            groups[min(kept)].append(place)
        else:
            groups[place] = [place]
    chosen = sorted(groups.items(), key=lambda item: min(item[1]))
    return [
        _stand_for(hits[place], [hits[member] for member in sorted(members)])
        for place, members in chosen
    ]


def _close(
    hits: Sequence[Hit], vectors: Sequence[Vectors], threshold: float
) -> dict[int, set[int]]:
    """Return the places whose vectors are as similar as the threshold says, by place."""
    import numpy as np

    keys = [hit.chunk_key for hit in hits]
    size = len(hits)
    close = np.zeros((size, size), dtype=bool)
    undecided = np.ones((size, size), dtype=bool)
    for own in vectors:
        places = [place for place, key in enumerate(keys) if key in own]
        if not places:
            continue
        matrix = np.stack([own[keys[place]] for place in places])
        matrix = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
        block = np.ix_(places, places)
        close[block] |= undecided[block] & (matrix @ matrix.T >= threshold)
        undecided[block] = False
    near: dict[int, set[int]] = defaultdict(set)
    for first, second in zip(*(found.tolist() for found in close.nonzero()), strict=True):
        near[first].add(second)
    return near


def _numbers(text: str) -> Counter[str]:
    return Counter(_NUMBER.findall(text))


def _stand_for(chosen: Hit, group: Sequence[Hit]) -> Hit:
    """Return `chosen` at the place of the first of `group`, naming the others."""
    if len(group) == 1:
        return chosen
    others = {hit.chunk_key for hit in group} | {key for hit in group for key in hit.copies}
    return replace(chosen, score=group[0].score, copies=tuple(sorted(others - {chosen.chunk_key})))


def limit_per_document(hits: Iterable[Hit], most: int | None) -> list[Hit]:
    """Return the hits without those that follow `most` better ones of the same document.

    Args:
        hits: best first.
        most: from 1; None for no limit.
    """
    if most is None:
        return list(hits)
    seen: Counter[tuple[str, str]] = Counter()
    kept = []
    for hit in hits:
        document = (hit.namespace, hit.doc_uid)
        seen[document] += 1
        if seen[document] <= most:
            kept.append(hit)
    return kept


def fetch_vectors(readers: "Sequence[Reader]", hits: Sequence[Hit]) -> list[Vectors]:
    """Return the vectors of the hits, one mapping a model, in the order of the publications.

    Models after the first that has them all are not read: it decides every pair.
    """
    ids: dict[str, dict[str, str]] = defaultdict(dict)
    for hit in hits:
        ids[hit.namespace][hit.chunk_id] = hit.chunk_key
    found: list[Vectors] = []
    for fingerprint in dict.fromkeys(name for reader in readers for name in reader.fingerprints):
        by_key: dict[str, NDArray[np.float32]] = {}
        for reader in readers:
            own = ids.get(reader.namespace)
            if own and fingerprint in reader.fingerprints:
                vectors = reader.fetch_vectors(fingerprint, list(own))
                by_key.update({own[identity]: vector for identity, vector in vectors.items()})
        found.append(by_key)
        if len(by_key) == len(hits):
            break
    return found
