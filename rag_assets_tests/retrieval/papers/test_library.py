"""What the papers of a library are called by, and what stands for an abstract."""

import pytest

from rag_assets.retrieval import Retriever
from rag_assets.retrieval.papers import Paper, PaperLibrary
from rag_assets.retrieval.papers.locating import KnownPaper, opening_chunks, plain


def known(
    uid: str, title: str, year: int | None, *authors: str, thing: str | None = None
) -> KnownPaper:
    paper = Paper("thesis", uid, title, year, authors)
    return KnownPaper(paper, frozenset({uid, f"10.1000/{uid}"}), plain(title), thing, None)


@pytest.fixture
def library() -> PaperLibrary:
    made = PaperLibrary(())
    made.papers = (
        known("ding11", "Multi-Instance Mixtures", None, "Xinghao Ding", "Li Wei"),
        known("ding20", "Variance Reduction", 2020, "Zhiyan Ding", "Qin Li"),
        known("ding19", "Langevin by Coordinates", 2019, "Zhiyan Ding"),
        known("owls", "Owlnet: Hunting by Ear", 2021, "A. Ding", thing="Owlnet"),
        known("more", "What Owlnet cannot hear", 2022, "B. Rao"),
    )
    return made


def test_authors_with_a_year_are_of_that_year_or_of_none_known(library: PaperLibrary) -> None:
    assert [paper.doc_uid for paper in library.by_author(["Ding"], 2020)] == ["ding20"]
    assert [paper.doc_uid for paper in library.by_author(["Ding"], 1999)] == ["ding11"]
    assert [paper.doc_uid for paper in library.by_author(["Ding", "Li"], None)] == [
        "ding11",
        "ding20",
    ]
    assert library.by_author([], 2020) == []


def test_whoever_stands_first_comes_before_those_who_stand_anywhere(library: PaperLibrary) -> None:
    assert [paper.doc_uid for paper in library.by_author(["Li"], None)] == ["ding11", "ding20"]
    assert [paper.doc_uid for paper in library.by_author(["Wei"], None)] == ["ding11"]
    assert [paper.doc_uid for paper in library.by_author(["Rao"], None)] == ["more"]


def test_the_paper_that_announces_a_name_comes_before_those_that_speak_of_it(
    library: PaperLibrary,
) -> None:
    assert [paper.doc_uid for paper in library.by_thing("Owlnet")] == ["owls"]
    assert [paper.doc_uid for paper in library.by_thing("Langevin")] == ["ding19"]
    assert library.by_thing("Lang") == []


def test_identifiers_count_whatever_their_case(library: PaperLibrary) -> None:
    assert [paper.doc_uid for paper in library.by_identifier("10.1000/DING20")] == ["ding20"]
    assert library.by_identifier("10.1000/ding") == []


def test_names_stand_in_a_question_as_words(library: PaperLibrary) -> None:
    assert library.names_in("How does Owlnet hear?") == ("Owlnet",)
    assert library.names_in("How do owls hear?") == ()  # an ordinary word, though it is a uid
    assert library.names_in("What of ding20?") == ("ding20",)
    assert library.names_in("what owlnet cannot hear: why?") == ("What Owlnet cannot hear",)


def test_running_text_stands_for_an_abstract_where_there_is_none(retriever: Retriever) -> None:
    (reader,) = retriever.readers
    openings = opening_chunks(reader)
    assert list(openings) == ["tides"]
    hits = reader.fetch_hits([openings["tides"].partition("::")[2]])
    (hit,) = hits.values()
    assert "four metres within six hours" in hit.text
