"""Tools over an open library, called with what a model would write."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from rag_assets.desk.tools import TOOLS
from rag_assets.model import UsageError
from rag_assets.retrieval import OpenedLibrary
from rag_assets_tests.libraries import build, make_workspace


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> OpenedLibrary:
    text = "# Roofs\n\nA green roof was 7 degrees cooler than bitumen at noon.\n"
    workspace = make_workspace(tmp_path_factory.mktemp("library"), {"evidence/roofs.md": text})
    build(workspace.namespace("thesis"))
    return OpenedLibrary(workspace)


@pytest.mark.parametrize("name", TOOLS)
def test_every_argument_has_a_description_and_none_is_the_library(name: str) -> None:
    schema = TOOLS[name].schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert "library" not in schema["properties"]
    assert all(one.get("description") for one in schema["properties"].values())
    assert schema["additionalProperties"] is False
    assert TOOLS[name].description


def test_what_a_tool_returns_is_json_and_leads_to_the_next_tool(library: OpenedLibrary) -> None:
    found = TOOLS["search"].call(library, {"query": "cool roofs", "top_k": 1})
    assert json.loads(json.dumps(found)) == found
    (hit,) = found["hits"]
    where = {"namespace": hit["namespace"], "parent_id": hit["parent_id"]}
    assert hit["text"] in TOOLS["fetch_parent"].call(library, where)["text"]
    pack = TOOLS["evidence_pack"].call(library, {"question": "How cool are roofs?"})
    assert pack["items"][0]["exact_quote"] in hit["text"]
    traced = TOOLS["trace"].call(library, {"citation": hit["citation_id"]})
    (chain,) = traced["chains"]
    assert (chain["name"], chain["end"], chain["holds"]) == (hit["citation_id"], "file", True)


def test_papers_are_searched_step_by_step(library: OpenedLibrary) -> None:
    found = TOOLS["search_abstracts"].call(library, {"query": "cool roofs"})
    assert json.loads(json.dumps(found)) == found
    (row,) = found["passages"]
    assert row["doc_id"] == "roofs"
    where = {"doc_id": row["doc_id"], "chunk_id": row["chunk_id"]}
    around = TOOLS["get_context_window"].call(library, where)
    assert row["text"] in [one["text"] for one in around["passages"]]
    beginning = TOOLS["get_paper_introduction"].call(library, {"doc_id": "roofs"})
    assert beginning["notes"] == ["roofs has no introduction: its beginning is shown."]
    asked = {"query": "bitumen", "category": "METHOD", "k": 1}
    assert len(TOOLS["search_by_section"].call(library, asked)["notes"]) == 1
    with pytest.raises(UsageError, match="nowhere"):
        TOOLS["get_context_window"].call(library, {"doc_id": "nowhere", "chunk_id": 1})


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({}, "query"),
        ({"query": "roofs", "top_k": 0}, "top_k"),
        ({"query": "roofs", "colour": "red"}, "colour"),
        ({"query": 3}, "query"),
    ],
)
def test_a_wrong_argument_is_named(
    library: OpenedLibrary, arguments: dict[str, Any], named: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=rf"search: .*{named}"):
        TOOLS["search"].call(library, arguments)
