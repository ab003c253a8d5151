"""A claim that follows a sentence of its source nearly word by word: what was changed in it.

The facts of `comparing` are sought in all sentences that answer a claim, since a paraphrase gathers
them. A sentence that is taken over answers for each of its words itself: a number that stands only
once there is not said twice, and what was before is not after.
"""

import re
from collections import Counter
from collections.abc import Iterator

from rag_assets.judging.borrowed import find_borrowed, takes_whole
from rag_assets.judging.clauses import PRONOUN, split_clauses
from rag_assets.judging.comparing import MODAL, number_context, overlap
from rag_assets.judging.contract import Sign
from rag_assets.judging.cues import Cue, of_kind, read_cues
from rag_assets.judging.equal_numbers import find_equal, is_equal, read_derived
from rag_assets.judging.exchanged import find_exchanged
from rag_assets.judging.features import Answer
from rag_assets.judging.folding import fold
from rag_assets.judging.lexicon import lexicon
from rag_assets.judging.moved import find_moved
from rag_assets.judging.names import read_names
from rag_assets.judging.naming import read_named
from rag_assets.judging.quantities import Quantity, is_year, read_quantities
from rag_assets.judging.recombined import find_recombined
from rag_assets.judging.restricted import find_restrictions
from rag_assets.judging.subjects import find_another_subject
from rag_assets.judging.substituted import find_placed_contraries, find_substitutes
from rag_assets.judging.terms import read_terms

# Weighted share of the claim that its best sentence holds from where on it follows that sentence.
_FOLLOWS = 0.7
_FOLLOWS_WHOLLY = 0.9
# Of a short sentence one word in another's place leaves no more.
_FOLLOWS_ROUGHLY = 0.4
# Share of the words around a number of the claim that stand around another number of the source,
# and by how much more than around its own, from which it has changed places.
_FITS = 0.5
_BETTER = 0.25
_COUNT = 10
_MONTHS = frozenset(
    [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ]
)
_DETERMINERS = frozenset({"no", "without", "neither", "none", "无", "没有"})
# “55 years” is “aged 55 years”, “30日” is “30天”.
_ALIKE = {
    "months": {"months", "age"}, "age": {"age", "months", ""}, "time": {"time", "day of month"},
    "day of month": {"time", "day of month"},
}  # fmt: skip
# Those with a number are compared with it.
_SPANS = re.compile(
    r"(?<![\d.] )(?<!\d)\b(?:seconds|minutes|hours|days|weeks|months|years|decades|centuries)\b"
)


def find_changes(found: Answer) -> Iterator[Sign]:
    """Yield what the claim says otherwise than the sentence that it follows; nothing where it
    follows none.
    """
    claim, sentence, window = found.claim, found.sentences[0], found.window
    share = found.selection.shares[0]
    if found.selection.is_crossed or share < _FOLLOWS_ROUGHLY:
        return
    # “B is lower than A” for “A is higher than B”: both have changed, and the sense has not.
    is_turned = found.comparison.is_turned
    if not is_turned:
        yield from find_placed_contraries(claim, sentence)
    if share < _FOLLOWS:
        return
    yield from _numbers(claim, window)
    yield from _moved_numbers(claim, window)
    yield from find_restrictions(claim, sentence)
    yield from _guesses(claim, sentence)
    for fact in found.comparison.causes:
        if fact.agreement < 0:
            text = f"The claim names a cause (“{fact.claim}”), the source says “{fact.source}”."
            yield Sign("causal", fact.claim, fact.source, text)
    for fact in found.comparison.extremes:
        if fact.agreement == 0:
            text = f"The claim says “{fact.claim}”, the source does not."
            yield Sign("words", fact.claim, "", text)
    yield from _units(claim, window)
    if not is_turned:
        yield from find_exchanged(claim, sentence)
        yield from find_moved(claim, sentence)
        yield from find_recombined(claim, sentence)
        yield from find_borrowed(claim, window)
        yield from find_another_subject(claim, found.sentences)
    yield from find_substitutes(claim, sentence, window)
    yield from _names(claim, window, found.title)
    # Of what one sentence holds alone, another one takes no denial over.
    yield from _negations(claim, sentence, sentence if share >= _FOLLOWS_WHOLLY else window)
    yield from _denied_elsewhere(claim, sentence)
    if not is_turned:
        yield from _directions(claim, sentence)


