"""What speaks for a claim and against it, in words that a reader can check."""

import re
from collections.abc import Iterator

from rag_assets.judging.clauses import is_fragment
from rag_assets.judging.comparing import Comparison, CueFact, NumberFact
from rag_assets.judging.contract import Sign
from rag_assets.judging.cues import of_kind, own_denials, read_cues
from rag_assets.judging.features import Answer
from rag_assets.judging.near_copy import find_changes
from rag_assets.judging.roles import RoleFact
from rag_assets.judging.selecting import claim_weights, held_units
from rag_assets.judging.terms import read_terms, weighted_share

# More is not read.
_MOST_SIGNS = 5
_MOST_WORDS = 4
# Words rarer than this are worth naming when the source does not have them.
_TELLING_WEIGHT = 0.55
# Weight in common around two opposite words from which they speak of the same thing; and share
# of the claim that the best sentence must hold before it can contradict it.
_SAME_SUBJECT = 0.5
_SAME_NEGATED = 0.75
_SAME_CLAIM = 0.4
# Share of what a question holds of a claim that a sentence must hold to answer it.
_AS_MUCH = 0.9
# A longer line in capitals is a headline.
_MOST_IN_A_NAME = 4
_LATIN_WORD = re.compile(r"[^\W\d_]+")
_IN_NAMES = frozenset({"of", "the", "and", "de", "van", "von", "la", "le"})
_CLOSING = "\"'”’」』)）*_ "


def find_contradictions(found: Answer) -> list[Sign]:
    """Return what the source says otherwise: another number or unit, the opposite, a negation.

    Only where the sentence is about the same thing, so that what is merely missing is none.
    """
    if not found.selection.is_crossed and found.selection.shares[0] < _SAME_CLAIM:
        return []
    return [*_rivals(found.comparison), *_opposites(found)]


def find_doubts(found: Answer) -> list[Sign]:
    """Return what keeps a claim from being OK, however near it is: a reader would stop there.

    A number that does not stand in the passage, a negation that nothing there answers, a direction
    where the source has only the opposite, two sides of a verb or comparison that change places.
    """
    comparison = found.comparison
    signs = [_missing_number(n) for n in comparison.numbers if n.equal is None]
    signs += [_opposite(fact) for fact in comparison.directions if fact.agreement < 0]
    is_denied = any(
        of_kind(read_cues(text), "negation") or own_denials(text, found.claim)
        for text in (found.sentences[0], found.window)
    )
    signs += [_negation(fact) for fact in comparison.negations if fact.claim and not is_denied]
    if comparison.exchange is not None:
        signs.append(_exchange(comparison.exchange))
    return signs


def find_reservations(found: Answer) -> list[Sign]:
    """Return what keeps a claim from being OK until somebody has looked, though it may be right.

    What is only a name, a name that the passage does not name (it may say “he”), what the passage
    only asks, and what was changed in a sentence that was taken over.
    """
    names = list(_missing_names(found))
    if found.selection.is_crossed:
        # Acronyms are written alike in both languages; other names are translated.
        names = [sign for sign in names if sign.claim.isupper() and sign.claim.isascii()]
    return [*_mere_name(found.claim), *names, *_asked(found), *find_changes(found)]


def _mere_name(claim: str) -> Iterator[Sign]:
    """Yield that a claim is a name and nothing else: that it stands there supports nothing."""
    items = read_terms(claim).items
    is_name = all(word[0].isupper() or word in _IN_NAMES for word in _LATIN_WORD.findall(claim))
    if 0 < len(items) <= _MOST_IN_A_NAME and is_name and is_fragment(claim):
        yield Sign("words", claim, "", f"“{claim}” is a name, and states nothing.")


def _asked(found: Answer) -> Iterator[Sign]:
    """Yield the question that the best sentence is, unless another one holds the claim as well."""
    asked, *others = found.sentences
    wanted = read_terms(found.claim)
    held = weighted_share(wanted, held_units(asked))
    if _is_question(asked) and not any(
        weighted_share(wanted, held_units(other)) >= _AS_MUCH * held
        for other in others
        if not _is_question(other)
    ):
        yield Sign("words", "", asked, "The passage asks it, and does not say it.")


def _is_question(sentence: str) -> bool:
    return sentence.rstrip(_CLOSING).endswith(("?", "？"))


def signs_against(found: Answer) -> tuple[Sign, ...]:
    """Return what speaks against the claim, contradictions first."""
    signs = [
        *find_contradictions(found),
        *find_doubts(found),
        *find_reservations(found),
        *_missing(found),
    ]
    # Of two that name the same words the first says more.
    told = {(sign.kind, sign.claim, sign.source): sign for sign in reversed(signs)}
    return tuple(sign for sign in dict.fromkeys(signs) if sign in told.values())[:_MOST_SIGNS]


def signs_for(found: Answer) -> tuple[Sign, ...]:
    """Return what the sentences and the claim have in common."""
    return tuple(dict.fromkeys(_common(found)))[:_MOST_SIGNS]


def _rivals(comparison: Comparison) -> Iterator[Sign]:
    for fact in comparison.numbers:
        if fact.equal is not None:
            continue
        own = fact.claim.text
        if fact.other_unit is not None:
            other = fact.other_unit.text
            yield Sign("unit", own, other, f"The claim says {own}, the source {other}.")
        elif fact.rival is not None and fact.claim.unit.kind:
            other = fact.rival.text
            yield Sign("number", own, other, f"The claim says {own}, the source {other}.")


