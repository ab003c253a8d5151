"""Title and authors of a paper."""

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log2

from rag_assets.parsing.cleaning import DIVISION, REAL_HYPHEN, clean_line, close_line, join_texts
from rag_assets.parsing.pdf.drawn import CAPTION_START
from rag_assets.parsing.pdf.lines import Line, Page

# Words and shapes of a first page: labels, institutions, dates, heads of the abstract.

WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_]+")
CJK = re.compile(r"[\u3400-\u9fff]")

_ARTICLE_TYPES = (
    r"(?:(?:open access|free|full|invited|regular|special issue|mini|short|brief|rapid)\s+)*"
    r"(?:(?:original|research|review|systematic|clinical|scientific|technical|case|brief|short|"
    r"rapid|"
    r"data|methods?|meta|cohort|primary|empirical|study|taxonomic|feature|software)[\s-]+)*"
    r"(?:articles?|papers?|reviews?|reports?|research|communications?|letters?|notes?|studies|"
    r"study|"
    r"protocols?|editorial|commentary|perspectives?|correspondence|access|analysis|investigations?|"
    r"contributions?|opinion|viewpoint|survey|tutorial|news|abstract)"
    r"(?:\s+(?:article|paper|open access|protocol))?"
)
ARTICLE_TYPE = re.compile(
    rf"\W*(?:{_ARTICLE_TYPES}|artigos?(?: originais| original)?|articles? (?:originaux|original)|"
    r"оригинальная статья|研究论文|综述|论文|研究报告|论\s*著|学术论文)\W*",
    re.IGNORECASE,
)
"""What a journal prints above a title to say what kind of paper it is."""

ARTICLE_TYPE_PREFIX = re.compile(
    r"(?:original (?:article|paper|research)|research (?:article|paper)|review(?: article)?|"
    r"case report|short communication)\s*[:.—–|]\s*",
    re.IGNORECASE,
)
TITLE_PREFIX = re.compile(
    r"(?:(?:full |running |thesis |paper )?title|titre|título|тема(?: работы)?|на тему|"
    r"(?:论文|设计|中文|课题|项目|毕业(?:论文|设计))?\s*(?:题\s*目|名\s*称|标题))\s*[:：]\s*",
    re.IGNORECASE,
)
"""What stands before the title of a form or a thesis cover."""

DOCUMENT_TYPE = re.compile(
    r"\W*(?:(?:a |the |an )?(?:doctoral|doctor(?:ate)?|ph\.?\s?d\.?|master['’]?s?|"
    r"bachelor['’]?s?|diploma|"
    r"honou?rs|final|graduation|technical|annual|progress|project|term|course|lab(?:oratory)?|"
    r"undergraduate|graduate|senior|working|white|discussion|conference|supplementary|"
    r"supplemental|online)\s+)+"
    r"(?:thesis|dissertation|project|report|paper|work|essay|material|appendix|information)\b.*"
    r"|\W*(?:thesis|dissertation|habilitation|thèse|mémoire|dissertação|tese|trabalho de conclusão|"
    r"monografia|tesis|diplomarbeit|masterarbeit|bachelorarbeit|доклад|отчет|отчёт|реферат|"
    r"курсовая|дипломная|выпускная|магистерская|диссертация|автореферат)\b.*"
    r"|.*(?:毕业|学位|硕士|博士|学士|本科|课程|期末)[^，。]{0,8}(?:论文|设计|报告|作业)\W*",
    re.IGNORECASE,
)
"""Lines of a cover that name the kind of work, not the work."""

SERIAL = re.compile(
    r"\b(?:running head:?|j?ournal (?:of|for|on)|j\.? of|proceedings|transactions (?:on|of)|"
    r"annals of|bulletin of|"
    r"lecture notes|conference on|workshop on|symposium on|vol(?:ume|\.)\s*\d|"
    r"issn|isbn|arxiv|doi|preprint|accepted (?:for|by|in)|submitted to|published (?:as|by|in|"
    r"online)|"
    r"under review|(?:author|accepted|submitted|draft) manuscript|manuscript (?:submitted|accepted|"
    r"number|no\b|id\b|draft|version)|technical report no|copyright|all rights reserved|"
    r"creative commons|"
    r"et al\.?,|actes de|conférence|revista|вестник|ежегодн\w+|issue \d|https?:|www\.|@)"
    r"|©|学报|期刊|第\s*\S+\s*[卷期]|收稿日期|基金项目|文章编号|中图分类号",
    re.IGNORECASE,
)
"""Words of a journal's head, a licence or an address: never in a title of its own."""

