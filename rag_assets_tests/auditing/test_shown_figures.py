"""Where a picture stands a person is shown its name, never the reference in the clean text."""

from dataclasses import replace

import pytest

from rag_assets.auditing import CitationAudit, parse_draft, render_markdown
from rag_assets.auditing.pages import render_citation_html, show_verdict
from rag_assets.model import FIGURE, show_figures

from .world import audit_of, make_document

TEXT = "Wages rose by three percent {#wages}.\n"
PASSAGE = (
    "![Figure 3](attachment:fig-003)\n\nFigure 3: Wages by year\n\nWages rose by three percent. "
    "![](attachment:img-001) Rents fell."
)


@pytest.fixture
def audit() -> CitationAudit:
    return audit_of(TEXT, [make_document("wages", [PASSAGE])])


def test_pages_of_an_audit_show_its_name(audit: CitationAudit) -> None:
    (row,) = audit.rows
    assert row.passage == PASSAGE  # as it stands in the clean text
    for status in ("OK", "WEAK"):
        shown = replace(audit, rows=(replace(row, status=status),))
        page = render_citation_html(parse_draft("chapter.md", TEXT.encode()), shown)
        assert "attachment:" not in page
        assert "[Figure 3]" in page
        assert "<mark>Wages rose by three percent.</mark> [picture] Rents fell." in page
        assert "attachment:" not in render_markdown(shown)


def test_the_mark_stays_on_the_quote(audit: CitationAudit) -> None:
    shown = show_verdict(audit.rows[0])
    assert shown.parts[1] == "Wages rose by three percent."


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("See ![Fig [3] a](attachment:fig-003).", "See [Fig [3] a]."),
        ("![](attachment:img-001)", "[picture]"),
        ("![a](b.png) stays", "![a](b.png) stays"),
    ],
)
def test_only_references_of_attachments_are_shown_by_name(text: str, shown: str) -> None:
    assert show_figures(text) == shown
    assert (FIGURE.search(text) is not None) == (shown != text)
