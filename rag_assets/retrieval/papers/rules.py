"""Rules over a question's words: one paper or a topic, and the sections that may answer it.

Each is in a register, with a question on which it fires and one on which it does not;
`python -m benchmarks.rules_ledger --routes` counts what each is worth.
"""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from rag_assets.model import HAN, HAN_RANGES, SectionCategory, TextRule
from rag_assets.retrieval.papers.naming import find_names
from rag_assets.retrieval.papers.routing import Intent, Route

_PAPER: Intent = "SPECIFIC_PAPER"
_TOPIC: Intent = "TOPIC_SURVEY"
_NOUN = r"(?:papers?|articles?|publications?|studies|works?|literature|theses|reports?)"
_ONE = r"(?:paper|article|study|thesis|dissertation|report|trial|preprint|manuscript|experiment)"
_CHINESE_ONE = "(?:论文|文章|研究|文献|著作|专著|原文|报告|一文|一书)"


@dataclass(frozen=True, slots=True)
class IntentRule(TextRule):
    """A rule that decides the intent; the first of the register that fires is taken."""

    intent: Intent = _TOPIC


@dataclass(frozen=True, slots=True)
class SectionRule(TextRule):
    """A rule that names sections; the first of the register that fires is taken."""

    categories: tuple[SectionCategory, ...] = ()


def _finds(pattern: str, flags: int = re.IGNORECASE) -> Callable[[str], bool]:
    compiled = re.compile(pattern, flags)
    return lambda text: compiled.search(text) is not None


def _names(*kinds: str) -> Callable[[str], bool]:
    return lambda text: any(getattr(find_names(text), kind) for kind in kinds)


# Words that fit any paper. Completed with what questions of QASPER's annotators say, who have
# their paper before them.
_ANY_PAPERS_LIST = (
    "a additional all an and any approach approaches architecture architectures are as author "
    "authors automatic available baseline baselines be been best big by can compare compared "
    "conclude conclusion conclusions consist contribution contributions corpora corpus criteria "
    "data dataset datasets different do does embeddings evaluate evaluated evaluation evaluations "
    "experiment experiments find finding findings for found future had has have how human in "
    "individual is it labeled labels language languages large layers limitation limitations main "
    "many measure measured method methods metric metrics model models much multiple new of on "
    "other paper papers parallel performance performing present presented proposed publicly "
    "report reported reports result results sample say says size source state-of-the-art study "
    "system task techniques test tested the their there this threshold to train trained training "
    "two types use used vocabulary was were what which word work worst"
)
_ANY_PAPERS = frozenset(_ANY_PAPERS_LIST.split())
_ANY_PAPERS_CHINESE = re.compile(
    "(?:用|使用|采用|选用|的|了|什么|哪些|哪个|哪种|是|有|多少|多大|如何|怎样|怎么|数据集?|方法|模型|指标|基线|"
    "结果|实验|样本量?|样本|准确率|评价|主要|进行|来自|哪里|规模|在|上|吗|呢|请问|[，。？?!！ ])+"
)


_FRAME = re.compile(
    r"\b(?:in|of|by) (?:the|that) (?:paper|article|thesis|preprint|study)"
    r"(?: (?:about|on|that|which|in which|where)\b)?|\bconclude\b"
    "|[那这]篇(?:关于)?|的?(?:论文|文章)|得出",
    re.IGNORECASE,
)


def topic_of(question: str) -> str:
    """Return a question without the words that fit any paper; "" where nothing is left."""
    rest = _FRAME.sub(" ", question)
    if HAN.search(rest):
        return " ".join(_ANY_PAPERS_CHINESE.sub(" ", rest).split())
    words = (word for word in re.findall(r"[\w-]+", rest) if word.lower() not in _ANY_PAPERS)
    return " ".join(words)


def _has_no_topic(text: str) -> bool:
    return len(re.findall(r"\w", text)) > 3 and not topic_of(text)


