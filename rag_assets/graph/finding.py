"""Entities of a document's passages: what the rules find, sentence by sentence."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rag_assets.chunking import split_sentences
from rag_assets.graph.rules import ENTITY_RULES, EntityRule, normalise

# "congestive heart failure (CHF)": the words before, as many as letters and two more.
_DEFINED = re.compile(r"(?P<before>(?:[\w-]+[ \n]){1,9})\((?P<short>[A-Z][A-Za-z&-]{1,7})s?\)")


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
    defined = _defined(passages)
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
    """Return the long form of each abbreviation that a document defines in one way most often.

    A long form begins with the abbreviation's letter, and holds its letters in their order, each
    next one at the beginning of a word where there is one (Schwartz and Hearst, PSB 2003).
    """
    forms: dict[str, Counter[str]] = {}
    for text in passages:
        for found in _DEFINED.finditer(text):
            short, words = found["short"], found["before"].split()
            long = _long_form(short, words[-(len(short) + 2) :])
            if long:
                forms.setdefault(short, Counter())[normalise(long)] += 1
    return {
        short: min(counts, key=lambda long: (-counts[long], long))
        for short, counts in forms.items()
    }


def _long_form(short: str, words: Sequence[str]) -> str:
    letters = [letter.lower() for letter in short if letter.isalnum()]
    text = " ".join(words).lower()
    place = len(text)
    for position in range(len(letters) - 1, -1, -1):
        place -= 1
        while place >= 0 and (
            text[place] != letters[position]
            or (position == 0 and place > 0 and text[place - 1].isalnum())
        ):
            place -= 1
        if place < 0:
            return ""
    return text[place:] if len(text) - place > len(short) else ""
