"""A pack is made again byte for byte, or it is said why not."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from rag_assets.cli.main import build_cli
from rag_assets.evidence import Question, ask, make_pack, replay
from rag_assets.evidence.asking import asked_settings
from rag_assets.model import DamagedFileError, PublicationError, UsageError
from rag_assets.storage import retire_publications
from rag_assets.workspace import Workspace, shipped_settings
from rag_assets_tests.libraries import build, write_raw

TEXT = "How much cooler are sedum roofs?"


@pytest.mark.parametrize("mode", ["evidence", "papers"])
def test_pack_is_made_again_byte_for_byte(own: Workspace, mode: str) -> None:
    asked = Question.model_validate({"question": TEXT, "mode": mode, "top_k": 3})
    outcome = ask(own, asked)
    found = replay(own, outcome.markdown)
    assert found.differences == ()
    assert found.is_same


def test_replay_asks_the_old_publication_with_the_old_settings(own: Workspace) -> None:
    outcome = ask(own, TEXT)
    write_raw(own, "evidence/new.md", "Sedum roofs were 20 degrees cooler in the new town.\n")
    build(own.namespace("thesis"))
    config = own.root / "config.yaml"
    config.write_text(
        config.read_text("utf-8") + "retrieve: {top_k: 1, fusion: {kind: rrf}}\n", "utf-8"
    )
    changed = Workspace.open(own.root)
    assert make_pack(changed, Question(question=TEXT)).settings["top_k"] == 1
    assert replay(changed, outcome.json).is_same


def test_edited_json_is_named_by_field_with_both_values(own: Workspace) -> None:
    outcome = ask(own, TEXT)
    data = json.loads(outcome.json.read_text("utf-8"))
    data["items"][0]["retrieval_score"] = 0.123
    outcome.json.write_text(json.dumps(data), "utf-8")
    found = replay(own, outcome.json)
    assert any("items[0].retrieval_score is 0.123, made again" in one for one in found.differences)


def test_edited_question_is_told_from_its_query_id(own: Workspace) -> None:
    outcome = ask(own, TEXT)
    text = outcome.json.read_text("utf-8").replace("How much cooler", "How much hotter")
    outcome.json.write_text(text, "utf-8")
    assert "does not belong to its question" in replay(own, outcome.json).differences[0]


def test_edited_markdown_is_named_by_line(own: Workspace) -> None:
    outcome = ask(own, TEXT)
    text = outcome.markdown.read_text("utf-8").replace("degrees", "grades", 1)
    outcome.markdown.write_text(text, "utf-8")
    (sentence,) = replay(own, outcome.json).differences
    assert "edited by hand: line" in sentence
    assert "grades" in sentence


def test_markdown_of_another_layout_is_not_taken_for_an_edited_one(own: Workspace) -> None:
    outcome = ask(own, TEXT)
    older = outcome.json.read_text("utf-8").replace('"layout": 3', '"layout": 1')
    outcome.json.write_text(older, "utf-8")
    outcome.markdown.write_text("# Laid out otherwise\n", "utf-8")
    (sentence,) = replay(own, outcome.json).differences
    assert "laid out by another version" in sentence
    assert sentence.endswith("holds the same")


def test_other_white_space_is_said(own: Workspace) -> None:
    outcome = ask(own, TEXT)
    outcome.json.write_text(json.dumps(json.loads(outcome.json.read_text("utf-8"))), "utf-8")
    assert "white space" in replay(own, outcome.json).differences[0]


def test_retired_publication_is_said_with_its_day(own: Workspace) -> None:
    outcome = ask(own, TEXT)
    namespace = own.namespace("thesis")
    write_raw(own, "evidence/new.md", "Roofs of tin are hot.\n")
    build(namespace)
    from rag_assets.evidence import mark_retired

    gone = retire_publications(namespace.publications, keep=1, keep_hours=0)
    assert mark_retired(own, "thesis", gone) == 1
    with pytest.raises(PublicationError, match=r"thesis/p-\w+ was retired on \d{4}-"):
        replay(own, outcome.json)


def test_model_that_is_another_one_now_is_said(own: Workspace) -> None:
    outcome = ask(own, TEXT)
    publication = outcome.pack.publications["thesis"]
    manifest = own.root / "index/thesis" / publication / "manifest.json"
    (fingerprint,) = outcome.pack.encoders["thesis"].values()
    manifest.write_text(manifest.read_text("utf-8").replace(fingerprint, "0" * 16), "utf-8")
    with pytest.raises(UsageError, match="model"):
        replay(own, outcome.json)


def test_parse_that_is_gone_is_named(own: Workspace) -> None:
    outcome = ask(own, TEXT)
    for path in (own.root / "data").rglob("parsed/**/*.parquet"):
        path.unlink()
    with pytest.raises(DamagedFileError, match=r"parsed/.*parquet"):
        replay(own, outcome.json)


def test_settings_of_another_version_are_said(own: Workspace) -> None:
    outcome = ask(own, TEXT)
    text = outcome.json.read_text("utf-8").replace('"pool_k"', '"pool"')
    outcome.json.write_text(text, "utf-8")
    with pytest.raises(UsageError, match="none that this version"):
        replay(own, outcome.json)


def test_file_that_is_no_pack_is_named(own: Workspace) -> None:
    with pytest.raises(UsageError, match=r"nothing\.json is missing"):
        replay(own, own.outputs / "nothing.md")


def run(workspace: Workspace, *arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(build_cli(), ["--workspace", str(workspace.root), *arguments])
    return done.exit_code, done.output


def test_command_exits_0_for_the_same_1_for_a_difference_3_where_it_cannot(
    own: Workspace, tmp_path: Path
) -> None:
    outcome = ask(own, TEXT)
    assert run(own, "replay", str(outcome.markdown))[0] == 0
    outcome.markdown.write_text("edited\n", "utf-8")
    code, said = run(own, "replay", str(outcome.markdown))
    assert (code, "edited by hand" in said) == (1, True)
    assert run(own, "replay", str(tmp_path / "no.md"))[0] == 3


def test_a_pack_of_an_earlier_version_is_asked_with_what_was_shipped() -> None:
    now = shipped_settings().retrieve
    text = {"heading_weight": 0.25, "phrase_boost": 1.0}
    before = now.model_dump(mode="json") | {"references": False, "rewrite": True, "text": text}
    assert asked_settings(before) == now
    assert asked_settings(before | {"references": True}) is None
