"""Words and shapes of a first page: labels, institutions, dates, heads of the abstract."""

import re

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
    r"under review|manuscript|technical report no|copyright|all rights reserved|creative commons|"
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