def _numbers(claim: str, window: str) -> Iterator[Sign]:
    left = [*read_quantities(window), *read_derived(window)]
    for quantity in read_quantities(claim):
        # Elsewhere a bare number may answer one with a unit; here the unit was there to be copied.
        unit = quantity.unit.kind
        alike = _ALIKE.get(unit, {unit})
        is_open = not unit and not quantity.bound
        equal = find_equal(quantity, [q for q in left if is_open or q.unit.kind in alike])
        if equal is not None:
            left.remove(equal)
            continue
        own = quantity.text
        yield Sign("number", own, "", f"“{own}” is not what the source has at this place.")


def _moved_numbers(claim: str, window: str) -> Iterator[Sign]:
    """Yield a number that the source has for something else: “A 71 %, B 92 %” exchanged."""
    own = read_quantities(claim)
    moved = {i: other for i, q in enumerate(own) if (other := _better_place(claim, q, window))}
    for i, other in moved.items():
        # What the claim has in its place, too, has not moved.
        taken = [j for j, quantity in enumerate(own) if is_equal(quantity, other)]
        if taken and not any(j in moved and is_equal(own[i], moved[j]) for j in taken):
            continue
        text = own[i].text
        shown = (
            f"The source has “{other.text}” where the claim says “{text}”, and “{text}” elsewhere."
        )
        yield Sign("number", text, other.text, shown)


def _better_place(claim: str, quantity: Quantity, window: str) -> Quantity | None:
    """Return the number of the source that stands where the claim has one of another place."""
    around = number_context(claim, quantity)
    kinds = [q.unit.kind for q in read_quantities(claim)]
    is_only = kinds.count(quantity.unit.kind) == 1
    near: dict[bool, float] = {}
    here: dict[bool, Quantity] = {}
    for other in read_quantities(window):
        # A bare 0.92 may be an end of an interval: what has no unit must be a count.
        is_count = quantity.unit.name or quantity.value >= _COUNT
        if (
            not is_count
            or other.unit.kind != quantity.unit.kind
            or is_year(other) != is_year(quantity)
        ):
            continue
        is_same = is_equal(quantity, other)
        if is_same and is_only and takes_whole(claim, window, other.start, other.end):
            return None
        theirs = number_context(window, other)
        # Of the shorter clause: the other one may have been joined with its neighbour.
        share = max(overlap(around, theirs), overlap(theirs, around))
        if share > near.get(is_same, -1.0):
            near[is_same], here[is_same] = share, other
    if len(near) == 2 and near[False] >= max(_FITS, near[True] + _BETTER):
        return here[False]
    return None


def _guesses(claim: str, sentence: str) -> Iterator[Sign]:
    """Yield what makes the claim's clause a guess or an aim in the sentence, and is left out."""
    if _tentative(claim):
        return
    own = read_terms(claim).weights
    for clause in split_clauses(sentence):
        for word in _tentative(clause)[:1]:
            if overlap(read_terms(clause).weights, own) >= _FITS:
                text = f"The source says it with “{word}”, the claim as a fact."
                yield Sign("words", "", word, text)
                return


def _tentative(text: str) -> list[str]:
    words, folded = lexicon(), fold(text)
    found = [
        match.group()
        for match in re.finditer(r"[a-z]+", folded)
        # The month has a capital.
        if match.group() in words.tentative_en and text[match.start() : match.end()] != "May"
    ]
    return found + [word for word in sorted(words.tentative_zh) if word in folded]


def _bare_spans(text: str) -> list[str]:
    counted = [(quantity.start, quantity.end) for quantity in read_quantities(text)]
    return [
        match.group()
        for match in _SPANS.finditer(text.lower())
        if not any(start <= match.start() < end for start, end in counted)
    ]


def _units(claim: str, window: str) -> Iterator[Sign]:
    """Yield a span without a number (“a few days”) where the source has another."""
    own, here = (_bare_spans(text) for text in (claim, window))
    left = [word for word in here if word not in own]
    for word in own:
        if left and word not in here:
            text = f"The claim says “{word}” where the source says “{left[0]}”."
            yield Sign("unit", word, left[0], text)


def _names(claim: str, window: str, title: str) -> Iterator[Sign]:
    """Yield a name that stands elsewhere only, where the claim lacks one of this place."""
    own, here, about = (read_named(text) for text in (claim, window, title))
    every = [name for name in read_names(window) if name.is_sure and not own.holds(name, here)]
    for name in read_names(claim):
        is_named = here.holds(name, own) or about.holds(name, own)
        is_month = name.key in _MONTHS
        left = [other.text for other in every if (other.key in _MONTHS) == is_month]
        if left and name.is_sure and not is_named:
            text = f"The claim says “{name.text}”; here the source has “{left[0]}”."
            yield Sign("entity", name.text, left[0], text)


