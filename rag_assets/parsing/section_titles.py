"""What a section is about, as its title says it.

The words are those of spec 002 §2.1 with their kin in Chinese and six more languages. Where a
title names several things, these rules decide, in this order:

1. End matter (references, appendix, funding …) is Other: it is no text of the paper proper.
2. "Related work" wins over "background" (the section tells of others' papers), but not over
   "introduction" (which holds the paper's own claims and is what a prompt gets as background).
3. An "experimental section", "procedure" or "part" is a Method, as chemists use the word;
   "experiments" and "experimental setup" are Evaluation.
4. Of parts joined by "and", "of", "for", a colon … the first that names something counts:
   "Results and discussion" holds the data, so it is Evaluation; "Discussion of results" is
   Conclusion; "Materials and methods" is Method.
5. Inside a part the last word counts, since it is the noun: "Model evaluation" is Evaluation,
   "Experimental methods" is Method, 模型评价 is Evaluation.

Weaker words (data, algorithm, participants, performance …) say something only where no section
around says more: "Datasets" under "Experiments" stays Evaluation.
"""

import re

from rag_assets.model import SectionCategory, SectionSubtype

_A, _I, _M = SectionCategory.ABSTRACT, SectionCategory.INTRODUCTION, SectionCategory.METHOD
_E, _C, _O = SectionCategory.EVALUATION, SectionCategory.CONCLUSION, SectionCategory.OTHER
_R = SectionCategory.RELATED_WORK

_Words = tuple[tuple[SectionCategory, re.Pattern[str]], ...]


def _words(*rows: tuple[SectionCategory, str]) -> _Words:
    return tuple((category, re.compile(words, re.IGNORECASE)) for category, words in rows)


