"""Which sentence of what was found is quoted, and when nothing matches well."""

import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_assets.evidence import (
    Question,
    ask,
    make_pack,
    pack_from_json,
    pack_to_json,
    render_pack,
    replay,
)
from rag_assets.evidence.answering import FoundParent, choose_answers, judge_match, read_parents
from rag_assets.evidence.rendering import render_page
from rag_assets.retrieval import Hit
from rag_assets.workspace import Workspace

ROOF = "Sedum roofs were 16 degrees cooler than bitumen in July."
OTHERS = (
    "Rents held steady in most towns. Landlords were asked once a year by letter.",
    "Bridges need paint every decade. Rust begins where two plates meet.",
)


def parent(
    *texts: str, name: str = "a", score: float = 1.0, found: int = 0, headings: Sequence[str] = ()
) -> FoundParent:
    """Return a parent of passages that follow one another, of which one was found."""
    hits, start = [], 0
    for index, text in enumerate(texts):
        hits.append(
            Hit(
                "thesis", f"{name}:{index}", f"{name}:s001", name, name, None, None, "evidence",
                None, True, index, None, None, start, start + len(text), tuple(headings), text,
                "", "", False, score=score,
            )
        )  # fmt: skip
        start += len(text) + 2
    return FoundParent(None, tuple(hits), hits[found])


def quoted(question: str, *found: FoundParent) -> list[str]:
    answers = choose_answers(found, read_parents(question, found))
    return [one.hit.text[one.start : one.end] for own in answers for one in own]


@pytest.mark.parametrize(
    ("most_words", "wanted"),
    [
        (0, ROOF),
        (20, f"{ROOF} Grass roofs were 9 degrees cooler than bitumen."),
        (60, f"Rents held steady. {ROOF} Grass roofs were 9 degrees cooler than bitumen."),
    ],
)
def test_a_quote_goes_on_while_its_words_last(most_words: int, wanted: str) -> None:
    row = "| roof | cooler |\n|---|---|\n| sedum | 16 |"
    text = f"Rents held steady. {ROOF} Grass roofs were 9 degrees cooler than bitumen."
    found = parent(text, row, "It rained in May.")
    read = read_parents("How much cooler were sedum roofs than bitumen?", [found])
    ((answer,),) = choose_answers([found], read, most_words)
    assert answer.hit.text[answer.start : answer.end] == wanted


def test_sentence_that_answers_is_quoted() -> None:
    text = f"Roofs were planted in May. {ROOF} Rain changed nothing about that."
    assert quoted("How much cooler than bitumen are sedum roofs?", parent(text)) == [ROOF]


def test_answer_beside_the_passage_found_is_quoted_with_its_own_passage() -> None:
    found = parent("Roofs of many kinds were planted.", ROOF)
    read = read_parents("How cool are sedum roofs in July?", [found])
    ((answer,),) = choose_answers([found], read)
    assert answer.hit.chunk_id == "a:1"
    assert answer.hit.text[answer.start : answer.end] == ROOF


def test_question_is_not_quoted_but_the_answer_that_follows_it() -> None:
    text = "Q: How cool are sedum roofs? A: By sixteen degrees. Q: Why? A: They hold water."
    assert quoted("How cool are sedum roofs?", parent(text)) == ["A: By sixteen degrees."]
    assert quoted(
        "行道树使气温降低多少？", parent("问：行道树使气温降低多少？答：降低1.8度。")
    ) == ["答：降低1.8度。"]
    assert quoted("How cool are roofs?", parent("How cool are roofs?")) == ["How cool are roofs?"]


def test_number_is_quoted_where_one_is_asked_for() -> None:
    text = "Many plots were planted before the trial. In all, 46 plots were measured."
    (quote, *_) = quoted("How many plots were measured?", parent(text), parent(*OTHERS, name="b"))
    assert quote == "In all, 46 plots were measured."
    text = "树木很多，街道受到影响。调查的街道共有46条。"
    assert quoted("调查了多少条街道？", parent(text)) == ["调查的街道共有46条。"]


def test_heading_and_notice_are_not_quoted_beside_text() -> None:
    text = "Cool sedum roofs\n\n© The Authors of cool sedum roofs.\n\nRoofs were measured in July."
    assert quoted("cool sedum roofs", parent(text, headings=["Cool sedum roofs"])) == [
        "Roofs were measured in July."
    ]


def test_sentence_about_copyright_is_quoted() -> None:
    text = "Copyright subsists in original works. Patents protect what was invented."
    assert quoted("What does copyright subsist in?", parent(text)) == [
        "Copyright subsists in original works."
    ]


def test_parent_without_a_sentence_has_no_answer() -> None:
    found = parent("![x](attachment:1)"), parent(ROOF, name="b")
    assert quoted("sedum roofs", *found) == [ROOF]
    assert quoted("sedum roofs") == []


