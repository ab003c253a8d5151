"""What narrows a sentence, and is left out by a claim that follows it.

“Participants over 60 preferred paper” is not “participants preferred paper”.
"""

import re
from collections.abc import Iterator

from rag_assets.judging.clauses import FINITE, split_clauses
from rag_assets.judging.comparing import overlap
from rag_assets.judging.contract import Sign
from rag_assets.judging.cues import of_kind, read_cues
from rag_assets.judging.equal_numbers import find_equal
from rag_assets.judging.folding import fold
from rag_assets.judging.lexicon import lexicon
from rag_assets.judging.quantities import read_quantities
from rag_assets.judging.terms import read_terms

_NO_EXCEPTION = re.compile(r"\b(?:(?:as|even|what) if|if (?:possible|necessary|any|only|not))\b")
_ONLY_IF = re.compile(
    r"(?i)\b(?:only|solely|exclusively) "
    r"(?:in|if|when|where|after|before|under|with|on|during|by|at|for)\b"
)
# Behind a comma it tells more of all of them; “the model that we propose” is no other one.
_WHO = re.compile(
    r"[A-Za-z][\w-]* (?P<which>(?:who|whose|that|which) (?!(?:we|I|they|he|she|it|you)\b)"
    rf"(?=[^,;:.]*{FINITE.pattern})[^,;:.]+)"
)
_VERB_NEXT = re.compile(rf"(?:\s+[a-z]+){{0,2}}\s+({FINITE.pattern})")
_PIECE_START = re.compile(r"[,;:.]")
# Of whom, when or where a number is; and what names the others beside them.
_OF_WHOM = re.compile(r"\b(?:in|among|for|with|without|at|during)\s[^,;]+$")
_OTHERS = re.compile(r"\b(?:in|among|for|with|without|at|during|those)\b")
_EXCEPTING = re.compile(
    r"(?i)^(?:with the exception of|except(?:ing)? for|apart from|other than|save for|"
    r"but(?: for)?)\s+|^除|外$"
)
_PIECE_END = re.compile("[,;，；。]")
# Whoever is studied took part.
_TOOK_PART = re.compile(
    r"(?i)\b(?:took part|particip|respon|answer|stud(?:y|ie)|enrol|includ|consent|complet|intervie)"
)
_HAN_CONDITION = re.compile("[^，。；]{2,}的(?=，)")
EXCEPT_FOR = re.compile(
    r"(?i)\b(?:with the exception of|except(?:ing)? for|apart from|other than|save for)\b[^,;.]+"
    r"|(?<= )but (?:for )?(?:\d[\w.]*|one|two|three|four|the (?:first|last))\b[^,;.]*"
    r"|除[^，。；]{2,30}外(?![，,]?[^，。；]*[还也又亦])"
)
# Terms behind a restriction of which a claim that keeps it has one.
_KEPT = 3
# Share of what is said of a subject that a claim takes over.
_SAID = 0.6
# Share of a claim's condition that stands in a longer one of the source; some of its pairs of
# characters run over what was left out.
_PART_OF = 0.6
# Of those a claim may name one.
_ALTERNATIVES = re.compile("[、或等]")


def find_restrictions(claim: str, sentence: str) -> Iterator[Sign]:
    """Yield what the source's sentence holds under, or of whom, and the claim does not say."""
    here = _narrowing(sentence)
    if here and not (_narrowing(claim) or EXCEPT_FOR.search(claim)):
        text = f"The source says so with a restriction (“{here[0]}”), the claim without."
        yield Sign("words", "", here[0], text)
    yield from _wider_condition(claim, sentence)
    yield from _excepted(claim, sentence)
    yield from _only(claim, sentence)
    yield from _groups(claim, sentence)
    yield from _one_of_two(claim, sentence)


def _one_of_two(claim: str, sentence: str) -> Iterator[Sign]:
    """Yield of whom or when a number is, left out where the source has another number of others.

    “95 % in adults under 65 and 80 % in those above” is not “95 %”.
    """
    own, held = read_quantities(claim), read_terms(claim)
    clauses = split_clauses(sentence)
    for clause in clauses:
        last = next(iter(reversed(list(_OF_WHOM.finditer(clause)))), None)
        counted = [q for q in read_quantities(clause) if q.unit.name and find_equal(q, own)]
        if last is None or not any(q.end <= last.start() for q in counted):
            continue
        which = read_terms(last.group())
        told = bool(which.weights.keys() & held.weights.keys() or which.numbers & held.numbers)
        beside = any(
            _OTHERS.search(other) and q.unit.kind == counted[0].unit.kind
            for other in clauses
            if other is not clause
            for q in read_quantities(other)
        )
        if beside and not told:
            shown = last.group().strip()
            text = f"The source says so “{shown}”, and something else of others."
            yield Sign("words", "", shown, text)
            return


