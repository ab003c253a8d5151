"""Laws that another law repeals: “《个体工商户条例》同时废止”. Their own texts do not say so."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from rag_assets.law import own_name
from rag_assets.retrieval import Retriever, SearchFilters
from rag_assets.statutes.shelf import LawShelf, LawVersion

_REPEALED = "同时废止"
# Passages that are looked through: of 74,000 of a vault 261 have the words.
_MOST_PASSAGES = 3_000
_SENTENCE = re.compile(rf"[^。；\n]*{_REPEALED}")
# Of a part of a law alone.
_PART = re.compile(r"\s*(?:[(（][^()（）]*[)）])?\s*(?:中)?(?:有关|关于|第)")


@dataclass(frozen=True, slots=True)
class Repeal:
    """A law in force that repeals another.

    Args:
        law: title of the one that repeals; `day` the day of its wording.
        sentence: by which it does.
    """

    law: str
    day: date | None
    sentence: str


class Repeals:
    """What the laws in force repeal beside themselves.

    Args:
        retriever: entered.
        shelf: of its publications, for the day on which a law has to be in force to repeal.
    """

    def __init__(self, retriever: Retriever, shelf: LawShelf) -> None:
        self._by_name: dict[str, list[Repeal]] = {}
        filters = SearchFilters(citable_only=True)
        for reader in retriever.readers:
            text = retriever.settings.text
            for hit, _ in reader.search_text(_REPEALED, _MOST_PASSAGES, filters, text):
                version = shelf.version_of(hit) if _REPEALED in hit.text else None
                if version is None or version.standing != "in_force":
                    continue
                for sentence in _SENTENCE.findall(hit.text):
                    repeal = Repeal(version.title, version.version_date, sentence.strip())
                    for title in _titles(sentence):
                        self._by_name.setdefault(own_name(title), []).append(repeal)

    def find(self, version: LawVersion) -> Repeal | None:
        """Return what repeals a wording; a law that is older than the wording does not."""
        own = own_name(version.title)
        for repeal in self._by_name.get(own, ()):
            if own_name(repeal.law) == own:
                continue
            days = repeal.day, version.version_date
            if days[0] is None or days[1] is None or days[0] >= days[1]:
                return repeal
        return None


def _titles(sentence: str) -> Iterator[str]:
    """Yield the titles in a sentence, the outermost ones; none of which a part alone is meant."""
    depth = start = 0
    for place, character in enumerate(sentence):
        if character == "《":
            start = place + 1 if depth == 0 else start
            depth += 1
        elif character == "》" and depth:
            depth -= 1
            if depth == 0 and not _PART.match(sentence, place + 1):
                yield sentence[start:place]
