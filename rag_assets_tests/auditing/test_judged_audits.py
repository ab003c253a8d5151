"""What people have decided, in the audits, checks and exports of a real workspace."""

import json
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import pytest

from rag_assets.auditing import (
    CITATIONS,
    audit_citations,
    look_for_stale,
    read_draft,
    stale_verdicts,
    unsupported_citations,
)
from rag_assets.auditing.judgements import append_judgement, judge_row
from rag_assets.auditing.record import Decision
from rag_assets.auditing.storing import audit_claims
from rag_assets.running import (
    materialize_stages,
    open_instance,
    record_audit,
    register_saved_questions,
)
from rag_assets.workspace import Workspace
from rag_assets_tests.laws.driver import build, make_workspace, put

ROOFS = "# Roofs\n\nCool roofs reflect sunlight and stay cooler than dark ones.\n"
LEAF = "# Leaves\n\nStomata close when the air around a leaf is dry.\n"
DRAFT = (
    "Cool roofs reflect sunlight and stay cooler {#roofs}.\n\n"
    "Stomata close when the air is dry {#leaf}. Bridges rust in salt air {#leaf}.\n"
)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    workspace = make_workspace(tmp_path / "library")
    with (workspace.root / "config.yaml").open("a", encoding="utf-8") as config:
        config.write("verify:\n  scorer: similarity\n")
    workspace = Workspace.open(workspace.root)
    put(workspace, "evidence/roofs.md", ROOFS)
    put(workspace, "evidence/leaf.md", LEAF)
    build(workspace.namespace("lib"))
    (workspace.drafts / "chapter.md").write_text(DRAFT, encoding="utf-8")
    return workspace


def judge(workspace: Workspace, number: int, decision: Decision, comment: str = "") -> None:
    """Judge a row of the newest audit of the draft."""
    path = workspace.drafts / "chapter.md"
    audit, draft = CITATIONS.newest(workspace, path), read_draft(path)
    assert audit is not None
    at = datetime(2026, 3, 1, 10, tzinfo=UTC).isoformat()
    one = judge_row(
        audit.rows[number - 1], decision, by="Ana", at=at, draft=draft.name,
        draft_digest=draft.digest, text=draft.text, comment=comment,
    )  # fmt: skip
    append_judgement(workspace, one)


def audited(workspace: Workspace) -> list[str]:
    outcome = audit_citations(workspace, workspace.drafts / "chapter.md")
    return [row.status for row in outcome.audit.rows]


def test_a_later_audit_counts_the_person_and_judges_nothing_again(workspace: Workspace) -> None:
    machine = audited(workspace)
    assert machine == ["OK", "OK", "MISSING"]
    kept = (workspace.judgements / "judgements.jsonl").read_bytes()
    judge(workspace, 1, "unsupported", "Only white ones.")
    judge(workspace, 3, "supported")
    outcome = audit_citations(workspace, workspace.drafts / "chapter.md")
    assert [row.status for row in outcome.audit.rows] == ["MISSING", "OK", "OK"]
    assert (outcome.judged, outcome.is_new) == (0, True)
    assert (workspace.judgements / "judgements.jsonl").read_bytes() == kept
    stored = json.loads(outcome.json.read_text(encoding="utf-8"))
    assert stored["counts"] == {"OK": 2, "WEAK": 0, "MISSING": 1, "ERROR": 0}
    assert stored["rows"][0]["person"]["machine_status"] == "OK"
    for page in (outcome.markdown, outcome.html):
        text = page.read_text(encoding="utf-8")
        assert "Ana judged it not supported on 2026-03-01. “Only white ones.” The machine" in text
    again = audit_citations(workspace, workspace.drafts / "chapter.md")
    assert (again.is_new, again.audit.audit_id) == (False, outcome.audit.audit_id)


def test_judgements_made_since_are_told_until_the_draft_is_audited_again(
    workspace: Workspace,
) -> None:
    audited(workspace)
    path = workspace.drafts / "chapter.md"
    assert list(look_for_stale(workspace, [path])) == [(path, False)]
    judge(workspace, 3, "supported")
    (told,) = stale_verdicts(workspace)
    assert told.startswith("drafts/chapter.md, line 3: a person's judgements are others now")
    assert list(look_for_stale(workspace, [path])) == [(path, True)]
    audited(workspace)
    assert list(stale_verdicts(workspace)) == []