INSTITUTION = re.compile(
    r"\b(?:universit\w*|univ\b|institut\w*|departa?e?ment\w*|dept\b|facult\w*|college|school of|"
    r"laborator\w*|labs?\b|hospital|centre|center|academy|ministry|ministère|ministério|"
    r"division of|"
    r"polytechni\w*|hochschule|corporation|company|gmbh|inc\b|ltd|foundation|cnrs|inria|école|"
    r"escola|clinic\w*|association|society|council|research (?:group|unit|institute)|"
    r"министерство|университет\w*|институт\w*|факультет\w*|кафедр\w*|академи\w*|федеральн\w*|"
    r"государственн\w*)\b|大学|学院|研究所|研究院|实验室|医院|中心|公司|（.*省.*）|系[，,\s）)]",
    re.IGNORECASE,
)
EMAIL = re.compile(
    r"[\w.+}-]+\s?@\s?[\w-]+(?:\.[\w-]+)+|\be-?mails?\b|电子邮[件箱]|邮箱", re.IGNORECASE
)

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|janvier|février|mars|avril|mai|juin|juillet|août|"
    r"septembre|octobre|novembre|décembre|janeiro|fevereiro|março|abril|maio|junho|julho|agosto|"
    r"setembro|outubro|novembro|dezembro)"
)
DATE = re.compile(
    rf"\b{_MONTH}\.?\s+(?:\d{{1,2}}(?:st|nd|rd|th)?,?\s+)?(?:19|20)\d\d\b"
    rf"|\b\d{{1,2}}\.?\s+{_MONTH}\.?,?\s+(?:19|20)\d\d\b"
    r"|\b(?:19|20)\d\d-\d\d-\d\d\b|(?:19|20)\d\d\s*年",
    re.IGNORECASE,
)
RECEIVED = re.compile(
    r"\b(?:received|accepted|revised|published|available|submitted|communicated|edited|reviewed|"
    r"dated|recibido|reçu|accepté|recebido|aceito|поступила|academic editor|handling editor|"
    r"associate editor|editor)\b.{0,12}[:\d]|收稿|修回|录用|网络出版",
    re.IGNORECASE,
)
CORRESPONDENCE = re.compile(
    r"\W*\d*\s*(?:for )?(?:correspond(?:ing|ence)|author for correspondence|address (?:for "
    r")?correspond|"
    r"present address|current address|these authors|equal(?:ly)? contribut|contributed equally|"
    r"both authors|orcid|e-?mails?\b|tel\b|fax\b|phone|通[讯信]作者|作者简介|通信地址)",
    re.IGNORECASE,
)
NOTICE = re.compile(
    r"copyright|©|\(c\)\s*(?:19|20)\d\d|�\s?the author|creative commons|open[- ]access article|"
    r"licen[cs]e|all rights reserved|permission|this (?:is an|article is an?) open|"
    r"to cite|how to cite|citation:|cite this|prepublication|supplementary|peer.review|"
    r"conflicts? of interest|competing interests?|funding\b|disclosure|submitted (?:to|for)",
    re.IGNORECASE,
)

