"""Names of authors in the lines below a title."""

import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise

from rag_assets.parsing.pdf.front.words import (
    ARTICLE_TYPE,
    CORRESPONDENCE,
    DATE,
    DOCUMENT_TYPE,
    EMAIL,
    INSTITUTION,
    RECEIVED,
    SERIAL,
)
from rag_assets.parsing.pdf.lines import Line

_PARTICLES = (
    r"(?:de|da|do|dos|das|van|von|der|den|del|della|di|du|la|le|el|al|bin|ibn|ben|ter|ten|zu|"
    r"zum|zur|"
    r"af|av|dit|st)"
)
_CAPITAL = r"[A-ZÀ-ÖØ-ÞĀ-ŽƏȘȚḀ-ỹ\u0400-\u042f\u0370-\u03ab]"
_SMALL = r"[^\W\d_]"
# Accents that the font sets as characters of their own stand inside names.
_ACCENTS = "´`¨ˇˆ˜¸˚˝¯˘˙^~"
_NAME_WORD = rf"(?:[{_ACCENTS}]?{_CAPITAL}(?:{_SMALL}|[{_ACCENTS}'’ʼ‐-])+)"
# Initials, also two letters in a row ("RJS"), and shortened names ("Md.").
_INITIALS = rf"(?:{_CAPITAL}{_SMALL}{{1,3}}\.|{_CAPITAL}\.(?:\s?[-‐]?\s?{_CAPITAL}\.)*|{_CAPITAL})"
_NAME_PART = (
    rf"(?:{_NAME_WORD}|{_INITIALS}|{_PARTICLES}|d['’]{_NAME_WORD}|{_CAPITAL}['’]{_NAME_WORD})"
)
_NAME = re.compile(rf"{_NAME_PART}(?:\s+{_NAME_PART}){{1,6}}(?:,? (?:Jr|Sr)\.?|,? I{{2,3}})?")
_HAS_SURNAME = re.compile(rf"{_CAPITAL}(?:{_SMALL}|[{_ACCENTS}]){{1,}}")
_CHINESE_NAME = re.compile(r"[\u4e00-\u9fff]{2,4}(?:·[\u4e00-\u9fff]{1,4})?")
# The hundred commonest surnames (some 85 % of all people) and the double ones.
_SURNAMES = frozenset(
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘"
    "杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文殷贡庄"
    "严施洪温俞章鲁葛倪樊兰左齐耿焦向柳邢岳骆甘祝路莫游辛欧上司诸东"
)
_DEGREE = re.compile(
    r"(?:\b(?:MD|PhD|MSc|BSc|MS|RN|BSN|MSN|MM|MB|MMed|MPhil)(?:[a-h](?![a-z])[,∗*\d]*)+)|"
    r"\b(?:M\.?\s?D|MM|MB|MMed|MPhil|Ph\.?\s?D|M\.?\s?Sc|B\.?\s?Sc|D\.?\s?Sc|MPH|MBBS|MBChB|FRCP|"
    r"FRCS|FACS|RN|"
    r"BA|BS|MA|MS|MBA|DVM|DDS|DMD|PharmD|Pharm\.?D|DPhil|Dr\.?\s?(?:med|rer|Ing)\.?|MSN|BSN|EdD|"
    r"MRCP|"
    r"(?:Senior |Student |Life )?(?:Member|Fellow),?\s*(?:IEEE|ACM)|IEEE|ACM|Jr|Sr)\b\.?"
)
_ADDRESS = re.compile(r"^(?:Dr|Prof|Mr|Mrs|Ms|Mme|Doctor|Professor)\b\.?\s+(?=\S{2,})")
_ORCID = re.compile(
    r"\[?\(?\d{4}[-−–]\d{4}[-−–]\d{4}[-−–]\d{3}[\dX]\)?\]?|\biD\b|orcid\S*", re.IGNORECASE
)
_MARKS = re.compile(
    r"[\d*∗†‡§¶⋆★☆✉#✝⁎⁑‖∥|®©\u200b-\u200f\u2070-\u2079¹²³✩⇑⊥♯]+|\(\s*,*\s*\)|\[\s*\]|\{|\}"
)
_SEPARATOR = re.compile(
    r"\s*[,;，；、•|&＆/]\s*|\s+[.·‧∙]\s*|\s*·\s*|\s+(?:and|AND|And|et|und|and,)\s+"
    r"|\s+[ey]\s+|\s+и\s+|\s+和\s+|\s{3,}"
)
_CONJUNCTION = re.compile(r"^(?:and|AND|And|et|und|by|By|BY|[&＆])(?:\s+|$)")
_PREFIX = re.compile(
    r"^(?:authors?|by|auteurs?|autor(?:es)?|作\s*者|姓\s*名|学生姓名|автор\w*|студент)\s*[:：]\s*",
    re.IGNORECASE,
)
_NO_NAME_WORDS = re.compile(
    r"\b(?:abstract|keywords?|index|terms|introduction|contents|republic|kingdom|states|arabia|"
    r"zealand|"
    r"korea|africa|america|china|japan|germany|france|india|italy|spain|brazil|canada|usa|uk|"
    r"turkey|"
    r"iran|egypt|australia|netherlands|switzerland|sweden|russia|road|street|avenue|box|city|"
    r"open|access|"
    r"article|original|paper|review|editor|editors|science|sciences|engineering|technology|"
    r"research|"
    r"group|computer|medicine|medical|biology|chemistry|physics|mathematics|national|international|"
    r"thesis|advisor|supervisor|supervised|member|prof|project|team|draft|version|the|of|for|in|on|"
    r"with|from|to|at|jury|problem|course|data|system|systems|analysis|model|correspondence|"
    r"software|repository|archive|license|submitted|published|summary|table|figure|san|new|los|"
    r"hong|"
    r"south|north|west|east|note|first author|second author|way|piazza|via|rue|plaza|"
    r"politecnico|polytech|tu|wa|ny|tx|pa|vol|part|chapter|working|running|supported|grant|"
    r"grants)\b",
    re.IGNORECASE,
)
# Who follows these words judged or guided the work.
_OTHER_PEOPLE = re.compile(
    r"\b(?:jury|président|rapporteurs?|examinat\w+|supervis\w+|advis[eo]rs?|directeur|encadrant|"
    r"reviewers?|referees?|examiners?|committee|gutachter|betreuer\w*|orientador\w*|editors?|"
    r"edited by|руководител\w*|рецензент\w*|references|bibliography)\b|指导(?:教师|老师)|"
    r"导\s*师|参考文献",
    re.IGNORECASE,
)
_MAX_NAME_LETTERS = 45
# At least so many pieces of a line must be names; the rest is cut off by the line's end.
_MIN_NAME_SHARE = 0.6
_SMALL_MARK_RATIO = 0.8
_COMBINING = dict(
    zip(
        _ACCENTS,
        "\u0301\u0300\u0308\u030c\u0302\u0303\u0327\u030a\u030b\u0304\u0306\u0307\u0302\u0303",
        strict=True,
    )
)
_LOOSE_ACCENT = re.compile(rf"(\w?)(\s?)([{re.escape(_ACCENTS)}])(\s?)(\w?)")
_VOWELS = "aeiouyAEIOUYı"
# Letters that carry an accent in names of living languages; ÿ, ẅ or ǒ can, and hardly ever do.
_CARRIERS = {
    "´": "aeiouycnsz", "`": "aeiou", "¨": "aeiou", "ˇ": "cszrnedt", "ˆ": "aeiou", "^": "aeiou",
    "˜": "nao", "~": "nao", "¸": "cst", "˚": "au", "˝": "ou", "¯": "aeiou", "˘": "agiueo",
    "˙": "zeigc",
}  # fmt: skip


