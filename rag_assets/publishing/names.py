"""Names of people, and the short keys that documents are cited by."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from rag_assets.model import HAN, HAN_RANGES

# Printed names of authors in their parts: family and given name, or an organisation.

_HAN_NAME = re.compile(rf"[{HAN_RANGES}]{{2,4}}")
_HAN_PARTS = re.compile(rf"[{HAN_RANGES}·]+")
# What stands between Chinese names in a row.
_HAN_COMMA = re.compile(r"[,，、;；]")
# Names from other languages in Chinese letters: 卡尔·马克思.
_DOTS = re.compile(r"[·・•‧]")
# Family names of two characters (复姓) that are in use.
_DOUBLE_FAMILY_NAME_LIST = (
    "欧阳 太史 端木 上官 司马 东方 独孤 南宫 万俟 闻人 夏侯 诸葛 尉迟 公羊 赫连 澹台 皇甫 宗政 "
    "濮阳 公冶 太叔 申屠 公孙 慕容 仲孙 钟离 长孙 宇文 司徒 鲜于 司空 闾丘 令狐 百里 呼延 东郭 "
    "拓跋 歐陽 諸葛 司馬 東方 南宮 獨孤 鍾離 長孫 鮮于 東郭 萬俟 聞人"
)
_DOUBLE_FAMILY_NAMES = frozenset(_DOUBLE_FAMILY_NAME_LIST.split())
# How the names of Chinese offices and firms end; of three characters and more.
_HAN_ORGANISATION = re.compile(
    r"(?:局|部|院|会|會|署|厅|廳|委|处|處|组|組|所|社|室|中心|大学|大學|学会|學會|政府|公司|集团|集團|银行|銀行|法院|"
    r"检察院|编辑部|课题组)$"
)
_ORGANISATION = re.compile(
    r"\b(?:organi[sz]ation|university|universit[àäé]t?|institut[eo]?|committee|ministry|group|"
    r"consortium|team|collaboration|association|department|society|agency|commission|council|"
    r"bank|cent(?:er|re)|foundation|office|bureau|authority|academy|federation|union|network|"
    r"laborator(?:y|ies)|company|corporation|inc|ltd|llc|gmbh|project|initiative|of|for|the|"
    r"and|&)(?=\W|$)",
    re.IGNORECASE,
)
# Vancouver style: the family name, then initials without full stops.
_INITIALS = re.compile(r"[^\W\d_a-zà-öø-ÿ]{1,4}(?:-[^\W\d_a-zà-öø-ÿ])?")
_DOTTED_INITIALS = re.compile(r"(?:[^\W\d_]\.-?)+")
_PATRONYMIC = re.compile("(?:[оеё]вич|ьич|[оеё]вна|ична|инична)$")
_SUFFIX = re.compile(r"(?:Jr|Sr)\.?|I{2,3}|IV")
_DEGREE = re.compile(r"(?:Ph\.?D|M\.?D|M\.?Sc|B\.?Sc|Dr|Prof)\.?")


@dataclass(frozen=True, slots=True)
class PersonName:
    """A name in its parts.

    Args:
        family: without its particle; empty for an organisation.
        given: first names or initials.
        particle: `von`, `de la`: before the family name, not sorted by.
        suffix: `Jr.`, `III`.
        literal: the name of an organisation, or one that has no parts; empty for a person.
    """

    family: str = ""
    given: str = ""
    particle: str = ""
    suffix: str = ""
    literal: str = ""

    @property
    def inverted(self) -> str:
        """`von Family, Suffix, Given`, as reference managers read it; a Chinese name as it is
        written, since only those that know Chinese put `Family, Given` together again.
        """
        if self.literal:
            return self.literal
        if self.is_chinese:
            return self.written
        family = f"{self.particle} {self.family}".strip()
        return ", ".join(part for part in (family, self.suffix, self.given) if part)

    @property
    def is_chinese(self) -> bool:
        """Whether both parts are in Chinese letters."""
        return _HAN_PARTS.fullmatch(self.family + self.given) is not None

    @property
    def written(self) -> str:
        """A Chinese name without blank: 王小明; one from another language 卡尔·马克思."""
        if not self.given or _is_family_name(self.family):
            return f"{self.family}{self.given}"
        return f"{self.given}·{self.family}"


def split_names(printed: str) -> tuple[PersonName, ...]:
    """Return the names that one author of a title page or sidecar holds: one, or Chinese ones in a
    row (王小明，李华).

    王, 小明 is a family name and a given one: what stands before the comma is a family name.
    """
    parts = [part.strip() for part in _HAN_COMMA.split(printed) if part.strip()]
    if len(parts) > 1 and all(map(_is_han_name, parts)) and not _is_parted(parts):
        return tuple(split_name(part) for part in parts)
    return (split_name(printed),)


def _is_parted(parts: list[str]) -> bool:
    return len(parts) == 2 and _is_family_name(parts[0])


def _is_han_name(part: str) -> bool:
    return _HAN_NAME.fullmatch(part.replace(" ", "")) is not None or _is_family_name(part)


def _is_family_name(text: str) -> bool:
    return len(text) == 1 or text in _DOUBLE_FAMILY_NAMES


def split_name(printed: str) -> PersonName:
    """Return the parts of a name as a title page or sidecar has it.

    Read are `Given von Family`, `Family, Given`, `Family, Jr., Given`, `Family GM` (Vancouver),
    Chinese names (family name first, of one or two characters), organisations in English and
    Chinese. Of `Given Family` the last word is the family name: that some languages put it first,
    or have two, a title page does not say; a sidecar's `Family, Given` does.
    """
    name = " ".join(printed.replace("{", "").replace("}", "").split()).strip(" ,;")
    if HAN.search(name) or not name:
        return _split_chinese(name)
    words = name.split(" ")
    while len(words) > 1 and _DEGREE.fullmatch(words[-1]):
        words = words[:-1]
    name = " ".join(words).rstrip(",")
    if "," in name:
        return _split_western(name)
    if len(words) == 1 or _ORGANISATION.search(name):
        return PersonName(literal=name)
    if _is_vancouver(words):
        initials = ". ".join(words[-1].replace("-", ""))
        return PersonName(family=" ".join(words[:-1]), given=f"{initials}.")
    if (len(words) > 2 and _PATRONYMIC.search(words[-1])) or (
        _DOTTED_INITIALS.fullmatch(words[-1]) and not _DOTTED_INITIALS.fullmatch(words[0])
    ):
        # Минаев Борис Юрьевич, Буздалов М.В.
        return PersonName(family=words[0], given=" ".join(words[1:]))
    has_suffix = len(words) > 2 and _SUFFIX.fullmatch(words[-1])
    return _split_western(" ".join(words[:-1]), words[-1]) if has_suffix else _split_western(name)


def _is_vancouver(words: list[str]) -> bool:
    before = " ".join(words[:-1])
    return (
        _INITIALS.fullmatch(words[-1]) is not None
        and any(map(str.islower, before))
        and "." not in before
    )


def _split_chinese(name: str) -> PersonName:
    # A dot or comma at an end parts nothing: what would stand on its other side is no name.
    name = name.strip(" ,，·・•‧")
    compact = name.replace(" ", "")
    if "," in name or "，" in name:
        family, given = re.split("[,，]", name, maxsplit=1)
        return PersonName(family=family.strip(), given=given.strip())
    if _DOTS.search(compact):
        *given_names, family = _DOTS.split(compact)
        return PersonName(family=family, given="·".join(given_names))
    is_organisation = len(compact) > 2 and _HAN_ORGANISATION.search(compact)
    if is_organisation or not _HAN_NAME.fullmatch(compact):
        return PersonName(literal=name)
    width = 2 if len(compact) > 2 and compact[:2] in _DOUBLE_FAMILY_NAMES else 1
    return PersonName(family=compact[:width], given=compact[width:])


def _split_western(name: str, suffix: str = "") -> PersonName:
    from bibtexparser.middlewares.names import InvalidNameError, parse_single_name_into_parts

    try:
        parts = parse_single_name_into_parts(name)
    except InvalidNameError:
        return PersonName(literal=f"{name} {suffix}".strip())
    family, given = " ".join(parts.last), " ".join(parts.first)
    particle, jr = " ".join(parts.von), " ".join(parts.jr)
    if not family:
        return PersonName(literal=f"{name} {suffix}".strip())
    return PersonName(family, given, particle, suffix or jr)


# Citation keys as people write them: lee2021, lee2021a, 张三2024.

# Letters that Unicode does not take apart into a Latin letter and an accent.
_FOLDED = str.maketrans({"ß": "ss", "ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i"})
# No first word of a title in a key.
_ARTICLES = frozenset(
    (  # noqa: SIM905 - one line of words reads better
        "a an the on of in for to and from with towards toward do does is are how what why der die "
        "das ein eine le la les un une des el los las una o os as um uma"
    ).split()
)
# So many characters of a Chinese title or organisation, and of a file's name.
_MOST_HAN, _MOST_UID = 8, 24
_STATE = "中华人民共和国"
# An organisation of so many words is called by their initials: WHO.
_FEW_WORDS = 3


def short_key(authors: Sequence[str], year: int | None, title: str | None, doc_uid: str) -> str:
    """Return the key of a document as people write it, before a letter makes it unique.

    The first author's family name and the year: `lee2021`; of a Chinese author the whole name:
    `张三2024`; without a year `nd`. Without an author the first word of the title and the year;
    without these the beginning of the uid.

    Args:
        authors: as printed, in order.
        title: as the document prints it, None where it prints none.
    """
    names = [name for printed in authors[:1] for name in split_names(printed)]
    author = _folded(_called(names[0])) if names else ""
    if author:
        return f"{author}{year or 'nd'}"
    word = _first_word(title or "")
    if word and year:
        return f"{word}{year}"
    if len(doc_uid) <= _MOST_UID:
        return doc_uid
    return doc_uid[:_MOST_UID].rpartition("-")[0] or doc_uid[:_MOST_UID]


def _called(name: PersonName) -> str:
    if name.literal:
        words = re.findall(r"[^\W\d_][\w’'-]*", name.literal)
        capitals = [word[0] for word in words if word[0].isupper()]
        is_long = len(capitals) >= _FEW_WORDS and not HAN.search(name.literal)
        return "".join(capitals) if is_long else (name.literal[:_MOST_HAN] if words else "")
    return name.written if name.is_chinese else f"{name.particle} {name.family}"


def _first_word(title: str) -> str:
    if HAN.search(title):
        found = re.search(rf"[{HAN_RANGES}]+", title.removeprefix(_STATE))
        return found[0][:_MOST_HAN] if found else ""
    words = (_folded(word) for word in re.findall(r"[\w’'-]+", title))
    return next((word for word in words if word not in _ARTICLES and not word.isdigit()), "")


def _folded(text: str) -> str:
    """Return the letters and digits of a name in lower case, without accents."""
    apart = unicodedata.normalize("NFKD", text.casefold().translate(_FOLDED))
    return "".join(c for c in apart if c.isalnum())


def distinct_keys(
    wanted: Iterable[tuple[str, str]], keys: Iterable[str], uids: Iterable[str]
) -> dict[str, str]:
    """Return a key of its own for each document, by uid: `lee2021`, the next one `lee2021a`.

    Capitals tell no keys apart: to BibTeX they are one.

    Args:
        wanted: (uid, key without an ending), the document that came first first.
        keys: of other documents.
        uids: of all documents: no key is the uid of another one.
    """
    used, names = {key.casefold() for key in keys}, {uid.casefold() for uid in uids}
    found = {}
    for uid, key in wanted:
        others = used | (names - {uid.casefold()})
        found[uid] = next(
            one for end in endings() if (one := f"{key}{end}").casefold() not in others
        )
        used.add(found[uid].casefold())
    return found


def endings() -> Iterator[str]:
    """Yield nothing, a to z, then z1, z2 and so on: what makes equal keys different."""
    yield from ("", *"abcdefghijklmnopqrstuvwxyz")
    yield from (f"z{number}" for number in count(1))
