"""Every command once, through its front door: what it prints, writes and returns."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import Result
from jsonschema import Draft202012Validator

from rag_assets.cli.main import COMMANDS
from rag_assets.running import open_instance
from rag_assets.workspace import Workspace, create_workspace, set_metadata, stale_environment
from rag_assets_tests.docs.pack_schema import pack_schema
from rag_assets_tests.e2e.workspaces import (
    NOTES,
    SETTINGS,
    all_bytes,
    published_state,
    run_rag,
    saved_by,
    whole_publication,
)
from rag_assets_tests.libraries import build, make_workspace, write_raw

Rag = Callable[..., Result]
DRAFT = "A green roof was 7 degrees cooler than bitumen at noon {#roofs}.\n"


def document_of(ran: Result) -> Any:
    """Return the one JSON document that is all of standard output."""
    assert ran.stdout.endswith("\n")
    return json.loads(ran.stdout)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, parse_in_process: None) -> Path:
    """A published workspace whose path has a space and Chinese characters."""
    root = tmp_path_factory.mktemp("commands") / "my 论文 library"
    workspace = make_workspace(root, NOTES, SETTINGS)
    (workspace.drafts / "chapter.md").write_text(DRAFT, encoding="utf-8")
    build(workspace.namespace("thesis"))
    return root


STAGES = ("parse", "chunk", "embed", "ingest")
LAST_ASSET = {
    "parse": "parse_reports", "chunk": "chunks", "embed": "search_index", "ingest": "search_index",
}  # fmt: skip


def test_no_command_is_left_out_here() -> None:
    tested = {
        *STAGES,
        "init",
        "namespace",
        "query",
        "verify-citations",
        "documents",
        "status",
    }
    looking = {"preview", "export", "sql", "meta", "gc", "doctor", "settings"}
    reporting = {"trace", "build-bm25", "health", "decide"}  # test_reports.py
    # rag_assets_tests/evaluation, cli, test_ui.py, test_drafts.py, mcp_server, evidence, auditing,
    # statutes, retrieval/papers, answering, lab, desk
    elsewhere = {
        "eval", "models", "ui", "mcp", "replay", "export-used-sources", "audit", "law",
        "ask", "draft", "lab", "desk", "check", "library", "references", "watch",
    }  # fmt: skip
    assert set(COMMANDS) == tested | looking | reporting | elsewhere


@pytest.mark.parametrize("command", STAGES)
def test_a_stage_command_reports_its_stages_as_one_json_document(
    library: Path, rag: Rag, command: str
) -> None:
    # Without it `ingest` would find nothing to do, and say so.
    again = ["--rehash"] if command == "ingest" else []
    ran = rag("--workspace", library, command, "--json", *again)
    assert ran.exit_code == 0, ran.output
    report = document_of(ran)["thesis"]
    assert list(report["stages"])[-1] == LAST_ASSET[command]
    assert report["success"]
    assert report["errors"] == []
    assert all(check["passed"] for check in report["checks"])


def test_the_order_of_commands_of_spec_000_works_as_typed(
    tmp_path: Path, rag: Rag, monkeypatch: pytest.MonkeyPatch, parse_in_process: None
) -> None:
    monkeypatch.chdir(tmp_path)
    assert rag("init").exit_code == 0
    (tmp_path / "config.yaml").write_text(yaml.safe_dump({**SETTINGS}), encoding="utf-8")
    write_raw(Workspace.open(tmp_path), "evidence/roofs.md", NOTES["evidence/roofs.md"])
    parsed = rag("parse")
    assert (parsed.exit_code, f"to read: {tmp_path}/parsed" in parsed.stdout) == (0, True)
    assert (tmp_path / "parsed/roofs/roofs.md").read_text("utf-8") == NOTES["evidence/roofs.md"]
    assert not (tmp_path / "chunks").exists()
    assert document_of(rag("chunk", "--json"))["thesis"]["folders"] == [
        f"{tmp_path}/parsed", f"{tmp_path}/chunks",
    ]  # fmt: skip
    names = {path.name for path in (tmp_path / "chunks").iterdir()}
    assert names == {"parents.jsonl", "chunks.jsonl", "chunk_manifest.json"}
    for command in (("embed",), ("build-bm25",), ("query", "Which roof was cooler at noon?")):
        ran = rag(*command)
        assert ran.exit_code == 0, (command, ran.output)
    assert "” [roofs, " in ran.stdout
    assert rag("ingest").exit_code == 0
    assert "stale" not in rag("status").stdout


def test_a_sentence_is_checked_without_a_draft(library: Path, rag: Rag) -> None:
    at = ("--workspace", library, "verify-citations", "--sentence")
    ran = rag(*at, "Stone streets are warm.", "--doc", "streets")
    assert (ran.exit_code, "{#streets}" in ran.stdout) == (0, True)
    stored = document_of(rag(*at, "Stone streets are warm.", "--doc", "streets", "--json"))
    assert [row["doc_uid"] for row in stored["rows"]] == ["streets"]
    unknown = rag(*at, "Stone streets are warm.", "--doc", "strets")
    assert (unknown.exit_code, "streets" in unknown.stdout) == (3, True)
    assert not list((library / "outputs" / "audits").glob("sentence*"))


def test_an_ingest_with_nothing_to_do_starts_no_run(library: Path, rag: Rag) -> None:
    at = ("--workspace", library, "ingest")
    assert rag(*at, "--rehash").exit_code == 0
    settled = rag(*at)
    assert settled.stdout == "thesis: nothing has changed; nothing to do\n"
    report = document_of(rag(*at, "--json"))["thesis"]
    assert (report["success"], report["run_id"]) == (True, None)
    assert report["stages"]["embeddings"]["computed"] == 0
    rules = library / "config.yaml"
    before = rules.read_text(encoding="utf-8")
    changed = yaml.safe_load(before)
    changed.setdefault("chunk", {})["parent_tokens"] = 700
    rules.write_text(yaml.safe_dump(changed), encoding="utf-8")
    try:
        assert "thesis/search_index" in rag(*at).stdout
    finally:
        rules.write_text(before, encoding="utf-8")
        assert rag(*at).exit_code == 0
    next((library / "data").rglob("parsed/**/*.parquet")).unlink()
    assert "thesis/parse_reports" in rag(*at).stdout


def test_an_ingest_with_nothing_to_do_makes_new_questions_known(library: Path, rag: Rag) -> None:
    at = ("--workspace", library, "ingest")
    assert rag(*at).exit_code == 0
    (library / "queries" / "noon.yaml").write_text("question: Which roof was cooler?\n", "utf-8")
    assert rag(*at).stdout == "thesis: nothing has changed; nothing to do\n"
    with open_instance(Workspace.open(library)) as instance:
        known = instance.get_dynamic_partitions("questions")
    assert any(key.startswith("noon-") for key in known)


def test_what_could_not_be_read_is_told_where_nothing_has_changed(tmp_path: Path, rag: Rag) -> None:
    files = {"evidence/roofs.md": "Roofs are warm.", "evidence/broken.pdf": b"%PDF-1.4 no more"}
    at = ("--workspace", make_workspace(tmp_path / "library", files).root, "ingest")
    # What could not be read is a failure that CI has to see.
    assert rag(*at).exit_code == 1
    settled = rag(*at)
    assert settled.exit_code == 1
    assert settled.stdout == "thesis: nothing has changed; nothing to do\n"
    assert "1 document could not be read" in settled.stderr
    (told,) = document_of(rag(*at, "--json"))["thesis"]["warnings"]
    assert "rag documents --namespace thesis --status failed" in told


def test_looking_commands_print_one_json_document(library: Path, rag: Rag) -> None:
    at = ("--workspace", library)
    listed = rag(*at, "documents", "--json")
    assert {line["doc_uid"] for line in document_of(listed)} == {
        "roofs", "streets", "树荫", "rubric",
    }  # fmt: skip
    assert document_of(rag(*at, "documents", "--status", "failed", "--json")) == []
    status = rag(*at, "status", "--json")
    assert (status.exit_code, document_of(status)[0]["stale"]) == (0, [])
    counted = rag(*at, "sql", "SELECT count(*) AS n FROM documents WHERE citable", "--json")
    assert (counted.exit_code, document_of(counted)) == (0, [{"n": 3}])
    names = rag(*at, "namespace", "list", "--json")
    assert [entry["namespace"] for entry in document_of(names)] == ["thesis"]
    collected = rag(*at, "gc", "--json")
    assert collected.exit_code == 0
    assert document_of(collected)["namespaces"]["thesis"]["publications"] == []
    findings = rag(*at, "doctor", "--json")
    assert findings.exit_code == 0, findings.output
    told = {finding["what"]: finding["found"] for finding in document_of(findings)}
    assert "thesis: publication" in told
    assert "0 missing from the text index" in told["thesis: search table"]


def test_looking_commands_print_lines_for_people(library: Path, rag: Rag) -> None:
    at = ("--workspace", library)
    assert "thesis:树荫" in rag(*at, "documents").stdout
    assert "nothing to do" in rag(*at, "status").stdout
    assert rag(*at, "sql", "SELECT 1 AS one").stdout == "one\n1\n"
    assert rag(*at, "namespace", "list").stdout == "thesis  raw\n"
    assert "MB freed" in rag(*at, "gc").stdout
    assert "BAD" not in rag(*at, "doctor").stdout


def test_settings_are_shown_with_the_file_that_says_so(tmp_path: Path, rag: Rag) -> None:
    root = create_workspace(tmp_path / "library", "thesis")[0].root
    rules = {"verify_citations_k": 7, "embed": {"kind": "hashing"}}
    (root / "config.yaml").write_text(yaml.safe_dump(rules), encoding="utf-8")
    own = {"raw": ["raw"], "verify": {"threshold": 0.7}}
    (root / "namespaces/thesis.yaml").write_text(yaml.safe_dump(own), encoding="utf-8")
    at = ("--workspace", root, "settings")
    shown = rag(*at, "verify").stdout.splitlines()
    assert shown[0] == "thesis"
    assert "  verify.k: 7    config.yaml, by default 10" in shown
    assert "  verify.threshold: 0.7    namespaces/thesis.yaml, by default 0.55" in shown
    assert all(line.startswith("  verify.") for line in shown[1:])
    every = {line["key"]: line for line in document_of(rag(*at, "--json"))["thesis"]}
    assert every["embed.models"]["value"] == [{"kind": "hashing", "model": "hashing"}]
    assert every["chunk.target_tokens"]["origin"].endswith("configs/rag.yaml")
    assert rag(*at, "verifi").exit_code == 3


def test_a_file_is_previewed_and_nothing_is_stored(
    library: Path, rag: Rag, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source = library / "raw" / next(iter(NOTES))
    ran = rag("preview", str(source), "--json")
    assert ran.exit_code == 0, ran.output
    preview = document_of(ran)
    assert preview["report"]["status"] == "ok"
    assert preview["chunks"]
    assert "tokens" in rag("preview", str(source), "--whole").stdout
    listed = rag("preview", str(source), "--blocks")
    assert "heading 1: " in listed.stdout
    assert list(tmp_path.iterdir()) == []


def test_what_was_built_is_exported_as_folders(library: Path, rag: Rag, tmp_path: Path) -> None:
    at = ("--workspace", library)
    assert rag(*at, "export", "parsed", str(tmp_path / "parsed")).exit_code == 0
    assert rag(*at, "export", "chunks", str(tmp_path / "chunks")).exit_code == 0
    tables = rag(*at, "export", "tables", str(tmp_path / "tables"))
    assert tables.exit_code == 0, tables.output
    assert "knowledge_docs: " in tables.stdout
    assert (tmp_path / "tables/knowledge_chunks.lance").is_dir()
    assert (tmp_path / "parsed/thesis/roofs/roofs.md").is_file()
    assert (tmp_path / "chunks/thesis/chunk_manifest.json").is_file()


def test_a_question_gets_a_pack_that_can_be_cited(library: Path, rag: Rag) -> None:
    question = "正午的地面温度下降了多少？"
    ran = rag("--workspace", library, "query", question, "--top-k", "2", "--json")
    assert ran.exit_code == 0, ran.output
    pack = document_of(ran)
    assert pack["items"][0]["doc_uid"] == "树荫"
    elsewhere = rag("query", question, "--project", library, "--top-k", "2", "--json")
    assert document_of(elsewhere)["items"] == pack["items"]
    assert list(Draft202012Validator(pack_schema()).iter_errors(pack)) == []
    saved = saved_by(ran)
    assert json.loads(saved.with_suffix(".json").read_text(encoding="utf-8")) == pack
    again = rag("--workspace", library, "query", question, "--top-k", "2")
    assert again.exit_code == 0
    assert again.stdout.startswith("1. “")
    assert "” [树荫, " in again.stdout
    whole = rag("--workspace", library, "query", question, "--top-k", "2", "--full")
    assert whole.stdout.startswith("# Evidence: 正午")
    assert saved_by(again) == saved


def test_a_draft_gets_a_verdict_and_the_exit_code_says_whether_a_uid_was_wrong(
    library: Path, rag: Rag
) -> None:
    ran = rag("--workspace", library, "verify-citations", library / "drafts/chapter.md", "--json")
    assert ran.exit_code == 0, ran.output
    (row,) = document_of(ran)["rows"]
    assert (row["status"], row["doc_uid"]) == ("OK", "roofs")
    wrong = library / "drafts/wrong.md"
    wrong.write_text(DRAFT.replace("roofs", "rooves"), encoding="utf-8")
    assert rag("--workspace", library, "verify-citations", wrong, "--json").exit_code == 3


def test_a_verdict_or_pack_of_a_text_that_changed_says_so(tmp_path: Path, rag: Rag) -> None:
    workspace = make_workspace(tmp_path / "library", NOTES, SETTINGS)
    build(workspace.namespace("thesis"))
    draft = tmp_path / "chapter.md"
    draft.write_text(DRAFT, encoding="utf-8")
    asked = (("verify-citations", draft), ("audit", draft), ("query", "Do green roofs cool?"))
    for command in asked:
        assert "changed since" not in rag("--workspace", workspace.root, *command).stderr
    (changed,) = workspace.root.glob("raw/**/roofs.md")
    changed.write_text("# Roofs\n\nNothing was measured.\n", encoding="utf-8")
    for command in asked:
        ran = rag("--workspace", workspace.root, *command)
        told = ran.stderr
        assert "changed since" not in ran.stdout
        assert "changed since the publication: 1 replaced (raw/evidence/roofs.md, `roofs`)" in told
        assert "`rag ingest --namespace thesis`" in told
    stored = max((workspace.root / "outputs").glob("evidence_pack_v*.json"))
    warnings = json.loads(stored.read_text(encoding="utf-8"))["warnings"]
    assert "1 replaced (raw/evidence/roofs.md, `roofs`)" in str(warnings)
    assert rag("--workspace", workspace.root, "replay", stored).exit_code == 0


def not_cited(rag: Rag, root: Path, draft: Path) -> str:
    """Assert that `roofs` is neither found nor cited; returns what the pack says of it."""
    ran = rag("--workspace", root, "query", "Do green roofs cool?", "--json")
    pack = document_of(ran)
    assert pack["items"]
    assert "roofs" not in {item["doc_uid"] for item in pack["items"]}
    assert "doc_uid not in (thesis:roofs)" in pack["filters"]
    uncited = draft.with_name("uncited.md")
    uncited.write_text("A green roof was always 7 degrees cooler than bitumen at noon.\n")
    papers = rag("--workspace", root, "query", "Do green roofs cool?", "--mode", "papers")
    assert "{#roofs}" not in papers.stdout
    assert rag("--workspace", root, "replay", saved_by(ran)).exit_code == 0
    audited = rag("--workspace", root, "verify-citations", draft, "--json")
    assert [row["reason_code"] for row in document_of(audited)["rows"]] == ["not_citable"]
    suggested = document_of(rag("--workspace", root, "audit", uncited, "--json"))
    assert suggested["rows"]
    assert "roofs" not in json.dumps([row["suggested_queries"] for row in suggested["rows"]])
    return str(pack["warnings"])


def test_what_must_not_be_cited_any_more_is_not_from_that_moment_on(
    tmp_path: Path, rag: Rag
) -> None:
    workspace = make_workspace(tmp_path / "library", NOTES, SETTINGS)
    root, raw = workspace.root, workspace.root / "raw"
    build(workspace.namespace("thesis"))
    draft = tmp_path / "chapter.md"
    draft.write_text(DRAFT, encoding="utf-8")
    asked = ("--workspace", root, "query", "Do green roofs cool?", "--json")
    before = document_of(rag(*asked))
    assert before["items"][0]["doc_uid"] == "roofs"
    (raw / "instruction/slides").mkdir(exist_ok=True)
    (raw / "evidence/roofs.md").rename(raw / "instruction/slides/roofs.md")
    assert "`roofs` must not be cited: it is in raw/instruction/slides/roofs.md now" in (
        not_cited(rag, root, draft)
    )
    (raw / "instruction/slides/roofs.md").rename(raw / "evidence/roofs.md")
    assert document_of(rag(*asked)) == before
    set_metadata(workspace.namespace("thesis"), "roofs", "citable", "false", "a draft")
    assert "`roofs` must not be cited: `rag meta set` says so" in not_cited(rag, root, draft)
    build(workspace.namespace("thesis"))
    assert "must not be cited" not in str(document_of(rag(*asked))["warnings"])


def test_metadata_is_set_published_and_taken_back(tmp_path: Path, rag: Rag) -> None:
    workspace = make_workspace(tmp_path / "library", NOTES, SETTINGS)
    build(workspace.namespace("thesis"))
    at = ("--workspace", workspace.root)
    ran = rag(*at, "meta", "set", "roofs", "title=Green roofs", "citable=false",
              "--authors", "Müller, Anna", "--authors", "王小明", "tags=roofs;heat",
              "--reason", "a draft", "--json")  # fmt: skip
    assert (ran.exit_code, document_of(ran)["set"]["citable"]) == (0, "false")
    build(Workspace.open(workspace.root).namespace("thesis"))
    asked = "SELECT title, citable, authors, tags FROM documents WHERE doc_uid = 'roofs'"
    shown = rag(*at, "sql", asked, "--json")
    assert document_of(shown) == [
        {
            "title": "Green roofs",
            "citable": False,
            "authors": ["Müller, Anna", "王小明"],
            "tags": ["roofs", "heat"],
        }
    ]
    for wrong in (("rooves", "title=x"), ("roofs", "size=3"), ("roofs", "citable=true")):
        refused = rag(*at, "meta", "set", *wrong, "--reason", "none")
        assert refused.exit_code == 3, refused.output
    assert rag(*at, "meta", "set", "roofs", "title", "--reason", "x").exit_code == 3


def test_a_namespace_is_declared_once_and_under_a_name_that_can_be_used(
    tmp_path: Path, rag: Rag
) -> None:
    at = ("--workspace", create_workspace(tmp_path / "library", "thesis")[0].root)
    added = rag(*at, "namespace", "add", "law", "--raw", "raw/statutes", "--json")
    assert added.exit_code == 0
    assert Path(document_of(added)["file"]).is_file()
    assert (tmp_path / "library/raw/statutes").is_dir()
    assert rag(*at, "namespace", "add", "law").exit_code == 3
    wrong = rag(*at, "namespace", "add", "Case-Law")
    assert (wrong.exit_code, "lower-case letters" in wrong.stderr) == (2, True)


def test_a_folder_that_two_namespaces_read_is_told(tmp_path: Path, rag: Rag) -> None:
    root = create_workspace(tmp_path / "library", "thesis")[0].root
    at = ("--workspace", root)
    inside = rag(*at, "namespace", "add", "law")
    told = f"{root.resolve() / 'raw/law'} is read by the namespace 'thesis' too"
    assert (inside.exit_code, told in inside.stderr) == (0, True)
    outside = rag(*at, "namespace", "add", "notes", "--raw", "elsewhere")
    assert (outside.exit_code, outside.stderr) == (0, "")
    around = rag(*at, "namespace", "add", "all", "--raw", ".")
    assert around.stderr.count("is read by the namespace") == 3


def test_the_next_command_can_be_copied_where_the_folder_has_a_blank(
    tmp_path: Path, rag: Rag
) -> None:
    made = rag("init", tmp_path / "my thesis")
    assert f"rag --workspace '{tmp_path}/my thesis' ingest" in made.stdout


def test_init_without_a_folder_takes_the_current_one(
    tmp_path: Path, rag: Rag, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = rag("init")
    assert made.exit_code == 0, made.output
    assert made.stdout.endswith(f"put files into {tmp_path}/raw/evidence, then `rag ingest`.\n")
    Workspace.open(tmp_path)


def test_init_twice_changes_nothing(tmp_path: Path, rag: Rag) -> None:
    root = tmp_path / "library"
    first = rag("init", root, "--json")
    assert first.exit_code == 0
    assert "config.yaml" in document_of(first)["made"]
    (root / "config.yaml").write_text("# mine\n", encoding="utf-8")
    before = all_bytes(root)
    again = rag("init", root, "--template", "papers", "--json")
    assert (again.exit_code, document_of(again)["made"]) == (0, [])
    assert all_bytes(root) == before
    assert "nothing was changed" in rag("init", root).stdout


def test_init_in_a_folder_with_files_keeps_them(tmp_path: Path, rag: Rag) -> None:
    kept = {"AGENT.md": "my own", "raw/evidence/a.md": "# A", "notes.txt": "mine", ".env": "KEY=1"}
    for name, text in kept.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert rag("init", tmp_path).exit_code == 0
    assert {name: (tmp_path / name).read_text("utf-8") for name in kept} == kept
    Workspace.open(tmp_path)


def test_init_refuses_a_file_and_an_unknown_template(tmp_path: Path, rag: Rag) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    ran = rag("init", tmp_path / "file")
    assert (ran.exit_code, "is a file" in ran.stderr) == (3, True)
    ran = rag("init", tmp_path / "new", "--template", "thesi")
    assert ran.exit_code == 3
    assert "known: kb_modulation, kb_principles, law, papers, thesis" in ran.stderr
    assert not (tmp_path / "new").exists()


def test_the_workspace_is_the_one_named_then_that_of_the_environment_then_that_around(
    tmp_path: Path, rag: Rag, monkeypatch: pytest.MonkeyPatch
) -> None:
    roots = {}
    for name in ("named", "environment", "around"):
        roots[name] = create_workspace(tmp_path / name, "thesis")[0].root

    def found(*options: object) -> str:
        return str(document_of(rag(*options, "namespace", "list", "--json"))[0]["raw"][0])

    monkeypatch.chdir(roots["around"] / "raw" / "evidence")
    assert found() == str(roots["around"] / "raw")
    monkeypatch.setenv("RAG_WORKSPACE", str(roots["environment"]))
    assert found() == str(roots["environment"] / "raw")
    assert found("--workspace", roots["named"]) == str(roots["named"] / "raw")
    assert found("--project", roots["named"]) == str(roots["named"] / "raw")
    monkeypatch.delenv("RAG_WORKSPACE")
    monkeypatch.chdir(tmp_path)
    nowhere = rag("status")
    assert nowhere.exit_code == 2
    for words in ("no workspace in", "rag init DIR", "--workspace", "RAG_WORKSPACE"):
        assert words in nowhere.stderr
    absent = rag("--workspace", tmp_path / "absent", "status", "--json")
    assert absent.exit_code == 2
    assert "is not a workspace" in document_of(absent)["error"]


def test_wrong_words_get_a_hint_and_exit_code_2(library: Path, rag: Rag) -> None:
    typo = rag("injest")
    assert (typo.exit_code, "Did you mean 'ingest'?" in typo.stderr) == (2, True)
    assert rag("status", "--jsno").exit_code == 2
    assert rag("--workspace", library, "query").exit_code == 2
    assert rag("--workspace", library, "verify-citations", "absent.md").exit_code == 2
    assert rag("ui", "--port", "0").exit_code == 2


def test_sql_is_read_only_and_its_errors_are_sentences(library: Path, rag: Rag) -> None:
    at = ("--workspace", library, "sql")
    wrong = rag(*at, "SELECT titel FROM documents")
    assert wrong.exit_code == 3
    assert "titel" in wrong.stderr
    assert "Traceback" not in wrong.output
    before = published_state(Workspace.open(library).namespace("thesis"))
    for statement in (
        "DELETE FROM documents",
        "DROP VIEW chunks; SELECT 1",
        "CREATE TABLE t (x INT)",
    ):
        rag(*at, statement)
    assert published_state(Workspace.open(library).namespace("thesis")) == before
    whole_publication(Workspace.open(library).namespace("thesis"))
    outside = library.parent / "written.csv"
    refused = rag(*at, f"COPY (SELECT 1) TO '{outside}'")
    assert refused.exit_code == 3
    assert not outside.exists()


def test_commands_before_the_first_ingest_say_what_to_do(tmp_path: Path, rag: Rag) -> None:
    workspace = make_workspace(tmp_path / "library", {}, SETTINGS)
    at = ("--workspace", workspace.root)
    for command, code, words in (
        (("query", "Which?"), 3, "rag ingest"),
        (("sql", "SELECT 1"), 3, "rag ingest"),
        (("status",), 1, "nothing is published yet"),
        (("documents",), 0, "rag ingest"),
        (("doctor",), 1, "rag ingest"),
        (("gc",), 0, "rag ingest"),
        (("gc", "-n", "thesis"), 3, "rag ingest"),
    ):
        ran = rag(*at, *command)
        assert ran.exit_code == code, (command, ran.output)
        assert words in ran.output, command
        assert "Traceback" not in ran.output


def test_a_moved_workspace_goes_on_where_it_is(
    library: Path, tmp_path: Path, rag: Rag, parse_in_process: None
) -> None:
    moved = tmp_path / "moved 文件夹"
    shutil.copytree(library, moved, symlinks=True)
    shutil.move(moved, tmp_path / "again")
    moved = tmp_path / "again"
    before = published_state(Workspace.open(library).namespace("thesis"))
    told = rag("--workspace", moved, "doctor")
    assert told.exit_code == 1, ".env is absolute and still names the old place"
    assert f"RAG_WORKSPACE is {library}" in told.stdout
    assert f"RAG_WORKSPACE={moved}" in told.stdout
    asked = rag("--workspace", moved, "query", "Which roof was cooler at noon?", "--json")
    assert asked.exit_code == 0, asked.output
    assert saved_by(asked).is_relative_to(moved)
    audited = rag("--workspace", moved, "verify-citations", moved / "drafts/chapter.md")
    assert audited.exit_code == 0, audited.output
    assert not build(Workspace.open(moved).namespace("thesis")).is_new
    assert published_state(Workspace.open(moved).namespace("thesis")) == before
    assert stale_environment(Workspace.open(moved)) == {}, "a command that records corrects it"


def test_the_installed_command_ingests_asks_and_audits(tmp_path: Path) -> None:
    """In processes of their own, from a path with a space, Chinese characters and a quote."""
    root = tmp_path / "it's 我的 library"
    workspace = make_workspace(root, {"evidence/roofs.md": NOTES["evidence/roofs.md"]}, SETTINGS)
    (workspace.drafts / "chapter.md").write_text(DRAFT, encoding="utf-8")
    ingested = run_rag("ingest", "--json", cwd=root)
    assert ingested.returncode == 0, ingested.stderr
    assert json.loads(ingested.stdout)["thesis"]["success"]
    asked = run_rag("query", "Which roof was cooler?", "--json", cwd=root / "raw")
    assert json.loads(asked.stdout)["items"][0]["doc_uid"] == "roofs", asked.stderr
    audited = run_rag("verify-citations", "drafts/chapter.md", "--json", cwd=root)
    assert (audited.returncode, json.loads(audited.stdout)["rows"][0]["status"]) == (0, "OK")
    asked_sql = run_rag("sql", "SELECT count(*) AS n FROM packs", "--json", cwd=root)
    assert json.loads(asked_sql.stdout) == [{"n": 1}], asked_sql.stderr


def test_removed_rows_are_still_there_for_a_file_that_comes_back(
    tmp_path: Path, rag: Rag, parse_in_process: None
) -> None:
    workspace = make_workspace(tmp_path / "library", NOTES, SETTINGS)
    build(workspace.namespace("thesis"))
    text = (workspace.root / "raw/evidence/roofs.md").read_text("utf-8")
    (workspace.root / "raw/evidence/roofs.md").unlink()
    build(workspace.namespace("thesis"))
    listed = rag("--workspace", workspace.root, "documents", "--status", "removed", "--json")
    assert [line["doc_uid"] for line in document_of(listed)] == ["roofs"]
    assert rag("--workspace", workspace.root, "gc").exit_code == 0
    write_raw(workspace, "evidence/roofs.md", text)
    build(workspace.namespace("thesis"))
    whole_publication(workspace.namespace("thesis"))
