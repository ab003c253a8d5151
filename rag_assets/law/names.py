"""Which law of a library a name means: its title, or a short or an English title that is listed."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import PurePosixPath
from typing import NamedTuple

from rag_assets.model import HAN
from rag_assets.workspace import configs_folder

NAMES_FILE = "law_names.tsv"

LAW_NOUNS = frozenset([
    "act", "acts", "agreement", "bill", "bylaws", "charter", "code",
    "constitution", "convention", "covenant", "decree", "directive", "law", "laws",
    "ordinance", "order", "protocol", "regulation", "regulations", "rules", "statute",
    "statutes", "treaty",
])  # fmt: skip
COUNTRY = "中华人民共和国"
_AMENDMENT = "修正案"
# (2018-12-29), （2012年修正）: versions. （一） belongs to the name.
_VERSION = re.compile(r"[(（][^()（）]*\d{4}[^()（）]*[)）]|\s+")
# 实施《中华人民共和国水法》办法 is called so, 实施《水法》办法 and 实施水法办法.
_MARKS = re.compile("[《》〈〉“”]")
_DATE = re.compile(r"\d{4}(?:-\d{2}){2}")
# 公司法(2018年修正), 公司法(2018-10-26): the year or the day of a wording.
_YEAR = re.compile(r"\([^()\d]{0,4}(\d{4}(?:-\d{2}-\d{2})?)")
# 民法典合同编: books have no number of their own, so the article says which. Where each book lies
# in a file of its own, the code's name means them all.
_BOOK = re.compile(r"(?<=[典法])[·•之的(-]?((?:[^典()]{1,4}编|[总分附]则))\)?$")
# 最高人民法院关于适用《公司法》若干问题的规定(三) is called 公司法司法解释三.
_INTERPRETATION = re.compile(
    r"(?:关于(?:适用|审理|办理))(?P<law>.+?)(?:案件)?(?:具体)?(?:适用|应用)?(?:法律)?(?:若干)?(?:问题)?的?"
    r"(?:解释|规定)(?:\((?P<number>[一二三四五六七八九十]+)\))?$"
)
_NUMBERED = re.compile(r"\(([一二三四五六七八九十]+)\)$")
# Below it a name has nothing in common with another that a person would see (rapidfuzz WRatio,
# 0 to 100; its documentation calls 60 the usual lower bound of "similar").
_SIMILAR_NAME = 60.0
_NEAREST = 3


class _Folding(dict[int, str]):
    """For `str.translate`: each character as `fold_text` has it, found when it is first met."""

    def __missing__(self, code: int) -> str:
        plain = unicodedata.normalize("NFKC", chr(code))
        # ㈠ is (一): what becomes several characters would move the others.
        plain = plain.strip("()") if "\u3220" <= chr(code) <= "\u3229" else plain
        self[code] = plain if len(plain) == 1 else chr(code)
        return self[code]


class _Listed(NamedTuple):
    """Names of `NAMES_FILE`: titles by short title, and by the words of an English one."""

    titles: Sequence[str]
    short: Mapping[str, str]
    english: Mapping[tuple[str, ...], str]
    english_titles: Mapping[str, str]
    folding: _Folding


@lru_cache(maxsize=1)
def _listed() -> _Listed:
    lines = (configs_folder() / NAMES_FILE).read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    _, traditional, simplified = rows.pop(0)
    marks = zip("〈〉「」『』", "《》" * 3, strict=True)
    folding = _Folding(
        {ord(one): other for one, other in [*zip(traditional, simplified, strict=True), *marks]}
    )
    english = {name: title for title, _, names in rows for name in names.split("; ") if name}
    return _Listed(
        [title for title, *_ in rows],
        {name: plain_name(title) for title, names, _ in rows for name in names.split("; ") if name},
        {english_words(name): title for name, title in english.items()},
        english,
        folding,
    )


def fold_text(text: str) -> str:
    """Return a text in simplified characters of usual width, each in its place.

    Title marks become 《》.
    """
    return text.translate(_listed().folding)


_COUNTRY_IN_ENGLISH = re.compile(
    r"(?:the\s+)?people['’]s republic of china|p\.r\.c\.", re.IGNORECASE
)
_WORD = re.compile(r"[a-z]+(?:['’-][a-z]+)*")
# Words that make no difference between two laws.
_NO_NAME = re.compile(
    "an?|the|of|on|for|and|in|to|by|with|from|over|against|at|its|as|concerning|regarding|governing|"
    "prc|china|china's|chinese|new|current|amended|revised|latest"
)
_SPELLINGS = {
    "labour": "labor", "defence": "defense", "organisation": "organization", "licence": "license",
    "licences": "license", "licensing": "license", "standardisation": "standardization",
}  # fmt: skip


def english_words(name: str) -> tuple[str, ...]:
    """Return what of an English name tells a law from others: its words, sorted, in the singular.

    Law on Road Traffic Safety and Road Traffic Safety Law are one name.
    """
    words = _WORD.findall(_COUNTRY_IN_ENGLISH.sub(" ", name).casefold().replace("’", "'"))
    plain = (
        _SPELLINGS.get(word, word).replace("-", "")
        for word in words
        if not _NO_NAME.fullmatch(word)
    )
    singular = (re.sub(r"'s?$", "", word) for word in plain)
    return tuple(
        sorted(
            re.sub(r"ies$", "y", word) if word.endswith("ies") else word.rstrip("s")
            for word in singular
        )
    )


def english_law(name: str) -> str | None:
    """Return the Chinese title of the law that has an English name."""
    return _listed().english.get(english_words(name))


class LawNames:
    """The laws of a library.

    Args:
        names: of each document, by its id: title, file name.
    """

    def __init__(self, names: Mapping[str, Iterable[str]]) -> None:
        self._by_name: dict[str, list[str]] = {}
        self._books: dict[str, list[str]] = {}
        self._dates: dict[str, str] = {}
        for identity, own in names.items():
            for name in own:
                if (dated := _DATE.search(name)) is not None:
                    self._dates[identity] = dated.group()
                folded = fold_text(name)
                for plain in {plain_name(folded), own_name(folded)} - {""}:
                    self._by_name.setdefault(plain, []).append(identity)
                    code = _BOOK.sub("", plain)
                    for other in {code, *_other_names(plain)} - {plain}:
                        self._books.setdefault(other, []).append(identity)

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
        return whole

    def find(self, written: str) -> list[str]:
        """Return the documents whose name this is, the newest version first; none is guessed.

        A law's name is its title, with or without the country, the marks and the day of a wording,
        its file's name, or one that is listed; of a code its books are meant.
        """
        written = fold_text(written)
        plain = plain_name(written)
        listed = _listed()
        title = listed.short.get(plain) or (None if HAN.search(plain) else english_law(written))
        book = _BOOK.sub(r"\1", plain)
        names = (own_name(written), plain, title, book, _BOOK.sub("", plain))
        found = next((own for name in names if name and (own := self._named(name))), ())
        year = _YEAR.search(written)
        meant = [one for one in found if year and self._dates.get(one, "").startswith(year[1])]
        return self._newest_first(meant or found)

    def books_beside(self, title: str) -> list[str]:
        """Return the documents of the code of which a title is a book; of other titles none."""
        plain = plain_name(fold_text(title))
        code = _BOOK.sub("", plain)
        return self.find(code) if code != plain else []

    def nearest(self, written: str) -> list[str]:
        """Return the names that resemble one, the likest first, a law before the rules to it."""
        from rapidfuzz import process

        if not HAN.search(written):
            known = [name for name, law in _listed().english_titles.items() if self._named(law)]
            found = process.extract(
                written, known, limit=_NEAREST, score_cutoff=_SIMILAR_NAME, processor=str.casefold
            )
            return [name for name, *_ in found]
        plain = plain_name(fold_text(written))
        found = process.extract(
            plain, list(self._by_name), limit=4 * _NEAREST, score_cutoff=_SIMILAR_NAME
        )
        # Of a name that is part of several longer ones all are as like.
        ranked = sorted(found, key=lambda one: (-round(one[1]), len(one[0])))
        return [name for name, *_ in ranked[:_NEAREST]]

    def _named(self, plain: str) -> list[str]:
        """Return the documents of this very name, and the books of a code of this name."""
        return [*self._by_name.get(plain, ()), *self._books.get(plain, ())]

    def _newest_first(self, identities: Iterable[str]) -> list[str]:
        unique = sorted(set(identities))
        return sorted(unique, key=lambda one: self._dates.get(one, ""), reverse=True)


def _other_names(plain: str) -> set[str]:
    """Return what a numbered law is called besides: 刑法修正案九, 公司法司法解释三."""
    found = {_NUMBERED.sub(r"\1", plain)}
    interpretation = _INTERPRETATION.search(plain)
    if interpretation is not None:
        number = interpretation["number"] or ""
        for kind in ("司法解释", "解释"):
            name = interpretation["law"] + kind
            found |= {f"{name}{number}", f"{name}({number})" if number else name}
    return found


@lru_cache(maxsize=1)
def national_laws() -> LawNames:
    """Return the listed laws by name, whatever a library holds."""
    return LawNames({title: [title] for title in _listed().titles})


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


def is_name_of(written: str, title: str) -> bool:
    """Say whether a name means the law of a title."""
    return bool(LawNames({title: [title]}).find(written))


def mark_name(name: str) -> str:
    """Return a law's name in the title marks of its language."""
    return f"《{name}》" if HAN.search(name) else f"“{name}”"
