"""Verdicts over a real workspace: kept, stale, made again, undisturbed by files nobody cites."""

import dataclasses
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rag_assets.auditing import CitationVerdict, audit_citations, draft_key, find_drafts
from rag_assets.auditing.staleness import stale_verdicts
from rag_assets.embedding import HashingEmbedder
from rag_assets.model import UsageError
from rag_assets.tracing import trace
from rag_assets.workspace import Namespace, Workspace, add_namespace
from rag_assets_tests.laws.driver import build, make_workspace, put

ROOFS = "# Roofs\n\nCool roofs reflect sunlight and stay cooler than dark ones.\n"
LEAF = "# Leaves\n\nStomata close when the air around a leaf is dry.\n"
BRIDGES = "Bridges need fresh paint every decade, since salt eats their steel."
DRAFT = (
    "Cool roofs reflect sunlight and stay cooler {#roofs}.\n\n"
    "Stomata close when the air is dry {#leaf}. Roofs stay cooler than dark ones {#roofs}.\n"
)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    workspace = make_workspace(tmp_path / "library")
    settings = "verify:\n  scorer: similarity\n"
    with (workspace.root / "config.yaml").open("a", encoding="utf-8") as config:
        config.write(settings)
    workspace = Workspace.open(workspace.root)
    put(workspace, "evidence/roofs.md", ROOFS)
    put(workspace, "evidence/leaf.md", LEAF)
    build(workspace.namespace("lib"))
    (workspace.drafts / "chapter.md").write_text(DRAFT, encoding="utf-8")
    return workspace


def library(workspace: Workspace) -> Namespace:
    return workspace.namespace("lib")


@contextmanager
def count_queries() -> Iterator[list[str]]:
    """Yield a list that grows by every sentence that is encoded."""
    seen: list[str] = []
    original = HashingEmbedder.encode_queries

    def encode_queries(self: HashingEmbedder, texts: Sequence[str]) -> NDArray[np.float32]:
        seen.extend(texts)
        return original(self, texts)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HashingEmbedder, "encode_queries", encode_queries)
        yield seen


def outputs(workspace: Workspace) -> list[str]:
    return sorted(path.name for path in (workspace.outputs / "audits").iterdir())


def draft_of(workspace: Workspace) -> Path:
    return workspace.drafts / "chapter.md"


def test_second_run_encodes_judges_and_writes_nothing(workspace: Workspace) -> None:
    first = audit_citations(workspace, draft_of(workspace))
    assert (first.judged, first.is_new) == (3, True)
    with count_queries() as encoded:
        second = audit_citations(workspace, draft_of(workspace))
    assert (second.judged, second.is_new, encoded) == (0, False, [])
    assert outputs(workspace) == [f"chapter_citations_v001.{s}" for s in ("html", "json", "md")]


def test_verdict_names_the_bytes_and_the_text_that_it_judged(workspace: Workspace) -> None:
    from rag_assets.model import hash_bytes

    row = audit_citations(workspace, draft_of(workspace)).audit.rows[0]
    assert row.content_version == hash_bytes(ROOFS.encode())
    assert row.text_digest
    assert row.scorer_fingerprint


def test_unrelated_file_makes_no_new_version_and_no_verdict_stale(workspace: Workspace) -> None:
    first = audit_citations(workspace, draft_of(workspace))
    put(workspace, "evidence/other.md", "# Bridges\n\nBridges need paint every decade.\n")
    build(library(workspace))
    assert list(stale_verdicts(workspace)) == []
    second = audit_citations(workspace, draft_of(workspace))
    assert (second.judged, second.is_new) == (0, False)
    assert second.audit.rows == first.audit.rows


def test_changed_source_makes_exactly_its_verdicts_stale_and_those_are_judged_again(
    workspace: Workspace,
) -> None:
    first = audit_citations(workspace, draft_of(workspace))
    assert list(stale_verdicts(workspace)) == []
    put(workspace, "evidence/leaf.md", LEAF.replace("dry", "humid"))
    build(library(workspace))
    (told,) = stale_verdicts(workspace)
    assert told.startswith("drafts/chapter.md, line 3: `leaf` has changed since it was judged.")
    assert "rag verify-citations drafts/chapter.md" in told
    second = audit_citations(workspace, draft_of(workspace))
    assert (second.judged, second.is_new) == (1, True)
    assert second.audit.rows[0] == first.audit.rows[0]
    assert second.audit.rows[2] == first.audit.rows[2]
    assert list(stale_verdicts(workspace)) == []


