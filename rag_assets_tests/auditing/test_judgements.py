"""Judgements of people: kept, joined to verdicts, out of date with what they judged."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from rag_assets.auditing import CitationAudit, CitationVerdict, CitedDocument, parse_draft
from rag_assets.auditing.judgements import (
    ChosenPassage,
    Judgement,
    Judgements,
    append_judgement,
    citation_of,
    join_judgements,
    judge_row,
    judgements_of,
    read_judgements,
    torn_judgement,
    without_judgements,
)
from rag_assets.auditing.record import Decision, identify_audit
from rag_assets.auditing.report import render_markdown
from rag_assets.model import ChangedMeanwhileError, DamagedFileError, UsageError
from rag_assets.workspace import Workspace
from rag_assets_tests.auditing.world import audit_of, make_document
from rag_assets_tests.laws.driver import make_workspace

ROOFS = make_document("roofs", ["Cool roofs reflect sunlight and stay cooler than dark ones."])
LEAF = make_document("leaf", ["Stomata close when the air around a leaf is dry."])
TEXT = (
    "Cool roofs reflect sunlight and stay cooler than dark ones {#roofs}. "
    "Bridges rust in salt air {#leaf}.\n\n"
    "Stomata close when the air around a leaf is dry {#leaf}.\n"
)
AT = "2026-03-01T10:00:00+00:00"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return make_workspace(tmp_path / "library")


def audited(text: str = TEXT, *documents: CitedDocument) -> CitationAudit:
    return audit_of(text, documents or (ROOFS, LEAF))


def judged(
    row: CitationVerdict, decision: Decision, text: str = TEXT, **others: object
) -> Judgement:
    given = {"by": "Ana", "at": AT, "draft": "chapter.md", "draft_digest": "d"} | others
    return judge_row(row, decision, text=text, **given)  # type: ignore[arg-type]


def joined(
    text: str, *judgements: Judgement, documents: tuple[CitedDocument, ...] = ()
) -> tuple[CitationVerdict, ...]:
    numbered = tuple(replace(one, number=n) for n, one in enumerate(judgements, 1))
    draft = parse_draft("chapter.md", text.encode())
    return join_judgements(audited(text, *documents).rows, Judgements(numbered), draft)


def statuses(rows: tuple[CitationVerdict, ...]) -> list[str]:
    return [row.status for row in rows]


def test_a_person_overrides_the_machine_whose_verdict_is_shown_beside() -> None:
    first, wrong, third = audited().rows
    assert statuses((first, wrong, third)) == ["OK", "MISSING", "OK"]
    rows = joined(
        TEXT,
        judged(first, "unsupported", comment="It says *white* roofs."),
        judged(wrong, "supported", chosen=ChosenPassage("Leaves rust.", "p. 9", "leaf:8")),
        judged(third, "needs_work"),
    )
    assert statuses(rows) == ["MISSING", "OK", "WEAK"]
    assert rows[0].person is not None
    assert rows[0].person.machine_status == "OK"
    assert rows[0].reason.startswith(
        "Ana judged it not supported on 2026-03-01. “It says *white* roofs.” The machine says OK: "
    )
    assert first.reason in rows[0].reason
    assert "It rests on p. 9." in rows[1].reason


def test_an_accepted_verdict_stays_when_the_machine_changes_its_mind() -> None:
    wrong = audited().rows[1]
    (_, row, _) = joined(TEXT, replace(judged(wrong, "accepted"), status="WEAK"))
    assert (row.status, row.person and row.person.machine_status) == ("WEAK", "MISSING")


def test_the_last_judgement_wins_and_one_taken_back_leaves_the_machine_s() -> None:
    first = audited().rows[0]
    both = (judged(first, "unsupported"), judged(first, "needs_work", by="Bo"))
    assert joined(TEXT, *both)[0].person.by == "Bo"  # type: ignore[union-attr]
    rows = joined(TEXT, *both, judged(first, "withdrawn"))
    assert rows == audited().rows


def test_joining_again_changes_nothing_and_can_be_taken_apart() -> None:
    rows = audited().rows
    kept = Judgements((judged(rows[1], "supported"),))
    once = join_judgements(rows, kept)
    assert once != rows
    assert join_judgements(once, kept) == once
    assert without_judgements(once) == rows
    assert join_judgements(once, Judgements()) == rows


def test_a_judgement_outlives_edits_elsewhere_and_another_name_of_the_draft() -> None:
    wrong = audited().rows[1]
    text = "# New\n\nA sentence before {#roofs}.\n\n" + TEXT.replace("Stomata close", "Pores shut")
    rows = joined(text, judged(wrong, "supported", draft="old.md"))
    assert [row.status for row in rows if row.claim == wrong.claim] == ["OK"]


def test_an_edited_sentence_takes_its_judgement_out_of_date_and_says_so() -> None:
    wrong = audited().rows[1]
    text = TEXT.replace("Bridges rust", "Bridges rot")
    rows = joined(text, judged(wrong, "supported"))
    assert rows[1].status == "MISSING"
    assert rows[1].person is None
    assert rows[1].outdated_judgement == (
        "Ana judged it supported on 2026-03-01, but the sentence was edited since (it was: "
        "“Bridges rust in salt air.”): the machine's verdict counts until somebody judges it again."
    )
    assert [row.outdated_judgement for row in (rows[0], rows[2])] == [None, None]


@pytest.mark.parametrize("before", ["Cool roofs stay", "Warm walls lean"])
@pytest.mark.parametrize("after", ["Stomata close", "Mouths open"])
def test_an_edited_sentence_is_known_by_what_stands_before_or_behind_it(
    before: str, after: str
) -> None:
    text = "{} here {{#roofs}}. Bridges {} in salt {{#leaf}}. {} there {{#roofs}}.\n"
    origin = text.format("Cool roofs stay", "rust", "Stomata close")
    judgement = judged(audited(origin).rows[1], "supported", origin)
    row = joined(text.format(before, "rot", after), judgement)[1]
    is_elsewhere = (before, after) == ("Warm walls lean", "Mouths open")
    assert (row.outdated_judgement is None) == is_elsewhere


def test_a_changed_source_takes_its_judgements_out_of_date_and_says_so() -> None:
    rows = audited().rows
    other = make_document("leaf", ["Stomata close when the air around a leaf is humid."])
    now = joined(
        TEXT, judged(rows[0], "unsupported"), judged(rows[1], "supported"), documents=(ROOFS, other)
    )
    assert statuses(now)[:2] == ["MISSING", "MISSING"]
    assert now[0].person is not None
    assert now[1].person is None
    assert "but `leaf` has changed since" in (now[1].outdated_judgement or "")


def test_two_citations_of_one_document_in_a_sentence_are_judged_apart() -> None:
    text = "Roofs are cool {#roofs, p. 1}. Roofs are cool {#roofs, p. 7}.\n"
    first, second = audited(text).rows
    assert citation_of(first) != citation_of(second)
    assert statuses(joined(text, judged(second, "needs_work", text)))[0] == first.status


def test_counts_order_and_report_follow_the_person() -> None:
    audit = audited()
    draft = parse_draft("chapter.md", TEXT.encode())
    kept = Judgements((judged(audit.rows[0], "unsupported", comment="<b>no</b> `x` | y"),))
    rows = join_judgements(audit.rows, kept, draft)
    now = replace(audit, rows=rows)
    assert now.counts == {"OK": 1, "WEAK": 0, "MISSING": 2, "ERROR": 0}
    assert now.by_urgency[0].number == 1
    page = render_markdown(now)
    assert "**MISSING**" in page
    assert "The machine says OK" in page
    assert "<b>no</b>" not in page
    ids = {identify_audit("d", "similarity", 1, each) for each in (audit.rows, rows)}
    assert len(ids) == 2


def test_what_cannot_be_decided_is_refused() -> None:
    row = audited().rows[0]
    with pytest.raises(UsageError, match="nothing has read the passage"):
        judged(replace(row, reason_code="unread"), "accepted")
    with pytest.raises(UsageError, match="means no document"):
        judged(replace(row, status="ERROR"), "supported")
    with pytest.raises(UsageError, match="'by' must say who judges"):
        judged(row, "supported", by=" \x1b[31m ")
    with pytest.raises(UsageError, match="at most 4000 characters, got 4001"):
        judged(row, "supported", comment="x" * 4001)


def test_a_judged_error_stays_an_error() -> None:
    text = "Nobody wrote this {#nobody}.\n"
    (row,) = audited(text).rows
    (now,) = joined(text, judged(row, "needs_work", text))
    assert (now.status, now.person and now.person.decision) == ("ERROR", "needs_work")


def test_judgements_are_readable_lines_that_come_back(workspace: Workspace) -> None:
    row = audited().rows[1]
    one = judged(row, "supported", comment="见第\u20289页", by="安娜")
    assert append_judgement(workspace, one, seen=0).number == 1
    assert append_judgement(workspace, replace(one, decision="withdrawn"), seen=1).number == 2
    (first, second) = judgements_of(workspace).every
    assert (first, second) == (one, replace(one, decision="withdrawn"))
    lines = workspace.judgement_journal.read_text(encoding="utf-8").split("\n")
    assert len(lines) == 3
    assert "安娜" in lines[0]
    assert json.loads(lines[0])["content_version"] == row.content_version


def test_who_has_not_seen_the_last_judgement_is_told_and_keeps_nothing(
    workspace: Workspace,
) -> None:
    row = audited().rows[1]
    append_judgement(workspace, judged(row, "supported", comment="p. 4"), seen=0)
    with pytest.raises(ChangedMeanwhileError, match=r"Ana has judged .*supported, .*: p\. 4\)"):
        append_judgement(workspace, judged(row, "unsupported", by="Bo"), seen=0)
    assert [one.by for one in judgements_of(workspace).every] == ["Ana"]
    append_judgement(workspace, judged(audited().rows[0], "unsupported", by="Bo"), seen=0)


def test_a_torn_last_line_is_told_and_does_not_eat_the_next(workspace: Workspace) -> None:
    rows = audited().rows
    append_judgement(workspace, judged(rows[0], "supported"))
    append_judgement(workspace, judged(rows[1], "supported"))
    path = workspace.judgement_journal
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    for length in (first + 1, first + 40, len(whole) - 1):
        path.write_bytes(whole[:length])
        assert len(read_judgements(path).every) == 1
        assert "half-written" in (torn_judgement(workspace) or "")
        told: list[str] = []
        append_judgement(workspace, judged(rows[2], "needs_work"), notify=told.append)
        assert ["half-written" in one for one in told] == [True]
        assert [one.decision for one in read_judgements(path).every] == ["supported", "needs_work"]
        assert torn_judgement(workspace) is None


@pytest.mark.parametrize("line", [b"{}", b"null", b"\xff", b'{"by": "Ana"}', b"[" * 100_000])
def test_a_damaged_line_in_the_middle_is_named_and_nothing_is_changed(
    workspace: Workspace, line: bytes
) -> None:
    row = audited().rows[0]
    append_judgement(workspace, judged(row, "supported"))
    path = workspace.judgement_journal
    path.write_bytes(path.read_bytes() + line + b"\n" + path.read_bytes())
    before = path.read_bytes()
    with pytest.raises(DamagedFileError, match="line 2"):
        append_judgement(workspace, judged(row, "needs_work"))
    assert path.read_bytes() == before


def test_a_line_with_an_unknown_field_is_no_judgement(workspace: Workspace) -> None:
    append_judgement(workspace, judged(audited().rows[0], "supported"))
    path = workspace.judgement_journal
    path.write_text(json.dumps(json.loads(path.read_text()) | {"mood": "good"}) + "\n")
    with pytest.raises(DamagedFileError, match=r"line 1.*other fields"):
        read_judgements(path)


def _judge_in_turns(root: str, by: str, count: int) -> None:
    """Judge one citation again and again, each time having seen the last judgement."""
    workspace = Workspace.open(root)
    row = audited().rows[0]
    while count:
        seen = len(judgements_of(workspace).every)
        try:
            append_judgement(
                workspace, judged(row, "supported", by=by, comment=f"{seen}"), seen=seen
            )
        except ChangedMeanwhileError:
            continue
        count -= 1


def test_of_two_processes_at_once_none_is_lost_and_none_overrides_unseen(
    workspace: Workspace,
) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [
        context.Process(target=_judge_in_turns, args=(str(workspace.root), by, 100))
        for by in ("Ana", "Bo")
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    kept = judgements_of(workspace).every
    assert sorted(one.by for one in kept) == ["Ana"] * 100 + ["Bo"] * 100
    assert [one.comment for one in kept] == [str(number) for number in range(200)]


def test_a_killed_writer_leaves_a_readable_journal(workspace: Workspace) -> None:
    """Killed between the bytes of a line: what was kept before is there, the next one is too."""
    row = audited().rows[0]
    append_judgement(workspace, judged(row, "supported"))
    script = f"""
import io, os, signal
from pathlib import Path
from rag_assets.workspace import Workspace
from rag_assets_tests.auditing.test_judgements import audited, judged, append_judgement
opened = Path.open
def dying(self, mode="r", *args, **kwargs):
    handle = opened(self, mode, *args, **kwargs)
    if mode != "ab":
        return handle
    class Half:
        def __enter__(self): return self
        def __exit__(self, *_): return None
        def write(self, data):
            handle.write(data[: len(data) // 2]); handle.flush(); os.fsync(handle.fileno())
            os.kill(os.getpid(), signal.SIGKILL)
    return Half()
Path.open = dying
append_judgement(Workspace.open({str(workspace.root)!r}), judged(audited().rows[1], "supported"))
"""
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=Path(__file__).parents[2], env=os.environ, check=False
    )
    assert ran.returncode == -signal.SIGKILL
    assert [one.decision for one in judgements_of(workspace).every] == ["supported"]
    assert torn_judgement(workspace) is not None
    append_judgement(workspace, judged(audited().rows[1], "needs_work"))
    assert [one.decision for one in judgements_of(workspace).every] == ["supported", "needs_work"]
