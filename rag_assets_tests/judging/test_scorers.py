"""Scorers behind one protocol: the same claim and passages, the same judgement."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from rag_assets.judging import Scorer, load_scorer
from rag_assets.model import ConfigurationError
from rag_assets.model.settings import VerifySettings
from rag_assets.workspace import shipped_settings
from rag_assets_tests.judging.sentences import passage

CLAIMS = [
    ("Cold exposure increased the yield of the catalyst by 45 mg.",
     [passage("The study was made in Lisbon.",
              "Cold exposure increased the yield of the catalyst by 45 mg per sample.")]),
    ("The treaty was signed in 1912.", [passage("Cats sleep a lot."), passage("So do dogs.")]),
    ("Cold exposure reduced the yield of the catalyst by 45 mg.",
     [passage("Cold exposure increased the yield of the catalyst by 45 mg per sample.")]),
]  # fmt: skip


class LetterEncoder:
    """Counts letters; knows no Chinese."""

    fingerprint = "letters"

    def encode_queries(self, texts: list[str]) -> NDArray[np.float32]:
        return self.encode_passages(texts)

    def encode_passages(self, texts: list[str]) -> NDArray[np.float32]:
        rows = [[t.casefold().count(chr(97 + i)) + 0.01 for i in range(26)] for t in texts]
        found = np.array(rows, np.float32)
        found /= np.linalg.norm(found, axis=1, keepdims=True)
        return found

    def unknown_share(self, text: str) -> float:
        return sum(c > "\u3400" for c in text) / max(1, len(text))


def verify(**changes: object) -> VerifySettings:
    return shipped_settings(None).verify.model_copy(update=changes)


SCORERS = {
    "similarity": lambda: load_scorer(verify(scorer="similarity"), LetterEncoder()),
    "facts": lambda: load_scorer(verify(scorer="facts")),
}


@pytest.fixture(params=sorted(SCORERS))
def scorer(request: pytest.FixtureRequest) -> Scorer:
    return SCORERS[request.param]()


def test_a_claim_is_judged_alike_alone_and_in_a_batch(scorer: Scorer) -> None:
    together = scorer.judge(CLAIMS)
    assert together == [scorer.judge([claim])[0] for claim in CLAIMS]
    assert together == scorer.judge(CLAIMS[::-1])[::-1]


def test_a_judgement_points_at_a_sentence_of_its_passage(scorer: Scorer) -> None:
    for (_, passages), judgement in zip(CLAIMS, scorer.judge(CLAIMS), strict=True):
        assert judgement.span in passages[judgement.passage].sentences
        assert judgement.reason.endswith(".")


def test_status_follows_the_score(scorer: Scorer) -> None:
    for judgement in scorer.judge(CLAIMS):
        if judgement.reason_code == "contradicted":
            assert judgement.status == "MISSING"
        elif judgement.reason_code == "facts_differ" or "confirms" in judgement.reason:
            assert judgement.status == "WEAK"  # whatever its score
        elif judgement.score >= scorer.thresholds.ok:
            assert judgement.status == "OK"
        else:
            is_weak = judgement.score >= scorer.thresholds.weak
            assert judgement.status == ("WEAK" if is_weak else "MISSING")


@settings(deadline=None, max_examples=60)
@given(st.text(min_size=1, max_size=60), st.text(min_size=1, max_size=60))
def test_any_texts_get_a_finite_score(claim: str, text: str) -> None:
    for make in SCORERS.values():
        (judgement,) = make().judge([(claim, [passage(text)])])
        assert math.isfinite(judgement.score)
        assert 0 <= judgement.score <= 1


@pytest.mark.parametrize(
    ("claim", "text", "what"),
    [("产量上升", "产量上升了", "sentence"), ("Yields rose.", "产量上升了", "passages")],
)
def test_what_similarity_cannot_read_is_unread_and_names_another_scorer(
    claim: str, text: str, what: str
) -> None:
    (judgement,) = SCORERS["similarity"]().judge([(claim, [passage(text)])])
    assert (judgement.status, judgement.reason_code, judgement.score) == ("WEAK", "unread", 0.0)
    assert judgement.note is not None
    assert f"does not know the words of the {what}" in judgement.note
    assert "verify.scorer to llm" in judgement.note


def test_numbers_are_compared_where_the_words_cannot_be_read() -> None:
    (judgement,) = SCORERS["similarity"]().judge(
        [("产量上升了12%。", [passage("产量上升了15%。")])]
    )
    assert (judgement.status, judgement.reason_code) == ("WEAK", "facts_differ")


def test_the_thresholds_of_the_specification_say_so() -> None:
    scorer = SCORERS["similarity"]()
    assert (scorer.thresholds.ok, scorer.thresholds.weak) == (0.55, 0.40)
    assert scorer.thresholds.ok_origin == "spec 000 default"


def test_weak_never_begins_above_ok() -> None:
    thresholds = load_scorer(verify(scorer="similarity", threshold=0.3), LetterEncoder()).thresholds
    assert (thresholds.ok, thresholds.weak) == (0.3, 0.3)


def test_similarity_without_a_model_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(ConfigurationError, match=r"embed\.models"):
        load_scorer(verify(scorer="similarity"))
