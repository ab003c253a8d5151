from dataclasses import replace
from typing import Literal

import pytest

from rag_assets.model import DamagedFileError, UsageError
from rag_assets.retrieval import Reader, SearchFilters, backfill_parents, search
from rag_assets.workspace.settings import RetrieveSettings
from rag_assets_tests.publishing.made_up_tables import chunk_row, chunk_rows, direction
from rag_assets_tests.retrieval.publications import PublicationMaker


def configured(
    method: Literal["hybrid", "semantic", "lexical"] = "hybrid", pool_k: int = 50
) -> RetrieveSettings:
    return RetrieveSettings(method=method, references=False, pool_k=pool_k, rrf_k=60, top_k=10)


@pytest.fixture(scope="module")
def thesis(make_publication: PublicationMaker) -> Reader:
    return make_publication("thesis", chunk_rows())


@pytest.fixture(scope="module")
def papers(make_publication: PublicationMaker) -> Reader:
    rows = [
        chunk_row("canopy", 0, "Canopy carbon uptake.", namespace="papers", vector=direction(2)),
        chunk_row(
            "leaf-copy",
            0,
            "Stomatal conductance falls; water is saved.",
            namespace="papers",
            vector=direction(2),
            page_start=None,
            page_end=None,
        ),
    ]
    return make_publication("papers", rows)


def test_hybrid_search_fuses_words_and_meaning(thesis: Reader) -> None:
    hits = search([thesis], "违约责任", {"thesis": direction(0, 0.2)}, configured())
    by_id = {hit.chunk_id: hit for hit in hits}
    lexical_first = by_id["叶片-2020:1"]
    assert lexical_first.ranks["lexical"] == 1
    assert by_id["leaf-2021:0"].ranks == {"semantic": 1}
    assert by_id["leaf-2021:0"].score == pytest.approx(1 / 61)
    assert lexical_first.score == pytest.approx(
        sum(1 / (60 + rank) for rank in lexical_first.ranks.values())
    )
    assert set(lexical_first.scores) == {"lexical", "semantic"}
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_each_method_uses_its_own_searchers(thesis: Reader) -> None:
    lexical = search([thesis], "carbon", {}, configured("lexical"))
    assert {hit.chunk_id for hit in lexical} == {"leaf-2021:0", "rubric:0"}
    semantic = search([thesis], "carbon", {"thesis": direction(5)}, configured("semantic"))
    assert semantic[0].chunk_id == "叶片-2020:2"
    assert all(set(hit.ranks) == {"semantic"} for hit in semantic)


def test_pool_bounds_each_searcher(thesis: Reader) -> None:
    hits = search([thesis], "carbon", {"thesis": direction(7)}, configured(pool_k=1))
    assert [hit.ranks for hit in hits] == [{"lexical": 1}, {"semantic": 1}] or [
        hit.ranks for hit in hits
    ] == [{"semantic": 1}, {"lexical": 1}]


def test_filters_reach_the_searches(thesis: Reader) -> None:
    vectors = {"thesis": direction(6)}
    hits = search([thesis], "carbon", vectors, configured(), SearchFilters(citable_only=True))
    assert hits
    assert all(hit.citable for hit in hits)


@pytest.mark.parametrize("method", ["hybrid", "semantic", "lexical"])
def test_order_of_the_namespaces_does_not_matter(
    thesis: Reader, papers: Reader, method: Literal["hybrid", "semantic", "lexical"]
) -> None:
    vectors = {"thesis": direction(2), "papers": direction(2)}
    one = search([thesis, papers], "carbon stomatal", vectors, configured(method))
    other = search([papers, thesis], "carbon stomatal", vectors, configured(method))
    assert one == other
    assert {hit.namespace for hit in one} == {"thesis", "papers"}


def test_equal_scores_of_two_namespaces_go_by_id(make_publication: PublicationMaker) -> None:
    readers = [
        make_publication(name, [chunk_row("note", 0, f"alpha {name}", namespace=name)])
        for name in ("zeta", "beta")
    ]
    for asked in (readers, readers[::-1]):
        hits = search(asked, "alpha", {}, configured("lexical"))
        assert [hit.chunk_key for hit in hits] == ["beta::note:0", "zeta::note:0"]
        assert hits[0].scores == hits[1].scores


