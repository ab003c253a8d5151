"""One notion of Chinese characters."""

import re

import pytest

from rag_assets.model import (
    CJK_RANGES,
    EAST_ASIAN_RANGES,
    HAN,
    HAN_RANGES,
    count_cjk,
    count_han,
    is_chinese,
)


@pytest.mark.parametrize("character", "一龥㐀䶵豈\U00020000\U0002f800\U00031350")
def test_ideographs_of_every_block_are_han(character: str) -> None:
    assert HAN.fullmatch(character)


@pytest.mark.parametrize("character", "aé9，。《々〇かカ한䷀ﬁＡ")
def test_letters_kana_hangul_marks_and_hexagrams_are_not_han(character: str) -> None:
    assert not HAN.search(character)


def test_each_notion_lies_inside_the_next() -> None:
    han, cjk, east_asian = (
        {code for code in range(0x32000) if re.match(f"[{ranges}]", chr(code))}
        for ranges in (HAN_RANGES, CJK_RANGES, EAST_ASIAN_RANGES)
    )
    assert han < cjk < east_asian


def test_kana_and_marks_for_ideographs_count_as_written_without_spaces() -> None:
    assert count_han("佐々木はコメを買う 2 kg") == 3
    assert count_cjk("佐々木はコメを買う 2 kg") == 9


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("绿色屋顶使室内降温。", True),
        ("MobileNet 的参数量为 4.2M。", True),
        ("The word 气候 means climate.", False),
        ("A roof.", False),
        ("2024", False),
        ("", False),
    ],
)
def test_a_text_is_chinese_whatever_names_stand_in_it(text: str, expected: bool) -> None:
    assert is_chinese(text) is expected