def _negations(claim: str, sentence: str, window: str) -> Iterator[Sign]:
    own = _denying(claim)
    # “When dropout is removed” may be taken over as “without dropout”.
    counts = [
        len(_denying(text)) + len(of_kind(read_cues(text), "denial")) for text in (claim, window)
    ]
    if own and counts[0] > counts[1]:
        word = claim[own[-1].start : own[-1].end]
        text = f"The claim denies (“{word}”) more often than the sentence that it follows."
        yield Sign("negation", word, "", text)
    denials = [len(of_kind(read_cues(text), "denial")) for text in (claim, sentence)]
    if denials[0] > denials[1]:
        return  # “with dropout disabled” for “without dropout”
    ours, theirs = _denied_at_all(claim), _denied(sentence)
    told = [Counter(item.unit for item in read_terms(text).items) for text in (claim, sentence)]
    for unit, word in theirs:
        denied = [sum(unit == other for other, _ in found) for found in (ours, theirs)]
        # What the source says both ways may be taken over without the denial.
        if told[0][unit] - denied[0] > told[1][unit] - denied[1]:
            text = f"The source denies (“{word}”) what the claim takes over without it."
            yield Sign("negation", "", word, text)


def _denied_elsewhere(claim: str, sentence: str) -> Iterator[Sign]:
    """Yield what the claim takes over, without its denial, from a clause beside the one that it
    follows: “in adults and in children” for “in adults, but had no effect in children”.
    """
    if _denying(claim) or of_kind(read_cues(claim), "denial"):
        return
    own = read_terms(claim).weights
    clauses = split_clauses(sentence)
    outright = [clause for clause in clauses if not _denying(clause)]
    if any(map(PRONOUN.search, outright)):
        return  # which may stand for what the other clause names
    said = [read_terms(clause).weights for clause in outright]
    if max((overlap(own, weights) for weights in said), default=0.0) < _FITS:
        return
    elsewhere = frozenset().union(*said)
    for clause in clauses:
        if denying := _denying(clause):
            word = clause[denying[0].start : denying[0].end]
            for item in read_terms(clause).items:
                is_denied = item.start > denying[0].end and item.weight >= _FITS
                if is_denied and item.unit in own and item.unit not in elsewhere:
                    about = clause[item.start : item.end]
                    text = f"Of “{about}” the source says something with “{word}” only."
                    yield Sign("negation", about, word, text)
                    return


def _denied(text: str) -> list[tuple[str, str]]:
    """Return the term behind each word that denies, and that word."""
    items = read_terms(text).items
    return [
        (behind.unit, text[cue.start : cue.end])
        for cue in _denying(text)
        if (behind := next((item for item in items if item.start >= cue.end), None)) is not None
    ]


def _denied_at_all(text: str) -> list[tuple[str, str]]:
    """Return all terms behind a word that denies, to the end of its clause, and that word."""
    found = []
    for clause in split_clauses(text):
        cues = _denying(clause)
        if cues:
            word = clause[cues[0].start : cues[0].end]
            behind = [i for i in read_terms(clause).items if i.start >= cues[0].end]
            # A verb is denied with all that belongs to it, “without a degree” with one word.
            reach = 1 if word.lower() in _DETERMINERS else None
            found += [(item.unit, word) for item in behind[:reach]]
    return found


def _denying(text: str) -> list[Cue]:
    cues = read_cues(text)
    return [*of_kind(cues, "negation"), *of_kind(cues, "not_only")]


def _directions(claim: str, sentence: str) -> Iterator[Sign]:
    """Yield the words of one side that stand too often, where one of the other side is gone."""
    own, others = (
        [cue for cue in of_kind(read_cues(text), "direction") if cue.scale not in MODAL]
        for text in (claim, sentence)
    )
    asked, held = _sides(own), _sides(others)
    for scale, side in asked:
        turned = (scale, -side)
        if asked[scale, side] > held[scale, side] and held[turned] > asked[turned]:
            word = next(cue.word for cue in own if (cue.scale, cue.side) == (scale, side))
            other = next(cue.word for cue in others if (cue.scale, cue.side) == turned)
            text = f"The claim says “{word}” where the source says “{other}”."
            yield Sign("direction", word, other, text)


def _sides(cues: list[Cue]) -> Counter[tuple[str, int]]:
    return Counter((cue.scale, cue.side) for cue in cues)
