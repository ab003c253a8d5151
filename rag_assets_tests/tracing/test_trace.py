"""Every verdict and item leads back to bytes, and a broken step is seen."""

import hashlib
from pathlib import Path

import pytest

from rag_assets.auditing import audit_citations
from rag_assets.auditing.storing import audit_claims
from rag_assets.evidence import Question, ask
from rag_assets.model import UsageError
from rag_assets.storage import Maker, working_as
from rag_assets.tracing import Chain, Step, chain_to_json, open_sql, render_chain, trace
from rag_assets.workspace import Workspace
from rag_assets_tests.libraries import HASHING, build, make_workspace, write_raw
from rag_assets_tests.parsing.made_up_pdfs import make_pdf, paragraph

FILES: dict[str, str | bytes] = {
    "evidence/roofs.md": "# Roofs\n\nA green roof was 7 degrees cooler than bitumen at noon.\n",
    "evidence/walls.pdf": make_pdf([paragraph("Planted walls were 3 degrees cooler at noon.")]),
    "evidence/树荫.md": "# 树荫\n\n行道树使行人感到凉爽。正午的地面温度下降了九度。\n",
    "instruction/guidance/rubric.md": "# Rubric\n\nEvery claim cites a source.\n",
}
DRAFT = """# Chapter

A green roof was 7 degrees cooler than bitumen at noon {#roofs}. Walls help too {#walls}.

正午的地面温度下降了九度 {#树荫}。 Penguins breed on sea ice {#roofs}.
Nobody wrote this {#nowhere}. Claims cite sources {#rubric}.
"""
SETTINGS = {**HASHING, "verify": {"scorer": "similarity"}}
MAKER = Maker("run-1", "7", "c" * 64, "0.1")


def make_audited(root: Path) -> Workspace:
    workspace = make_workspace(root, FILES, SETTINGS)
    with working_as(MAKER):
        build(workspace.namespace("thesis"))
    (workspace.drafts / "chapter.md").write_text(DRAFT, encoding="utf-8")
    audit_citations(workspace, workspace.drafts / "chapter.md")
    ask(workspace, Question(question="How much cooler was the green roof?"))
    return workspace


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return make_audited(tmp_path_factory.mktemp("audited") / "论文")


def step(chain: Chain, kind: str) -> Step:
    return next(each for each in chain.steps if each.kind == kind)


def raw_hash(workspace: Workspace, path: str) -> str:
    return hashlib.sha256((workspace.root / path).read_bytes()).hexdigest()


def test_every_verdict_of_a_draft_resolves(audited: Workspace) -> None:
    chains = trace(audited, "drafts/chapter.md")
    cited = [str(chain.steps[0].facts["status"]) for chain in chains]
    assert len(chains) == 6
    assert cited[-2:] == ["ERROR", "ERROR"]
    files = ("evidence/roofs.md", "evidence/walls.pdf", "evidence/树荫.md", "evidence/roofs.md")
    for chain, name in zip(chains, files, strict=False):
        assert chain.end == "file", chain.sentence
        assert chain.holds, chain.sentence
        last = step(chain, "file")
        assert last.name == f"raw/{name}"
        assert last.facts["sha256"] == raw_hash(audited, f"raw/{name}")
        assert step(chain, "claim").facts["claim"]
    for chain in chains[-2:]:
        assert chain.end == "claim"
        assert str(chain.steps[0].facts["reason"]) in chain.sentence


def test_each_stage_says_who_computed_it(audited: Workspace) -> None:
    (chain,) = trace(audited, "chapter.md#1")
    for kind in ("passage", "parent", "parse", "publication"):
        made_by = step(chain, kind).made_by
        assert made_by["run_id"] == "run-1", kind
        assert made_by["code_version"] == "7"
        assert made_by["config_hash"]
    shown = render_chain(chain)
    for words in ("run-1", "is verbatim in the parse", "has these bytes now", "roofs.md"):
        assert words in shown
    assert chain_to_json(chain)["steps"][0]["kind"] == "verdict"


def test_what_is_not_computed_again_keeps_its_signature(tmp_path: Path) -> None:
    workspace = make_audited(tmp_path / "library")
    write_raw(workspace, "evidence/new.md", "# New\n\nPaving drains.\n")
    with working_as(Maker("run-2", "8", "d" * 64, "0.1")):
        build(workspace.namespace("thesis"))
    (old,) = trace(workspace, "chapter.md#1")
    assert step(old, "parse").made_by["run_id"] == "run-1"
    assert step(old, "publication").made_by["run_id"] == "run-1"  # the one that was judged
    with open_sql(workspace) as connection:
        new = connection.execute(
            "SELECT DISTINCT run_id FROM stages WHERE content_hash = ?",
            [raw_hash(workspace, "raw/evidence/new.md")],
        ).fetchall()
    assert new == [("run-2",)]


def test_an_item_leads_to_the_same_bytes(audited: Workspace) -> None:
    (chain,) = trace(audited, "evidence_pack_v001#1")
    assert step(chain, "item").facts["question"] == "How much cooler was the green roof?"
    assert step(chain, "file").facts["sha256"] == raw_hash(audited, "raw/evidence/roofs.md")
    (verdict,) = trace(audited, "chapter.md#1")
    assert "evidence_pack_v001#1" in step(verdict, "item").name


