"""`rag law check` and the asset `law_curation`, over a namespace."""

import json
from datetime import date
from pathlib import Path

import dagster as dg
import pytest
from click.testing import CliRunner, Result

from rag_assets.cli.main import build_cli
from rag_assets.definitions import build_definitions
from rag_assets.model import UsageError
from rag_assets.parsing.stage import refresh_parse_reports
from rag_assets.retrieval.vaults import curate_namespace
from rag_assets.workspace import Namespace, Workspace, require_inventory, take_inventory
from rag_assets_tests.libraries import HASHING, make_workspace

DAY = date(2026, 1, 1)
LAW = {**HASHING, "chunk": {"mode": "law"}}
_BODY = "".join(
    f"第{n}条 养犬人应当在第{n}个月内向所在区的主管部门办理第{n}类登记。\n\n" for n in "一二三四"
)
SOUND = f"# 甲市养犬条例\n\n2020年5月1日 甲市人民代表大会通过\n\n{_BODY}"
GAP = SOUND.replace("第三条", "第九条").replace("养犬条例", "供热条例").replace("养犬人", "用户")
FILES = {
    "evidence/甲/甲市养犬条例.md": SOUND,
    "evidence/乙/甲市养犬条例.md": SOUND,
    "evidence/甲/甲市供热条例.md": f"---\ndraft: true\n---\n{GAP}",
    "evidence/甲/空.md": "---\ndraft: true\n---\n",
    "evidence/甲/零.md": "",
}


@pytest.fixture(scope="module")
def namespace(tmp_path_factory: pytest.TempPathFactory) -> Namespace:
    root = tmp_path_factory.mktemp("laws") / "library"
    namespace = make_workspace(root, FILES, LAW).namespace("thesis")
    take_inventory(namespace, notify=print)
    refresh_parse_reports(namespace, require_inventory(namespace), namespace.partition_keys, print)
    return namespace


def asked(namespace: Namespace, *arguments: str) -> Result:
    command = ["--workspace", str(namespace.workspace.root), "law", *arguments]
    return CliRunner().invoke(build_cli(), command)


def test_a_namespace_is_looked_through_and_nothing_is_changed(namespace: Namespace) -> None:
    raw = namespace.workspace.root / "raw"
    before = {path: path.read_bytes() for path in raw.rglob("*.md")}
    found = curate_namespace(namespace, DAY)
    assert (found.files, found.flagged) == (5, 4)
    told = {(f.rule, f.file.removeprefix("raw/evidence/"), f.line) for f in found.findings}
    assert told == {
        ("no-text", "甲/空.md", None),
        ("no-text", "甲/零.md", None),
        ("equal-text", "甲/甲市养犬条例.md", None),
        ("article-missing", "甲/甲市供热条例.md", 14),
        ("article-out-of-order", "甲/甲市供热条例.md", 12),
    }
    line = FILES["evidence/甲/甲市供热条例.md"].split("\n")[13]
    assert line.startswith("第四条")
    assert {path: path.read_bytes() for path in raw.rglob("*.md")} == before


def test_the_command_prints_a_table_by_kind_and_json(namespace: Namespace) -> None:
    ran = asked(namespace, "check")
    assert ran.exit_code == 0
    assert "thesis: 4 of 5 files to look at" in ran.stdout
    assert "     2  empty or stub\n" in ran.stdout
    assert "raw/evidence/甲/甲市供热条例.md:14\n" in ran.stdout
    assert "beside: raw/evidence/乙/甲市养犬条例.md" in ran.stdout
    ran = asked(namespace, "check", "--json", "--as-of", "2020-01-01")
    (found,) = json.loads(ran.stdout)
    assert found["as_of"] == "2020-01-01"
    assert found["counts"]["broken structure"] == {"article-missing": 1, "article-out-of-order": 1}
    assert len(found["findings"]) == 5


def test_the_first_of_a_rule_are_printed_and_all_where_asked(tmp_path: Path) -> None:
    files = {f"evidence/{n}.md": f"---\nn: {n}\n---\n" for n in range(12)}
    namespace = make_workspace(tmp_path / "library", files, LAW).namespace("thesis")
    take_inventory(namespace, notify=print)
    with pytest.raises(UsageError, match="12 files of raw/ not parsed yet; run `rag parse"):
        curate_namespace(namespace, DAY)
    refresh_parse_reports(namespace, require_inventory(namespace), namespace.partition_keys, print)
    assert "… and 2 more: --all" in asked(namespace, "check").stdout
    assert asked(namespace, "check", "--all").stdout.count("evidence/") == 12


def test_other_namespaces_are_left_alone(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path / "library", {"evidence/a.md": "# A\n\nText.\n"})
    ran = asked(workspace.namespace("thesis"), "check")
    assert ran.exit_code == 3
    assert "no namespace here is one of laws" in ran.stderr
    graph = build_definitions(workspace).resolve_asset_graph()
    assert not [key for key in graph.get_all_asset_keys() if key.path == ["law_curation"]]


def test_the_asset_writes_the_report(namespace: Namespace) -> None:
    workspace = Workspace.open(namespace.workspace.root)
    definitions = build_definitions(workspace)
    asset = definitions.resolve_assets_def("law_curation")
    assert [key.path for key in asset.asset_deps[asset.key]] == [["thesis", "parse_reports"]]
    run = dg.materialize([asset])
    (made,) = run.asset_materializations_for_node("law_curation")
    assert (made.metadata["files"].value, made.metadata["flagged"].value) == (5, 4)
    report = (workspace.meta / "law_curation/thesis.md").read_text(encoding="utf-8")
    assert "第九条 stands behind 第二条." in report
    assert "- equal texts: 1" in report
