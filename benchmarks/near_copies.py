"""Sentences of sources, worded slightly otherwise: what a careful writer takes over.

The published sets hold claims that are far from their sources; a thesis holds many that are near.
Brackets and clauses are left out, what stands in front goes to the end, words give way to others
that say the same. The words here are this script's own, not the scorer's.
"""

import random
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml
from support_sets import read_rows

from rag_assets.evaluation.claims_rows import evidence_passages
from rag_assets.judging.terms import is_chinese

_FEWEST_WORDS, _MOST_WORDS = 9, 40
_FEWEST_HAN, _MOST_HAN = 16, 80
_MOST_EDITS = 3
_TRIES = 12
_SEED = 21
_BRACKETS = re.compile(r"\s*[(（][^()（）]*[)）]")
_FRONT = re.compile(
    r"^(In|During|At|After|Before|By|From|Since|On|Between|Until) ([^,.]{3,50}), (.+?)\.?$"
)
_PLAIN = re.compile(r"^[A-Z\u4e00-\u9fff“\"].*[.。]$")


@dataclass(frozen=True)
class NearCopy:
    """A sentence of some evidence, reworded.

    Args:
        rest: the evidence without that sentence.
    """

    set: str
    claim: str
    evidence: tuple[str, ...]
    rest: tuple[str, ...]
    source_doc: str
    is_han: bool


def near_copies(sets: Iterable[str]) -> Iterator[NearCopy]:
    """Yield at most one reworded sentence of each evidence, in the order of the sets."""
    for name in sets:
        seen = set[tuple[str, ...]]()
        for row in read_rows(name):
            if row.evidence in seen:
                continue
            seen.add(row.evidence)
            chance = random.Random(f"{_SEED} {name} {row.id}")
            found = _near_copy(row.evidence, chance)
            if found is not None:
                sentence, claim = found
                rest = tuple(text.replace(sentence, " ") for text in row.evidence)
                yield NearCopy(name, claim, row.evidence, rest, row.source_doc, is_chinese(claim))


def _near_copy(evidence: tuple[str, ...], chance: random.Random) -> tuple[str, str] | None:
    sentences = [
        text
        for passage in evidence_passages(evidence)
        for start, end in passage.sentences
        if _is_fit(text := passage.text[start:end].strip())
    ]
    if not sentences:
        return None
    sentence = chance.choice(sentences)
    claim, edits = sentence, 0
    wanted = chance.randint(1, _MOST_EDITS)
    for _ in range(_TRIES):
        edited = chance.choice(_EDITS)(claim, chance)
        if edited is not None and edited != claim and _length(edited) >= 0.5 * _length(sentence):
            claim, edits = edited, edits + 1
        if edits == wanted:
            break
    return (sentence, claim) if claim != sentence else None


def _is_fit(sentence: str) -> bool:
    lowest, highest = (
        (_FEWEST_HAN, _MOST_HAN) if is_chinese(sentence) else (_FEWEST_WORDS, _MOST_WORDS)
    )
    return lowest <= _length(sentence) <= highest and bool(_PLAIN.match(sentence))


def _length(text: str) -> int:
    return len(text) if is_chinese(text) else len(text.split())


def _without_brackets(text: str, _chance: random.Random) -> str | None:
    return _BRACKETS.sub("", text) if _BRACKETS.search(text) else None


def _without_clause(text: str, chance: random.Random) -> str | None:
    comma = "，" if is_chinese(text) else ", "
    clauses = text.rstrip(".。").split(comma)
    kept = _words()["kept"]["zh" if is_chinese(text) else "en"].split()
    out = [
        i
        for i, clause in enumerate(clauses)
        if i and not any(clause.lower().startswith(word) for word in kept)
    ]
    if not out:
        return None
    left = chance.choice(out)
    end = "。" if is_chinese(text) else "."
    return comma.join(c for i, c in enumerate(clauses) if i != left) + end


def _front_to_end(text: str, _chance: random.Random) -> str | None:
    found = _FRONT.match(text)
    if found is None or "," in found[3]:
        return None
    return f"{found[3][0].upper()}{found[3][1:]} {found[1].lower()} {found[2]}."


def _other_word(text: str, chance: random.Random) -> str | None:
    pairs = _same()["zh" if is_chinese(text) else "en"]
    edge = "" if is_chinese(text) else r"(?<![\w-])"
    found = [
        (match, other)
        for word, other in pairs
        for match in re.finditer(
            edge + re.escape(word) + (r"(?![\w-])" if edge and word[-1].isalpha() else ""), text
        )
    ]
    if not found:
        return None
    match, other = chance.choice(found)
    return re.sub(r"  +", " ", text[: match.start()] + other + text[match.end() :])


_EDITS: tuple[Callable[[str, random.Random], str | None], ...] = (
    _without_brackets, _without_clause, _front_to_end, _other_word, _other_word,
)  # fmt: skip


@lru_cache(maxsize=1)
def _words() -> Any:
    return yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def _same() -> dict[str, list[tuple[str, str]]]:
    found = {}
    for language, text in _words()["same"].items():
        pairs = [pair.strip().split("/") for pair in text.split("|")]
        found[language] = [(word, other) for word, other in pairs]
    return found
