"""Words and numbers of headings."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

# Words that tell a heading from a label: titles that sections have, beginnings that none has.


def _titles(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


# Titles of sections by themselves, folded to their letters (see `fold_title`).
_TOP_TITLES = _titles(
    """
    abstract introduction background motivation conclusion conclusions concludingremarks
    references bibliography literaturecited acknowledgement acknowledgements acknowledgment
    acknowledgments discussion results resultsanddiscussion method methods methodology
    materialsandmethods materialandmethods materialmethods methodsandmaterials
    patientsandmethods methodsandanalysis experimental experimentalsection experiments experiment
    relatedwork relatedworks priorwork literaturereview evaluation summary preliminaries appendix
    appendices futurework conclusionandfuturework conclusionsandfuturework discussionandconclusion
    discussionandconclusions conclusionanddiscussion limitations supplementarymaterial
    supplementarymaterials supportinginformation contents tableofcontents listoffigures
    listoftables preface declaration glossary index fundings funding conflictofinterest
    conflictsofinterest competinginterests authorcontributions dataavailability
    dataavailabilitystatement
    摘要 引言 前言 绪论 导论 概述 结论 总结 小结 结语 参考文献 致谢 附录 目录 相关工作 讨论
    结果 方法 实验 背景
    résumé remerciements conclusiongénérale introductiongénérale bibliographie références
    tabledesmatières annexe annexes einleitung zusammenfassung fazit literatur literaturverzeichnis
    danksagung inhaltsverzeichnis anhang introdução conclusão conclusões referências metodologia
    resultados discussão resultadosediscussão agradecimentos resumo trabalhosrelacionados sumário
    introducción conclusiones referencias metodología discusión agradecimientos resumen bibliografía
    introduzione conclusioni bibliografia riassunto введение заключение выводы литература
    списоклитературы содержание оглавление аннотация приложение inleiding conclusie
    """
)
_REFERENCE_TITLES = _titles(
    """references bibliography literaturecited referencesandnotes referenceslist bibliographie
    références literatur literaturverzeichnis referências referencias bibliografía bibliografia
    литература списоклитературы参考文献 参考文献 referenzen"""
)
_CONTENTS_TITLES = _titles(
    """contents tableofcontents listoffigures listoftables 目录 tabledesmatières sommaire
    inhaltsverzeichnis sumário índice índicegeneral indice содержание оглавление inhoud"""
)
# Declarations at a paper's end, often with their text on the same line.
_BACK_TITLES = _titles(
    """
    acknowledgement acknowledgements acknowledgment acknowledgments authorcontributions
    authorscontributions authorcontribution contributors creditauthorshipcontributionstatement
    conflictofinterest conflictsofinterest conflictofintereststatement competinginterests
    competinginterest declarationofcompetinginterest declarationofinterests declarationofinterest
    declarationofconflictinginterests disclosure disclosures disclosurestatement funding
    fundingsources fundinginformation fundingstatement financialsupport dataavailability
    dataavailabilitystatement availabilityofdataandmaterials datasharing datasharingstatement
    codeavailability institutionalreviewboardstatement informedconsentstatement informedconsent
    ethicsstatement ethicsapproval ethicalapproval ethicalstandards ethicsapprovalandconsent
    ethicsapprovalandconsenttoparticipate consentforpublication supplementarymaterials
    supplementarymaterial supportinginformation supplementarydata publishersnote
    additionalinformation references bibliography conclusion conclusions concludingremarks
    agradecimentos remerciements referências conclusão 致谢 参考文献 结论 基金项目 利益冲突
    """
)
_AFFILIATION = re.compile(
    r"(?:univers|departe?ment|faculty|facult|school of|college|hospital|institut|laborator|academy"
    r"|cent(?:er|re) (?:for|of)|division of|clinic|ministry|大学|学院|研究所|医院|@)",
    re.IGNORECASE,
)
_ABSTRACT_TITLES = _titles(
    "abstract summary 摘要 résumé resumo resumen zusammenfassung аннотация riassunto"
)
# Parts of a structured abstract: a label with its text, not a section.
_ABSTRACT_LABELS = _titles(
    """background introduction objective objectives aim aims purpose context method methods design
    setting settings patients participants interventions mainoutcomemeasures measurements results
    result findings conclusion conclusions interpretation discussion trialregistration funding
    materialsandmethods materialandmethods patientsandmethods methodsandanalysis methodsandresults
    ethicsanddissemination trialregistrationnumber significance rationale limitations scope
    keywords keyword importance originality"""
)
# A caption, a statement of mathematics, a line of an algorithm, what a title page says.
_LABEL = re.compile(
    r"(?:fig(?:ure|\.)?|tab(?:le|\.)?|scheme|algorithm|listing|chart|plate|box|exhibit|map|photo"
    r"|abb(?:ildung)?\.?|tabelle|figura|tabela|tabla|tableau|рис(?:унок|\.)?|таблица|equation"
    r"|supplementary (?:figure|table))\s*[.:]?\s*(?:[a-z]?\d|[ivx]+\b|[a-z][.:]\d?)"
    r"|(?:theorem|lemma|corollary|proposition|definition|remark|example|claim|conjecture|proof"
    r"|hypothesis|observation|fact|axiom|property|exercise|problem|question|note|case|step"
    r"|exemple|ejemplo|exemplo|beispiel|пример|théorème|lemme|définition|proposition|preuve|definição|teorema|satz|beweis|теорема|лемма"
    r"|определение)\s*(?:\(|\d|[a-z]?\.\d|[ivx]+\b|[.:]|$)"
    r"|(?:图|表|算法|定理|引理|定义|命题|推论|证明|例|性质|注)\s*(?:[\d一二三四五六七八九十(（:：.]|$)",
    re.IGNORECASE,
)
_FRONT = re.compile(
    r"(?:received|accepted|revised|published|available online|submitted|key\s*words?\b|index terms"
    r"|correspond|\*|†|‡|copyright|©|\(c\)|edited by|editor|reviewed by|citation:|cite this"
    r"|to cite|how to cite|open access|original (?:article|paper|research)|research article"
    r"|review article|e-?mail|issn|isbn|https?:|www\.|doi\b|vol(?:ume)?\b\.? ?\d|creative commons"
    r"|authors?:|affiliations?:|orcid|article (?:info|history)|关键词|关键字|作者|单位"
    r"|收稿|中图分类|文献标识|文章编号|学号|姓名|学院|专业|指导教师|mots[- ]cl[ée]s"
    r"|palavras[- ]chave|palabras clave|schlüsselwörter|schlagwörter|ключевые слова|ccs concepts"
    r"|acm reference format"
    r"|input\s*:|output\s*:|require\s*:|ensure\s*:|return\b|end (?:for|if|while)|for all\b)",
    re.IGNORECASE,
)
_NOT_LETTERS = re.compile(r"[\W\d_]+")


def fold_title(title: str) -> str:
    """Return the letters of a title, small."""
    return _NOT_LETTERS.sub("", title).lower()


@lru_cache(maxsize=4096)
def is_top_title(title: str) -> bool:
    """Tell whether `title`, without its number, is one that sections of the first level have."""
    return fold_title(title) in _TOP_TITLES


def is_reference_title(title: str) -> bool:
    """Tell whether a section of that title lists references."""
    return fold_title(title) in _REFERENCE_TITLES


def is_contents_title(title: str) -> bool:
    """Tell whether a section of that title lists the document's own headings, figures, tables."""
    return fold_title(title) in _CONTENTS_TITLES