_NUMBER = re.compile(
    r"^\W*(?:(?:chapter|section|part|kapitel|chapitre|cap[íi]tulo|capitolo|глава|раздел)\s+)?"
    r"(?:(?:\d+(?:\.\d+)*|[ivxlc]+(?=[.:)\s])|[a-z](?=[.)]))[.:)]?\s+|\d+(?:\.\d+)*[.、]?\s*|"
    r"第?\s*[一二三四五六七八九十百\d]+\s*[章节部分、.．]+\s*|"
    r"[（(][一二三四五六七八九十\d]+[)）]\s*)?",
    re.IGNORECASE,
)
# Whole titles only: "abstract interpretation" is a method.
_ABSTRACT = re.compile(
    r"\W*(?:(?:graphical|structured|extended|visual|english|chinese|video) )?abstracts?\W*|"
    r"(?:executive|lay|plain[- ]language) summary\W*|(?:中文|英文|内容)?[摘提]\s*要\W*|"
    r"r[ée]sum[ée](?: en .*)?\W*|zusammenfassung|kurzfassung|resumen|resumo|riassunto|sommario|"
    r"аннотация|реферат",
    re.IGNORECASE,
)
_SUMMARY = re.compile(r"\W*summary\W*", re.IGNORECASE)
_RELATED_WORK = re.compile(
    r"\b(?:related (?:works?|stud(?:y|ies)|research|literature|approaches)|(?:prior|previous|"
    r"earlier|"
    r"existing) (?:works?|stud(?:y|ies)|research|literature)|literature (?:review|survey)|"
    r"review of (?:the )?(?:related )?literature|state[- ]of[- ]the[- ]art|"
    r"travaux (?:connexes|ant[ée]rieurs|similaires)|[ée]tat de l['’]art|"
    r"verwandte arbeiten|stand der (?:technik|forschung)|trabajos (?:relacionados|previos)|"
    r"estado del arte|trabalhos (?:relacionados|correlatos)|revis[ãa]o (?:da literatura|"
    r"bibliogr[áa]fica)|"
    r"estado da arte|lavori correlati|stato dell['’]arte)\b|обзор литературы|обзор существующих|"
    r"相关(?:工作|研究|文献)|文献综述|研究现状|研究综述|国内外(?:研究)?现状|関連研究",
    re.IGNORECASE,
)
_INTRODUCTION_FIRST = re.compile(r"\W*(?:introduction|引\s*言|绪\s*论|前\s*言)", re.IGNORECASE)
_EXPERIMENTAL_METHOD = re.compile(
    r"\W*(?:experimental|experimental (?:sections?|parts?|procedures?|details?|materials?|"
    r"techniques?|protocols?|design)|partie exp[ée]rimentale|parte sperimentale|parte experimental|"
    r"experimentelles?(?: teil)?|экспериментальная часть|实验部分)\W*|"
    r"\bexperimental (?:sections?|procedures?|protocols?|techniques?)\b",
    re.IGNORECASE,
)
_STRONG = _words(
    (
        _I,
        (
            r"\b(?:introduction|introductory|backgrounds?|motivations?|introdução|introducci[óo]n|"
            r"einleitung|einf[üu]hrung|hintergrund|introduzione|inleiding)\b|введение|предпосылки|"
            r"引\s*言|绪\s*论|前\s*言|导\s*[言论]|背景|动机|问题(?:重述|的?提出)|はじめに"
        ),
    ),
    (
        _M,
        (
            r"\b(?:methods?|methodolog(?:y|ies|ical)|approach(?:es)?|models?|architectures?|"
            r"frameworks?|m[ée]thodes?|m[ée]thodologie|approche|mod[èe]les?|methoden?|methodik|"
            r"ansatz|"
            r"modelle?|m[ée]todos?|metodolog[íi]a|modelos?|arquitectura|arquitetura|metodi|"
            r"metodologia|"
            r"modell[io])\b|метод\w*|модел\w*|архитектур\w*|подход\w*|方法|模型|框架|架构"
        ),
    ),
    (
        _E,
        (
            r"\b(?:experiments?|experimental|experimentation|results?|evaluations?|ablations?|"
            r"comparisons?|findings|r[ée]sultats?|exp[ée]riences?|exp[ée]rimentations?|"
            r"[ée]valuation|"
            r"ergebnisse?|experimente?|auswertung|vergleich|resultados?|experimentos?|"
            r"evaluaci[óo]n|"
            r"avalia[çc][ãa]o|risultati|esperimenti|valutazione|benchmarks?)\b|"
            r"результат\w*|эксперимент\w*|сравнени\w*|实验|试验|结果|评估|评价|评测|消融|对比|"
            r"比较|测试|"
            r"灵敏度分析|結果"
        ),
    ),
    (
        _C,
        (
            r"\b(?:conclusions?|concluding|discussions?|summary|limitations?|outlook|"
            r"future (?:works?|directions?|research|plans?)|implications|perspectives|"
            r"threats to validity|fazit|schlussfolgerungen?|schluss|diskussion|ausblick|"
            r"conclusi[óo]n(?:es)?|discusi[óo]n|conclus(?:[ãa]o|[õo]es)|discuss[ãa]o|"
            r"considera[çc][õo]es finais|conclusioni?|discussione)\b|заключени\w*|вывод\w*|"
            r"обсуждени\w*|"
            r"结\s*论|总\s*结|讨\s*论|结\s*语|展\s*望|小\s*结|結論|まとめ|考察"
        ),
    ),
)
_WEAK = _words(
    (
        _I,
        (
            r"\b(?:overview|statement of need|contributions?|organi[sz]ation of|objectives?|aims?|"
            r"research questions?|significance|purpose|scope)\b|цел[ьи]|актуальность|概述|概况|"
            r"研究(?:目的|意义|内容)|问题分析"
        ),
    ),
    (
        _M,
        (
            r"\b(?:materials?|algorithms?|datas?ets?|data|participants?|subjects|patients|"
            r"procedures?|"
            r"design|implementation|preliminar(?:y|ies)|notations?|problem (?:statement|"
            r"formulation|"
            r"definition|setting)|theory|theoretical|formulation|systems?|statistical analys[ei]s|"
            r"data analys[ei]s|sampl(?:e|es|ing)|set-?up|settings?|protocols?|measurements?|"
            r"instruments?|techniques?|assumptions?|derivation|proofs?|training|estimation|"
            r"algorithmes?|donn[ée]es|mise en œuvre|conception|daten|implementierung|entwurf|"
            r"algoritmos?|datos|dados|algoritmi|dati|materiais|materiales)\b|алгоритм\w*|данны\w*|"
            r"реализаци\w*|постановка задачи|算法|数据|材料|实现|设计|假设|符号说明|求解|推导|"
            r"理论|原理|系统"
        ),
    ),
    (
        _E,
        (
            r"\b(?:case stud(?:y|ies)|performance|simulations?|applications?|examples?|analys[ei]s|"
            r"observations?|validation|accuracy|statistics|outcomes?|baselines?|metrics|"
            r"applica(?:tion|zione)|simula[çc][ãa]o|simulaci[óo]n)\b|применени\w*|仿真|案例|"
            r"应用|性能|验证|分析"
        ),
    ),
)
# What joins the parts of a title; the words after it tell more of the part before.
_JOINT = re.compile(
    r"\s+(?:and|or|of|for|in|on|with|to|by|from|using|via|under|at|as|et|und|y|e|de|des|du|"
    r"della|delle|dei|do|da|dos|das|der|и|в|на|для|по)\s+|\s*[:：;,，、&/（(—–]\s*|\s-\s|"
    r"[与和及的之]"
)
_END_MATTER = re.compile(
    r"\W*(?:(?:authors?['’]?s?['’]?\s+)?contributions?(?: of authors?| statement)?|"
    r"(?:author|authorship) (?:contributions?|information|statement|details|note)s?(?: statement)?|"
    r"(?:data|code|software|materials?)(?:(?:,| and| &)? (?:data|code|software|materials?))*"
    r" (?:availability|accessibility|sharing)(?: statement)?|availability(?: of .*| and .*)?|"
    r"(?:potential |declaration of |disclosure of )?(?:conflicts?|conflicting|competing|financial) "
    r"(?:of )?(?:interests?|disclosures?)(?: statement| disclosure)?|declarations?(?: of .*)?|"
    r"disclosures?(?: statement)?|ethic(?:s|al)(?: (?:approval|statement|considerations?|"
    r"declarations?|committee.*|and .*|standards))?|(?:patient )?consent(?: (?:for|to) .*)?|"
    r"(?:list of )?abbreviations?(?: used)?|nomenclature|glossary|key\s?words?.*|index terms|"
    r"(?:table of )?contents|list of (?:figures|tables|algorithms|symbols|acronyms)|index|"
    r"orcid.*|publisher['’]s note|open access|copyright.*|licen[cs]e|additional information|"
    r"how to cite.*|cite this.*|trial registration.*|patient and public involvement|"
    r"about the authors?|biograph(?:y|ies)|footnotes?|notes|preface|foreword|dedication|"
    r"broader impacts?(?: statement)?|impact statement|reproducibility(?: statement)?|"
    r"关\s*键\s*[词字].*|目\s*录|作者简介|利益冲突.*|作者贡献.*|数据可用性.*|图目录|表目录|"
    r"table des mati[èe]res|mots[- ]cl[ée]s.*|inhaltsverzeichnis|[íi]ndice|sum[áa]rio|"
    r"содержание|оглавление|"
    r"ключевые слова.*)\W*",
    re.IGNORECASE,
)
_SUBTYPES: tuple[tuple[SectionSubtype, re.Pattern[str]], ...] = (
    (
        "references",
        re.compile(
            r"\W*(?:(?:list of |cited |selected |further |key |additional )?(?:references?|"
            r"bibliograph(?:y|ies)|works cited|literature cited|further reading)"
            r"(?: (?:and|&) (?:notes|further reading|bibliography)| cited| list)?|bibliographie|"
            r"(?:liste des )?r[ée]f[ée]rences(?: bibliographiques)?|literatur(?:verzeichnis)?|"
            r"quellen(?:verzeichnis)?|refer[êe]ncias(?: bibliogr[áa]ficas)?|bibliograf[íi]a|"
            r"riferimenti(?: bibliografici)?|список (?:использованн\w+ |цитируем\w+ )?"
            r"(?:литературы|источников)(?: и .*)?|литература|библиография|"
            r"(?:主要)?参\s*考\s*(?:文\s*献|资料|书目)|參考文獻|引用文献)\W*",
            re.IGNORECASE,
        ),
    ),
    (
        "appendix",
        re.compile(
            r"\b(?:appendix|appendices|annex(?:es|e)?|anhang|ap[êe]ndices?|anexos?|appendice|"
            r"(?:supplementary|supplemental|supporting|electronic supplementary|additional) "
            r"(?:information|materials?|data|files?|appendix|figures?|tables?|methods|text|"
            r"results)|"
            r"supplements?)\b|приложени[ея]|附\s*录|附\s*件|补充材料",
            re.IGNORECASE,
        ),
    ),
    (
        "acknowledgements",
        re.compile(
            r"\backnowledge?ments?\b|\W*(?:sources? of )?(?:fundings?|financial support|support)"
            r"(?: (?:information|statement|sources?|acknowledge?ments?))?\W*$|"
            r"\bremerciements?\b|\bdanksagung\b|\bagradecimientos?\b|\bagradecimentos?\b|"
            r"\bringraziamenti\b|благодарност\w*|致\s*谢|谢\s*辞|基金项目|謝辞",
            re.IGNORECASE,
        ),
    ),
)


