"""Words around a statement, what denies it, and units: configs/judging_words.yaml, read once."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from rag_assets.workspace import configs_folder
from rag_assets.workspace.bounded_yaml import read_yaml

WORDS_FILE = "judging_words.yaml"


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
        not_negations_zh: what only looks like a negation (不仅, 不同, 未来).
    """

    negations_en: frozenset[str]
    negations_zh: frozenset[str]
    not_negations_zh: frozenset[str]
    frames: Frames


def read_words() -> Any:
    """Return the content of the file."""
    return read_yaml(configs_folder() / WORDS_FILE, WORDS_FILE)


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """Return the words, read when they are first needed."""
    words = read_words()
    return Lexicon(
        negations_en=_set(words["negations"]["en"]),
        negations_zh=_set(words["negations"]["zh"]),
        not_negations_zh=_set(words["negations"]["not_zh"]),
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


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())
