"""What a question calls a paper by: an identifier, a title, authors with a year, a thing's name."""

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from rag_assets.model import HAN, HAN_RANGES, AnswerError, SectionCategory, TextRule

if TYPE_CHECKING:
    from rag_assets.llm import Budget, ChatModel

# As texts print them; what stands after the last letter or digit belongs to the sentence.
_DOI = re.compile(r"10\.\d{4,9}/[^\s\"<>“”‘’|{}，。；？！、" + HAN_RANGES + r"]*[A-Za-z0-9]")
_ARXIV = re.compile(r"(?<![\w./])(\d{4}\.\d{4,5})(?:v\d{1,2})?(?![\w/])")
# A uid in braces, a key of a bibliography, a file's name: what nobody writes but as a name.
_UID = re.compile(r"\{#([^\s},]+)|(?<![\w.])@([A-Za-z][\w:-]*\w)|(?<!\w)([A-Za-z]\w*(?:_\w+)+)")
_QUOTED = re.compile('[“"„「『]([^“”"„「」『』]{4,200})[”"」』]|《([^《》]{2,200})》')
# Words that a title writes small between its capitals.
_SMALL = r"(?:a|an|and|as|at|by|for|from|in|into|is|its|of|on|or|the|to|via|with|you|we|are|not)"
_CAPITAL = r"[A-Z][\w’'-]*:?"
_TITLE_RUN = re.compile(rf"(?<![\w-]){_CAPITAL}(?: (?:{_SMALL} )*{_CAPITAL}){{2,}}(?!\w)")
_SURNAME = r"[A-ZÀ-ÖØ-ÞĀ-Ž][\w’'-]+"
_AUTHORS = rf"{_SURNAME}(?: et al\.?|(?:,? (?:and|&) {_SURNAME}))"
_YEAR = r"(?:1[89]|20)\d\d"
_WORK = re.compile(
    rf"({_AUTHORS})(?:['’]s)?(?:,? ?[(（]?({_YEAR})[a-z]?[)）]?)?"
    rf"|({_SURNAME}) ?[(（]?({_YEAR})[a-z]?[)）]?"
)
_CHINESE_NAME = rf"[{HAN_RANGES}]{{1,3}}"
_CHINESE_WORK = re.compile(
    rf"(?:^|[，。、\s])({_CHINESE_NAME}(?:和[{HAN_RANGES}]{{2,3}}|等人?)?)\s?[（(]?({_YEAR})[）)]?(?:\s?年的)?"
    rf"|(?:^|[，。、\s])({_CHINESE_NAME}?等人)"
)
_NOT_A_SURNAME_LIST = (
    "In On The At By For From Since Until After Before During About Between January February "
    "March April May June July August September October November December Figure Table Section "
    "Chapter Paper Version Windows Covid Web"
)
_NOT_A_SURNAME = frozenset(_NOT_A_SURNAME_LIST.split())
# A run of letters and digits that no ordinary word is: Word2Vec, GPT-3, mBERT, PageRank, DBSCAN.
_TOKEN = re.compile(r"(?<![\w.-])[A-Za-z][A-Za-z0-9]*(?:[-.][A-Za-z0-9]+)*\+*(?![\w-])")
_NUMBERED = re.compile(r"(?<![\w-])([A-Z][a-zA-Z]+) (\d{1,2}(?:\.\d{1,2})?)(?![\w.%])")
_HAS_INNER_CAPITAL = re.compile(r"[a-z][A-Z]|[A-Z]{2,}[a-z]|^[a-z][A-Z]")
_FORMULA = re.compile(r"(?:[A-Z][a-z]?\d*){2,}[+-]?")
# Short forms of kinds of things, not of one thing; written down as they came to mind, and closed.
_KINDS_LIST = (
    "AI ML DL NLP LLM LLMS RAG QA IR CV RL CNN CNNS RNN RNNS GNN GNNS GAN GANS VAE LSTM LSTMS "
    "GRU MLP SVM SVMS KNN PCA HMM CRF MCMC OCR ASR TTS SMT NMT NER POS API APIS CPU GPU GPUS "
    "TPU SQL XML HTML JSON PDF HTTP TCP IP IOT VR AR UAV SAR GIS GPS NDVI DNA RNA MRNA PCR SNP "
    "SNPS HIV AIDS COVID-19 SARS MRI CT PET EEG ECG BMI ICU PTSD ADHD TCM TEM SEM XRD XPS FTIR "
    "NMR HPLC GC-MS GDP CEO CSR ESG ICT R&D IPO FDI SME SMES USA US UK EU UN WHO OECD BRICS PHD "
    "MOOC MOOCS STEM PM2.5 ROS ATP NGO NGOS BLEU ROUGE METEOR MAP NDCG AUC ROC RMSE MAE MSE F1 "
    "P-VALUE WER CRISPR LI-ION"
)
_KINDS = frozenset(_KINDS_LIST.split())
# What stands after these is where something is measured, or with what, not what is asked about.
_PLACED = re.compile(
    r"(?:\b(?:on|in|at|from|against|with|using|via|over|versus|vs\.?|than|for)"
    r"|在|对|于|与|和|比|跟)\s*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Names:
    """What a question calls a paper by, each as it is written there.

    Args:
        identifiers: DOIs, arXiv numbers, uids, keys of a bibliography.
        titles: quoted ones, or runs of capitalised words.
        works: authors, with the year where it is there: "Chen et al. (2021)".
        things: names of one thing: "Llama 3", "PageRank".
    """

    identifiers: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    works: tuple[str, ...] = ()
    things: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        """Every name once, the surest first."""
        return tuple(dict.fromkeys((*self.identifiers, *self.titles, *self.works, *self.things)))


def find_names(question: str, known: Collection[str] = ()) -> Names:
    """Return the names in a question.

    Args:
        question: English or Chinese.
        known: names that the library gives its papers (uids, keys, names that titles announce):
            they are found wherever they stand alone, whatever they look like.
    """
    return _find_names(question, tuple(known))


def without_names(question: str) -> str:
    """Return a question without what it calls its paper by; what finds it finds no passage in it.

    Names of things stay: the paper speaks of them.
    """
    names = find_names(question)
    rest = question
    for name in (*names.identifiers, *names.titles, *names.works):
        rest = rest.replace(name, " ")
    return rest


@lru_cache(maxsize=256)
def _find_names(question: str, known: tuple[str, ...]) -> Names:
    rest = question
    found: dict[str, list[str]] = {"identifiers": [], "titles": [], "works": [], "things": []}
    for kind, matches in (
        ("identifiers", lambda text: _texts(_DOI, text)),
        ("identifiers", lambda text: _texts(_ARXIV, text)),
        ("identifiers", lambda text: _texts(_UID, text)),
        ("titles", lambda text: _texts(_QUOTED, text)),
        ("works", _works),
        ("titles", _title_runs),
        ("things", lambda text: _things(text, known)),
    ):
        for shown, start, end in list(matches(rest)):
            found[kind].append(shown)
            # Nothing is found twice, and nothing across what was found.
            rest = rest[:start] + "\0" * (end - start) + rest[end:]
    return Names(**{kind: tuple(dict.fromkeys(texts)) for kind, texts in found.items()})


def _texts(pattern: re.Pattern[str], text: str) -> Iterator[tuple[str, int, int]]:
    for match in pattern.finditer(text):
        shown = next((group for group in match.groups() if group), match[0])
        yield " ".join(shown.split()), match.start(), match.end()


def _works(text: str) -> Iterator[tuple[str, int, int]]:
    for match in _WORK.finditer(text):
        first = re.split(r"[^\w’'-]", match[0])[0]
        others = [word for word in re.findall(r"[\w’'-]+", match[0])[1:] if word[0].isupper()]
        is_thing = any(_is_thing(word) or _is_kind(word) for word in (first, *others))
        if first not in _NOT_A_SURNAME and ("et al" in match[0] or not is_thing):
            yield " ".join(match[0].split()), match.start(), match.end()
    for match in _CHINESE_WORK.finditer(text):
        yield match[0].strip("，。、 "), match.start(), match.end()


def _title_runs(text: str) -> Iterator[tuple[str, int, int]]:
    for match in _TITLE_RUN.finditer(text):
        yield match[0].removesuffix("'s").removesuffix("’s").strip(":"), match.start(), match.end()


def _things(text: str, known: tuple[str, ...]) -> Iterator[tuple[str, int, int]]:
    taken: list[tuple[int, int]] = []
    for name in known:
        pattern = rf"(?<![A-Za-z0-9_-]){re.escape(name)}(?![A-Za-z0-9_-])"
        for match in re.finditer(pattern, text):
            taken.append(match.span())
            yield name, match.start(), match.end()
    for match in _NUMBERED.finditer(text):
        if match[1] not in _NOT_A_SURNAME and not _is_kind(match[0]):
            taken.append(match.span())
            yield match[0], match.start(), match.end()
    for match in _TOKEN.finditer(text):
        is_free = all(match.end() <= start or end <= match.start() for start, end in taken)
        before = text[: match.start()]
        if is_free and _is_thing(match[0]) and not _PLACED.search(before):
            yield match[0], match.start(), match.end()


def _is_thing(token: str) -> bool:
    """Say whether a token looks like the name of one thing."""
    if len(token) < 3 or _is_kind(token):
        return False
    bare = token.rstrip("+")
    if _FORMULA.fullmatch(bare) and any(sign.isdigit() for sign in bare) and "-" not in bare:
        return False
    capitals = sum(sign.isupper() for sign in bare)
    has_digit = any(sign.isdigit() for sign in bare)
    is_spelled = bare.isupper() and len(bare) > 2
    return is_spelled or bool(_HAS_INNER_CAPITAL.search(bare)) or (has_digit and capitals > 0)


def _is_kind(token: str) -> bool:
    return token.upper() in _KINDS or token.upper().split("-")[0].rstrip("S") in _KINDS


# Whether a question is about one paper or about a field, and which sections may answer it.


Intent = Literal["SPECIFIC_PAPER", "TOPIC_SURVEY"]


@dataclass(frozen=True, slots=True)
class Route:
    """What a question asks for (spec 002 §3.3.1).

    Args:
        intent: one paper, or a topic across papers.
        target_paper_keywords: what the paper is called by, the surest first; empty for a topic, or
            where the question says no more than "this paper".
        target_section_category: 0 abstract to 6 related work; empty for the whole text.
        origin: who decided: `rules`, with the rule's id behind a colon, or a model's name.
        told: why it was not decided as it should have been: a model's answer that was none.
    """

    intent: Intent
    target_paper_keywords: tuple[str, ...] = ()
    target_section_category: tuple[int, ...] = ()
    origin: str = "rules"
    told: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return exactly the three fields of spec 002."""
        return {
            "intent": self.intent,
            "target_paper_keywords": list(self.target_paper_keywords),
            "target_section_category": list(self.target_section_category),
        }


def route_question(
    question: str,
    known: Collection[str] = (),
    llm: "ChatModel | None" = None,
    budget: "Budget | None" = None,
) -> Route:
    """Return the route of a question: a model's where there is one, else that of the rules.

    Args:
        question: English or Chinese.
        known: names by which the library's papers are called (`PaperNames.known`).
        llm: asked instead of the rules; an answer that is no route leaves it to them, and `told`
            says so.
        budget: of the model.

    Raises:
        LanguageModelError: the model cannot be asked.
        BudgetError: no tokens or seconds are left.
    """
    if llm is None:
        return route_by_rules(question, known)

    try:
        return ask_route(llm, question, budget)
    except AnswerError as error:
        found = route_by_rules(question, known)
        why = f"the route is that of the rules: {error}"
        return Route(
            found.intent,
            found.target_paper_keywords,
            found.target_section_category,
            found.origin,
            (why,),
        )


# Rules over a question's words: one paper or a topic, and the sections that may answer it.
#
# Each is in a register, with a question on which it fires and one on which it does not;
# `python -m benchmarks.rules_ledger --routes` counts what each is worth.


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


# The route of a question as a language model sees it.


ROUTE_TASK = "route_question"
# A question names a paper in a few ways; more is an answer, not what was asked for.
_MOST_KEYWORDS = 8


class _RouteAnswer(BaseModel):
    """What the model is asked for; also the JSON Schema that is sent."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    intent: Intent
    target_paper_keywords: Annotated[list[str], Field(max_length=_MOST_KEYWORDS)] = []
    target_section_category: list[Literal[0, 1, 2, 3, 4, 5, 6]] = []


def ask_route(model: "ChatModel", question: str, budget: "Budget | None" = None) -> Route:
    """Return the route that a model gives.

    Raises:
        AnswerError: what came back is no route, or names what the question does not.
        LanguageModelError: the model cannot be asked.
        BudgetError: the task has no tokens or seconds left.
    """
    from rag_assets.llm import ChatRequest, Message, complete_as, load_prompt

    prompt = load_prompt(ROUTE_TASK)
    request = ChatRequest(
        (Message("system", prompt.text), Message("user", question)),
        task=ROUTE_TASK,
        prompt_hash=prompt.hash,
        temperature=0.0,
        shared_messages=1,
    )
    answer = complete_as(model, request, _RouteAnswer, budget)
    keywords = tuple(
        dict.fromkeys(
            filter(None, (" ".join(word.split()) for word in answer.target_paper_keywords))
        )
    )
    asked = _plain(question)
    invented = [word for word in keywords if _plain(word) not in asked]
    if answer.intent == "SPECIFIC_PAPER" and invented:
        # A paper that the model knows, not the one that was asked for.
        raise AnswerError(
            f"{model.name} was asked what paper {question!r} names, and named {invented[0]!r}, "
            "which does not stand there",
            str(answer),
        )
    return Route(
        answer.intent,
        keywords if answer.intent == "SPECIFIC_PAPER" else (),
        tuple(dict.fromkeys(answer.target_section_category)),
        model.name,
    )


def _plain(text: str) -> str:
    return "".join(sign for sign in text.casefold() if sign.isalnum())
