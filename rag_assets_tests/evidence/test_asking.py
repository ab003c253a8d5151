"""Questions become packs that can be trusted."""

import json
from pathlib import Path

import pytest

from rag_assets.evidence import (
    Question,
    ask,
    make_pack,
    pack_from_json,
    pack_to_json,
    read_question,
    render_pack,
)
from rag_assets.model import PublicationError, UsageError
from rag_assets.workspace import Workspace
from rag_assets_tests.libraries import build, make_workspace, write_raw

FILES = {
    "evidence/roofs.md": "# Roofs\n\nSedum roofs were 16.7 degrees cooler than bitumen.\n\n"
    "# Streets\n\nNo cooling was measured in the street below.\n",
    "evidence/树木.md": "# 行道树\n\n树冠覆盖率最高的街道午后气温低1.8度。\n",
    "instruction/guidance/rubric.md": "# Rubric\n\nSedum roofs must be discussed critically.\n",
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    made = make_workspace(tmp_path_factory.mktemp("library"), FILES)
    build(made.namespace("thesis"))
    return made


def test_a_pack_holds_only_what_may_be_cited(workspace: Workspace) -> None:
    pack = make_pack(workspace, Question(question="sedum roofs discussed critically"))
    assert pack.items
    assert "rubric" not in pack.doc_uids
    assert all(item.citable and item.source_type == "evidence" for item in pack.items)


def test_every_item_says_where_it_stands(workspace: Workspace) -> None:
    pack = make_pack(workspace, Question(question="How much cooler are sedum roofs?"))
    best = pack.items[0]
    assert best.doc_uid == "roofs"
    assert best.exact_quote == "Sedum roofs were 16.7 degrees cooler than bitumen."
    assert best.locator_quality == "char_anchor"
    assert best.parent_text[best.parent_text.index(best.exact_quote) :].startswith("Sedum")
    assert best.anchor_begin == "Sedum roofs were 16.7 degrees cooler"
    assert best.section_path == ("Roofs",)
    raw = (workspace.root / "raw/evidence/roofs.md").read_text(encoding="utf-8")
    assert raw[best.char_start : best.char_end] == best.exact_quote


def test_a_chinese_question_finds_chinese_words(workspace: Workspace) -> None:
    pack = make_pack(workspace, Question(question="树冠覆盖率与气温"))
    assert pack.items[0].doc_uid == "树木"


def test_a_pack_survives_json(workspace: Workspace) -> None:
    pack = make_pack(workspace, Question(question="cooling in the street"))
    assert pack_from_json(json.loads(json.dumps(pack_to_json(pack)))) == pack


def test_the_same_question_is_the_same_pack_and_writes_nothing(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, FILES)
    build(workspace.namespace("thesis"))
    first = ask(workspace, "Are roofs cooler?")
    again = ask(workspace, "Are roofs cooler?")
    assert first.is_new
    assert not again.is_new
    assert again.pack == first.pack
    assert [p.name for p in sorted(workspace.outputs.iterdir())] == [
        "evidence_pack_v001.json",
        "evidence_pack_v001.md",
    ]
    assert len(list(workspace.queries.iterdir())) == 1


def test_a_new_publication_makes_a_new_version_and_keeps_the_old(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, FILES)
    build(workspace.namespace("thesis"))
    old = ask(workspace, "Are roofs cooler?").markdown.read_bytes()
    write_raw(workspace, "evidence/new.md", "Roofs of tin are hot.\n")
    build(workspace.namespace("thesis"))
    new = ask(workspace, "Are roofs cooler?")
    assert new.markdown.name == "evidence_pack_v002.md"
    assert (workspace.outputs / "evidence_pack_v001.md").read_bytes() == old
    log = (workspace.meta / "version_log.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["to"] for line in log] == ["v001", "v002"]


@pytest.mark.parametrize("text", ["", "   ", "?!…", "\n\t"])
def test_a_question_without_text_is_refused_and_not_saved(workspace: Workspace, text: str) -> None:
    before = sorted(workspace.queries.iterdir())
    with pytest.raises(UsageError, match="no text"):
        ask(workspace, text)
    assert sorted(workspace.queries.iterdir()) == before


def test_asking_before_anything_is_published_names_the_command(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, FILES)
    with pytest.raises(PublicationError, match="rag ingest"):
        make_pack(workspace, Question(question="anything"))


def test_a_question_that_is_refused_is_not_kept_for_a_sensor(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, FILES)
    (workspace.queries / "own.yaml").write_text("question: anything\n", encoding="utf-8")
    with pytest.raises(PublicationError, match="rag ingest"):
        ask(workspace, "anything else")
    with pytest.raises(PublicationError, match="rag ingest"):
        ask(workspace, read_question(workspace.queries / "own.yaml"))
    assert [path.name for path in workspace.queries.iterdir()] == ["own.yaml"]


def test_markdown_shows_quote_locator_and_ids(workspace: Workspace) -> None:
    pack = make_pack(workspace, Question(question="How much cooler are sedum roofs?"))
    text = render_pack(pack)
    assert "Cite as `{#roofs}`" in text
    assert "Sedum roofs were 16.7 degrees cooler than bitumen." in text
    assert "LOCATOR_QUALITY: char_anchor" in text
    assert f"`{pack.query_id}`" in text


def test_a_run_record_lists_what_was_returned(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, FILES)
    build(workspace.namespace("thesis"))
    outcome = ask(workspace, "树冠覆盖率")
    record = json.loads(
        (workspace.meta / "query_runs" / f"{outcome.pack.query_id}.json").read_text("utf-8")
    )
    assert record["q_zh"] == "树冠覆盖率"
    assert record["q_en"] is None
    assert [row["doc_uid"] for row in record["returned"]] == [i.doc_uid for i in outcome.pack.items]
