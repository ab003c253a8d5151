"""Questions that mean one paper are made the same way each time, and give nothing away."""

from benchmarks.paper_routes import make_items

ROW = {
    "doc_uid": "owls",
    "title": "Barnowl: Hunting by Ear in Complete Darkness",
    "citation_key": "rao2021",
    "doi": "10.1000/owls",
    "authors": ["A. Rao", "B. Li"],
    "year": 2021,
    "abstract": "Short. Owls find voles below snow by comparing arrival times between both ears.",
}


def test_each_name_of_a_paper_gives_a_question() -> None:
    asked = {item.kind: item.question for item in make_items(ROW, {}, 1)}
    assert list(make_items(ROW, {}, 1)) == list(make_items(ROW, {}, 1))
    assert asked["doi"].startswith("Of the paper 10.1000/owls:")
    assert asked["key"].startswith("In @rao2021,")
    assert asked["authors"].startswith("Rao et al. (2021):")
    assert asked["thing"] == "What does Barnowl do, and how?"
    assert "“Barnowl: Hunting by Ear”" in asked["title begun"]


def test_a_question_from_an_abstract_has_half_of_a_sentence_and_no_name() -> None:
    (question,) = (one.question for one in make_items(ROW, {}, 1) if one.kind == "abstract")
    words = question.removeprefix("In the paper about ").partition(":")[0].split()
    assert 4 <= len(words) <= 6
    assert set(words) < set(str(ROW["abstract"]).lower().rstrip(".").split())


def test_what_no_parser_made_comes_before_the_catalogue() -> None:
    truth = {"title": "Barnowl: Hearing", "abstract": None}
    quoted = [one.question for one in make_items(ROW, truth, 1) if one.kind == "title quoted"]
    assert quoted[0].startswith("In “Barnowl: Hearing”,")
