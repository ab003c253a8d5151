"""The two briefs (spec 000 §7): what is asked for, and how the exemplars are written."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from rag_assets.chunking import split_sentences
from rag_assets.evidence.briefing.demands import (
    EXEMPLARS,
    Demand,
    DemandKind,
    InstructionText,
    find_demands,
    gather_instructions,
)
from rag_assets.model import HAN, code_span, count_han, count_of, escape_inline, escape_prose
from rag_assets.storage import put
from rag_assets.workspace import Workspace

# How exemplars are written, measured: lengths, tense, voice, structure, citations.
#
# Counted by the forms of words, without a grammar: shares are estimates for comparing texts, and
# said to be so. Chinese text has lengths in characters, structure and citations alone.

_WORD = re.compile(r"[^\W\d_]+(?:['’]\w+)?")
_BE = r"(?:is|are|was|were|be|been|being|am)"
_IRREGULAR = (
    "built|chosen|done|drawn|found|given|held|kept|known|led|left|made|meant|met|paid|put|read|"
    "said|seen|sent|set|shown|taken|thought|understood|written"
)
_PASSIVE = re.compile(rf"\b{_BE}\s+(?:\w+ly\s+)?(?:\w+ed|{_IRREGULAR})\b", re.IGNORECASE)
_PAST = re.compile(r"\b(?:was|were|had|did)\b|\b\w{3,}ed\b", re.IGNORECASE)
_PRESENT = re.compile(r"\b(?:is|are|has|have|do|does)\b", re.IGNORECASE)
_FIRST_PERSON = re.compile(r"\b(?:I|[Ww]e|[Mm]y|[Oo]ur|us|me)\b")
_HEDGE = re.compile(
    # As it is written inside a sentence: May is a month.
    r"\b(?:may|might|could|suggests?|suggested|appears?|seems?|likely|possibl[ey]|perhaps|tends?)\b"
)
_CITATIONS = {
    "(Author, year)": re.compile(r"\([^()]{2,80}?,?\s(?:19|20)\d{2}[a-z]?(?:[,;:][^()]*)?\)"),
    "Author (year)": re.compile(r"\b[A-Z][\w'’-]+(?: et al\.)?\s\((?:19|20)\d{2}[a-z]?\)"),
    "[number]": re.compile(r"\[\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*\]"),
    "（作者，年份）": re.compile(r"（[^（）]{2,40}[，,]\s*(?:19|20)\d{2}）"),
}
_RUNNING = frozenset({"paragraph", "list"})
# A sentence ends with its mark; what does not is an item of a list, a label, or a line of code.
_STOP = re.compile(r"[.!?。！？…][\s\"'”’»)\]）」』*_\d\[,^]*$")
_PAUSE = re.compile(r"[:：;；]\s*$")
# A line of code or of an algorithm, that no sentence's mark ends.
_CODE = re.compile(
    r"[{}]\s*$|←|:=|[+\-*/=!<>]=|->|&&|\|\||\w\(\w*\)|^[\w.\[\]\s]{1,30}\s=\s|"
    r"^\W*(?:\d+\W+)?(?:for\b.*\bdo\b|while\b.*(?:\bdo\b|:$)|if\b.*(?:\bthen\b|:$)|for\b.*\bin\b.*:$|else\b|"
    r"end(?:\s+(?:for|if|while|function|procedure))?$|return\b|repeat$|until\b|def\s|function\s|"
    r"procedure\s|import\s|(?:require|ensure|input|output)s?:)",
    re.IGNORECASE | re.MULTILINE,
)
_LONG_SHARE = 0.9  # the length that nine of ten sentences keep within


@dataclass(frozen=True, slots=True)
class Style:
    """Measures of one exemplar.

    Args:
        unit: what lengths are counted in, `words` or `characters`.
        length: of running text.
        sentences: those that end as one; items of lists and lines of code do not.
        sentence_length: median and 90th percentile.
        paragraph_length: median, of paragraphs that hold a sentence.
        shares: of sentences that are passive, past, present, in the first person, hedged; empty
            for Chinese.
        sections: (heading, level from 0, share of the running text).
        citations: how often each form occurs.
    """

    path: str
    unit: str
    length: int
    sentences: int
    sentence_length: tuple[float, float]
    paragraph_length: float
    shares: dict[str, float] = field(default_factory=dict)
    sections: tuple[tuple[str, int, float], ...] = ()
    citations: dict[str, int] = field(default_factory=dict)


def measure_style(text: InstructionText) -> Style | None:
    """Return the measures of an exemplar; None where it has no running text."""
    document = text.document
    blocks = [
        (block, document.text[block.start : block.end])
        for block in document.blocks
        if block.kind in _RUNNING and not _is_code(document.text[block.start : block.end])
    ]
    running = [content for _, content in blocks]
    found = [_sentences(part) for part in running]
    sentences = [sentence for each in found for sentence in each]
    if not sentences:
        return None
    joined = "\n".join(running)
    is_han = count_han(joined) > len(_WORD.findall(HAN.sub("", joined)))
    sizes = sorted(_size(sentence, is_han) for sentence in sentences)
    total = sum(_size(part, is_han) for part in running)
    spans = [(block.start, _size(content, is_han)) for block, content in blocks]
    sections = tuple(
        (s.title, s.level, sum(n for at, n in spans if s.start <= at < s.end) / max(total, 1))
        for s in document.sections
        if s.title
    )
    counts = {name: len(pattern.findall(joined)) for name, pattern in _CITATIONS.items()}
    return Style(
        text.path,
        "characters" if is_han else "words",
        total,
        len(sentences),
        (median(sizes), sizes[min(int(_LONG_SHARE * len(sizes)), len(sizes) - 1)]),
        median(_size(part, is_han) for part, each in zip(running, found, strict=True) if each),
        {} if is_han else _shares(sentences),
        sections,
        dict(Counter({name: count for name, count in counts.items() if count}).most_common()),
    )


def _sentences(text: str) -> list[str]:
    pieces = (text[start:end] for start, end in split_sentences(text))
    return [
        piece
        for piece in pieces
        if _STOP.search(piece) or (_PAUSE.search(piece) and not _CODE.search(piece))
    ]


def _is_code(text: str) -> bool:
    """Say whether no part of a text is a sentence and a line of it looks like code."""
    return not _sentences(text) and _CODE.search(text) is not None


def _size(text: str, is_han: bool) -> int:
    return count_han(text) if is_han else len(_WORD.findall(text))


def _shares(sentences: list[str]) -> dict[str, float]:
    return {
        name: sum(bool(pattern.search(sentence)) for sentence in sentences) / len(sentences)
        for name, pattern in (
            ("passive", _PASSIVE),
            ("past tense", _PAST),
            ("present tense", _PRESENT),
            ("first person", _FIRST_PERSON),
            ("hedged", _HEDGE),
        )
    }


# `meta/instruction_brief.md` and `meta/style_brief.md` (spec 000 §7): read, never cited.

INSTRUCTION_BRIEF, STYLE_BRIEF = "meta/instruction_brief.md", "meta/style_brief.md"

_HEADINGS: dict[DemandKind, str] = {
    "date": "Dates",
    "length": "Length",
    "weight": "Criteria, weights and marks",
    "demand": "Demanded",
    "prohibition": "Not allowed",
    "advice": "Advised",
    "feedback": "Said in feedback",
}
_FRONT = "---\ncitable: false\n---\n"
_NOTE = (
    "Taken from raw/instruction/ word for word; made by `rag parse`. To be followed, not to be "
    "cited: nothing here can enter an evidence pack.\n"
)


@dataclass(frozen=True, slots=True)
class Briefs:
    """Where the briefs lie, what they were made of, and which texts they lack (`amiss`)."""

    instruction: Path
    style: Path
    texts: int
    demands: int
    exemplars: int
    amiss: tuple[str, ...] = ()


def write_briefs(workspace: Workspace) -> Briefs:
    """Write both briefs from what is parsed now; a brief that has not changed is left untouched."""
    texts, amiss = gather_instructions(workspace)
    demands = [demand for text in texts for demand in find_demands(text)]
    exemplars = [text for text in texts if text.subtype == EXEMPLARS]
    styles = [found for text in exemplars if (found := measure_style(text))]
    store = workspace.store
    put(store, INSTRUCTION_BRIEF, "\n".join(_instruction(texts, demands, amiss)).encode())
    put(store, STYLE_BRIEF, "\n".join(_style(styles)).encode())
    written = (store.place(INSTRUCTION_BRIEF), store.place(STYLE_BRIEF))
    return Briefs(*written, len(texts), len(demands), len(styles), tuple(amiss))


def _instruction(
    texts: Sequence[InstructionText], demands: Sequence[Demand], amiss: Sequence[str]
) -> Iterator[str]:
    yield f"{_FRONT}\n# What is asked for\n\n{_NOTE}"
    yield from (f"{escape_prose(sentence)}\n" for sentence in amiss)
    if not texts and not amiss:
        yield (
            "raw/instruction/ is still empty. Put the rubric into guidance/, the "
            "teacher's comments into feedback/, then run `rag parse`.\n"
        )
    elif texts and not demands:
        yield "No sentence of these texts asks for anything; look at them yourself.\n"
    for kind, heading in _HEADINGS.items():
        chosen = [demand for demand in demands if demand.kind == kind]
        if chosen:
            yield f"## {heading}\n"
            yield from (
                f"- {escape_inline(d.text)} — {code_span(d.path)}, {escape_prose(d.where)}"
                for d in chosen
            )
            yield ""
    if texts:
        counts = Counter(demand.path for demand in demands)
        yield "## Made from\n"
        for text in texts:
            used = "measured in style_brief.md" if text.subtype == EXEMPLARS else (
                f"{count_of(counts[text.path], 'sentence')} taken"
            )  # fmt: skip
            yield f"- {code_span(text.path)} (SHA-256 {text.content_hash[:16]}): {used}"
        yield ""


def _style(styles: Sequence[Style]) -> Iterator[str]:
    yield f"{_FRONT}\n# How the exemplars are written\n\n{_NOTE}"
    if not styles:
        yield "There is no exemplar in raw/instruction/exemplars/ yet.\n"
        return
    yield (
        "Shares are of sentences, counted by the forms of words (a sentence may be both past and "
        "present): estimates, for comparing your text with these.\n"
    )
    for style in styles:
        yield f"## {code_span(style.path)}\n"
        middle, long = style.sentence_length
        yield f"- Length: {style.length} {style.unit} in {count_of(style.sentences, 'sentence')}."
        yield (
            f"- Sentences: half have at most {middle:.0f} {style.unit}, nine of ten at most "
            f"{long:.0f}; a paragraph has about {style.paragraph_length:.0f}."
        )
        if style.shares:
            shown = ", ".join(f"{name} {share:.0%}" for name, share in style.shares.items())
            yield f"- Sentences that are: {shown}."
        cited = sum(style.citations.values())
        forms = ", ".join(f"{name} {count} times" for name, count in style.citations.items())
        rate = f", {1000 * cited / max(style.length, 1):.1f} in 1,000 {style.unit}"
        yield f"- Citations: {forms}{rate}." if cited else "- Citations: none of a known form."
        if style.sections:
            yield "- Structure (share of the text):"
            for title, level, share in style.sections:
                yield f"{'  ' * (level + 1)}- {escape_inline(title)} ({share:.0%})"
        yield ""