def find_authors(lines: Sequence[Line]) -> tuple[tuple[str, ...], tuple[Line, ...]]:
    """Return the names that `lines` print, in order, and the lines that hold them.

    Args:
        lines: between a title and its abstract, in reading order.
    """
    groups: list[list[Line]] = []
    for line in lines:
        if _OTHER_PEOPLE.search(line.text):
            break
        if _is_mark(line, groups):
            continue
        if not is_name_line(_bare(line)):
            continue
        if groups and abs(groups[-1][-1].size - line.size) <= 1.0:
            groups[-1].append(line)
        elif not groups:
            # Names in another size below are editors, supervisors or others.
            groups.append([line])
    names: list[str] = []
    for group in groups:
        for name in _names_of(group):
            if name not in names:
                names.append(name)
    return tuple(names), tuple(line for group in groups for line in group)


def is_name_line(text: str) -> bool:
    """Tell whether a line holds hardly anything but names of people."""
    if (
        INSTITUTION.search(text)
        or EMAIL.search(text)
        or DATE.search(text)
        or RECEIVED.search(text)
        or SERIAL.search(text)
        or ARTICLE_TYPE.fullmatch(text)
        or DOCUMENT_TYPE.fullmatch(text)
        or CORRESPONDENCE.match(text)
    ):
        return False
    pieces = _pieces(text)
    if not pieces:
        return False
    found = sum(_is_name(piece) for piece in pieces)
    return found >= 1 and found >= _MIN_NAME_SHARE * len(pieces)


