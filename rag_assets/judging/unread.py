"""Scorer `facts`: what a program can tell without reading, and nothing more."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag_assets.judging.contract import SCORE_DECIMALS, Judgement, PassageText, Sign, Thresholds
from rag_assets.judging.facts import RULES, check_facts, sentences_of
from rag_assets.judging.quantities import read_quantities
from rag_assets.judging.shown_sentences import choose_sentences, likeliest
from rag_assets.judging.statement import state
from rag_assets.model import CJK_RANGES, count_han, hash_fields
from rag_assets.settings import ScorerName

# Counts as code: raise it when the same texts come to another judgement.
_VERSION = 5
_WORD_FOR_WORD = Sign("words", "", "", "It stands there word for word.")
# Below what is OK: only a sentence that stands there word for word is.
_MOST = 0.99
_NO_WORDS = re.compile(r"[\W_]+")
_NAME = re.compile(r"[^\W\d_]+")
_LATIN = re.compile(rf"(?![{CJK_RANGES}])[^\W\d_]")
# Shorter words are often symbols, of which the case counts.
_FEWEST_OF_A_WORD = 4
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

    Punctuation does not count, nor the case of a sentence's first letter or that of a long word;
    but marks of a number do (159 is not 15.9), and so do the case of a symbol (mW is not MW) and
    where words end (“not able” is not “notable”). References and frames of the source do not count,
    which the statement has lost too. A part of a sentence is none: the rest may take it back.
    """
    wanted = _letters(statement)
    if not is_long_enough(wanted):
        return None
    for index, passage in enumerate(passages):
        for span in passage.sentences:
            sentence = passage.text[slice(*span)]
            if wanted in {_letters(sentence), _letters(state(sentence))}:
                return index, span
    return None


def is_long_enough(text: str) -> bool:
    """Say whether a text is more than a name or a number."""
    return len(text) >= _FEWEST_LETTERS or count_han(text) >= _FEWEST_HAN


def _letters(text: str) -> str:
    plain = _MINUS.sub("-", _THOUSANDS.sub("", text)).strip()
    folded = _NAME.sub(lambda found: _fold(found.group(), is_first=found.start() == 0), plain)
    return _NO_WORDS.sub(lambda found: _kept(folded, *found.span()), folded)


def _fold(word: str, *, is_first: bool) -> str:
    """Return a word with a small first letter, unless its case may mean something: Co, MW, WHO."""
    is_plain = word[1:].islower() and (is_first or len(word) >= _FEWEST_OF_A_WORD)
    return word.lower() if is_plain or (is_first and len(word) == 1) else word


def _kept(text: str, start: int, end: int) -> str:
    """Return what of the marks between two words belongs to a number."""
    marks = text[start:end]
    if not text[end : end + 1].isdigit():
        kept = "".join(mark for mark in marks if mark in _OF_NUMBERS)
        parts_words = (
            not kept and start and _LATIN.match(text, start - 1) and _LATIN.match(text, end)
        )
        return " " if parts_words else kept
    if text[start - 1 : start].isdigit() and start:
        return "".join(marks.split()) or " "
    sign = _SIGN.search(marks) if start else re.search(r"[-+]$", marks)
    kept = "".join(mark for mark in marks if mark in _OF_NUMBERS)
    return f"{kept}{sign[0]}" if sign else kept