def test_removed_source_is_told(workspace: Workspace) -> None:
    audit_citations(workspace, draft_of(workspace))
    (workspace.root / "raw/evidence/leaf.md").unlink()
    build(library(workspace))
    (told,) = stale_verdicts(workspace)
    assert "`leaf` was removed: raw/evidence/leaf.md (“Leaves”) has been missing" in told


def test_edited_draft_has_no_stale_verdicts_until_it_is_judged(workspace: Workspace) -> None:
    audit_citations(workspace, draft_of(workspace))
    put(workspace, "evidence/leaf.md", LEAF.replace("dry", "humid"))
    build(library(workspace))
    draft_of(workspace).write_text(DRAFT + "More.\n", encoding="utf-8")
    assert list(stale_verdicts(workspace)) == []


def test_check_warns_of_stale_verdicts(workspace: Workspace) -> None:
    import dagster as dg

    from rag_assets.defs.checks.workspace import build_workspace_checks

    audit_citations(workspace, draft_of(workspace))
    put(workspace, "evidence/leaf.md", LEAF.replace("dry", "humid"))
    build(library(workspace))
    (check,) = [
        check
        for check in build_workspace_checks(workspace)
        if check.check_key.name == "verdicts_are_current"
    ]
    result = check()
    assert isinstance(result, dg.AssetCheckResult)
    assert not result.passed
    assert result.severity == dg.AssetCheckSeverity.WARN


def test_lost_store_gives_the_same_verdicts(workspace: Workspace) -> None:
    first = audit_citations(workspace, draft_of(workspace))
    (workspace.root / "data/citation_audits/judgements.jsonl").unlink()
    second = audit_citations(workspace, draft_of(workspace))
    assert (second.judged, second.is_new) == (3, False)
    assert second.audit == first.audit


def test_stored_audit_is_what_was_found(workspace: Workspace) -> None:
    outcome = audit_citations(workspace, draft_of(workspace))
    stored = json.loads(outcome.json.read_text(encoding="utf-8"))
    assert [row["text_digest"] for row in stored["rows"]] == [
        row.text_digest for row in outcome.audit.rows
    ]
    assert "judged_now" not in stored
    assert dataclasses.asdict(outcome.audit)["rows"]


@pytest.mark.slow
def test_a_thousand_unrelated_files_change_no_verdict(workspace: Workspace) -> None:
    first = audit_citations(workspace, draft_of(workspace))
    for number in range(1000):
        text = f"Roofs and leaves number {number} stay cooler when the air is dry."
        put(workspace, f"evidence/more/note-{number}.txt", text)
    build(library(workspace))
    (workspace.root / "data/citation_audits/judgements.jsonl").unlink()
    second = audit_citations(workspace, draft_of(workspace))
    assert second.judged == 3
    assert second.audit.rows == first.audit.rows
    assert not second.is_new


def write_pdf(workspace: Workspace, pages: list[str]) -> None:
    import pymupdf

    document: Any = pymupdf.open()  # type: ignore[no-untyped-call]
    for text in pages:
        document.new_page().insert_textbox((72, 72, 400, 700), text, fontsize=11)
    put(workspace, "evidence/paper.pdf", document.tobytes())


def test_quote_of_a_page_is_located_by_rectangles_of_its_own_lines(workspace: Workspace) -> None:
    write_pdf(
        workspace,
        [
            "Introduction to the matter.\n\nNothing is said here about anything of interest.",
            f"{BRIDGES}\n\nHarbours silt up within a century where rivers carry clay.",
        ],
    )
    build(library(workspace))
    draft_of(workspace).write_text("Harbours silt up within a century {#paper, p. 2}.\n")
    (row,) = audit_citations(workspace, draft_of(workspace)).audit.rows
    assert (row.locator, row.locator_quality) == ("p. 2", "page_box")
    assert row.quote is not None
    assert row.quote.startswith("Harbours")
    (box,) = row.boxes
    assert box.page == 2
    (paint,) = audit_of_text(workspace, "Bridges need fresh paint every decade {#paper}.")
    assert paint.boxes[0].y1 <= box.y0  # the lines of the sentence, not of the passage


