"""Whether the words that a ground cites say what it says: told and kept, and nothing refused."""

from collections.abc import Sequence

import pytest

from rag_assets.judging import Judgement, PassageText, Scorer, Thresholds
from rag_assets.lab.orchestrating import collecting
from rag_assets.lab.orchestrating.naming import Named
from rag_assets.lab.queueing import render_run, replay_trace
from rag_assets.lab.store import Ground
from rag_assets.llm import ChatRequest
from rag_assets.model import ConfigurationError
from rag_assets.settings import ScorerName
from rag_assets_tests.lab.laboratories import run_of
from rag_assets_tests.lab.scripted_runs import (
    MODULATION,
    SEARCH,
    SHELF,
    Made,
    Shelf,
    finish,
    kb,
    lesson,
    propose,
    run,
)

COUPLING = SHELF["coupling"].split(". ")[0] + "."
CHINESE = "铜和钼掺杂的 TiO2 使 CO 偶联成乙烯。"


class FixedScorer:
    """Finds the first sentence of the first passage, and says always the same of it."""

    name: ScorerName = "llm"
    fingerprint = "fixed"
    thresholds = Thresholds(0.5, 0.2, "test", "test")

    def __init__(self, status: str = "WEAK") -> None:
        self._is_ok = status == "OK"

    def judge(self, claims: Sequence[tuple[str, Sequence[PassageText]]]) -> list[Judgement]:
        return [
            Judgement(
                0.9 if self._is_ok else 0.3,
                "OK" if self._is_ok else "WEAK",
                "supported" if self._is_ok else "weakly_supported",
                "It was read.",
                0,
                passages[0].sentences[0],
            )
            for _, passages in claims
        ]


def unopened() -> Scorer:
    raise ConfigurationError("verify.scorer: llm needs a model, and 'llm' names none.")


def said(statement: str, *, mark: str = "C1", basis: str = "evidence") -> dict[str, object]:
    return propose(
        grounds=[{"statement": statement, "basis": basis, "field": "M1", "citations": [mark]}]
    )


def shown(made: Made) -> str:
    run_made = run_of("r9").model_copy(update={"recipes": made.outcome.recipes})
    return render_run(run_made, made.events)


def cited(made: Made) -> list[Ground]:
    return [g for recipe in made.outcome.recipes for g in recipe.grounds if g.citations]


def test_quotes_of_the_rules_are_supported_where_they_stand_in_their_source() -> None:
    made = run(wanted=1)
    grounds = cited(made)
    quoted = [ground for ground in grounds if ground.statement.startswith('"')]
    assert len(quoted) == 4
    for ground in quoted:
        assert ground.support is not None
        assert ground.support.verdict == "supported"
        assert ground.support.quote in "\n".join(SHELF.values())
        assert ground.support.citation in ground.citations
    (counted,) = (ground for ground in grounds if ground not in quoted)
    assert counted.support is not None
    assert counted.support.verdict == "not_judged"


def test_a_quote_that_does_not_stand_there_is_not_supported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = collecting.name_parts

    def misquoting(text: str, *, everything: bool = False) -> Named:
        named = real(text, everything=everything)
        told = {key: f"{sentence} Certainly." for key, sentence in named.sentences.items()}
        return Named(named.metals, named.modifiers, named.ratios, told)

    monkeypatch.setattr(collecting, "name_parts", misquoting)
    verdicts = {g.support.verdict for g in cited(run()) if g.support and '"' in g.statement}
    assert verdicts == {"not_supported"}


def test_what_experience_says_is_quoted_too() -> None:
    made = run(shelf=Shelf([lesson()]))
    assert {g.support.verdict for g in cited(made) if g.support and '"' in g.statement} == {
        "supported"
    }


def test_without_a_reader_words_that_stand_there_count_and_others_are_not_judged() -> None:
    made = run(SEARCH, said(COUPLING), finish("R1"))
    (ground,) = cited(made)
    assert ground.support is not None
    assert (ground.support.verdict, ground.support.quote) == ("supported", COUPLING)
    made = run(SEARCH, said("Two metals couple carbon monoxide better than one."), finish("R1"))
    (ground,) = cited(made)
    assert ground.support is not None
    assert (ground.support.verdict, ground.support.by) == ("not_judged", "")
    assert "nobody has read it" in ground.support.reason


