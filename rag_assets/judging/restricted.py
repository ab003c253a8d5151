"""What narrows a sentence, and is left out by a claim that follows it.

“Participants over 60 preferred paper” is not “participants preferred paper”.
"""

import re
from collections.abc import Iterator

from rag_assets.judging.clauses import FINITE
from rag_assets.judging.comparing import overlap
from rag_assets.judging.contract import Sign
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
# Whoever is studied took part.
_TOOK_PART = re.compile(
    r"(?i)\b(?:took part|particip|respon|answer|stud(?:y|ie)|enrol|includ|consent|complet|intervie)"
)
_HAN_CONDITION = re.compile("[^，。；]{2,}的(?=，)|除[^，。；]{2,30}外")
# Terms behind a restriction of which a claim that keeps it has one.
_KEPT = 3
# Share of what is said of a subject that a claim takes over.
_SAID = 0.6


def find_restrictions(claim: str, sentence: str) -> Iterator[Sign]:
    """Yield what the source's sentence holds under, or of whom, and the claim does not say."""
    own, here = (_narrowing(text) for text in (claim, sentence))
    if here and not own:
        text = f"The source says so with a restriction (“{here[0]}”), the claim without."
        yield Sign("words", "", here[0], text)
    yield from _only(claim, sentence)
    yield from _groups(claim, sentence)


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


def _narrowing(text: str) -> list[str]:
    words, folded = lexicon(), fold(text)
    bare = _NO_EXCEPTION.sub(" ", folded)
    found = [match for match in re.findall(r"[a-z]+", bare) if match in words.exceptions_en]
    found += [word for word in sorted(words.exceptions_zh) if word in folded]
    return found + [match.group() for match in _HAN_CONDITION.finditer(text)]
