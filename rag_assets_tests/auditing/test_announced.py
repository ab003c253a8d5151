"""A cited protocol or proposal is told: it reports no results yet."""

import pytest

from rag_assets.auditing.announced import NO_RESULTS_YET, announces_only

from .world import audit_of, make_document

PLAN = [
    "Abstract. This protocol describes a trial of planted roofs.",
    "Sixty offices will be randomised to green or white roofs.",
    "Temperatures will be measured at noon. Data will be analysed by an independent team.",
    "Deviations from the protocol will be reported.",
]
REPORT = [
    "Abstract. We compared planted roofs by a protocol of measurements.",
    "Sixty offices were randomised to green or white roofs. Temperatures were measured at noon.",
    "The protocol was kept. Results will be discussed below. More will be planned.",
]


def test_what_announces_is_told_from_what_reports() -> None:
    assert announces_only(make_document("plan", PLAN))
    assert not announces_only(make_document("report", REPORT))


def test_a_protocol_of_networks_is_none() -> None:
    text = (
        "The protocol elects a leader. Messages of this protocol will be resent. "
        "A vote will be counted once. " + "The leader sends a log entry to every server. " * 150
    )
    assert not announces_only(make_document("raft", [text], title="A consensus protocol"))


@pytest.mark.parametrize(("uid", "texts"), [("plan", PLAN), ("report", REPORT)])
def test_a_verdict_on_a_protocol_says_so(uid: str, texts: list[str]) -> None:
    audit = audit_of(
        f"Temperatures at noon were measured by a team {{#{uid}}}.", [make_document(uid, texts)]
    )
    (row,) = audit.rows
    assert (NO_RESULTS_YET in (row.scoring_note or "")) == (uid == "plan")
    assert any(NO_RESULTS_YET in warning for warning in audit.warnings) == (uid == "plan")
