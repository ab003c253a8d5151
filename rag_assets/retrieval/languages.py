"""Questions of all kinds, the same in each language, as a model sees them.

They stand for whatever else might be asked. Against them is told how near a passage is to one
question, in whichever language it is written, whatever else the library holds; and their means
tell how a model sees the languages themselves. The shipped vectors are made by
`benchmarks/encode_usual_questions.py`; of other models they are made when they are first needed.
"""

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rag_assets.model import hash_fields
from rag_assets.publishing.content_words import coverage
from rag_assets.retrieval.filters import SearchFilters
from rag_assets.retrieval.hits import Hit
from rag_assets.retrieval.queries import AskedQuery
from rag_assets.workspace import configs_folder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rag_assets.model.settings import ModelSettings
    from rag_assets.retrieval.reader import Reader

    Floats = NDArray[np.float64]

TEXTS_FILE = "usual_questions.tsv"
VECTORS_FILE = "usual_questions.json"
# The columns of the texts, and how vectors are stored.
LANGUAGES = ("en", "zh")
STORED = np.dtype("<f2")


def read_texts() -> list[list[str]]:
    """Return the questions: the same one in each of LANGUAGES."""
    lines = (configs_folder() / TEXTS_FILE).read_text("utf-8").splitlines()
    return [line.split("\t") for line in lines]


def stored_questions(fingerprint: str) -> "Mapping[str, Floats]":
    """Return the vectors of a model's questions by language, each of length 1.

    Returns:
        Shape (questions, dimension) each; empty for a model whose vectors are not shipped.
    """
    return _stored(configs_folder() / VECTORS_FILE).get(fingerprint, {})


def usual_questions(fingerprint: str, model: "ModelSettings") -> "Mapping[str, Floats]":
    """Return what `stored_questions` does, encoded now where they are not stored.

    Raises:
        ConfigurationError: no such model on this machine.
    """
    return stored_questions(fingerprint) or _encoded(fingerprint, model)


def stored_digest() -> str:
    """Return what identifies the stored vectors, for the record of a search."""
    return hash_fields((configs_folder() / VECTORS_FILE).read_text("utf-8"))[:16]


@lru_cache(maxsize=8)
def _encoded(_fingerprint: str, model: "ModelSettings") -> "Mapping[str, Floats]":
    from rag_assets.embedding import encode_questions

    columns = zip(LANGUAGES, zip(*read_texts(), strict=True), strict=True)
    return {language: _unit(encode_questions(model, texts)) for language, texts in columns}


@lru_cache(maxsize=4)
def _stored(path: Path) -> "dict[str, dict[str, Floats]]":
    models = json.loads(path.read_text("utf-8"))["models"]
    return {
        str(fingerprint): {
            language: _unit(
                np.frombuffer(base64.b64decode(text), STORED).reshape(-1, model["dimension"])
            )
            for language, text in model["vectors"].items()
        }
        for model in models
        for fingerprint in model["fingerprints"]
    }


def _unit(vectors: object) -> "Floats":
    found = np.asarray(vectors, np.float64)
    unit: Floats = found / np.linalg.norm(found, axis=1, keepdims=True)
    return unit


# A question in one language over passages in another: its vector moves to their language.
#
# Part of a multilingual vector says in which language a text is written. That part is the same for
# all questions of a language, and it favours whatever passages of the other language happen to look
# like it. It is the difference of the two languages' centres (Libovický et al. 2020, "On the
# Language Neutrality of Pre-trained Multilingual Representations"), and is added. The centres are
# means over the same questions in both languages (`usual_questions`).


Vector = Sequence[float]


def vectors_for(query: "AskedQuery", fingerprint: str, passages: Mapping[str, int]) -> list[Vector]:
    """Return the vectors of a question, moved where it was asked in no language of the passages.

    Args:
        query: with vectors.
        fingerprint: of the model that made them.
        passages: how many are written in each language; the commonest counts.

    Returns:
        One vector a wording, not of length 1 where it was moved. As they are where the passages'
        commonest language is one of the question's, or where a centre is not known.
    """
    own = list(query.vectors[fingerprint])
    if not passages:
        return own
    theirs = max(passages, key=lambda language: (passages[language], language))
    if theirs in query.languages:
        return own
    by = shift(stored_questions(fingerprint), query.language, theirs)
    return own if by is None else [[x + y for x, y in zip(v, by, strict=True)] for v in own]


def shift(usual: "Mapping[str, Floats]", asked: str, passages: str) -> "Floats | None":
    """Return what takes a question from one language to another; None where it stays.

    Args:
        usual: the same questions in each language, as the model sees them.
        asked: the question's language.
        passages: theirs.
    """
    if asked == passages or asked not in usual or passages not in usual:
        return None
    found: Floats = usual[passages].mean(axis=0) - usual[asked].mean(axis=0)
    return found


