"""The nine acceptance points of the specification (spec 000 §8), one test each.

Through the commands, as the writer of a thesis uses them, in a workspace of a few small files
with the embedder that needs no model.
"""

import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from rag_assets.cli.main import build_cli
from rag_assets.evidence import Question, make_pack
from rag_assets.model import UsageError
from rag_assets.retrieval import Retriever
from rag_assets.storage import current_folder, find_versions, read_manifest
from rag_assets.workspace import Workspace, shipped_settings
from rag_assets_tests.e2e.workspaces import NOTES, SETTINGS, saved_by
from rag_assets_tests.libraries import make_workspace, write_raw
from rag_assets_tests.parsing.made_up_pdfs import make_pdf, paragraph

FILES: dict[str, str | bytes] = {
    **NOTES,
    "evidence/walls.pdf": make_pdf([paragraph("Planted walls were 3.4 degrees cooler at noon.")]),
    "instruction/guidance/rubric.md": "# Rubric\n\nEvery claim about a green roof must cite a "
    "source. A green roof was 7 degrees cooler than bitumen at noon.\n",
    "instruction/exemplars/model.md": "# Model\n\nGreen roofs were measured at noon (Ng, 2010).\n",
}
# The scorer whose thresholds the specification fixes.
SIMILARITY = {**SETTINGS, "verify": {"scorer": "similarity"}}
CHAPTER = """# Roofs

A green roof was 7 degrees cooler than bitumen at noon {#roofs}.
Trees lower the wind along a wide road in winter {#streets}.
Penguins breed on sea ice during the polar winter {#walls}.
"""


def run(workspace: Workspace, *arguments: object) -> Result:
    given = ["--workspace", str(workspace.root), *map(str, arguments)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["rag", *given])
        return CliRunner().invoke(build_cli(), given)


def answer(workspace: Workspace, *arguments: object) -> Any:
    return _answered(workspace, *arguments)[0]


def answer_and_text(workspace: Workspace, *arguments: object) -> tuple[Any, str]:
    """Return what a command prints for programs, and what it wrote for a reader."""
    value, ran = _answered(workspace, *arguments)
    return value, saved_by(ran).read_text(encoding="utf-8")


def _answered(workspace: Workspace, *arguments: object) -> tuple[Any, Result]:
    ran = run(workspace, *arguments, "--json")
    assert ran.exit_code == 0, ran.output
    return json.loads(ran.stdout), ran


@pytest.fixture(scope="module")
def thesis(tmp_path_factory: pytest.TempPathFactory, parse_in_process: None) -> Workspace:
    """A workspace after `rag ingest`; nobody changes its raw/."""
    workspace = make_workspace(tmp_path_factory.mktemp("acceptance") / "论文", FILES, SIMILARITY)
    (workspace.drafts / "chapter.md").write_text(CHAPTER, encoding="utf-8")
    assert run(workspace, "ingest").exit_code == 0
    return workspace


def test_1_packs_hold_only_citable_evidence(thesis: Workspace) -> None:
    question = "green roof 7 degrees cooler than bitumen, cite a source"
    pack, shown = answer_and_text(thesis, "query", question)
    assert {item["doc_uid"] for item in pack["items"]} >= {"roofs"}
    assert all(item["citable"] and item["source_type"] == "evidence" for item in pack["items"])
    # What was read from raw/instruction/ says so of itself, and stands in no pack.
    for name in ("instruction_brief.md", "style_brief.md"):
        brief = (thesis.meta / name).read_text(encoding="utf-8")
        assert brief.startswith("---\ncitable: false\n---\n")
    assert "Every claim about a green roof must cite" in (
        thesis.meta / "instruction_brief.md"
    ).read_text(encoding="utf-8")
    assert "Every claim" not in shown
    assert "(Ng, 2010)" not in shown
    asked = answer(thesis, "sql", "SELECT count(*) AS n FROM documents WHERE citable AND "
                   "source_type <> 'evidence'")  # fmt: skip
    assert asked == [{"n": 0}]


