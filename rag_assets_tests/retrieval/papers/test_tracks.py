"""One paper is located, or two are named; passages are of it alone; sections widen and say so."""

from pathlib import Path

import pytest

from rag_assets.llm import Script, ScriptedModel
from rag_assets.model import LanguageModelError, UsageError
from rag_assets.retrieval import Retriever, SearchFilters
from rag_assets.retrieval.papers import (
    Route,
    introduction,
    locate_paper,
    route_by_rules,
    route_papers,
    route_question,
    search_abstracts,
    search_by_section,
    search_papers,
)
from rag_assets.workspace import Workspace, add_namespace
from rag_assets_tests.libraries import build, make_workspace, write_raw

from .conftest import PAPERS, paper


@pytest.mark.parametrize(
    ("question", "uid", "by"),
    [
        ("What does {#tides} say of the pier?", "tides", "identifier"),
        ("In “Green Roofs in Wet Cities”, what was measured?", "roofs-wet", "title"),
        ("in the paper green roofs in dry cities, what was measured?", "roofs-dry", "title"),
        ("In “Green Rofs in Dry Citties”, what was measured?", "roofs-dry", "title"),
        ("How many voles does Barnowl find?", "owls", "name"),
        ("《水稻叶片衰老的遥感监测》的精度是多少？", "水稻", "title"),
        ("In the paper about hearing voles in the dark: what was found?", "owls", "abstract"),
        ("In the paper about the tide at the pier: how high was it?", "tides", "abstract"),
    ],
)
def test_a_paper_is_located(retriever: Retriever, question: str, uid: str, by: str) -> None:
    found = route_papers(retriever, question)
    assert found.located is not None
    assert (found.track, found.located.by) == ("paper", by)
    assert [paper.doc_uid for paper in found.papers] == [uid]


def test_two_papers_that_cannot_be_told_apart_are_both_named(retriever: Retriever) -> None:
    question = "In the paper about sedum roofs and bitumen: what was cooler at noon?"
    found = search_papers(retriever, question, 5)
    assert found.routed.track == "undecided"
    assert {paper.doc_uid for paper in found.routed.papers} == {"roofs-dry", "roofs-wet"}
    assert {hit.doc_uid for hit in found.hits} <= {"roofs-dry", "roofs-wet"}
    (told,) = (one for one in found.told if "cannot be told apart" in one)
    assert "{#roofs-dry}" in told
    assert "{#roofs-wet}" in told


def test_a_paper_that_is_not_there_is_not_taken_for_another(retriever: Retriever) -> None:
    found = route_papers(retriever, "Llama 3 的训练数据有多少？")
    assert found.track == "topic"
    assert found.told[0] == "no paper of the library is called “Llama 3”"
    vague = route_papers(retriever, "What limitations does this paper have?")
    assert vague.told[0] == "the question speaks of one paper and does not say which"


def test_a_paper_that_filters_shut_out_is_not_located(retriever: Retriever) -> None:
    question = "How many voles does Barnowl find?"
    route = route_by_rules(question)
    shut = SearchFilters(without=("thesis:owls",))
    assert locate_paper(retriever, question, route, filters=shut).paper is None


def test_no_passage_of_another_paper_comes_from_a_located_one(retriever: Retriever) -> None:
    found = search_papers(retriever, "Which results does Barnowl reach at noon on roofs?", 10)
    assert found.routed.track == "paper"
    assert len(found.hits) > 3
    assert {hit.doc_uid for hit in found.hits} == {"owls"}


def test_a_paper_of_another_namespace_with_its_uid_is_another_paper(tmp_path: Path) -> None:
    made = make_workspace(tmp_path, PAPERS)
    add_namespace(made, "more", ("raw/more",), "papers")
    write_raw(made, "more/owls.md", paper("Owls of Snow", "Owls hunt lemmings.", Results="Owls."))
    library = Workspace.open(made.root)
    build(library.namespace("thesis"))
    build(library.namespace("more"))
    with Retriever(library) as retriever:
        found = search_papers(retriever, "How do owls hunt, says “Barnowl: Hunting by Ear”?", 9)
        assert [one.key for one in found.routed.papers] == [("thesis", "owls")]
        assert {(hit.namespace, hit.doc_uid) for hit in found.hits} == {("thesis", "owls")}
        with pytest.raises(UsageError, match="name one namespace"):
            introduction(retriever, "owls")
        assert "lemmings" in introduction(retriever, "owls", namespace="more").text


