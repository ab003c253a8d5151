"""What rubric, guidance, slides and feedback ask for, sentence by sentence, verbatim."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from rag_assets.chunking import split_sentences
from rag_assets.model import Block, ParsedDocument, RagError
from rag_assets.parsing import read_parsed
from rag_assets.workspace import Namespace, Workspace, current_identities, read_inventory
from rag_assets.workspace.stages import parsed_contents

# The texts of a workspace that instruct and never count as evidence: rubric, feedback, models.

INSTRUCTION = "instruction"  # the source type that configs/rag.yaml gives raw/instruction
EXEMPLARS = "exemplars"


@dataclass(frozen=True, slots=True)
class InstructionText:
    """One parsed document below `raw/instruction/`.

    Args:
        subtype: guidance, feedback, slides, exemplars, or empty where its folder says nothing.
        path: as `source_uri`, the first of its files.
    """

    namespace: str
    doc_uid: str
    subtype: str
    path: str
    content_hash: str
    document: ParsedDocument

    def locate(self, block: Block, start: int) -> str:
        """Return where an offset in a block stands, as one looks it up: page, or section, line."""
        if block.page is not None:
            return f"p. {block.page}"
        section = next(
            (s for s in self.document.sections if s.start <= start < s.end and s.title), None
        )
        line = self.document.text.count("\n", 0, start) + 1
        return f"{section.title}, line {line}" if section else f"line {line}"


def gather_instructions(workspace: Workspace) -> tuple[list[InstructionText], list[str]]:
    """Return every instruction text that could be parsed, by subtype and path, and what is amiss.

    A file that is not parsed, or could not be, is amiss too. A file that lies both here and where
    evidence lies is not citable, and is listed too. A namespace whose configuration or records
    cannot be read gives a sentence: it must not keep the others from being built.
    """
    found: list[InstructionText] = []
    amiss: list[str] = []
    for name in workspace.namespace_names:
        try:
            namespace = workspace.namespace(name)
            found += _of_namespace(namespace)
            amiss += _unread(namespace)
        except RagError as error:
            amiss.append(f"The texts of '{name}' cannot be read: {error}")
    by_content = {(text.subtype, text.content_hash): text for text in reversed(found)}
    return sorted(by_content.values(), key=lambda text: (text.subtype, text.path)), amiss


def _unread(namespace: Namespace) -> Iterator[str]:
    inventory = read_inventory(namespace)
    if inventory is None:
        return
    for partition in namespace.partition_keys:
        parsed = parsed_contents(namespace, inventory, partition)
        for content, living in inventory.partition(namespace, partition).items():
            source = next((s for s in living.sources if s.source_type == INSTRUCTION), None)
            if source is not None and content not in parsed:
                yield (
                    f"{source.source_uri} is left out: it is not parsed yet, or could not be read. "
                    "`rag documents` says which; `rag parse` reads what is new."
                )


def _of_namespace(namespace: Namespace) -> Iterator[InstructionText]:
    inventory = read_inventory(namespace)
    if inventory is None:
        return
    uids = current_identities(namespace, inventory).uids
    for partition in namespace.partition_keys:
        for content, entry in parsed_contents(namespace, inventory, partition).items():
            living = inventory.contents[content]
            source = next((s for s in living.sources if s.source_type == INSTRUCTION), None)
            if source is None:
                continue
            parse = namespace.parsed_folder(partition) / entry.note["parsed_file"]
            yield InstructionText(
                namespace.name,
                uids.get(content, ""),
                source.source_subtype or "",
                source.source_uri,
                content,
                read_parsed(parse)[0],
            )


# What rubric, guidance, slides and feedback ask for, sentence by sentence, verbatim.
#
# Extractive: nothing is rephrased. A sentence is taken for the first of these reasons that holds,
# so it stands once: a date by which something is due, a length, a weight or mark, a prohibition, a
# demand, advice. Of feedback every sentence counts that is not praise alone, as feedback.

DemandKind = Literal["date", "length", "weight", "prohibition", "demand", "advice", "feedback"]

_NUMBER_WORD = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|"
    r"forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand)\b"
)
_NUMBER = (
    rf"(?:\d[\d,.\u00a0 ]{{0,15}}|\b{_NUMBER_WORD}[ -]*|[一二三四五六七八九十百千万两]{{1,9}})"
)
_MONTH = (r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
          r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)")  # fmt: skip
_DATE = (
    rf"(?:\b\d{{4}}-\d{{2}}-\d{{2}}\b|\b\d{{1,2}}(?:st|nd|rd|th)?\s+{_MONTH}\b|\b{_MONTH}\s+\d|"
    r"[\d一二三四五六七八九十]+\s*月\s*[\d一二三四五六七八九十]+\s*[日号]|"
    rf"\bweek\s+(?:\d+\b|{_NUMBER_WORD})|"
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|"
    r"第\s*[\d一二三四五六七八九十]+\s*周|(?:周|星期)[一二三四五六日天])"
)
_DUE = (
    r"\b(?:due(?! to\b)|deadline|submi(?:t|ts|tted|ssion)|hand(?:ed)?[ -]in|"
    r"(?:no|not) later than|by (?:noon|midnight|the end|\d))\b|截止|提交|上交|交给|之前"
)
_UNITS = r"(?:words?|pages?|characters?|slides?|paragraphs?)\b|(?:字|页|个字)"
_LIMIT = (
    r"\b(?:at (?:least|most)|max(?:imum)?|min(?:imum)?|between|limit(?:ed)?|length|up to|no more|"
    r"not exceed|fewer|more than|exactly|approximately|about|around|(?:word|page) count)\b|"
    r"不得?(?:少于|多于|超过|低于|高于)|不宜超过|至少|最多|左右|以内|以上"
)
# A bound is a demand whatever it counts: sources, meetings, points, minutes.
_BOUND = (
    rf"每\s*{_NUMBER}\s*[周天月年]|每[人组位章篇][^，。；]{{0,4}}{_NUMBER}|"
    rf"\b(?:at (?:least|most)|no (?:more|fewer|less) than|(?:minimum|maximum)(?: of)?|up to|"
    rf"limited to|not exceed(?:ing)?|within)\s+{_NUMBER}|"
    r"\b(?:(?:no|not) later than|limited to|(?:exceed(?:s|ing)?|over) the (?:\w+ )?limit)\b|"
    rf"(?:至少|最多|不超过|控制在)[^，。；]{{0,8}}{_NUMBER}|{_NUMBER}[^，。；]{{0,3}}(?:以内|以上|以下)"
)
# What a label of a form or list announces, with its value behind it.
_LABEL = (
    r"^\W*(?:word (?:count|limit)|page (?:count|limit)|length|margins?|fonts?|font size|paper size|"
    r"(?:line )?spacing|keywords|language|(?:file )?format|(?:citation|referencing) style|"
    r"字数|关键词|摘要|页边距|字体|字号|行距|格式)\s*[:：]"
)
# How a thesis looks: told as a fact, and meant as a rule.
_FORM = (
    r"\b(?:line spacing|double[- ]spaced|page numbers?|new page|margins?|"
    r"(?:\d+|ten|eleven|twelve)[- ]?(?:pt|point)\b)|"
    r"\b(?:APA|MLA|OSCOLA|Turabian|IEEE|Vancouver)\b|"
    r"\b(?:Harvard|Chicago|citation|referencing) (?:style|system)\b|"
    r"\b(?:is|are)\s+(?:\w+ly\s+)?(?:numbered|set (?:in|off|out)|placed|bound|cent(?:re|er)ed|"
    r"indented|italici[sz]ed|capitali[sz]ed|labell?ed|typed|printed|listed|cited)\b|"
    r"页边距|行距|字号|[小初一二三四五六]号|宋体|黑体|楷体|仿宋|置于|编号|居中|另起一页|一式.份|GB/?T"
)
# What becomes of late, long or dishonest work.
_CONSEQUENCE = (
    r"\b(?:will|shall) (?:not )?be (?:\w+ )?(?:marked|accepted|refused|rejected|returned|"
    r"penali[sz]ed|deducted|checked|assessed|granted|failed|capped|graded)\b|"
    r"\blose (?:up to )?\S+ (?:marks?|points?|per ?cent|%)|\b(?:penalty|penalties|misconduct)\b|"
    r"\baffect your (?:mark|grade)|不予|降.等|取消|不计入|扣\s*\d*\s*分|视为|按.{0,6}处理"
)
_WEIGHT = (
    rf"(?:\d[\d,.\u00a0 ]{{0,15}}|\b{_NUMBER_WORD})\s*(?:%|％|per ?cent\b|marks?\b|points?\b|"
    r"credits?\b|分(?!析|别|布|钟|为|类|子|之))|"
    r"\b(?:weight(?:ed|ing|s)?|counts? for)\b|权重|占比"
)
_NOT = (
    r"\b(?:must|should|may|shall|can|do|does|will|need)(?:\s+not|n['’]t)\b|\bcannot\b|"
    r"\bnot (?:allowed|permitted|accepted|acceptable)\b|\b(?:avoid|forbidden|prohibited|never)\b|"
    r"(?:不得|不能|不可|不应)(?!少于|多于|超过|低于|高于|短于|长于)|不允许|不准|禁止|严禁|避免|勿"
)
_MUST = (
    r"\b(?:must|shall|required?|requires|requirements?|mandatory|compulsory|obligatory|essential|"
    r"needs? to|ha(?:s|ve) to|(?:is|are) (?:to be|expected)|expected to|ensure|make sure|"
    r"it is (?:necessary|important|vital|crucial)|please|(?:not |in)sufficient|"
    r"(?:only|exclusively) (?:be|if|when|in)|for \w+ \w+ only)\b|"
    r"\bonly\b.{0,80}\b(?:accepted|allowed|permitted|used)\b|"
    r"\b(?:you|students|candidates|authors|participants) will\b|"
    r"^\W*always\b|^(?:each|every|all)\s+(?:chapters?|sections?|tables?|figures?|sources?|quotations?|pages?|"
    r"paragraphs?|references?|claims?|appendi(?:x|ces)|data)\b|"
    r"\b(?:title page|cover|abstract|introduction|conclusion|appendix|bibliography|chapter \w+)\s+"
    r"(?:carries|contains|includes|comprises|consists of|begins|opens|ends|states|gives|lists|"
    r"reviews|presents|explains|describes|summari[sz]es)\b|"
    r"必须|务必|须|应当|(?<![对相反适效响供])应(?!用|对|力|变|激|答)|需要|要求|不可缺少|"
    r"(?<![主重需概纲摘只简首次])要(?!求|点|素|么)|一律|注明|写明|采用|参照|分隔|按照.{0,12}执行|"
    r"注意|统一|(?<![使引应作])用[^，。]{1,12}(?:书写|撰写)|"
    r"不[得能可应]?(?:少于|多于|超过|低于|高于|短于|长于)"
)
_SHOULD = (
    r"\b(?:should|ought to|recommend(?:ed)?|advised?|(?:en|dis)couraged?|consider|try (?:not )?to|"
    r"it is (?:better|best)|preferabl[ey]|good practice|aim (?:to|for))\b|"
    r"建议|宜|最好|鼓励|推荐|可以考虑"
)
# A sentence that opens with a bare verb asks for something, as lists of guidance do.
_IMPERATIVE = (
    r"^(?:[-*•·]\s*|\(?\w{1,3}[.)]\s+)?(?:please\s+)?(?:acknowledge|add|analy[sz]e|answer|apply|argue|"
    r"attach|begin|bind|capitali[sz]e|check|choose|cite|compare|critically|define|demonstrate|"
    r"describe|discuss|end|evaluate|explain|follow|format|give|hand in|identify|include|indent|"
    r"insert|justify|keep|label|leave|limit|list|make|name|number|paraphrase|place|present|print|"
    r"proofread|provide|put|quote|read|refer|reference|remove|review|revise|rewrite|save|select|set|"
    r"show|shorten|sign|spell|start|state|structure|submit|summari[sz]e|support|upload|use|write)"
    r"(?!\s+of\b)\b|^(?:请|应|需)"
)
_PATTERNS: tuple[tuple[DemandKind, str], ...] = (
    ("date", rf"\A(?=.*(?:{_DUE}))(?=.*{_DATE})"),
    ("length", rf"\A(?=.*{_NUMBER}\s*-?\s*(?:{_UNITS}))(?=.*(?:{_LIMIT}))"),
    ("weight", _WEIGHT),
    ("prohibition", _NOT),
    ("demand", _MUST),
    ("demand", _BOUND),
    ("advice", _SHOULD),
    ("demand", _IMPERATIVE),
    ("demand", rf"{_LABEL}|{_FORM}|{_CONSEQUENCE}"),
)
_RULES = [(kind, re.compile(text, re.IGNORECASE | re.DOTALL)) for kind, text in _PATTERNS]
_PRAISE = re.compile(
    r"^\W*(?:(?:very|really)\s+)?(?:good|great|well done|excellent|nice|thanks?|"
    r"很好|不错|优秀)[^,;，；]*$",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^[-*•·]\s+")
_TABLE_RULE = re.compile(r"^[\s|:\-–—+=]*$")
_SKIPPED = frozenset({"title", "front", "heading", "unplaced_heading", "figure", "drawing",
                      "reference", "code", "formula"})  # fmt: skip
# Two words say nothing that could be followed; a Chinese demand needs four characters.
_LEAST_CHARACTERS = 4


@dataclass(frozen=True, slots=True)
class Demand:
    """One sentence, or row of a table, as it stands in its document."""

    kind: DemandKind
    text: str
    path: str
    where: str


def find_demands(text: InstructionText) -> list[Demand]:
    """Return what one instruction text asks for, in its order; of an exemplar nothing."""
    if text.subtype == EXEMPLARS:
        return []
    found: dict[str, Demand] = {}
    for block, start, sentence in _sentences(text):
        kind = _kind_of(sentence, is_feedback=text.subtype == "feedback")
        shown = _BULLET.sub("", " ".join(sentence.split()))
        if kind is not None and shown not in found:
            found[shown] = Demand(kind, shown, text.path, text.locate(block, start))
    return list(found.values())


def _sentences(text: InstructionText) -> Iterator[tuple[Block, int, str]]:
    """Yield (block, offset in the clean text, sentence); a row of a table is a sentence."""
    for block in text.document.blocks:
        if block.kind in _SKIPPED:
            continue
        whole = text.document.text[block.start : block.end]
        if block.kind in {"table", "row"}:
            for row in re.finditer(r"[^\n]+", whole):
                if not _TABLE_RULE.match(row[0]):
                    cells = (cell.strip() for cell in row[0].strip(" |").split("|"))
                    yield block, block.start + row.start(), " · ".join(cells)
            continue
        for start, end in split_sentences(whole):
            yield block, block.start + start, whole[start:end]


def _kind_of(sentence: str, *, is_feedback: bool) -> DemandKind | None:
    if len(sentence.strip()) < _LEAST_CHARACTERS:
        return None
    if is_feedback:
        return None if _PRAISE.match(sentence) else "feedback"
    return next((kind for kind, rule in _RULES if rule.search(sentence)), None)
