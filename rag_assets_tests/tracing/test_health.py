"""The health report names what has to be looked at, and only that."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from rag_assets.auditing import audit_citations
from rag_assets.auditing.storing import audit_claims
from rag_assets.embedding import model_fingerprints
from rag_assets.evidence import Question, ask
from rag_assets.model.settings import Watching
from rag_assets.tracing import Health, write_health_report
from rag_assets.workspace import Namespace, Workspace
from rag_assets_tests.libraries import HASHING, build, make_workspace, write_raw


@pytest.fixture(autouse=True)
def files_rest_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Watching, "rest_seconds", 0.0)


def fingerprints(namespace: Namespace) -> Sequence[str]:
    return model_fingerprints(namespace.settings.embed)


def report(workspace: Workspace) -> Health:
    return write_health_report(Workspace.open(workspace.root), fingerprints)


def test_a_library_in_order_has_nothing_to_do(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, {"evidence/a.md": "# A\n\nRoofs are cool.\n"}, {})
    (workspace.root / "config.yaml").write_text("", encoding="utf-8")
    (workspace.root / "namespaces/thesis.yaml").write_text(
        "raw: [raw]\nembed: {kind: hashing}\n", encoding="utf-8"
    )
    build(Workspace.open(workspace.root).namespace("thesis"))
    from rag_assets.workspace import record_decision

    record_decision(Workspace.open(workspace.root), "Words are enough", "no model is at hand")
    found = report(workspace)
    assert found.todo == ()
    assert "**Nothing to do.**" in found.text
    assert found.path.read_text(encoding="utf-8") == found.text
    assert "Words are enough" in found.text


def test_what_is_amiss_is_numbered_with_its_mend(tmp_path: Path) -> None:
    files = {"evidence/a.md": "# A\n\nRoofs are cool.\n", "evidence/broken.pdf": "%PDF-1.7"}
    more = {"verify": {"scorer": "similarity"}}
    workspace = make_workspace(tmp_path, files, {**HASHING, **more})
    build(workspace.namespace("thesis"))
    draft = workspace.drafts / "chapter.md"
    draft.write_text("Penguins breed on ice {#a}. Who {#nobody}?\n", encoding="utf-8")
    audit_citations(workspace, draft)
    write_raw(workspace, "evidence/b.md", "# B\n\nWalls are cool.\n")
    (workspace.root / "namespaces/law.yaml").write_text("chunks: {}\n", encoding="utf-8")
    todo = "\n".join(report(workspace).todo)
    assert "raw/ has changed since the publication" in todo
    assert "1 document could not be used" in todo
    assert "chapter.md: 2 citations are not OK" in todo
    assert "unknown key 'chunks'" in todo  # and the other namespace is reported all the same


def test_audits_are_told_of_the_drafts_that_there_are(tmp_path: Path) -> None:
    files = {"evidence/a.md": "# A\n\nRoofs are cool.\n"}
    more = {"verify": {"scorer": "similarity"}}
    workspace = make_workspace(tmp_path / "library", files, {**HASHING, **more})
    build(workspace.namespace("thesis"))
    outside = tmp_path / "outside.md"
    in_a, in_b = workspace.drafts / "a/intro.md", workspace.drafts / "b/intro.md"
    removed = workspace.drafts / "removed.md"
    for draft in (in_a, in_b, outside, removed):
        draft.parent.mkdir(exist_ok=True)
        draft.write_text("Penguins breed on ice {#a}. It causes harm.\n", encoding="utf-8")
        audit_citations(workspace, draft)
    audit_claims(workspace, in_a)
    removed.unlink()
    found = report(workspace)
    todo = "\n".join(found.todo)
    assert "a/intro.md: 1 citation is not OK" in todo
    assert "b/intro.md: 1 citation is not OK" in todo
    assert "a/intro.md: 1 strong assertion is not supported" in todo
    assert "Strong assertions of a/intro.md (`a--intro_claims_v001`): 1 EVIDENCE_NEEDED" in (
        found.text
    )
    assert "outside" not in todo
    assert "removed" not in todo
    elsewhere = found.text.partition("not in drafts/")[2]
    assert "`outside_citations_v001`" in elsewhere
    assert "`removed_citations_v001`" in elsewhere


def test_packs_without_a_passage_are_counted(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, {"evidence/a.md": "# A\n\nRoofs are cool.\n"})
    build(workspace.namespace("thesis"))
    ask(workspace, "Are roofs cool?")
    ask(workspace, Question(question="Are roofs cool?", filters=("year>=2050",)))
    assert "- Evidence packs: 2, 1 without any passage" in report(workspace).text