KEYWORDS = re.compile(
    r"\W*(?:(?:additional |author )?key\s?-?\s?words?(?: and phrases| & phrases)?|index terms|"
    r"general terms|categories and subject|ccs concepts|subject (?:class|head|terms)|"
    r"(?:19|20)?\d\d\d\d (?:ams )?(?:mathematics )?subject|msc\b|jel\b|pacs\b|ams subject|"
    r"abbreviations?|mots[- ]clés|palavras[- ]chave|palabras[- ]clave|parole chiave|"
    r"schlüsselwörter|schlagw[oö]rte?r?|ключевые слова|关\s*键\s*[词字]|關鍵[詞字]|主题词|"
    r"キーワード|中图分类号|分类号|how to cite|citation|topics?\b)",
    re.IGNORECASE,
)
ABSTRACT_HEAD = re.compile(
    r"(?i:(?:\d+\.?\s+)?(?:a\s?b\s?s\s?t\s?r\s?a\s?c\s?t|abstracts|executive summary|"
    r"r[ée]sum[ée]|resumo|resumen|zusammenfassung|kurzfassung|riassunto|sommario|"
    r"аннотация|реферат|резюме|[摘提]\s*要|(?:中文|英文)摘\s*要|内容提要|要\s*旨|概要))"
    # A word of a sentence goes on in small letters; a heading ends or its text begins.
    r"(?=\s*$|\s*[:：.。|•*—–-]|\s+[A-ZÀ-ÞА-Я\d“(]|[\s]*[\u3400-\u9fff【\]])",
)
SUMMARY_HEAD = re.compile(r"(?i:summary)\s*$|(?i:summary)\s*[:.—–]")
"""Some journals (and others' conclusions) say so."""

ABSTRACT_LABEL = re.compile(
    r"((?:background|context|introduction|objectives?|aims?|purpose|importance|rationale|methods?|"
    r"materials?(?: and | & )methods?|patients(?: and | & )methods|methods and \w+|design|study "
    r"design|"
    r"setting|participants|interventions?|main outcomes?(?: \w+)*|measurements?|results?|findings|"
    r"discussion|conclusions?(?: and \w+)?|interpretation|significance|limitations|trial "
    r"registration"
    r"(?: number)?|ethics(?: and dissemination)?|registration|methods?/design|funding|"
    r"methodology(?:/\w+)?|目的|方法|结果|结论)(?: and \w+)?)\s*(?:[:：.—–]|$|(?=\s(?-i:[A-Z])))|"
    r"[\[【]\s*(目的|方法|结果|结论)\s*[\]】]",
    re.IGNORECASE,
)
"""The first word of a part of a structured abstract."""

FIRST_SECTION = re.compile(
    r"(?:(?:\d+|I|一|第一章|第1章)[.、:：]?\s*|chapter (?:1|one)\W*)?"
    r"(?:introduction|background|motivation|introdução|introducción|einleitung|einführung|"
    r"введение|引\s*言|绪\s*论|前\s*言|导\s*[言论]|问题(?:重述|提出|背景)|はじめに|"
    r"contents|table of contents|table des matières|目\s*录|содержание|оглавление|sumário)\W*",
    re.IGNORECASE,
)
REFERENCES_HEAD = re.compile(
    r"\W*(?:(?:\d+(?:\.\d+)*|[IVXA-H]+|第?[一二三四五六七八九十]+章?)[.、:：)]?\s*)?"
    r"(?:(?:list of |cited |selected |key |additional |further |main |primary |general )?"
    r"(?:references?|bibliograph(?:y|ies)|literature|works|sources)(?:\s+cited|\s+and notes|"
    r"\s+list|\s*(?:and|&) (?:further )?(?:notes|reading|bibliography)|\s+consulted)?|"
    r"literatur(?:verzeichnis|angaben|hinweise)?|quellen(?:verzeichnis|angaben)?|referenzen|"
    r"(?:liste (?:des|de) )?(?:références?)(?: bibliographiques?| citées)?|bibliographie|"
    r"refer[êe]ncias?(?: bibliogr[áa]ficas)?|bibliograf[íi]a|literatura(?: citada)?|riferimenti"
    r"(?: bibliografici)?|referenser|källor|kaynakça|kaynaklar|viitteet|"
    r"(?:список (?:использованн(?:ой|ых) |цитируемой |использованной )?"
    r"(?:литератур[ыа]|источников)(?: и источников)?)|литература|библиографи(?:я|ческий список)|"
    r"(?:主要|引用)?\s*参\s*考\s*(?:文\s*献|资料|书目)|文献引用|引用文献|參考文獻|"
    r"参考文献リスト)\W*",
    re.IGNORECASE,
)


def folded(text: str) -> str:
    """Return the letters and digits of `text` in lower case: what two printings share."""
    return "".join(WORD.findall(text.lower()))


