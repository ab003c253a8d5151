"""Which law of a library an English name means: its title, “the AI Act”, “GDPR”, “2016/679”."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath

LAW_NOUNS = frozenset([
    "act", "acts", "agreement", "bill", "bylaws", "charter", "code",
    "constitution", "convention", "covenant", "decree", "directive", "law", "laws",
    "ordinance", "order", "protocol", "regulation", "regulations", "rules", "statute",
    "statutes", "treaty",
])  # fmt: skip
_SMALL = frozenset(["a", "an", "and", "for", "in", "of", "on", "the", "to", "with"])
_WORD = re.compile(r"\d+/\d+|\w+(?:['’]\w+)?")
_NUMBERED = re.compile(r"\d+/\d+")
_INSIDE = re.compile(r"[(（]([^()（）]+)[)）]")
_YEAR = re.compile(r"(?:19|20)\d{2}|1[6-8]\d{2}")
_SHORTEST_INITIALS = 2
_FEWEST_WORDS = 2


class EnglishLawNames:
    """The laws of a library by their English names.

    Args:
        names: of each document, by its id: title, file name.
    """

    def __init__(self, names: Mapping[str, Iterable[str]]) -> None:
        self._by_words: dict[tuple[str, ...], list[str]] = {}
        self._by_number: dict[str, list[str]] = {}
        self._years: dict[str, str] = {}
        for identity, own in names.items():
            for name in own:
                self._years[identity] = max([self._years.get(identity, ""), *_YEAR.findall(name)])
                for number in _NUMBERED.findall(name):
                    self._by_number.setdefault(number, []).append(identity)
                for words in _variants(PurePosixPath(name).name if "/" not in name else name):
                    self._by_words.setdefault(words, []).append(identity)

    @classmethod
    def joined(cls, parts: Sequence["EnglishLawNames"]) -> "EnglishLawNames":
        """Return the laws of several libraries as one; their ids must differ."""
        whole = cls({})
        for part in parts:
            whole._years |= part._years
            for number, identities in part._by_number.items():
                whole._by_number.setdefault(number, []).extend(identities)
            for words, identities in part._by_words.items():
                whole._by_words.setdefault(words, []).extend(identities)
        return whole

    def find(self, written: str) -> tuple[list[str], bool]:
        """Return the documents that a name means, the newest first, none where unknown.

        Returns:
            Their ids, and whether the name is theirs; else it was taken for its initials, or is
            “the Act” of a library that has one.
        """
        words = _words(written)
        if not words:
            return [], False
        for number in _NUMBERED.findall(written):
            if number in self._by_number:
                return self._newest_first(self._by_number[number]), True
        if words in self._by_words:
            return self._newest_first(self._by_words[words]), True
        if len(words) == 1 and words[0] in LAW_NOUNS:
            held = {
                one
                for name, identities in self._by_words.items()
                if words[0] in {name[0], name[-1]}
                for one in identities
            }
            return sorted(held) if len(held) == 1 else [], False
        fitting = [
            name
            for name in self._by_words
            if any(_abbreviates(kind, words) for kind in _kinds(name))
        ]
        size = min(map(len, fitting), default=0)
        near = [one for name in fitting if len(name) == size for one in self._by_words[name]]
        return self._newest_first(near), False

    def _newest_first(self, identities: Iterable[str]) -> list[str]:
        unique = sorted(set(identities))
        return sorted(unique, key=lambda one: self._years.get(one, ""), reverse=True)


def _words(text: str) -> tuple[str, ...]:
    words = [re.sub(r"['’]s?$", "", word) for word in _WORD.findall(text.replace("_", " "))]
    folded = [word.casefold() for word in words]
    return tuple(folded[1:] if folded[:1] == ["the"] else folded)


def _variants(name: str) -> set[tuple[str, ...]]:
    """Return what a law may be called by its title: whole, without brackets or year, in them."""
    pieces = [name, _INSIDE.sub(" ", name), *_INSIDE.findall(name)]
    found = set()
    for piece in pieces:
        words = _words(piece)
        found.add(words)
        while words and (_YEAR.fullmatch(words[-1]) or words[-1] == "of"):
            words = words[:-1]
        found.add(words)
    return {words for words in found if words}


def _kinds(name: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return name, tuple(word for word in name if word not in _SMALL)


def _abbreviates(name: tuple[str, ...], words: tuple[str, ...]) -> bool:
    """Say whether each of `words` is the next word of `name` or the initials of the next ones."""
    place, initials = 0, 0
    for word in words:
        size = len(word)
        if name[place : place + 1] == (word,):
            place += 1
        elif (
            size >= _SHORTEST_INITIALS
            and "".join(other[0] for other in name[place : place + size]) == word
        ):
            place += size
            initials += size
        else:
            return False
    return place == len(name) and initials > 0 and (len(words) > 1 or initials > _FEWEST_WORDS)
