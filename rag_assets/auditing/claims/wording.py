"""What sort of assertion a sentence is, in English or Chinese, and whether it is a strong one."""

import re
from dataclasses import dataclass
from types import ModuleType
from typing import Literal

from rag_assets.auditing.claims import chinese, english
from rag_assets.auditing.claims.causal import find_cause
from rag_assets.model import count_han, is_chinese

AssertionType = Literal[
    "causal", "comparative", "superlative", "universal", "recommendation", "quantitative"
]
Exemption = Literal["question", "definition", "own_work", "structure", "hedged", "no_statement"]

# The primary type is the first of these that a sentence has: what asks most of its evidence.
_ORDER: tuple[AssertionType, ...] = (
    "causal",
    "comparative",
    "superlative",
    "universal",
    "recommendation",
    "quantitative",
)
_LATIN_WORD = re.compile(r"[A-Za-z]{2,}")
_QUOTED = re.compile(r"[“\"「『][^”\"」』]{0,400}[”\"」』]")
# A label, a keyword line, a reference: fewer words than a sentence has.
_FEWEST_WORDS = 3
_FEWEST_HAN = 4


@dataclass(frozen=True, slots=True)
class Wording:
    """How a sentence says what it says.

    Args:
        types: all that it asserts, the primary first; of a hedged sentence too.
        exemption: why it is no strong assertion all the same; None where nothing exempts it.
        cue: the words that exempt it, or that made it of its primary type; may be empty.
    """

    types: tuple[AssertionType, ...]
    exemption: Exemption | None
    cue: str

    @property
    def is_strong(self) -> bool:
        """Say whether the sentence asserts something that wants evidence."""
        return bool(self.types) and self.exemption is None

    @property
    def is_hedged(self) -> bool:
        """Say whether it would be a strong assertion without its hedge."""
        return bool(self.types) and self.exemption == "hedged"


def read_wording(sentence: str) -> Wording:
    """Return what one sentence, without citations and marks, asserts and how strongly."""
    rules = chinese if is_chinese(sentence) else english
    types, cues = _find_types(sentence, rules)
    exemption, cue = _find_exemption(sentence, rules, types)
    return Wording(types, exemption, cue or (cues.get(types[0], "") if types else ""))


def _find_types(
    sentence: str, rules: ModuleType
) -> tuple[tuple[AssertionType, ...], dict[AssertionType, str]]:
    cues: dict[AssertionType, str] = {}
    if rules is english:
        # Where something else names a cause, it still does with “has” in the verb's place.
        asked = english.BRINGS_FORTH.sub(r"\1has", sentence)
        if cause := find_cause(asked):
            cues["causal"] = cause
    elif found := chinese.CAUSAL.search(sentence):
        cues["causal"] = found.group()
    patterns: tuple[tuple[AssertionType, re.Pattern[str]], ...] = (
        ("comparative", rules.COMPARATIVE),
        ("superlative", rules.SUPERLATIVE),
        ("universal", rules.UNIVERSAL),
        ("recommendation", rules.RECOMMENDATION),
    )
    for kind, pattern in patterns:
        if found := pattern.search(sentence):
            cues[kind] = found.group()
    if found := rules.QUANTITATIVE.search(rules.NO_QUANTITY.sub(" ", sentence)):
        cues["quantitative"] = found.group()
    return tuple(kind for kind in _ORDER if kind in cues), cues


def _find_exemption(
    sentence: str, rules: ModuleType, types: tuple[AssertionType, ...]
) -> tuple[Exemption | None, str]:
    if not _is_statement(sentence):
        return "no_statement", ""
    patterns: tuple[tuple[Exemption, re.Pattern[str]], ...] = (
        ("question", rules.QUESTION),
        ("structure", rules.STRUCTURE),
        ("own_work", rules.OWN_WORK),
        ("definition", rules.DEFINITION),
    )
    for name, pattern in patterns:
        if found := pattern.search(sentence):
            return name, found.group().strip()
    # What somebody else is quoted as saying hedges or does not hedge for himself.
    unquoted = _QUOTED.sub(" ", sentence)
    if found := rules.HEDGE.search(unquoted if _is_statement(unquoted) else sentence):
        return "hedged", found.group().strip()
    if rules is english and types and types[0] in {"superlative", "universal", "quantitative"}:
        found = english.VAGUE.search(unquoted)
        if found:
            return "hedged", found.group().strip()
    return None, ""


def _is_statement(sentence: str) -> bool:
    return len(_LATIN_WORD.findall(sentence)) >= _FEWEST_WORDS or count_han(sentence) >= _FEWEST_HAN