def word_count(text: str) -> float:
    """Return the number of words; two ideographs count as one."""
    words = WORD.findall(text)
    ideographs = len(CJK.findall(text))
    return len(words) - ideographs + ideographs / 2


# Names of authors in the lines below a title.

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
    r"[\d*∗†‡§¶⋆★☆✉◦○∘⊕#✝⁎⁑‖∥|®©\u200b-\u200f\u2070-\u2079¹²³✩⇑⊥♯]+|\(\s*,*\s*\)|\[\s*\]|\{|\}"
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
    r"thesis|advisor|supervisor|supervised|member|prof|project|team|draft|version|the|of|for|"
    # Initials are capitals: Gruia AT.
    r"with|from|(?-i:[Ii]n|[Oo]n|[Tt]o|[Aa]t)|jury|problem|course|data|system|systems|analysis|model|correspondence|"
    r"software|repository|archive|license|submitted|published|summary|table|figure|"
    # Hong, San, Tu, West are names of people too.
    r"san (?:francisco|diego|jos[eé]|antonio|juan|sebasti[aá]n)|new(?=\s)|los(?=\s)|hong kong|"
    r"(?:south|north|west|east)(?=\s)|note|first author|second author|way|piazza|via|rue|plaza|"
    r"politecnico|polytech|(?-i:TU|WA|NY|TX|PA)|vol|part|chapter|working|running|supported|grant|"
    r"grants)\b",
    re.IGNORECASE,
)
# Two names with nothing but a blank between: Ruifang Ge Raymond J. Mooney.
_RUN_TOGETHER = re.compile(
    rf"({_NAME_WORD}\s{_NAME_WORD})\s({_NAME_WORD}\s{_CAPITAL}\.\s{_NAME_WORD})"
)
# Kate Cwynarski, for the International Extranodal Lymphoma Study Group
_ON_BEHALF = re.compile(r",?\s+(?:and )?(?:for|on behalf of)\s+the\s.*$", re.IGNORECASE)
# An entry of a list of references, on a page on which the paper before ends.
REFERENCE_ENTRY = re.compile(r"^\s*\[?\d{1,3}[.\]]\s+[\w’'-]+.{0,3} [A-Z]{1,3}[,.]")
_AND_OTHERS = re.compile(r"\bet al\b")
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
    for number, line in enumerate(lines):
        if _OTHER_PEOPLE.search(line.text):
            break
        if _is_mark(line, groups):
            continue
        if REFERENCE_ENTRY.search(line.text) or _AND_OTHERS.search(line.text):
            continue
        if not is_name_line(_bare(line)) and not (
            groups and lines[number - 1] is groups[-1][-1] and _ends_name(lines[number - 1], line)
        ):
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


def _ends_name(before: Line, line: Line) -> bool:
    """Tell whether a line is the rest of the last name of the line before: Shagufta / Perveen."""
    pieces, following = _pieces(_bare(before)), _pieces(_bare(line))
    return bool(
        abs(before.size - line.size) <= 1.0
        and len(following) == 1
        and not _is_name(pieces[-1])
        and _is_name(f"{pieces[-1]} {following[0]}")
    )


def is_name_line(text: str) -> bool:
    """Tell whether a line holds hardly anything but names of people."""
    text = _ON_BEHALF.sub("", text)
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
    text = _ON_BEHALF.sub("", _PREFIX.sub("", text))
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
            two = _RUN_TOGETHER.fullmatch(" ".join(piece.split()))
            pieces += two.groups() if two else [" ".join(piece.split())]
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


# What a PDF calls itself: the most title-like run of lines, weighed with its metadata.

