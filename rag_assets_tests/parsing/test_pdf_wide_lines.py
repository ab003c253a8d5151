"""Chinese lines that stand apart are one paragraph; numbers and words are no list marks."""

import pytest

from rag_assets.parsing import ParseHints, parse_document
from rag_assets.parsing.pdf.paragraphs import begins_with_mark
from rag_assets_tests.parsing.conftest import make_settings
from rag_assets_tests.parsing.made_up_pdfs import Placed, make_pdf
from rag_assets_tests.parsing.test_any_bytes import assert_keeps_the_contract

HINTS = ParseHints(".pdf")

FIRST = (
    "行道树是改善街道夏季热环境最常用的手段，但中等城市的实测资料仍然",
    "不足。结果表明，覆盖率最高的街道比最低的街道午后气温低，二者之差为",
    "1.8 °C；覆盖率每增加十个百分点，气温约降低零点三度，路面温度低约",
    "14.6 °C，生理等效温度也更低。",
)
SECOND = (
    "夜间树冠郁闭的街道风速较小，气温反而偏高。建议在重视遮阴的同时保",
    "留通风空隙。",
)
SIZE, PITCH = 11, 18.0


def _lines(texts: tuple[str, ...], y: float, indent: float = 2.0) -> list[Placed]:
    return [
        (70.0 + (indent * SIZE if not place else 0.0), y + place * PITCH, text)
        for place, text in enumerate(texts)
    ]


def _paragraphs(lines: list[Placed]) -> list[str]:
    found = parse_document(make_pdf([lines]), HINTS, make_settings())
    assert_keeps_the_contract(found)
    return [
        found.text[block.start : block.end] for block in found.blocks if block.kind == "paragraph"
    ]


def test_lines_that_stand_apart_are_one_paragraph_each() -> None:
    second = _lines(SECOND, 100 + len(FIRST) * PITCH)
    assert _paragraphs([*_lines(FIRST, 100), *second]) == ["".join(FIRST), "".join(SECOND)]


def test_rows_of_a_table_are_no_paragraph() -> None:
    rows: list[Placed] = [
        (70.0, 172 + place * PITCH, f"{name}  K  {value} tons/day, per district and season")
        for place, (name, value) in enumerate([("饱和容量", 8011), ("初始回收量", 6314)])
    ]
    found = _paragraphs([*_lines(FIRST, 100), *rows])
    assert not any("8011" in text and "6314" in text for text in found)


@pytest.mark.parametrize(
    "text",
    ["1. First", "(a) first", "iv) fourth", "– a dash", "• a dot", "[3] Lee", "一、总则",
     "（一）有", "①有", "2.1 研究地点", "图1 六条街道", "Fig. 2 Shares"],
)  # fmt: skip
def test_marks_begin_a_block(text: str) -> None:
    assert begins_with_mark(text)


@pytest.mark.parametrize(
    "text",
    ["1.8 °C；覆盖率", "14.6 °C，生理", "筑、树种", "分树种、街道", "高0.4 °C", "46%的行人",
     "20 cm deep", "The. rest"],
)  # fmt: skip
def test_numbers_and_words_do_not(text: str) -> None:
    assert not begins_with_mark(text)


DOUBLE = (
    "Lettuce was sown in boxes of beech wood that had been kept dry all over the cold",
    "winter. The seed came from a grower in the north and was mixed before it was sown.",
    "We weighed each of the 45 boxes on a balance that reads to a gram and the red lamps",
    "hung low.",
)


def test_double_spaced_lines_are_one_paragraph_and_short_labels_none() -> None:
    lines: list[Placed] = [(70.0, 100 + 27.0 * n, line) for n, line in enumerate(DOUBLE)]
    labels: list[Placed] = [(70.0, 400 + 27.0 * n, f"label {n} of it") for n in range(3)]
    found = _paragraphs([*lines, *labels])
    assert found[0] == " ".join(DOUBLE)
    assert len(found) == 4