def is_abstract_title(title: str) -> bool:
    """Tell whether a section of that title is the abstract."""
    return fold_title(title) in _ABSTRACT_TITLES


def is_abstract_label(title: str) -> bool:
    """Tell whether `title` is a label as structured abstracts have (`Methods:`)."""
    return fold_title(title) in _ABSTRACT_LABELS


def is_back_title(title: str) -> bool:
    """Tell whether `title` is that of a declaration at a paper's end."""
    return fold_title(title) in _BACK_TITLES


def is_affiliation(text: str) -> bool:
    """Tell whether a text names an institution, as title pages do."""
    return _AFFILIATION.search(text) is not None


def is_label(text: str) -> bool:
    """Tell whether a text begins as a caption, theorem or line of the title page does."""
    return _LABEL.match(text) is not None or _FRONT.match(text) is not None


# Numbers that headings begin with: 1, 1.2, I., A.1, (a), Chapter 1, 第一章, 一、, （一）.

Scheme = Literal[
    "part", "chapter", "decimal", "roman", "letter", "appendix", "han", "han_bracket", "bracket"
]

_HAN_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九十", start=0)}
_HAN = "一二三四五六七八九十"
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_ROMAN = re.compile(r"(?:X{0,3})(?:IX|IV|V?I{0,3})")
# Single letters that are roman numbers too: which they are, their neighbours say.
_MORE_OFTEN_ROMAN = "IVX"
_WORDS_FOR_PART = r"part|partie|teil|parte|часть"
_WORDS_FOR_CHAPTER = r"chapter|section|chapitre|kapitel|cap[íi]tulo|capitolo|глава|раздел|hoofdstuk"
_WORDS_FOR_APPENDIX = (
    r"appendix|annex(?:e|o)?|anhang|ap[êe]ndice|приложение|supplement(?:ary)?(?: note)?"
)
_COUNTED = {
    word: value
    for value, word in enumerate(
        ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), start=1
    )
}
# A number is followed by a blank, a bar (`1 | Introduction`) or a character of Chinese.
_BREAK = r"(?:\s*[|│]\s*|\s+|(?=[\u2e80-\u9fff（《“]))"
_PATTERNS: tuple[tuple[Scheme, re.Pattern[str]], ...] = (
    (
        "part",
        re.compile(
            rf"(?:{_WORDS_FOR_PART})\s+([IVX]+|\d+)\b[.:]?\s*|第\s*([{_HAN}\d]+)\s*[篇编]\s*",
            re.IGNORECASE,
        ),
    ),
    (
        "chapter",
        re.compile(
            rf"(?:{_WORDS_FOR_CHAPTER})\s+(\d+|[IVXLC]+|{'|'.join(_COUNTED)})\b[.:]?(?:\s*[-–—|]\s|\s*)"
            rf"|第\s*([{_HAN}\d]+)\s*[章]\s*",
            re.IGNORECASE,
        ),
    ),
    (
        "appendix",
        re.compile(
            rf"(?:{_WORDS_FOR_APPENDIX})(?:\s+([A-Z]|\d+|[IVX]+))?(?:[.:]\s*|\s+|$)|附\s*录\s*([A-Z{_HAN}\d]?)[.:：、]?\s*",
            re.IGNORECASE,
        ),
    ),
    (
        "decimal",
        re.compile(
            rf"§?\s*(\d{{1,3}}(?:\s?[.．]\s?\d{{1,3}}){{1,4}})(?:[.．、:]\s*|{_BREAK})(?!\d)"
        ),
    ),
    ("decimal", re.compile(rf"§?\s*(\d{{1,2}})(?:[.．、:]\s*(?=[^\W\d_])|[.:]?{_BREAK})(?!\d)")),
    ("appendix", re.compile(rf"([A-Z](?:\.\d{{1,2}}){{1,4}})(?:[.:]\s*|{_BREAK})(?!\d)")),
    (
        "roman",
        re.compile(r"([IVX]{1,6})(?:[.:．、]\s*(?=\S)|\s*[|–—-]\s+|\s+(?=[A-Z\u4e00-\u9fff]))"),
    ),
    ("letter", re.compile(r"([A-Z])(?:[.:．、]\s+(?=\S)|\)\s*|\s*[|–—]\s+|\s+(?=[A-Z]))")),
    ("han", re.compile(rf"([{_HAN}]{{1,3}})[、.．，,\s]\s*")),
    ("han_bracket", re.compile(rf"[（(]([{_HAN}]{{1,3}})[)）]\s*")),
    ("han", re.compile(rf"第\s*([{_HAN}\d]+)\s*(?:节|節|部分)\s*")),
    ("bracket", re.compile(r"[（(]?([a-z]|\d{1,2}|[ivx]{1,4})[)）]\s*")),
)
_SECTION_OF_CHAPTER = re.compile(r"第\s*\S+\s*[节節]")


