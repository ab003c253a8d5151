"""Which law of a library a name means: its title, or a short title that is listed here."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from rag_assets.model import HAN

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
# 民法典合同编: books have no number of their own, so the article says which. Where each book lies
# in a file of its own, the code's name means them all.
_BOOK = re.compile(r"(?<=[典法])(?:[^典()]{1,4}编|[总分附]则)$")
# Short titles in use. Nothing else is a name: an ending or some characters of a title may be
# another law's, as 合同法 is not 劳动合同法.
_SHORT_TITLES = {
    "版权法": "著作权法", "保密法": "保守国家秘密法", "村委会组织法": "村民委员会组织法",
    "道交法": "道路交通安全法", "地方组织法": "地方各级人民代表大会和地方各级人民政府组织法",
    "电商法": "电子商务法", "反电诈法": "反电信网络诈骗法", "房地产管理法": "城市房地产管理法",
    "个保法": "个人信息保护法", "个税法": "个人所得税法", "环保法": "环境保护法",
    "计生法": "人口与计划生育法", "交强险条例": "机动车交通事故责任强制保险条例",
    "居委会组织法": "城市居民委员会组织法", "民诉法": "民事诉讼法", "破产法": "企业破产法",
    "全国人大组织法": "全国人民代表大会组织法", "社保法": "社会保险法", "食安法": "食品安全法",
    "数安法": "数据安全法", "税收征管法": "税收征收管理法", "土地承包法": "农村土地承包法",
    "网安法": "网络安全法", "未保法": "未成年人保护法", "消保法": "消费者权益保护法",
    "消法": "消费者权益保护法", "刑法典": "刑法", "刑诉法": "刑事诉讼法",
    "行诉法": "行政诉讼法", "招投标法": "招标投标法", "政采法": "政府采购法",
    "治安处罚法": "治安管理处罚法",
}  # fmt: skip
# Below it a name has nothing in common with another that a person would see (rapidfuzz WRatio,
# 0 to 100; its documentation calls 60 the usual lower bound of "similar").
_SIMILAR_NAME = 60.0
_NEAREST = 3


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
        return whole

    def find(self, written: str) -> list[str]:
        """Return the documents whose name this is, the newest version first; none is guessed.

        A law's name is its title, with or without the country, the marks and the day of a wording,
        its file's name, or one of `_SHORT_TITLES`; of a code its books are meant.
        """
        if own := self._named(own_name(written)):
            return self._newest_first(own)
        plain = plain_name(written)
        plain = _SHORT_TITLES.get(plain, plain)
        return self._newest_first(self._named(plain) or self._named(_BOOK.sub("", plain)))

    def nearest(self, written: str) -> list[str]:
        """Return the names that resemble one, the likest first."""
        from rapidfuzz import process

        if not HAN.search(written):
            return []
        found = process.extract(
            plain_name(written), list(self._by_name), limit=_NEAREST, score_cutoff=_SIMILAR_NAME
        )
        return [name for name, *_ in found]

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


def is_name_of(written: str, title: str) -> bool:
    """Say whether a name means the law of a title."""
    return bool(LawNames({title: [title]}).find(written))


def mark_name(name: str) -> str:
    """Return a law's name in the title marks of its language."""
    return f"《{name}》" if HAN.search(name) else f"“{name}”"
