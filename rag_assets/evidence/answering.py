"""Which sentences of what was found answer a question, and whether any does.

The passages of all parents found are read whole: the answer may stand beside the passage that was
found. A first pass by words and vectors chooses some sentences; each is compared with the question
by an encoder that was taught that answers are near their questions; and the model that reads pairs
reads the nearest of them with their neighbours (`rag_assets.embedding.taught`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from rag_assets.embedding.taught import (
    finder_cosines,
    load_finder,
    load_pair_model,
    load_word_pieces,
)
from rag_assets.evidence.locating import count_words
from rag_assets.evidence.pack import PackMatch
from rag_assets.model import hash_fields, is_chinese
from rag_assets.retrieval.finding import (
    Nearness,
    PassageLike,
    Sentence,
    is_question,
    read_sentences,
    shown_sentence,
    without_asking,
)

if TYPE_CHECKING:
    from rag_assets.retrieval import Hit, Retrieved, Retriever, SearchFilters

# Sentences that are compared: the nearest of each parent, and of all; and those of them that are
# read. Two cores compare some 100 in a second, and read 40.
_MOST_COMPARED, _MOST_READ = 40, 12
# How much the likeness of question and passage, as vectors, counts beside the nearness of words.
_PASSAGE = 2.0
# How much a cosine counts, less half the mean of all that are compared (some questions are near to
# any sentence), and what the model makes of a sentence. Over 63 questions in a library of 19
# papers, where they were chosen, the first quote answers in 0.48 and one of ten in 0.86.
_COSINE, _OF_MEAN, _ANSWERS = 20.0, 0.5, 0.5
# And that it names a row of values: the models hardly tell one code from the next.
_NAMED = 2.0
# From the sum to a probability that a sentence answers: a logistic curve over the quotes of packs
# of 90 questions (mean error 0.015, papers held back one by one); and from which on a question
# counts as answered: of the packs of these questions one answerable in nine is refused at it.
_SLOPE, _INTERCEPT, THRESHOLD = 1.255, -11.39, 0.134

_NO_MATCH = {
    False: "No good match: nothing in this library seems to answer the question. The passages "
    "below are the nearest ones; read them as leads, ask in other words, or add sources.",
    True: "没有好的匹配：资料库中似乎没有内容能回答这个问题。下面只是最接近的段落，仅供参考；"
    "请换一种问法，或补充资料。",
}


class ScoredPassage(PassageLike, Protocol):
    """What is asked of a passage that may be quoted: `Hit` is one."""

    @property
    def chunk_id(self) -> str:
        """Return its id in its namespace."""

    @property
    def score(self) -> float:
        """Return the fused score; compares passages of one search."""


_Passage = TypeVar("_Passage", bound=ScoredPassage)


@dataclass(frozen=True, slots=True)
class FoundParent(Generic[_Passage]):
    """What was found of a question: a parent's passages in their order, and which was the best.

    Args:
        passages: what may be quoted, among them `best`.
        likeness: of passages by `chunk_id`, 0 to 1: how near their vectors are to the question's;
            empty where there are none.
    """

    title: str | None
    passages: tuple[_Passage, ...]
    best: _Passage
    likeness: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer(Generic[_Passage]):
    """A sentence of a parent that may answer a question.

    Args:
        hit: the passage that holds it.
        start: where it stands in the passage; half-open.
        score: probability that it answers, 0 to 1.
        row: of a row of values, as it is shown; "" of all else.
    """

    hit: _Passage
    start: int
    end: int
    score: float
    row: str = ""


@dataclass(frozen=True, slots=True)
class ReadParents:
    """The sentences of all parents, some of them read.

    Args:
        sentences: in the order of the parents.
        parents: index of the parent of each.
        near: of each, by the first pass.
        scores: probability that it answers, of those that were compared; NaN of the others.
    """

    sentences: tuple[Sentence, ...]
    parents: tuple[int, ...]
    near: NDArray[np.float64]
    scores: NDArray[np.float64]

    @property
    def best(self) -> float:
        """The highest probability; 0 where nothing was read."""
        return float(np.nanmax(self.scores)) if np.isfinite(self.scores).any() else 0.0


def fetch_passages(
    retriever: "Retriever", found: "Retrieved", filters: "SearchFilters"
) -> "list[FoundParent[Hit]]":
    """Return what of the parents that were found may be quoted, the passages found among it.

    Args:
        retriever: open.
        found: by it.
        filters: with which it searched.
    """
    children: dict[tuple[str, str], tuple[Hit, ...]] = {}
    likeness: dict[str, dict[str, float]] = {}
    for reader in retriever.readers:
        wanted = [h.parent.parent_id for h in found.parents if h.best.namespace == reader.namespace]
        own = reader.fetch_children(wanted, filters)
        children |= {(reader.namespace, key): passages for key, passages in own.items()}
        ids = [one.chunk_id for passages in own.values() for one in passages]
        likeness[reader.namespace] = _likeness(
            [
                reader.score_vectors(model, vectors[0], ids)
                for model, vectors in found.query.vectors.items()
                if model in reader.fingerprints and len(vectors) and ids
            ]
        )
    return [
        FoundParent(
            hit.best.doc_title,
            tuple(
                hit.best if one.chunk_id == hit.best.chunk_id else one
                for one in children.get((hit.best.namespace, hit.parent.parent_id), (hit.best,))
            ),
            hit.best,
            likeness[hit.best.namespace],
        )
        for hit in found.parents
    ]


def _likeness(by_model: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean over the models of what each makes of passages, brought to 0 to 1."""
    total: dict[str, float] = {}
    for cosines in by_model:
        low, high = min(cosines.values(), default=0.0), max(cosines.values(), default=1.0)
        for key, cosine in cosines.items():
            share = (cosine - low) / (high - low) if high > low else 1.0
            total[key] = total.get(key, 0.0) + share / len(by_model)
    return total


