"""Citations as they are printed: by author and year, by number, by title."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from rag_assets.auditing.citation_forms import (
    ANCHOR,
    LATEX,
    MENTION,
    PANDOC,
    STATUTE,
    Citation,
    LocatorHint,
    WrittenCitation,
    find_hint,
    read_hint,
)
from rag_assets.auditing.pairing import is_nameless
from rag_assets.auditing.pointers import CITED, only_points
from rag_assets.auditing.references import LIST_HEADING, Entry, family_name, fold
from rag_assets.model import HAN, HAN_RANGES

# Which entry of the list is meant by names and a year.

_ALIKE = 84.0
# An exact year counts more than the neighbouring one, which is a slip or a preprint's.
_SAME_YEAR, _LETTER_MISSING, _NEXT_YEAR, _NO_YEAR = 1.0, 0.95, 0.4, 0.5
_TIE = 0.04


@dataclass(frozen=True, slots=True)
class Cited:
    """What a citation by author and year names.

    Args:
        names: as printed, in order; family names, an organisation or words of a title.
        others: whether it goes on with `et al.`
        year: with its letter; empty for `n.d.` and `in press`.
    """

    names: tuple[str, ...]
    others: bool
    year: str


@dataclass
class ReferenceIndex:
    """Finds entries of a reference list by number, or by names and year."""

    entries: Sequence[Entry]
    abbreviations: dict[str, str] = field(default_factory=dict)

    @cached_property
    def by_label(self) -> dict[str, list[int]]:
        """Return the entries by their label."""
        found: dict[str, list[int]] = {}
        for number, entry in enumerate(self.entries):
            if entry.label:
                found.setdefault(entry.label, []).append(number)
        return found

    @cached_property
    def names(self) -> frozenset[str]:
        """Return the folded names of all authors, and their abbreviations."""
        return frozenset(fold(name) for entry in self.entries for name in entry.authors)

    @cached_property
    def organisations(self) -> tuple[str, ...]:
        """Return authors of several words: organisations, and families of two names."""
        found = {
            n for e in self.entries for n in e.authors if " " in n or (len(n) > 4 and HAN.search(n))
        }
        return tuple(sorted(found, key=len, reverse=True))

    @property
    def is_numbered(self) -> bool:
        """Whether the list is cited by numbers."""
        return sum(label.isdigit() for label in self.by_label) * 2 > len(self.entries)

    def knows(self, name: str) -> bool:
        """Say whether a folded name is that of an author."""
        return name in self.names

    def find(self, cited: Cited) -> tuple[int, ...]:
        """Return the entries that a citation can mean: none, one, or several that fit as well."""
        scored = [
            (score, number)
            for number, entry in enumerate(self.entries)
            if (score := self._score(cited, entry)) > 0
        ]
        best = max((score for score, _ in scored), default=0.0)
        return tuple(number for score, number in scored if score > best - _TIE)

    def _score(self, cited: Cited, entry: Entry) -> float:
        names = self._score_names(cited, entry)
        if names <= 0:
            return 0.0
        year = _score_year(cited.year, entry.year)
        # Another year is forgiven only where the names leave no doubt.
        if year <= 0 or (year == _NEXT_YEAR and names < 0.9):
            return 0.0
        return names + year

    def _score_names(self, cited: Cited, entry: Entry) -> float:
        first = fold(self.abbreviations.get(cited.names[0], cited.names[0]))
        authors = [fold(name) for name in entry.authors]
        if not authors or is_nameless(authors[0]):
            if is_nameless(first):
                return 1.0
            title = fold(entry.title or entry.text)
            is_title = len(first) >= 4 and (title.startswith(first) or first in title)
            return 0.9 if is_title and len(cited.names) == 1 else 0.0
        score = _likeness(first, authors[0])
        if score == 0 and len(first) >= 2 and first == _initials(entry.authors[0]):
            score = 0.95
        is_title = len(cited.names) == 1 and len(first) >= 4 and HAN.search(first) is not None
        if score == 0 and is_title and fuzz.ratio(first, authors[0]) >= _ALIKE:
            score = 0.9
        if score == 0:
            return 0.0
        others = [fold(name) for name in cited.names[1:]]
        if others:
            met = [max((_likeness(o, a) for a in authors[1:]), default=0.0) for o in others]
            score += 0.1 * sum(met) / len(met) - (0.5 if not any(met) else 0.0)
        # Two names alone are all authors; one alone is, too.
        if not cited.others and len(cited.names) == len(authors):
            score += 0.05
        if cited.others and len(authors) == 1 and entry.text.find("et al") < 0:
            score -= 0.1
        return score


def _likeness(name: str, author: str) -> float:
    if name == author:
        return 1.0
    # `Gyongyi` for `Gyöngyi` is the same; a slip of the pen is not quite; `de Vries` is `Vries`.
    if min(len(name), len(author)) >= 3 and (author.endswith(name) or name.endswith(author)):
        return 0.9 if abs(len(name) - len(author)) <= 6 and not HAN.search(name) else 0.0
    if HAN.search(name):
        same = sum(a == b for a, b in zip(name, author, strict=False))
        return 0.8 if len(name) == len(author) >= 2 and same == len(name) - 1 else 0.0
    if min(len(name), len(author)) < 4:
        return 0.0
    one_off = name[0] == author[0] and Levenshtein.distance(name, author) == 1
    return 0.85 if one_off or fuzz.ratio(name, author) >= _ALIKE else 0.0


def _score_year(cited: str, listed: str) -> float:
    if not cited or not listed[:4].isdigit():
        return _NO_YEAR
    if cited == listed:
        return _SAME_YEAR
    if cited[:4] == listed[:4]:
        # 2021 may be 2021a or 2021b; 2021b is not 2021a.
        return _LETTER_MISSING if len(cited) == 4 or len(listed) == 4 else 0.0
    return _NEXT_YEAR if abs(int(cited[:4]) - int(listed[:4])) == 1 else 0.0


def _initials(name: str) -> str:
    return "".join(word[0] for word in re.findall(r"[^\W\d_]+", name) if word[0].isupper()).lower()


# Names before a year, in text and in brackets.

_UP = r"A-Z\u00c0-\u00d6\u00d8-\u00de\u0100-\u017f\u0391-\u03a9\u0410-\u042f"
_LETTER = r"A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u04ff"
_PARTICLE = (
    r"(?:(?:van|von|vom|de|der|den|del|della|di|da|dos|du|la|le|el|al|bin|ten|ter|zu)\s+){0,3}"
)
_NAME = (
    rf"(?<![{_LETTER}\d])(?:(?:[{_UP}]\.[\s\-]?){{1,3}}\s?)?{_PARTICLE}"
    rf"(?:[{_UP}]['’])?[{_UP}][{_LETTER}‐\-]*[{_LETTER}](?:['’][{_UP}][{_LETTER}]+)?"
    rf"(?:\s+[{_UP}]{{1,2}}\.?(?![{_LETTER}]))?"
)
_HAN_NAME = rf"[{HAN_RANGES}]{{2,4}}?(?:·[{HAN_RANGES}]{{1,8}})*"
_AND = (
    r"(?:\s*[,，、]?\s*(?:\band\b|&(?:amp;)?|\bund\b|\bet\b(?!\s+al)|\by\b|与|和|及)\s*"
    r"|\s*[,，、]\s*)"
)
_OTHERS = (
    r"\s*[,，]?\s*[*_]{0,2}(?:\bet\s+al\b\.?|\bet\s+coll\b\.?|\bu\.\s?a\.|\band\s+(?:others|colleagues|"
    r"co-?workers|collaborators)\b|\band\s+co\b\.?|等人?)[*_]{0,2}"
)
_TEAM = r"(?:['’]s?)?(?:\s+(?:team|group|laboratory|lab|study|paper|report|survey)\b)?"
_ONE = rf"(?:{_NAME}|{_HAN_NAME})"
_NAMES = re.compile(
    rf"(?P<names>{_ONE}(?:{_AND}{_ONE}){{0,12}})(?P<others>{_OTHERS})?(?P<team>{_TEAM})$"
)
_OTHERS_END = re.compile(rf"(?P<others>{_OTHERS}){_TEAM}$")
_SPLIT = re.compile(_AND)
_YEAR = (
    r"(?:(?<![\d.])(?:1[5-9]|20)\d\d[a-z]?(?![\d])|\bn\.\s?d\.|\b(?:in\s+press|forthcoming)\b"
    r"|待刊|出版中)"
)
_YEARS = re.compile(rf"{_YEAR}(?:\s*[,，、;]\s*(?:{_YEAR}|[a-h](?![\w.])))*")
_ONE_YEAR = re.compile(rf"{_YEAR}|(?<=[,，、]\s)[a-h](?!\w)|(?<=[,，、])[a-h](?!\w)")
# Capitalised words that begin a sentence or count something, and are no authors.
_NO_NAME_WORDS = (
    "in as the a an see for from by at on of with while whereas although though after before since "
    "when where if but and or however later early recently following according like unlike both "
    "compare also then thus hence this that these those figure fig table section chapter equation "
    "eq appendix theorem lemma algorithm version part volume vol no page pp january february march "
    "april may june july august september october november december spring summer autumn fall "
    "winter during until between around about circa copyright study studies data model windows "
    "office released updated accessed retrieved published submitted received accepted revised"
)
_NO_NAMES = frozenset(_NO_NAME_WORDS.split())
_HAN_LEAD = re.compile(
    r"^(?:参见|参看|参阅|详见|转引自|引自|如|见|据|根据|正如|按照|与|和|及|而|由|但|在|对|其中|例如)+"
)
# https://zh.wikipedia.org/wiki/百家姓, the hundred commonest family names of today.
_SURNAMES = frozenset(
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何林高罗郑梁谢宋唐许韩邓冯曹彭曾肖田董潘袁蔡蒋余于杜叶程魏苏吕丁任卢姚沈钟"
    "姜崔谭陆范汪廖石金韦贾夏付方邹熊白孟秦邱侯江尹薛闫段雷龙黎史陶贺毛郝顾龚邵万覃武钱戴严莫孔向常殷"
)
_PREFIX = re.compile(
    r"^[\s*_]*(?:(?:but\s+|and\s+)?(?:see(?:\s+also)?|cf\.?|compare|e\.\s?g\.,?|i\.\s?e\.,?|for\s+example,?|"
    r"also|following|after|from|in|by|as\s+(?:cited|quoted|reported|discussed)\s+(?:in|by)|"
    r"(?:cited|quoted|adapted|reproduced|taken)\s+(?:in|from|after)|for\s+(?:a\s+)?(?:review|details?|"
    r"overview)s?,?(?:\s+see)?|参见|参看|参阅|参考|详见|另见|见|转引自|引自|如|例如|据)[\s,，:：]*)+",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[“\"《](?P<title>[^“”\"《》]{4,200})[,，]?[”\"》]$")
# WHO, NLSTRT, CoNLL: a name with one capital is a person's.
_ACRONYM = r"(?=\w*[A-Z]\w*[A-Z])[A-Z][A-Za-z&\-]{1,11}"
_ABBREVIATED = re.compile(rf"\s*[\[［(（](?P<short>{_ACRONYM})[\]］)）]\s*$")
_LOCATED = re.compile(
    r"\s*(?:[,，:：]\s*(?:at\s+)?)(?P<place>[^;；()（）\[\]［］,，:：][^;；()（）\[\]［］]{0,60}?)\s*(?=$|[;；]|[,，]\s*(?:as|see|who|which|and|but)\b)"
)


@dataclass(frozen=True, slots=True)
class _Named:
    """Names that end at some place: `start` of the first, as printed and as cited."""

    start: int
    names: tuple[str, ...]
    others: bool
    is_known: bool


def _names_before(
    text: str, first: int, end: int, index: ReferenceIndex, *, alone: bool
) -> _Named | None:
    """Return the names that end at `end`, None where none do.

    Args:
        first: they do not begin before it.
        alone: nothing but a lead-in (`see`) may stand between `first` and them.
    """
    left = text[first:end].rstrip(" \t\n,，*_")
    short = ""
    if abbreviated := _ABBREVIATED.search(left):
        short, left = abbreviated["short"], left[: abbreviated.start()].rstrip()
    prefix = _PREFIX.match(left)
    begin = prefix.end() if prefix is not None else 0
    named = _title_before(left, begin, index, alone=alone) or _people_before(
        left, begin, index, alone=alone
    )
    if named is None:
        return None
    if short:
        index.abbreviations[short] = named.names[0]
    return replace(named, start=first + named.start)


def _title_before(left: str, begin: int, index: ReferenceIndex, *, alone: bool) -> _Named | None:
    """Read a title in quotation marks, an organisation, or words with which an entry begins."""
    if quoted := _QUOTED.search(left):
        title = quoted["title"]
        found = index.find(Cited((title,), others=False, year=""))
        return _Named(quoted.start(), (title,), others=False, is_known=bool(found))
    if known := _organisation_before(left, index):
        others = _OTHERS_END.search(left) is not None
        return _Named(known[0], (known[1],), others=others, is_known=True)
    whole = " ".join(left[begin:].split())
    is_other = alone and whole and not _NAMES.fullmatch(whole)
    if is_other and index.find(Cited((whole,), others=False, year="")):
        return _Named(begin, (whole,), others=False, is_known=True)
    return None


def _people_before(left: str, begin: int, index: ReferenceIndex, *, alone: bool) -> _Named | None:
    match = _NAMES.search(left)
    names, start = _read_names(match, index) if match is not None else ((), 0)
    if match is None or not names:
        return None
    if alone and left[begin:start].strip(" \t\n,，*_"):
        return None
    is_known = index.knows(fold(names[0]))
    return _Named(start, names, others=match["others"] is not None, is_known=is_known)


def _organisation_before(left: str, index: ReferenceIndex) -> tuple[int, str] | None:
    plain = _OTHERS_END.sub("", re.sub(r"['’]s?$", "", left))
    for name in (*index.organisations, *index.abbreviations):
        if plain.casefold().endswith(name.casefold()):
            start = len(plain) - len(name)
            if start == 0 or not plain[start - 1].isalnum() or HAN.match(name):
                return start, name
    return None


def _read_names(match: re.Match[str], index: ReferenceIndex) -> tuple[tuple[str, ...], int]:
    """Return the family names of a match and where the first of them begins."""
    written, start = match["names"], match.start("names")
    parts: list[tuple[int, str]] = []
    position = 0
    for gap in _SPLIT.finditer(written):
        parts.append((position, written[position : gap.start()]))
        position = gap.end()
    parts.append((position, written[position:]))
    names: list[str] = []
    begin = 0
    for offset, part in reversed(parts):
        cut, name = _family_in(part, index)
        if not name:
            break
        names.insert(0, name)
        begin = offset + cut
        if cut:
            break  # other words stand before this name
    return tuple(names), start + begin


def _family_in(part: str, index: ReferenceIndex) -> tuple[int, str]:
    """Return the family name with which a part ends, and where it begins in the part."""
    if HAN.search(part):
        return _han_family_in(part, index)
    words = [*re.finditer(r"\S+", part)]
    first = 0
    # An author may be called Page or May.
    while first < len(words) and _is_no_name(words[first].group(), index):
        first += 1
    words = words[first:]
    if not words:
        return 0, ""
    for number in range(len(words)):
        rest = part[words[number].start() :].strip()
        if index.knows(fold(rest)) or index.knows(fold(family_name(rest))):
            known = rest if index.knows(fold(rest)) else family_name(rest)
            return words[number].start(), known
    start = words[0].start()
    rest = re.sub(rf"\s+[{_UP}]{{1,2}}\.?$", "", part[start:].strip())
    return start, family_name(rest) if " " in rest else rest


def _is_no_name(word: str, index: ReferenceIndex) -> bool:
    return word.lower().rstrip(".,") in _NO_NAMES and not index.knows(fold(word))


def _han_family_in(part: str, index: ReferenceIndex) -> tuple[int, str]:
    han = re.search(rf"[{HAN_RANGES}·]+$", part)
    if han is None:
        return 0, ""
    run = han.group()
    for length in range(len(run), 1, -1):
        if index.knows(fold(run[-length:])):
            return han.start() + len(run) - length, run[-length:]
    lead = _HAN_LEAD.match(run)
    at = lead.end() if lead is not None and len(run) - lead.end() >= 2 else 0
    rest = run[at:]
    for length in (3, 2):
        if len(rest) >= length and rest[-length] in _SURNAMES:
            return han.start() + len(run) - length, rest[-length:]
    return (han.start() + at, rest) if is_nameless(rest) else (0, "")


# All citations of a draft.

_BRACKET = re.compile(
    r"[(（](?P<round>(?:[^()（）\n]|\n(?!\s*\n)|[(（](?:[^()（）\n]|\n(?!\s*\n))*[)）]){2,600})[)）]"
    r"|[\[［](?P<square>[^\[\]［］\n]{4,200})[\]］](?![(\[])"
)
_OPEN, _CLOSE = r"[\[［〔【]", r"[\]］〕】]"
_NUMBER_LIST = r"\d{1,4}(?:\s*(?:[,，;；、]|[-\u2010-\u2015~～]|至|–)\s*\d{1,4})*"
_NUMBERS = re.compile(
    rf"(?<![\w\]］)\\!])?(?P<open><sup>\s*|\^)?{_OPEN}\s*(?P<list>{_NUMBER_LIST})"
    rf"(?P<place>\s*[,，:：]\s*[^\[\]［］〔〕【】\n]{{1,60}}?)?\s*{_CLOSE}(?![(\[:])"
    rf"(?P<shut>\s*</sup>|\^)?(?P<behind>\d{{1,4}}(?:[-–~]\d{{1,4}})?(?=[{HAN_RANGES}，。；、,.;\s]))?"
)
_RAISED = re.compile(
    rf"(?:<sup>\s*(?P<tag>{_NUMBER_LIST})\s*</sup>|\^(?P<caret>{_NUMBER_LIST})\^"
    r"|(?P<unicode>[⁰¹²³⁴-⁹]+(?:[˒ʼ⁻⁃,–-][⁰¹²³⁴-⁹]+)*))"
)
_ROUND = re.compile(rf"(?<=[^\s(])\s(?=\((?P<list>{_NUMBER_LIST})\)(?:[\s.,;:]|$))", re.MULTILINE)
# `Eq. (3)` is none.
_COUNTED = re.compile(
    r"\b(?:eqn?|equation|fig|figure|table|section|step|case|no)s?\.?$", re.IGNORECASE
)
_ALPHA_KEY = re.compile(r"[A-Za-z\u00c0-\u024f][A-Za-z\u00c0-\u024f+]{1,7}\d{2}[a-z]?")
_ALPHA_KEYS = re.compile(
    rf"\[(?P<keys>{_ALPHA_KEY.pattern}(?:\s*[,;]\s*{_ALPHA_KEY.pattern})*)"
    r"(?P<place>,\s*[^\[\]\n]{1,60})?\](?![(\[])"
)
_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁃˒", "0123456789--,")
_SPAN = re.compile(r"(\d{1,4})\s*(?:[-\u2010-\u2015~～]|至)\s*(\d{1,4})")
_JOINED = re.compile(r"\s*[-\u2010-\u2015~～至]\s*")
_BY_WORD = re.compile(
    r"(?:^|(?<![\]］〕】])[.!?。！？;；:：,，])\s*$|\b(?:and|or|nor|in|by|to|of|from|see|than|with|unlike|like|neither|"
    r"both|compare|that|whereas|while|as|refs?\.?|references?|against|following|per|under|via)\s*$"
    r"|(?:文献|参考|参见|据|根据|与|和|及|见|由|在|较|比|而)\s*$",
    re.IGNORECASE,
)
_REF_WORD = re.compile(r"(?:\b(?:refs?\.|references?|ref)\s*|(?:参考)?文献\s*)$", re.IGNORECASE)
_UNIT = re.compile(r"(?:(?<![A-Za-z])[A-Za-zµμΩ°]{1,3}|\d|[)\]}^_+\-−])$")
_TITLE_MARKS = re.compile(r"《(?P<title>[^《》\n]{4,120})》(?!\s*第)")
_MOST_SPAN = 60
_CODE = (
    r"^[ ]{0,3}(?P<fence>```+|~~~+).*?^[ ]{0,3}(?P=fence)|`[^`\n]+`|<!--.*?-->"
    r"|(?<![\\$])\$(?!\s)[^$\n]{1,200}(?<!\s)\$(?!\d)|https?://[^\s<>()]+(?:\([^\s<>()]*\)[^\s<>()]*)*"
    r"|!?\[[^\[\]\n]*\]\([^()\n]*\)"
)
_MARKED = re.compile(
    rf"{_CODE}|(?P<mark>{ANCHOR}|{LATEX.format('latex')}|{STATUTE}|{PANDOC}|{MENTION})",
    re.MULTILINE | re.DOTALL,
)
# Names of authors before their year take no more characters.
_LONGEST_NAMES = 300
_PARAGRAPH = re.compile(r"\n[ \t]*\r?\n|\n(?=[ \t]*[-*+#>|])")


def find_written(
    text: str, index: ReferenceIndex, lists: Sequence[tuple[int, int]] = ()
) -> list[WrittenCitation]:
    """Return the citations of a draft that are printed by author and year, number or title.

    Args:
        text: of the draft, Markdown or plain.
        index: of its reference list.
        lists: spans of the text that hold reference lists.
    """
    taken = [match.span() for match in _MARKED.finditer(text)]
    taken += [*lists, *(match.span() for match in LIST_HEADING.finditer(text))]
    free = _Free(text, taken)
    found: list[WrittenCitation] = []

    def add(written: Iterable[WrittenCitation | None]) -> None:
        for one in written:
            if one is not None and free.is_free(one.start, one.end):
                found.append(one)
                free.take(one.start, one.end)

    _learn_abbreviations(text, index)
    add(_author_years(text, index, free))
    add(_keyed(text, index, free))
    if index.is_numbered:
        add(_join_ranges(text, [*_numbers(text, index, free)], index))
        if any(text[one.start] in "[［〔【<^" for one in found) or not found:
            add(_raised(text, index, free))
        if not found:
            add(_rounded(text, index, free))
    add(_named_in_text(text, index, free))
    return sorted(found, key=lambda one: one.start)


def find_numbers(text: str) -> list[str]:
    """Return what looks like citations by number, for a draft whose list is missing."""
    code = _Free(text, (match.span() for match in _MARKED.finditer(text)))
    return [m.group() for m in _NUMBERS.finditer(text) if code.is_free(*m.span())]


def as_entries(
    text: str, written: Sequence[WrittenCitation]
) -> tuple[tuple[Entry, ...], list[WrittenCitation]]:
    """Return an entry of names and year for each citation of a draft that has no list.

    Such a citation can be paired by authors and year alone.
    """
    entries: dict[tuple[tuple[str, ...], str], int] = {}
    made: list[Entry] = []
    result = []
    for one in written:
        citations = []
        for citation in one.citations:
            words = citation.doc_uid
            years = _ONE_YEAR.findall(words)
            match = _NAMES.search(re.split(rf"[\s,，(（\[［]*{_YEAR}", words)[0])
            names = _read_names(match, ReferenceIndex(()))[0] if match else ()
            year = years[0] if years and years[0][:4].isdigit() else ""
            number = entries.setdefault((names, year), len(made))
            if number == len(made):
                line = text.count("\n", 0, citation.start) + 1
                made.append(Entry(words, "", names, year, line=line))
            citations.append(replace(citation, entries=(number,)))
        result.append(replace(one, citations=tuple(citations)))
    return tuple(made), result


def find_marked(text: str) -> list[tuple[int, int]]:
    """Return the spans of the citations by uid, key or article that are not in code."""
    return [match.span() for match in _MARKED.finditer(text) if match["mark"]]


class _Free:
    """Which characters of a text nothing has taken."""

    def __init__(self, text: str, taken: Iterable[tuple[int, int]]) -> None:
        self._taken = bytearray(len(text))
        for start, end in taken:
            self.take(start, end)

    def is_free(self, start: int, end: int) -> bool:
        """Say whether nothing has taken a character between two offsets."""
        return not any(self._taken[start:end])

    def take(self, start: int, end: int) -> None:
        """Take the characters between two offsets."""
        self._taken[start:end] = b"\1" * (end - start)


def _paragraph_start(text: str, place: int) -> int:
    """Return where the paragraph of an offset begins, or some names before it."""
    first = max(0, place - _LONGEST_NAMES)
    return max((match.end() for match in _PARAGRAPH.finditer(text, first, place)), default=first)


def _learn_abbreviations(text: str, index: ReferenceIndex) -> None:
    for name in index.organisations:
        for match in re.finditer(rf"{re.escape(name)}\s*[\[［(（](?P<short>{_ACRONYM})\b", text):
            index.abbreviations[match["short"]] = name


def _author_years(text: str, index: ReferenceIndex, free: _Free) -> Iterator[WrittenCitation]:
    for bracket in _BRACKET.finditer(text):
        if not free.is_free(*bracket.span()):
            continue
        group = "round" if bracket["round"] is not None else "square"
        inside, offset = bracket[group], bracket.start(group)
        textual = _textual(text, bracket, inside, index)
        if textual is not None:
            yield textual
        elif _YEARS.search(inside) and (group == "round" or re.search(r"\d{4}", inside)):
            yield from _in_bracket(text, bracket, inside, offset, index)


def _textual(
    text: str, bracket: re.Match[str], inside: str, index: ReferenceIndex
) -> WrittenCitation | None:
    """Read `Lee and Park (2021, p. 3)`."""
    stripped = inside.strip()
    short = re.match(rf"(?P<short>{_ACRONYM})\s*[;,；，]\s*", stripped)
    body = stripped[short.end() :] if short else stripped
    years = _YEARS.match(body)
    if years is None:
        return None
    rest = body[years.end() :]
    hint = find_hint(rest.lstrip(" ,，:：;")) if rest.strip() else None
    if rest.strip() and (hint is None or not re.match(r"\s*[,，:：;]", rest)):
        return None
    first = _paragraph_start(text, bracket.start())
    named = _names_before(text, first, bracket.start(), index, alone=False)
    if named is None:
        return None
    if short:
        index.abbreviations[short["short"]] = named.names[0]
    cited = _cited(named, years.group(), index)
    if not any(one for one in cited) and not _may_be_name(named, index):
        return None
    citations = _citations(text, named.start, bracket.end(), cited, hint)
    return WrittenCitation(named.start, bracket.end(), citations, is_word=True)


def _may_be_name(named: _Named, index: ReferenceIndex) -> bool:
    """Say whether names that no entry has are those of a citation all the same.

    In a draft with a list that is cited by number, `Paris (2015)` is none.
    """
    if len(named.names) == 1 and re.fullmatch(_ACRONYM, named.names[0]):
        return False  # NeurIPS 2019, OpenSubtitles2012
    return not index.is_numbered or named.others or any(HAN.search(n) for n in named.names)


def _cited(named: _Named, years: str, index: ReferenceIndex) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = []
    last = ""
    for match in _ONE_YEAR.finditer(years):
        written = match.group()
        year = written if written[:4].isdigit() else ""
        if len(written) == 1:
            year = last[:4] + written
        last = year or last
        found.append(index.find(Cited(named.names, named.others, year)))
    return found


def _citations(
    text: str, start: int, end: int, entries: Sequence[tuple[int, ...]], hint: LocatorHint | None
) -> tuple[Citation, ...]:
    words = " ".join(text[start:end].split())
    return tuple(
        Citation(None, words, start, end, "written", hint, entries=found) for found in entries
    )


def _in_bracket(
    text: str, bracket: re.Match[str], inside: str, offset: int, index: ReferenceIndex
) -> Iterator[WrittenCitation]:
    """Read `(see Lee, 2021, p. 3; Park et al., 2020, 2022)`, and citations among other words."""
    pieces: list[WrittenCitation] = []
    reached = 0
    for years in _YEARS.finditer(inside):
        if years.start() < reached:
            continue
        lower = max(
            [
                reached,
                *(
                    m.end()
                    for m in re.finditer(
                        r"[;；]|\b(?:in|see|by|and|with)\s", inside[: years.start()]
                    )
                ),
            ]
        )
        whole = max([0, *(m.end() for m in re.finditer("[;；]", inside[: years.start()]))])
        named = None
        for first, alone in (
            (max(whole, reached), True),
            (max(whole, reached), False),
            (lower, False),
        ):
            named = _names_before(inside, first, years.start(), index, alone=alone)
            if named is not None:
                break
        if named is None:
            continue
        cited = _cited(named, years.group(), index)
        if not any(cited) and not (_may_be_name(named, index) and _is_plain(inside, named)):
            continue
        end, hint = years.end(), None
        if located := _LOCATED.match(inside, years.end()):
            hint = find_hint(located["place"])
            end = located.end() if hint is not None else end
        start = named.start
        citations = _citations(text, offset + start, offset + end, cited, hint)
        pieces.append(WrittenCitation(offset + start, offset + end, citations, is_word=True))
        reached = end
    if not pieces:
        return
    marked, at = "", 0
    for piece in pieces:
        marked += inside[at : piece.start - offset] + CITED
        at = piece.end - offset
    marked += inside[at:]
    if only_points(marked):
        citations = tuple(c for piece in pieces for c in piece.citations)
        yield WrittenCitation(*bracket.span(), citations)
    else:
        yield from pieces


def _is_plain(inside: str, named: _Named) -> bool:
    """Say whether names that no entry has stand as in a citation: no more than a lead-in before."""
    before = re.split("[;；]", inside[: named.start])[-1]
    return not _PREFIX.sub("", before).strip(" ,，*_")


def _read_numbers(written: str, index: ReferenceIndex) -> list[str] | None:
    """Return the numbers of a list; None where they are no citations."""
    numbers: list[str] = []
    for part in re.split(r"[,，;；、]", written):
        span = _SPAN.fullmatch(part.strip())
        if span is not None:
            first, last = int(span[1]), int(span[2])
            if not first < last <= first + _MOST_SPAN:
                return None
            numbers += map(str, range(first, last + 1))
        elif part.strip().isdigit():
            numbers.append(str(int(part)))
    known = index.by_label
    highest = max(int(label) for label in known if label.isdigit())
    if not numbers or any(number == "0" or int(number) > highest + 20 for number in numbers):
        return None
    # Numbers of no entry are a mistake of the list where others are right, and not 1999.
    return numbers


def _numbers(text: str, index: ReferenceIndex, free: _Free) -> Iterator[WrittenCitation]:
    for match in _NUMBERS.finditer(text):
        if not free.is_free(*match.span()):
            continue
        numbers = _read_numbers(match["list"], index)
        if numbers is None:
            continue
        place = (match["place"] or "").strip(" ,，:：")
        hint = find_hint(place) or (LocatorHint(place) if place else None) if place else None
        if match["behind"]:
            hint = read_hint(match["behind"], bare=True)
        yield _numbered(text, match.start(), match.end(), numbers, index, hint)


def _numbered(
    text: str, start: int, end: int, numbers: Sequence[str], index: ReferenceIndex,
    hint: LocatorHint | None,
) -> WrittenCitation:  # fmt: skip
    begins = _paragraph_start(text, start)
    before = text[max(begins, start - 40) : start]
    is_raised = text[start] in "<^"
    is_word = bool(_BY_WORD.search(before)) and not is_raised
    if word := _REF_WORD.search(before):
        start -= len(before) - word.start()
        is_word = True
    words = " ".join(text[start:end].split())
    citations = tuple(
        Citation(None, words if len(numbers) == 1 else f"[{number}]", start, end, "written", hint,
                 entries=tuple(index.by_label.get(number, ())))
        for number in numbers
    )  # fmt: skip
    return WrittenCitation(start, end, citations, is_word)


def _join_ranges(
    text: str, found: list[WrittenCitation], index: ReferenceIndex
) -> Iterator[WrittenCitation]:
    """Read `[3]–[6]` as one."""
    number = 0
    while number < len(found):
        one = found[number]
        following = found[number + 1] if number + 1 < len(found) else None
        if (
            following is not None
            and _JOINED.fullmatch(text, one.end, following.start)
            and len(one.citations) == len(following.citations) == 1
        ):
            first = re.search(r"\d+", one.citations[0].doc_uid)
            last = re.search(r"\d+", following.citations[0].doc_uid)
            if first and last and int(first[0]) < int(last[0]) <= int(first[0]) + _MOST_SPAN:
                numbers = [str(n) for n in range(int(first[0]), int(last[0]) + 1)]
                joined = _numbered(text, one.start, following.end, numbers, index, None)
                yield replace(joined, is_word=one.is_word)
                number += 2
                continue
        yield one
        number += 1


def _keyed(text: str, index: ReferenceIndex, free: _Free) -> Iterator[WrittenCitation]:
    """Read `[Knu84, p. 3]` and `[ABC+01; Lee06]`, where the list has these labels."""
    for match in _ALPHA_KEYS.finditer(text):
        keys = _ALPHA_KEY.findall(match["keys"])
        if free.is_free(*match.span()) and all(key in index.by_label for key in keys):
            place = (match["place"] or "").strip(" ,，")
            hint = find_hint(place) if place else None
            yield _numbered(text, *match.span(), keys, index, hint)


def _rounded(text: str, index: ReferenceIndex, free: _Free) -> Iterator[WrittenCitation]:
    """Read `(3)` and `(3, 5-7)`, where a numbered list is cited in no other way and most of its
    entries in this one.
    """
    found = [
        (match.start(), match.end("list") + 1, numbers)
        for match in _ROUND.finditer(text)
        if free.is_free(match.start(), match.end("list"))
        and not _COUNTED.search(text, max(0, match.start() - 12), match.start())
        and (numbers := _read_numbers(match["list"], index)) is not None
        and all(number in index.by_label for number in numbers)
    ]
    cited = {number for *_, numbers in found for number in numbers}
    if len(cited) * 2 > len(index.by_label):
        for start, end, numbers in found:
            yield _numbered(text, start + 1, end, numbers, index, None)


def _raised(text: str, index: ReferenceIndex, free: _Free) -> Iterator[WrittenCitation]:
    """Read `text^5^`, `text<sup>5,6</sup>`, `text⁵`; not powers and units."""
    for match in _RAISED.finditer(text):
        written = (match["tag"] or match["caret"] or match["unicode"]).translate(_DIGITS)
        before = text[max(0, match.start() - 12) : match.start()]
        if not free.is_free(*match.span()) or _UNIT.search(before) or not before.strip():
            continue
        numbers = _read_numbers(written, index)
        if numbers is None or any(number not in index.by_label for number in numbers):
            continue
        yield replace(_numbered(text, *match.span(), numbers, index, None), is_word=False)


def _named_in_text(text: str, index: ReferenceIndex, free: _Free) -> Iterator[WrittenCitation]:
    """Read titles in 《》 that the list has, `Huang et al.`, `Lambert's team in 2021`."""
    titles = {fold(entry.title): n for n, entry in enumerate(index.entries) if entry.title}
    for match in _TITLE_MARKS.finditer(text):
        folded = fold(match["title"])
        best = max(titles, key=lambda title: fuzz.ratio(title, folded), default="")
        if (
            best
            and len(folded) >= 4
            and fuzz.ratio(best, folded) >= 90
            and free.is_free(*match.span())
        ):
            citations = _citations(text, *match.span(), [(titles[best],)], None)
            yield WrittenCitation(*match.span(), citations, is_word=True)
    for match in re.finditer(rf"\s+in\s+(?P<year>{_YEAR})", text):
        first = _paragraph_start(text, match.start())
        named = _names_before(text, first, match.start(), index, alone=False)
        if named is None or not named.is_known:
            continue
        entries = index.find(Cited(named.names, named.others, match["year"]))
        if len(entries) == 1 and index.entries[entries[0]].year[:4] == match["year"][:4]:
            citations = _citations(text, named.start, match.end(), [entries], None)
            yield WrittenCitation(named.start, match.end(), citations, is_word=True)
    if not index.is_numbered:
        return
    for match in re.finditer(_OTHERS, text):
        first = _paragraph_start(text, match.start())
        if _NUMBERS.match(text, match.end() + (text[match.end() : match.end() + 1] == " ")):
            continue  # the number behind the names says it
        named = _names_before(text, first, match.end(), index, alone=False)
        if named is None or not named.is_known:
            continue
        entries = index.find(Cited(named.names, True, ""))
        if len(entries) == 1:
            citations = _citations(text, named.start, match.end(), [entries], None)
            yield WrittenCitation(named.start, match.end(), citations, is_word=True)
