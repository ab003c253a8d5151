"""Entities of a document's passages: what the rules find, sentence by sentence."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rag_assets.chunking import split_sentences
from rag_assets.graph.definitions import find_definitions
from rag_assets.graph.rules import (
    ABBREVIATION,
    ENTITY_RULES,
    EntityRule,
    normalise,
    of_document,
)


@dataclass(frozen=True, slots=True)
class Mention:
    """An entity where a passage names it.

    Args:
        entity: its normalised name, of an abbreviation that the document defines the long form's.
        name: as it is written.
        rule: id of the rule that found it.
        start, end: half-open, code points of the passage as it is read.
        sentence: the span of its sentence, likewise.
    """

    entity: str
    name: str
    rule: str
    start: int
    end: int
    sentence: tuple[int, int]


def find_mentions(
    passages: Sequence[str], rules: Sequence[EntityRule] = ENTITY_RULES
) -> list[list[Mention]]:
    """Return the mentions of each passage of one document, in order.

    A function of these texts and rules alone.

    Args:
        rules: are tried in this order; what one has taken is no other's.
    """
    defined = _defined(passages) if any(rule.id == ABBREVIATION for rule in rules) else {}
    rules = [of_document(rule, defined) for rule in rules]
    return [list(_in_passage(text, defined, rules)) for text in passages]


def _in_passage(
    text: str, defined: Mapping[str, str], rules: Sequence[EntityRule]
) -> Iterator[Mention]:
    called = {key: name for rule in rules for key, name in rule.called.items()}
    for start, end in split_sentences(text):
        found: list[tuple[int, int, str]] = []
        sentence = text[start:end]
        for rule in rules:
            for first, last in rule.spans(sentence):
                if all(last <= one or first >= other for one, other, _ in found):
                    found.append((first, last, rule.id))
        for first, last, rule_id in sorted(found):
            name = sentence[first:last]
            entity = normalise(name)
            if entity:
                entity = defined.get(name.removesuffix("s"), defined.get(name, entity))
                entity = called.get(entity, entity)
                yield Mention(entity, name, rule_id, start + first, start + last, (start, end))


def _defined(passages: Iterable[str]) -> dict[str, str]:
    """Return the long form of each abbreviation that a document defines in one way most often."""
    forms: dict[str, Counter[str]] = {}
    for text in passages:
        for found in find_definitions(text):
            forms.setdefault(found.short, Counter())[normalise(found.long)] += 1
    return {
        short: min(counts, key=lambda long: (-counts[long], long))
        for short, counts in forms.items()
    }