INTENT_RULES = (
    IntentRule(
        "this-paper",
        ("en", "zh"),
        'the question says "this paper", "the authors", 本文, 作者',
        "Which sampling do the authors use?",
        "Which authors write about sampling?",
        _finds(
            rf"\b(?:this|that|the present|the cited|the given) {_ONE}\b"
            r"|\b(?:by|in) this (?:work|approach)\b"
            r"|\bthe(?:ir)? authors?\b|\b(?:do|did) authors\b|\bauthor['’]s\b"
            r"|\bthe (?:proposed|presented|introduced) \w+|\bproposed (?:approach|method|model)\b"
            rf"|\bthe {_ONE}\b(?! (?:of|on|about|in|between)\b)"
            "|本(?:文|论文|研究|篇)|[该此这](?:篇|项|一|份|个)?(?:论文|文章|文献|研究|文|模型|方法)"
            "|(?<![学])作者|文中|^(?:文章|论文)|所提(?:出的)?(?:方法|模型|算法)|^附录"
        ),
        _PAPER,
    ),
    IntentRule(
        "they",
        ("en", "zh"),
        'the question begins with people it does not name: "do they", 他们',
        "What baselines do they compare with?",
        "How do cells divide, and when do they stop?",
        _finds(
            r"^(?:[\w-]+\W+){0,5}?(?:do|does|did|are|were|have|had|can) they\b"
            r"|^(?:[\w-]+\W+){0,3}?their (?:[\w-]+ )?(?:model|approach|method|system|data|dataset|"
            r"corpus|result|experiment|work|sample|findings?)s?\b"
            r"|\b(?:does|do|is|of|in) their (?:[\w-]+ )?(?:model|approach|method|system|"
            r"tool|datasets?)\b"
            "|^(?:请问)?他们"
        ),
        _PAPER,
    ),
    IntentRule(
        "described-paper",
        ("en", "zh"),
        'one paper is described: "the paper about …", 那篇关于…的论文',
        "In the paper on owls in barns, what do they eat?",
        "Which papers on owls in barns are there?",
        _finds(
            r"\b(?:the|that) (?:paper|article|thesis|preprint) "
            r"(?:about|on|that|which|in which|where)\b"
            r"|\b(?:the|that) study (?:that|which|in which|where)\b"
            rf"|[那这]篇[^，。？?]{{2,}}?的?{_CHINESE_ONE}"
        ),
        _PAPER,
    ),
    IntentRule(
        "its-part",
        ("en",),
        'what is spoken of as known is part of one paper: "the dataset", "the baselines"',
        "How large is the corpus?",
        "How large is the corpus of spoken Danish?",
        _finds(
            r"\b(?:the|these) (?:[\w-]+ )?(?:data|datasets?|corpus|corpora|baselines?|annotators?|"
            r"annotations?|experiments?|models?|tasks?|participants|respondents|samples?|results?)"
            r"(?=\?|[^?]* (?:used|collected|annotated|trained|evaluated|recruited|chosen|consist|"
            r"compared?|reported|obtained|like|from)\b[^?]*\?$| (?:consist|compare|contain))"
        ),
        _PAPER,
    ),
    IntentRule(
        "asks-for-papers",
        ("en", "zh"),
        "papers are what is asked for, or whoever wrote them",
        "Which papers cite the Bigtable paper?",
        "Which result does the Bigtable paper report?",
        _finds(
            rf"\b(?:which|what|list|find|show|any|there|recommend)\b(?:\W+[\w-]+){{0,3}}?\W+{_NOUN}\b"
            rf"|^{_NOUN} (?:on|about)\b|^who (?:has|have)\b|^list\b|\boverview\b|\bsurvey of\b"
            rf"|哪些(?:论文|文献|研究|学者|文章)|[有做](?:没有|过?哪些)[^。？?]{{0,20}}?{_CHINESE_ONE}"
            "|列出|列举|^(?:有)?谁(?:研究)?过?|综述一下|研究(?:现状|进展|综述)|关于.{2,20}有哪些研究"
        ),
        _TOPIC,
    ),
    IntentRule(
        "identifier",
        ("en", "zh"),
        "a DOI, an arXiv number, a uid or a key stands in the question",
        "What is the sample size of 10.1000/xyz123?",
        "How many of 1,000 samples were lost?",
        _names("identifiers"),
        _PAPER,
    ),
    IntentRule(
        "title",
        ("en", "zh"),
        "a title stands in the question, quoted or capitalised",
        "《城市热岛研究》用了什么数据？",
        "城市热岛研究用什么数据？",
        _names("titles"),
        _PAPER,
    ),
    IntentRule(
        "named-paper",
        ("en", "zh"),
        'a paper is named by a word before or behind it: "the Bigtable paper", X 的论文',
        "What does the Bigtable paper say of tablets?",
        "What do papers say of tablets?",
        _finds(
            rf"\bthe (?i:[\w-]+ ){{0,2}}?[A-Z][\w.-]* (?:[\w.-]+ ){{0,2}}?{_ONE}\b"
            rf"|\b{_ONE} (?:by|from) [A-Z]|\b(?:the|that) {_ONE} (?:of|on) [A-Z]\w+ and [A-Z]"
            rf"|[A-Za-z0-9{HAN_RANGES}](?:\s*原|\s*[那这该]篇|\s?的(?:那篇|原)?)\s*(?:[^\s，。]{{0,12}})?(?:论文|文章)(?!有哪些)"
            rf"|[A-Za-z0-9]\s*(?:论文|文章|一文)|一文(?:的|中|里|用|测|是|怎)",
            0,
        ),
        _PAPER,
    ),
    IntentRule(
        "authors",
        ("en", "zh"),
        "a work is named by its authors, with or without the year",
        "What do Chen et al. (2021) conclude?",
        "What was concluded in 2021?",
        _names("works"),
        _PAPER,
    ),
    IntentRule(
        "several-things",
        ("en", "zh"),
        "things are compared with each other",
        "Is XLNet better than RoBERTa?",
        "Is XLNet hard to train?",
        _finds(
            r"^compar|\bcompare (?:on|in|with each)|\b[\w-]+ (?:and|or|vs\.?|versus) [\w-]+ .*"
            r"\b(?:compare|differ)"
            r"|\b(?:better|worse|faster) than\b|\bdifferences? between\b"
            r"|(?:对比如何|哪个更|相比|比.{1,12}[好强快高优]|之间的(?:区别|差异))"
        ),
        _TOPIC,
    ),
    IntentRule(
        "of-many",
        ("en", "zh"),
        "what is asked holds of a field: recent approaches, researchers, 一般, 有哪些方法",
        "What are recent approaches to parsing?",
        "What is the approach of GPT-3 to parsing?",
        _finds(
            r"\b(?:recent|current|existing|common|typical|various|different) "
            r"(?:approach|method|work|research|advance|technique|trend)"
            r"|\b(?:commonly|usually|typically|generally|often)\b|\bresearchers\b|\bstudies\b"
            r"|\b(?:previous|prior|earlier) (?:literature|research|work)\b"
            r"|\bwhat is known\b|\bdo we know\b"
            r"|一般|通常|常用|主流|近年来|最近|学者|国内外|国外|(?:以往|已有|现有)的?研究"
            r"|有哪些.{0,12}?(?:方法|途径|算法|技术|措施|策略)"
        ),
        _TOPIC,
    ),
    IntentRule(
        "no-topic",
        ("en", "zh"),
        "the question has no words but those that fit any paper",
        "Which metrics are reported?",
        "Which metrics are reported for translation?",
        _has_no_topic,
        _PAPER,
    ),
    IntentRule(
        "thing",
        ("en", "zh"),
        "one thing is named, as a paper that introduces it would be called by it",
        "How many layers does ResNet-152 have?",
        "How many layers do CNNs have?",
        _names("things"),
        _PAPER,
    ),
)