def _opposites(found: Answer) -> Iterator[Sign]:
    for fact in found.comparison.directions:
        if fact.agreement < 0 and fact.subject >= _SAME_SUBJECT:
            yield _opposite(fact)
    for fact in found.comparison.negations:
        if fact.agreement < 0 and fact.subject >= _SAME_NEGATED:
            yield _negation(fact)


def _opposite(fact: CueFact) -> Sign:
    text = f"The claim says “{fact.claim}”, the source “{fact.source}”."
    return Sign("direction", fact.claim, fact.source, text)


def _exchange(fact: RoleFact) -> Sign:
    text = (
        f"The source has both sides of “{fact.pivot}” the other way round: "
        f"“{fact.left}” and “{fact.right}”."
    )
    return Sign("direction", fact.pivot, fact.pivot, text)


def _missing_number(fact: NumberFact) -> Sign:
    own = fact.claim.text
    return Sign("number", own, "", f"“{own}” does not stand in the passage.")


def _negation(fact: CueFact) -> Sign:
    if fact.claim:
        text = f"The claim says “{fact.claim}”; the source has no such negation."
    else:
        text = f"The source says “{fact.source}”; the claim does not."
    return Sign("negation", fact.claim, fact.source, text)


def _missing_names(found: Answer) -> Iterator[Sign]:
    for name in found.comparison.names:
        if not name.is_found and name.claim.is_sure:
            own = name.claim.text
            yield Sign("entity", own, "", f"“{own}” is not named in the passage.")


def _missing(found: Answer) -> Iterator[Sign]:
    if found.selection.is_crossed:  # names are compared across languages, too
        yield from _missing_names(found)
    for fact in found.comparison.causes:
        if fact.agreement < 0:
            yield Sign(
                "causal", fact.claim, fact.source,
                f"The claim names a cause (“{fact.claim}”), the source says “{fact.source}”.",
            )  # fmt: skip
    for fact in found.comparison.extremes:
        if fact.agreement == 0:
            yield Sign(
                "words", fact.claim, "", f"The claim says “{fact.claim}”, the source does not."
            )
    # In another language every word is missing, which says nothing.
    words = [] if found.selection.is_crossed else _missing_words(found)
    if words:
        listed = ", ".join(f"“{word}”" for word in words)
        yield Sign("words", ", ".join(words), "", f"Not in the passage: {listed}.")


def _missing_words(found: Answer) -> list[str]:
    held = frozenset().union(*(held_units(sentence) for sentence in found.sentences))
    named = " ".join(name.claim.text for name in found.comparison.names)
    # In other words, but there: “half” for 50 %, “15 cm” for 150 mm.
    amounts = [fact.claim for fact in found.comparison.numbers if fact.equal is not None]
    turns = (*found.comparison.directions, *found.comparison.negations)
    answered = {fact.claim for fact in turns if fact.agreement > 0}
    every = read_terms(found.claim).items
    items = [
        item
        for item in every
        if found.claim[item.start : item.end] not in answered
        and not any(amount.start <= item.start < amount.end for amount in amounts)
    ]
    # Pairs of Chinese characters overlap, also over the ends of words: what another pair holds
    # is not missing.
    standing = {
        at
        for item in every
        if item.kind == "han" and (item.unit in held or item not in items)
        for at in range(item.start, item.end)
    }
    missing = sorted(
        (item for item in items if item.unit not in held and item.weight >= _TELLING_WEIGHT),
        key=lambda item: -item.weight,
    )[: 2 * _MOST_WORDS]
    words: list[str] = []
    end = -1
    for item in sorted(missing, key=lambda item: item.start):
        places = [at for at in range(item.start, item.end) if at not in standing and at >= end]
        if not places or found.claim[item.start : item.end] in named:
            continue
        text = found.claim[places[0] : item.end if item.kind == "word" else places[-1] + 1]
        if item.kind == "han" and words and places[0] == end:
            words[-1] += text
        else:
            words.append(text)
        end = places[-1] + 1
    # A single character is part of a word that no pair shows.
    told = [word for word in words if len(word) > 1]
    return list(dict.fromkeys(told))[:_MOST_WORDS]


def _common(found: Answer) -> Iterator[Sign]:
    weights = claim_weights(read_terms(found.claim))
    held = frozenset().union(*(held_units(sentence) for sentence in found.sentences))
    count = sum(unit in held for unit in weights)
    if count and not found.selection.is_crossed:
        yield Sign(
            "words", "", "",
            f"{count} of the claim's {len(weights)} words and numbers stand in the passage.",
        )  # fmt: skip
    for number in found.comparison.numbers:
        if number.equal is not None:
            own, other = number.claim.text, number.equal.text
            same = f"{own} stands in the passage" if own == other else f"{own} is {other} there"
            yield Sign("number", own, other, f"{same}.")
    for is_in_title, place in ((False, "passage"), (True, "title or a heading")):
        names = [
            name.claim.text
            for name in found.comparison.names
            if name.is_found and name.is_in_title == is_in_title
        ]
        if names:
            shown = ", ".join(dict.fromkeys(names[:_MOST_WORDS]))
            yield Sign("entity", shown, shown, f"Named in the {place}: {shown}.")
    for fact in found.comparison.directions:
        if fact.agreement > 0 and fact.subject >= _SAME_SUBJECT:
            yield Sign(
                "direction", fact.claim, fact.source,
                f"The same direction: “{fact.claim}”, “{fact.source}”.",
            )  # fmt: skip
    for fact in found.comparison.negations:
        if fact.agreement > 0:
            yield Sign(
                "negation", fact.claim, fact.source,
                f"Both deny: “{fact.claim}”, “{fact.source}”.",
            )  # fmt: skip