@pytest.mark.parametrize(("status", "verdict"), [("OK", "supported"), ("WEAK", "not_supported")])
def test_a_reader_decides_and_its_word_is_kept(status: str, verdict: str) -> None:
    made = run(SEARCH, said("They couple CO."), finish("R1"), scorer=lambda: FixedScorer(status))
    (ground,) = cited(made)
    assert ground.support is not None
    assert ground.support.verdict == verdict
    assert (ground.support.by, ground.support.quote) == ("llm", COUPLING)
    (event,) = made.kinds("weighed")
    assert event["verdicts"][0]["verdict"] == verdict
    assert made.events[-1]["recipes"][0]["grounds"][0]["support"]["verdict"] == verdict


def test_a_run_is_made_again_with_its_verdicts_and_without_a_reader() -> None:
    made = run(SEARCH, said("They couple CO."), finish("R1"), scorer=lambda: FixedScorer("OK"))
    again, outcome = replay_trace(made.text, "trace")
    assert again == made.text
    assert outcome is not None
    assert outcome.recipes == made.outcome.recipes


def test_where_nobody_can_read_the_recipes_are_kept_and_say_so() -> None:
    made = run(SEARCH, said("They couple CO."), finish("R1"), scorer=unopened)
    (ground,) = cited(made)
    assert made.outcome.state == "done"
    assert ground.support is not None
    assert ground.support.verdict == "not_judged"
    assert "verify.scorer" in ground.support.reason


def test_what_is_said_in_another_language_and_uncertain_stands_apart_with_the_original() -> None:
    made = run(SEARCH, said(CHINESE), finish("R1"), scorer=FixedScorer)
    (ground,) = cited(made)
    assert ground.support is not None
    assert ground.support.other_language
    assert ground.stands_apart
    page = shown(made)
    in_place, _, apart = page.partition("Said in another language than its source")
    assert CHINESE not in in_place
    assert CHINESE in apart
    assert f"> {COUPLING}" in apart
    assert "stands below, with the words of its source" in in_place


def test_what_is_said_in_another_language_and_supported_stands_in_its_place() -> None:
    made = run(SEARCH, said(CHINESE), finish("R1"), scorer=lambda: FixedScorer("OK"))
    page = shown(made)
    assert "another language" not in page
    assert f"{CHINESE} [1] *(literature; supported)*" in page


def test_reasoning_that_cites_is_weighed_as_well() -> None:
    made = run(MODULATION, said("Acids help.", basis="reasoning"), finish("R1"), scorer=FixedScorer)
    (ground,) = cited(made)
    assert ground.basis == "reasoning"
    assert ground.support is not None
    assert ground.support.verdict == "not_supported"
    assert kb("acids") in ground.citations


def test_a_run_that_is_canceled_before_its_grounds_are_read_has_no_result() -> None:
    answers = [SEARCH, said("They couple CO."), finish("R1")]
    # Asked before each answer, before the look, and before the reading.
    asked = iter([False] * 4 + [True])
    made = run(*answers, is_canceled=lambda: next(asked), scorer=FixedScorer)
    assert made.outcome.state == "canceled"
    assert not made.kinds("weighed")
    again, _ = replay_trace(made.text, "trace")
    assert again == made.text


def test_a_run_out_of_time_keeps_its_recipes_unread() -> None:
    late: list[float] = []

    def rank(_: ChatRequest) -> object:
        late.append(9999.0)
        return finish("R1")

    made = run(
        SEARCH, said("They couple CO."), rank, scorer=FixedScorer, clock=lambda: sum(late),
    )  # fmt: skip
    assert made.outcome.ended_by == "seconds"
    (ground,) = cited(made)
    assert ground.support is not None
    assert ground.support.verdict == "not_judged"
    again, _ = replay_trace(made.text, "trace")
    assert again == made.text
