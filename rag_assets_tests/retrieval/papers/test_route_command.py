"""`rag route`: the three fields of the specification, and the papers that they lead to."""

import json

from click.testing import CliRunner, Result

from rag_assets.cli.main import build_cli
from rag_assets.workspace import Workspace


def route(workspace: Workspace, *words: str) -> Result:
    return CliRunner().invoke(build_cli(), ["--workspace", str(workspace.root), "route", *words])


def test_a_route_is_printed_with_the_paper_that_is_meant(papers: Workspace) -> None:
    ran = route(papers, "How many voles does Barnowl find?")
    assert ran.exit_code == 0, ran.output
    first, decided, how, paper = ran.stdout.splitlines()
    assert json.loads(first) == {
        "intent": "SPECIFIC_PAPER",
        "target_paper_keywords": ["Barnowl"],
        "target_section_category": [2],
    }
    assert decided == "decided by rules:known-name"
    assert how == "the paper that is meant, told by name:"
    assert paper == "  “Barnowl: Hunting by Ear” {#owls}"


def test_a_route_as_json_names_track_origin_and_papers(papers: Workspace) -> None:
    ran = route(papers, "Are sedum roofs cooler at noon?", "--json")
    found = json.loads(ran.stdout)
    assert set(found["route"]) == {
        "intent", "target_paper_keywords", "target_section_category",
    }  # fmt: skip
    assert (found["track"], found["origin"], found["located_by"]) == ("topic", "rules", None)
    assert {"roofs-dry", "roofs-wet"} <= {paper["doc_uid"] for paper in found["papers"]}


def test_a_paper_that_is_not_there_is_a_warning(papers: Workspace) -> None:
    ran = route(papers, "Llama 3 的训练数据有多少？")
    assert ran.exit_code == 0
    assert "warning: no paper of the library is called “Llama 3”" in ran.stderr
    assert "the papers nearest to the topic:" in ran.stdout
