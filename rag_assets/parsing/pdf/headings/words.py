"""Words that tell a heading from a label: titles that sections have, beginnings that none has."""

import re
from functools import lru_cache


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