def test_cosines_of_one_model_are_one_ranking(thesis: Reader, papers: Reader) -> None:
    vectors = {"thesis": direction(0, 0.5), "papers": direction(0, 0.5)}
    hits = search([thesis, papers], "", vectors, configured("semantic"))
    places = sorted(hit.ranks["semantic"] for hit in hits)
    assert len(set(places)) == len(places)
    cosines = [hit.scores["semantic"] for hit in hits]
    assert cosines == sorted(cosines, reverse=True)


def test_models_of_different_namespaces_rank_side_by_side(
    thesis: Reader, make_publication: PublicationMaker
) -> None:
    other = make_publication(
        "other",
        [chunk_row("far", 0, "Far away.", namespace="other", vector=[1.0, 0.0, 0.0])],
        dimension=3,
    )
    vectors = {"thesis": direction(0), "other": [0.1, 1.0, 0.0]}
    hits = search([thesis, other], "", vectors, configured("semantic"))
    assert [hit.chunk_key for hit in hits[:2]] == ["other::far:0", "thesis::leaf-2021:0"]
    assert [hit.ranks for hit in hits[:2]] == [{"semantic": 1}] * 2


def test_equal_texts_are_shown_once_and_the_paged_one_is_kept(
    thesis: Reader, papers: Reader
) -> None:
    vectors = {"thesis": direction(1), "papers": direction(2)}
    hits = search([thesis, papers], "water is saved", vectors, configured())
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
    (hit,) = search([reader], "sentence", {}, configured("lexical"))
    assert hit.chunk_id == "c-paper:0"
    assert len(hit.copies) == 4
    assert hit.score == pytest.approx(1 / 61)


def test_namespace_asked_twice_or_without_its_vector_is_refused(thesis: Reader) -> None:
    with pytest.raises(UsageError, match="asked once"):
        search([thesis, thesis], "carbon", {}, configured("lexical"))
    with pytest.raises(UsageError, match="'thesis' needs the question's vector"):
        search([thesis], "carbon", {}, configured())
    with pytest.raises(UsageError, match="another model"):
        search([thesis], "carbon", {"thesis": [1.0, 0.0]}, configured())


def test_no_readers_find_nothing() -> None:
    assert search([], "carbon", {}, configured()) == []
    assert backfill_parents([], [], 10) == []


def test_parents_come_in_the_order_of_their_best_child(thesis: Reader) -> None:
    hits = search([thesis], "", {"thesis": direction(3, 0.5)}, configured("semantic"))
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
    hits = search([thesis], "", {"thesis": direction(3, 0.5)}, configured("semantic"))
    late = [*(hit for hit in hits if hit.chunk_id != "叶片-2020:1"), hits[1]]
    (only,) = backfill_parents([thesis], late, 1)
    assert only.other_chunk_ids == ("叶片-2020:1",)


def test_parents_of_two_namespaces_are_kept_apart(thesis: Reader, papers: Reader) -> None:
    vectors = {"thesis": direction(2), "papers": direction(2)}
    hits = search([thesis, papers], "carbon", vectors, configured())
    parents = backfill_parents([thesis, papers], hits, 50)
    assert {item.parent.namespace for item in parents} == {"thesis", "papers"}
    assert all(item.parent.namespace == item.best.namespace for item in parents)


def test_missing_parent_is_damage_and_missing_reader_a_mistake(thesis: Reader) -> None:
    hits = search([thesis], "carbon", {}, configured("lexical"))
    with pytest.raises(DamagedFileError, match="lacks parent nowhere"):
        backfill_parents([thesis], [replace(hits[0], parent_id="nowhere")], 5)
    with pytest.raises(UsageError, match="no reader is open for namespace 'thesis'"):
        backfill_parents([], hits, 5)
    with pytest.raises(UsageError, match="'top_k' must be at least 1, got 0"):
        backfill_parents([thesis], hits, 0)
