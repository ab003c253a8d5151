"""Scorers behind one protocol: the same claim and passages, the same judgement."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from rag_assets.judging import Scorer, load_scorer, term_weight
from rag_assets.judging.pair_reading import BundledPairReader
from rag_assets.judging.support import load_support_scorer
from rag_assets.model import ConfigurationError
from rag_assets.workspace import shipped_settings
from rag_assets.workspace.settings import SupportSettings, VerifySettings
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


READER = BundledPairReader()


def support() -> Scorer:
    return load_support_scorer(SupportSettings(threshold=None, weak_threshold=None), READER)


SCORERS = {
    "similarity": lambda: load_scorer(verify(scorer="similarity"), LetterEncoder()),
    "coverage": lambda: load_scorer(verify(scorer="coverage")),
    "support": support,
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
        elif judgement.score >= scorer.thresholds.ok:
            assert judgement.status == "OK"
        else:
            is_weak = judgement.score >= scorer.thresholds.weak
            assert judgement.status == ("WEAK" if is_weak else "MISSING")


@settings(deadline=None, max_examples=60)
@given(st.text(min_size=1, max_size=60), st.text(min_size=1, max_size=60))
def test_any_texts_get_a_finite_score(claim: str, text: str) -> None:
    for name in ("coverage", "similarity"):
        (judgement,) = SCORERS[name]().judge([(claim, [passage(text)])])
        assert math.isfinite(judgement.score)
        assert 0 <= judgement.score <= 1


def test_a_flipped_direction_scores_below_the_true_claim() -> None:
    true, _, flipped = support().judge(CLAIMS)
    assert true.score > flipped.score
    assert flipped.reason_code in {"contradicted", "not_found"}
    assert flipped.status == "MISSING"


def test_a_contradiction_points_at_the_sentence_that_has_its_words() -> None:
    source = passage(
        "The programme for nurses in Oslo ran from 2010 to 2012.",
        "Wages of nurses in the programme fell sharply.",
    )
    claim = (
        "In the programme for nurses in Oslo, which ran from 2010 to 2012, wages of nurses rose "
        "sharply."
    )
    (judgement,) = support().judge([(claim, [source])])
    assert judgement.reason_code == "contradicted"
    assert judgement.span == source.sentences[1]


def test_another_number_in_another_language_contradicts_what_is_near_alone() -> None:
    source = passage("街道绿化使行人感到凉爽。", "行道树下的气温低1.8 °C。")
    claim = "Car parks were 9.4 °C warmer than parks in August."
    (judgement,) = support().judge([(claim, [source])])
    assert (judgement.status, judgement.reason_code) == ("MISSING", "not_found")


def test_what_similarity_cannot_read_is_counted_by_words() -> None:
    scorer = load_scorer(verify(scorer="similarity"), LetterEncoder())
    (judgement,) = scorer.judge([("产量上升", [passage("产量上升了")])])
    assert judgement.note is not None
    assert judgement.status == "OK"


def test_the_thresholds_of_the_specification_say_so() -> None:
    scorer = load_scorer(verify(scorer="coverage"))
    assert (scorer.thresholds.ok, scorer.thresholds.weak) == (0.55, 0.40)
    assert scorer.thresholds.ok_origin == "spec 000 default"


def test_a_threshold_that_was_set_says_so() -> None:
    settings_ = SupportSettings(threshold=0.9, weak_threshold=None)
    scorer = load_support_scorer(settings_, READER)
    assert scorer.thresholds.ok == 0.9
    assert scorer.thresholds.ok_origin == "setting verify.support.threshold"
    assert scorer.fingerprint != support().fingerprint


def test_weak_above_ok_is_an_error() -> None:
    with pytest.raises(ConfigurationError, match="weak_threshold"):
        load_scorer(verify(scorer="coverage", threshold=0.3))


def test_similarity_without_a_model_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(ConfigurationError, match=r"embed\.models"):
        load_scorer(verify(scorer="similarity"))


def test_rare_words_weigh_more_than_common_ones() -> None:
    assert term_weight("study") < term_weight("actomyosin") <= 1
    assert term_weight("中国") < term_weight("阿司")
    assert term_weight("qqqqzz") == 1


def test_a_source_in_the_other_language_is_compared_by_meaning() -> None:
    source = passage("Cats sleep a lot.", "Yields of wheat fell by 45 percent in 2019.")
    claims = ["2019年小麦产量下降了45%。", "2019年小麦产量下降了54%。"]
    same, other = support().judge([(claim, [source]) for claim in claims])
    assert same.note is not None
    assert same.span == source.sentences[1]
    assert same.score > other.score
    assert other.status != "OK"


@pytest.mark.parametrize("claim", ["。", "It is what it is.", "Bananas ripen."])
def test_a_claim_without_a_word_of_the_source_is_missing(claim: str) -> None:
    (judgement,) = support().judge([(claim, [passage("Yields rose."), passage("So they did.")])])
    assert (judgement.status, judgement.score) == ("MISSING", 0)


def test_an_english_claim_on_a_chinese_paper_is_held_against_its_english_abstract() -> None:
    scorer = load_support_scorer(
        SupportSettings(threshold=None, weak_threshold=None), BundledPairReader()
    )
    passages = [
        passage("我们使用多通道长短期记忆网络对情绪进行分类。", "喜好类的样本最多。"),
        passage("随机欠采样的性能明显优于随机过采样。"),
        passage("We classify emotions with a multi-channel LSTM after random under-sampling."),
    ]
    claims = [
        "We classify emotions with a multi-channel CNN after random under-sampling.",
        "We classify emotions with a multi-channel LSTM after random under-sampling.",
    ]
    other, same = scorer.judge([(claim, passages) for claim in claims])
    assert other.status != "OK"
    assert any("CNN" in sign.text for sign in other.speaks_against)
    assert (same.status, same.passage) == ("OK", 2)
