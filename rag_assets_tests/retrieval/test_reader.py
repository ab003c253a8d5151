import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_assets.model import PublicationError, UsageError
from rag_assets.retrieval import Reader, SearchFilters
from rag_assets_tests.publishing.made_up_tables import DIMENSION, chunk_rows, direction
from rag_assets_tests.retrieval.publications import MODELS, PublicationMaker

MODEL = MODELS[0]
EVIDENCE = SearchFilters(citable_only=True)

HOSTILE = [
    "",
    " \n\t",
    '"',
    '"carbon',
    "'",
    "+carbon -dioxide",
    "carbon AND",
    "(carbon OR",
    "text:carbon",
    "carbon*",
    "car?on~2",
    "{}[]^:!&|\\/",
    "——,。!?",
    "\0",
    "car\0bon",
    "\ud800 carbon",
    "😀🧪",
    "a" * 10_000,
    "碳" * 10_000,
    " ".join(f"word{number}" for number in range(2000)),
    '{"match": {"query": "x"}}',
]


@pytest.fixture(scope="module")
def reader(make_publication: PublicationMaker) -> Reader:
    return make_publication("thesis", chunk_rows())


def ids(found: list[tuple[object, float]]) -> list[str]:
    return [hit.chunk_id for hit, _ in found]  # type: ignore[attr-defined]


