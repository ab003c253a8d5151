"""Law 6: each bad file has its reason, each bad word its sentence, and the rest is published."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from rag_assets.workspace import Workspace, create_workspace
from rag_assets_tests.e2e.workspaces import (
    NOTES,
    SETTINGS,
    open_namespace,
    outside_environment,
    published_state,
    run_rag,
    whole_publication,
)
from rag_assets_tests.libraries import build, make_workspace, write_raw
from rag_assets_tests.parsing.made_up_pdfs import make_pdf, paragraph

SECRET = make_pdf([paragraph("A secret roof was cool.")], password="öffne")
SECRET_TOO = make_pdf([paragraph("Another secret roof was warm.")], password="öffne")
SECRET_THREE = make_pdf([paragraph("A third secret roof rusts.")], password="öffne")
LONG_NAME = "evidence/" + "長" * 84 + ".md"  # 255 bytes in UTF-8

GOOD = {
    "evidence/roofs.md": "# Roofs\n\nA green roof was 7 degrees cooler than bitumen at noon.\n",
    "evidence/opened.pdf": SECRET,
    "evidence/opened.pdf.meta.yaml": "password: öffne\n",
    "evidence/two\nlines.md": "# Two lines\n\nThe name of this file has two lines.\n",
    "evidence/🌿 roof 🌿.md": "# Leaf\n\nThe name of this file has leaves.\n",
    "evidence/'; DROP TABLE chunks; --.md": "# Bobby\n\nThe name of this file is SQL.\n",
    LONG_NAME: "# Long\n\nThe name of this file has 255 bytes.\n",
    "instruction/guidance/rubric.md": "# Rubric\n\nEvery claim cites a source.\n",
    "instruction/guidance/rubric.md.meta.yaml": "citable: true\n",
}
# path → (content, sidecar or None, status, reason code, words that the sentence must hold)
BAD: dict[str, tuple[bytes, str | None, str, str, tuple[str, ...]]] = {
    "evidence/empty.md": (b"", None, "failed", "empty_file", ("0 bytes", "remove")),
    "evidence/empty.pdf": (b"\n", None, "failed", "empty_file", ()),
    "evidence/broken.pdf": (
        b"%PDF-1.7\nnothing", None, "failed", "damaged_file|no_pages", ("again|anew",),
    ),
    "evidence/locked.pdf": (
        SECRET_TOO, None, "failed", "password_required", ("password:", "<file>.meta.yaml"),
    ),
    "evidence/mislocked.pdf": (
        SECRET_THREE, "password: zu\n", "failed", "password_wrong", ("password", ".meta.yaml"),
    ),
    "evidence/program.md": (
        bytes(range(256)) * 40, None, "failed", "unsupported_format", ("named .md", "binary"),
    ),
    "evidence/picture.png": (
        b"\x89PNG\r\n\x1a\n1", None, "failed", "unsupported_format", ("image/png",),
    ),
    "evidence/no-sidecar.md": (
        b"# A\n\nIts sidecar is empty.\n", "", "withheld", "sidecar_invalid",
        ("no-sidecar.md.meta.yaml", "is empty", "delete it"),
    ),
    "evidence/list-sidecar.md": (
        b"# B\n\nIts sidecar is a list.\n", "- a\n- b\n", "withheld", "sidecar_invalid",
        ("`key: value`",),
    ),
    "evidence/typo-sidecar.md": (
        b"# C\n\nIts sidecar has a typo.\n", "citeable: false\n", "withheld", "sidecar_invalid",
        ("unknown key 'citeable'", "Did you mean 'citable'?"),
    ),
    "evidence/wrong-year.md": (
        b"# D\n\nIts year is no year.\n", "year: soon\n", "withheld", "sidecar_invalid",
        ("'year'", "'soon'"),
    ),
    "evidence/torn-sidecar.md": (
        b"# E\n\nIts sidecar is no YAML.\n", "title: [a\n", "withheld", "sidecar_invalid",
        ("line", "not valid YAML"),
    ),
    "evidence/leaking-sidecar.md": (
        b"# F\n\nIts sidecar holds a secret.\n", "password: [hunter2]\n", "withheld",
        "sidecar_invalid", ("'password'",),
    ),
}  # fmt: skip
REFUSED = {
    "raw/evidence/outside.md": ("symlink_outside", "leads out of the raw folder"),
    "raw/evidence/nowhere.md": ("symlink_broken", "is broken"),
    "raw/evidence/circle": ("symlink_folder", "not followed"),
    "raw/evidence/pipe.md": ("not_a_file", "neither a file nor a folder"),
    "raw/evidence/caf": ("name_not_utf8", "not UTF-8"),
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """One workspace with every bad file, ingested once through the front door."""
    root = tmp_path_factory.mktemp("bad") / "library"
    workspace = make_workspace(root, GOOD, SETTINGS)
    for name, (content, sidecar, *_) in BAD.items():
        write_raw(workspace, name, content)
        if sidecar is not None:
            write_raw(workspace, f"{name}.meta.yaml", sidecar)
    outside = root.parent / "outside.md"
    outside.write_text("# Outside\n\nThis lies elsewhere.\n", encoding="utf-8")
    evidence = root / "raw/evidence"
    (evidence / "outside.md").symlink_to(outside)
    (evidence / "nowhere.md").symlink_to(evidence / "gone.md")
    (evidence / "circle").symlink_to(root / "raw")
    os.mkfifo(evidence / "pipe.md")
    with open(os.fsencode(evidence) + b"/caf\xe9.md", "wb") as handle:  # noqa: PTH123 - bytes
        handle.write(b"# Cafe\n")
    ran = run_rag("--workspace", root, "ingest", "--json")
    assert ran.returncode == 1, ran.stderr
    (root / "ingest.json").write_text(ran.stdout, encoding="utf-8")
    return Workspace.open(root)


@pytest.fixture(scope="module")
def lines(world: Workspace) -> dict[str, dict[str, Any]]:
    """What `rag documents` says, by path."""
    ran = run_rag("--workspace", world.root, "documents", "--json")
    assert ran.returncode == 0, ran.stderr
    return {path: line for line in json.loads(ran.stdout) for path in line["paths"]}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_has_a_reason_and_a_sentence_that_says_what_to_do(
    lines: dict[str, dict[str, Any]], name: str
) -> None:
    _, _, status, reasons, words = BAD[name]
    line = lines[f"raw/{name}"]
    assert line["status"] == status
    assert line["reason_code"] in reasons.split("|")
    for word in words:
        assert any(part in line["message"] for part in word.split("|")), line["message"]
    assert "hunter2" not in json.dumps(line)
    assert not line["citable"]


@pytest.mark.parametrize("path", REFUSED)
def test_what_is_no_plain_file_below_raw_is_refused(
    lines: dict[str, dict[str, Any]], path: str
) -> None:
    reason, words = REFUSED[path]
    (line,) = [line for name, line in lines.items() if name.startswith(path)]
    assert line["status"] == "refused"
    assert line["reason_code"] == reason
    assert words in line["message"]


def test_everything_else_is_published(world: Workspace, lines: dict[str, dict[str, Any]]) -> None:
    whole_publication(world.namespace("thesis"))
    good = {f"raw/{name}" for name in GOOD if not name.endswith(".meta.yaml")}
    published = {path for path, line in lines.items() if line["status"] == "published"}
    assert published == good
    uids = {path: lines[path]["doc_uid"] for path in good}
    assert len(set(uids.values())) == len(good)
    assert all("\n" not in uid and "/" not in uid for uid in uids.values())


def test_a_sidecar_cannot_make_a_rubric_citable(lines: dict[str, dict[str, Any]]) -> None:
    assert not lines["raw/instruction/guidance/rubric.md"]["citable"]
    assert lines["raw/evidence/roofs.md"]["citable"]


def test_every_trouble_is_counted_by_a_check_that_fails(world: Workspace) -> None:
    report = json.loads((world.root / "ingest.json").read_text("utf-8"))["thesis"]
    assert not report["success"]
    (check,) = [c for c in report["checks"] if c["check"] == "no_documents_failed"]
    assert (check["passed"], check["severity"]) == (False, "ERROR")
    assert "refused: symlink_outside" in check["description"] or "more" in check["description"]


def test_a_list_for_people_has_one_line_a_document(world: Workspace) -> None:
    ran = run_rag("--workspace", world.root, "documents", "--status", "published")
    assert ran.returncode == 0
    assert len(ran.stdout.splitlines()) == sum(not n.endswith(".meta.yaml") for n in GOOD)


QUESTIONS = {
    "empty.yaml": ("question: ''\n", "has no text"),
    "signs.yaml": ("question: '?!'\n", "has no text"),
    "keyless.yaml": ("namespaces: [thesis]\n", "write `question:"),
    "typo.yaml": ("question: Which?\ntop_q: 3\n", "Did you mean 'top_k'?"),
    "stranger.yaml": ("question: Which?\nnamespaces: [thesiss]\n", "unknown namespace 'thesiss'"),
    "broken.yaml": ("question: [a\n", "not valid YAML"),
    "zero.yaml": ("question: Which?\ntop_k: 0\n", "'top_k'"),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_that_cannot_be_asked_is_refused_with_its_file(
    world: Workspace, name: str, rag: Any
) -> None:
    text, words = QUESTIONS[name]
    path = world.root.parent / name
    path.write_text(text, encoding="utf-8")
    ran = rag("--workspace", world.root, "query", "--file", path)
    assert ran.exit_code == (2 if name == "broken.yaml" else 3), ran.output
    assert words in ran.stderr
    assert ran.stdout == ""
    if name != "stranger.yaml":
        assert name in ran.stderr


DRAFTS = {
    "unknown.md": ("Roofs are cool {#rooofs}.\n", 3, ("`rooofs`", "{#roofs}")),
    "uncitable.md": ("Every claim cites {#rubric}.\n", 3, ("`rubric` must not be cited",)),
    "failed.md": ("It was locked {#locked}.\n", 3, ("locked", "password_required")),
    "good.md": ("A green roof was 7 degrees cooler than bitumen {#roofs}.\n", 0, ("1 OK",)),
    "typo-matter.md": (
        "---\nnamespace: thesis\n---\nCool {#roofs}.\n",
        3,
        ("typo-matter.md", "'namespaces'?"),
    ),
    "torn-matter.md": (
        "---\ntitle: [x\n---\nCool {#roofs}.\n",
        3,
        ("torn-matter.md, line 3", "not YAML"),
    ),
    "stranger.md": (
        "---\nnamespaces: [thesiss]\n---\nCool {#roofs}.\n",
        3,
        ("thesiss", "thesis"),
    ),
}


@pytest.mark.parametrize("name", DRAFTS)
def test_a_draft_that_cites_what_it_must_not_is_refused(
    world: Workspace, name: str, rag: Any
) -> None:
    text, code, words = DRAFTS[name]
    path = world.drafts / name
    path.write_text(text, encoding="utf-8")
    ran = rag("--workspace", world.root, "verify-citations", path)
    assert ran.exit_code == code, ran.output
    for word in words:
        assert word in ran.output


CONFIGURATIONS = {
    "config.yaml": ("chunks: {}\n", "unknown key 'chunks'; did you mean 'chunk'?"),
    "namespaces/thesis.yaml": ("raw: [raw]\nembed: {modle: x}\n", "unknown key 'embed.modle'"),
    "config.yaml ": ("chunk: {overlap: 0.5}\n", "'chunk.overlap'"),
    "config.yaml  ": ("chunk: {target_tokens: '200'}\n", "'chunk.target_tokens'"),
    "config.yaml   ": ("embed: {kind: hashing\n", "not valid YAML"),
    "namespaces/Thesis-2.yaml": ("raw: [raw]\n", "cannot be a namespace"),
    "namespaces/temp.yaml": ("raw: [raw]\n", "cannot be a namespace"),
}


@pytest.mark.parametrize("name", CONFIGURATIONS)
@pytest.mark.parametrize("command", ["status", "ingest"])
def test_a_wrong_setting_names_file_key_and_rule(
    tmp_path: Path, rag: Any, name: str, command: str
) -> None:
    text, words = CONFIGURATIONS[name]
    workspace, _ = create_workspace(tmp_path / "library", "thesis")
    (workspace.root / name.strip()).write_text(text, encoding="utf-8")
    ran = rag("--workspace", workspace.root, command)
    assert ran.exit_code == 2, ran.output
    assert str(workspace.root / name.strip()) in ran.stderr
    assert words in ran.stderr


def test_an_unknown_namespace_lists_those_that_exist(tmp_path: Path, rag: Any) -> None:
    workspace, _ = create_workspace(tmp_path / "library", "thesis")
    for command in (("status",), ("ingest",), ("query", "Which?")):
        ran = rag("--workspace", workspace.root, *command, "--namespace", "thesiss")
        assert ran.exit_code == 3
        assert "unknown namespace 'thesiss'" in ran.stderr
        assert "known: thesis" in ran.stderr


def test_a_raw_folder_that_is_gone_changes_nothing(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path / "library", NOTES, SETTINGS)
    build(workspace.namespace("thesis"))
    before = published_state(workspace.namespace("thesis"))
    (workspace.root / "raw").rename(workspace.root / "elsewhere")
    ran = run_rag("--workspace", workspace.root, "ingest")
    assert ran.returncode == 1
    assert f"the raw folder {workspace.root / 'raw'} of namespace 'thesis' is gone" in ran.stderr
    assert "Nothing was changed" in ran.stderr
    assert published_state(open_namespace(workspace.root)) == before
    (workspace.root / "elsewhere").rename(workspace.root / "raw")
    assert not build(open_namespace(workspace.root)).is_new


def test_what_may_not_be_read_is_refused_and_the_rest_goes_on(tmp_path: Path) -> None:
    """Root may read everything: the scan runs as nobody where this process is root."""
    as_nobody: list[str] = []
    if os.geteuid() == 0:
        as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        probe = [*as_nobody, sys.executable, "-c", "import rag_assets.workspace"]
        try:
            tried = subprocess.run(probe, capture_output=True, text=True, check=False)
        except FileNotFoundError:
            pytest.skip("there is no `setpriv` to give up root's rights")
        if tried.returncode:
            pytest.skip(f"the package cannot be imported as nobody: {tried.stderr[-200:]}")
    workspace = make_workspace(tmp_path / "library", NOTES, SETTINGS)
    write_raw(workspace, "evidence/closed/inside.md", "# Inside\n\nUnreadable.\n")
    (workspace.root / "raw/evidence/streets.md").chmod(0)
    (workspace.root / "raw/evidence/closed").chmod(0)
    program = (
        "import sys, json; from rag_assets.workspace import Workspace, scan_raw\n"
        "namespace = Workspace.open(sys.argv[1]).namespace('thesis')\n"
        "found = [[s.source_uri, s.status, s.reason_code] for s in scan_raw(namespace).sources]\n"
        "print(json.dumps(found))"
    )
    for folder in (tmp_path, *tmp_path.parents[:3]):
        if folder.stat().st_uid == os.geteuid():
            folder.chmod(0o755)
    for path in [workspace.root, *workspace.root.rglob("*")]:
        if path.is_dir() and path.name != "closed":
            path.chmod(0o777)
    scanned = subprocess.run(
        [*as_nobody, sys.executable, "-c", program, str(workspace.root)],
        capture_output=True, text=True, check=False, env=outside_environment(),
    )  # fmt: skip
    assert scanned.returncode == 0, scanned.stderr
    found = {uri: (status, reason) for uri, status, reason in json.loads(scanned.stdout)}
    assert found["raw/evidence/streets.md"] == ("refused", "unreadable_file")
    assert found["raw/evidence/closed"] == ("refused", "unreadable_folder")
    assert found["raw/evidence/roofs.md"] == ("ok", "")


def test_an_ambiguous_uid_is_refused_with_the_ways_to_name_it(tmp_path: Path, rag: Any) -> None:
    workspace = make_workspace(tmp_path / "library", NOTES, SETTINGS)
    (workspace.root / "namespaces/other.yaml").write_text(
        yaml.safe_dump({"raw": ["raw/evidence"], "places": {"": {"source_type": "evidence",
                        "citable": True}}}), encoding="utf-8",
    )  # fmt: skip
    for name in ("thesis", "other"):
        build(Workspace.open(workspace.root).namespace(name))
    draft = workspace.drafts / "chapter.md"
    draft.write_text("A green roof was 7 degrees cooler {#roofs}.\n", encoding="utf-8")
    ran = rag("--workspace", workspace.root, "verify-citations", draft)
    assert ran.exit_code == 3
    assert "Write {#other:roofs} or {#thesis:roofs}" in " ".join(ran.output.split())
