"""An answer is divided into sentences, each with what it cites and whom it credits."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from rag_assets.answering import answer_scorer
from rag_assets.answering.agents import (
    AliasRegistry,
    CheckedStatement,
    check_statements,
    find_marks,
)
from rag_assets.answering.agents.statements import (
    Claim,
    RecordedJudge,
    ScorerJudge,
    read_statements,
    unknown_credits,
)
from rag_assets.model import RecordingError
from rag_assets.workspace import shipped_settings
from rag_assets_tests.agents.toys import SHELF, passage

FOUND = {"C1": passage("roofs"), "C2": passage("trees")}
FACTS = ScorerJudge(answer_scorer(shipped_settings()))


@pytest.mark.parametrize(
    ("answer", "read"),
    [
        ("Roofs are cool [C1]. Trees too [C2, C1].",
         [("Roofs are cool.", ("C1",)), ("Trees too.", ("C2", "C1"))]),
        ("Roofs are cool. [C1] Trees too. [C2]",
         [("Roofs are cool.", ("C1",)), ("Trees too.", ("C2",))]),
        ("Roofs are cool.[C1][C2]\nTrees too", [("Roofs are cool.", ("C1", "C2")),
                                               ("Trees too", ())]),
        ("## Result\n- **Roofs** are cool [C1].\n2. Trees too [C2].",
         [("Result", ()), ("Roofs are cool.", ("C1",)), ("Trees too.", ("C2",))]),
        ("屋顶较凉【C1】。树木也是[C1，C2]。",
         [("屋顶较凉。", ("C1",)), ("树木也是。", ("C1", "C2"))]),
        ("It was 16.7 °C cooler [C1; C2]. [C1]", [("It was 16.7 °C cooler.", ("C1", "C2"))]),
        ("See Fig. 3 [C1] for more [1].", [("See Fig. 3 for more [1].", ("C1",))]),
        ("[C1].\n---\n", []),
    ],
)  # fmt: skip
def test_sentences_are_read_with_their_marks(
    answer: str, read: list[tuple[str, tuple[str, ...]]]
) -> None:
    assert list(read_statements(answer)) == read


def test_a_passage_has_one_name_of_a_run() -> None:
    registry = AliasRegistry()
    assert [registry.register(FOUND[a])[0] for a in ("C2", "C1", "C2")] == ["C1", "C2", "C1"]
    assert list(registry.passages.values()) == [FOUND["C2"], FOUND["C1"]]
    assert find_marks("a [C2, C10] b [C2] [3] C7") == ("C2", "C10")


class Gullible:
    """Believes everything, and remembers what it was shown."""

    def __init__(self) -> None:
        self.shown: list[Claim] = []

    def judge(self, claims: Sequence[Claim]) -> list[CheckedStatement]:
        self.shown += claims
        return [CheckedStatement(c.number, c.text, c.citations, "supported", "") for c in claims]


def test_a_sentence_is_held_against_exactly_what_it_cites() -> None:
    judge = Gullible()
    answer = "One [C1]. Two [C1, C2]. Three [C9]. Four [C2, C9]. Five."
    checked = check_statements(answer, FOUND, judge)
    assert [[one.doc_uid for one in claim.passages] for claim in judge.shown] == [
        ["roofs"], ["roofs", "trees"],
    ]  # fmt: skip
    assert [one.reason_code for one in checked] == [
        "supported", "supported", "unknown_alias", "unknown_alias", "no_citation",
    ]  # fmt: skip
    assert "C9" in checked[2].reason


def test_the_quote_is_where_it_says() -> None:
    said = "Rain changed nothing about that [C1]. It was not so [C2]."
    kept, lost = check_statements(said, FOUND, FACTS)
    assert kept.is_supported
    assert kept.quote is not None
    assert SHELF["roofs"][kept.quote.char_start : kept.quote.char_end] == kept.quote.text
    assert (lost.is_supported, lost.reason_code) == (False, "unread")


def test_a_sentence_of_two_documents_sees_both() -> None:
    answer = f"{SHELF['trees'].rstrip('.')} [C1, C2]."
    (found,) = check_statements(answer, FOUND, FACTS)
    assert found.quote is not None
    assert (found.is_supported, found.quote.alias) == (True, "C2")


def test_what_states_nothing_supports_nothing() -> None:
    headings = {"C1": passage("roofs", "# Roofs")}
    (found,) = check_statements("Roofs are cool [C1].", headings, FACTS)
    assert (found.reason_code, found.quote) == ("states_nothing", None)


def test_a_recorded_judge_knows_only_what_was_judged() -> None:
    checked = check_statements("Rain changed nothing about that [C1].", FOUND, FACTS)
    again = RecordedJudge(checked)
    assert check_statements("Rain changed nothing about that [C1].", FOUND, again) == checked
    with pytest.raises(RecordingError, match="no verdict on “Rain changed all"):
        check_statements("Rain changed all about that [C1].", FOUND, again)


OWN = replace(passage("roofs"), authors=("Clara M. Whitcombe", "李明"), year=2024)


@pytest.mark.parametrize(
    ("claim", "credited"),
    [
        ("Lee et al. (2019) found that rain changed nothing.", ("Lee", "2019")),
        ("Whitcombe et al. (2024) found that rain changed nothing.", ()),
        ("Whitcombe (1999) found that rain changed nothing.", ("1999",)),
        ("Whitcombe and Lee have shown that rain changed nothing.", ("Lee",)),
        ("Table 9 shows that rain changed nothing.", ("9",)),
        ("However, the authors found that rain changed nothing.", ()),
        ("It has been reported that rain changed nothing.", ()),
        ("According to the study, rain changed nothing.", ()),
        ("Rain changed nothing about that.", ()),
        ("Sedum roofs of Lee were cooler.", ()),
        ("王伟等（2019）发现，降雨没有改变这一点。", ("2019", "王伟")),
        ("李明（2024）的研究表明，降雨没有改变这一点。", ()),
        ("《建筑法》第二十条规定，降雨没有改变这一点。", ("建筑法",)),
    ],
)
def test_whom_a_sentence_credits_must_stand_in_what_it_cites(
    claim: str, credited: tuple[str, ...]
) -> None:
    assert unknown_credits(claim, [OWN]) == credited
