"""The five tools by the names, parameters and defaults of specification 002."""

from typing import Any

import jsonschema
import pytest

from rag_assets.answering import PaperSearch, paper_tools
from rag_assets.answering.agents import Found
from rag_assets.model import UsageError
from rag_assets.retrieval import Retriever, SearchFilters

TOOLS = paper_tools()
DEFAULTS = {
    "search_abstracts": {"query": None, "k": 5},
    "search_by_section": {"query": None, "doc_id": None, "category": None, "k": 5},
    "get_context_window": {"doc_id": None, "chunk_id": None, "window": 1},
    "get_paper_introduction": {"doc_id": None},
    "finish": {"answer": None, "sources": None},
}


@pytest.fixture
def search(retriever: Retriever) -> PaperSearch:
    return PaperSearch(retriever, SearchFilters(citable_only=True))


def call(search: PaperSearch, name: str, **arguments: Any) -> Found:
    found: Found = TOOLS.get(name).call(search, arguments)
    return found


def uids(found: Found) -> list[str]:
    return [line.passage.doc_uid for line in found.lines if line.passage is not None]


def ids(found: Found) -> list[str]:
    return [line.passage.chunk_id for line in found.lines if line.passage is not None]


def test_there_are_five_with_these_parameters_and_defaults() -> None:
    assert set(TOOLS.names) == set(DEFAULTS)
    for name, defaults in DEFAULTS.items():
        schema = TOOLS.get(name).schema()
        jsonschema.Draft202012Validator.check_schema(schema)
        properties = schema["properties"]
        assert {key: one.get("default") for key, one in properties.items()} == defaults
        assert all(one["description"] for one in properties.values())
        assert TOOLS.get(name).description
    sections = TOOLS.get("search_by_section").schema()["properties"]["category"]["anyOf"][0]["enum"]
    assert sections == [
        "ABSTRACT", "INTRODUCTION", "METHOD", "EVALUATION", "CONCLUSION", "OTHER", "RELATED_WORK",
    ]  # fmt: skip
    assert paper_tools(only_finish=True).names == ("finish",)


def test_abstracts_lead_to_papers_each_once(search: PaperSearch) -> None:
    found = call(search, "search_abstracts", query="sedum roofs cooler than bitumen", k=2)
    assert uids(found)[0] == "green-roofs-2024"
    assert len(set(uids(found))) == 2
    assert found.lines[0].label.startswith('[green-roofs-2024] "Green roofs and summer heat')
    assert all(one.passage and one.passage.section_category == 0 for one in found.lines)


def test_a_section_of_one_paper_is_searched_and_widening_is_told(search: PaperSearch) -> None:
    asked = {"query": "cooler rooms", "doc_id": "green-roofs-2024"}
    found = call(search, "search_by_section", **asked, category="EVALUATION", k=2)
    assert set(uids(found)) == {"green-roofs-2024"}
    assert [one.passage and one.passage.section_category for one in found.lines] == [3, 3]
    assert found.notes == ()
    wide = call(search, "search_by_section", **asked, category="RELATED_WORK", k=3)
    assert len(wide.lines) == 3
    assert wide.notes == (
        (
            "0 of 3 passages stand in related work: related work, introduction, evaluation was "
            "searched too."
        ),
    )


@pytest.mark.parametrize("chunk", ["green-roofs-2024:4", "4", 4])
def test_a_window_stands_around_a_passage_of_its_paper(search: PaperSearch, chunk: Any) -> None:
    found = call(search, "get_context_window", doc_id="green-roofs-2024", chunk_id=chunk)
    assert ids(found) == [f"green-roofs-2024:{number}" for number in (3, 4, 5)]
    first = call(search, "get_context_window", doc_id="green-roofs-2024", chunk_id=0, window=2)
    assert ids(first) == [f"green-roofs-2024:{number}" for number in (0, 1, 2)]


def test_an_introduction_is_the_papers_own(search: PaperSearch) -> None:
    found = call(search, "get_paper_introduction", doc_id="green-roofs-2024")
    assert found.lines
    assert all(one.passage and one.passage.section_category == 1 for one in found.lines)
    assert "Flat roofs cover between a fifth" in (found.lines[0].passage or pytest.fail("")).text


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("search_by_section", {"query": "x", "doc_id": "nowhere"}, "nowhere"),
        ("search_by_section", {"query": "x", "category": "RESULTS"}, "category"),
        ("get_context_window", {"doc_id": "nowhere", "chunk_id": 1}, "no publication of thesis"),
        ("get_context_window", {"doc_id": "green-roofs-2024", "chunk_id": 999}, "no passage '999'"),
        ("get_paper_introduction", {"doc_id": "nowhere"}, "no publication of thesis"),
        ("search_abstracts", {"query": "x", "k": 0}, "k: Input should be greater"),
    ],
)
def test_what_cannot_be_done_is_said(
    search: PaperSearch, name: str, arguments: dict[str, Any], told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        call(search, name, **arguments)