def read_parents(question: str, found: Sequence[FoundParent[_Passage]]) -> ReadParents:
    """Return the sentences of what was found, the likeliest read; none where nothing states any."""
    sentences: list[Sentence] = []
    parents: list[int] = []
    like: list[float] = []
    for index, parent in enumerate(found):
        place, run = len(sentences), sentences[-1].run + 1 if sentences else 0
        for sentence in read_sentences(parent.passages, parent.title):
            leads = tuple(lead + place for lead in sentence.leads)
            sentences.append(replace(sentence, run=sentence.run + run, leads=leads))
            parents.append(index)
            holder = parent.passages[_longest(sentence)[0]]
            like.append(parent.likeness.get(holder.chunk_id, 0.0))
    near = np.array(like, np.float64) * _PASSAGE
    named = np.zeros(len(sentences))
    asked = without_asking(question)
    # What tells sentences of one language apart says nothing of those of another.
    languages = np.array([is_chinese(sentence.text) for sentence in sentences], np.bool_)
    for own in (np.flatnonzero(languages), np.flatnonzero(~languages)):
        if len(own):
            nearness = Nearness([sentences[number] for number in own], load_word_pieces())
            near[own] += nearness.measure(asked)
            named[own] = nearness.named(asked)
    scores = np.full(len(sentences), np.nan)
    chosen = _chosen(near, parents, sentences)
    if chosen:
        scores[chosen] = _read(question, sentences, chosen, named[chosen])
    return ReadParents(tuple(sentences), tuple(parents), near, scores)


def _chosen(
    near: NDArray[np.float64], parents: Sequence[int], sentences: Sequence[Sentence]
) -> list[int]:
    """Return the sentences that are compared: the nearest of all, and of each parent."""
    ranked = sorted(
        (number for number in range(len(near)) if not is_question(sentences[number])),
        key=lambda number: (-near[number], number),
    )
    firsts = {parents[number]: number for number in reversed(ranked)}
    return list(dict.fromkeys([*ranked[:_MOST_COMPARED], *firsts.values()]))


