"""Abbreviations where a text defines them: congestive heart failure (CHF)."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from rag_assets.chunking import split_sentences
from rag_assets.model import HAN_RANGES, TextRule

# The words before are as many as its letters and two more.
_DEFINED = re.compile(r"(?P<before>(?:[\w-]+[ \n]){1,9})\((?P<short>[A-Z][A-Za-z&-]{1,7})s?\)")


@dataclass(frozen=True, slots=True)
class Definition:
    """An abbreviation with its long form; `start` and `end` are its half-open span."""

    short: str
    long: str
    start: int
    end: int


def find_definitions(text: str) -> Iterator[Definition]:
    """Yield the abbreviations that stand in brackets after their long form, in order.

    A long form begins with the abbreviation's letter, and holds its letters in their order, each
    next one at the beginning of a word where there is one (Schwartz and Hearst, PSB 2003).
    """
    for found in _DEFINED.finditer(text):
        short, words = found["short"], found["before"].split()
        long = _long_form(short, words[-(len(short) + 2) :])
        if long:
            yield Definition(short, long, *found.span("short"))


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


# Rules that find entities in a sentence: quotations, defined abbreviations, names.
#
# Each is in a register, with a text on which it fires and one on which it does not;
# docs/evaluation.md says what each is worth. They are tried in this order; a word belongs to the
# first rule that takes it.


ABBREVIATION = "abbreviation"
_SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉"
# A letter in small before it: mTOR, g-C3N4. Digits and dashes in it: UiO-66-NH2, TiO₂.
_WORD = (
    r"(?:[a-zα-ω][-‑–]?(?=[A-Z]))?[A-ZÀ-ÖØ-Þ]"
    r"(?:[^\W_]|['’](?=[^\W\d_]{2})|[-‑–](?=[^\W_])|\.(?=[A-Z]))*"
)
_INITIAL = r"[A-Z]\.(?=\s?[A-Z])"
_PART = rf"(?:{_INITIAL}|{_WORD})"
_JOIN = r"(?:\s(?:of|de|der|van|von|da|du|la|le|al|bin|and the|of the|for the|in the|&)(?=\s))?"
_NAME = re.compile(rf"(?<![\w.'’-]){_PART}(?:{_JOIN}\s{_PART}){{0,7}}")
# As any word may begin a sentence.
_PLAIN = re.compile(r"[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ]*")
# Not in Chinese, where what is quoted led astray rather than on.
_QUOTED = re.compile(rf"[“\"]([^“”\"\n.!?{HAN_RANGES}]{{2,48}})[”\"]")
_MOST_QUOTED_WORDS = 6
# A listed name counts in any letter case from this length; a shorter one (CO, Cu) as written.
LEAST_IN_ANY_CASE = 4
# Two letters are a country or initials more often than a thing.
_LEAST_NAME = 3
_HAN_AT = re.compile(f"[{HAN_RANGES}]")
_SPACE = re.compile(r"\s+")
_DASH = re.compile("[‐‑‒–—−]")
_EDGE = "\"'“”‘’.,;:()[]《》「」"
# Capitalised because a sentence begins with them; they are no name alone, nor the first of one.
_OPENERS_LIST = (
    "a about according after all also although among an and another any are as at because before "
    "being between both but by can did do does during each either even every few finally first for "
    "from furthermore had has have he her here his how however i if in instead into is it its many "
    "may moreover most much neither no nor not of on once one only or other our over several she "
    "similarly since so some such than that the their then there therefore these they this those "
    "though through thus to two under until upon using was we were what when where whether which "
    "while who whom whose why will with within without would you your figure fig table section "
    "results methods conclusions background objective introduction abstract"
)
_OPENERS = frozenset(_OPENERS_LIST.split())


@dataclass(frozen=True, slots=True)
class EntityRule(TextRule):
    """A rule that finds entities in a sentence.

    Args:
        spans: gives half-open spans in the sentence.
        called: entities by normalised spelling, of those that are called otherwise.
    """

    spans: Callable[[str], Iterator[tuple[int, int]]] = lambda _: iter(())
    called: Mapping[str, str] = field(default_factory=dict)


def _rule(
    identity: str,
    languages: tuple[str, ...],
    says: str,
    fires: str,
    silent: str,
    spans: Callable[[str], Iterator[tuple[int, int]]],
) -> EntityRule:
    check = lambda text: next(spans(text), None) is not None  # noqa: E731 - one line a rule
    return EntityRule(identity, languages, says, fires, silent, check, spans)


def _all(pattern: re.Pattern[str], group: int = 0) -> Callable[[str], Iterator[tuple[int, int]]]:
    return lambda text: (found.span(group) for found in pattern.finditer(text))


def _quoted(text: str) -> Iterator[tuple[int, int]]:
    for found in _QUOTED.finditer(text):
        if len(found[1].split()) <= _MOST_QUOTED_WORDS:
            yield found.span(1)


def _names(text: str) -> Iterator[tuple[int, int]]:
    if text.isupper():
        return
    first = re.search(r"\w", text)
    for found in _NAME.finditer(text):
        start, end = found.span()
        while (word := re.match(rf"{_PART}{_JOIN}\s?", text[start:end])) and (
            re.split(r"\s", word[0])[0].strip(".").lower() in _OPENERS
        ):
            start += word.end()
        opens = first is not None and start == first.start()
        if end - start >= _LEAST_NAME and not (opens and _PLAIN.fullmatch(text, start, end)):
            yield start, end


def normalise(name: str) -> str:
    """Return the key of a name: NFKC, case folded, without "the", quotes and a final 's."""
    text = _DASH.sub("-", unicodedata.normalize("NFKC", name))
    text = _SPACE.sub(" ", text).strip(f" {_EDGE}").casefold()
    return text.removesuffix("'s").removesuffix("’s").removeprefix("the ").strip()


