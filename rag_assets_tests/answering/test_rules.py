"""Without a model: up to five deterministic steps, sentences of the sources, and it is said so."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from rag_assets.answering import (
    Answer,
    PaperQuestion,
    answer_from_json,
    answer_papers,
    answer_scorer,
    render_answer,
    replay_answer,
    write_answer,
)
from rag_assets.answering.agents import Trace
from rag_assets.answering.agents.trace import Limits
from rag_assets.model import DamagedFileError, UsageError
from rag_assets.retrieval import Retriever
from rag_assets.retrieval.papers import Route
from rag_assets.workspace import shipped_settings
from rag_assets_tests.libraries import build, make_workspace

LIMITS = Limits(steps=5, calls=12, repairs=2)
TOPIC = Route("TOPIC_SURVEY", (), (3,))
COOLER = PaperQuestion("How much cooler are green roofs than bitumen?", TOPIC)
NOTHING = PaperQuestion("What is the capital of France?", Route("TOPIC_SURVEY"))


def ask(retriever: Retriever, asked: PaperQuestion, limits: Limits = LIMITS) -> Answer:
    return answer_papers(
        retriever, asked, limits, model=None, scorer=answer_scorer(shipped_settings()),
        clock=lambda: 0.0,
    )  # fmt: skip


def actions(trace: Trace) -> list[str | None]:
    return [step.action for step in trace.steps]


def test_the_answer_is_quotes_with_their_places_and_no_model_is_asked(retriever: Retriever) -> None:
    answer = ask(retriever, COOLER)
    assert answer.is_quoted
    assert answer.unsupported == ()
    assert answer.match.is_good
    searches = ["search_abstracts", "search_by_section", "search_by_section"]
    assert actions(answer.trace) == [*searches, "finish"]
    first = answer.statements[0]
    assert "16.7 °C" in first.text
    for one in answer.statements:
        assert one.quote is not None
        passage = answer.trace.passages[one.quote.alias]
        assert one.quote.text in passage.text
        assert (one.quote.content_hash, one.quote.citation_id) == (
            passage.content_hash, passage.citation_id,
        )  # fmt: skip
        assert re.fullmatch(r"pp?\. \d(–\d)?", one.quote.place)
        assert one.quote.check == "printed"
    page = render_answer(answer)
    assert page.startswith(f"# {COOLER.question}\n\n> ")
    assert "no language model wrote this" in page
    assert "Model calls: 0" in page


def test_what_the_best_passage_leads_to_is_searched_once(retriever: Retriever) -> None:
    answer = ask(retriever, COOLER)
    asked, followed = answer.trace.steps[1], answer.trace.steps[2]
    assert asked.observation is not None
    best = answer.trace.passages[asked.observation.lines[0].alias or ""]
    query = (followed.arguments or {})["query"]
    assert query.startswith(f"{COOLER.question} ")
    assert query.removeprefix(f"{COOLER.question} ") in " ".join(best.text.split())
    # Within one paper there is nowhere to go.
    given = ask(retriever, replace(COOLER, doc_id="green-roofs-2024"))
    assert actions(given.trace) == ["search_by_section", "finish"]


def test_a_short_document_of_that_name_does_not_hide_the_others(tmp_path: Path) -> None:
    notes = {
        "evidence/ada.md": "# Ada Quarrel\n\nAda Quarrel was born in the city of Quarz.\n",
        "evidence/quarz.md": "# Quarz\n\nThe city of Quarz lies on the river Belt.\n",
        "evidence/tor.md": "# Tor\n\nThe city of Tor lies on the river Murn.\n",
    }
    workspace = make_workspace(tmp_path, notes)
    build(workspace.namespace("thesis"))
    asked = PaperQuestion(
        "On which river lies the city where Ada Quarrel was born?",
        Route("SPECIFIC_PAPER", ("Ada Quarrel",)),
    )
    with Retriever(workspace) as opened:
        answer = ask(opened, asked)
    confined, everywhere = [
        (step.arguments or {}).get("doc_id")
        for step in answer.trace.steps
        if step.action == "search_by_section"
    ][:2]
    assert (confined, everywhere) == ("ada", None)
    assert "quarz" in {passage.doc_uid for passage in answer.trace.passages.values()}
    with Retriever(workspace) as opened:
        only = ask(opened, replace(asked, doc_id="ada"))
    searched = [step for step in only.trace.steps if step.action == "search_by_section"]
    assert (searched[0].arguments or {})["doc_id"] == "ada"


def test_a_chinese_question_is_told_so_in_chinese(retriever: Retriever) -> None:
    answer = ask(retriever, PaperQuestion("行道树能降低多少气温？", Route("TOPIC_SURVEY")))
    assert answer.notices[0].startswith("以上均为来源中的原句")
    nothing = ask(retriever, PaperQuestion("法国的首都是哪里？", Route("TOPIC_SURVEY")))
    assert nothing.notices[0] == "资料库中没有找到答案。"


def test_after_three_searches_of_passages_it_says_that_nothing_was_found(
    retriever: Retriever,
) -> None:
    answer = ask(retriever, NOTHING)
    searches = [s.arguments for s in answer.trace.steps if s.action == "search_by_section"]
    assert len(searches) == 3
    assert len({json.dumps(one, sort_keys=True) for one in searches}) == 3
    assert len(answer.trace.steps) == 5
    assert not answer.match.is_good
    assert answer.notices[0] == "No answer found in this library."
    assert not answer.is_found


def test_one_paper_is_located_by_its_name_and_searched_alone(retriever: Retriever) -> None:
    route = Route("SPECIFIC_PAPER", ("Cool pavements",), (3,))
    answer = ask(retriever, PaperQuestion("Did glare disturb the people asked?", route))
    second = answer.trace.steps[1]
    assert second.arguments == {
        "query": "Did glare disturb the people asked?", "doc_id": "cool-pavements-2023", "k": 10,
    }  # fmt: skip
    assert second.observation is not None
    keys = [line.chunk_key or "" for line in second.observation.lines]
    assert all(key.startswith("thesis::cool-pavements-2023:") for key in keys)
    given = replace(COOLER, doc_id="green-roofs-2024")
    assert ask(retriever, given).trace.steps[0].action == "search_by_section"


def test_what_the_whole_paper_does_not_answer_is_searched_in_the_section(
    retriever: Retriever,
) -> None:
    route = Route("SPECIFIC_PAPER", ("Cool pavements",), (3,))
    answer = ask(retriever, PaperQuestion("Which quarks decay into leptons?", route))
    searched = [
        (step.arguments or {}).get("category")
        for step in answer.trace.steps
        if step.action == "search_by_section"
    ]
    assert searched[:2] == [None, "EVALUATION"]


def test_a_single_search_is_one_search(retriever: Retriever) -> None:
    answer = ask(retriever, replace(COOLER, mode="single"))
    assert actions(answer.trace) == ["search_by_section", "finish"]
    assert answer.is_quoted
    assert write_answer(replay_answer(answer)) == write_answer(answer)


@pytest.mark.parametrize("asked", [COOLER, NOTHING])
def test_the_same_answer_is_made_again_without_a_search(
    retriever: Retriever, asked: PaperQuestion
) -> None:
    answer = ask(retriever, asked)
    assert write_answer(ask(retriever, asked)) == write_answer(answer)
    stored = answer_from_json(json.loads(write_answer(answer)))
    assert stored == answer
    assert write_answer(replay_answer(stored)) == write_answer(answer)
    assert render_answer(stored) == render_answer(answer)


def test_at_its_limit_it_quotes_what_it_has_and_says_so(retriever: Retriever) -> None:
    answer = ask(retriever, NOTHING, replace(LIMITS, steps=1))
    assert answer.trace.ended_by == "steps"
    assert answer.statements
    assert any("limit of steps" in one for one in answer.notices)


def test_what_may_not_be_cited_is_not_found(retriever: Retriever) -> None:
    asked = PaperQuestion("What must be discussed of sedum roofs?", Route("TOPIC_SURVEY"))
    found = {one.doc_uid for one in ask(retriever, asked).trace.passages.values()}
    assert found
    assert "rubric" not in found


def test_an_answer_that_was_changed_is_told_by_its_field(retriever: Retriever) -> None:
    data = json.loads(write_answer(ask(retriever, COOLER)))
    with pytest.raises(DamagedFileError, match=r"'route\.intent'"):
        answer_from_json({**data, "route": {**data["route"], "intent": "OTHER"}})
    with pytest.raises(DamagedFileError, match="another version"):
        answer_from_json({**data, "schema": "rag-assets/answer/0"})


def test_a_question_without_words_is_refused(retriever: Retriever) -> None:
    with pytest.raises(UsageError, match="no text"):
        ask(retriever, replace(COOLER, question="?!"))