@dataclass(frozen=True, slots=True)
class Number:
    """What a heading begins with.

    Args:
        values: one for each part: `2.3.1` has three.
        depth: the level that the number alone would give, from 1; 0 for a part of a book.
        end: where the title begins.
    """

    scheme: Scheme
    values: tuple[int, ...]
    depth: int
    end: int

    def follows(self, before: "Number | None") -> bool:
        """Tell whether this number is the next after `before`, or the first of its kind."""
        if before is None or before.scheme != self.scheme:
            return self.values[-1] <= 1
        shared = len(self.values) - 1
        if self.values[:shared] != before.values[:shared]:
            return self.values[-1] <= 1
        if len(before.values) <= shared:
            return self.values[-1] <= 1
        return 0 < self.values[-1] - before.values[shared] <= 1


@lru_cache(maxsize=8192)
def parse_number(text: str) -> Number | None:
    """Return the number that `text` begins with, None where it begins otherwise.

    A roman number of one letter that may be a letter (`C.`) is read as what it more often is;
    `settle_letters` decides from the sequence.
    """
    first = text[:1]
    if not (
        first.isupper()
        or first.isdigit()
        or first in "§(（第附ivxabcdefghij"
        or first in _HAN
        or first in "чрпг"
    ):
        return None
    if first.islower() and not (text[1:2] in (")", "）") or text[:4].isalpha()):
        return None
    for scheme, pattern in _PATTERNS:
        found = pattern.match(text)
        if found is None:
            continue
        printed = next((group for group in found.groups() if group), "")
        if scheme == "roman" and (not _ROMAN.fullmatch(printed) or _is_letter_rather(printed)):
            continue
        values = _values(printed, scheme)
        if values is None:
            continue
        return Number(scheme, values, _depth(scheme, values, text), found.end())
    return None