# Set phrases that the joints below would cut.
_PHRASES = _words(
    (_C, r"\bthreats to validity\b|\bdirections for (?:future|further)\b|\blessons learned\b"),
    (_I, r"\bstatement of need\b|\bstatement of the problem\b"),
    (_M, r"\bdesign and implementation\b|\bmaterials? (?:and|&) methods?\b"),
)
_NAMED_THING = re.compile(r"([A-Z]\w*(?:-\w+)*[A-Z\d]?\w*)\s*[:：]\s")


def named_thing(document_title: str) -> str | None:
    """Return the name that a title like "Thing: how it works" announces, None without."""
    match = _NAMED_THING.match(document_title)
    return match[1] if match else None


def category_of_title(title: str) -> SectionCategory | None:
    """Return the category that a title names, None where it names none.

    Args:
        title: one line, numbering included.
    """
    bare = _NUMBER.sub("", title, count=1).strip() or title
    if _ABSTRACT.fullmatch(bare):
        return _A
    if subtype_of_title(title) is not None or _END_MATTER.fullmatch(bare):
        return _O
    if _RELATED_WORK.search(bare) and not _INTRODUCTION_FIRST.match(bare):
        return _R
    if _EXPERIMENTAL_METHOD.match(bare) and _is_experimental_method(bare):
        return _M
    phrase = next((category for category, words in _PHRASES if words.search(bare)), None)
    return _first_named(bare, _STRONG) if phrase is None else phrase


