"""What `rag build-bm25` says is what the publication has."""

from pathlib import Path

import pytest

from rag_assets.model import PublicationError
from rag_assets.publishing import describe_text_indexes
from rag_assets.storage import current_folder
from rag_assets_tests.libraries import build, make_workspace


def test_a_publication_s_text_indexes_know_every_chunk(tmp_path: Path) -> None:
    files = {
        "evidence/a.md": "# Roofs\n\nMoss roofs were cooler.\n",
        "evidence/b.md": "凉爽的屋顶。\n",
    }
    namespace = make_workspace(tmp_path, files).namespace("thesis")
    chunks = build(namespace).counts["chunks"]
    body, headings = describe_text_indexes(namespace)
    assert (body.column, headings.column) == ("search_text", "search_heading")
    for index in (body, headings):
        assert (index.rows, index.unindexed_rows) == (chunks, 0)
        assert index.tokenizer == "icu/split"
        assert "English stems" in index.rules
        assert index.publication == current_folder(namespace.publications, "thesis").name
        stored = (namespace.publications / index.publication / "chunks.lance").rglob("*")
        assert 0 < index.size_bytes < sum(p.stat().st_size for p in stored if p.is_file())
    assert body.words > headings.words > 0


def test_without_a_publication_there_is_none(tmp_path: Path) -> None:
    with pytest.raises(PublicationError, match="rag ingest"):
        describe_text_indexes(make_workspace(tmp_path, {}).namespace("thesis"))