def _is_letter_rather(printed: str) -> bool:
    return len(printed) == 1 and printed not in _MORE_OFTEN_ROMAN


def _values(printed: str, scheme: Scheme) -> tuple[int, ...] | None:
    if not printed:
        return (0,)
    if scheme == "decimal":
        values = tuple(int(part) for part in re.split(r"\s?[.．]\s?", printed))
        return values if values[0] > 0 or len(values) > 1 else None
    if scheme == "appendix" and "." in printed:
        head, *rest = printed.split(".")
        return (ord(head) - ord("A") + 1, *(int(part) for part in rest))
    return (_counted(printed),)


def _counted(printed: str) -> int:
    if printed.isdigit():
        return int(printed)
    if printed.lower() in _COUNTED:
        return _COUNTED[printed.lower()]
    if printed[0] in _HAN_DIGITS:
        return _han_value(printed)
    if len(printed) > 1 or printed in _MORE_OFTEN_ROMAN:
        return roman_value(printed.upper())
    return ord(printed.upper()) - ord("A") + 1


def roman_value(printed: str) -> int:
    """Return the value of a roman number in capitals."""
    values = [_ROMAN_VALUES.get(letter, 0) for letter in printed]
    return sum(
        -value if index + 1 < len(values) and value < values[index + 1] else value
        for index, value in enumerate(values)
    )


def _han_value(printed: str) -> int:
    if "十" not in printed:
        return sum(_HAN_DIGITS.get(digit, 0) for digit in printed)
    tens, _, ones = printed.partition("十")
    return 10 * _HAN_DIGITS.get(tens, 1) + _HAN_DIGITS.get(ones, 0)


def _depth(scheme: Scheme, values: Sequence[int], text: str) -> int:
    if scheme == "part":
        return 0
    if scheme in ("decimal", "appendix"):
        return len(values)
    if scheme == "han":
        return 2 if _SECTION_OF_CHAPTER.match(text) else 1
    return {"chapter": 1, "roman": 1, "letter": 2, "han_bracket": 2}.get(scheme, 3)


def settle_letters(
    numbers: Sequence[tuple[int, Number]], text_of: Callable[[int], str]
) -> dict[int, Number]:
    """Return the numbers with single letters read as roman or as letters, as their order says.

    `H.`, `I.` are letters, `IV.`, `V.` are roman numbers; `C.` and `D.` are always letters.

    Args:
        numbers: with the index of their heading, in order.
        text_of: returns the text of the heading at an index.
    """
    settled: dict[int, Number] = {}
    last_letter = 0
    for index, number in numbers:
        current = number
        letter = text_of(index)[:1]
        if number.scheme == "roman" and _is_one_letter(text_of(index)):
            value = ord(letter) - ord("A") + 1
            if value == last_letter + 1:
                current = replace(number, scheme="letter", values=(value,), depth=2)
        if current.scheme == "letter":
            last_letter = current.values[0]
        elif current.scheme == "roman" or (
            current.scheme in ("decimal", "chapter") and current.depth == 1
        ):
            last_letter = 0
        settled[index] = current
    return settled


def _is_one_letter(text: str) -> bool:
    return len(text) > 1 and not text[1].isalpha()
