"""Without a model articles answer: whole, in force, by rank, with other wordings beside them."""

import json
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, cast

import pytest
from click.testing import CliRunner

import rag_assets
from rag_assets.answering import replay_stored
from rag_assets.answering.law import (
    law_answer_from_json,
    render_law_answer,
    replay_law_answer,
    write_law_answer,
)
from rag_assets.answering.law.tools import LEAST_LIKELY, SURELY_LIKELY, likelihoods
from rag_assets.cli.main import build_cli
from rag_assets.embedding.bundled_files import E5
from rag_assets.model import DamagedFileError, UsageError
from rag_assets.retrieval import ASKED, LEXICAL, Hit, Retriever
from rag_assets.retrieval.statutes import LawShelf
from rag_assets.workspace import Workspace
from rag_assets_tests.answering.law.conftest import (
    DAY,
    LAW_FINE,
    NEW_BITE,
    NEW_FINE,
    OLD_FINE,
    QUESTION,
    REPEALED_FINE,
    Asking,
)
from rag_assets_tests.libraries import HASHING, build, make_workspace


def cited(answer: Any) -> list[str]:
    return [one.citation for one in answer.cited]


def test_articles_are_quoted_whole_and_said_to_be_no_answer_of_a_model(ask: Asking) -> None:
    answer = ask()
    assert answer.is_quoted
    assert "并非法律意见" in answer.notices[0]
    assert {NEW_FINE, LAW_FINE} <= set(cited(answer))
    fine = next(one for one in answer.points if one.statement.citations == ("C1",)).statement
    assert fine.text == answer.trace.passages["C1"].text
    for one in answer.sources.values():
        if one.citation == NEW_FINE:
            assert "但是导盲犬除外" in answer.trace.passages[one.alias].text
        if one.citation == NEW_BITE:
            assert "（二）咬伤他人后逃逸的" in answer.trace.passages[one.alias].text


def test_every_citation_leads_back_to_the_same_words(ask: Asking, laws: Workspace) -> None:
    from rag_assets.retrieval import OpenedLibrary

    answer = ask()
    with OpenedLibrary(laws) as library, library.hold() as held:
        shelf = LawShelf(held, date.fromisoformat(DAY))
        for source in answer.sources.values():
            found = shelf.article(source.citation)
            assert found.text == answer.trace.passages[source.alias].text


def test_ranks_are_told_from_the_highest_on(ask: Asking) -> None:
    answer = ask()
    assert list(answer.levels)[:2] == ["law", "local_regulation"]
    assert "法律 > 地方性法规" in render_law_answer(answer)


def test_another_wording_of_an_article_is_shown_beside_it(ask: Asking) -> None:
    answer = ask()
    pairs = {
        (answer.sources[one.prevails].citation, answer.sources[one.yields].citation)
        for one in answer.conflicts
        if one.by == "wording"
    }
    # The number has changed: 第二条 became 第三条.
    assert (NEW_FINE, OLD_FINE) in pairs
    page = render_law_answer(answer)
    assert "处一百元罚款" in page
    assert OLD_FINE not in cited(answer)


def test_the_wording_of_the_day_answers(ask: Asking) -> None:
    answer = ask(day="2020-08-31")
    assert OLD_FINE in cited(answer)
    assert NEW_FINE not in cited(answer)
    (first,) = [one for one in answer.conflicts if answer.sources[one.yields].citation == NEW_FINE]
    assert answer.sources[first.prevails].citation == OLD_FINE


def test_a_law_that_another_one_repeals_is_not_quoted(ask: Asking) -> None:
    answer = ask()
    (source,) = [one for one in answer.sources.values() if one.citation == REPEALED_FINE]
    assert source.standing == "repealed"
    assert source.repealed_by is not None and "同时废止" in source.repealed_by
    assert REPEALED_FINE not in cited(answer)
    assert any("甲乙市犬类管理办法" in notice for notice in answer.notices)
    # Before the law that repeals it was in force it held.
    assert REPEALED_FINE in cited(ask(day="2020-08-31"))


def test_an_answer_is_made_again_byte_for_byte(ask: Asking) -> None:
    answer = ask()
    stored = law_answer_from_json(json.loads(write_law_answer(answer)))
    assert write_law_answer(replay_law_answer(stored)) == write_law_answer(answer)
    data = json.loads(write_law_answer(answer))
    alias = next(iter(data["trace"]["passages"]))
    data["trace"]["passages"][alias]["text"] += "另有规定的除外。"
    with pytest.raises(DamagedFileError, match="has not its hash"):
        replay_law_answer(law_answer_from_json(data))