def test_a_topic_is_searched_in_the_papers_of_the_nearest_abstracts(retriever: Retriever) -> None:
    routed = route_papers(retriever, "Are sedum roofs cooler at noon?", papers=2)
    assert routed.track == "topic"
    assert {paper.doc_uid for paper in routed.papers} == {"roofs-dry", "roofs-wet"}
    found = search_papers(retriever, "Are sedum roofs cooler at noon?", 4)
    assert found.hits[0].doc_uid.startswith("roofs")
    assert {hit.doc_uid for hit in found.hits} <= {paper.doc_uid for paper in found.routed.papers}


def test_each_paper_is_found_once_also_without_an_abstract(retriever: Retriever) -> None:
    found = search_abstracts(retriever, "How far does the tide rise at the pier?", 5)
    assert found.papers[0].paper.doc_uid == "tides"
    uids = [one.paper.doc_uid for one in found.papers]
    assert len(uids) == len(set(uids))
    with_abstract = [one for one in found.papers if one.paper.doc_uid != "tides"]
    assert {one.passage.section_category for one in with_abstract} <= {0}


def test_sections_that_hold_enough_are_searched_alone(retriever: Retriever) -> None:
    found = search_by_section(retriever, "voles", ["owls"], [3], 1)
    assert (found.categories, found.told) == ((3,), ())
    assert [hit.section_category for hit in found.hits] == [3]


def test_sections_that_hold_too_little_are_widened_in_steps_and_this_is_said(
    retriever: Retriever,
) -> None:
    found = search_by_section(retriever, "voles and owls", ["owls"], [3], 9)
    assert found.categories is None
    first, second = found.told
    assert first.endswith("evaluation: evaluation, method, conclusion, other was searched too")
    assert second.endswith("conclusion, other: the whole text was searched too")
    categories = [hit.section_category for hit in found.hits]
    assert categories[0] == 3
    assert {0, 1} & set(categories)


def test_favoured_sections_gain_and_are_no_filter(retriever: Retriever) -> None:
    """0.2 of the distance between first and last: 0.86 overtakes 0.97, 0.03 overtakes nothing."""

    def sections(*favoured: int) -> list[int | None]:
        found = search_by_section(
            retriever, "Barnowl in the dark", ["owls"], None, 9, favoured=favoured
        )
        return [hit.section_category for hit in found.hits]

    assert sections() == [3, 0, 2, 4, 1]
    assert sections(0) == [0, 3, 2, 4, 1]
    assert sections(4) == [3, 0, 2, 4, 1]


def test_a_search_made_ready_before_is_the_same_search(retriever: Retriever) -> None:
    question = "How high is the tide?"
    first = retriever.retrieve(question)
    again = retriever.retrieve(question, asked=first.query)
    assert again.query is first.query
    assert again.hits == first.hits
    assert retriever.retrieve("owls", asked=first.query).query.text == "owls"


def test_what_cannot_be_asked_is_refused(retriever: Retriever) -> None:
    with pytest.raises(UsageError, match="'nobody'"):
        search_by_section(retriever, "voles", ["nobody"])
    with pytest.raises(UsageError, match="'top_k' must be at least 1"):
        search_abstracts(retriever, "voles", 0)


def scripted(**answer: object) -> ScriptedModel:
    return ScriptedModel(Script.model_validate({"answers": [answer]}))


QUESTION = "How many voles does Barnowl find?"


def test_a_model_decides_where_there_is_one() -> None:
    data = {
        "intent": "SPECIFIC_PAPER",
        "target_paper_keywords": ["barnowl"],
        "target_section_category": [3, 3],
    }
    assert route_question(QUESTION, llm=scripted(data=data)) == Route(
        "SPECIFIC_PAPER", ("barnowl",), (3,), "scripted:scripted"
    )


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"answer": "It is about owls."}, "_RouteAnswer as JSON"),
        ({"data": {"intent": "OWLS"}}, "_RouteAnswer as JSON"),
        ({"data": {"intent": "SPECIFIC_PAPER", "target_section_category": [7]}}, "as JSON"),
        (
            {"data": {"intent": "SPECIFIC_PAPER", "target_paper_keywords": ["Tawny"]}},
            "named 'Tawny', which does not stand there",
        ),
    ],
)
def test_an_answer_that_is_no_route_leaves_it_to_the_rules_and_this_is_said(
    answer: dict[str, object], why: str
) -> None:
    found = route_question(QUESTION, ["Barnowl"], scripted(**answer))
    assert found.origin == "rules:known-name"
    assert found.target_paper_keywords == ("Barnowl",)
    assert "the route is that of the rules" in found.told[0]
    assert why in found.told[0]


def test_a_model_that_cannot_be_asked_is_no_answer() -> None:
    with pytest.raises(LanguageModelError):
        route_question(QUESTION, llm=ScriptedModel(Script(answers=[])))
