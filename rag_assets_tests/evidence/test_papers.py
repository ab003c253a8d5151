"""`papers` groups the hits that are there; it searches for nothing."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_assets.embedding import hashing
from rag_assets.evidence import AskOutcome, Question, ask, make_pack, read_pack, read_question
from rag_assets.retrieval import Retriever
from rag_assets.workspace import Workspace
from rag_assets_tests.libraries import build, write_raw

TEXT = "How much cooler are sedum roofs in the street?"


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Collect every question that is searched or encoded."""
    asked: list[str] = []
    retrieve, encode = Retriever.retrieve, hashing.HashingEmbedder.encode_queries

    def counted_retrieve(self: Retriever, text: str, **options: Any) -> Any:
        asked.append(f"retrieve {text}")
        return retrieve(self, text, **options)

    def counted_encode(self: Any, texts: Any) -> Any:
        asked.append("encode")
        return encode(self, texts)

    monkeypatch.setattr(Retriever, "retrieve", counted_retrieve)
    monkeypatch.setattr(hashing.HashingEmbedder, "encode_queries", counted_encode)
    yield asked


def papers(workspace: Workspace, text: str, said: list[str]) -> AskOutcome:
    return ask(workspace, Question(question=text, mode="papers"), notify=said.append)


def test_hits_of_the_last_pack_are_grouped_without_a_search(
    own: Workspace, searches: list[str]
) -> None:
    listed = ask(own, TEXT)
    assert {f"retrieve {TEXT}", "encode"} <= set(searches)
    searches.clear()
    said: list[str] = []
    grouped = papers(own, TEXT, said)
    assert searches == []
    assert grouped.pack.items == listed.pack.items
    assert grouped.pack.query_id == listed.pack.query_id
    assert "nothing was searched" in said[0]
    assert listed.markdown.name in said[0]


def test_question_that_was_never_asked_is_searched_once_and_both_packs_are_said(
    own: Workspace, searches: list[str]
) -> None:
    said: list[str] = []
    grouped = papers(own, "Why are white roofs cool?", said)
    assert searches.count("retrieve Why are white roofs cool?") == 1
    assert "one search was made" in said[0]
    listed = grouped.markdown.with_name("evidence_pack_v001.md")
    assert listed.name in said[0]
    assert read_pack(listed.with_suffix(".json")).mode == "evidence"
    assert grouped.markdown.name == "evidence_pack_v002.md"


def test_grouped_twice_is_written_once(own: Workspace) -> None:
    first, again = papers(own, TEXT, []), papers(own, TEXT, [])
    assert first.is_new
    assert not again.is_new
    assert again.markdown == first.markdown


def test_hits_of_an_older_publication_are_not_those_of_this_library(
    own: Workspace, searches: list[str]
) -> None:
    ask(own, TEXT)
    write_raw(own, "evidence/new.md", "Sedum roofs of tin are hot in the street.\n")
    build(own.namespace("thesis"))
    searches.clear()
    grouped = papers(own, TEXT, [])
    assert searches
    assert "new" in grouped.pack.doc_uids


def test_paper_has_title_authors_year_number_of_hits_and_its_best_passages(
    library: Workspace,
) -> None:
    pack = make_pack(library, Question(question=TEXT, mode="papers"))
    source = next(source for source in pack.sources if source.doc_uid == "roofs")
    assert source.authors == ("Anna Müller", "欧阳修文")
    assert (source.year, source.citation_key) == (2019, "mueller2019")
    own_items = [item for item in pack.items if item.doc_uid == "roofs"]
    assert source.ranks == tuple(item.rank for item in own_items)
    assert source.hits == sum(1 + len(item.other_chunk_ids) for item in own_items)


def test_markdown_of_papers_has_a_heading_for_each_document(own: Workspace) -> None:
    grouped = papers(own, TEXT, [])
    text = grouped.markdown.read_text(encoding="utf-8")
    assert text.startswith("# Papers: ")
    assert text.count("\n## ") == len(grouped.pack.sources)
    assert "Anna Müller, 欧阳修文. 2019." in text
    assert all(item.exact_quote[:20] in text for item in grouped.pack.items)


def test_mode_of_a_question_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "q.yaml"
    path.write_text("question: cool roofs\nmode: papers\n", encoding="utf-8")
    assert read_question(path).question.mode == "papers"


def test_record_of_a_query_names_the_files_of_both_modes(own: Workspace) -> None:
    grouped = papers(own, TEXT, [])
    record = json.loads(
        (own.meta / "query_runs" / f"{grouped.pack.query_id}.json").read_text("utf-8")
    )
    assert record["outputs"][".md"] == "outputs/evidence_pack_v001.md"
    assert record["papers"][".json"] == "outputs/evidence_pack_v002.json"
    for field in ("q_zh", "q_en", "filters", "top_k", "fusion", "rerank", "returned", "build_ids"):
        assert field in record
    assert [row["score"] for row in record["returned"]] == [
        item.retrieval_score for item in grouped.pack.items
    ]