def test_2_every_item_has_a_place_and_nothing_without_uid_or_parent_passes(
    thesis: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack = answer(thesis, "query", "How much cooler were roofs and walls at noon?")
    for item in pack["items"]:
        assert item["doc_uid"]
        assert item["parent_id"]
        assert item["locator_quality"] in {"page_box", "page", "char_anchor"}
        assert item["locator"]
        assert item["anchor_begin"]
    paged = {item["doc_uid"]: item["page_start"] for item in pack["items"]}
    assert paged["walls"] == 1
    assert paged["roofs"] is None
    assert any("no page" in warning for warning in pack["warnings"])
    real = Retriever.retrieve
    for missing in ({"doc_uid": ""}, {"parent_id": ""}):
        lost: dict[str, Any] = {**missing}

        def retrieve(self: Retriever, *given: Any, lost: dict[str, Any] = lost, **more: Any) -> Any:
            found = real(self, *given, **more)
            first = found.parents[0]
            broken = replace(first, best=replace(first.best, **lost))
            return replace(found, parents=(broken, *found.parents[1:]))

        monkeypatch.setattr(Retriever, "retrieve", retrieve)
        with pytest.raises(UsageError, match=r"Applied filters.*Returned sources"):
            make_pack(thesis, Question(question="How cool are roofs?"))


def test_3_every_output_of_a_draft_lists_its_sources(thesis: Workspace) -> None:
    _, shown = answer_and_text(thesis, "verify-citations", thesis.drafts / "chapter.md")
    listed = shown.split("## Sources used", 1)[1].split("\n## ", 1)[0]
    for uid in ("roofs", "streets", "walls"):
        assert f"thesis:{uid}" in listed
    assert "rubric" not in listed
    audited = run(thesis, "audit", thesis.drafts / "chapter.md", "--json")
    assert audited.exit_code == 0, audited.output
    (_, newest) = find_versions(thesis.outputs / "audits", "chapter_claims", ".md")[-1]
    assert "thesis:roofs" in newest.read_text(encoding="utf-8").split("ources used", 1)[1]


def test_4_citations_are_ok_weak_or_missing_with_a_query_to_try(thesis: Workspace) -> None:
    shipped = shipped_settings().verify
    assert (shipped.k, shipped.threshold) == (10, 0.55)
    audit = answer(thesis, "verify-citations", thesis.drafts / "chapter.md")
    assert (audit["k"], audit["threshold"], audit["scorer"]) == (10, 0.55, "similarity")
    rows = audit["rows"]
    assert [row["status"] for row in rows] == ["OK", "WEAK", "MISSING"]
    for row in rows:
        assert row["score"] is not None
        assert row["reason"]
        least = {"OK": 0.55, "WEAK": audit["weak_threshold"], "MISSING": 0.0}[row["status"]]
        assert row["score"] >= least
        assert bool(row["suggested_query"]) == (row["status"] != "OK")
    wrong = thesis.drafts / "wrong.md"
    wrong.write_text("Roofs are cool {#rooves}. Claims cite sources {#rubric}.\n", encoding="utf-8")
    refused = run(thesis, "verify-citations", wrong, "--json")
    assert refused.exit_code == 3
    assert [row["status"] for row in json.loads(refused.stdout)["rows"]] == ["ERROR", "ERROR"]


def test_5_every_build_has_a_manifest(thesis: Workspace) -> None:
    folder = current_folder(thesis.namespace("thesis").publications, "thesis")
    (path,) = (thesis.meta / "builds").glob(f"*-{folder.name}-*/build_manifest.json")
    manifest = json.loads(path.read_text(encoding="utf-8"))
    assert manifest["build_id"] == path.parent.name
    assert manifest["publication"] == folder.name
    assert {each["doc_uid"]: each["paths"] for each in manifest["inputs"]}["walls"] == [
        "raw/evidence/walls.pdf"
    ]
    assert all(re.fullmatch("[0-9a-f]{64}", each["sha256"]) for each in manifest["inputs"])
    assert [model["provider"] for model in manifest["models"]] == ["hashing"]
    assert {"concurrency", "attempts"} <= set(manifest["models"][0]["how_it_was_asked"])
    assert manifest["config_hash"]
    assert manifest["tool_version"]
    assert manifest["counts"] == read_manifest(folder)["counts"]
    chunks = json.loads((path.parent / "chunk_manifest.json").read_text(encoding="utf-8"))
    assert sum(each["chunks"] for each in chunks["documents"]) == manifest["counts"]["chunks"]
    shown = answer(thesis, "query", "Are roofs cool?")
    assert list(shown["build_ids"].values()) == [manifest["build_id"]]


def test_6_every_query_is_recorded(thesis: Workspace) -> None:
    question = "Which streets are cooler?"
    asked = ("query", question, "--top-k", "2", "--filter", "language=en")
    pack, shown = answer_and_text(thesis, *asked)
    record = json.loads(
        (thesis.meta / "query_runs" / f"{pack['query_id']}.json").read_text(encoding="utf-8")
    )
    assert record["query_id"] == pack["query_id"]
    assert record["q_en"] == question
    assert "language" in " ".join(record["filters"])
    assert [each["doc_uid"] for each in record["returned"]] == [
        item["doc_uid"] for item in pack["items"]
    ]
    assert record["build_ids"] == pack["build_ids"]
    assert pack["query_id"] in shown


def test_7_parsing_writes_a_quality_report(thesis: Workspace) -> None:
    report = (thesis.meta / "parse_quality_report.md").read_text(encoding="utf-8")
    for name in ("evidence/walls.pdf", "evidence/roofs.md", "evidence/树荫.md"):
        assert f"raw/{name}" in report


def test_8_hashes_make_rebuilds_incremental_and_a_new_pdf_searchable(
    tmp_path: Path, parse_in_process: None
) -> None:
    workspace = make_workspace(tmp_path / "library", NOTES, SETTINGS)
    stages = ("parse_reports", "parents", "chunks", "embeddings")

    def computed() -> list[int]:
        done = answer(workspace, "ingest")["thesis"]["stages"]
        return [int(done[stage]["computed"]) for stage in stages]

    assert computed() == [len(NOTES)] * 4
    assert computed() == [0, 0, 0, 0]
    page = paragraph("Permeable paving drained forty litres a minute.")
    write_raw(workspace, "evidence/paving.pdf", make_pdf([page]))
    assert computed() == [1, 1, 1, 1]
    found = answer(workspace, "query", "How much does permeable paving drain?")["items"][0]
    assert (found["doc_uid"], found["page_start"]) == ("paving", 1)
    newest = max((workspace.meta / "builds").glob("*/chunk_manifest.json"))
    entries = json.loads(newest.read_text(encoding="utf-8"))["documents"]
    assert {each["doc_uid"] for each in entries if not each["is_reused"]} == {"paving"}
    assert sum(bool(each["is_reused"]) for each in entries) == len(NOTES)


def test_9_every_revision_is_a_new_file_and_logged(thesis: Workspace) -> None:
    draft = thesis.drafts / "revised.md"
    folder, log = thesis.outputs / "audits", thesis.meta / "version_log.jsonl"
    kept: dict[Path, bytes] = {}
    for number, text in enumerate(("A green roof was cooler", "Bitumen was hotter"), start=1):
        draft.write_text(f"{text} at noon {{#roofs}}.\n", encoding="utf-8")
        answer(thesis, "verify-citations", draft)
        versions = find_versions(folder, "revised_citations", ".md")
        assert [each for each, _ in versions] == list(range(1, number + 1))
        assert {path: path.read_bytes() for path in kept} == kept
        kept[versions[-1][1]] = versions[-1][1].read_bytes()
    answer(thesis, "verify-citations", draft)
    assert len(find_versions(folder, "revised_citations", ".md")) == 2
    entries = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    logged = [each for each in entries if "revised_citations" in each["file"]]
    assert [(each["from"], each["to"]) for each in logged] == [(None, "v001"), ("v001", "v002")]
    assert all(each["timestamp"] and each["reason"] for each in logged)
