"""The server for agents, asked by the SDK's own client."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from rag_assets.desk.mcp_server import build_server
from rag_assets.model import hash_bytes
from rag_assets.retrieval import OpenedLibrary
from rag_assets.workspace import Workspace
from rag_assets_tests.libraries import build, make_workspace

ROOFS = "# Roofs\n\nA green roof was 7 degrees cooler than bitumen at noon.\n"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    made = make_workspace(
        tmp_path_factory.mktemp("library"),
        {"evidence/roofs.md": ROOFS, "instruction/guidance/rubric.md": "# Rubric\n\nCool roofs.\n"},
    )
    build(made.namespace("thesis"))
    return made


def asked(server: Any, use: Callable[[Client], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        async with Client(server) as client:
            return await use(client)

    return asyncio.run(run())


def call(workspace: Workspace, tool: str, **arguments: Any) -> Any:
    async def use(client: Client) -> Any:
        result = await client.call_tool(tool, arguments)
        assert not result.is_error, result.content
        return result.structured_content

    return asked(build_server(OpenedLibrary(workspace)), use)


def state(folder: Path) -> dict[str, int]:
    return {
        path.relative_to(folder).as_posix(): path.stat().st_mtime_ns
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_tools_are_ten_and_say_that_they_only_read(workspace: Workspace) -> None:
    async def use(client: Client) -> Any:
        return (await client.list_tools()).tools

    tools = asked(build_server(OpenedLibrary(workspace)), use)
    assert [tool.name for tool in tools] == [
        "search", "fetch_parent", "evidence_pack", "law_search", "law_article", "trace",
        "search_abstracts", "search_by_section", "get_context_window", "get_paper_introduction",
    ]  # fmt: skip
    assert all(tool.annotations.read_only_hint for tool in tools)
    assert all(tool.description for tool in tools)
    described = tools[0].input_schema["properties"]
    assert all(described[name].get("description") for name in described)


def test_hit_leads_to_its_parent_and_to_the_bytes(workspace: Workspace) -> None:
    before = state(workspace.root)
    hit = call(workspace, "search", query="How much cooler was the green roof?")["hits"][0]
    assert hit["doc_uid"] == "roofs"
    assert "lexical" in hit["why"]
    parent = call(workspace, "fetch_parent", namespace=hit["namespace"], parent_id=hit["parent_id"])
    assert hit["text"] in parent["text"]
    traced = call(workspace, "trace", citation=hit["citation_id"])
    (chain,) = traced["chains"]
    assert (chain["name"], chain["holds"]) == (hit["citation_id"], True)
    assert [step["kind"] for step in chain["steps"]][-2:] == ["parse", "file"]
    file = chain["steps"][-1]
    assert hash_bytes(ROOFS.encode()) in json.dumps(file)
    assert "raw/evidence/roofs.md" in json.dumps(file)
    by_key = call(workspace, "trace", citation=f"thesis::{hit['chunk_id']}")
    assert by_key == traced
    assert state(workspace.root) == before


def test_pack_holds_only_what_may_be_cited_and_is_not_stored(workspace: Workspace) -> None:
    before = state(workspace.root)
    pack = call(workspace, "evidence_pack", question="Which roofs are cool?")
    assert {item["doc_uid"] for item in pack["items"]} == {"roofs"}
    assert pack["items"][0]["exact_quote"] in ROOFS
    found = call(workspace, "search", query="cool roofs", citable_only=True)
    assert {hit["doc_uid"] for hit in found["hits"]} == {"roofs"}
    assert state(workspace.root) == before


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("search", {"query": "?"}, "no text"),
        ("search", {"query": "roofs", "namespaces": ["nowhere"]}, "nowhere"),
        ("search", {"query": "roofs", "filters": ["colour=red"]}, "colour"),
        ("fetch_parent", {"namespace": "thesis", "parent_id": "gone:p001"}, "gone:p001"),
        ("trace", {"citation": "kb:thesis__chunk-0000000000000000"}, "no current publication"),
    ],
)
def test_our_errors_reach_the_agent_as_what_they_say(
    workspace: Workspace, tool: str, arguments: dict[str, Any], said: str
) -> None:
    async def use(client: Client) -> Any:
        return await client.call_tool(tool, arguments)

    result = asked(build_server(OpenedLibrary(workspace)), use)
    assert result.is_error
    assert said in result.content[0].text


@pytest.mark.slow
def test_command_serves_on_standard_input_and_output(workspace: Workspace) -> None:
    code = "from rag_assets.cli import main; main()"
    server = StdioServerParameters(
        command=sys.executable,
        args=["-c", code, "--workspace", str(workspace.root), "mcp"],
    )

    async def use(client: Client) -> Any:
        return await client.call_tool("search", {"query": "green roof"})

    result = asked(server, use)
    assert not result.is_error
    assert json.loads(result.content[0].text)["hits"][0]["doc_uid"] == "roofs"
