"""`rag check`: a draft and a folder of sources, with no workspace before."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from rich.cells import cell_len

from rag_assets.auditing import CitationAudit, audit_from_json
from rag_assets.cli.main import build_cli
from rag_assets.cli.summaries import MOST_LINES, summarise_check
from rag_assets.workspace import Workspace

SAMPLES = Path(__file__).parents[2] / "samples"
LIST = "\n## References\n\nLee, A. (2021). Urban heat and trees. Journal of Trees, 3, 1-4.\n"


def rag(*arguments: object) -> Result:
    return CliRunner().invoke(build_cli(), [*map(str, arguments)], env={"COLUMNS": "80"})


@pytest.fixture(scope="module")
def thesis(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a chapter, its sources and a file that is none; checked once."""
    folder = tmp_path_factory.mktemp("my 论文")
    shutil.copytree(SAMPLES / "raw" / "evidence", folder / "papers")
    (folder / "papers" / "cut.pdf").write_bytes(b"%PDF-1.7\n")
    text = (SAMPLES / "drafts" / "thesis-chapter-2.md").read_text("utf-8")
    (folder / "chapter.md").write_text(f"{text}\nTrees cool (Lee, 2021).\n{LIST}", "utf-8")
    return folder


@pytest.fixture(scope="module")
def first(thesis: Path) -> Result:
    return rag("check", thesis / "chapter.md", thesis / "papers")


def test_what_needs_attention_comes_first_in_forty_lines(thesis: Path, first: Result) -> None:
    assert first.exit_code == 3, first.output
    head, *rest = first.stdout.splitlines()
    assert head.startswith("chapter.md: 24 citations: ")
    assert len(first.stdout.splitlines()) <= MOST_LINES
    assert max(map(cell_len, rest)) <= 80
    absent = next(line for line in rest if "Lee, A. (2021)" in line)
    assert absent.startswith("   line ")
    assert "papers/cut.pdf: " in first.stdout
    assert f"library: {thesis / '.rag' / 'papers'}" in first.stderr
    assert sorted(path.name for path in thesis.iterdir()) == [".rag", "chapter.md", "papers"]
    assert "dagster" not in first.stderr.lower()


def test_what_did_not_change_is_not_built_again(
    thesis: Path, first: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert first.exit_code == 3
    workspace = Workspace.open(thesis / ".rag" / "papers")

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a stage was run")

    with monkeypatch.context() as patch:
        patch.setattr("rag_assets.running.materialize_stages", refuse)
        again = rag("check", thesis / "chapter.md", thesis / "papers")
        assert again.stdout == first.stdout
        assert rag("check", thesis / "chapter.md").exit_code == 3, "the library is found again"
        assert rag("check", thesis / "papers" / "field-notes.md").exit_code == 3
        assert (workspace.drafts / "chapter.md").resolve() == (thesis / "chapter.md").resolve()
        patch.delenv("RAG_WORKSPACE", raising=False)  # a run in this process sets it
        patch.chdir(SAMPLES)
        alone = rag("check", SAMPLES / "README.md")
        assert (alone.exit_code, alone.stdout) == (3, "")
        assert "`rag check README.md papers/`" in alone.stderr
    (thesis / "papers" / "lee.md").write_text("# Urban heat and trees\n\nTrees cool.\n", "utf-8")
    ran = rag("check", thesis / "chapter.md", thesis / "papers", "--json")
    found = json.loads(ran.stdout)
    assert "not_in_library" not in {row["reason_code"] for row in found["audit"]["rows"]}


def test_rows_are_in_order_of_urgency_and_cut_to_the_limit(thesis: Path, first: Result) -> None:
    assert first.exit_code == 3
    (stored,) = (thesis / ".rag/papers/outputs/audits").glob("chapter_citations_v001.json")
    audit = audit_from_json(CitationAudit, json.loads(stored.read_text("utf-8")))
    weak = next(row for row in audit.rows if row.status == "WEAK")
    wrong = replace(weak, status="MISSING", reason_code="contradicted", reason="It says else.")
    rows = tuple(
        replace(weak, number=n, line=n, score=0.9 - n / 100, reason="So (read by reader; 0.5).")
        for n in range(1, 60)
    )
    audit = replace(audit, rows=(*rows, replace(wrong, number=99, line=99)), warnings=())
    shown = summarise_check(audit, {}, "papers/").splitlines()
    assert shown[2:4] == ["Contradicted: It says else.", f"   line 99, {weak.doc_uid}, p. 2"]
    assert shown[7] == "Weak (59, the weakest first): So."
    assert shown[8].startswith("   line 59, ")
    assert len(shown) <= MOST_LINES
    assert sum("more: `--format markdown`" in line for line in shown) == 1


def test_a_watched_draft_shows_what_is_new_at_each_save(
    thesis: Path, first: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert first.exit_code == 3
    draft = thesis / "watched.md"
    said = "Albedo fell from 0.38 to 0.24 within two years {#cool-pavements-2023}.\n\n"
    draft.write_text(said, "utf-8")

    def saves(path: Path) -> Iterator[datetime]:
        yield datetime(2026, 1, 1, 9)
        path.write_text(said + "It cost 12 euros {#cool-pavements-2023}.\n", "utf-8")
        yield datetime(2026, 1, 1, 10)
        path.write_text(said, "utf-8")
        yield datetime(2026, 1, 1, 11)

    monkeypatch.setattr("rag_assets.cli.checking.saves", saves)
    watched = rag("watch", draft, thesis / "papers")
    assert watched.exit_code == 0, watched.output
    at_first, then, at_last = watched.stdout.split(" are new.")[:3]
    assert at_first == "09:00:00 1 of 1"
    assert then.endswith("10:00:00 1 of 2")
    assert at_last.endswith("11:00:00 0 of 1")
    assert "It cost 12 euros" in at_last
    assert "Albedo" not in at_last
