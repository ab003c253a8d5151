"""A claim beside the sentences that answer it: numbers, units, directions, negation, names."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag_assets.judging.clauses import clause_around, split_clauses
from rag_assets.judging.cues import Cue, of_kind, own_denials, read_cues
from rag_assets.judging.equal_numbers import find_equal, is_equal, read_derived, units_agree
from rag_assets.judging.exchanged import find_replaced, tokens_of
from rag_assets.judging.names import Name, read_names
from rag_assets.judging.naming import is_joined, read_named
from rag_assets.judging.quantities import NEAR, Quantity, is_year, read_quantities
from rag_assets.judging.roles import RoleFact, find_exchange
from rag_assets.judging.terms import Term, read_terms, weighted_share

# Terms on each side of a word that say what it is about; more of them in the source, where
# a sentence may be wordier.
_NEAR_IN_CLAIM = 3
_NEAR_IN_SOURCE = 6
# Scales of modal verbs: what they are about stands behind them.
_BEHIND_MODAL = 3
MODAL = frozenset({"duty", "permission"})
# “Have not yet been”, “did not, for instance, observe”: nothing that is denied.
_PASSED = frozenset(
    {"yet", "instanc", "exampl", "howev", "also", "still", "alway", "ever", "necessarili"}
)
# Terms behind a negation that it denies.
_DENIED = 2
# Weight in common from which two words speak of the same thing.
_SAME_SUBJECT = 0.5
# More of the words around one side than around the other.
_CLEARLY = 0.25
# Of the share that a denying sentence holds of the claim.
_AS_NEAR = 0.9
# Parts of a date and ages stand for themselves: 8 月 is no 8 年 in another unit.
_DATES = frozenset({"year", "month", "day of month", "decade"})


@dataclass(frozen=True, slots=True)
class NumberFact:
    """A number of the claim.

    Args:
        equal: the source's number that it repeats.
        rival: where there is none, a number of the same kind in the best sentence.
        other_unit: where there is none, the same digits with another unit.
    """

    claim: Quantity
    equal: Quantity | None
    is_in_best: bool
    rival: Quantity | None
    other_unit: Quantity | None


@dataclass(frozen=True, slots=True)
class NameFact:
    """A name of the claim, and whether the source has it.

    Args:
        is_in_title: only there, or in a heading: every sentence is about it.
    """

    claim: Name
    is_in_best: bool
    is_found: bool
    is_in_title: bool


@dataclass(frozen=True, slots=True)
class CueFact:
    """A turning word of the claim or of the source, beside what answers it.

    Args:
        claim: as it stands there; empty where only the source has one.
        source: as it stands there; empty where only the claim has one.
        agreement: 1 the same, -1 the opposite, 0 nothing to compare.
        subject: share of the words around it that both have, 0 to 1.
    """

    claim: str
    source: str
    agreement: int
    subject: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """All that was found when a claim was held against sentences, the best first.

    Args:
        exchange: two sides that change places, where no direction is turned with them.
        is_turned: both are: less than on the one side is more than on the other.
    """

    numbers: tuple[NumberFact, ...]
    names: tuple[NameFact, ...]
    directions: tuple[CueFact, ...]
    negations: tuple[CueFact, ...]
    causes: tuple[CueFact, ...]
    extremes: tuple[CueFact, ...]
    exchange: RoleFact | None
    is_turned: bool


def compare(claim: str, sentences: Sequence[str], context: str = "") -> Comparison:
    """Hold a claim against sentences.

    Args:
        claim: without anchors and marks.
        sentences: the best first; at least one.
        context: title and headings above them: what they name, the sentences need not name again.
    """
    directions = _directions(claim, sentences)
    exchange = find_exchange(claim, sentences)
    is_turned = exchange is not None and any(fact.agreement < 0 for fact in directions)
    if is_turned:
        directions = tuple(replace(fact, agreement=abs(fact.agreement)) for fact in directions)
        exchange = None
    return Comparison(
        _numbers(claim, sentences),
        _names(claim, sentences, context),
        directions,
        _negations(claim, sentences),
        _causes(claim, sentences),
        _extremes(claim, sentences),
        exchange,
        is_turned,
    )


def _numbers(claim: str, sentences: Sequence[str]) -> tuple[NumberFact, ...]:
    best = read_quantities(sentences[0])
    everywhere = [quantity for sentence in sentences for quantity in read_quantities(sentence)]
    # What is worked out answers a number, but contradicts none.
    derived = [quantity for sentence in sentences for quantity in read_derived(sentence)]
    facts = []
    own = read_quantities(claim)
    # What the claim says itself is not what it should have said.
    rivals = [other for other in best if not any(is_equal(quantity, other) for quantity in own)]
    for quantity in own:
        equal = find_equal(quantity, [*everywhere, *derived])
        is_in_best = find_equal(quantity, [*best, *read_derived(sentences[0])]) is not None
        rival = other_unit = None
        if equal is None:
            around = number_context(claim, quantity)
            rival = max(
                (q for q in rivals if _is_rival(quantity, q)),
                key=lambda q: overlap(around, number_context(sentences[0], q)),
                default=None,
            )
            other_unit = next((q for q in everywhere if _is_other_unit(quantity, q)), None)
        facts.append(NumberFact(quantity, equal, is_in_best, rival, other_unit))
    return tuple(facts)


def number_context(text: str, quantity: Quantity) -> dict[str, float]:
    """Return the terms of the clause that a number stands in, with their weights."""
    start, end = clause_around(text, quantity.start, quantity.end)
    inside = [
        term
        for term in read_terms(text).items
        if start <= term.start
        and term.end <= end
        and not (quantity.start < term.end and term.start < quantity.end)
    ]
    return {term.unit: term.weight for term in inside}


def _is_rival(claim: Quantity, source: Quantity) -> bool:
    if claim.unit.kind or source.unit.kind:
        return claim.unit.kind == source.unit.kind and claim.unit.kind not in _DATES
    return is_year(claim) == is_year(source)


def _is_other_unit(claim: Quantity, source: Quantity) -> bool:
    if _DATES & {claim.unit.kind, source.unit.kind}:
        return False
    return claim.raw == source.raw and (
        not units_agree(claim.unit, source.unit)
        or (bool(claim.unit.kind) == bool(source.unit.kind) and claim.value != source.value)
    )


def _names(claim: str, sentences: Sequence[str], context: str) -> tuple[NameFact, ...]:
    texts = [read_named(sentence) for sentence in sentences]
    own, about = read_named(claim), read_named(context)
    # Of two towns in a title it is open which one a sentence is about.
    is_open = any(
        name.is_sure and not any(text.holds(name, about) for text in (own, *texts))
        for name in read_names(context)
    )
    facts = []
    for name in read_names(claim):
        found = [text.holds(name, own) for text in texts]
        is_in_title = (
            not (is_open or any(found)) and about.holds(name, own) and not is_joined(name, context)
        )
        facts.append(
            NameFact(name, found[0] or is_in_title, any(found) or is_in_title, is_in_title)
        )
    return tuple(facts)


def _around(text: str, cue: Cue, count: int, *, is_cut: bool) -> dict[str, float]:
    """Return the terms on each side of a word, of its clause alone where `is_cut`; of a modal verb
    those behind it.
    """
    items, (start, end) = read_terms(text).items, (0, len(text))
    if is_cut:
        start, end = clause_around(text, cue.start, cue.end, is_subordinate_apart=True)
    before = [term for term in items if start <= term.start and term.end <= cue.start][-count:]
    behind = [term for term in items if cue.end <= term.start and term.end <= end][:count]
    near = behind[:_BEHIND_MODAL] if cue.scale in MODAL else (*before, *behind)
    return {term.unit: term.weight for term in near}


def overlap(wanted: dict[str, float], found: dict[str, float]) -> float:
    """Return the share, 0 to 1, of the weight of terms that others have, too."""
    total = sum(wanted.values())
    return sum(w for unit, w in wanted.items() if unit in found) / total if total else 0.0


def _directions(claim: str, sentences: Sequence[str]) -> tuple[CueFact, ...]:
    best = {(cue.scale, cue.side) for cue in of_kind(read_cues(sentences[0]), "direction")}
    told = _told_bounds(claim, sentences)
    facts = []
    said = {(cue.scale, cue.side) for cue in of_kind(read_cues(claim), "direction")}
    for cue in of_kind(read_cues(claim), "direction"):
        if _is_inside(cue, told):
            continue
        is_modal = cue.scale in MODAL
        # Where both say both, what stands in another clause would tell the wrong one.
        both = {(cue.scale, 1), (cue.scale, -1)}
        is_cut = both <= said and both <= best
        around = _around(claim, cue, _NEAR_IN_CLAIM, is_cut=is_cut)
        same: tuple[float, Cue | None] = (-1.0, None)
        opposite: tuple[float, Cue | None] = (-1.0, None)
        for sentence in sentences:
            kept = _kept_bounds(claim, cue, sentence)
            for other in of_kind(read_cues(sentence), "direction"):
                if other.scale != cue.scale or _is_inside(other, kept):
                    continue
                theirs = _around(sentence, other, _NEAR_IN_SOURCE, is_cut=is_cut)
                subject = overlap(around, theirs)
                if is_modal and subject < _SAME_SUBJECT:
                    continue
                if other.side == cue.side:
                    same = max(same, (subject, other), key=lambda pair: pair[0])
                else:
                    opposite = max(opposite, (subject, other), key=lambda pair: pair[0])
        shown = claim[cue.start : cue.end]
        # What the best sentence says in one way only, another one hardly takes back.
        sides = {side for scale, side in best if scale == cue.scale}
        is_said = sides == {cue.side}
        # Where it says both, words around them hardly tell which is meant.
        least = same[0] + (_CLEARLY if len(sides) == 2 else 0.0)
        is_placed = opposite[1] is not None and _takes_place(claim, cue, sentences[0], opposite[1])
        if opposite[1] is not None and (is_placed or (opposite[0] > least and not is_said)):
            facts.append(CueFact(shown, opposite[1].word, -1, opposite[0]))
        elif same[1] is not None:
            facts.append(CueFact(shown, same[1].word, 1, same[0]))
        else:
            facts.append(CueFact(shown, "", 0, 0.0))
    return tuple(facts)


def _takes_place(claim: str, cue: Cue, sentence: str, other: Cue) -> bool:
    """Say whether a word of a claim, which its sentence has nowhere, stands alone where that has
    another one.
    """
    pieces = [(piece.old, piece.new) for piece in find_replaced(claim, sentence)]
    return ([other.word], [cue.word]) in pieces and cue.word not in tokens_of(sentence)


def _told_bounds(claim: str, sentences: Sequence[str]) -> list[tuple[int, int]]:
    """Return where the claim bounds a number ("less than 75") that the source gives as another.

    There the words say nothing but that 74 is less; around an equal number they can be turned.
    """
    everywhere = [quantity for sentence in sentences for quantity in read_quantities(sentence)]
    found = []
    for quantity in read_quantities(claim):
        equal = find_equal(quantity, everywhere) if quantity.bound else None
        if equal is not None and equal.value != quantity.value:
            found.append((quantity.start - NEAR, quantity.start))
    return found


def _kept_bounds(claim: str, cue: Cue, sentence: str) -> list[tuple[int, int]]:
    """Return where the source bounds a number as the claim does, elsewhere than at a cue of it.

    “Those who slept less than six hours” did so in the claim, too, whatever is “more often” there.
    """
    own = [quantity for quantity in read_quantities(claim) if quantity.bound]
    if _is_inside(cue, [(quantity.start - NEAR, quantity.start) for quantity in own]):
        return []
    return [
        (other.start - NEAR, other.start)
        for other in read_quantities(sentence)
        if any(q.bound == other.bound and is_equal(q, other) for q in own)
    ]


def _is_inside(cue: Cue, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= cue.start < end for start, end in spans)


def _scope(items: Sequence[Term], cue: Cue) -> dict[str, float]:
    """Return the terms that a negation is about: those behind it."""
    behind = [term for term in items if term.start >= cue.end and term.unit not in _PASSED][
        :_DENIED
    ]
    return {term.unit: term.weight for term in behind}


def _negations(claim: str, sentences: Sequence[str]) -> tuple[CueFact, ...]:
    own = read_terms(claim).items
    own_units = read_terms(claim).weights
    own_cues = of_kind(read_cues(claim), "negation")
    clauses = [clause for sentence in sentences for clause in split_clauses(sentence)]
    facts = []
    for cue in own_cues:
        scope = _scope(own, cue)
        best, word, agreement = 0.0, "", 0
        for text in (*sentences, *clauses):
            subject = overlap(scope, read_terms(text).weights)
            others = of_kind(read_cues(text), "negation")
            if others and subject >= _SAME_SUBJECT:
                # In the sentence perhaps of something else; in the clause of this.
                best, word, agreement = max(subject, best), others[0].word, int(text in clauses)
            elif subject > best:
                best, word, agreement = subject, "", -_is_bare(subject, text, claim)
            if agreement > 0:
                break
        facts.append(CueFact(claim[cue.start : cue.end], word, agreement, best))
    if not own_cues:
        for clause in clauses:
            items = read_terms(clause).items
            for cue in of_kind(read_cues(clause), "negation"):
                scope = _scope(items, cue)
                subject = overlap(scope, own_units)
                is_said = _is_said(claim, scope, subject, clause, clauses)
                agreement = 0 if is_said else -_is_bare(subject, claim, clause)
                facts.append(CueFact("", clause[cue.start : cue.end], agreement, subject))
    return tuple(facts)


def _is_said(
    claim: str, scope: dict[str, float], subject: float, denying: str, clauses: Sequence[str]
) -> bool:
    """Say whether a clause that is as near to the claim has what another one denies, outright."""
    own = read_terms(claim)
    near = weighted_share(own, read_terms(denying).weights)
    return any(
        not of_kind(read_cues(clause), "negation")
        and overlap(scope, read_terms(clause).weights) >= subject
        and weighted_share(own, read_terms(clause).weights) >= _AS_NEAR * near
        for clause in clauses
    )


def _is_bare(subject: float, text: str, denying: str) -> bool:
    """Say whether a text is about what another one denies, and has no word that may deny it."""
    return subject >= _SAME_SUBJECT and not own_denials(text, denying)


def _causes(claim: str, sentences: Sequence[str]) -> tuple[CueFact, ...]:
    own = [cue.word for cue in of_kind(read_cues(claim), "causal")]
    if not own:
        return ()
    words = [cue for sentence in sentences[:1] for cue in read_cues(sentence)]
    causal = [cue.word for cue in words if cue.kind == "causal"]
    loose = [cue.word for cue in words if cue.kind in {"association", "hedge"}]
    if causal:
        return (CueFact(own[0], causal[0], 1, 1.0),)
    return (CueFact(own[0], loose[0] if loose else "", -1 if loose else 0, 1.0),)


def _extremes(claim: str, sentences: Sequence[str]) -> tuple[CueFact, ...]:
    others = [cue for sentence in sentences for cue in of_kind(read_cues(sentence), "extreme")]
    held = {cue.scale: cue.word for cue in others}
    return tuple(
        CueFact(claim[cue.start : cue.end], held.get(cue.scale, ""), int(cue.scale in held), 1.0)
        for cue in of_kind(read_cues(claim), "extreme")
    )
