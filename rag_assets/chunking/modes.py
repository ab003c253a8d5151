"""The modes of chunking: what each makes of a document.

A mode is an entry of `MODES`, its name in `settings.ChunkMode`, and its own settings, if
it has any, a section of `ChunkSettings`. Nothing else asks which mode it is.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from rag_assets.chunking.context import PartsOf, headings_above, headings_and_header
from rag_assets.chunking.dividing import ParentDivider, Passage, passage_sizes, piece_sizes
from rag_assets.chunking.outline import Outline, read_outline
from rag_assets.chunking.parents import pages_or_sections
from rag_assets.chunking.questions import find_pairs
from rag_assets.chunking.statutes import (
    StatuteDivider,
    law_and_path,
    law_facts,
    merged_units,
    read_law_outline,
)
from rag_assets.chunking.tokenizer import TokenCounter, Tokenizer
from rag_assets.law.metadata import LAW_FACTS_VERSION
from rag_assets.model import Parent, ParsedDocument
from rag_assets.settings import ChunkMode, ChunkSettings


class Divider(Protocol):
    """Divides the parents of one document."""

    def divide(self, parent: Parent) -> Iterator[Passage]:
        """Yield the passages of a parent in order."""
        ...


@dataclass(frozen=True, slots=True)
class Mode:
    """How a document becomes parents and chunks.

    Args:
        outline: what is known of a document before it is divided.
        parents: the passages that are shown whole.
        divider: what divides a parent into the passages that are searched.
        context: what a model is told before a passage, part by part.
        parent_settings: keys of `chunk` that the parents depend on.
        settings: keys of `chunk` that the chunks depend on besides.
        parent_rule: modes of the same rule have the same parents under the same settings.
        facts: what the record of the chunks notes of a document, as values that JSON knows; a
            function of its text, of the version of that code and of nothing else.
        facts_version: of that code; None where nothing is noted.
    """

    outline: Callable[[ParsedDocument], Outline]
    parents: Callable[[Outline, ChunkSettings, TokenCounter], Iterator[Parent]]
    divider: Callable[[Outline, ChunkSettings, Tokenizer], Divider]
    context: PartsOf
    parent_settings: frozenset[str]
    settings: frozenset[str]
    parent_rule: str = "sentences"
    facts: Callable[[Outline], Mapping[str, Any]] = lambda outline: {}
    facts_version: int | None = None


def _of_sentences(outline: Outline, settings: ChunkSettings, tokenizer: Tokenizer) -> ParentDivider:
    return ParentDivider(outline, passage_sizes(settings, tokenizer.limit), tokenizer)


def _of_pieces(outline: Outline, settings: ChunkSettings, tokenizer: Tokenizer) -> ParentDivider:
    general = settings.general
    sizes = piece_sizes(general, tokenizer.limit)
    return ParentDivider(outline, sizes, tokenizer, general.delimiter)


_PARENTS = frozenset({"parents", "parent_tokens"})
_TOLD = frozenset({"context", "preprocess"})
_SIZES = frozenset({"target_tokens", "min_tokens", "max_tokens", "overlap", "parent_tokens"})

MODES: Mapping[ChunkMode, Mode] = {
    # Sentences, and what stays together, packed to a size.
    "parent_child": Mode(
        outline=read_outline,
        parents=pages_or_sections,
        divider=_of_sentences,
        context=headings_and_header,
        parent_settings=_PARENTS,
        settings=_SIZES | _TOLD,
    ),
    # Pieces between delimiters take the place of all these units.
    "general": Mode(
        outline=read_outline,
        parents=pages_or_sections,
        divider=_of_pieces,
        context=headings_and_header,
        parent_settings=_PARENTS,
        settings=_TOLD | {"general"},
    ),
    # A question with its answer is one chunk, up to `parent_tokens`, found by its question.
    "qa": Mode(
        outline=lambda document: read_outline(document, find_pairs(document)),
        parents=pages_or_sections,
        divider=_of_sentences,
        context=headings_above,
        parent_settings=_PARENTS,
        settings=_SIZES | _TOLD,
        parent_rule="questions",
    ),
    # Articles, shown with those of the same chapter around them.
    "law": Mode(
        outline=read_law_outline,
        parents=merged_units,
        divider=StatuteDivider,
        context=law_and_path,
        parent_settings=frozenset({"law"}),
        settings=frozenset({"law", "preprocess"}),
        parent_rule="statutes",
        facts=law_facts,
        facts_version=LAW_FACTS_VERSION,
    ),
}


def mode_of(settings: ChunkSettings) -> Mode:
    """Return the mode that settings name."""
    return MODES[settings.mode]


def parent_key(settings: ChunkSettings) -> list[Any]:
    """Return what of the settings the parents are a function of."""
    mode = mode_of(settings)
    return [mode.parent_rule, settings.model_dump(include=set(mode.parent_settings))]


def chunk_key(settings: ChunkSettings) -> list[Any]:
    """Return what of the settings the chunks are a function of, besides their parents."""
    mode = mode_of(settings)
    noted = [] if mode.facts_version is None else [mode.facts_version]
    return [settings.mode, settings.model_dump(include=set(mode.settings)), *noted]
