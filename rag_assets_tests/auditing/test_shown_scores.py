"""A score is shown alike wherever it is shown: two decimals, rounded down."""

import re
from pathlib import Path

import pytest

from rag_assets.auditing import AuditOutcome, CitationAudit, audit_citations
from rag_assets.defs.assets.audits import citations_metadata
from rag_assets.tracing import trace
from rag_assets.tracing.chain import render_chain
from rag_assets.workspace import Workspace
from rag_assets_tests.libraries import HASHING, build, make_workspace

# Seven of the eight words are alike: 0.875, which is shown as 0.87 and not as 0.88.
SOURCE = "# Towns\n\nGreen roofs cool crowded noisy towns during summers.\n"
DRAFT = "Green roofs cool crowded noisy towns during winters {#towns}.\n"
SETTINGS = {**HASHING, "verify": {"scorer": "similarity", "threshold": 0.9}}


Audited = tuple[Workspace, AuditOutcome[CitationAudit]]


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Audited:
    workspace = make_workspace(
        tmp_path_factory.mktemp("scores"), {"evidence/towns.md": SOURCE}, SETTINGS
    )
    build(workspace.namespace("thesis"))
    (workspace.drafts / "chapter.md").write_text(DRAFT, encoding="utf-8")
    outcome = audit_citations(workspace, workspace.drafts / "chapter.md")
    assert outcome.audit.rows[0].score == pytest.approx(7 / 8, abs=1e-6)
    return workspace, outcome


def shown(text: str) -> set[str]:
    """Return every form in which the score stands in a text."""
    return set(re.findall(r"0\.8[78]\b|8[78] ?%|0\.875", text))


def test_pages_show_one_score(audited: Audited) -> None:
    _, outcome = audited
    for page in (outcome.markdown, outcome.html):
        assert shown(page.read_text(encoding="utf-8")) == {"0.87"}, page.name
    assert "(similarity 0.87; OK from 0.90)" in outcome.audit.rows[0].reason


def test_the_dagster_table_shows_the_same(audited: Audited) -> None:
    table = citations_metadata(*audited)["table"]
    assert [record.data["score"] for record in table.records] == ["0.87"]


def test_a_trace_shows_the_same(audited: Audited) -> None:
    workspace, _ = audited
    (chain,) = trace(workspace, "drafts/chapter.md")
    assert shown(render_chain(chain)) == {"0.87"}
    # What programs read is the score itself.
    assert chain.steps[0].facts["score"] == pytest.approx(7 / 8, abs=1e-6)


def test_no_module_rounds_a_score_by_itself() -> None:
    import rag_assets

    package = Path(rag_assets.__file__).parent
    own = package / "judging" / "contract.py"
    found = [
        f"{path.relative_to(package)}: {match[0]}"
        for path in package.rglob("*.py")
        if path != own and path.parent.name != "evaluation"
        for match in re.finditer(
            r"\{[^{}]*(?:score|threshold|probability)[^{}]*:\.[0-2][f%]\}", path.read_text("utf-8")
        )
    ]
    assert found == []
