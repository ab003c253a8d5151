"""`meta/instruction_brief.md` and `meta/style_brief.md` (spec 000 §7): read, never cited."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rag_assets.briefing.demands import Demand, DemandKind, find_demands
from rag_assets.briefing.gathering import EXEMPLARS, InstructionText, gather_instructions
from rag_assets.briefing.style import Style, measure_style
from rag_assets.model import code_span, count_of, escape_inline, escape_prose
from rag_assets.storage import put
from rag_assets.workspace import Workspace

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
    "Taken from raw/instruction/ word for word; made by `rag briefs`. To be followed, not to be "
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
            "Nothing lies below raw/instruction/ yet. Put the rubric into guidance/, the "
            "teacher's comments into feedback/, then run `rag parse` and `rag briefs`.\n"
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
        yield "No exemplar lies in raw/instruction/exemplars/ yet.\n"
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
