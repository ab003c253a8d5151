"""Numbers with their units, as values that can be compared."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.judging.numbers import compare_numbers, is_equal, work_out
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
        ("8.6 ms per year", "8.6 msec yr^-1"),
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
        ("it fell over two years", "within two years"),
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
        ("5 mmol L⁻¹", "5 mmol/L"),
        ("3 m s^-1", "3 m/s"),
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
        ("3 MW", "3 GW"),
        ("5 mW", "5 MW"),
        ("10 nM", "10 µM"),
        ("10 µM", "10 µm"),
        ("250 mL", "250 µL"),
        ("300 K", "300 °C"),
        ("10 km/h", "10 m/s"),
        ("12 g/kg", "12 mL/kg"),
        ("5 mmol L⁻¹", "5 mmol"),
        ("3 hours", "3 days"),
        ("8 weeks", "8 months"),
        ("5微克", "5毫克"),
        ("1.5平方米", "1.5万平方米"),
        ("$300", "¥300"),
        ("17", "17 %"),
        ("38", "38 months"),
        ("8", "8 g"),
        ("p = .003", "p = .03"),
        ("三十日内", "十五日内"),
        ("rose by 24 euros", "rose to 24 euros"),
        ("rose by 24 euros", "fell by 24 euros"),
        ("95 % higher", "95 % of it"),
        ("2.3 × 105", "2.3 × 10^5"),
        ("12.4 °C", "−12.4 °C"),
        ("3 times a day", "3 times a week"),
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
    read = read_quantities("ten and twenty of 5 and 7 mg")
    assert [(q.raw, q.unit.name) for q in read] == [(10, ""), (20, ""), (5, "mg"), (7, "mg")]


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
    assert not any(is_equal(_one(claim), q) for q in read_quantities(source))
    assert any(is_equal(_one(claim), q) for q in work_out(source))


@pytest.mark.parametrize("source", ["from 28.2% to 25.8%", "12 of 15 tasks", "in 2010 and 2015"])
def test_what_cannot_be_worked_out_answers_none(source: str) -> None:
    assert not any(is_equal(_one("3 percentage points"), q) for q in work_out(source))
    assert not any(is_equal(_one("70 %"), q) for q in work_out(source))


@pytest.mark.parametrize(
    "text", ["in 2019³", "half-life", "a third party", "十分重要", "三峡", "几十人"]
)
def test_what_only_looks_like_a_number_is_none(text: str) -> None:
    assert [q.raw for q in read_quantities(text)] in ([], [2019])


_PREFIXES = {"n": -9, "µ": -6, "m": -3, "": 0, "k": 3}


@given(
    st.integers(1, 999), st.sampled_from(["g", "m", "W", "Pa", "V"]),
    st.sampled_from(sorted(_PREFIXES)), st.sampled_from(sorted(_PREFIXES)),
)  # fmt: skip
def test_a_quantity_agrees_in_another_prefix_where_it_is_converted_and_only_there(
    value: int, unit: str, one: str, other: str
) -> None:
    there = _one(f"{value} {one}{unit}")
    converted = value * 10.0 ** (_PREFIXES[one] - _PREFIXES[other])
    assert is_equal(_one(f"{converted:.12f} {other}{unit}"), there) or converted < 1e-9
    assert is_equal(_one(f"{value} {other}{unit}"), there) == (one == other)


@given(st.integers(2, 999), st.sampled_from(["%", "mg", "hours", "km", "euros", "°C", "MW"]))
def test_a_number_without_a_unit_agrees_with_none_that_has_one(value: int, unit: str) -> None:
    assert not is_equal(_one(f"{value} {unit}"), _one(f"{value}"))
    assert not is_equal(_one(f"{value}"), _one(f"{value} {unit}"))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12,5 %", 12.5),
        ("0,45", 0.45),
        ("1.234,56", 1234.56),
        ("1.234.567", 1_234_567),
        ("1 234 567 people", 1_234_567),
        ("1\u2009234\u2009567", 1_234_567),
        ("12\u00a0345", 12_345),
        ("１２．５", 12.5),
        ("1'234'567", 1_234_567),
        ("0·45", 0.45),
        (r"$2.3\times10^{5}$ cells", 230_000),
        (r"2.3 \cdot 10^{-3}", 0.0023),
        ("2.3 × 10⁵", 230_000),
        ("万分之五", 0.05),
        ("十万分之三", 0.003),
        ("三万五千元", 35_000),
        ("一亿二千万元", 120_000_000),
        ("3 MW", 3e6),
        ("3 mW", 3e-3),
    ],
)
def test_numbers_are_read_as_they_are_written_anywhere(text: str, value: float) -> None:
    assert _one(text).value == pytest.approx(value)


@pytest.mark.parametrize("text", ["a 10 200 300", "sites (1,2,3)", "1,2-dichlorobenzene"])
def test_cells_and_lists_are_not_joined_to_one_number(text: str) -> None:
    assert max(quantity.raw for quantity in read_quantities(text)) < 1000


def test_days_of_a_penalty_are_a_time_and_those_of_a_month_a_date() -> None:
    found = read_quantities("处五日以上十五日以下拘留")
    assert [(q.raw, q.unit.kind, q.bound) for q in found] == [(5, "time", 1), (15, "time", -1)]
    assert [q.unit.kind for q in read_quantities("3月15日")] == ["month", "day of month"]
    assert read_quantities("第三十九条第二款") == ()


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("no more than five", -1),
        ("did not exceed 3 %", -1),
        ("not less than 3 kg", 1),
        ("more than 3 kg", 1),
        ("within 42 days", -1),
        ("no earlier than 42 days", 1),
        ("≥80 g/L", 1),
        ("不会超过两年", -1),
        ("十五日内", -1),
    ],
)
def test_limits_are_read_with_what_denies_them(text: str, bound: int) -> None:
    assert _one(text).bound == bound


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


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("The area was 30 m^2 in all", [(30.0, "m2")]),
        ("and rose by 12%^6–8 in 2018^4,5", [(12.0, "%"), (2018.0, "")]),
        ("7 mg^9 of dye among 2.3 × 10^5 cells", [(0.007, "mg"), (230000.0, "")]),
    ],
)
def test_raised_numbers_are_powers_or_marks(text: str, values: list[tuple[float, str]]) -> None:
    found = [(quantity.value, quantity.unit.name) for quantity in read_quantities(text)]
    assert found == [(pytest.approx(value), unit) for value, unit in values]


def test_the_name_of_a_row_belongs_to_each_of_its_numbers() -> None:
    row = "Acid C18:1: Day 1 / 25 °C = 56.8; Day 90 / 4 °C = 59.5; Day 90 / 25 °C = 55.8"
    shown = ["Table 2. Composition (%) of the oils.", row]
    said = "The oil held {} % of acid C18:1 after 90 days at 25 °C."
    assert not compare_numbers(said.format("55.8"), shown).differing
    ((stated, source),) = compare_numbers(said.format("55.9"), shown).differing
    assert stated.raw == 55.9
    assert source.raw in {56.8, 59.5, 55.8}
