"""What a program checks of a statement by itself, and what it leaves to a reader."""

import pytest

from rag_assets.judging import Judgement, load_scorer
from rag_assets.judging.facts import RULES, FactRule, check_facts, hold_against_facts
from rag_assets.workspace import shipped_settings
from rag_assets_tests.judging.rule_examples import OF_FACTS
from rag_assets_tests.judging.sentences import passage


def judge(statement: str, *sentences: str) -> Judgement:
    verify = shipped_settings(None).verify.model_copy(update={"scorer": "facts"})
    (judgement,) = load_scorer(verify).judge([(statement, [passage(*sentences)])])
    return judgement


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_each_rule_fires_on_its_example_and_is_silent_on_the_other(rule: FactRule) -> None:
    (statement, source), other = OF_FACTS[rule.id]
    assert rule.check(statement, [source])
    statement, source = other
    assert not rule.check(statement, [source])


def test_rules_have_names_of_their_own() -> None:
    assert len({rule.id for rule in RULES}) == len(RULES)


@pytest.mark.parametrize(
    ("statement", "source"),
    [
        ("The share rose by 15 percentage points.", "The share rose from 30 % to 45 %."),
        ("Nearly 45 % agreed.", "Of those asked, 44.8 % agreed."),
        ("The dose was 5 mg.", "The dose was 0.005 g."),
        ("Each cluster has 63 servers.", "There are 388 clusters with 24,500 servers."),
        ("三分之二的人同意。", "15人中有10人同意，占66.7%。"),
    ],
)
def test_what_can_be_worked_out_of_the_passages_differs_from_nothing(
    statement: str, source: str
) -> None:
    assert judge(statement, source).reason_code == "unread"


def test_another_number_of_the_same_unit_is_told_and_not_supported() -> None:
    judgement = judge("Yields fell by 45 kg.", "In the dry year yields fell by 54 kg.")
    assert (judgement.status, judgement.reason_code) == ("WEAK", "facts_differ")
    assert "45 kg" in judgement.reason
    assert "54 kg" in judgement.reason


@pytest.mark.parametrize(
    ("statement", "source"),
    [
        ("The inhibitor was used at 10 nM.", "The inhibitor was used at 10 µM."),
        ("The plant delivers 3 GW.", "The plant delivers 3 MW."),
        ("The sample was annealed at 300 K.", "The sample was annealed at 300 °C."),
        ("The programme cost ¥5 million.", "The programme cost $5 million."),
        ("Coverage rose by 5 %.", "Coverage rose by 5 percentage points."),
        ("Costs rose by 24 euros.", "Costs rose from 12 to 24 euros."),
        ("Weight fell by at most 3 kg.", "Weight fell by at least 3 kg."),
        ("The pH of the buffer was 4.7.", "The tube held buffer at pH 7.4."),
        ("Response was seen in 45 % of patients.", "Response was seen in 45 of 90 patients."),
        ("建筑面积为1.5平方米。", "建筑面积为1.5万平方米。"),
        ("处五日以上十日以下拘留。", "处五日以上十五日以下拘留。"),
        ("气温比裸地高2.3 ℃。", "气温比裸地低2.3 ℃。"),
        ("It was rarer after 6 months (7.5 %) than after 3 months (12.5 %).",
         "It was rarer after 3 months (7.5 %) than after 6 months (12.5 %)."),
        ("A bag returns at least n words.", "A bag returns at most n words."),
    ],
)  # fmt: skip
def test_equal_digits_excuse_no_other_unit_scale_limit_or_direction(
    statement: str, source: str
) -> None:
    assert judge(statement, source).reason_code == "facts_differ"


@pytest.mark.parametrize(
    ("statement", "rightful", "sources"),
    [
        # Another row, with its unit in the header; another group, sentence, clause.
        ("Enterococcus had a zone of 11.82 mm.", "8.99",
         ["Enterococcus 8.99 ± 0.15 | 15.06", "Pseudomonas 11.82 ± 0.27 | 13.34"]),
        ("Barley yielded 6.2 kg.", "4.1 kg", ["Barley yielded 4.1 kg.", "Wheat yielded 6.2 kg."]),
        ("Barley yielded 6.2 kg.", "4.1 kg", ["Barley yielded 4.1 kg, wheat 6.2 kg."]),
        ("大麦产量为6.2千克。", "4.1千克", ["大麦产量为4.1千克，小麦产量为6.2千克。"]),
        ("Both groups held 90 patients each.", "45",
         ["The trial had 90 patients.", "Both groups held 45 patients each."]),
        # Two that are exchanged.
        ("Of the men 70 % agreed, of the women 35 %.", "35 %",
         ["Of the men 35 % agreed, of the women 70 %."]),
        ("70% of the men and 35% of the women agreed.", "35 %",
         ["We found that 35 % of men and 70 % of women agreed."]),
        ("男性占70%，女性占35%。", "35%", ["其中男性占35%，女性占70%。"]),
    ],
)  # fmt: skip
def test_a_number_of_another_row_or_group_differs(
    statement: str, rightful: str, sources: list[str]
) -> None:
    judgement = judge(statement, *sources)
    assert judgement.reason_code == "facts_differ"
    assert judgement.speaks_against[0].source == rightful


