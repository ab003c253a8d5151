"""Which sentences of what was found answer a question, by the means that find evidence elsewhere.

The passages of all parents found are read as one document (`rag_assets.finding`): a word tells as
much as it is rare among them. The answer may stand beside the passage that was found, so each
parent is read whole.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from rag_assets.embedding import load_word_pieces
from rag_assets.evidence.answer_weights import AnswerWeights, load_answer_weights
from rag_assets.finding import (
    FEATURES,
    DocumentFeatures,
    PassageLike,
    Sentence,
    is_question,
    measure_kinds,
    read_sentences,
    without_asking,
)
from rag_assets.model import is_chinese

if TYPE_CHECKING:
    from rag_assets.retrieval import Hit, Retrieved, Retriever, SearchFilters


class ScoredPassage(PassageLike, Protocol):
    """What is asked of a passage that may be quoted: `Hit` is one."""

    @property
    def chunk_id(self) -> str:
        """Return its id in its namespace."""
        ...

    @property
    def score(self) -> float:
        """Return the fused score; compares passages of one search."""
        ...


_Passage = TypeVar("_Passage", bound=ScoredPassage)


@dataclass(frozen=True, slots=True)
class FoundParent(Generic[_Passage]):
    """What was found of a question: a parent's passages in their order, and which was the best.

    Args:
        passages: what may be quoted, among them `best`.
    """

    title: str | None
    passages: tuple[_Passage, ...]
    best: _Passage


@dataclass(frozen=True, slots=True)
class Answer(Generic[_Passage]):
    """The sentence of a parent that answers a question best.

    Args:
        hit: the passage that holds it.
        start: where it stands in the passage; half-open.
        score: by the fitted weights; compares sentences of one question only.
    """

    hit: _Passage
    start: int
    end: int
    score: float


@dataclass(frozen=True, slots=True)
class ReadParents:
    """The sentences of all parents, measured for a question.

    Args:
        sentences: in the order of the parents.
        parents: index of the parent of each.
        features: shape (sentences, len(SENTENCE_FEATURES)).
    """

    sentences: tuple[Sentence, ...]
    parents: tuple[int, ...]
    features: NDArray[np.float64]


def fetch_passages(
    retriever: "Retriever", found: "Retrieved", filters: "SearchFilters"
) -> "list[FoundParent[Hit]]":
    """Return what of the parents that were found may be quoted, the passages found among it.

    Args:
        retriever: open.
        found: by it.
        filters: with which it searched.
    """
    filters = replace(filters, with_references=found.settings["references"])
    children = {
        (reader.namespace, key): own
        for reader in retriever.readers
        for key, own in reader.fetch_children(
            [h.parent.parent_id for h in found.parents if h.best.namespace == reader.namespace],
            filters,
        ).items()
    }
    return [
        FoundParent(
            hit.best.doc_title,
            tuple(
                hit.best if one.chunk_id == hit.best.chunk_id else one
                for one in children.get((hit.best.namespace, hit.parent.parent_id), (hit.best,))
            ),
            hit.best,
        )
        for hit in found.parents
    ]


def read_parents(question: str, found: Sequence[FoundParent[_Passage]]) -> ReadParents:
    """Return the sentences of what was found, measured; none where nothing states anything."""
    sentences: list[Sentence] = []
    parents: list[int] = []
    searched: list[tuple[float, float]] = []
    best_score = max((parent.best.score for parent in found), default=0.0)
    for index, parent in enumerate(found):
        place, run = len(sentences), sentences[-1].run + 1 if sentences else 0
        for sentence in read_sentences(parent.passages, parent.title):
            leads = tuple(lead + place for lead in sentence.leads)
            sentences.append(replace(sentence, run=sentence.run + run, leads=leads))
            parents.append(index)
            holder = parent.passages[_longest(sentence)[0]]
            is_found = holder.chunk_id == parent.best.chunk_id
            searched.append((is_found, parent.best.score / best_score if best_score > 0 else 0.0))
    asked = without_asking(question)
    measured = np.zeros((len(sentences), len(FEATURES)))
    # What tells sentences of one language apart says nothing of those of another.
    languages = np.array([is_chinese(sentence.text) for sentence in sentences], np.bool_)
    for own in (np.flatnonzero(languages), np.flatnonzero(~languages)):
        if len(own):
            alike = [sentences[number] for number in own]
            measured[own] = DocumentFeatures(alike, load_word_pieces()).measure(asked)
    features = np.concatenate(
        [measured, measure_kinds(question, sentences), np.array(searched).reshape(-1, 2)], axis=1
    )
    return ReadParents(tuple(sentences), tuple(parents), features)


def score_sentences(read: ReadParents, weights: AnswerWeights) -> NDArray[np.float64]:
    """Return how likely each sentence answers, as a logarithm without a zero; six decimals."""
    scores: NDArray[np.float64] = np.round(read.features @ weights.sentences, 6)
    return scores


def choose_answers(
    found: Sequence[FoundParent[_Passage]],
    read: ReadParents,
    weights: AnswerWeights | None = None,
) -> list[Answer[_Passage] | None]:
    """Return the best sentence of each parent; None where a parent states nothing.

    Of equals the first. A question answers none: where it is the best, what follows it is chosen,
    as of a pair of question and answer.
    """
    scores = score_sentences(read, weights or load_answer_weights()).tolist()
    chosen: list[Answer[_Passage] | None] = []
    for index, parent in enumerate(found):
        own = [number for number, of in enumerate(read.parents) if of == index]
        ranked = sorted(own, key=lambda number: (-scores[number], number))
        best = next((n for n in map(_answering(read), ranked) if n is not None), None)
        best = best if best is not None or not ranked else ranked[0]
        if best is None:
            chosen.append(None)
            continue
        passage, start, end = _longest(read.sentences[best])
        chosen.append(Answer(parent.passages[passage], start, end, scores[ranked[0]]))
    return chosen


def _answering(read: ReadParents) -> Callable[[int], int | None]:
    """Return what leads from a sentence to the one that is quoted for it."""

    def lead(number: int) -> int | None:
        sentence = read.sentences[number]
        if not is_question(sentence):
            return number
        after = read.sentences[number + 1] if number + 1 < len(read.sentences) else None
        is_answered = after is not None and after.run == sentence.run and not is_question(after)
        return number + 1 if is_answered else None

    return lead


def _longest(sentence: Sentence) -> tuple[int, int, int]:
    """Return the longest part of a sentence: one that goes on in the next passage is cut there."""
    return max(sentence.parts, key=lambda part: (part[2] - part[1], -part[0]))
