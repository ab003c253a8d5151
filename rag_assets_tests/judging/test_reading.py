"""Scorer `llm`: what a model may answer, and what the program makes of it."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rag_assets.judging import load_scorer
from rag_assets.judging import readers as asked_readers
from rag_assets.judging.facts import MOST_SENTENCES, choose_sentences, likeliest
from rag_assets.judging.readers import (
    OddsReader,
    ReaderFit,
    find_fit,
    load_reader_scorer,
    logit_of,
    split_parts,
)
from rag_assets.llm import (
    Budget,
    ChatModel,
    ChatRequest,
    Completion,
    ScriptedModel,
    TokenLogprob,
    Usage,
    read_script,
)
from rag_assets.llm.local_models import default_reader, known_models
from rag_assets.model import AnswerError, ConfigurationError
from rag_assets.model.settings import ReaderSettings, ScorerName, VerifySettings
from rag_assets.workspace import shipped_settings
from rag_assets_tests.judging.sentences import passage

ROSE = passage("Yields rose by 12% in 2019.", "Prices fell.")
CLAIM = ("Yields rose in 2019.", [ROSE, passage("Nothing else did.")])
TWO = ("Yields rose by 12% that year, and prices doubled in every single market.", [ROSE])


def settings(scorer: ScorerName = "llm") -> VerifySettings:
    return shipped_settings(None).verify.model_copy(update={"scorer": scorer})


def scripted(folder: Path, text: str) -> ScriptedModel:
    (folder / "answers.yaml").write_text(text, encoding="utf-8")
    return ScriptedModel(read_script(folder / "answers.yaml"))


class LocalScript:
    """A model of this machine: answers by the statement, and counts."""

    name = "local:script"

    def __init__(self, yes: dict[str, float]) -> None:
        self.yes = yes
        self.asked: list[str] = []

    def describe(self) -> dict[str, str | int | float]:
        return {"kind": "local", "model": "script", "sha256": "0" * 64}

    def complete(self, request: ChatRequest, budget: Budget | None = None) -> Completion:
        last = request.messages[-1].content
        self.asked.append(last)
        statement = last.rpartition("Statement: ")[2].partition("\n\n")[0]
        share = self.yes[statement]
        tokens = (TokenLogprob("Yes", math.log(share)), TokenLogprob("No", math.log(1 - share)))
        return Completion(
            "Yes" if share > 0.5 else "No", "length", Usage(1, 1), "script", logprobs=(tokens,)
        )


def judge(chat: ChatModel, claim: Any = CLAIM) -> Any:
    (judgement,) = load_scorer(settings(), chat=chat).judge([claim])
    return judgement


def test_the_probability_of_a_token_is_the_score() -> None:
    judgement = judge(LocalScript({"Yields rose in 2019.": 0.9}))
    assert judgement.score == pytest.approx(0.9)
    assert (judgement.status, judgement.passage) == ("OK", 0)
    assert "read by local:script" in judgement.reason


def test_a_reader_that_was_not_measured_prints_no_probability() -> None:
    judgement = judge(LocalScript({"Yields rose in 2019.": 0.9}))
    assert "probability" not in judgement.reason
    assert "was not measured" in judgement.reason


def fit_of(error: float) -> ReaderFit:
    return ReaderFit(
        fingerprint=OddsReader(LocalScript({})).fingerprint, model="local:script", data="10 rows",
        slope=2.0, intercept=0.0, ok=0.8, weak=0.2, auc=0.8, ok_supported=0.5, ok_unsupported=0.1,
        calibration_error=error,
    )  # fmt: skip


@pytest.mark.parametrize(("error", "is_printed"), [(0.05, True), (0.11, False)])
def test_a_probability_is_printed_only_where_it_is_calibrated(
    monkeypatch: pytest.MonkeyPatch, error: float, is_printed: bool
) -> None:
    monkeypatch.setattr(asked_readers, "find_fit", lambda _fingerprint: fit_of(error))
    judgement = judge(LocalScript({"Yields rose in 2019.": 0.75}))
    assert judgement.status == "OK"
    assert judgement.score == pytest.approx(0.9)
    assert ("probability 0.90" in judgement.reason) is is_printed


def test_yes_below_the_fitted_threshold_is_not_ok(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asked_readers, "find_fit", lambda _fingerprint: fit_of(0.05))
    assert judge(LocalScript({"Yields rose in 2019.": 0.55})).status == "WEAK"


def test_the_sentence_that_likeliest_decides_is_printed_and_the_model_is_not_asked_for_it() -> None:
    found = replace(ROSE, shares=(0.1, 0.6))
    chat = LocalScript({"Yields rose in 2019.": 0.9})
    judgement = judge(chat, (CLAIM[0], [found]))
    assert ROSE.text[slice(*judgement.span)] == "Prices fell."
    assert len(chat.asked) == 1


def test_sentences_are_shown_until_they_hold_enough_of_what_may_decide() -> None:
    three = passage("One fell.", "Two rose.", "Three stood.")
    shown = choose_sentences("Two rose.", [replace(three, shares=(0.05, 0.6, 0.15))])
    assert [sentence.text for sentence in shown] == ["Two rose.", "Three stood."]
    assert likeliest(shown).text == "Two rose."


def test_the_words_that_are_not_supported_are_marked() -> None:
    first, second = split_parts(TWO[0])
    judgement = judge(LocalScript({TWO[0]: 0.2, first: 0.9, second: 0.1}), TWO)
    assert judgement.status != "OK"
    assert [sign.claim for sign in judgement.speaks_against] == [second]


def test_equal_sentences_are_read_once() -> None:
    chat = LocalScript({"Yields rose in 2019.": 0.9})
    scorer = load_scorer(settings(), chat=chat)
    first, second = scorer.judge([CLAIM, CLAIM])
    assert first == second
    assert sum("Statement: Yields" in asked for asked in chat.asked) == 1


def test_an_answer_to_something_else_is_not_read_and_never_ok() -> None:
    tokens = (TokenLogprob("Sorry", -0.01), TokenLogprob("Yes", -9.0))
    completion = Completion("Sorry", "length", Usage(1, 1), "m", logprobs=(tokens,))
    with pytest.raises(AnswerError, match="Sorry"):
        logit_of(completion)
    with pytest.raises(AnswerError, match="no probabilities"):
        logit_of(Completion("Yes", "stop", Usage(1, 1), "m"))


def test_a_service_answers_part_by_part(tmp_path: Path) -> None:
    chat = scripted(
        tmp_path,
        "answers:\n  - data: {parts: [{verdict: supported, sentences: [1]}, "
        "{verdict: not_stated, sentences: []}]}\n",
    )
    judgement = judge(chat, TWO)
    assert (judgement.status, judgement.score) == ("WEAK", 0.5)
    assert [sign.claim for sign in judgement.speaks_against] == [split_parts(TWO[0])[1]]


def test_a_contradiction_is_missing(tmp_path: Path) -> None:
    chat = scripted(
        tmp_path, "answers:\n  - data: {parts: [{verdict: contradicted, sentences: [2]}]}\n"
    )
    judgement = judge(chat)
    assert (judgement.status, judgement.reason_code) == ("MISSING", "contradicted")
    assert ROSE.text[slice(*judgement.span)] == "Prices fell."


@pytest.mark.parametrize(
    "answer",
    [
        "answer: I think so",
        "data: {parts: []}",
        "data: {parts: [{verdict: supported, sentences: [8]}]}",
        "data: {parts: [{verdict: supported, sentences: []}]}",
        "data: {parts: [{verdict: sure, sentences: [1]}]}",
    ],
)
def test_what_cannot_be_used_is_said_and_never_ok(tmp_path: Path, answer: str) -> None:
    judgement = judge(scripted(tmp_path, f"answers:\n  - {answer}\n"))
    assert judgement.status == "WEAK"
    assert judgement.reason.startswith("Not read")
    assert judgement.note is not None and judgement.note.startswith("Not read: ")


def test_llm_without_a_model_says_what_to_do() -> None:
    with pytest.raises(ConfigurationError, match="rag models list"):
        load_scorer(settings())


def test_auto_reads_with_a_model_and_does_without() -> None:
    chat = LocalScript({})
    assert load_scorer(settings("auto"), chat=chat).name == "llm"
    assert load_scorer(settings("auto")).name == "reader"


def test_thresholds_of_the_settings_are_told() -> None:
    scorer = load_reader_scorer(ReaderSettings(threshold=0.8, weak_threshold=None), LocalScript({}))
    assert (scorer.thresholds.ok, scorer.thresholds.ok_origin) == (
        0.8, "setting verify.llm.threshold",
    )  # fmt: skip


def test_long_passages_are_shortened_to_what_speaks_of_the_claim() -> None:
    filler = [f"Sentence {n} is about the weather in the north." for n in range(40)]
    long = passage(*filler[:20], "Yields of wheat rose by 12%.", *filler[20:])
    shown = choose_sentences("Wheat yields rose by 12%.", [long])
    assert len(shown) <= MOST_SENTENCES
    assert "Yields of wheat rose by 12%." in [sentence.text for sentence in shown]
    assert [s.span for s in shown] == sorted(s.span for s in shown)


def test_short_passages_are_shown_whole() -> None:
    assert len(choose_sentences(*CLAIM)) == 3


@pytest.mark.parametrize(
    ("statement", "count"),
    [
        ("Yields rose by 12% that year, and prices doubled in every market.", 2),
        ("Salt, pepper and oil were added.", 1),
        ("该方法的准确率提高了两个百分点，而训练时间缩短了一半。", 2),
        ("出租人可以解除合同。", 1),
    ],
)
def test_parts_are_what_can_be_false_by_itself(statement: str, count: int) -> None:
    assert len(split_parts(statement)) == count
    assert "".join(split_parts(statement)).replace(" ", "") == statement.replace(" ", "")


def test_what_decides_a_reading_is_in_its_fingerprint() -> None:
    class Other(LocalScript):
        def describe(self) -> dict[str, str | int | float]:
            return {**super().describe(), "sha256": "1" * 64}

    assert OddsReader(LocalScript({})).fingerprint != OddsReader(Other({})).fingerprint


def test_the_shipped_fit_is_that_of_the_shipped_model_and_prompt() -> None:
    name = default_reader()

    class Shipped(LocalScript):
        name = f"local:{default_reader()}"

        def describe(self) -> dict[str, str | int | float]:
            return {"kind": "local", "model": name, "sha256": known_models()[name].sha256}

    fit = find_fit(OddsReader(Shipped({})).fingerprint)
    assert fit is not None
    assert fit.is_calibrated
    assert fit.ok_unsupported < fit.ok_supported
