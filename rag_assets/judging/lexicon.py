"""Words that turn a sentence round, and units: configs/judging_words.yaml, read once."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from rag_assets.judging.term_weights import stem
from rag_assets.workspace.bounded_yaml import read_yaml
from rag_assets.workspace.configuration import configs_folder

WORDS_FILE = "judging_words.yaml"

# Scale and side, 1 or -1, of a word that gives a direction.
Direction = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Frames:
    """Words around a statement: who says it, and how it joins its neighbours.

    Args:
        verbs_en: of saying and finding, with “that”; `verbs_zh` alike.
        verbs_alone_en: those that need no “that”.
        sources_en: what says it (study, authors); `before_sources_en` what stands before that.
        connectives_en: words or phrases at the beginning of a sentence.
    """

    verbs_en: tuple[str, ...]
    verbs_alone_en: tuple[str, ...]
    verbs_zh: tuple[str, ...]
    sources_en: tuple[str, ...]
    sources_zh: tuple[str, ...]
    before_sources_en: tuple[str, ...]
    before_sources_zh: tuple[str, ...]
    connectives_en: tuple[str, ...]
    connectives_zh: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The file's words, as they are looked up.

    Args:
        directions_en: by word in lower case; `directions_zh` alike.
        not_negations_zh: what only looks like a negation (不仅, 不同, 未来).
        contraries_en: by a word, and by `not ` and a word, the pairs of which it is one, or the
            other, side; `contraries_zh` each two words.
        denials_en: stems of what denies without a “not” (refuse, undetected, unlikely).
        same_names: group of each name that has others (France, French; COVID-19, SARS-CoV-2).
        same_extremes: the first word of the line of each that has others (all, every, each).
        causal_en: stems; `association_en` alike; all other English words as they are written.
    """

    directions_en: dict[str, tuple[Direction, ...]]
    directions_zh: dict[str, tuple[Direction, ...]]
    negations_en: frozenset[str]
    negations_zh: frozenset[str]
    not_negations_zh: frozenset[str]
    causal_en: frozenset[str]
    causal_zh: frozenset[str]
    association_en: frozenset[str]
    association_zh: frozenset[str]
    hedges_en: frozenset[str]
    hedges_zh: frozenset[str]
    extremes_en: frozenset[str]
    extremes_zh: frozenset[str]
    same_extremes: dict[str, str]
    limits_en: frozenset[str]
    limits_zh: frozenset[str]
    tentative_en: frozenset[str]
    tentative_zh: frozenset[str]
    exceptions_en: frozenset[str]
    exceptions_zh: frozenset[str]
    contraries_en: dict[str, frozenset[str]]
    contraries_zh: tuple[tuple[str, str], ...]
    denials_en: frozenset[str]
    denials_zh: frozenset[str]
    same_names: dict[str, int]
    frames: Frames


def read_words() -> Any:
    """Return the content of the file."""
    return read_yaml(configs_folder() / WORDS_FILE, WORDS_FILE)


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """Return the words, read when they are first needed."""
    words = read_words()
    return Lexicon(
        directions_en=_directions(words["opposites"]["en"]),
        directions_zh=_directions(words["opposites"]["zh"]),
        negations_en=_set(words["negations"]["en"]),
        negations_zh=_set(words["negations"]["zh"]),
        not_negations_zh=_set(words["negations"]["not_zh"]),
        causal_en=_stems(words["causal"]["en"]),
        causal_zh=_set(words["causal"]["zh"]),
        association_en=_stems(words["association"]["en"]),
        association_zh=_set(words["association"]["zh"]),
        hedges_en=_set(words["hedges"]["en"]),
        hedges_zh=_set(words["hedges"]["zh"]),
        extremes_en=_set(words["extremes"]["en"]),
        extremes_zh=_set(words["extremes"]["zh"]),
        same_extremes={
            word: line.split()[0] for line in words["same_extremes"] for word in line.split()
        },
        limits_en=_set(words["limits"]["en"]),
        limits_zh=_set(words["limits"]["zh"]),
        tentative_en=_set(words["tentative"]["en"]),
        tentative_zh=_set(words["tentative"]["zh"]),
        exceptions_en=_set(words["exceptions"]["en"]),
        exceptions_zh=_set(words["exceptions"]["zh"]),
        contraries_en=_contraries(words["contraries"]["en"]),
        contraries_zh=tuple(
            (one, two)
            for line in words["contraries"]["zh"]
            for ones, twos in [line.split("|")]
            for one in ones.split()
            for two in twos.split()
        ),
        denials_en=_stems(words["denials"]["en"]),
        denials_zh=_set(words["denials"]["zh"]),
        same_names=_groups(words["same_names"]),
        frames=_frames(words["frames"]),
    )


def _frames(words: dict[str, dict[str, str]]) -> Frames:
    def listed(name: str, language: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(words[name][language].split()))

    def phrases(language: str) -> tuple[str, ...]:
        found = words["connectives"][language].split("|")
        return tuple(dict.fromkeys(phrase.strip() for phrase in found))

    return Frames(
        listed("verbs", "en"), listed("verbs_alone", "en"), listed("verbs", "zh"),
        listed("sources", "en"), listed("sources", "zh"),
        listed("before_sources", "en"), listed("before_sources", "zh"),
        phrases("en"), phrases("zh"),
    )  # fmt: skip


def _directions(scales: dict[str, list[str]]) -> dict[str, tuple[Direction, ...]]:
    found: dict[str, list[Direction]] = {}
    for scale, sides in scales.items():
        for side, words in zip((1, -1), sides, strict=True):
            for word in words.split():
                found.setdefault(word, []).append((scale, side))
    return {word: tuple(dict.fromkeys(places)) for word, places in found.items()}


def _contraries(lines: list[str]) -> dict[str, frozenset[str]]:
    """Return the pairs of each word's side, and under `not word` those of the other side."""
    found: dict[str, set[str]] = {}
    for number, line in enumerate(lines):
        for side, words in enumerate(line.split("|")):
            for word in words.split():
                found.setdefault(word, set()).add(f"{number}.{side}")
                found.setdefault(f"not {word}", set()).add(f"{number}.{1 - side}")
    return {word: frozenset(pairs) for word, pairs in found.items()}


def _groups(lines: list[str]) -> dict[str, int]:
    return {name.strip(): number for number, line in enumerate(lines) for name in line.split("|")}


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _stems(words: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words.split())
