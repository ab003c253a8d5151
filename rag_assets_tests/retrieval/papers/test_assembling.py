"""What a language model is given: background once a paper, evidence with its neighbours."""

import pytest

from rag_assets.embedding import joint_tokenizer
from rag_assets.model import UsageError
from rag_assets.retrieval import Retriever
from rag_assets.retrieval.papers import (
    assemble_papers,
    introduction,
    render_papers,
    search_by_section,
    window,
)
from rag_assets.workspace import Workspace


def test_an_introduction_is_cut_by_the_namespace_s_tokenizer(
    papers: Workspace, retriever: Retriever
) -> None:
    whole = introduction(retriever, "owls")
    assert (whole.section, whole.is_cut) == ("introduction", False)
    assert whole.text.endswith("Hearing was thought to be of little use.")
    cut = introduction(retriever, "owls", 6)
    tokenizer = joint_tokenizer(papers.namespace("thesis").settings.embed)
    assert cut.is_cut
    assert whole.text.startswith(cut.text)
    assert cut.tokens == len(tokenizer.token_spans(cut.text)) <= 6


def test_a_paper_without_introduction_is_told_by_its_beginning(retriever: Retriever) -> None:
    found = introduction(retriever, "tides")
    assert found.section == "beginning"
    assert "four metres" in found.text


def test_a_window_stays_within_its_paper(retriever: Retriever) -> None:
    first = window(retriever, "owls", 0, 1)
    assert [chunk.chunk_index for chunk in first.chunks] == [0, 1]
    named = window(retriever, "owls", "owls:3", 2)
    assert [chunk.chunk_index for chunk in named.chunks] == [1, 2, 3, 4, 5]
    assert {chunk.doc_uid for chunk in named.chunks} == {"owls"}
    with pytest.raises(UsageError, match="has no passage 'owls:99'"):
        window(retriever, "owls", "owls:99")
    with pytest.raises(UsageError, match="holds a document 'nobody'"):
        window(retriever, "nobody", 0)


def test_the_layout_is_that_of_the_specification(retriever: Retriever) -> None:
    found = search_by_section(retriever, "voles found in the dark", ["owls"], [3], 1)
    other = search_by_section(retriever, "thermometers below sedum", ["roofs-dry"], [2], 1)
    hits = (*found.hits, *other.hits)
    blocks = assemble_papers(retriever, hits, window=0)
    aliases = {hit.chunk_key: f"C{number}" for number, hit in enumerate(hits, start=1)}
    assert render_papers(blocks, aliases) == (
        "[Paper: Barnowl: Hunting by Ear]\n"
        "> Context (Introduction): ## Introduction\n"
        "  Voles move at night. Voles move at night. Voles move at night. Hearing was thought to "
        "be of little use.\n"
        "> Retrieved Evidence (Evaluation): [C1] ## Results\n"
        "  Barnowl found 87 of 100 voles in the dark.\n"
        "  With earplugs it found 12.\n"
        "\n"
        "[Paper: Green Roofs in Dry Cities]\n"
        "> Context (Introduction): ## Introduction\n"
        "  Cities heat up.\n"
        "> Retrieved Evidence (Method): [C2] ## Methods\n"
        "  Thermometers lay below sedum on twelve roofs."
    )


def test_background_stands_once_a_paper_and_neighbours_are_joined(retriever: Retriever) -> None:
    found = search_by_section(retriever, "voles with earplugs", ["owls"], [2, 3], 4)
    (block,) = assemble_papers(retriever, found.hits, window=1)
    text = render_papers([block])
    assert text.count("> Context") == 1
    assert text.count("> Retrieved Evidence") == len(block.evidence) == 1
    assert "With earplugs it found 12." in text


def test_no_line_of_a_passage_looks_like_one_of_the_layout(retriever: Retriever) -> None:
    found = search_by_section(retriever, "voles recordings microphones", ["owls"], [2], 2)
    text = render_papers(assemble_papers(retriever, found.hits))
    lines = text.splitlines()
    assert all(line.startswith(("[Paper: ", "> ", "  ")) for line in lines)
    assert any(line.startswith("  ") for line in lines)