def _is_mark(line: Line, groups: Sequence[Sequence[Line]]) -> bool:
    return (
        bool(groups) and line.size < _SMALL_MARK_RATIO * groups[-1][-1].size and len(line.text) < 4
    )


def _bare(line: Line) -> str:
    return line.text if line.level_parts is None else ", ".join(line.level_parts)


def _names_of(lines: Sequence[Line]) -> list[str]:
    text = _bare(lines[0])
    for before, line in pairwise(lines):
        pieces, following = _pieces(_bare(before)), _pieces(_bare(line))
        is_whole = pieces and following and _is_name(pieces[-1]) and _is_name(following[0])
        text += (", " if is_whole else " ") + _bare(line)
    return [piece for piece in _pieces(text) if _is_name(piece)]


def _pieces(text: str) -> list[str]:
    """Return what stands between separators, without degrees, marks and numbers."""
    text = _PREFIX.sub("", text)
    text = _ORCID.sub(" ", text)
    text = (
        _MARKS.sub(" , ", _DEGREE.sub(" , ", text))
        if _MARKS.search(text)
        else _DEGREE.sub(" , ", text)
    )
    pieces = []
    for raw in _SEPARATOR.split(text):
        piece = _ADDRESS.sub("", _CONJUNCTION.sub("", mend_accents(raw).strip(" .:,;-–—()[]")))
        if raw.rstrip().endswith(".") and re.search(rf"(?:^|\s){_CAPITAL}$", piece):
            piece += "."
        if len(piece) > 1 and re.search(r"[\u4e00-\u9fff]", piece):
            pieces += _chinese_pieces(piece)
        elif len(piece) > 1:
            pieces.append(" ".join(piece.split()))
    return pieces


def _chinese_pieces(text: str) -> list[str]:
    """Split names set apart by blanks; a blank inside a name of two characters is spacing."""
    words = text.split()
    if words and all(len(word) == 1 for word in words):
        return ["".join(words)] if len(words) <= 4 else [text]
    joined: list[str] = []
    for word in words:
        if len(word) == 1 and joined and len(joined[-1]) == 1:
            joined[-1] += word
        else:
            joined.append(word)
    return joined


def _is_name(piece: str) -> bool:
    if _CHINESE_NAME.fullmatch(piece):
        return piece[0] in _SURNAMES
    return (
        len(piece) <= _MAX_NAME_LETTERS
        and _NAME.fullmatch(piece) is not None
        and _HAS_SURNAME.search(piece) is not None
        and not _NO_NAME_WORDS.search(piece)
    )


def mend_accents(text: str) -> str:
    """Return `text` with accents that stand beside their letter put onto it (`Go´mez`, `G¨odel`).

    Some fonts set the accent after its letter, TeX's old ones before. The letter is the one that
    carries it in names, a vowel rather than a consonant, else the one before; a caron belongs to
    the letter behind, since only TeX sets it apart. A blank that such a font leaves is taken out
    within a word.
    """
    if not any(accent in text for accent in _ACCENTS):
        return text
    return _LOOSE_ACCENT.sub(_mended, text)


def _mended(match: re.Match[str]) -> str:
    before, gap, accent, gap_after, after = match.groups()
    left, right = _accented(before, accent), _accented(after.replace("ı", "i"), accent)
    if right and gap and after.isupper():
        return before + gap + right  # of the next word
    if left and gap_after and not after.islower():
        return left + gap_after + after  # of the word before
    if right and (not left or _is_likelier(after, before, accent)):
        return before + right
    return left + gap_after + after if left else match.group()


def _accented(letter: str, accent: str) -> str:
    """Return a letter with its accent as one character; empty where there is none such."""
    composed = unicodedata.normalize("NFC", letter + _COMBINING[accent]) if letter else ""
    return composed if len(composed) == 1 else ""


def _is_likelier(after: str, before: str, accent: str) -> bool:
    carriers = _CARRIERS[accent]
    right, left = (carriers.find(letter.lower().replace("ı", "i")) for letter in (after, before))
    if (right < 0) != (left < 0):
        return left < 0
    if accent in "˜~" and right != left:
        return right < left  # Muñoz, João: the commonest first
    return accent == "ˇ" or (after in _VOWELS and before not in _VOWELS)