def entity_rules(names: Sequence[Sequence[str]]) -> tuple[EntityRule, ...]:
    """Return the rules, with one for the names of a namespace's settings before all others.

    Args:
        names: the spellings of each; the first is its name.
    """
    if not names:
        return ENTITY_RULES
    return (_listed(tuple(map(tuple, names))), *ENTITY_RULES)


def of_document(rule: EntityRule, defined: Collection[str]) -> EntityRule:
    """Return a rule as it is in a document that defines some abbreviations."""
    if rule.id != ABBREVIATION or not defined:
        return rule
    known = "|".join(map(re.escape, sorted(defined, key=lambda short: (-len(short), short))))
    return replace(rule, spans=_all(re.compile(rf"(?<![\w.&-])(?:{known})s?(?![\w&])")))


@lru_cache(maxsize=8)
def _listed(names: tuple[tuple[str, ...], ...]) -> EntityRule:
    spellings = sorted({one for own in names for one in own}, key=lambda one: (-len(one), one))
    rule = _rule(
        "listed",
        ("en", "zh"),
        "a name of `graph.names`",
        names[0][0],
        "",
        _all(re.compile("|".join(map(_spelt, spellings)))),
    )
    # Where two names share a spelling the one that is listed first has it.
    called = {normalise(one): normalise(own[0]) for own in reversed(names) for one in own}
    return replace(rule, called=called)


def _spelt(spelling: str) -> str:
    """Return a pattern for a spelling, its spaces, dashes and digits in any form."""
    parts = re.split(r"(\s+|[-‐‑‒–—−]|\d)", unicodedata.normalize("NFKC", spelling).strip())
    pattern = "".join(
        r"\s+" if part.isspace()
        else "[-‐‑‒–—−]" if _DASH.fullmatch(part) or part == "-"
        else f"[{part}{_SUBSCRIPTS[int(part)]}]" if part in "0123456789" and part
        else re.escape(part)
        for part in parts
    )  # fmt: skip
    first = "" if _HAN_AT.match(spelling[0]) else r"(?<!\w)"
    last = "" if _HAN_AT.match(spelling[-1]) else r"(?!\w)"
    case = "(?i:" if len(normalise(spelling)) >= LEAST_IN_ANY_CASE else "(?:"
    return f"{first}{case}{pattern}){last}"


ENTITY_RULES = (
    _rule(
        "quoted",
        ("en",),
        f"a quotation of at most {_MOST_QUOTED_WORDS} words within one sentence",
        "They call it “urban heat island”.",
        'She said: "The roofs were cooler than all of the other ones in town."',
        _quoted,
    ),
    _rule(
        ABBREVIATION,
        ("en", "zh"),
        "an abbreviation whose long form stands before it; in all its document it means that",
        "Patients with congestive heart failure (CHF) were seen.",
        "Green roofs in towns (UHI) were cool.",
        lambda text: ((found.start, found.end) for found in find_definitions(text)),
    ),
    _rule(
        "name",
        ("en", "zh"),
        "capitalised words, joined by of, de, van …, with their numbers: New York, UiO-66, TiO₂, "
        "UHI; where a sentence begins not one that is a word like any other",
        "It was directed by Tim Burton in London.",
        "Roofs were cooler than streets.",
        _names,
    ),
)


# Entities of a document's passages: what the rules find, sentence by sentence.


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