@pytest.mark.parametrize(
    ("statement", "sources"),
    [
        ("Wheat gave 6.2 kg, barley 4.1 kg.", ["Barley yielded 4.1 kg and wheat 6.2 kg."]),
        ("Barley yielded 4.1 kg.", ["Barley yielded 4.1 kg, wheat 6.2 kg."]),
        # In the order of a list, and one list of two.
        ("Barley yielded 4.1 kg and wheat 6.2 kg.",
         ["Barley and wheat yielded 4.1 kg and 6.2 kg, respectively."]),
        ("Blends were kept 90 days at 4 or 24 °C.", ["At 4 and 24 °C blends stayed for 90 days."]),
        # It says both numbers: the sentence that shares more tells of the other.
        ("At 58 % survival lay above the 50 % of low interest.",
         ["Survival was 58 %.", "The survival of low interest was 50 %, of interest 65 %."]),
        # Lower by so much is no level.
        ("夜间树冠覆盖率高的街道平均风速低28%。",
         ["覆盖率在50%以上的两条街道，夜间平均风速比覆盖率在20%以下的两条街道低28%。"]),
    ],
)  # fmt: skip
def test_a_number_that_stands_with_its_own_words_differs_from_nothing(
    statement: str, sources: list[str]
) -> None:
    assert judge(statement, *sources).reason_code == "unread"


def test_the_number_shown_is_that_of_the_deciding_sentence() -> None:
    judgement = judge(
        "The response rate was 65.4 % in the treated group.",
        "The threshold was 40 %.", "The response rate was 54.8 % in the treated group.",
    )  # fmt: skip
    assert [sign.source for sign in judgement.speaks_against] == ["54.8 %"]


def test_what_was_worked_out_is_shown() -> None:
    judgement = judge("The gap was 25 kg.", "One plot gave 110 kg and the other 85 kg.")
    assert judgement.reason_code == "unread"
    assert "110 − 85 = 25 kg" in judgement.speaks_for[0].text


@pytest.mark.parametrize("shown", [3, 20])
def test_a_wrong_percentage_is_noticed_however_many_numbers_stand_beside_it(shown: int) -> None:
    row = " ".join(f"plot {n} gave {n * 7 + 3} kg," for n in range(shown - 1))
    source = f"Of all fields {row} and the share that failed was 31 %."
    wrong = [share for share in range(33, 93, 3) if share % 31]
    noticed = [
        judge(f"The share that failed was {share} %.", source).reason_code for share in wrong
    ]
    assert noticed.count("facts_differ") >= 0.9 * len(wrong)


def test_a_unit_that_is_not_known_agrees_with_none() -> None:
    for statement in ("It took 38 months.", "It was 17 % of them.", "It weighed 38 g."):
        judgement = judge(statement, "The figures were 17 and 38.")
        assert judgement.speaks_for == ()


def test_no_scorer_calls_a_number_ok_that_nothing_shown_confirms() -> None:
    shown = [passage("Yields rose by some kilograms in the wet year.")]
    found = Judgement(1.0, "OK", "supported", "The model is sure.", 0, (0, 10))
    held = hold_against_facts(found, "Yields rose by 12 kg in the wet year.", shown)
    assert (held.status, held.reason_code) == ("WEAK", "weakly_supported")
    assert "12 kg" in held.reason
    assert hold_against_facts(found, "Yields rose in the wet year.", shown).status == "OK"


def test_a_number_that_is_merely_not_there_says_nothing() -> None:
    assert judge("Yields fell by 45 kg.", "In the dry year yields fell.").reason_code == "unread"


def test_only_a_whole_sentence_word_for_word_is_ok() -> None:
    source = "Reflective coatings kept the asphalt cool, at least in the first summer."
    assert judge("Reflective coatings kept the asphalt cool at least in the first summer.",
                 source).status == "OK"  # fmt: skip
    assert judge("Reflective coatings kept the asphalt cool.", source).reason_code == "unread"
    assert judge("Cool.", "Cool.").reason_code == "unread"


def test_numbers_in_parentheses_belong_to_the_ones_before_them() -> None:
    source = ["Events were more frequent after 3 months (12.5%) than after 6 months (7.5%)."]
    exchanged = "Events were more frequent after 6 months (12.5%) than after 3 months (7.5%)."
    assert check_facts(exchanged, source, "against")
    assert check_facts(source[0], source, "against") == ()