def _read(
    question: str, sentences: Sequence[Sentence], chosen: Sequence[int], named: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return how probably each of some sentences answers, shape (len(chosen),)."""
    near = finder_cosines(question, [sentences[number].read for number in chosen])
    compared = _COSINE * (near - _OF_MEAN * near.mean()) + _NAMED * named
    first = sorted(range(len(chosen)), key=lambda place: (-compared[place], place))[:_MOST_READ]
    read = load_pair_model().read(
        [(question, shown_sentence(sentences, chosen[place])) for place in first]
    )
    found = np.array([_ANSWERS * one.answers for one in read])
    total = compared + found.min()
    total[first] = compared[first] + found
    scores: NDArray[np.float64] = np.round(1 / (1 + np.exp(-(_SLOPE * total + _INTERCEPT))), 6)
    return scores


def choose_answers(
    found: Sequence[FoundParent[_Passage]],
    read: ReadParents,
    most_words: int = 0,
    most_each: int = 1,
) -> list[tuple[Answer[_Passage], ...]]:
    """Return the best sentences of each parent, best first; none where a parent states nothing.

    Of equals the first. A question answers none: where nothing else is there, what follows it is
    chosen, as of a pair of question and answer.

    Args:
        found: what was found.
        read: its sentences.
        most_words: a sentence is given with those beside it in its paragraph, the better first,
            while all together have no more words.
        most_each: sentences of a parent at most; behind its first only such that were compared,
            and none twice.
    """
    scores = np.nan_to_num(read.scores, nan=-1.0).tolist()
    chosen = []
    for index, parent in enumerate(found):
        own = [number for number, of in enumerate(read.parents) if of == index]
        ranked = sorted(own, key=lambda number: _rank(number, read, scores))
        answering = [n for n in map(_answering(read), ranked) if n is not None] or ranked[:1]
        answers: dict[tuple[int, int, int], Answer[_Passage]] = {}
        for number in answering:
            if answers and (len(answers) == most_each or scores[number] < 0):
                break
            passage, start, end = _longest(read.sentences[number])
            if any(p == passage and start < e and end > s for p, s, e in answers):
                continue
            passage, start, end = _widened(number, parent, read, scores, most_words)
            if any(p == passage and start < e and end > s for p, s, e in answers):
                passage, start, end = _longest(read.sentences[number])
            answers[passage, start, end] = Answer(
                parent.passages[passage],
                start,
                end,
                max(scores[number], 0.0),
                read.sentences[number].row,
            )
        chosen.append(tuple(answers.values()))
    return chosen


def _widened(
    best: int,
    parent: FoundParent[_Passage],
    read: ReadParents,
    scores: Sequence[float],
    most_words: int,
) -> tuple[int, int, int]:
    """Return where a sentence stands, with those of its line that go into `most_words`."""
    passage, start, end = _longest(read.sentences[best])
    text = parent.passages[passage].text
    first = last = best
    while True:
        for number in sorted((first - 1, last + 1), key=lambda n: _rank(n, read, scores)):
            if not _stands_beside(number, best, read):
                continue
            where, begins, ends = _longest(read.sentences[number])
            both = min(start, begins), max(end, ends)
            wider = text[slice(*both)]
            if where == passage and "\n" not in wider and count_words(wider) <= most_words:
                start, end = both
                first, last = min(first, number), max(last, number)
                break
        else:
            return passage, start, end


def _stands_beside(number: int, best: int, read: ReadParents) -> bool:
    if not 0 <= number < len(read.sentences) or read.parents[number] != read.parents[best]:
        return False
    other, own = read.sentences[number], read.sentences[best]
    return other.run == own.run and other.kind == own.kind == "text"


def _rank(number: int, read: ReadParents, scores: Sequence[float]) -> tuple[float, float, int]:
    is_there = 0 <= number < len(scores)
    return (-scores[number], -read.near[number], number) if is_there else (2.0, 0.0, number)


def judge_match(question: str, read: ReadParents, *, is_named: bool) -> PackMatch:
    """Return whether what was found seems to answer a question.

    Args:
        question: as it was asked.
        read: the sentences of what was found; none where nothing was.
        is_named: the question names an article of a law that is there.
    """
    is_good = is_named or read.best >= THRESHOLD
    return PackMatch(
        is_good=is_good,
        likelihood=read.best,
        threshold=THRESHOLD,
        weights=hash_fields(load_finder().fingerprint, load_pair_model().fingerprint),
        sentence=None if is_good else _NO_MATCH[is_chinese(question)],
    )


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