# Libraries in several languages: each language is ranked for itself, then they become one.
#
# A multilingual model finds a passage in the question's own language more similar than a better one
# in another language: over paragraphs of which half are English and half Chinese,
# multilingual-e5-small alone has nDCG@10 0.55 (XQuAD, each question in one of the two at random),
# though 0.82 to 0.96 in each pair of languages. So what counts between languages is how much nearer
# a passage is to this question than passages of its language are to questions of all kinds
# (`usual_questions`), asked in the same language and moved to the passages' as this one is. Half of
# that is each passage's own mean, for hubs are near to all questions (Conneau et al. 2018, section
# 2.3). It depends on nothing else that a library holds: measured against the library's own
# passages, the one Chinese paper among English ones, which is all about what is asked, never stood
# out.


# Fewer passages are ranked with those of the question's language; of other languages than those
# of the usual questions, which nothing moves a question to, more are needed to stand alone.
MIN_PASSAGES = 5
MIN_OF_OTHERS = 30
# A model speaks for a language of which it can read at least this share of the passages.
_MIN_READABLE = 0.5
# Passages of all publications together that tell a language's mean and spread; at 1,000 a mean is
# known to 3 % of the spread.
_SAMPLE = 1000
# A hit in the question's language that holds half of its words stands as its nearness says, for
# each tenth more 0.3 deviations higher, for each tenth less 0.3 lower: some of the nearness within
# a language is the language. Libraries of 6 to 42 articles of XQuAD a language: nDCG@10 0.91
# without, 0.92 where words only lift, 0.935 so; any weight from 2 to 5 around any share from 0.4 to
# 0.6 gives 0.93 or more.
_WORDS_WEIGHT, _WORDS_HALF = 3.0, 0.5
_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class _Wording:
    """A wording of the question as a group is asked, by the model that compares the groups.

    Args:
        vector: of the question, of length 1, in the passages' language.
        usual: of questions of all kinds, likewise; shape (questions, dimension).
        mean: of their similarities with the group's passages; `spread` their deviation, half of it
            around each passage's own mean.
    """

    vector: "Floats"
    usual: "Floats"
    mean: float
    spread: float

    def standings(self, passages: "Floats") -> "Floats":
        """Return how far each passage, of length 1, stands out."""
        usual = (passages @ self.usual.T).mean(axis=1)
        found: Floats = (passages @ self.vector - (usual + self.mean) / 2) / self.spread
        return found


@dataclass(frozen=True, slots=True)
class LanguageGroup:
    """Passages of one language, with those of languages too rare to stand alone.

    Args:
        languages: as `passage_language` names them.
        filters: that let these passages through, and only them.
        model: fingerprint of the model that compares the groups.
        wordings: one for each vector of the question by that model.
    """

    languages: tuple[str, ...]
    filters: SearchFilters
    model: str
    wordings: tuple[_Wording, ...]


def language_groups(
    readers: "Sequence[Reader]", query: AskedQuery, filters: SearchFilters
) -> list[LanguageGroup]:
    """Return the groups of a library in several languages; none where there is nothing to merge.

    That is where all but a few passages share one language, or where no model has vectors of the
    question and of most passages in each language and publication.
    """
    counts: dict[str, int] = {}
    for reader in readers:
        for language, count in reader.count_by_language(filters).items():
            counts[language] = counts.get(language, 0) + count
    large = sorted(
        language
        for language, count in counts.items()
        if count >= (MIN_PASSAGES if language in LANGUAGES else MIN_OF_OTHERS)
    )
    if len(large) < 2:
        return []
    home: str = query.language
    if home not in large:
        home = max(large, key=lambda language: (counts[language], language))
    members = {
        language: (language, *sorted(counts.keys() - large)) if language == home else (language,)
        for language in large
    }
    shared = set.intersection(*(set(reader.fingerprints) for reader in readers))
    for fingerprint in readers[0].fingerprints:
        if fingerprint not in shared or fingerprint not in query.vectors:
            continue
        groups = {
            languages: _readable(readers, languages, filters, fingerprint)
            for languages in members.values()
        }
        if any(passages is None for passages in groups.values()):
            continue
        usual = readers[0].usual_questions(fingerprint)
        return [
            LanguageGroup(
                languages,
                _of(languages, filters),
                fingerprint,
                tuple(_wordings(query, fingerprint, languages[0], usual, passages)),
            )
            for languages, passages in groups.items()
            if passages is not None
        ]
    return []


def _of(languages: tuple[str, ...], filters: SearchFilters) -> SearchFilters:
    return replace(filters, passage_languages=languages)


