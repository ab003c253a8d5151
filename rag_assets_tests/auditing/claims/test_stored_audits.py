"""Claim audits in a workspace: files, versions, what is kept, the page, drafts from Word."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import jsonschema
import pytest

from rag_assets.auditing import (
    AuditOutcome,
    audit_citations,
    audit_schema,
    draft_key,
    find_drafts,
    list_drafts,
    read_draft,
)
from rag_assets.auditing.claims import ClaimAudit
from rag_assets.auditing.storing import audit_claims
from rag_assets.model import PublicationError, UsageError
from rag_assets.workspace import Workspace
from rag_assets_tests.libraries import HASHING, build, make_workspace
from rag_assets_tests.parsing.made_up_office import (
    in_paragraph,
    make_docx,
    word_cell,
    word_paragraph,
    word_row,
    word_run,
    word_table,
)

FILES: dict[str, str | bytes] = {
    "evidence/roofs.md": "# Roofs\n\nA green roof was 7 degrees cooler than bitumen at noon. Roofs "
    "<b>need</b> water in July.\n",
    "evidence/树荫.md": "# 树荫\n\n行道树使行人感到凉爽。正午的地面温度下降了九度。\n",
    "instruction/guidance/rubric.md": "# Rubric\n\nRoofs should always be planted by all.\n",
}
DRAFT = """---
namespaces: [thesis]
---
# On <roofs>

