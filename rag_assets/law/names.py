"""Which law of a library a name means: in full, short, or abbreviated as lawyers do."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import PurePosixPath

from rag_assets.law.english_names import EnglishLawNames
from rag_assets.model import HAN

COUNTRY = "中华人民共和国"
_AMENDMENT = "修正案"
# (2018-12-29), （2012年修正）: versions. （一） belongs to the name.
_VERSION = re.compile(r"[(（][^()（）]*\d{4}[^()（）]*[)）]|\s+")
# 实施《中华人民共和国水法》办法 is called so, 实施《水法》办法 and 实施水法办法.
_MARKS = re.compile("[《》〈〉“”]")
_DATE = re.compile(r"\d{4}(?:-\d{2}){2}")
# 民法典合同编: books have no number of their own, so the article says which. Where each book lies
# in a file of its own, the code's name means them all.
_BOOK = re.compile(r"(?<=[典法])(?:[^典()]{1,4}编|[总分附]则)$")
# Names in use that are no part of what they stand for.
_ALSO_CALLED = {"版权法": "著作权法", "消法": "消费者权益保护法"}
_SHORTEST = 3
# What fits more names is no abbreviation of one of them: 管理条例.
_MOST_ABBREVIATED = 5


class LawNames:
    """The laws of a library.

    Args:
        names: of each document, by its id: title, file name.
    """

    def __init__(self, names: Mapping[str, Iterable[str]]) -> None:
        self._by_name: dict[str, list[str]] = {}
        self._books: dict[str, list[str]] = {}
        self._dates: dict[str, str] = {}
        self._names = names
        for identity, own in names.items():
            for name in own:
                if (dated := _DATE.search(name)) is not None:
                    self._dates[identity] = dated.group()
                for plain in {plain_name(name), own_name(name)} - {""}:
                    self._by_name.setdefault(plain, []).append(identity)
                    if (code := _BOOK.sub("", plain)) != plain:
                        self._books.setdefault(code, []).append(identity)

    @classmethod
    def joined(cls, parts: Sequence["LawNames"]) -> "LawNames":
        """Return the laws of several libraries as one; their ids must differ."""
        if len(parts) == 1:
            return parts[0]
        whole = cls({})
        for part in parts:
            whole._dates |= part._dates
            for mine, own in ((whole._by_name, part._by_name), (whole._books, part._books)):
                for name, identities in own.items():
                    mine.setdefault(name, []).extend(identities)
        # What each has read already is not read again.
        whole.english = EnglishLawNames.joined([part.english for part in parts])
        return whole

    @cached_property
    def english(self) -> EnglishLawNames:
        """The same laws by their English names."""
        return EnglishLawNames(self._names)

    def find(self, written: str) -> tuple[list[str], bool]:
        """Return the documents that a name means, the newest version first, none where unknown.

        Returns:
            Their ids, and whether the name is theirs: in full or without the country's name; else
            it was taken for an abbreviation of it.
        """
        whole = self.find_whole(written)
        if whole:
            return whole, True
        plain = plain_name(written)
        if len(plain) < _SHORTEST:
            return [], False
        for fits in (str.endswith, _abbreviates):
            fitting = [name for name in self._by_name if fits(name, plain)]
            if len(set(fitting)) > _MOST_ABBREVIATED:
                return [], False
            if fitting:
                size = min(map(len, fitting))
                near = [i for name in fitting if len(name) == size for i in self._by_name[name]]
                return self._newest_first(near), False
        return [], False

    def find_whole(self, written: str) -> list[str]:
        """Return the documents whose name this is, the newest version first; no abbreviations."""
        if own := self._named(own_name(written)):
            return self._newest_first(own)
        plain = plain_name(written)
        plain = _ALSO_CALLED.get(plain, plain)
        return self._newest_first(self._named(plain) or self._named(_BOOK.sub("", plain)))

    def _named(self, plain: str) -> list[str]:
        """Return the documents of this very name, and the books of a code of this name."""
        return [*self._by_name.get(plain, ()), *self._books.get(plain, ())]

    def _newest_first(self, identities: Iterable[str]) -> list[str]:
        unique = sorted(set(identities))
        return sorted(unique, key=lambda one: self._dates.get(one, ""), reverse=True)


def plain_name(name: str) -> str:
    """Return a law's name without the country, version, title marks and white space."""
    return _bare(_VERSION.sub("", unicodedata.normalize("NFKC", PurePosixPath(name).name)))


def own_name(name: str) -> str:
    """Return a name that no other law has, as `plain_name` but for amendments with a year.

    宪法修正案(1988年) and 宪法修正案(1993年) are two laws and no two versions of one.
    """
    if _AMENDMENT not in name:
        return plain_name(name)
    return _bare("".join(unicodedata.normalize("NFKC", PurePosixPath(name).name).split()))


def _bare(text: str) -> str:
    return _MARKS.sub("", text.removesuffix(".md")).replace(COUNTRY, "")


def mark_name(name: str) -> str:
    """Return a law's name in the title marks of its language."""
    return f"《{name}》" if HAN.search(name) else f"“{name}”"


def _abbreviates(name: str, written: str) -> bool:
    """Say whether `written` leaves characters of `name` out: 民诉法 of 民事诉讼法."""
    if name[-1] != written[-1]:
        return False
    rest = iter(name)
    return all(character in rest for character in written)