_MIN_LETTERS, _MAX_CHARACTERS = 4, 350
_FILE_NAME = re.compile(
    r"\.(docx?|rtf|tex|dvi|pdf|ps|indd|qxd|pptx?|odt|fm|wpd)\b"
    r"|^(microsoft |untitled|slide )|\d\.\.\d",
    re.IGNORECASE,
)
_LETTER = re.compile(r"[^\W\d_]")
_FOOTNOTE_MARKS = re.compile(r"(?:[\s*∗†‡§¶⋆★☆✩#]+|(?<=[a-zà-ÿ]{4})1)$")
_NAME_MARKS = re.compile(r"[^\W\d_]{2,}(?:[1-9]\d?(?:,\s?\d+)*[*∗†]?|[*∗†‡§])(?=[\s,;&.]\W*\w|,)")
_QUOTED = re.compile(r"[«“\"《]([^«»“”\"《》]+)[»”\"》]")
_NUMBERED = re.compile(r"\d+(?:\.\d+)*\.?\s+\S|[IVX]+\.\s")
# Small capitals and hinting: lines of one title differ by less, a title and its authors by more.
_SAME_SIZE_POINTS = 0.35
# Covers set titles with up to two lines' space; authors stand further off or are smaller.
_MAX_LEADING = 1.3
# Titles of theses may stand on the third page, behind a cover and an empty page.
_TITLE_PAGES = 3
# A run scores 1 for each doubling of the text's size; the other weights are set against that on
# 64 papers with known titles. Below the least score a document calls itself nothing.
# The cells of the header of a table share their line with others.
_MIN_CELLS_BESIDE = 2
_LEAST_SCORE = -0.6
# Above this no later page can win: half as large again as the text.
_PLAIN_SCORE = 0.6
# Title pages have fewer lines; below them stands text.
_MAX_LINES = 90
_METADATA_WEIGHT, _HEAD_WEIGHT, _PREFIX_WEIGHT = 2.0, 1.0, 2.0
_BOLD_WEIGHT, _CAPITALS_WEIGHT, _LATER_PAGE_WEIGHT = 0.35, 0.15, -0.8
_SHORT_WEIGHT, _LONG_WEIGHT, _LOW_WEIGHT, _NAMES_WEIGHT = -0.8, -1.5, -0.8, -2.0
_INSTITUTION_WEIGHT, _AFTER_ABSTRACT_WEIGHT, _NUMBERED_WEIGHT = -1.5, -3.0, -1.0
_ENOUGH_WORDS, _TOO_MANY_WORDS = 3, 40
_TOO_FEW_WITH_DATE = 9
_NAME_LIKE_WEIGHT = -0.6
# In so few characters the commonest size is not that of the text.
_SHORT_CHARACTERS = 300
# Text is no title unless it stands out by something.
_PLAIN_WEIGHT = -1.0
_PLAIN_SIZE_RATIO, _CENTRED_POINTS, _SET_IN_SHARE = 1.05, 20.0, 0.18
# Of two alike the first is the title, the second the authors or a subtitle.
_ORDER_WEIGHT, _MAX_ORDER = -0.06, 8
# "Department of Computer Science, University of Trento" has one for four words.
_WORDS_AN_INSTITUTION = 6
# A stated title shorter than this may be printed by chance.
_MIN_STATED_LETTERS = 12
# Titles stand in the upper part of the first page.
_TITLE_REGION_SHARE = 0.7


@dataclass(frozen=True, slots=True)
class Title:
    """A title with the lines that print it (none where only the metadata state it)."""

    text: str
    lines: tuple[Line, ...] = ()


@dataclass(slots=True)
class _Run:
    """Lines that follow each other closely in one size and weight."""

    lines: list[Line]
    text: str
    page: int
    order: int
    follows_abstract: bool
    prefixed: bool = False


def find_title(
    metadata_title: str, pages: Sequence[Page], running_heads: Sequence[str] = ()
) -> Title | None:
    """Return the title of a document, None where neither metadata nor print shows one.

    The printed run wins over the metadata, which often hold a file's or a template's name; where
    both say the same, the metadata's spelling is taken (print may be all in capitals).

    Args:
        metadata_title: of the document information.
        pages: of the document, from the first, heads and feet removed.
        running_heads: the removed heads and feet, which often repeat the title.
    """
    # Some publishers write entities (`&#x2010;`) into the document information.
    stated = clean_line(html.unescape(metadata_title))
    stated = stated if _is_sensible(stated) and not SERIAL.search(stated) else ""
    printed = _find_printed(stated, pages[0]) if stated else None
    if printed is not None:
        return printed
    body = _body_size(pages)
    heads = [folded(head) for head in running_heads if word_count(head) > _ENOUGH_WORDS]
    best, score = None, _LEAST_SCORE
    for page in pages[:_TITLE_PAGES]:
        for run in _runs(page):
            value = _score(run, page, body, folded(stated), heads)
            if value is not None and value > score and not _is_row(run, page):
                best, score = run, value
        if score > _PLAIN_SCORE:
            break
    if best is None:
        has_text = any(page.blocks for page in pages)
        return Title(stated) if stated and not has_text else None
    return Title(best.text, tuple(best.lines))