@pytest.mark.parametrize("query", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_question_is_text_and_nothing_else(reader: Reader, query: str) -> None:
    found = reader.search_text(query, 5)
    assert all(score > 0 for _, score in found)


@settings(deadline=None, max_examples=150)
@given(st.text(max_size=200) | st.text(alphabet="carbon+-\"'()*~^:AND OR\\\0碳", max_size=60))
def test_no_question_raises(reader: Reader, query: str) -> None:
    found = reader.search_text(query, 3)
    order = [(-score, hit.chunk_id) for hit, score in found]
    assert order == sorted(order)


def test_signs_in_a_question_do_not_exclude_or_require(reader: Reader) -> None:
    assert ids(reader.search_text("carbon -dioxide", 5)) == ids(
        reader.search_text("carbon dioxide", 5)
    )


def test_hit_has_all_that_evidence_needs(reader: Reader) -> None:
    ((hit, score),) = reader.search_text("违约责任", 5)
    assert score > 0
    assert hit.chunk_key == "thesis::叶片-2020:1"
    assert hit.text == "当事人一方不履行合同义务的,应当承担违约责任。"
    assert (hit.parent_id, hit.page_start, hit.page_end) == ("叶片-2020:p001", 1, 1)
    assert (hit.section_path, hit.citable, hit.source_subtype) == (("Results",), True, None)
    assert hit.citation_id == f"kb:thesis__chunk-{hit.content_hash[:16]}"


def test_filters_confine_both_searchers(reader: Reader) -> None:
    assert "rubric:0" in ids(reader.search_text("carbon", 5))
    assert ids(reader.search_text("carbon", 5, EVIDENCE)) == ["leaf-2021:0"]
    own = SearchFilters(doc_uids=("rubric", "no' OR '1'='1"))
    assert set(ids(reader.search_vectors(MODEL, direction(0), 8, own))) == {"rubric:0", "rubric:1"}
    both = SearchFilters(citable_only=True, doc_uids=("rubric",))
    assert reader.search_vectors(MODEL, direction(0), 8, both) == []
    assert len(reader.search_vectors(MODEL, direction(0), 8)) == len(chunk_rows())


def test_no_document_allowed_finds_nothing(reader: Reader) -> None:
    none = SearchFilters(doc_uids=())
    assert reader.search_text("carbon", 5, none) == []
    assert reader.search_vectors(MODEL, direction(0), 5, none) == []


def test_chunks_of_a_document_come_in_order_with_vectors(reader: Reader) -> None:
    chunks = reader.fetch_chunks("叶片-2020")
    assert chunks.column("chunk_index").to_pylist() == [0, 1, 2]
    assert chunks.column("vector").to_pylist()[1] == direction(4)
    assert reader.fetch_chunks("it's unknown").num_rows == 0


def test_parents_come_by_id(reader: Reader) -> None:
    found = reader.fetch_parents(["rubric:p001", "rubric:p001", "x' --"])
    assert list(found) == ["rubric:p001"]
    assert found["rubric:p001"].text.startswith("Cite carbon")
    assert found["rubric:p001"].section_path == ("Results",)


def test_documents_are_listed_by_uid(reader: Reader) -> None:
    documents = reader.documents()
    assert documents.column("doc_uid").to_pylist() == ["leaf-2021", "rubric", "叶片-2020"]


def test_empty_publication_answers_with_nothing(make_publication: PublicationMaker) -> None:
    with make_publication("empty", []) as reader:
        assert reader.rows == 0
        assert reader.search_text("carbon", 5, EVIDENCE) == []
        assert reader.search_vectors(MODEL, direction(0), 5, EVIDENCE) == []
        assert reader.documents().num_rows == 0
        assert reader.fetch_parents([]) == {}
        assert reader.fetch_chunks("any").num_rows == 0


def test_retired_publication_is_said_to_be(make_publication: PublicationMaker) -> None:
    folder = make_publication("gone", []).folder
    with pytest.raises(PublicationError, match="retired"):
        Reader(folder / "retired", "gone", "retired")


@pytest.fixture(scope="module")
def two_models(make_publication: PublicationMaker) -> Reader:
    rows = [
        row | {"vector_2": [0.0, 0.0] if position == 3 else [1.0, float(position)]}
        for position, row in enumerate(chunk_rows())
    ]
    return make_publication("two", rows, DIMENSION, 2)


def test_each_model_searches_its_own_vectors(two_models: Reader) -> None:
    found = two_models.search_vectors(MODELS[1], [1.0, 0.0], 20)
    assert ids(found)[0] == "leaf-2021:0"
    assert len(found) == len(chunk_rows()) - 1
    assert "叶片-2020:0" not in ids(found)


def test_vector_of_a_model_that_the_publication_lacks_is_refused(two_models: Reader) -> None:
    with pytest.raises(UsageError, match="holds no vectors of the model"):
        two_models.search_vectors("another", [1.0, 0.0], 5)
    with pytest.raises(UsageError, match="has 2 numbers, the index has 8"):
        two_models.search_vectors(MODELS[0], [1.0, 0.0], 5)


def test_given_chunks_score_as_the_searches_score_them(two_models: Reader) -> None:
    every = [row["chunk_id"] for row in chunk_rows()]
    for query in ("carbon leaf", "违约责任 stomata", '"carbon dioxide" of a leaf'):
        found = {hit.chunk_id: score for hit, score in two_models.search_text(query, 20)}
        assert two_models.score_text(query, [*every, "unknown:1"]) == {
            chunk_id: found.get(chunk_id, 0.0) for chunk_id in every
        }
    vector = [0.25, 1.0]
    cosines = {
        hit.chunk_id: score for hit, score in two_models.search_vectors(MODELS[1], vector, 20)
    }
    assert two_models.score_vectors(MODELS[1], vector, [*every, "unknown:1"]) == cosines
    assert two_models.score_vectors(MODELS[1], [0.0, 0.0], every) == {}


def test_vectors_come_by_id(two_models: Reader) -> None:
    found = two_models.fetch_vectors(MODELS[1], ["rubric:1", "叶片-2020:0", "unknown:0"])
    assert {key: vector.tolist() for key, vector in found.items()} == {"rubric:1": [1.0, 7.0]}


def test_window_holds_both_ends_and_stops_at_the_document(reader: Reader) -> None:
    assert [hit.chunk_index for hit in reader.fetch_window("leaf-2021", 1, 2)] == [1, 2]
    assert [hit.chunk_index for hit in reader.fetch_window("rubric", -3, 9)] == [0, 1]
    assert reader.fetch_window("unknown", 0, 3) == []


def test_hits_are_fetched_in_the_order_asked_for(reader: Reader) -> None:
    wanted = ["rubric:1", "leaf-2021:0", "unknown:0", "rubric:1"]
    assert list(reader.fetch_hits(wanted)) == ["rubric:1", "leaf-2021:0"]
