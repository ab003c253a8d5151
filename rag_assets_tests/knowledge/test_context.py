"""Contexts: document order, aliases, limits, formats."""

import json
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from rag_assets import ContextBuilder
from rag_assets.embedding import load_tokenizer
from rag_assets.knowledge import InjectConfig, KnowledgeChunk, KnowledgeContext
from rag_assets.knowledge.passages import describe_chunk
from rag_assets.model import UsageError
from rag_assets.model.settings import ModelSettings
from rag_assets.retrieval import Hit, ParentPassage, Window

WORDS = load_tokenizer(ModelSettings(kind="hashing", model="words"))

DOCUMENT = {
    "source_uri": "raw/evidence/a.md", "source_id": "s", "url": None, "doi": None, "authors": [],
    "tags": [], "metadata": "{}",
}  # fmt: skip


def chunk(uid: str, order: int, text: str, parent: int = 1) -> KnowledgeChunk:
    start = order * 100
    hit = Hit(
        "kb", f"{uid}:{order}", f"{uid}:p{parent:03d}", uid, "d" * 64, f"Title of {uid}", None,
        "evidence", None, True, order, parent, parent, start, start + len(text), ("One",), text,
        "h" * 64, f"kb:kb__chunk-{uid}{order}", False,
    )  # fmt: skip
    whole = ParentPassage(
        "kb", hit.parent_id, uid, f"p{parent:03d}", parent, parent * 1000, parent * 1000 + 900,
        parent, parent, ("One",), f"page {parent} of {uid} with {text}", "p" * 64,
    )  # fmt: skip
    return describe_chunk(hit, whole, None, WORDS, DOCUMENT)


def build(*chunks: KnowledgeChunk, **inject: object) -> KnowledgeContext:
    values = {"mode": "chunk", **inject}
    return ContextBuilder.build_knowledge_context(chunks=chunks, inject=InjectConfig(**values))


def test_passages_stand_in_document_order_under_aliases_of_their_citations() -> None:
    context = build(chunk("b", 5, "five"), chunk("a", 2, "two"), chunk("b", 1, "one"))
    assert [passage.text for passage in context.passages] == ["one", "five", "two"]
    assert context.aliases == {
        "C1": "kb:kb__chunk-b1", "C2": "kb:kb__chunk-b5", "C3": "kb:kb__chunk-a2",
    }  # fmt: skip
    assert str(context).index("[C1]") < str(context).index("[C2]") < str(context).index("[C3]")
    assert "[C3] Title of a · One · p. 1\n\ntwo" in str(context)


def test_parent_stands_once_with_all_the_chunks_that_led_to_it() -> None:
    context = build(chunk("a", 5, "five"), chunk("a", 2, "two"), chunk("a", 9, "x", 3),
                    mode="parent")  # fmt: skip
    assert [passage.text[:6] for passage in context.passages] == ["page 1", "page 3"]
    assert context.passages[0].citation_ids == ("kb:kb__chunk-a5", "kb:kb__chunk-a2")
    assert context.aliases["C1"] == "kb:kb__chunk-a5"


def test_best_passages_win_the_room_and_the_others_are_named() -> None:
    long, short = chunk("a", 1, "word " * 60), chunk("a", 2, "short")
    context = build(chunk("b", 1, "best"), long, short, max_tokens=40)
    assert [passage.text for passage in context.passages] == ["best", "short"]
    assert context.left_out == ("kb:kb__chunk-a1",)
    assert context.tokens <= 40


def test_passage_that_alone_is_too_long_is_cut_and_marked() -> None:
    context = build(chunk("a", 1, "word " * 400), max_tokens=50)
    (passage,) = context.passages
    assert passage.is_cut
    assert passage.text.endswith(" …")
    assert 40 < context.tokens <= 50
    assert WORDS.count([context.text])[0] <= 50


@pytest.mark.parametrize("form", ["markdown", "xml", "json"])
def test_whole_context_stays_within_its_tokens(form: str) -> None:
    chunks = [chunk(uid, n, f"some words of {n}, and more.") for uid in "ab" for n in range(3)]
    for limit in range(25, 130):
        context = build(*chunks, format=form, max_tokens=limit)
        assert WORDS.count([context.text])[0] <= limit
        assert len(context.passages) + len(context.left_out) == 6


def test_number_of_passages_is_limited() -> None:
    context = build(*(chunk("a", n, f"text {n}") for n in range(4)), max_chunks=2)
    assert [passage.text for passage in context.passages] == ["text 0", "text 1"]
    assert len(context.left_out) == 2


def test_xml_and_json_hold_any_text() -> None:
    nasty = chunk("a", 1, 'x < y & "z" </passage>')
    nasty = replace(nasty, metadata={**nasty.metadata, "doc_title": 'A "title" & more'})
    (read,) = ElementTree.fromstring(build(nasty, format="xml").text)  # noqa: S314
    assert read.attrib["alias"] == "C1"
    assert read.attrib["title"] == 'A "title" & more'
    assert (read.text or "").strip() == 'x < y & "z" </passage>'
    (entry,) = json.loads(build(nasty, format="json").text)
    assert (entry["alias"], entry["text"]) == ("C1", 'x < y & "z" </passage>')


def test_window_is_shown_whole_and_needed() -> None:
    first, second = chunk("a", 1, "before."), chunk("a", 2, "found.")
    window = Window("kb", "a", (first.hit, second.hit), (second.hit,))
    context = build(replace(second, window=window), mode="window")
    assert context.passages[0].text == "before.\nfound."
    with pytest.raises(UsageError, match="without windows"):
        build(second, mode="window")


def test_nothing_found_is_an_empty_context() -> None:
    context = build()
    assert (context.text, context.aliases, context.tokens) == ("", {}, 0)


def test_hits_in_place_of_their_chunks_are_told_what_to_pass() -> None:
    with pytest.raises(UsageError, match=r"pass \[chunk for chunk, _ in result\.hits\]"):
        ContextBuilder.build_knowledge_context(chunks=[(chunk("a", 1, "one"), 0.5)])  # type: ignore[list-item]