def test_an_article_that_has_no_room_is_left_out_whole(
    ask: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rag_assets.answering.law.tools.MOST_CHARACTERS", 60)
    answer = ask()
    (step,) = (one for one in answer.trace.steps if one.observation is not None)
    assert step.observation is not None
    assert any("left out whole" in note for note in step.observation.notes)
    whole = {p.citation_id: p.text for p in ask().trace.passages.values()}
    monkeypatch.undo()
    whole = {p.citation_id: p.text for p in ask().trace.passages.values()}
    for passage in answer.trace.passages.values():
        assert passage.text == whole[passage.citation_id]


def test_the_command_prints_stores_and_replays(laws: Workspace) -> None:
    root = ["--workspace", str(laws.root)]
    asked = [*root, "ask", "--law", QUESTION, "--as-of", DAY]
    found = CliRunner().invoke(build_cli(), asked)
    assert found.exit_code == 0, found.output
    assert "并非法律意见" in found.output
    assert NEW_FINE in found.output
    assert "法律 > 地方性法规" in found.output
    data = json.loads(CliRunner().invoke(build_cli(), [*asked, "--json"]).stdout)
    assert data["schema"] == "rag-assets/law-answer/1"
    assert data["as_of"] == DAY
    (stored,) = sorted(laws.outputs.glob("law_answer_v*.md"))
    assert replay_stored(stored).is_same
    replayed = CliRunner().invoke(build_cli(), [*root, "replay", str(stored)])
    assert replayed.exit_code == 0, replayed.output
    stored.write_text(stored.read_text("utf-8").replace("二百元", "二十元"), "utf-8")
    assert not replay_stored(stored).is_same


def test_options_of_papers_and_of_law_do_not_mix(laws: Workspace) -> None:
    root = ["--workspace", str(laws.root), "ask", QUESTION]
    paper = CliRunner().invoke(build_cli(), [*root, "--as-of", DAY])
    assert "add --law" in paper.output and paper.exit_code
    law = CliRunner().invoke(build_cli(), [*root, "--law", "--doc", "x"])
    assert "leave them out with --law" in law.output and law.exit_code


def test_from_python(laws: Workspace) -> None:
    outcome = rag_assets.ask_law(laws, QUESTION, date.fromisoformat(DAY))
    assert outcome.json.is_file()
    assert NEW_FINE in cited(outcome.answer)


@dataclass(frozen=True)
class _Scored:
    scores: dict[str, float]
    explanation: dict[str, str] = field(default_factory=dict)
    score: float = 0.9


def test_likely_hits_are_near_and_are_asked_about_like_the_question() -> None:
    near = _Scored({E5: 0.90, LEXICAL: 9.0, ASKED: 0.9})
    far = _Scored({E5: 0.70, LEXICAL: 3.0, ASKED: 0.5})
    found = likelihoods(cast("list[Hit]", [near, far]), "law")
    assert found[0] >= SURELY_LIKELY > LEAST_LIKELY > found[1]
    alike = _Scored(near.scores, score=0.8)
    behind = _Scored(near.scores, score=0.7)
    assert likelihoods(cast("list[Hit]", [near, alike, behind]), "law") == [
        found[0], found[0], 0.0,
    ]  # fmt: skip
    strange = _Scored({E5: 0.60})
    assert likelihoods(cast("list[Hit]", [strange, near]), "law") == [0.0, 0.0]
    # An article that the question names was looked up, and has no scores.
    named = _Scored({}, {"named_article": "第三条"})
    assert likelihoods(cast("list[Hit]", [named, near]), "law") == [1.0, found[0]]
    # Nothing is known of what another model found: the order of the search stays, with a warning.
    other = _Scored({"bge-m3": 0.7})
    assert likelihoods(cast("list[Hit]", [other, other]), "law") == [LEAST_LIKELY] * 2
    assert likelihoods(cast("list[Hit]", [near, named]), None) == [LEAST_LIKELY, 1.0]


def test_what_does_not_answer_is_not_quoted(ask: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    def at(likely: float) -> Any:
        monkeypatch.setattr(
            "rag_assets.answering.law.tools.likelihoods", lambda hits, _: [likely] * len(hits)
        )
        return ask()

    assert at(LEAST_LIKELY / 2).cited == ()
    assert any("没有能回答" in notice for notice in at(LEAST_LIKELY / 2).notices)
    assert any("不一定能回答" in notice for notice in at(SURELY_LIKELY / 2).notices)
    assert not any("不一定能回答" in notice for notice in at(SURELY_LIKELY).notices)


def test_a_library_without_statutes_says_so(tmp_path: Path, ask: Asking) -> None:
    workspace = make_workspace(tmp_path, {"evidence/note.md": "Cool roofs."}, HASHING)
    build(workspace.namespace("thesis"))
    with pytest.raises(UsageError, match=r"chunk\.mode: law"):
        rag_assets.ask_law(workspace, QUESTION, date.fromisoformat(DAY))
    with Retriever(workspace) as opened:
        assert opened.readers
