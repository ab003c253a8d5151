"""Search and parents over real search tables; the rules themselves are in test_pipeline."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import pytest

from rag_assets.model import DamagedFileError, UsageError
from rag_assets.model.settings import ModelSettings
from rag_assets.publishing import PublishedModel
from rag_assets.retrieval import (
    AskedQuery,
    Hit,
    Reader,
    SearchFilters,
    backfill_parents,
    rank_chunks,
    search,
)
from rag_assets_tests.publishing.made_up_tables import DIMENSION, chunk_row, chunk_rows, direction
from rag_assets_tests.retrieval.made_up_readers import configured
from rag_assets_tests.retrieval.publications import MODELS, PublicationMaker

MODEL = MODELS[0]


def with_model(reader: Reader) -> Reader:
    """Return the reader; its made-up model is taken for one that is on this machine."""
    settings = ModelSettings(kind="hashing", model=MODEL)
    model = PublishedModel(settings, MODEL, MODEL, DIMENSION, "vector")
    reader.__dict__["models"] = (model,)
    return reader


def asked(text: str, vector: Sequence[float] = ()) -> AskedQuery:
    return AskedQuery(text, "en", {"q_en": text}, {MODEL: [vector]} if vector else {})


def ranked(
    readers: Sequence[Reader],
    query: AskedQuery,
    method: Literal["hybrid", "semantic", "lexical"] = "hybrid",
    filters: SearchFilters | None = None,
    **changes: Any,
) -> tuple[Hit, ...]:
    settings = configured(method=method, **changes)
    return rank_chunks(readers, query, settings, filters or SearchFilters()).hits


@pytest.fixture(scope="module")
def thesis(make_publication: PublicationMaker) -> Reader:
    return with_model(make_publication("thesis", chunk_rows()))


@pytest.fixture(scope="module")
def papers(make_publication: PublicationMaker) -> Reader:
    unpaged = {"page_start": None, "page_end": None}
    rows: list[Mapping[str, Any]] = [
        chunk_row(
            "canopy", 0, "Canopy carbon uptake.", namespace="papers", vector=direction(2, 0.7)
        ),
        chunk_row(
            "leaf-copy",
            0,
            "Stomatal conductance falls; water is saved.",
            namespace="papers",
            vector=direction(5),
            **unpaged,
        ),
    ]
    return with_model(make_publication("papers", rows))


def test_hybrid_search_fuses_words_and_meaning(thesis: Reader) -> None:
    hits = ranked([thesis], asked("违约责任", direction(0, 0.2)))
    by_id = {hit.chunk_id: hit for hit in hits}
    assert by_id["叶片-2020:1"].ranks["lexical"] == 1
    assert by_id["leaf-2021:0"].ranks == {MODEL: 1}
    assert by_id["leaf-2021:0"].scores["lexical"] == 0.0
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_each_method_uses_its_own_searchers(thesis: Reader) -> None:
    lexical = ranked([thesis], asked("carbon"), "lexical")
    assert {hit.chunk_id for hit in lexical} == {"leaf-2021:0", "rubric:0"}
    semantic = ranked([thesis], asked("carbon", direction(5)), "semantic")
    assert semantic[0].chunk_id == "叶片-2020:2"
    assert all(set(hit.ranks) == {MODEL} for hit in semantic)


def test_filters_reach_the_searches(thesis: Reader) -> None:
    filters = SearchFilters(citable_only=True)
    hits = ranked([thesis], asked("carbon", direction(6)), filters=filters)
    assert hits
    assert all(hit.citable for hit in hits)


@pytest.mark.parametrize("method", ["hybrid", "semantic", "lexical"])
def test_order_of_the_namespaces_does_not_matter(
    thesis: Reader, papers: Reader, method: Literal["hybrid", "semantic", "lexical"]
) -> None:
    question = asked("carbon stomatal", direction(2))
    one = ranked([thesis, papers], question, method)
    assert one == ranked([papers, thesis], question, method)
    assert {hit.namespace for hit in one} == {"thesis", "papers"}


def test_equal_texts_are_shown_once_and_the_paged_one_is_kept(
    thesis: Reader, papers: Reader
) -> None:
    hits = ranked([thesis, papers], asked("water is saved", direction(1)))
    kept = [hit for hit in hits if "water is saved" in hit.text]
    assert [hit.chunk_key for hit in kept] == ["thesis::leaf-2021:2"]
    assert kept[0].copies == ("papers::leaf-copy:0",)


def test_of_copies_the_citable_then_the_paged_then_the_lower_uid_is_kept(
    make_publication: PublicationMaker,
) -> None:
    text = "One sentence in five files."
    rows = [
        chunk_row("a-rubric", 0, text, citable=False),
        chunk_row("b-note", 0, text, page_start=None, page_end=None),
        chunk_row("d-paper", 0, text),
        chunk_row("c-paper", 0, text),
        chunk_row("c-paper", 1, text),
    ]
    reader = make_publication("copies", [row | {"namespace": "copies"} for row in rows])
    (hit,) = ranked([reader], asked("sentence"), "lexical")
    assert hit.chunk_id == "c-paper:0"
    assert len(hit.copies) == 4


def test_a_vector_of_another_length_is_refused(thesis: Reader) -> None:
    with pytest.raises(UsageError, match="another model"):
        ranked([thesis], asked("carbon", [1.0, 0.0]))


def test_no_readers_find_nothing() -> None:
    assert search([], asked("carbon"), configured()) == []
    assert backfill_parents([], [], 10) == []


def test_parents_come_in_the_order_of_their_best_child(thesis: Reader) -> None:
    hits = ranked([thesis], asked("", direction(3, 0.5)), "semantic")
    parents = backfill_parents([thesis], hits, 10)
    assert [item.rank for item in parents] == list(range(1, len(parents) + 1))
    assert len({item.parent.parent_id for item in parents}) == len(parents) == 5
    first = parents[0]
    assert (first.parent.parent_id, first.best.chunk_id) == ("叶片-2020:p001", "叶片-2020:0")
    assert first.other_chunk_ids == ("叶片-2020:1",)
    assert first.best.text in first.parent.text
    assert first.score == hits[0].score
    shown = [item.best.chunk_id for item in parents]
    assert shown == [hit.chunk_id for hit in hits if hit.chunk_id in shown]


def test_top_k_counts_parents_and_their_later_children_are_kept(thesis: Reader) -> None:
    hits = ranked([thesis], asked("", direction(3, 0.5)), "semantic")
    late = [*(hit for hit in hits if hit.chunk_id != "叶片-2020:1"), hits[1]]
    (only,) = backfill_parents([thesis], late, 1)
    assert only.other_chunk_ids == ("叶片-2020:1",)


def test_parents_of_two_namespaces_are_kept_apart(thesis: Reader, papers: Reader) -> None:
    hits = ranked([thesis, papers], asked("carbon", direction(2)))
    parents = backfill_parents([thesis, papers], hits, 50)
    assert {item.parent.namespace for item in parents} == {"thesis", "papers"}
    assert all(item.parent.namespace == item.best.namespace for item in parents)


def test_missing_parent_is_damage_and_missing_reader_a_mistake(thesis: Reader) -> None:
    hits = ranked([thesis], asked("carbon"), "lexical")
    with pytest.raises(DamagedFileError, match="lacks parent nowhere"):
        backfill_parents([thesis], [replace(hits[0], parent_id="nowhere")], 5)
    with pytest.raises(UsageError, match="no reader is open for namespace 'thesis'"):
        backfill_parents([], hits, 5)
    with pytest.raises(UsageError, match="'top_k' must be at least 1, got 0"):
        backfill_parents([thesis], hits, 0)