def test_a_claim_leads_to_the_bytes_of_what_it_cites(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path / "library", FILES, SETTINGS)
    build(workspace.namespace("thesis"))
    draft = workspace.drafts / "claims.md"
    draft.write_text(
        "Green roofs were 7 degrees cooler than bitumen at noon. So it is {#roofs}.\n\n"
        "Smoking causes cancer in all men.\n",
        encoding="utf-8",
    )
    rows = audit_claims(workspace, draft).audit.rows
    chains = {chain.name: chain for chain in trace(workspace, "claims_claims_v001.json")}
    assert list(chains) == [f"claims_claims_v001#{row.claim_id}" for row in rows]
    cited, bare = chains.values()
    assert step(cited, "file").facts["sha256"] == raw_hash(workspace, "raw/evidence/roofs.md")
    assert cited.holds
    assert bare.steps[0].facts["status"] == "EVIDENCE_NEEDED"
    assert bare.end == "claim"
    assert trace(workspace, bare.name) == [bare]


def test_a_row_has_many_names(audited: Workspace) -> None:
    (chain,) = trace(audited, "chapter_citations_v001#1")
    assert trace(audited, str(audited.outputs / "audits/chapter_citations_v001.md#1")) == [chain]
    assert trace(audited, "drafts/chapter.md#1") == [chain]
    with open_sql(audited) as connection:
        (identity,) = connection.execute(
            "SELECT id FROM lineage WHERE name = 'chapter_citations_v001#1'"
        ).fetchall()
    assert trace(audited, identity[0]) == [chain]
    on_line = trace(audited, "chapter.md:5")
    assert [each.name for each in on_line][:2] == [
        "chapter_citations_v001#3", "chapter_citations_v001#4",
    ]  # fmt: skip
    passage = step(chain, "passage")
    (bare,) = trace(audited, passage.name)
    assert step(bare, "file") == step(chain, "file")
    assert trace(audited, f"thesis::{passage.facts['chunk_id']}") == [bare]
    assert trace(audited, str(passage.facts["chunk_id"])) == [bare]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("chapter_citation_v001", "chapter_citations_v001"),
        ("chapter.md#99", "no such row"),
        ("kb:thesis__chunk-0000000000000000", "no current publication holds"),
        ("nothing-of-the-kind", "nothing is called"),
    ],
)
def test_a_name_that_names_nothing_says_what_there_is(
    audited: Workspace, name: str, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        trace(audited, name)


def test_an_edited_file_is_seen_before_anything_is_built(tmp_path: Path) -> None:
    workspace = make_audited(tmp_path / "library")
    write_raw(workspace, "evidence/roofs.md", "# Roofs\n\nA green roof was no cooler at all.\n")
    (chain,) = trace(workspace, "chapter.md#1")
    assert not chain.holds
    assert step(chain, "file").holds is False
    assert "rag verify-citations" in chain.sentence


def test_a_verdict_about_an_earlier_content_keeps_that_content_s_bytes(tmp_path: Path) -> None:
    workspace = make_audited(tmp_path / "library")
    before = raw_hash(workspace, "raw/evidence/roofs.md")
    write_raw(workspace, "evidence/roofs.md", "# Roofs\n\nA green roof was no cooler at all.\n")
    build(workspace.namespace("thesis"))
    (workspace.root / "raw/evidence/walls.pdf").unlink()
    build(workspace.namespace("thesis"))
    edited, removed = trace(workspace, "chapter.md#1")[0], trace(workspace, "chapter.md#2")[0]
    for chain, name in ((edited, "roofs.md"), (removed, "walls.pdf")):
        assert chain.end == "file"
        assert not chain.holds
        assert step(chain, "file").name == f"raw/evidence/{name}"
    assert step(edited, "file").facts["sha256"] == before


def test_a_passage_that_the_parse_does_not_hold_is_seen(tmp_path: Path) -> None:
    workspace = make_audited(tmp_path / "library")
    (row,) = trace(workspace, "chapter.md#1")
    stored = workspace.outputs / "audits" / "chapter_citations_v001.json"
    text = stored.read_text(encoding="utf-8")
    stored.write_text(text.replace(str(step(row, "passage").facts["hash"]), "0" * 64), "utf-8")
    (chain,) = trace(workspace, "chapter.md#1")
    assert step(chain, "passage").holds is False
    assert not chain.holds


def test_lineage_is_one_view_of_sql(audited: Workspace) -> None:
    with open_sql(audited) as connection:
        rows = connection.execute(
            "SELECT status, raw_sha256, list_transform(stages, lambda s: s.stage) FROM lineage "
            "WHERE kind = 'verdict' ORDER BY number"
        ).fetchall()
    stages = ["parse_reports", "parents", "chunks", "embeddings"]
    assert [row[2] for row in rows] == [stages] * 4 + [[], []]
    assert all(row[1] for row in rows[:4])


@pytest.mark.parametrize(
    ("name", "file", "was", "now"),
    [
        ("chapter_citations_v001#1", "audits/chapter_citations_v001.json", '"OK"', '"WEAK"'),
        ("chapter_citations_v001#1", "audits/chapter_citations_v001.md", "bitumen", "gravel"),
        ("evidence_pack_v001#1", "evidence_pack_v001.md", "bitumen", "gravel"),
    ],
)
def test_an_output_that_was_changed_by_hand_is_seen(
    tmp_path: Path, name: str, file: str, was: str, now: str
) -> None:
    workspace = make_audited(tmp_path / "library")
    (before,) = trace(workspace, name)
    assert before.holds
    path = workspace.outputs / file
    text = path.read_text(encoding="utf-8")
    assert was in text
    path.write_text(text.replace(was, now), encoding="utf-8")
    (chain,) = trace(workspace, name)
    assert not chain.holds
    assert f"outputs/{file} is not what was written" in chain.sentence
    assert "changed by hand" in chain.steps[0].finding
