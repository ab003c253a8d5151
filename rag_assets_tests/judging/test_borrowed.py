"""Pieces of another clause in the place of what a clause has."""

import pytest

from rag_assets.judging.borrowed import find_borrowed

RAIN = "Rainfall explained 61 % of the variance in yield, temperature a further 12 %."
WALKS = "Regular walking lowered blood pressure by 5 mmHg. Swimming had no measurable effect."
GRAPHS = (
    "Of the three algorithms, A* expanded the fewest nodes, but Dijkstra's algorithm was the "
    "fastest on small graphs."
)
DAMS = (
    "The dam supplies 3.4 million people with drinking water; the older reservoir, built in 1932, "
    "supplies 800,000."
)
EDITIONS = (
    "The first edition appeared in Leipzig in 1843, the second, much enlarged, in Berlin in 1859."
)
DUTY = "Kant held that lying is always wrong; Mill, by contrast, judged lies by their consequences."
DIETS = "低碳水化合物饮食组的体重平均下降5.2公斤，而低脂饮食组下降3.1公斤，两组的血压均无明显变化。"
TABLE = "| Model | EM | F1 |\n|---|---|---|\n| ELMo | 80.1 | 85.8 |\n| BERT | 87.4 | 93.2 |"
BEES = "Bees avoided the treated fields in the first week, but returned in the second."


@pytest.mark.parametrize(
    ("claim", "window", "mine"),
    [
        ("Temperature explained 61 % of the variance in yield.", RAIN, "Temperature"),
        ("Rainfall explained 61 % of the variance in temperature.", RAIN, "temperature"),
        ("Rainfall and temperature explained 61 % of the variance.", RAIN, "and temperature"),
        ("Swimming lowered blood pressure by 5 mmHg.", WALKS, "Swimming"),
        ("Dijkstra's algorithm expanded the fewest nodes.", GRAPHS, "Dijkstra's"),
        ("A* was the fastest on small graphs.", GRAPHS, "A"),
        ("The dam supplies 800,000 people with drinking water.", DAMS, "800,000"),
        ("The second edition appeared in Leipzig in 1843.", EDITIONS, "second"),
        ("Mill held that lying is always wrong.", DUTY, "Mill"),
        ("Bees avoided the treated fields in the second week.", BEES, "second"),
        ("ELMo: EM 87.4, F1 93.2", TABLE, "ELMo"),
        ("ELMo: F1 93.2", "BERT obtains an F1 of 93.2 and ELMo one of 85.8.", "ELMo"),
        ("低脂饮食组的体重平均下降5.2公斤。", DIETS, "低脂"),
        ("低碳水化合物饮食组的血压平均下降5.2公斤。", DIETS, "血压"),
    ],
)
def test_what_stands_in_another_ones_place_is_named(claim: str, window: str, mine: str) -> None:
    (sign,) = find_borrowed(claim, window)
    assert sign.claim == mine


@pytest.mark.parametrize(
    ("claim", "window"),
    [
        ("Rainfall explained 61 % of the variance in yield.", RAIN),
        ("Temperature explained a further 12 % of the variance in yield.", RAIN),
        ("Swimming had no measurable effect on blood pressure.", WALKS),
        ("Dijkstra's algorithm was the fastest on small graphs.", GRAPHS),
        ("The older reservoir supplies 800,000 people with drinking water.", DAMS),
        ("The older reservoir was built in 1932.", DAMS),
        ("The second edition appeared in Berlin in 1859.", EDITIONS),
        ("Mill judged lies by their consequences.", DUTY),
        ("ELMo: EM 80.1, F1 85.8", TABLE),
        ("低脂饮食组的体重平均下降3.1公斤。", DIETS),
        (
            "In winter the Alpine marmot hibernates for six months.",
            (
                "The Alpine marmot lives above 1,500 m. In winter the animals hibernate for six "
                "months."
            ),
        ),
        (
            "Teachers in rural schools left earlier.",
            "Teachers in rural schools earned less than those in cities, and they left earlier.",
        ),
        ("In July the price fell by 3 %.", "In July, the price fell by 3 %; in May, it rose."),
    ],
)
def test_a_clause_that_is_taken_whole_may_be_filled_up(claim: str, window: str) -> None:
    assert list(find_borrowed(claim, window)) == []