def test_a_person_silences_the_check_and_raises_it(workspace: Workspace) -> None:
    audited(workspace)
    (told,) = unsupported_citations(workspace)
    assert told.startswith("drafts/chapter.md, line 3: `leaf` is MISSING. ")
    judge(workspace, 3, "supported")
    assert list(unsupported_citations(workspace)) == []
    judge(workspace, 1, "unsupported", "Only white ones.")
    (told,) = unsupported_citations(workspace)
    assert "line 1: `roofs` is MISSING. Ana judged it not supported" in told


def test_the_check_in_dagster_is_that_of_the_last_command(workspace: Workspace) -> None:
    def is_shown_to_pass() -> bool:
        key = dg.AssetCheckKey(dg.AssetKey("citation_audits"), "citations_are_supported")
        with open_instance(workspace) as instance:
            record = instance.get_latest_asset_check_evaluation_record(key)
        assert record is not None and record.evaluation is not None
        return record.evaluation.passed

    record_audit(workspace, audit_citations(workspace, workspace.drafts / "chapter.md"))
    assert not is_shown_to_pass()
    judge(workspace, 3, "supported")
    materialize_stages(workspace.namespace("lib"), ["inventory"])
    assert is_shown_to_pass()
    judge(workspace, 3, "unsupported")
    register_saved_questions(workspace)  # as `rag ingest` where nothing is to be done
    assert not is_shown_to_pass()


def test_a_source_of_other_content_takes_its_judgement_out_of_date(workspace: Workspace) -> None:
    audited(workspace)
    judge(workspace, 1, "unsupported")
    judge(workspace, 3, "supported")
    put(workspace, "evidence/leaf.md", LEAF.replace("dry", "humid"))
    build(workspace.namespace("lib"))
    outcome = audit_citations(workspace, workspace.drafts / "chapter.md")
    assert [row.status for row in outcome.audit.rows][::2] == ["MISSING", "MISSING"]
    (warning,) = (one for one in outcome.audit.warnings if one.startswith("Row 3: "))
    assert "but `leaf` has changed since" in warning
    put(workspace, "evidence/leaf.md", LEAF)
    build(workspace.namespace("lib"))
    assert audited(workspace) == ["MISSING", "OK", "OK"]


def test_a_rebuilt_workspace_has_its_judgements(workspace: Workspace) -> None:
    import shutil

    audited(workspace)
    judge(workspace, 3, "supported")
    for folder in ("data", "index", "outputs"):
        shutil.rmtree(workspace.root / folder)
    build(workspace.namespace("lib"))
    assert audited(workspace) == ["OK", "OK", "OK"]


def test_an_assertion_under_a_judged_citation_is_audited_as_before(workspace: Workspace) -> None:
    (workspace.drafts / "chapter.md").write_text(
        "Cool roofs reduce heat. Cool roofs reflect sunlight and stay cooler {#roofs}.\n"
    )
    before = audit_claims(workspace, workspace.drafts / "chapter.md").audit
    audited(workspace)
    judge(workspace, 1, "unsupported")
    assert audit_claims(workspace, workspace.drafts / "chapter.md").audit.rows == before.rows


def test_doctor_counts_judgements_and_tells_a_torn_line(workspace: Workspace) -> None:
    from rag_assets.running import examine

    def told() -> list[str]:
        found = examine(str(workspace.root))
        return [f"{one.found} {one.mend or ''}" for one in found if one.what == "judgements"]

    audited(workspace)
    assert told() == []
    judge(workspace, 3, "supported")
    with workspace.judgement_journal.open("ab") as handle:
        handle.write(b'{"by": "Ana')
    whole, torn = told()
    assert whole == "1 judgement "
    assert "half-written" in torn


def test_an_assertion_is_supported_where_a_person_has_said_so_of_its_words(
    workspace: Workspace,
) -> None:
    path = workspace.drafts / "chapter.md"
    bare = "Bridges cause rust in salt air. Cool roofs reflect sunlight and stay cooler {#roofs}.\n"
    path.write_text(bare)
    (before,) = audit_claims(workspace, path).audit.rows
    assert before.status != "SUPPORTED"
    path.write_text("Bridges cause rust in salt air {#roofs}.\n")
    audited(workspace)
    judge(workspace, 1, "supported", "Appendix B.")
    path.write_text(bare)
    (row,) = audit_claims(workspace, path).audit.rows
    assert row.status == "SUPPORTED"
    assert "Ana judged it supported on 2026-03-01. “Appendix B.”" in row.reason
