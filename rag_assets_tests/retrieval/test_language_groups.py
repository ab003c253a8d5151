"""Libraries in several languages: ranked language by language, then merged."""

import numpy as np
import pytest

from rag_assets.retrieval.filters import EVERYTHING
from rag_assets.retrieval.hits import Hit
from rag_assets.retrieval.languages import MIN_PASSAGES, language_groups
from rag_assets.retrieval.searching import search
from rag_assets_tests.retrieval.made_up_readers import (
    QUESTION,
    SHARED,
    MadeUpReader,
    configured,
    hit,
    query,
    readers,
)

ENGLISH = [f"en:{number}" for number in range(30)]
CHINESE = [f"zh:{number}" for number in range(30)]
MODEL = "e5"


def _library(chinese: list[str] = CHINESE, cosines: dict[str, float] | None = None) -> MadeUpReader:
    """English passages are all more similar to an English question than Chinese ones."""
    own = {key: 0.80 + number / 1000 for number, key in enumerate(ENGLISH)}
    own |= {key: 0.60 + number / 1000 for number, key in enumerate(chinese)}
    own |= cosines or {}
    return with_cosines(
        [_hit(key, f"English words number {key}.") for key in ENGLISH]
        + [_hit(key, f"第{key}段是用中文写的。") for key in chinese],
        own,
    )


def with_cosines(chunks: list[Hit], cosines: dict[str, float]) -> MadeUpReader:
    """Return a library whose passages have these cosines with the question, and vectors to match.

    Beside the question's direction a vector has that of its language, and noise of its own.
    """
    vectors = {}
    for number, (key, cosine) in enumerate(cosines.items()):
        noise = np.random.default_rng(number).normal(size=len(QUESTION) - 3)
        noise /= np.linalg.norm(noise)
        rest = np.array([0.9 * key.startswith("en"), 0.9 * key.startswith("zh"), *0.4359 * noise])
        vectors[key] = [cosine, *(np.sqrt(1 - cosine**2) * rest / np.linalg.norm(rest))]
    return MadeUpReader(chunks, cosines={MODEL: cosines}, vectors={MODEL: vectors})


def _hit(key: str, text: str) -> Hit:
    return hit(key, chunk_index=int(key.partition(":")[2]), text=text, content_hash=key)


def test_the_best_passage_in_another_language_is_found_first() -> None:
    library = _library(cosines={"zh:7": 0.75})
    found = search(readers(library), query(MODEL), configured())
    assert found[0].chunk_id == "zh:7"
    assert found[0].score == 1
    assert found[0].explanation["standing"] > found[1].explanation["standing"]


def test_a_best_passage_in_the_questions_own_language_stays_first() -> None:
    library = _library(cosines={"en:3": 0.95})
    assert search(readers(library), query(MODEL), configured())[0].chunk_id == "en:3"


def test_the_order_within_a_language_is_that_of_a_library_of_it_alone() -> None:
    library = _library(cosines={"zh:7": 0.75, "en:3": 0.95})
    library.words = {"en:20": 9.0, "en:21": 4.0, "zh:2": 3.0}
    alone = with_cosines(
        [chunk for chunk in library.chunks if chunk.chunk_id in ENGLISH],
        {key: library.cosines[MODEL][key] for key in ENGLISH},
    )
    alone.words = {key: score for key, score in library.words.items() if key in ENGLISH}
    settings = configured(top_k=100, rerank_k=100)
    mixed = [h.chunk_id for h in search(readers(library), query(MODEL), settings)]
    only = [h.chunk_id for h in search(readers(alone), query(MODEL), settings)]
    assert [key for key in mixed if key in ENGLISH] == only


def test_a_few_passages_in_another_language_make_no_group() -> None:
    library = _library(CHINESE[: MIN_PASSAGES - 1])
    assert language_groups(readers(library), query(MODEL), EVERYTHING) == []


def test_every_passage_is_in_one_group() -> None:
    library = _library()
    few = [_hit(f"ja:{n}", "これは日本語で書かれています。") for n in range(MIN_PASSAGES + 1)]
    library.chunks = [*library.chunks, *few]
    groups = language_groups(readers(library), query(MODEL), EVERYTHING)
    assert [group.languages for group in groups] == [("en", "other"), ("zh",)]


def test_a_model_that_reads_one_language_alone_merges_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Encoding these questions takes seconds: not for a model that then decides nothing.
    monkeypatch.delattr(MadeUpReader, "usual_questions")
    library = _library()
    library.vectors = {MODEL: {key: library.vectors[MODEL][key] for key in ENGLISH}}
    assert language_groups(readers(library), query(MODEL), EVERYTHING) == []


def test_the_order_of_publications_changes_nothing() -> None:
    first = _library(cosines={"zh:7": 0.75})
    second = _library(cosines={"en:3": 0.95})
    first.namespace, second.namespace = "thesis", "papers"
    first.chunks = [hit(c.chunk_id, namespace="thesis", text=c.text, content_hash=c.content_hash)
                    for c in first.chunks]  # fmt: skip
    second.chunks = [hit(c.chunk_id, namespace="papers", text=c.text, content_hash=c.content_hash)
                     for c in second.chunks]  # fmt: skip
    one = search(readers(first, second), query(MODEL), configured())
    other = search(readers(second, first), query(MODEL), configured())
    assert [h.chunk_key for h in one] == [h.chunk_key for h in other]


def test_a_passage_that_is_near_to_every_question_does_not_come_first() -> None:
    library = _library(cosines={"zh:7": 0.80, "zh:9": 0.80})
    hub = np.array(library.vectors[MODEL]["zh:9"])
    hub[SHARED] += 0.5
    hub[1:] *= np.sqrt(1 - 0.80**2) / np.linalg.norm(hub[1:])
    library.vectors = {MODEL: {**library.vectors[MODEL], "zh:9": list(hub)}}
    found = search(readers(library), query(MODEL), configured(top_k=100))
    standing = {hit.chunk_id: hit.explanation["standing"] for hit in found}
    assert found[0].chunk_id == "zh:7"
    assert standing["zh:7"] > standing["zh:9"] > standing["zh:5"]


def test_what_else_a_library_holds_moves_no_passage() -> None:
    """A language of which all passages are near to the question stands as high as one passage."""
    one = _library(cosines={"zh:7": 0.80})
    all_of_it = _library(cosines=dict.fromkeys(CHINESE, 0.8))
    for library in (one, all_of_it):
        found = search(readers(library), query(MODEL), configured())
        assert found[0].chunk_id.startswith("zh")