def weak_category_of_title(title: str) -> SectionCategory | None:
    """Return the category that a title hints at, for sections that no other says more of."""
    return _first_named(_NUMBER.sub("", title, count=1).strip() or title, _WEAK)


def is_summary(title: str) -> bool:
    """Tell whether a title is just "Summary": an abstract at the beginning, else a conclusion."""
    return _SUMMARY.fullmatch(_NUMBER.sub("", title, count=1)) is not None


def subtype_of_title(title: str) -> SectionSubtype | None:
    """Return what the title says of a part that is not body text, None for body text.

    Funding counts as acknowledgement, supplements as appendix. Contributions of authors, data
    availability and conflicts of interest have no subtype: people ask for them.
    """
    bare = _NUMBER.sub("", title, count=1).strip() or title
    for subtype, words in _SUBTYPES:
        if words.match(bare) if subtype == "references" else words.search(bare):
            if subtype == "references" and not words.fullmatch(bare):
                continue
            return subtype
    return None


def _is_experimental_method(title: str) -> bool:
    return _EXPERIMENTAL_METHOD.fullmatch(title) is not None or not title.lower().startswith(
        ("experimental setup", "experimental results")
    )


def _first_named(title: str, words: _Words) -> SectionCategory | None:
    """Return the category of the first part that names one, by the last word in that part."""
    for part in _JOINT.split(title):
        best, place = None, -1
        for category, pattern in words:
            for match in pattern.finditer(part):
                if match.end() > place:
                    best, place = category, match.end()
        if best is not None:
            return best
    return None
