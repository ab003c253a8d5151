"""What changed in raw/ and drafts/ is told once, alike by every command, with what mends it."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import pytest
from click.testing import Result

from rag_assets.auditing import audit_citations
from rag_assets.auditing.storing import audit_claims
from rag_assets.evidence import ask
from rag_assets.workspace import Workspace
from rag_assets_tests.libraries import HASHING, build, make_workspace, write_raw

Rag = Callable[..., Result]

ROOFS = "# Roofs of towns\n\nA green roof was 7 degrees cooler than bitumen at noon.\n"
LEAF = "# Leaves\n\nStomata close when the air around a leaf is dry.\n"
DRAFT = "Stomata close when the air is dry {#leaf}. Roofs are cool {#roofs}. Leaves {#leaf}.\n"
SETTINGS = {**HASHING, "verify": {"scorer": "similarity"}}
INGEST = "rag ingest --namespace thesis"
AUDIT = "rag verify-citations drafts/chapter.md"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, parse_in_process: None) -> Workspace:
    files = {"evidence/roofs.md": ROOFS, "evidence/leaf.md": LEAF}
    workspace = make_workspace(tmp_path_factory.mktemp("told") / "made", files, SETTINGS)
    build(workspace.namespace("thesis"))
    (workspace.drafts / "chapter.md").write_text(DRAFT, encoding="utf-8")
    audit_citations(workspace, workspace.drafts / "chapter.md")
    return workspace


@pytest.fixture
def library(made: Workspace, tmp_path: Path) -> Workspace:
    """Return a copy with an audited draft, all of it up to date."""
    shutil.copytree(made.root, tmp_path / "library")
    return Workspace.open(tmp_path / "library")


@contextmanager
def later(seconds: float = 60) -> Iterator[None]:
    """Let files that were written now have been still for some time."""
    import time

    now = time.time
    with patch("time.time", lambda: now() + seconds):
        yield


def told(rag: Rag, library: Workspace, command: str, *, is_moving: bool = False) -> list[str]:
    """Return the lines in which a command says that something is out of date."""
    with later(0 if is_moving else 60):
        ran = rag("--workspace", library.root, command)
    lines = [" ".join(line.split()) for line in ran.output.splitlines()]
    if command == "status":
        found = [line for line in lines if line.startswith(("stale ", "next rag"))]
        assert ran.exit_code == (1 if found else 0), ran.output
        return found
    numbered = [line for line in lines if line.partition(".")[0].isdigit()]
    return [line for line in numbered if "without a decision" not in line]


def test_a_library_and_a_draft_in_order_have_nothing_to_do(library: Workspace, rag: Rag) -> None:
    assert told(rag, library, "status") == []
    assert [line for line in told(rag, library, "health") if "not OK" not in line] == []


@pytest.mark.parametrize("command", ["status", "health"])
def test_each_change_of_raw_is_told_once_with_its_name(
    library: Workspace, rag: Rag, command: str
) -> None:
    write_raw(library, "evidence/leaf.md", LEAF.replace("dry", "humid"))
    write_raw(library, "evidence/walls.md", "# Walls\n\nWalls are warm.\n")
    evidence = library.root / "raw/evidence"
    (evidence / "roofs.md").rename(evidence / "towns.md")
    lines = "\n".join(told(rag, library, command))
    for change in (
        "1 added (raw/evidence/walls.md)",
        "1 replaced (raw/evidence/leaf.md, `leaf`)",
        "1 renamed (raw/evidence/roofs.md is now raw/evidence/towns.md, `roofs`)",
    ):
        assert lines.count(change) == 1, lines
    assert lines.count("raw/ has changed") == 1
    assert lines.count(INGEST) == 1
    assert "not built yet" not in lines


def test_what_was_scanned_and_not_published_is_told_as_one_change(
    library: Workspace, rag: Rag
) -> None:
    from rag_assets.workspace import take_inventory

    write_raw(library, "evidence/walls.md", "# Walls\n\nWalls are warm.\n")
    write_raw(library, "evidence/leaf.md", LEAF.replace("dry", "humid"))
    take_inventory(library.namespace("thesis"), notify=lambda _: None)
    found = told(rag, library, "status")
    assert len(found) == 2, found
    assert "1 added (raw/evidence/walls.md), 1 replaced (raw/evidence/leaf.md, `leaf`)" in found[0]
    with later():
        asked = rag("--workspace", library.root, "query", "When do stomata close?")
    assert "since the publication: 1 replaced (raw/evidence/leaf.md, `leaf`)" in asked.stderr


@pytest.mark.parametrize("command", ["status", "health"])
def test_a_file_still_being_written_is_told_as_that(
    library: Workspace, rag: Rag, command: str
) -> None:
    write_raw(library, "evidence/walls.md", "# Walls\n\nWalls a")
    found = told(rag, library, command, is_moving=True)
    about = [line for line in found if "walls.md" in line]
    assert len(about) == 1, found
    assert "raw/evidence/walls.md is still being written" in about[0]
    assert "raw/ has changed" not in "".join(found)


def test_a_file_that_was_taken_in_a_moment_ago_is_not_waited_for(
    library: Workspace, rag: Rag
) -> None:
    write_raw(library, "evidence/walls.md", "# Walls\n\nWalls are warm.\n")
    build(library.namespace("thesis"))
    assert told(rag, library, "status", is_moving=True) == []


@pytest.mark.parametrize("command", ["status", "health"])
def test_an_edited_draft_is_told_once_with_the_command_that_judges_it(
    library: Workspace, rag: Rag, command: str
) -> None:
    draft = library.drafts / "chapter.md"
    audit_claims(library, draft)
    draft.write_text(f"{DRAFT}\nMore {{#leaf}}.\n", encoding="utf-8")
    lines = "\n".join(told(rag, library, command))
    assert lines.count("chapter.md was edited since chapter_citations_v001 and ") == 1, lines
    assert lines.count(AUDIT) == 1
    assert lines.count("rag audit drafts/chapter.md") == 1
    assert "not OK" not in lines
    audit_citations(library, draft)
    lines = "\n".join(told(rag, library, command))
    assert "drafts/chapter.md was edited since chapter_claims_v001 was made." in lines
    assert AUDIT not in lines


@pytest.mark.parametrize("command", ["status", "health"])
def test_a_changed_source_makes_an_audit_stale_once_for_all_its_sentences(
    library: Workspace, rag: Rag, command: str
) -> None:
    write_raw(library, "evidence/leaf.md", LEAF.replace("dry", "humid"))
    build(library.namespace("thesis"))
    lines = "\n".join(told(rag, library, command))
    assert lines.count("drafts/chapter.md, line 1: `leaf` has changed since it was judged.") == 1
    assert lines.count("`leaf`") == 1
    assert lines.count(AUDIT) == 1
    audit_citations(library, library.drafts / "chapter.md")
    assert "leaf` has changed" not in "\n".join(told(rag, library, command))


@pytest.mark.parametrize("command", ["status", "health"])
def test_a_removed_source_is_told_by_its_title_and_what_to_do(
    library: Workspace, rag: Rag, command: str
) -> None:
    (library.root / "raw/evidence/roofs.md").unlink()
    lines = "\n".join(told(rag, library, command))
    assert lines.count("1 removed (raw/evidence/roofs.md, `roofs`)") == 1
    build(library.namespace("thesis"))
    lines = "\n".join(told(rag, library, command))
    assert (
        lines.count("`roofs` was removed: raw/evidence/roofs.md (“Roofs of towns”) has been") == 1
    )
    assert lines.count(AUDIT) == 1
    assert "raw/ has changed" not in lines


def test_an_audit_says_that_what_it_cites_was_removed(library: Workspace) -> None:
    (library.root / "raw/evidence/roofs.md").unlink()
    build(library.namespace("thesis"))
    draft = library.drafts / "chapter.md"
    outcome = audit_citations(library, draft)
    row = next(row for row in outcome.audit.rows if row.doc_uid == "roofs")
    assert (row.status, row.reason_code) == ("ERROR", "removed")
    assert "raw/evidence/roofs.md (“Roofs of towns”) has been missing since 20" in row.reason
    assert INGEST in row.reason
    assert "There is no document" not in outcome.markdown.read_text(encoding="utf-8")
    # What is back can be cited again, and the audit says that it is out of date.
    write_raw(library, "evidence/roofs.md", ROOFS)
    build(library.namespace("thesis"))
    again = next(
        row for row in audit_citations(library, draft).audit.rows if row.doc_uid == "roofs"
    )
    assert again.status != "ERROR"


def test_documents_name_what_was_removed(library: Workspace, rag: Rag) -> None:
    (library.root / "raw/evidence/roofs.md").unlink()
    build(library.namespace("thesis"))
    listed = rag("--workspace", library.root, "documents", "--status", "removed")
    assert "thesis:roofs" in listed.stdout
    assert "“Roofs of towns”" in listed.stdout


def test_a_filter_by_a_removed_document_says_so(library: Workspace) -> None:
    from rag_assets.evidence import Question, replay

    (library.root / "raw/evidence/roofs.md").unlink()
    build(library.namespace("thesis"))
    outcome = ask(library, Question(question="Are roofs cool?", filters=("doc_uid=roofs",)))
    assert any("`roofs` was removed" in warning for warning in outcome.pack.warnings)
    write_raw(library, "evidence/roofs.md", ROOFS)
    build(library.namespace("thesis"))
    assert replay(library, outcome.json).is_same


@pytest.mark.parametrize("change", ["replaced", "removed"])
def test_answers_say_that_their_source_is_another_one_now(
    library: Workspace, rag: Rag, change: str
) -> None:
    path = library.root / "raw/evidence/leaf.md"
    if change == "removed":
        path.unlink()
    else:
        path.write_text(LEAF.replace("dry", "humid"), encoding="utf-8")
    for command in (("query", "When do stomata close?"), ("audit", library.drafts / "chapter.md")):
        ran = rag("--workspace", library.root, *command)
        assert f"publication: 1 {change} (raw/evidence/leaf.md, `leaf`)" in ran.stderr
        assert ran.stderr.count(INGEST) == 1


def test_a_renamed_source_changes_no_answer(library: Workspace, rag: Rag) -> None:
    evidence = library.root / "raw/evidence"
    (evidence / "leaf.md").rename(evidence / "leaves.md")
    ran = rag("--workspace", library.root, "query", "When do stomata close?")
    assert "warning" not in ran.stderr