def _find_printed(stated: str, page: Page) -> Title | None:
    """Return the lines of the first page that spell the stated title, whatever their size."""
    claimed = folded(stated)
    if len(claimed) < _MIN_STATED_LETTERS:
        return None
    lines = [line for block in page.blocks for line in block if line.upright]
    letters = [folded(line.text) for line in lines]
    for first in range(len(lines)):
        found = ""
        for last in range(first, len(lines)):
            found += letters[last]
            if found == claimed:
                return Title(stated, tuple(lines[first : last + 1]))
            if not claimed.startswith(found):
                break
    return None


def _is_sensible(title: str) -> bool:
    return (
        len(title) <= _MAX_CHARACTERS
        and len(_LETTER.findall(title)) >= _MIN_LETTERS
        and not _FILE_NAME.search(title)
    )


def _body_size(pages: Sequence[Page]) -> float:
    sizes: Counter[float] = Counter()
    for page in pages[:10]:
        for block in page.blocks:
            for line in block:
                sizes[round(line.size * 2) / 2] += len(line.text)
    if not sizes:
        return 1.0
    if sizes.total() < _SHORT_CHARACTERS:
        # A title may be longer than all the text below it.
        return max(min(sizes), 1.0)
    return max(sizes.most_common(1)[0][0], 1.0) if sizes else 1.0


def _runs(page: Page) -> list[_Run]:
    runs: list[_Run] = []
    follows_abstract = False
    before: Line | None = None
    for block in page.blocks:
        for line in block:
            if not line.upright:
                continue
            if follows_abstract or len(runs) > _MAX_LINES:
                break
            if before is not None and _goes_on(before, line) and runs[-1].lines[-1] is before:
                runs[-1].lines.append(line)
            elif not ARTICLE_TYPE.fullmatch(line.text) and not DOCUMENT_TYPE.fullmatch(line.text):
                # Below a caption is its table, whose header may be set as boldly as a title.
                is_head = (
                    CAPTION_START.match(line.text)
                    or ABSTRACT_HEAD.match(line.text)
                    or FIRST_SECTION.fullmatch(line.text)
                    or REFERENCES_HEAD.fullmatch(line.text)
                )
                follows_abstract = follows_abstract or is_head is not None
                runs.append(_Run([line], "", page.number - 1, len(runs), follows_abstract))
            else:
                continue
            before = line
    for run in runs:
        run.text, run.prefixed = _title_text(run.lines)
    return runs


def _goes_on(before: Line, line: Line) -> bool:
    if abs(before.size - line.size) > _SAME_SIZE_POINTS and not (
        before.font == line.font and _is_small_capitals(before) and _is_small_capitals(line)
    ):
        return False
    if before.bold != line.bold or TITLE_PREFIX.match(line.text) or _is_no_title(line.text):
        return False
    gap = line.box[1] - before.box[3]
    size = max(before.size, line.size)
    if before.shares_row(line):
        return 0 <= line.box[0] - before.box[2] <= 2 * size
    overlap = min(before.box[2], line.box[2]) - max(before.box[0], line.box[0])
    return -size <= gap <= _MAX_LEADING * size and overlap > 0 and line.box[1] > before.box[1]


def _is_no_title(text: str) -> bool:
    return bool(
        SERIAL.search(text)
        or EMAIL.search(text)
        or CORRESPONDENCE.match(text)
        or _NAME_MARKS.search(text)
        or ABSTRACT_HEAD.match(text)
    )