def _only(claim: str, sentence: str) -> Iterator[Sign]:
    """Yield “only in the presence of …”, left out whole."""
    held = read_terms(claim).weights
    for match in _ONLY_IF.finditer(sentence):
        behind = [i for i in read_terms(sentence).items if i.start >= match.end()][:_KEPT]
        if behind and not any(item.unit in held for item in behind):
            shown = sentence[match.start() : behind[-1].end]
            yield Sign("words", "", shown, f"The source says so “{shown}”, the claim at all times.")


def _groups(claim: str, sentence: str) -> Iterator[Sign]:
    """Yield which of them a subject is about, where the claim has it of all."""
    items, held = read_terms(sentence).items, read_terms(claim).weights
    for start, end in (*_bounded(claim, sentence), *_who(sentence)):
        which = [item for item in items if start <= item.start < end]
        of = [item for item in items if item.end <= start][-1:]
        said = read_terms(_PIECE_START.split(sentence[end:])[0]).weights
        if (
            of
            and of[0].unit in held
            and overlap(said, held) >= _SAID
            and not any(item.unit in held for item in which)
        ):
            shown = sentence[of[0].start : end].strip()
            yield Sign("words", "", shown, f"The source says so of “{shown}”, the claim of all.")


def _bounded(claim: str, sentence: str) -> Iterator[tuple[int, int]]:
    """Yield where a subject has a bound that the claim has not: consumers “over 60” preferred."""
    own = read_quantities(claim)
    for quantity in read_quantities(sentence):
        is_group = bool(quantity.bound) or quantity.unit.kind == "age"
        start = sentence.rfind(quantity.text, 0, quantity.end)
        verb = _VERB_NEXT.match(sentence, quantity.end)
        if is_group and verb and find_equal(quantity, own) is None and _is_first(sentence, start):
            yield start, verb.start(1)


def _who(sentence: str) -> Iterator[tuple[int, int]]:
    """Yield where a clause tells which of them a subject is: patients “who took the drug” slept."""
    for match in _WHO.finditer(sentence):
        start, which = match.start("which"), match["which"]
        first, *others = FINITE.finditer(which.lower())
        main = next((v for v in others if read_terms(which[first.end() : v.start()]).items), None)
        if main and _is_first(sentence, start) and not _TOOK_PART.search(which):
            yield start, start + main.start()


def _is_first(sentence: str, start: int) -> bool:
    """Say whether no verb of its clause stands before a place."""
    return not FINITE.search(_PIECE_START.split(sentence[:start])[-1].lower())


def _wider_condition(claim: str, sentence: str) -> Iterator[Sign]:
    """Yield the Chinese condition of which a claim has a part: 转租的 for 未经同意转租的."""
    for own in _HAN_CONDITION.findall(claim):
        mine = read_terms(own).weights
        for condition in _HAN_CONDITION.findall(sentence):
            theirs = read_terms(condition).weights
            is_part = overlap(mine, theirs) >= _PART_OF and overlap(theirs, mine) < _SAID
            if is_part and not _ALTERNATIVES.search(condition):
                text = f"The source says so of “{condition}”, the claim of “{own}”."
                yield Sign("words", own, condition, text)


def _excepted(claim: str, sentence: str) -> Iterator[Sign]:
    """Yield the exception from what a claim takes over, of the clause behind it or around it, where
    the claim leaves it out or says the same of it.
    """
    if EXCEPT_FOR.search(claim) or _narrowing(claim):
        return
    held = read_terms(claim)
    for match in EXCEPT_FOR.finditer(sentence):
        behind = _PIECE_END.split(sentence[match.end() :].lstrip(" ,，"))[0]
        before = _PIECE_END.split(sentence[: match.start()].rstrip(" ,，"))[-1]
        about = read_terms(before if before.strip() else behind)
        if overlap(about.weights, held.weights) < _SAID:
            continue
        shown = match.group().strip()
        excepted = read_terms(_EXCEPTING.sub("", shown))
        is_named = (
            excepted.weights.keys() <= held.weights.keys() and excepted.numbers <= held.numbers
        )
        if not is_named:
            text = f"The source says so with a restriction (“{shown}”), the claim without."
            yield Sign("words", "", shown, text)
        elif not of_kind(read_cues(claim), "negation"):
            yield Sign("words", "", shown, f"The source excepts it (“{shown}”).")


def _narrowing(text: str) -> list[str]:
    words, folded = lexicon(), fold(text)
    bare = _NO_EXCEPTION.sub(" ", folded)
    found = [match for match in re.findall(r"[a-z]+", bare) if match in words.exceptions_en]
    found += [word for word in sorted(words.exceptions_zh) if word in folded]
    return found + [match.group() for match in _HAN_CONDITION.finditer(text)]