def _readable(
    readers: "Sequence[Reader]",
    languages: tuple[str, ...],
    filters: SearchFilters,
    fingerprint: str,
) -> "Floats | None":
    """Return vectors of a group's passages, None where a model cannot read most of them."""
    import numpy as np

    own = _of(languages, filters)
    share = max(1, _SAMPLE // len(readers))
    # By name, so that the order of publications decides nothing.
    ordered = sorted(readers, key=lambda reader: reader.namespace)
    passages = np.concatenate(
        [reader.sample_vectors(fingerprint, languages, own, share) for reader in ordered]
    )
    asked = sum(min(share, sum(reader.count_by_language(own).values())) for reader in readers)
    return passages if len(passages) >= max(1, _MIN_READABLE * asked) else None


def _wordings(
    query: AskedQuery,
    fingerprint: str,
    theirs: str,
    usual: "Mapping[str, Floats]",
    passages: "Floats",
) -> Iterator[_Wording]:
    import numpy as np

    vectors = query.vectors[fingerprint]
    spoken = [key.removeprefix("q_") for key in query.texts]
    if len(spoken) != len(vectors):
        spoken = [query.language] * len(vectors)
    for vector, language in zip(vectors, spoken, strict=True):
        yield _wording(np.asarray(vector, np.float64), language, theirs, usual, passages)


def _wording(
    vector: "Floats", asked: str, theirs: str, usual: "Mapping[str, Floats]", passages: "Floats"
) -> _Wording:
    import numpy as np

    # In a language in which none is known, those of all languages are asked.
    others = usual[asked] if asked in usual else np.concatenate(list(usual.values()))
    by = shift(usual, asked, theirs)
    if by is not None:
        vector, others = vector + by, others + by
    others = others / np.linalg.norm(others, axis=1, keepdims=True)
    found = passages @ others.T
    around = found - found.mean(axis=1, keepdims=True)
    return _Wording(
        vector / (np.linalg.norm(vector) or 1.0),
        others,
        float(found.mean()),
        float(found.std() + around.std()) / 2 or 1.0,
    )


def merge_groups(
    groups: Sequence[LanguageGroup],
    ranked: Sequence[Sequence[Hit]],
    readers: "Sequence[Reader]",
    query: AskedQuery,
) -> list[Hit]:
    """Return the hits of all groups in one ranking that keeps the order of each.

    The standings of a group's hits (twice standardised similarities, and words in common with a
    question of that language), the highest first, are given to its hits in their order; hits of all
    groups are ranked by them, ties by `chunk_key`. So words and all models decide within a
    language, and one model that reads them all between languages. In a language in which the
    question was not asked that model is all there is, and its standings decide the order too.

    Args:
        groups: as `language_groups` returns them.
        ranked: the hits of each group, best first.

    Returns:
        Hits with `score` in [0, 1], 1 for the first, and `standing`, the number that they were
        given, in their explanations.
    """
    placed = []
    for group, hits in zip(groups, ranked, strict=True):
        own = _standings(group, hits, readers, query)
        order: Sequence[int] = range(len(hits))
        if not query.languages.intersection(group.languages):
            order = sorted(order, key=lambda place: -own[place])
        for standing, place in zip(sorted(own, reverse=True), order, strict=True):
            placed.append((round(standing, _DECIMALS), hits[place]))
    if not placed:
        return []
    standings = [standing for standing, _ in placed]
    low, width = min(standings), max(standings) - min(standings)
    merged = [
        replace(
            hit,
            score=(standing - low) / width if width else 1.0,
            explanation={**hit.explanation, "standing": standing},
        )
        for standing, hit in placed
    ]
    return sorted(merged, key=lambda hit: (-hit.score, hit.chunk_key))


def _standings(
    group: LanguageGroup, hits: Sequence[Hit], readers: "Sequence[Reader]", query: AskedQuery
) -> list[float]:
    """Return how far each hit stands out in its group; one without a vector not at all: 0."""
    import numpy as np

    best: dict[str, float] = {}
    for reader in readers:
        ids = [hit.chunk_id for hit in hits if hit.namespace == reader.namespace]
        vectors = reader.fetch_vectors(group.model, ids)
        if not vectors:
            continue
        passages = np.stack(list(vectors.values())).astype(np.float64)
        passages /= np.sqrt(np.einsum("ij,ij->i", passages, passages))[:, None]
        for wording in group.wordings:
            for chunk_id, standing in zip(
                vectors, wording.standings(passages).tolist(), strict=True
            ):
                key = f"{reader.namespace}::{chunk_id}"
                best[key] = max(standing, best.get(key, standing))
    asked = [text for key, text in query.texts.items() if key.removeprefix("q_") in group.languages]
    return [best.get(hit.chunk_key, 0.0) + _words_in_common(asked, hit.text) for hit in hits]


def _words_in_common(asked: Sequence[str], text: str) -> float:
    if not asked:
        return 0.0
    return _WORDS_WEIGHT * (max(coverage(question, text) for question in asked) - _WORDS_HALF)