_SECTIONS = SectionCategory
SECTION_RULES = (
    SectionRule(
        "end-matter",
        ("en", "zh"),
        "asks what stands behind the text: appendix, funding, references",
        "Who funded the trial?",
        "Who took part in the trial?",
        _finds(
            r"\b(?:appendi(?:x|ces)|supplement(?:ary|al)|acknowledge?ments?|fund(?:ed|ing|er)|grants?|"
            r"conflicts? of interest|reference list|ethic(?:s|al) approval)\b"
            "|附录|致谢|基金|资助|利益冲突|参考文献|伦理"
        ),
        (_SECTIONS.OTHER,),
    ),
    SectionRule(
        "earlier-work",
        ("en", "zh"),
        "asks for what others did before",
        "What earlier work do they build on?",
        "How early does the effect begin?",
        _finds(
            r"\b(?:earlier|previous|prior|related|existing) (?:[\w-]+ )?(?:work|literature|"
            r"research|approach|stud(?:y|ies)|system)|\bprior approaches\b"
            r"|\bapproached\b.*\bbefore\b"
            "|前人|以往|已有(?:的)?研究|已有方法|相关(?:工作|研究)|文献综述|综述了|研究现状|国外学者|国内外"
        ),
        (_SECTIONS.RELATED_WORK,),
    ),
    SectionRule(
        "ending",
        ("en", "zh"),
        "asks for conclusions, limits, or what is to be done next",
        "What limitations does the study have?",
        "Is the temperature limited?",
        _finds(
            r"\b(?:limitations?|shortcomings?|future (?:work|research)|"
            r"open (?:problems?|questions?)|"
            r"conclu\w+|implications?|policy recommendations?|directions for)\b"
            "|局限|不足|展望|结论|未来(?:的)?(?:工作|研究)|未解决|政策建议|后续研究"
        ),
        (_SECTIONS.CONCLUSION,),
    ),
    SectionRule(
        "gist",
        ("en", "zh"),
        "asks what a paper is about as a whole",
        "Summarise the paper in three sentences.",
        "How is the sum of the series found?",
        _finds(
            r"\bsummar|\bmain (?:contribution|idea|finding|point|argument)|\babout\?$|\bgist\b|"
            r"\bin a nutshell\b|^what (?:is|was) [^?]* about\b"
            "|总结|概括|主要(?:内容|讲|贡献|观点)|核心(?:观点|思想|贡献)|讲了什么|大意"
        ),
        (_SECTIONS.ABSTRACT,),
    ),
    SectionRule(
        "results",
        ("en", "zh"),
        "asks for a figure or for how well something does",
        "What accuracy do they reach?",
        "What material is used?",
        _finds(
            r"\b(?:results?|perform\w*|accura\w+|scores?|f1|bleu|rouge|metrics?|evaluat\w+|"
            r"baselines?|"
            r"compar\w+|outperform\w*|ablation|improve[sd]?|improvements?|significan\w+|better|best|"
            r"speed-?up|"
            r"effect sizes?|errors?|rates?|yield|capacity|efficien\w+|evidence|"
            r"matters? most|how much|"
            r"how well|what effect)\b(?<!learning rate)"
            "|结果|性能|准确率|精度|得分|(?:评价|哪些|什么)指标|评价|评估|基线|对比|优于|实验|"
            "显著|效果|提高了|提升了|多高|灵敏度|"
            "产率|回收率|降温|(?-i:mAP)|影响|更适合|优势|比.{1,12}好|有多大"
        ),
        (_SECTIONS.EVALUATION,),
    ),
    SectionRule(
        "reasons",
        ("en", "zh"),
        "asks why the work was done, or what the problem is",
        "What problem does it set out to solve?",
        "How is the problem solved?",
        _finds(
            r"^why\b|\bmotivat\w+|\b(?:what|which) (?:problem|gap|question)\b.*\b"
            r"(?:solve|address|study|tackle)|\bbackground\b"
            "|为什么|为何|动机|背景|解决(?:什么|了什么|的)|要解决|什么问题"
        ),
        (_SECTIONS.INTRODUCTION,),
    ),
    SectionRule(
        "means",
        ("en", "zh"),
        "asks how something is done or made, from what, with how many",
        "How is the catalyst prepared?",
        "Is the catalyst known?",
        _finds(
            r"^(?:in [^,?]+, )?how\b|\bhow (?:do|does|did|is|are|was|were|many|large|"
            r"big|long|can|has)\b"
            r"|\b(?:model|architecture|method|algorithm|network|layers?|train\w*|features?|"
            r"embeddings?|"
            r"objective|optimi[sz]er|loss|data(?:set)?s?|corp(?:us|ora)|annotat\w+|"
            r"participants?|patients?|"
            r"sampl\w+|software|instruments?|interviews?|questionnaires?|hyperparameters?|"
            r"learning rate|"
            r"vocabulary|steps|role|measure\w*|used)\b"
            "|如何|怎样|怎么|方法|(?<!语言)(?<!训练)模型|架构|算法|网络|训练|特征|数据|语料|标注|采集|样本|"
            "抽样|采样|变量|问卷|"
            "多少(?:层|个|份)|温度|设备|制备|合成|途径|设(?:置|为)|步骤|算力|作用"
        ),
        (_SECTIONS.METHOD,),
    ),
)


def route_by_rules(question: str, known: Collection[str] = ()) -> Route:
    """Return the route that the first rules that fire give; a topic where none fires.

    Args:
        question: English or Chinese.
        known: names by which the library's papers are called: one of them in a question names its
            paper, whatever it looks like.
    """
    names = find_names(question, known)
    fired = next((rule for rule in INTENT_RULES if rule.check(question)), None)
    intent, origin = (fired.intent, f"rules:{fired.id}") if fired else (_TOPIC, "rules")
    if fired is None and names.things:
        intent, origin = _PAPER, "rules:known-name"
    # What a title speaks of is not what is asked about it.
    asked = question
    for title in names.titles:
        asked = asked.replace(title, "")
    sections = next((rule.categories for rule in SECTION_RULES if rule.check(asked)), ())
    route = Route(intent, (), tuple(map(int, sections)), origin)
    return replace(route, target_paper_keywords=names.all) if intent == _PAPER else route
