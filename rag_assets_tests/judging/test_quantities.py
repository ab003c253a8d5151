"""Numbers with their units, as values that can be compared."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.judging.quantities import Quantity, find_equal, is_equal, read_quantities


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
    ],
)
def test_other_numbers_or_units_are_not_equal(claim: str, source: str) -> None:
    assert not is_equal(_one(claim), _one(source))


@pytest.mark.parametrize("name", ["COVID-19", "TiO2", "p53", "OCT3/4", "IL-6", "K4Nb6O17"])
def test_digits_of_a_name_are_no_number(name: str) -> None:
    assert read_quantities(f"We measured {name} here") == ()


def test_both_ends_of_a_range_are_read() -> None:
    assert [q.raw for q in read_quantities("between 5-10 days")] == [5, 10]


def test_the_first_equal_number_is_returned() -> None:
    source = read_quantities("7 of 45 patients and 45 controls")
    found = find_equal(_one("45 people"), source)
    assert found is not None
    assert found.start == source[1].start


@given(st.text(alphabet="0123456789.,-−%×^ 年月日万亿百分之三十五一点 mgkm/abc$", max_size=40))
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
