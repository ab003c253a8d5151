"""Numbers with their units, as values that can be compared."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.judging.equal_numbers import find_equal, is_equal, read_derived
from rag_assets.judging.quantities import Quantity, read_quantities


def _one(text: str) -> Quantity:
    (found,) = read_quantities(text)
    return found


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("1,000 patients", "1000 patients"),
        ("45 %", "45 percent"),
        ("45 per cent", "45%"),
        ("5 mg", "0.005 g"),
        ("2 km", "2000 m"),
        ("two weeks", "14 days"),
        ("twenty-five cases", "25 cases"),
        ("45 %", "44.8 %"),
        ("about 100 people", "104 people"),
        ("more than 200 deaths", "225 deaths"),
        ("$2.3 billion", "2.3 billion dollars"),
        ("35%", "百分之三十五"),
        ("3.5 million people", "350万人"),
        ("三千五百名", "3500 people"),
        ("2 小时", "120 minutes"),
        ("2019年", "in 2019"),
        ("the 1960s", "in 1963"),
        ("the ’60s", "in 1963"),
        ("the 1900’s", "in 1919"),
        ("half of them", "50 percent"),
        ("more than half", "53.9 %"),
        ("three-fourths", "75 %"),
        ("75 %", "three-fourths"),
        ("more than five towns", "six towns"),
        ("20 years old", "20 years of age"),
        ("aged over 60 years", "60-year-old"),
        ("three and a half days", "3.5 days"),
        ("3½ hours", "210 minutes"),
        ("half a million people", "500,000 people"),
        ("half an hour", "30 minutes"),
        ("two dozen", "24"),
        ("two hundred and five", "205"),
        ("10 000 people", "10,000 people"),
        ("p < .05", "p = .003"),
        ("p > 0.05", "P = 0.12"),
        ("r = -.45", "−0.45"),
        ("US$1.2 billion", "1,200 million dollars"),
        ("USD 5 million", "$5M"),
        ("£3m", "3 million pounds sterling"),
        ("340 million parameters", "340M"),
        ("175 billion parameters", "175B parameters"),
        ("100,000 questions", "100k questions"),
        ("100K questions", "100,000 questions"),
        ("80 degrees Celsius", "80 °C"),
        ("10⁵ cells", "100,000 cells"),
        ("10^-3", "0.001"),
        ("1e-4", "10⁻⁴"),
        ("one in five people", "20 %"),
        ("20 %", "1 in 5"),
        ("a third of the sample", "33 %"),
        ("roughly two thirds", "65 %"),
        ("twofold", "2-fold"),
        ("91.2 %", "0.912"),
        ("aged 63 years", "63 years"),
        ("三分之二", "66.7%"),
        ("一半", "50%"),
        ("一年半", "1.5年"),
        ("五千多人", "5,000 people"),
        ("十克", "10 g"),
        ("零下5度", "-5度"),
        ("近六成", "58.5%"),
        ("约六成", "61.2%"),
        ("最长为二年", "不得超过二年"),
        ("至多可以达到三十六小时", "不得超过三十六小时"),
        ("五十块钱", "50元"),
        ("三次", "three times"),
        ("三人", "3名"),
    ],
)
def test_equal_numbers_are_found_equal_however_they_are_written(claim: str, source: str) -> None:
    assert is_equal(_one(claim), _one(source))


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("45 %", "54 %"),
        ("5 mg", "5 g"),
        ("5 days", "5 weeks"),
        ("5 percent", "5 percentage points"),
        ("2 million", "2 billion"),
        ("44.8 %", "45 %"),  # a claim may round, its source may not be made more exact
        ("in 2018", "in 2019"),
        ("more than 200 deaths", "150 deaths"),
        ("the 1960s", "in 1973"),
        ("half of them", "60 percent"),
        ("less than half", "53.9 %"),
        ("three-fifths", "75 %"),
        ("more than five towns", "nine towns"),
        ("since 1990", "in 1995"),
        ("3万元", "3亿元"),
        ("3元", "3美元"),
        ("p < .05", "p = .12"),
        ("r = .45", "r = -.45"),
        ("5 mM", "5 mm"),
        ("US$300", "A$300"),
        ("300K", "300,000"),
        ("one in five people", "5 people"),
        ("三分之二", "3分"),
        ("0.912", "9.12 %"),
        ("近六成", "31.2%"),
        ("六成", "58.5%"),
        ("三次", "3个月"),
        ("三人", "3年"),
        ("至少三十六小时", "不得超过三十六小时"),
    ],
)
def test_other_numbers_or_units_are_not_equal(claim: str, source: str) -> None:
    assert not is_equal(_one(claim), _one(source))


@pytest.mark.parametrize("name", ["COVID-19", "TiO2", "p53", "OCT3/4", "IL-6", "K4Nb6O17"])
def test_digits_of_a_name_are_no_number(name: str) -> None:
    assert read_quantities(f"We measured {name} here") == ()


@pytest.mark.parametrize("text", ["between 5-10 days", "5 to 10 days", "between 5 and 10 days"])
def test_both_ends_of_a_range_have_its_unit(text: str) -> None:
    assert [(q.raw, q.value) for q in read_quantities(text)] == [(5, 432_000), (10, 864_000)]


def test_two_numbers_are_two_numbers() -> None:
    assert [q.raw for q in read_quantities("ten and twenty of 5 and 7 mg")] == [10, 20, 5, 7]
    assert read_quantities("5 and 7 mg")[0].unit.name == ""


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("80 %", "12 out of 15 tasks"),
        ("8 %", "12/150 patients"),
        ("by 2.4 percentage points", "from 28.2% to 25.8%"),
        ("twofold", "rose from 10 to 20 mg"),
        ("by 25 %", "from 80 to 100 units"),
        ("five years", "from 2010 to 2015"),
        ("twofold", "it doubled"),
        ("2倍", "翻一番"),
        ("2.4个百分点", "由28.2%降至25.8%"),
    ],
)
def test_what_a_reader_works_out_answers_a_number(claim: str, source: str) -> None:
    assert find_equal(_one(claim), read_quantities(source)) is None
    assert find_equal(_one(claim), read_derived(source)) is not None


@pytest.mark.parametrize("source", ["from 28.2% to 25.8%", "12 of 15 tasks", "in 2010 and 2015"])
def test_what_cannot_be_worked_out_answers_none(source: str) -> None:
    assert find_equal(_one("3 percentage points"), read_derived(source)) is None
    assert find_equal(_one("70 %"), read_derived(source)) is None


@pytest.mark.parametrize(
    "text", ["in 2019³", "half-life", "a third party", "十分重要", "三峡", "几十人"]
)
def test_what_only_looks_like_a_number_is_none(text: str) -> None:
    assert [q.raw for q in read_quantities(text)] in ([], [2019])


def test_the_first_equal_number_is_returned() -> None:
    source = read_quantities("7 of 45 patients and 45 controls")
    found = find_equal(_one("45 people"), source)
    assert found is not None
    assert found.start == source[1].start


@given(
    st.text(alphabet="0123456789.,-−%×^ 年月日万亿百分之三十五一点半多 mgkMe/abc$½⁵⁻", max_size=40)
)
def test_any_text_can_be_read_and_its_places_hold(text: str) -> None:
    for found in read_quantities(text):
        assert 0 <= found.start < found.end <= len(text)
        assert found.text
        assert found.value == found.value


@given(st.integers(1, 10**7), st.sampled_from(["", " mg", " %", " days", "万", "元"]))
def test_a_number_equals_itself(value: int, unit: str) -> None:
    text = f"{value}{unit}"
    (found,) = read_quantities(text)
    assert is_equal(found, found)


@pytest.mark.parametrize("text", ["as shown [12].", "see [3, 7-9]", "一种方法", "No one came"])
def test_marks_and_articles_are_no_numbers(text: str) -> None:
    assert read_quantities(text) == ()


@pytest.mark.parametrize("text", ["5×10^99999", "1" * 400])
def test_what_no_float_can_hold_is_no_number(text: str) -> None:
    assert read_quantities(text) == ()


def test_both_ends_of_a_chinese_range_are_read() -> None:
    found = read_quantities("处三千元以上五千元以下罚款")
    assert [(quantity.value, quantity.bound) for quantity in found] == [(3000, 1), (5000, -1)]
    assert read_quantities("上千元") == ()
