"""What counts as word for word: marks do not, but those of numbers do."""

import pytest

from rag_assets.judging import load_scorer
from rag_assets.workspace import shipped_settings
from rag_assets_tests.judging.sentences import passage

SCORER = load_scorer(shipped_settings().verify.model_copy(update={"scorer": "facts"}))


def is_repeated(claim: str, source: str) -> bool:
    (found,) = SCORER.judge([(claim, [passage(source)])])
    return (found.status, found.reason_code) == ("OK", "supported")


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Irrigated roofs kept 159 degrees.", "Irrigated roofs kept 15.9 degrees."),
        ("It was significant, p > 0.05 in all.", "It was significant, p < 0.05 in all."),
        ("The effect was -0.1 degrees in streets.", "The effect was 0.1 degrees in streets."),
        ("The share of answers was 58 of all.", "The share of answers was 58% of all."),
        ("They mixed them 12 in the tank.", "They mixed them 1:2 in the tank."),
        ("From 1020 trees a sample was taken.", "From 10–20 trees a sample was taken."),
        ("气温平均降低了03度，效果明显。", "气温平均降低了0.3度，效果明显。"),
    ],
)
def test_a_number_without_its_marks_is_another(claim: str, source: str) -> None:
    assert not is_repeated(claim, source)
    assert is_repeated(source, source)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("they counted 1,000 trees in the city", "They counted 1000 trees in the city."),
        ("They counted 10 000 trees in town.", "They counted 10,000 trees in town."),
        ("The effect was −0.1 degrees in streets.", "The effect was -0.1 degrees in streets."),
        ("After COVID 19 the streets were empty.", "After COVID-19, the streets were empty!"),
        ("The share of answers was 58 % of all.", "The share of answers was 58% of all."),
        ("Rain changed nothing (Lee, 2019).", "Rain changed nothing (Lee, 2019)."),
        ("Rain changed nothing at all.", "However, rain changed nothing at all [12]."),
        ("“Cool” roofs (all of them) helped in 2019.", "Cool roofs, all of them, helped in 2019."),
    ],
)
def test_other_marks_do_not_count(claim: str, source: str) -> None:
    assert is_repeated(claim, source)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The plant on the hill has 5 MW.", "The plant on the hill has 5 mW."),
        ("MW turbines were put on the hill.", "mW turbines were put on the hill."),
        ("The adsorbed CO was measured at noon.", "The adsorbed Co was measured at noon."),
        ("They were notable to see it rain.", "They were not able to see it rain."),
        ("It was found in capable hands there.", "It was found incapable hands there."),
    ],
)
def test_the_case_of_a_symbol_and_the_end_of_a_word_count(claim: str, source: str) -> None:
    assert not is_repeated(claim, source)
    assert is_repeated(source, source)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The ministry of water counted trees.", "the Ministry of Water counted trees."),
        ("Well known trees were counted here.", "Well-known trees\nwere counted here."),
        ("本文 使用 BERT 模型进行分类。", "本文使用BERT模型进行分类。"),
        ("mRNA was found in all of them.", "The results show that mRNA was found in all of them."),
    ],
)
def test_the_case_of_long_words_does_not_count(claim: str, source: str) -> None:
    assert is_repeated(claim, source)
