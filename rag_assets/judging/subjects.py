"""Of whom or what a sentence says what it says, where that has a name.

“Model B was trained on tweets” holds every word of “Model A was trained on tweets”, but for one
that stands in the sentence before.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from rag_assets.judging.clauses import FINITE, PRONOUN, TELLING_WEIGHT
from rag_assets.judging.contract import Sign
from rag_assets.judging.folding import fold
from rag_assets.judging.names import Name, read_names
from rag_assets.judging.naming import read_named
from rag_assets.judging.terms import is_chinese, read_terms

# Few verbs in the present tense are listed, since plural nouns look like them; behind a name
# hardly any noun does.
_ENDING_IN_S = re.compile(r"(?:\s+(?:also|then|only|thus|still|now|both))?\s+[a-z]{2,}s\b")
_PREPOSITION = re.compile(r"\b(in|at|from|for|among|with|on)\s+(?:the\s+)?$")
_SUBJECT = "subject"
# Of a Chinese sentence verbs are not told; characters in which a name begins that it is about.
_BEGINNING = 5
_NEARLY_ALL = 0.85


def find_another_subject(claim: str, sentences: Sequence[str]) -> Iterator[Sign]:
    """Yield the name before the claim's verb, or behind “in”, where its source has another one.

    Args:
        sentences: the one that the claim follows first. What none of them names is missing, and
            not exchanged.
    """
    own = _places(claim)
    for number, sentence in enumerate(sentences):
        others = [*sentences[:number], *sentences[number + 1 :]]
        there = _places(sentence)
        places = own.keys() & there.keys()
        if number:
            # “In Sweden, they fell”: of the same, elsewhere. Who “trained it” is not what was.
            places -= {_SUBJECT}
            if not PRONOUN.search(sentence) or not _takes(claim, sentence, others):
                continue
        elif not _says_the_same(claim, own, sentence):
            continue
        for place in sorted(places):
            if _are_others(claim, own[place], sentence, there[place], " ".join(others)):
                mine, theirs = own[place][-1].text, there[place][-1].text
                text = f"The source says it of “{theirs}”, the claim of “{mine}”."
                yield Sign("entity", mine, theirs, text)


def _says_the_same(claim: str, own: Mapping[str, Sequence[Name]], sentence: str) -> bool:
    """Say whether a sentence holds nearly all of a claim but for the names in these places."""
    spans = [(name.start, name.end) for names in own.values() for name in names]
    items = [
        item
        for item in read_terms(claim).items
        if not any(start < item.end and item.start < end for start, end in spans)
    ]
    held = read_terms(sentence).weights
    every = sum(item.weight for item in items)
    return sum(item.weight for item in items if item.unit in held) >= _NEARLY_ALL * every


def _takes(claim: str, sentence: str, others: Sequence[str]) -> bool:
    """Say whether a claim has something that only this sentence has."""
    held = read_terms(sentence).weights.keys()
    beside = frozenset().union(*(read_terms(other).weights for other in others))
    wanted = read_terms(claim).weights
    shared = sum(w for unit, w in wanted.items() if unit in held and unit not in beside)
    return shared >= TELLING_WEIGHT


def _are_others(
    claim: str, own: Sequence[Name], sentence: str, there: Sequence[Name], elsewhere: str
) -> bool:
    return not any(
        _names(claim, name, sentence) or any(_is_short_for(name, n, elsewhere) for n in own)
        for name in there
    ) and all(not _names(sentence, n, claim) and _names(elsewhere, n, claim) for n in own)


def _is_short_for(one: Name, other: Name, text: str) -> bool:
    """Say whether a text introduces one name by the other: “pyridostatin (PDS)”."""
    first, second = (re.escape(name.key) for name in (one, other))
    return bool(re.search(rf"{first}\W? ?\({second}|{second}\W? ?\({first}", fold(text)))


def _names(text: str, name: Name, asking: str) -> bool:
    """Say whether a text names what another one does; a letter is a name of its own: model B."""
    if len(name.text) == 1:
        return bool(re.search(rf"(?<![A-Za-z0-9]){re.escape(name.text)}(?![A-Za-z0-9])", text))
    return read_named(text).holds(name, read_named(asking))


def _places(text: str) -> dict[str, list[Name]]:
    """Return the names of a text by where they stand: behind a preposition, before the verb.

    No Chinese names, which may be a part of another word.
    """
    found: dict[str, list[Name]] = {}
    end = _end_of_subject(text)
    for name in read_names(text):
        before = _PREPOSITION.search(fold(text), 0, name.start)
        place = before[1] if before else _SUBJECT if name.start < end else ""
        if place and name.text[0].isascii():
            found.setdefault(place, []).append(name)
    return found


def _end_of_subject(text: str) -> int:
    if is_chinese(text):
        return _BEGINNING
    ends = [match.start() for match in FINITE.finditer(fold(text))]
    ends += [found.end() for n in read_names(text) if (found := _ENDING_IN_S.match(text, n.end))]
    return min(ends, default=0)
