"""Whether the words that a ground cites say what it says: told and kept, and nothing refused."""

from collections.abc import Sequence

import pytest

from rag_assets.judging import Judgement, PassageText, Scorer, Thresholds
from rag_assets.lab import collecting
from rag_assets.lab.chemistry import Named
from rag_assets.lab.runs import Ground
from rag_assets.lab.showing import render_run, replay_trace
from rag_assets.lab.weighing import PROGRAM_CHECK, _names
from rag_assets.llm import ChatRequest
from rag_assets.model import ConfigurationError
from rag_assets.model.settings import ScorerName
from rag_assets_tests.lab.laboratories import run_of
from rag_assets_tests.lab.scripted_runs import (
    LESSON,
    MODULATION,
    SEARCH,
    SHELF,
    Made,
    Shelf,
    act,
    finish,
    kb,
    lesson,
    plan,
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


def test_collected_quotes_stand_in_their_source_and_nobody_judged_them() -> None:
    made = run(wanted=1)
    grounds = cited(made)
    quoted = [ground for ground in grounds if ground.statement.startswith('"')]
    assert len(quoted) >= 4
    for ground in quoted:
        assert ground.support is not None
        assert (ground.support.verdict, ground.support.by) == ("not_judged", "word for word")
        assert ground.support.quote in "\n".join(SHELF.values())
        # One that holds it, not one that merely names the part.
        for citation in ground.citations:
            (name,) = (each for each in SHELF if kb(each) == citation)
            assert ground.support.quote in SHELF[name]
    (counted,) = (ground for ground in grounds if ground not in quoted)
    assert counted.support is not None
    assert (counted.support.verdict, counted.support.by) == ("not_judged", "")


def test_a_quote_that_does_not_stand_there_is_not_supported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = collecting.name_parts

    def misquoting(text: str, *, everything: bool = False) -> Named:
        named = real(text, everything=everything)
        told = {
            part: tuple(f"{each} Certainly." for each in sentences)
            for part, sentences in named.sentences.items()
        }
        return Named(named.metals, named.modifiers, named.ratios, told)

    monkeypatch.setattr(collecting, "name_parts", misquoting)
    verdicts = {g.support.verdict for g in cited(run()) if g.support and '"' in g.statement}
    assert verdicts == {"not_supported"}


def test_what_experience_says_is_quoted_too() -> None:
    made = run(shelf=Shelf([lesson()]))
    quotes = [g for g in cited(made) if '"' in g.statement]
    assert LESSON in {citation for ground in quotes for citation in ground.citations}
    assert {g.support.by for g in quotes if g.support} == {"word for word"}


@pytest.mark.parametrize(
    ("statement", "field", "why"),
    [
        # The passage: TiO2 doped with copper and molybdenum coupled CO to ethylene, 2:1.
        ("They gave 84 % ethylene.", "M1", "No source cited has 84 %"),
        ("They gave 12 μmol g−1 h−1 of ethylene.", "M1", "No source cited has 12"),
        ("A Cu:Mo ratio of 3:1 was the most selective.", "atomic_ratio", "3"),
        ("Palladium beside copper coupled CO.", "M1", "names Pd"),
        ("They coupled CO with methanol.", "M1", "names CH3OH"),
        ("They coupled CO over L-histidine.", "M1", "names L-histidine"),
        ("甘氨酸使 CO 偶联。", "M1", "names glycine"),
        ("They coupled CO.", "small_molecule_modifier", "names 4-aminobenzoic acid"),
        ("It says “copper is far better than gold here”.", "M1", "names Au"),
        ("It says “this is the best of all catalysts”.", "M1", "has the words"),
    ],
)
def test_a_lie_that_the_reader_believes_is_not_supported(
    statement: str, field: str, why: str
) -> None:
    ground = {"statement": statement, "basis": "evidence", "field": field, "citations": ["C1"]}
    made = run(SEARCH, propose(grounds=[ground]), finish("R1"), scorer=lambda: FixedScorer("OK"))
    (found,) = (one for one in cited(made) if one.statement == statement)
    assert found.support is not None
    assert (found.support.verdict, found.support.by) == ("not_supported", PROGRAM_CHECK)
    assert why in found.support.reason


@pytest.mark.parametrize(
    ("statement", "field"),
    [
        ("Copper and molybdenum couple CO to C2H4.", "M2"),
        ("Cu2Mo1-TiO2, a ratio of 2:1, was the most selective.", "atomic_ratio"),
        ("铜和钼掺杂的 TiO2 使 CO 偶联成乙烯。", "M1"),
    ],
)
def test_what_the_source_says_in_other_words_is_left_to_the_reader(
    statement: str, field: str
) -> None:
    ground = {"statement": statement, "basis": "evidence", "field": field, "citations": ["C1"]}
    made = run(SEARCH, propose(grounds=[ground]), finish("R1"), scorer=lambda: FixedScorer("OK"))
    (found,) = (one for one in cited(made) if one.statement == statement)
    assert found.support is not None
    assert found.support.verdict == "supported"


def test_a_ground_keeps_only_the_citations_that_hold_it() -> None:
    everything = ["C1", "C2", "C3", "C4"]
    ground = {"statement": "CuW-TiO2 had many oxygen vacancies.", "basis": "evidence",
              "field": "M1", "citations": everything}  # fmt: skip
    made = run(SEARCH, MODULATION, propose(grounds=[ground]), finish("R1"))
    (found,) = cited(made)
    assert found.citations == (kb("tungsten"),)
    # Unread it keeps those in which all that it names is found.
    ground["statement"] = "Tungsten beside copper makes vacancies."
    made = run(SEARCH, MODULATION, propose(grounds=[ground]), finish("R1"))
    (found,) = cited(made)
    assert found.citations == (kb("tungsten"),)
    entry = made.outcome.note.entries("evidence")[-1]
    assert entry.citations == (kb("tungsten"),)
    again, outcome = replay_trace(made.text, "trace")
    assert (again, outcome) == (made.text, made.outcome)


def test_grounds_of_one_recipe_that_say_opposites_are_shown_so() -> None:
    one, other = "Glycine raised ethylene selectivity.", "Glycine lowered ethylene selectivity."
    grounds = [
        {"statement": each, "basis": "evidence", "field": "small_molecule_modifier",
         "citations": ["C1"]}
        for each in (one, other)
    ]  # fmt: skip
    made = run(MODULATION, propose(grounds=grounds), finish("R1"), scorer=lambda: FixedScorer("OK"))
    first, second = cited(made)
    assert (first.contradicted_by, second.contradicted_by) == ((other,), (one,))
    assert f"**contradicted by “{other}”**" in shown(made)


def test_what_a_model_writes_beside_the_grounds_is_called_its_own_words() -> None:
    note = plan(
        act("note", section="evidence", text="Gold gave 99 % ethylene.", citations=["C1"]),
    )
    risk = plan(act("note", section="risks", text="Light may bleach it."))
    made = run(SEARCH, note, risk, said(COUPLING), propose("C1", M2="W"), finish("R1", R2="No."))
    run_made = run_of("r9").model_copy(
        update={"recipes": made.outcome.recipes, "snapshot": {"ended_by": "finish"}}
    )
    page = render_run(run_made, made.events)
    assert "Gold gave 99 % ethylene. [1] *(the model's own words, not checked)*" in page
    assert "Light may bleach it. *(the model's own words, not checked)*" in page
    assert "Why here (the model's own words, not checked): Reason of R1." in page
    assert "## Considered and left out (the model's own words, not checked)" in page
    # What the program registered itself is not.
    (by_program,) = (e for e in made.outcome.note.entries("evidence") if e.text == COUPLING)
    assert not by_program.is_own_words


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


def test_units_are_no_metals_and_names_keep_their_locants() -> None:
    statement = "With 4 V and TiO2 4-aminobenzoic acid gave more ethylene."
    made = run(MODULATION, said(statement), finish("R1"), scorer=lambda: FixedScorer("OK"))
    (support,) = [ground.support for ground in cited(made) if ground.support]
    assert support.reason == "No source cited has 4 V."
    made = run(MODULATION, said(statement.replace("4 V and ", "")), finish("R1"),
               scorer=lambda: FixedScorer("OK"))  # fmt: skip
    (support,) = [ground.support for ground in cited(made) if ground.support]
    assert support.verdict == "supported"


@pytest.mark.parametrize(
    ("text", "names"), [("a ratio of 3:1.", True), ("a ratio of 3:1.5", False), ("13:1", False)]
)
def test_a_ratio_may_end_a_sentence(text: str, *, names: bool) -> None:
    assert _names(text, "3:1") is names


def test_a_recipe_without_any_source_that_holds_it_says_so() -> None:
    sentence = "None of its sources supports with certainty"
    made = run(SEARCH, said("Copper gave 97 % ethylene."), finish("R1"))
    assert made.outcome.recipes[0].is_unsupported
    assert sentence in shown(made)
    assert sentence not in shown(run(SEARCH, said(COUPLING), finish("R1")))