def test_question_in_chinese_finds_an_english_sentence() -> None:
    found = parent(*OTHERS, "The temperature of the last zone never exceeded 240 degrees.")
    assert quoted("最后一个温区的温度最高是多少度？", found) == [
        "The temperature of the last zone never exceeded 240 degrees."
    ]


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from([ROOF, *OTHERS, "", "街道。", "?"]), min_size=1), max_size=3),
    st.text(max_size=12),
)
def test_quote_is_a_trimmed_piece_of_one_of_the_parents_passages(
    texts: list[list[str]], question: str
) -> None:
    found = [parent(*own, name=f"d{index}") for index, own in enumerate(texts)]
    answers = choose_answers(found, read_parents(question, found), 60, 3)
    for chosen, own in zip(answers, found, strict=True):
        assert len(chosen) <= 3
        assert [one.score for one in chosen] == sorted((one.score for one in chosen), reverse=True)
        places: set[tuple[str, int]] = set()
        for one in chosen:
            assert one.hit in own.passages
            words = one.hit.text[one.start : one.end]
            assert words
            assert words == words.strip()
            own_places = {(one.hit.chunk_id, place) for place in range(one.start, one.end)}
            assert not own_places & places
            places |= own_places


def _match(question: str, *found: FoundParent) -> float:
    return judge_match(question, read_parents(question, found), is_named=False).likelihood


def test_library_that_answers_matches_better_than_one_that_does_not() -> None:
    with_answer = [parent(*OTHERS), parent(ROOF, name="b")]
    question = "How much cooler than bitumen are sedum roofs in July?"
    assert _match(question, *with_answer) > _match(question, *with_answer[:1])
    assert _match(question, *with_answer) > _match("Who won the football cup?", *with_answer)


@pytest.mark.parametrize("question", ["the", "的", "?1", "Who won?"])
def test_questions_almost_without_words_are_judged(question: str) -> None:
    assert np.isfinite(_match(question, parent(ROOF)))


def test_nothing_found_is_no_match_and_a_named_article_is_one() -> None:
    nothing = read_parents("roofs", [])
    assert judge_match("roofs", nothing, is_named=False).sentence is not None
    assert judge_match("roofs", nothing, is_named=True).is_good


def test_items_stand_in_the_order_of_the_one_score_that_is_shown(library: Workspace) -> None:
    pack = make_pack(library, Question(question="How much cooler than bitumen were sedum roofs?"))
    assert [item.rank for item in pack.items] == [*range(1, len(pack.items) + 1)]
    assert "16.7 degrees cooler" in pack.items[0].exact_quote
    scores = [item.retrieval_score for item in pack.items]
    assert scores == sorted(scores, reverse=True)
    assert pack.match is not None
    assert scores[0] == pack.match.likelihood


def test_question_about_another_subject_has_no_good_match(library: Workspace) -> None:
    pack = make_pack(library, Question(question="Which football club won the cup in Brazil?"))
    assert pack.match is not None
    assert not pack.match.is_good
    assert pack.match.likelihood < pack.match.threshold
    assert pack.items


@pytest.mark.parametrize(
    ("question", "says"), [("Who won?", "No good match"), ("谁赢了比赛？", "没有好的匹配")]
)
def test_pack_says_first_and_in_the_questions_language_that_nothing_matches(
    library: Workspace, question: str, says: str
) -> None:
    match = judge_match(question, read_parents(question, []), is_named=False)
    pack = replace(make_pack(library, Question(question="sedum roofs")), match=match)
    lines = [line for line in render_pack(pack).splitlines() if line]
    assert lines[1].startswith(f"**{says}")
    page = render_page(library, pack)
    assert page.index(says) < page.index("<dl>")


def test_pack_of_a_question_that_is_answered_says_nothing_of_it(library: Workspace) -> None:
    pack = make_pack(library, Question(question="How much cooler than bitumen are sedum roofs?"))
    assert pack.match is not None
    assert pack.match.is_good
    assert pack.match.sentence is None
    assert "No good match" not in render_pack(pack)


def test_pack_of_the_version_before_is_read_and_replayed(own: Workspace) -> None:
    outcome = ask(own, "How much cooler are sedum roofs?")
    older = pack_to_json(outcome.pack) | {"schema": "rag-assets/evidence-pack/4", "layout": 2}
    del older["match"]
    read = pack_from_json(older)
    assert read.match is None
    assert replace(read, match=outcome.pack.match, layout=outcome.pack.layout) == outcome.pack
    outcome.json.write_text(json.dumps(older), "utf-8")
    differences = replay(own, outcome.json).differences
    assert any("schema is" in one for one in differences)
    assert any("laid out by another version" in one for one in differences)
