"""What rubric, guidance, slides and feedback ask for, sentence by sentence, verbatim.

Extractive: nothing is rephrased. A sentence is taken for the first of these reasons that holds,
so it stands once: a date by which something is due, a length, a weight or mark, a prohibition, a
demand, advice. Of feedback every sentence counts that is not praise alone, as feedback.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from rag_assets.briefing.gathering import EXEMPLARS, InstructionText
from rag_assets.chunking import split_sentences
from rag_assets.model import Block

DemandKind = Literal["date", "length", "weight", "prohibition", "demand", "advice", "feedback"]

_NUMBER = r"\d[\d,.\u00a0 ]*"
_MONTH = (r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
          r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)")  # fmt: skip
_DATE = (
    rf"(?:\b\d{{4}}-\d{{2}}-\d{{2}}\b|\b\d{{1,2}}(?:st|nd|rd|th)?\s+{_MONTH}\b|\b{_MONTH}\s+\d|"
    r"\d+\s*月\s*\d+\s*[日号]|\bweek\s+\d+\b|第\s*[\d一二三四五六七八九十]+\s*周)"
)
_DUE = (
    r"\b(?:due|deadline|submi(?:t|ts|tted|ssion)|hand(?:ed)?[ -]in|no later than)\b|截止|提交|上交"
)
_UNITS = r"(?:words?|pages?|characters?|slides?|paragraphs?)\b|(?:字|页|个字)"
_LIMIT = (
    r"\b(?:at (?:least|most)|max(?:imum)?|min(?:imum)?|between|limit|length|up to|no more|"
    r"not exceed|fewer|more than|exactly|approximately|about|around)\b|"
    r"不得?(?:少于|多于|超过|低于|高于)|至少|最多|左右"
)
_WEIGHT = (
    rf"{_NUMBER}\s*(?:%|％|per ?cent\b|marks?\b|points?\b|credits?\b|分(?!析|别|布|钟|为|类|子))|"
    r"\bweight(?:ed|ing|s)?\b|权重|占比"
)
_NOT = (
    r"\b(?:must|should|may|shall|can|do|does|will|need)(?:\s+not|n['’]t)\b|\bcannot\b|"
    r"\bnot (?:allowed|permitted|accepted|acceptable)\b|\b(?:avoid|forbidden|prohibited|never)\b|"
    r"(?:不得|不能|不可|不应)(?!少于|多于|超过|低于|高于|短于|长于)|禁止|严禁|避免|切勿"
)
_MUST = (
    r"\b(?:must|shall|required?|requires|requirements?|mandatory|compulsory|obligatory|essential|"
    r"needs? to|ha(?:s|ve) to|expected to|ensure|make sure|it is necessary)\b|"
    r"必须|务必|须|应当|应(?!用|对|力|变|激|答)|需要|要求|不可缺少|"
    r"不[得能可应]?(?:少于|多于|超过|低于|高于|短于|长于)"
)
_SHOULD = (
    r"\b(?:should|ought to|recommended|recommend|advised?|encouraged?|consider|try to|"
    r"it is (?:better|best)|preferabl[ey]|good practice|aim (?:to|for))\b|"
    r"建议|宜|最好|鼓励|推荐|可以考虑"
)
# A sentence that opens with a bare verb asks for something, as lists of guidance do.
_IMPERATIVE = (
    r"^(?:[-*•·]\s*|\(?\w{1,3}[.)]\s+)?(?:please\s+)?(?:add|analy[sz]e|answer|apply|argue|attach|"
    r"check|cite|compare|critically|define|demonstrate|describe|discuss|evaluate|explain|follow|"
    r"format|give|identify|include|justify|keep|limit|list|provide|read|refer|reference|remove|"
    r"review|revise|rewrite|show|shorten|state|structure|submit|summari[sz]e|support|use|write)\b|"
    r"^(?:请|应|需)"
)
_PATTERNS: tuple[tuple[DemandKind, str], ...] = (
    ("date", rf"(?=.*(?:{_DUE}))(?=.*{_DATE})"),
    ("length", rf"(?=.*{_NUMBER}\s*-?\s*(?:{_UNITS}))(?=.*(?:{_LIMIT}))"),
    ("weight", _WEIGHT),
    ("prohibition", _NOT),
    ("demand", _MUST),
    ("advice", _SHOULD),
    ("demand", _IMPERATIVE),
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
