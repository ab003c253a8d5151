"""A statement that stands in its source word for word: nothing remains to be weighed.

Punctuation, case and what the source has in parentheses do not count. Words, numbers and signs do,
all of them and in their order, from one clause's beginning to another's end; and what the source's
sentence says around them must not take it back (“it is unlikely that …”, “…, unless …”).
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rag_assets.judging.contract import PassageText
from rag_assets.judging.cues import read_cues
from rag_assets.judging.folding import fold
from rag_assets.judging.lexicon import lexicon
from rag_assets.judging.restricted import EXCEPT_FOR
from rag_assets.judging.statement import state

# A fragment states nothing: "Maithripala Sirisena" stands in many texts.
_FEWEST_WORDS = 5
_FEWEST_HAN = 8
# Said with or without them; and 与去年相比，高 is 比去年高.
_PARTICLES = frozenset(["a", "an", "the", *"的了地"])
_COMPARED_WITH = re.compile("[与同和跟]([^，。；与同和跟]{2,20})相比[，,]?")
# Of the statement's length: words from half a page in their order say something else.
_LONGEST = 2
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_TOKEN = re.compile(rf"\d+(?:[.,]\d+)*|{_HAN.pattern}|(?:(?!{_HAN.pattern})[^\W\d_])+|\S")
_BRACKETS = re.compile(r"[(（\[][^()（）\[\]]*[)）\]]")
_BEGINS = re.compile(r"(?:^|[,;:—–(，；：（“\"'‘])\s*$")
_ENDS = re.compile(r"\s*(?:$|[.,;:—–()（[!。，；：）！”\"'’])")
_SEMICOLON = re.compile("[;；]")
# Where one sentence, or what is as good as one, ends; and within one, where a point is an
# abbreviation's.
_STOP = re.compile(r"[;!?。；！？]|\.(?=\s)")
_STOP_WITHIN = re.compile("[;!?；！？]")
# “…的，”: on that condition only; and what stands before a list is not the whole of it.
_CONDITION = re.compile("[的时][，,]\\s*$")
_INTRODUCES = re.compile(r"\s*[:：]\s*$")
_LIMITING = frozenset({"negation", "hedge"})


@dataclass(frozen=True, slots=True)
class Repetition:
    """Where a statement stands: the passage, and the span of its sentences, half-open."""

    passage: int
    span: tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    start: int
    end: int


def find_repetition(statement: str, passages: Sequence[PassageText]) -> Repetition | None:
    """Return where the first of the passages has the statement word for word; None where none has.

    Args:
        statement: as `state` returns it.
    """
    own = list(_tokens(statement))
    wanted = tuple(token.text for token in own)
    if not _is_enough(wanted) or "?" in statement:
        return None
    stops = _stops(_STOP, statement, own)
    for number, passage in enumerate(passages):
        for text in dict.fromkeys((passage.text, _without_brackets(passage.text))):
            for run in _runs(wanted, list(_tokens(text))):
                start, end = run[0].start, run[-1].end
                span = _sentences(passage, start, end)
                is_joined = bool(_stops(_STOP, text, run) - stops)
                if not is_joined and _is_stated(passage.text, span, start, end):
                    return Repetition(number, span)
    return None


def is_abridged(statement: str, sentence: str) -> bool:
    """Say whether a sentence has the statement with words between that the statement leaves out.

    All words, numbers and signs of the statement, in their order and not far apart; what is left
    out, and what stands around, neither denies nor limits it.

    Args:
        statement: as `state` returns it.
        sentence: of its source.
    """
    statement, sentence = (_COMPARED_WITH.sub(r"比\1", text) for text in (statement, sentence))
    own = list(_telling(statement))
    wanted = tuple(token.text for token in own)
    if not _is_enough(wanted) or "?" in statement or "?" in sentence or "？" in sentence:
        return False
    tokens = list(_telling(sentence))
    found = _nearest(wanted, tokens)
    if found is None or found[-1] - found[0] + 1 > _LONGEST * len(wanted):
        return False
    run = [tokens[place] for place in found]
    stops = _stops(_STOP_WITHIN, _without_brackets(sentence), run)
    if stops - _stops(_STOP_WITHIN, statement, own):
        return False
    taken = set(found)
    start, end = tokens[found[0]].start, tokens[found[-1]].end
    lead, tail = _SEMICOLON.split(sentence[:start])[-1], _SEMICOLON.split(sentence[end:])[0]
    if _CONDITION.search(lead) or _INTRODUCES.match(tail):
        return False
    left_out = " ".join(
        token.text
        for place, token in enumerate(tokens[found[0] : found[-1]], start=found[0])
        if place not in taken
    )
    around = f"{lead} … {left_out} … {left_out.replace(' ', '')} … {tail}"
    kinds = {cue.kind for cue in read_cues(around)}
    return not _limits(around) and not kinds & {*_LIMITING, "denial"}


def _telling(text: str) -> Iterator[_Token]:
    return (token for token in _tokens(text) if token.text not in _PARTICLES)


def _nearest(wanted: Sequence[str], tokens: Sequence[_Token]) -> list[int] | None:
    """Return the places of the words in their order, as near together as they stand."""
    best: list[int] | None = None
    for first, token in enumerate(tokens):
        if token.text != wanted[0]:
            continue
        places: list[int] = []
        for place in range(first, len(tokens)):
            if tokens[place].text == wanted[len(places)]:
                places.append(place)
                if len(places) == len(wanted):
                    break
        if len(places) == len(wanted) and (
            best is None or places[-1] - places[0] < best[-1] - best[0]
        ):
            best = places
    return best


def _tokens(text: str) -> Iterator[_Token]:
    folded = fold(text)
    for match in _TOKEN.finditer(folded):
        word = match.group()
        if word[0].isalnum() or _is_sign(folded, match):
            yield _Token(word, *match.span())


def _is_sign(text: str, match: re.Match[str]) -> bool:
    """Tell what changes a value (%, <, ±, a minus) from punctuation."""
    character = match.group()
    if character in "-−":
        before, after = text[: match.start()][-1:], text[match.end() :][:1]
        return after.isdigit() and not before.isalnum()
    return character in "%‰/*" or unicodedata.category(character)[0] == "S"


def _is_enough(tokens: Sequence[str]) -> bool:
    han = sum(bool(_HAN.match(token)) for token in tokens)
    words = sum(token[0].isalpha() for token in tokens) - han
    return words >= _FEWEST_WORDS or han >= _FEWEST_HAN


def _without_brackets(text: str) -> str:
    return _BRACKETS.sub(lambda match: " " * len(match.group()), text)


def _stops(stop: re.Pattern[str], text: str, tokens: Sequence[_Token]) -> set[int]:
    """Return behind which of the tokens a sentence ends, before the next of them begins."""
    return {
        place
        for place, (one, other) in enumerate(pairwise(tokens))
        if stop.search(text, one.end, other.start)
    }


def _runs(wanted: Sequence[str], tokens: Sequence[_Token]) -> Iterator[Sequence[_Token]]:
    texts = tuple(token.text for token in tokens)
    size = len(wanted)
    for i in range(len(texts) - size + 1):
        if texts[i] == wanted[0] and texts[i : i + size] == wanted:
            yield tokens[i : i + size]


def _sentences(passage: PassageText, start: int, end: int) -> tuple[int, int]:
    """Return the span of the sentences that hold the characters."""
    held = [span for span in passage.sentences if span[0] < end and span[1] > start]
    return (min(start, *(a for a, _ in held)), max(end, *(b for _, b in held)))


def _is_stated(text: str, span: tuple[int, int], start: int, end: int) -> bool:
    """Tell a clause of its own from words that the sentence around them denies or limits."""
    # What stands behind a semicolon is a sentence of its own.
    lead = _SEMICOLON.split(text[span[0] : start])[-1]
    tail = _SEMICOLON.split(text[end : span[1]])[0]
    if "?" in tail or "？" in tail or not _ENDS.match(tail):
        return False
    if _CONDITION.search(lead) or _INTRODUCES.match(tail):
        return False
    if EXCEPT_FOR.search(lead):
        return False
    around = f"{lead} … {tail}"
    if any(cue.kind in _LIMITING for cue in read_cues(around)) or _limits(around):
        return False
    if _BEGINS.search(lead):
        return True
    # “Lee et al. (2019) found that …” in the source says so, too.
    stated = tuple(token.text for token in _tokens(state(text[slice(*span)])))
    run = tuple(token.text for token in _tokens(text[start:end]))
    return stated[: len(run)] == run


def _limits(text: str) -> bool:
    words = lexicon()
    folded = fold(text)
    return any(word in folded for word in words.limits_zh) or any(
        match in words.limits_en for match in re.findall(r"[a-z]+", folded)
    )
