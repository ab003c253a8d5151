"""Whether a claim turns round who does what: “A outperforms B” where the source has B before A.

Every word is there, so that no word, number or name tells. Looked at are English verbs with an
object, in the active or with “by”, and comparisons with “than”; a construction that could be read
otherwise is passed over. In Chinese: comparisons with 于 (高于, 优于), 超过,
不如, 比 and 较, and what stands on both sides of 应当, 可以, 不得, 向, 由.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rag_assets.judging.clauses import clause_around
from rag_assets.judging.cues import HAN_COMPARES, of_kind, read_cues
from rag_assets.judging.folding import fold
from rag_assets.judging.terms import Term, read_terms


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d+|[^\w\s]")
_BE = _words("is are was were be been being gets got")
# In front of a noun; then the word is no verb.
_BEFORE_NOUNS = _words(
    "a an the this that these those its their our his her my your no any some each every all both "
    "of in on at for from by with to into over under between among as than and or more most less "
    "least very"
)
# What follows where a verb has no object: prepositions, conjunctions, marks.
_NO_OBJECT = _words(
    "of in on at for from by with to into over under between among as than and or but when where "
    "while if because that which who is are was were be been up down out off through during after "
    "before without within , . ; : ! ? ) ( - – —"
)
# “Reduces”, “chased”, and what is irregular; without an ending a word may be a noun or adjective.
_FINITE = re.compile(
    r"[a-z]{2,}(?:ed|[^s]s)$|(?:ate|beat|bought|built|caught|cut|drove|fed|fought|found|gave|held|"
    r"hit|hurt|kept|knew|led|lost|made|outgrew|paid|ran|saw|sent|shot|sold|sued|taught|threw|took|"
    r"wed|won|wrote)$"
)
# They compare as “than” does.
_COMPARING = re.compile(r"(?:out|under)perform|exceed|surpass|outweigh|outnumber|outlast")
_CLAUSE = re.compile("[^，。；！？：,;!?:]+")
_HAN_THAN = re.compile(
    "[高低多少大小优劣好差强弱早晚快慢长短重轻]于|领先于|落后于|超过|胜过|不如|不及"
)
# 甲应当向乙支付; what is between them is compared by itself.
_HAN_DOES = re.compile("应当|可以|不得|必须|有权|导致|引起|造成|引发|[向由给]")
_HAN_CAUSE = re.compile("原因(?:是|在于)")
_HAN_BY = re.compile(
    HAN_COMPARES + "(?P<right>.{2,20}?)"
    "[更还要]?(?:[高低多少大小强弱好差快慢长短早晚贵冷热重轻]|便宜|增|减|下降|上升|提高|降低)"
)
# Scales of things that are compared, not of how they compare: women and men.
_SIDES = frozenset({"gender", "north", "east"})
_LABEL = re.compile(r"\s([A-Z]|\d{1,2}|[IVX]{1,4})\b(?![.,]\d|\s?%)")
# A head and its adjective.
_NEAR = 2
_AGAINST = re.compile(
    r"than\b|(?:compared|in comparison) (?:to|with)\b|relative to\b|versus\b|vs\b"
)
# It is the same from either side.
_MUTUAL = re.compile(
    r"correlat|associat|resembl|equal|match|meet|met$|marr|join|touch|border|parallel|mirror|"
    r"complement|accompan|overlap|intersect|cross"
)


@dataclass(frozen=True, slots=True)
class RoleFact:
    """Two sides of a claim that the source has the other way round.

    Args:
        left: what stands before the verb or comparison in the claim; `right` behind it.
        pivot: the verb as it stands in the claim, or “than”.
    """

    left: str
    pivot: str
    right: str


@dataclass(frozen=True, slots=True)
class _Pivot:
    """A word with what stands at its sides; of a passive, the agent's side is the left one.

    Args:
        joined: the words of both sides that a verb joins, the nearest first; None for a
            comparison, where what it compares by stands between.
        is_cut: of several comparisons each has the words of its own clause alone.
    """

    key: str
    text: str
    left: tuple[Term, ...]
    right: tuple[Term, ...]
    joined: tuple[list[str], list[str]] | None
    is_cut: bool = False


def find_exchange(claim: str, sentences: Sequence[str]) -> RoleFact | None:
    """Return what the claim has the other way round than one of the sentences; None for nothing.

    A sentence that has it as the claim does outweighs one that has it otherwise.
    """
    found: dict[bool, RoleFact] = {}
    kept: set[bool] = set()
    for own in _pivots(claim):
        is_comparison = own.joined is None
        for sentence in sentences:
            for other in _pivots(sentence):
                if other.key != own.key:
                    continue
                if _is_exchanged(own, other):
                    fact = RoleFact(_shown(claim, own.left), own.text, _shown(claim, own.right))
                    found.setdefault(is_comparison, fact)
                elif _is_kept(own, other):
                    kept.add(is_comparison)
    # Who finds A better than B is the same where B is found better than A.
    left = [is_comparison for is_comparison in found if not kept & {is_comparison, True}]
    return found[left[0]] if left else None


def _is_exchanged(own: _Pivot, other: _Pivot) -> bool:
    other_left, other_right = _units(other.left), _units(other.right)
    left, right = (
        (_units(own.left), _units(own.right))
        if own.joined is None
        else (_present(side, other_left | other_right) for side in own.joined)
    )
    if other.is_cut and not own.is_cut:
        # “A thought B better than C, and C better than D”: of A the second clause says nothing.
        left, right = (side & (other_left | other_right) for side in (left, right))
    moved_right, moved_left = left - other_left, right - other_right
    return (
        bool(moved_right and moved_left)
        and moved_right <= other_right
        and moved_left <= other_left
        and not moved_left & other_right
        and not moved_right & other_left
    )


def _present(side: Sequence[str], held: set[str]) -> set[str]:
    """Return those of the words beside a verb that the source has; none without the nearest."""
    return set(side) & held if side[0] in held else set()


def _is_kept(own: _Pivot, other: _Pivot) -> bool:
    return _units(own.left) <= _units(other.left) and _units(own.right) <= _units(other.right)


def _units(terms: Sequence[Term]) -> set[str]:
    return {term.unit for term in terms}


def _shown(text: str, terms: Sequence[Term]) -> str:
    return text[terms[0].start : terms[-1].end] if terms else ""


def _pivots(text: str) -> Iterator[_Pivot]:
    """Yield the verbs with an object and the comparisons of a text."""
    # Whether it is more or less is compared by itself.
    turns = [cue for cue in of_kind(read_cues(text), "direction") if cue.scale not in _SIDES]
    every = [_numbered(term, text) for term in read_terms(text).items]
    terms = [
        term
        for term in every
        if not any(cue.start < term.end and term.start < cue.end for cue in turns)
    ]
    folded = fold(text)
    words = list(_WORD.finditer(folded))
    tokens = [word.group() for word in words]
    is_cut = sum(1 for _ in _AGAINST.finditer(folded)) > 1
    by_start = {term.start: term for term in every if term.kind == "word"}
    for place, word in enumerate(words):
        left = tuple(term for term in terms if term.end <= word.start())
        right = tuple(term for term in terms if term.start >= word.end())
        shown = text[word.start() : word.end()]
        if _AGAINST.match(folded, word.start()) and left and right:
            if is_cut:
                start, end = clause_around(text, *word.span())
                left = tuple(term for term in left if term.start >= start)
                right = tuple(term for term in right if term.end <= end)
            yield _Pivot("than", shown, left, right, None, is_cut)
            continue
        term = by_start.get(word.start())
        if term is None or not left or not right or _MUTUAL.match(term.unit):
            continue
        before_it = [term.unit for term in left[: -_NEAR - 1 : -1]]
        behind_it = [term.unit for term in right[:_NEAR]]
        before = tokens[place - 1] if place else ""
        behind = tokens[place + 1] if place + 1 < len(tokens) else ""
        if before in _BE:
            if behind == "by":
                yield _Pivot(term.unit, shown, right, left, (behind_it, before_it))
        elif _FINITE.match(tokens[place]) and not (
            before in _BEFORE_NOUNS or behind in _NO_OBJECT or behind.endswith("ed")
        ):
            if _COMPARING.match(term.unit):
                yield _Pivot("than", shown, left, right, None)
            yield _Pivot(term.unit, shown, left, right, (before_it, behind_it))
    yield from _han_pivots(text, terms)


def _numbered(term: Term, text: str) -> Term:
    """Return a term with the letter or number behind it: of groups A and B only that differs."""
    label = _LABEL.match(text, term.end)
    if term.kind != "word" or label is None:
        return term
    return replace(term, unit=f"{term.unit} {label[1].lower()}", end=label.end())


def _han_pivots(text: str, terms: Sequence[Term]) -> Iterator[_Pivot]:
    """Yield the Chinese comparisons of a text, each with what its clause says on both sides; and
    causes, with what stands before them.
    """
    for match in _HAN_CAUSE.finditer(text):
        sides = (
            tuple(term for term in terms if term.end <= match.start()),
            tuple(term for term in terms if term.start >= match.end()),
        )
        if all(sides):
            yield _Pivot("原因", match.group(), *sides, None)
    before = 0
    for clause in _CLAUSE.finditer(text):
        found = [(m, m.end(), clause.end()) for m in _HAN_THAN.finditer(text, *clause.span())]
        found += [(m, m.end(), clause.end()) for m in _HAN_DOES.finditer(text, *clause.span())]
        found += [(m, *m.span("right")) for m in _HAN_BY.finditer(text, *clause.span())]
        for match, start, end in found:
            # “东部为78%，高于西部的61%” compares what the clause before speaks of.
            is_first = match.re is _HAN_THAN and match.start() == clause.start()
            first = before if is_first else clause.start()
            left = [t for t in terms if first <= t.start and t.end <= match.start()]
            right = [t for t in terms if start <= t.start and t.end <= end]
            if left and right:
                shown = match.group()
                key = shown if match.re is _HAN_DOES else "than"
                yield _Pivot(key, shown, tuple(left), tuple(right), None)
        before = clause.start()
