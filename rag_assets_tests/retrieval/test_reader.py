import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_assets.model import PublicationError
from rag_assets.retrieval import Reader, SearchFilters
from rag_assets_tests.publishing.made_up_tables import chunk_rows, direction
from rag_assets_tests.retrieval.publications import PublicationMaker

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
    assert set(ids(reader.search_vectors(direction(0), 8, own))) == {"rubric:0", "rubric:1"}
    both = SearchFilters(citable_only=True, doc_uids=("rubric",))
    assert reader.search_vectors(direction(0), 8, both) == []
    assert len(reader.search_vectors(direction(0), 8)) == len(chunk_rows())


def test_no_document_allowed_finds_nothing(reader: Reader) -> None:
    none = SearchFilters(doc_uids=())
    assert reader.search_text("carbon", 5, none) == []
    assert reader.search_vectors(direction(0), 5, none) == []


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
        assert reader.search_vectors(direction(0), 5, EVIDENCE) == []
        assert reader.documents().num_rows == 0
        assert reader.fetch_parents([]) == {}
        assert reader.fetch_chunks("any").num_rows == 0


def test_retired_publication_is_said_to_be(make_publication: PublicationMaker) -> None:
    folder = make_publication("gone", []).folder
    with pytest.raises(PublicationError, match="retired"):
        Reader(folder / "retired", "gone", "retired")