def _is_plain(run: _Run, page: Page, body: float) -> bool:
    """Tell whether nothing sets a run off from the text: no size, weight, capitals or centring."""
    first = run.lines[0]
    if first.bold or run.text.isupper() or first.size > _PLAIN_SIZE_RATIO * body:
        return False
    middles = [(line.box[0] + line.box[2]) / 2 for line in run.lines]
    is_centred = all(abs(middle - page.width / 2) < _CENTRED_POINTS for middle in middles)
    is_set_in = first.box[0] > _SET_IN_SHARE * page.width
    return not (is_centred and is_set_in)


def _is_row(run: _Run, page: Page) -> bool:
    """Tell whether a run is one of several cells on its line: a part of a table's header."""
    own = {id(line) for line in run.lines}
    others = [line for block in page.blocks for line in block if id(line) not in own]
    beside = sum(line.upright and run.lines[0].shares_row(line) for line in others)
    return beside >= _MIN_CELLS_BESIDE


def _names_institution(text: str, words: float) -> bool:
    """Tell whether an institution makes a good part of `text`; titles may speak of hospitals."""
    return len(INSTITUTION.findall(text)) * _WORDS_AN_INSTITUTION >= words


def _is_small_capitals(line: Line) -> bool:
    return line.text.isupper()


def _title_text(lines: Sequence[Line]) -> tuple[str, bool]:
    text = lines[0].text
    for line in lines[1:]:
        kept, separator = join_texts(text, line.text)
        # A division of a title is as a rule a real hyphen: lines are short and few.
        is_settled = text.endswith((DIVISION, REAL_HYPHEN))
        is_kept = len(kept) < len(text) and not is_settled
        text = text + line.text if is_kept else kept + separator + line.text
    text = close_line(text)
    prefix = TITLE_PREFIX.match(text)
    if prefix:
        text = text[prefix.end() :]
    label = ARTICLE_TYPE_PREFIX.match(text)
    if label:
        text = text[label.end() :]
    text = _FOOTNOTE_MARKS.sub("", text.strip())
    quoted = _QUOTED.fullmatch(text)
    return (quoted[1] if quoted else text), prefix is not None


def _score(run: _Run, page: Page, body: float, stated: str, heads: Sequence[str]) -> float | None:
    """Return how much a run looks like the title, None where it can't be."""
    text = run.text
    letters = folded(text)
    if not _is_sensible(text) or (SERIAL.search(text) and letters != stated):
        return None
    words = word_count(text)
    if EMAIL.search(text) or FIRST_SECTION.fullmatch(text):
        return None
    if DATE.search(text) and words < _TOO_FEW_WITH_DATE:
        return None
    first = run.lines[0]
    score = log2(first.size / body)
    score += _BOLD_WEIGHT if first.bold else 0.0
    score += _PLAIN_WEIGHT if _is_plain(run, page, body) else 0.0
    score += _CAPITALS_WEIGHT if text.isupper() else 0.0
    score += _PREFIX_WEIGHT if run.prefixed else 0.0
    score += _LATER_PAGE_WEIGHT * run.page
    score += _SHORT_WEIGHT * max(0.0, _ENOUGH_WORDS - words)
    score += _LONG_WEIGHT if words > _TOO_MANY_WORDS else 0.0
    score += _LOW_WEIGHT if first.box[1] > _TITLE_REGION_SHARE * page.height else 0.0
    score += _NAMES_WEIGHT if _NAME_MARKS.search(text) else 0.0
    score += _NAME_LIKE_WEIGHT if is_name_line(text) else 0.0
    score += _ORDER_WEIGHT * min(run.order, _MAX_ORDER)
    score += _AFTER_ABSTRACT_WEIGHT if run.follows_abstract else 0.0
    score += _NUMBERED_WEIGHT if _NUMBERED.match(text) else 0.0
    score += _INSTITUTION_WEIGHT if _names_institution(text, words) else 0.0
    if len(letters) >= _MIN_LETTERS and stated:
        is_part = letters in stated or stated in letters
        score += _METADATA_WEIGHT * min(1.0, len(letters) / len(stated)) if is_part else 0.0
    if words > _ENOUGH_WORDS and any(letters in head or head in letters for head in heads):
        score += _HEAD_WEIGHT
    return score
