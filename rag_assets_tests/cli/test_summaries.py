"""What is printed of packs and audits fits a terminal, in every script."""

from dataclasses import replace

import pytest
from rich.cells import cell_len

from rag_assets.auditing.claims import ClaimAudit, ClaimRow, ClaimStatus
from rag_assets.cli.building import _told
from rag_assets.cli.summaries import _wrapped, summarise_claims

CHINESE = (
    "覆盖率在50%以上的两条街道，夜间平均风速比覆盖率在20%以下的两条街道低28%，气温偏高0.4 °C。"
)
TEXTS = [
    "line 10: WEAK 0.77, {#green-roofs-2024}, p. 2 " + "a word of some length " * 12,
    f"   source: “{CHINESE * 2}”",
    "   → " + "mixed 文字 and words " * 14,
]


@pytest.mark.parametrize("columns", ["40", "72", "300"])
@pytest.mark.parametrize("text", TEXTS, ids=["latin", "chinese", "both"])
def test_no_line_is_wider_than_the_terminal(
    monkeypatch: pytest.MonkeyPatch, text: str, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    lines = _wrapped(text, "   ")
    assert max(map(cell_len, lines)) <= min(max(int(columns), 60), 100)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(line.startswith("   ") for line in lines[1:])


def test_a_word_that_fits_no_line_stands_alone() -> None:
    assert _wrapped(f"see {'x' * 120} there", "  ") == ["see", f"  {'x' * 120}", "  there"]


def test_a_claim_audit_shows_what_is_most_urgent_first() -> None:
    def row(line: int, urgency: int, status: ClaimStatus = "EVIDENCE_NEEDED") -> ClaimRow:
        return ClaimRow(
            claim_id=str(line), line=line, start=0, end=1, section="", sentence="Trees cool.",
            claim_text="Trees cool.", claim_type="causal", claim_types=("causal",), cue="",
            linked_evidence=(), status=status, reason="It cites nothing.", suggested_queries=(),
            counterevidence=(), urgency=urgency,
        )  # fmt: skip

    audit = ClaimAudit(
        audit_id="", draft_name="a.md", draft_digest="", sentences=3, cited=0, exempt={},
        publications={}, scorer="auto", scorer_fingerprints={}, counterevidence="off",
        rows=(row(1, 5), row(2, 0), row(3, 5, "SUPPORTED")), sources_used=(),
        warnings=("No model reads.",),
    )  # fmt: skip
    shown = summarise_claims(audit).splitlines()
    assert shown[0] == "a.md: 2 EVIDENCE_NEEDED, 1 SUPPORTED"
    assert [line.split(":")[0] for line in shown if line.startswith("line")] == ["line 2", "line 1"]
    assert shown[-1] == "note: No model reads."

    shown = summarise_claims(replace(audit, draft_name="a.docx"))
    assert "paragraph 2: EVIDENCE_NEEDED" in shown


def test_lines_of_an_ingest_say_what_a_person_wants_to_know() -> None:
    figures: dict[str, float | str] = {
        "documents": 3, "embeddings": 65, "encoded by a": 60, "looked up for a": 5,
        "not readable by a": 0, "encoded by b": 3, "looked up for b": 31, "not readable by b": 31,
        "computed": 3, "seconds": 0.4,
    }  # fmt: skip
    assert _told("embeddings", figures) == (
        "65 passages, 63 vectors made now, 0.4 s; 31 passages in words that b does not know: "
        "found by words and other models"
    )
    parsed: dict[str, float | str] = {
        "documents": 3, "failed": 0, "pages": 9, "characters": 900, "textless_pages": 0,
        "computed": 2, "seconds": 1.5,
    }  # fmt: skip
    assert _told("parse_reports", parsed) == "3 documents, 9 pages, 2 updated, 1.5 s"
    assert _told("parse_reports", {**parsed, "failed": 1}).startswith("3 documents, 1 could not")
    assert _told("raw_files", {"documents": 3, "bytes": 90}) == ""
