import json
import re
from pathlib import Path

import dagster as dg
import dagster_webserver

from rag_assets.definitions import build_definitions
from rag_assets.workspace import add_namespace

from .graph import SNAPSHOT, describe_graph, make_workspace

_HOW = (
    "The asset graph is not the one of rag_assets_tests/definitions/asset_graph.json. Where the "
    "change is wanted, run `python -m rag_assets_tests.definitions.graph` and review the "
    "difference of that file."
)


def test_the_asset_graph_is_the_one_that_was_reviewed(tmp_path: Path) -> None:
    expected = json.loads(SNAPSHOT.read_text(encoding="utf-8"))
    assert describe_graph(make_workspace(tmp_path / "library")) == expected, _HOW


def test_a_second_namespace_has_assets_of_its_own_and_shares_packs_and_audits(
    tmp_path: Path,
) -> None:
    workspace = make_workspace(tmp_path / "library")
    add_namespace(workspace, "law", (), "papers")
    assets = describe_graph(workspace)["assets"]
    stages = {key.split("/")[1] for key in assets if key.startswith("thesis/")}
    assert {key.split("/")[1] for key in assets if key.startswith("law/")} == stages
    for shared in ("evidence_packs", "agent_answers", "citation_audits"):
        assert assets[shared]["deps"] == ["law/search_index", "thesis/search_index"]


def test_more_digits_make_more_partitions(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path / "library")
    (workspace.root / "namespaces/thesis.yaml").write_text("hex_digits: 2\n")
    assets = describe_graph(workspace)["assets"]
    assert assets["thesis/chunks"]["partitions"] == "256 static: 00 to ff"


def test_static_and_dynamic_partitions_never_share_a_job(tmp_path: Path) -> None:
    graph = describe_graph(make_workspace(tmp_path / "library"))
    for keys in graph["jobs"].values():
        kinds = {(graph["assets"][key]["partitions"] or "").split(":")[0] for key in keys}
        assert not ({"dynamic"} < kinds), keys


def test_no_root_is_partitioned_so_the_ui_asks_for_no_partition_of_all(tmp_path: Path) -> None:
    # With one partitioned root "Materialize all" runs that root's partitions and nothing else.
    workspace = make_workspace(tmp_path / "library")
    assets = describe_graph(workspace)["assets"]
    roots = {key for key, asset in assets.items() if not asset["deps"]}
    assert roots == {"thesis/inventory"}
    assert not any(assets[root]["partitions"] for root in roots)


def test_every_kind_has_an_icon_in_the_ui(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path / "library")
    kinds = {k for asset in describe_graph(workspace)["assets"].values() for k in asset["kinds"]}
    scripts = Path(dagster_webserver.__file__).parent.joinpath("webapp/build").rglob("*.js")
    # The table of kinds: `duckdb:{icon:…`, `"file":{icon:…`.
    drawn = {
        kind
        for script in scripts
        for kind in re.findall(r'[{,]"?(\w+)"?:\{icon:', script.read_text(encoding="utf-8"))
    }
    assert {"python", "duckdb"} <= drawn, "the UI keeps its icons elsewhere now"
    assert kinds <= drawn


def test_what_a_failed_check_says_stands_in_its_own_line() -> None:
    from rag_assets.defs.checks.namespace import judge

    result = judge([f"raw/{n}.pdf: failed" for n in range(5)], dg.AssetCheckSeverity.WARN)
    assert not result.passed
    assert result.description == (
        "raw/0.pdf: failed · raw/1.pdf: failed · raw/2.pdf: failed · and 2 more, listed under "
        "'found'"
    )
    assert judge(["one"]).description == "one"
    assert judge([]).passed


def test_loading_the_definitions_warns_of_nothing(tmp_path: Path) -> None:
    import warnings

    workspace = make_workspace(tmp_path / "library")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        build_definitions(workspace)
