"""Scorer `facts`: what a program can tell without reading, and nothing more."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag_assets.judging.contract import SCORE_DECIMALS, Judgement, PassageText, Sign, Thresholds
from rag_assets.judging.facts import RULES, check_facts, sentences_of
from rag_assets.judging.quantities import read_quantities
from rag_assets.judging.shown_sentences import choose_sentences, likeliest
from rag_assets.judging.statement import state
from rag_assets.model import count_han, hash_fields
from rag_assets.settings import ScorerName

# Counts as code: raise it when the same texts come to another judgement.
_VERSION = 5
_WORD_FOR_WORD = Sign("words", "", "", "It stands there word for word.")
# Below what is OK: only a sentence that stands there word for word is.
_MOST = 0.99
_NO_WORDS = re.compile(r"[\W_]+")
# They are read with the number beside them: 58 is not 58%, nor p < 0.05 the same as p > 0.05.
_OF_NUMBERS = frozenset("%‰<>≤≥=≠±≈~$€£¥₹₩")
_THOUSANDS = re.compile(r"(?<=\d)[,\s](?=\d{3}(?!\d))")
_MINUS = re.compile(r"[−‒–—‐-‑]")
# A sign stands at the beginning or apart from the word before: COVID-19 has none.
_SIGN = re.compile(r"(?<=[\s(\[<>≤≥=≠±≈~:：，,])[-+]$")
# Fewer letters or characters are a name or a number, which states nothing.
_FEWEST_LETTERS = 12
_FEWEST_HAN = 6


@dataclass(frozen=True, slots=True)
class FactsScorer:
    """Says where the nearest passage stands and whether checkable facts agree with it.

    OK only where the statement is a sentence of the source word for word. Everything else was
    found and not read, and says so.
    """

    @property
    def name(self) -> ScorerName:
        """Return `facts`."""
        return "facts"

    @property
    def thresholds(self) -> Thresholds:
        """Return that only a sentence that stands there word for word is OK."""
        origin = "scorer facts: word for word"
        return Thresholds(1.0, 0.0, origin, origin)

    @property
    def fingerprint(self) -> str:
        """Return the SHA-256 of the rules and the code."""
        return hash_fields("facts", _VERSION, [rule.id for rule in RULES])

    def judge(self, claims: Sequence[tuple[str, Sequence[PassageText]]]) -> list[Judgement]:
        """Return for each claim the nearest sentence and which facts agree or differ.

        The score is how likely that sentence decides, beside all of its document; of passages that
        were given and not found, the share of the statement's words in it. For ordering alone.
        """
        return [_judge(state(claim), passages) for claim, passages in claims]


def _judge(statement: str, passages: Sequence[PassageText]) -> Judgement:
    found = likeliest(choose_sentences(statement, passages))
    best, span = found.passage, found.span
    score = round(min(found.share, _MOST), SCORE_DECIMALS)
    repeated = find_repeated(statement, passages)
    if repeated is not None:
        index, where = repeated
        return Judgement(
            1.0, "OK", "supported", "The passage says it word for word.", index, where,
            (_WORD_FOR_WORD,),
        )  # fmt: skip
    sentences = sentences_of(passages)
    agreeing = check_facts(statement, sentences, "for")
    differing = check_facts(statement, sentences, "against")
    if differing:
        return Judgement(
            score, "WEAK", "facts_differ",
            f"{differing[0].text} Correct it, or cite the place that says so. Nobody has read the "
            "rest.",
            best, span, agreeing, differing,
        )  # fmt: skip
    told = _tell_numbers(statement, len(agreeing))
    return Judgement(
        score, "WEAK", "unread",
        f"This is the nearest passage, and nobody has read it: {told}. Read it yourself.",
        best, span, agreeing,
    )  # fmt: skip


def _tell_numbers(statement: str, agreeing: int) -> str:
    stated = len({quantity.text for quantity in read_quantities(statement)})
    if not stated:
        return "there is no number to compare"
    if not agreeing:
        return "none of its numbers could be compared"
    if agreeing < stated:
        return f"{agreeing} of its {stated} numbers agree"
    return "its numbers agree"


def find_repeated(
    statement: str, passages: Sequence[PassageText]
) -> tuple[int, tuple[int, int]] | None:
    """Return the passage and sentence that is the statement word for word, or None.

    Case, punctuation and white space do not count, but where they are part of a number do: 159 is
    not 15.9. Nor do references and frames of the source, which the statement has lost too. A part
    of a sentence is none: the rest may take it back.
    """
    wanted = _letters(statement)
    han = count_han(wanted)
    if len(wanted) < _FEWEST_LETTERS and han < _FEWEST_HAN:
        return None
    for index, passage in enumerate(passages):
        for span in passage.sentences:
            sentence = passage.text[slice(*span)]
            if wanted in {_letters(sentence), _letters(state(sentence))}:
                return index, span
    return None


def _letters(text: str) -> str:
    plain = _MINUS.sub("-", _THOUSANDS.sub("", text))
    return _NO_WORDS.sub(lambda found: _kept(plain, *found.span()), plain).casefold()


def _kept(text: str, start: int, end: int) -> str:
    """Return what of the marks between two words belongs to a number."""
    marks = text[start:end]
    if not text[end : end + 1].isdigit():
        return "".join(mark for mark in marks if mark in _OF_NUMBERS)
    if text[start - 1 : start].isdigit() and start:
        return "".join(marks.split()) or " "
    sign = _SIGN.search(marks) if start else re.search(r"[-+]$", marks)
    kept = "".join(mark for mark in marks if mark in _OF_NUMBERS)
    return f"{kept}{sign[0]}" if sign else kept
