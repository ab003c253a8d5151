"""On real papers where they are at hand: RAG_SHARED_DATA, by default ../shared/data."""

import os
from pathlib import Path

import pytest

from rag_assets.model import hash_bytes
from rag_assets.parsing import (
    PARSE_REASONS,
    ParseHints,
    ParseJob,
    parse_document,
    parse_files,
    request_fingerprint,
)
from rag_assets_tests.parsing.conftest import make_settings
from rag_assets_tests.parsing.test_any_bytes import assert_keeps_the_contract

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("RAG_SHARED_DATA", ROOT.parent / "shared" / "data"))


def files_below(folder: str, pattern: str) -> list[Path]:
    found = sorted((DATA / folder).rglob(pattern))
    if not found:
        pytest.skip(f"no {pattern} below {DATA / folder}; set RAG_SHARED_DATA")
    return found


@pytest.mark.slow
def test_every_real_paper_gives_a_document_with_a_title() -> None:
    untitled = []
    for path in files_below("papers", "*.pdf"):
        document = parse_document(path.read_bytes(), ParseHints(".pdf"), make_settings())
        assert_keeps_the_contract(document)
        if document.title is None:
            untitled.append(path.name)
    assert len(untitled) <= 2


@pytest.mark.slow
def test_every_nasty_pdf_gives_a_report(tmp_path: Path) -> None:
    settings = make_settings(workers=2, seconds_per_document=20.0)
    jobs = {}
    for path in files_below("nasty/nasty_pdf", "*.pdf"):
        content = hash_bytes(path.read_bytes())
        request = request_fingerprint(content, ".pdf", None, settings)
        jobs[content] = ParseJob(content, path, ".pdf", None, tmp_path, tmp_path, request)
    reports = list(parse_files(jobs.values(), settings))
    assert {report.content_hash for report in reports} == set(jobs)
    for report in reports:
        assert report.status == "ok" or report.reason_code in PARSE_REASONS