A green roof was 7 degrees cooler than bitumen at noon. It may help. So it is {#roofs}.

Roofs should always be planted by all & sundry. <script>alert(1)</script>

行道树使行人感到凉爽。{#树荫}
"""
SETTINGS = {**HASHING, "verify": {"scorer": "similarity"}}


@pytest.fixture(scope="module")
def thesis(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    workspace = make_workspace(tmp_path_factory.mktemp("claims") / "论文", FILES, SETTINGS)
    build(workspace.namespace("thesis"))
    return workspace


def audited(thesis: Workspace, name: str, content: str | bytes) -> AuditOutcome[ClaimAudit]:
    path = thesis.drafts / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return audit_claims(thesis, path)


class _Reading(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.open: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        for name, value in attrs:
            if name in {"href", "src"}:
                self.links.append(value or "")
            if name == "id":
                self.ids.append(value or "")

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def read_page(path: Path) -> _Reading:
    reading = _Reading()
    reading.feed(path.read_text(encoding="utf-8"))
    return reading


def test_an_audit_is_three_files_with_the_specified_names(thesis: Workspace) -> None:
    outcome = audited(thesis, "chapter.md", DRAFT)
    assert outcome.is_new
    folder = thesis.outputs / "audits"
    assert outcome.markdown == folder / "chapter_claims_v001.md"
    assert (outcome.json.name, outcome.html.name) == (
        "chapter_claims_v001.json",
        "chapter_claims_v001.html",
    )
    log = (thesis.meta / "version_log.jsonl").read_text(encoding="utf-8")
    assert "outputs/audits/chapter_claims_v001.md" in log
    assert {row.status for row in outcome.audit.rows} == {"SUPPORTED", "EVIDENCE_NEEDED"}
    assert 0 not in outcome.audit.exempt.values()


def test_the_same_draft_is_the_same_version_and_nothing_is_done_again(thesis: Workspace) -> None:
    first = audited(thesis, "again.md", DRAFT)
    second = audit_claims(thesis, thesis.drafts / "again.md")
    assert (second.is_new, second.json) == (False, first.json)
    assert (second.audit.searched_now, second.audit.judged_now) == (0, 0)
    third = audited(thesis, "again.md", DRAFT + "\nEvery flat roof leaks.\n")
    assert third.json.name == "again_claims_v002.json"
    assert third.audit.searched_now == 1


def test_instructions_are_never_suggested(thesis: Workspace) -> None:
    outcome = audited(thesis, "guided.md", DRAFT)
    row = next(row for row in outcome.audit.rows if row.status == "EVIDENCE_NEEDED")
    found = [passage.doc_uid for query in row.suggested_queries for passage in query.found]
    assert "rubric" not in found


def test_the_json_follows_the_published_schema(thesis: Workspace) -> None:
    outcome = audited(thesis, "schema.md", DRAFT)
    schema = Path(__file__).parents[3] / "docs/schemas/claim_audit.schema.json"
    stored = json.loads(outcome.json.read_text(encoding="utf-8"))
    jsonschema.validate(stored, json.loads(schema.read_text(encoding="utf-8")))
    assert stored["schema"] == "rag-assets/claim-audit/6"
    del stored["rows"][0]["claim_id"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(stored, json.loads(schema.read_text(encoding="utf-8")))


def test_the_page_shows_the_draft_and_asks_nothing_of_the_network(thesis: Workspace) -> None:
    outcome = audited(thesis, "page.md", DRAFT)
    reading = read_page(outcome.html)
    text = " ".join("".join(reading.words).split())
    assert "On <roofs>" in text
    assert "planted by all & sundry" in text
    assert "script" not in reading.open
    assert reading.open.count("details") == len(outcome.audit.rows)
    assert all(link.startswith("#") for link in reading.links)
    assert {link[1:] for link in reading.links} <= set(reading.ids)
    page = outcome.html.read_text(encoding="utf-8")
    assert "url(" not in page
    assert "@import" not in page
    assert "prefers-color-scheme: dark" in page
    assert "namespaces" not in text.split("Where this comes from", maxsplit=1)[0]


def test_the_page_of_citations_marks_the_quoted_sentence(thesis: Workspace) -> None:
    path = thesis.drafts / "cited.md"
    path.write_text(
        "A green roof was 7 degrees cooler than bitumen at noon {#roofs}.", encoding="utf-8"
    )
    page = audit_citations(thesis, path).html.read_text(encoding="utf-8")
    assert "<mark>A green roof was 7 degrees cooler than bitumen at noon.</mark>" in page
    assert "&lt;b&gt;" in page or "<b>need" not in page


def test_a_draft_from_word_is_audited_with_its_footnotes_and_tables(thesis: Workspace) -> None:
    pointing = word_run("<w:t>Roofs always leak in autumn.</w:t>") + word_run(
        '<w:footnoteReference w:id="2"/>'
    )
    body = (
        word_paragraph("Roofs", "Heading1")
        + word_paragraph(
            "A green roof was 7 degrees cooler than bitumen at noon. So it is {#roofs}."
        )
        + in_paragraph(pointing)
        + word_table(
            word_row(word_cell("what"), word_cell("how much")),
            word_row(word_cell("trees"), word_cell("streets are cooler by 45 %")),
        )
    )
    note = (
        "<w:footnote w:id='2'><w:p><w:r><w:t>See the notes {#roofs}.</w:t></w:r></w:p></w:footnote>"
    )
    outcome = audited(thesis, "kapitel.docx", make_docx(body, {"footnotes": note}))
    found = {row.claim_text: row for row in outcome.audit.rows}
    cooler = found["A green roof was 7 degrees cooler than bitumen at noon."]
    assert (cooler.status, cooler.section) == ("SUPPORTED", "Roofs")
    assert outcome.audit.cited == 1  # by its footnote
    assert "Roofs always leak in autumn." not in found
    assert any("45 %" in text for text in found)
    assert cooler.line == 2  # the second paragraph
    streets = next(row for text, row in found.items() if "45 %" in text)
    assert streets.status != "SUPPORTED"
    assert f"paragraph {streets.line}, " in outcome.markdown.read_text("utf-8")
    assert f"· paragraph {streets.line} ·" in outcome.html.read_text("utf-8")
    assert "\n" not in repr(outcome)
    assert len(repr(outcome)) < 600
    assert thesis.drafts / "kapitel.docx" in list_drafts(thesis)
    [found] = find_drafts(thesis, draft_key(thesis.drafts / "kapitel.docx"))
    assert found.name == "kapitel.docx"


def test_marks_that_a_writer_typed_in_word_are_not_read_as_markdown(tmp_path: Path) -> None:
    draft = tmp_path / "draft.docx"
    body = word_paragraph("# 1. A * star and a_line {#some_uid_here}") + word_paragraph("2. Two")
    draft.write_bytes(make_docx(body))
    first, second = read_draft(draft).all_sentences
    assert first.claim == "# 1. A * star and a_line"
    assert [citation.label for citation in first.citations] == ["some_uid_here"]
    assert second.claim == "2. Two"


def test_a_damaged_word_file_is_refused_with_a_reason(tmp_path: Path) -> None:
    draft = tmp_path / "draft.docx"
    draft.write_bytes(b"PK\x03\x04 no more")
    with pytest.raises(UsageError, match=re.escape("draft.docx: the draft cannot be read")):
        read_draft(draft)


def test_without_a_publication_there_is_no_audit(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path / "w", {}, SETTINGS)
    (workspace.drafts / "a.md").write_text("All roofs leak in autumn.", encoding="utf-8")
    with pytest.raises(PublicationError):
        audit_claims(workspace, workspace.drafts / "a.md")


def test_the_published_schema_is_that_of_the_types() -> None:
    """docs/schemas/claim_audit.schema.json is made of the types."""
    published = Path(__file__).parents[3] / "docs/schemas/claim_audit.schema.json"
    assert json.loads(published.read_text(encoding="utf-8")) == audit_schema(ClaimAudit)


def test_named_namespaces_take_the_place_of_the_front_matter(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path / "w", FILES, SETTINGS)
    law = workspace.root / "law" / "evidence"
    law.mkdir(parents=True)
    (law / "roofs-act.md").write_text("# Act\n\nAll flat roofs shall be planted.\n", "utf-8")
    (workspace.root / "namespaces" / "law.yaml").write_text("raw: [law]\n", "utf-8")
    workspace = Workspace.open(workspace.root)
    for name in ("thesis", "law"):
        build(workspace.namespace(name))
    draft = workspace.drafts / "act.md"
    draft.write_text(
        "---\nnamespaces: [thesis]\n---\nAll flat roofs shall be planted. "
        "All flat roofs shall be planted {#roofs-act}.\n",
        "utf-8",
    )
    for names, status in (((), "ERROR"), (("law",), "OK"), (("law", "thesis"), "OK")):
        (claim,) = audit_claims(workspace, draft, namespaces=names).audit.rows
        (citation,) = audit_citations(workspace, draft, namespaces=names).audit.rows
        assert [item.verdict.status for item in claim.linked_evidence] == [status]
        assert citation.status == status