def audit_of_text(workspace: Workspace, text: str) -> tuple[CitationVerdict, ...]:
    draft_of(workspace).write_text(text, encoding="utf-8")
    return audit_citations(workspace, draft_of(workspace)).audit.rows


def test_list_of_references_supports_nothing(workspace: Workspace) -> None:
    put(
        workspace,
        "evidence/review.md",
        "# Review\n\nWe looked at towns.\n\n# References\n\n"
        "1. Smith, A. (2001). Penguins breed on the Antarctic ice. Polar Journal, 3, 12–19.\n\n"
        "2. Lee, B. (2002). Whales sing at night in the northern sea. Polar Journal, 4, 1–9.\n",
    )
    build(library(workspace))
    (row,) = audit_of_text(workspace, "Penguins breed on the Antarctic ice {#review}.")
    assert row.status == "MISSING"
    assert "Penguins" not in (row.passage or "")


def test_key_of_a_sidecar_is_found(workspace: Workspace) -> None:
    from rag_assets_tests.laws.driver import put_sidecar

    put_sidecar(workspace, "evidence/roofs.md", citation_key="Akbari2001")
    build(library(workspace))
    (row,) = audit_of_text(workspace, "Cool roofs reflect sunlight [@Akbari2001].")
    assert (row.doc_uid, row.status) == ("roofs", "OK")


def test_an_error_is_stale_when_its_document_has_come(workspace: Workspace) -> None:
    draft = draft_of(workspace)
    draft.write_text("Bridges need fresh paint every decade {#bridges}.\n", encoding="utf-8")
    assert audit_citations(workspace, draft).audit.rows[0].status == "ERROR"
    assert list(stale_verdicts(workspace)) == []
    put(workspace, "evidence/bridges.md", f"# Bridges\n\n{BRIDGES}\n")
    build(library(workspace))
    (told,) = stale_verdicts(workspace)
    assert "`bridges` names a document that may be cited now" in told
    assert audit_citations(workspace, draft).audit.rows[0].status != "ERROR"
    assert list(stale_verdicts(workspace)) == []


def test_what_a_draft_shuts_out_does_not_become_stale(workspace: Workspace) -> None:
    """A document of a namespace that the front matter does not name stays an error."""
    draft = draft_of(workspace)
    add_namespace(workspace, "papers", ("raw/papers",), "papers")
    both = Workspace.open(workspace.root)
    put(both, "papers/bridges.md", f"# Bridges\n\n{BRIDGES}\n")
    build(both.namespace("papers"))
    text = "Bridges need fresh paint every decade {#bridges}.\n"
    draft.write_text(f"---\nnamespaces: [{library(both).name}]\n---\n{text}", encoding="utf-8")
    assert audit_citations(both, draft).audit.rows[0].status == "ERROR"
    assert list(stale_verdicts(both)) == []


def test_drafts_of_one_name_in_two_folders_have_audits_of_their_own(workspace: Workspace) -> None:
    for folder, text in (("a", "Roofs stay cooler {#roofs}."), ("b", "Stomata close {#leaf}.")):
        (workspace.drafts / folder).mkdir()
        draft = workspace.drafts / folder / "intro.md"
        draft.write_text(text + "\n", encoding="utf-8")
        audit_citations(workspace, draft)
    assert outputs(workspace) == [
        f"{folder}--intro_citations_v001.{suffix}"
        for folder in "ab"
        for suffix in ("html", "json", "md")
    ]
    for folder, uid in (("a", "roofs"), ("b", "leaf")):
        (chain,) = trace(workspace, f"drafts/{folder}/intro.md")
        assert next(step.name for step in chain.steps if step.kind == "parse") == uid


def test_a_file_of_another_type_among_the_drafts_is_told_what_a_draft_is(
    workspace: Workspace,
) -> None:
    path = workspace.drafts / "thesis.rst"
    path.write_text("Roofs stay cooler {#roofs}.\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"thesis\.rst is no draft: .*\.md, .*\.docx"):
        find_drafts(workspace, draft_key(path))
