"""The year of a Chinese statute."""

import pytest

from rag_assets.law import find_statute_year

ARTICLES = "\n\n第一条 为了绿化，制定本法。\n\n第二条 屋顶应当绿化。\n\n第三条 本法自{}起施行。\n"


PASSED = """# 屋顶绿化法

（2020年5月28日第十三届全国人民代表大会第三次会议通过 自2021年1月1日起施行）"""
AMENDED = """屋顶绿化法
（1994年7月5日第八届全国人民代表大会常务委员会第八次会议通过
根据2009年8月27日第十一届全国人民代表大会常务委员会第十次会议《关于修改部分法律的决定》第一次修正
根据2018年12月29日《关于修改〈屋顶绿化法〉的决定》第二次修正）"""
ORDERED = """屋顶绿化条例
现予公布，自2012年3月1日起施行。
二〇一一年十二月三日"""


@pytest.mark.parametrize(
    ("head", "force", "year"),
    [
        (PASSED, "2021年1月1日", 2020),
        (AMENDED, "1995年1月1日", 2018),
        (ORDERED, "2012年3月1日", 2011),
        ("屋顶绿化条例\n（自2012年3月1日起施行）", "2012年3月1日", 2012),
        ("屋顶绿化条例", "2012年3月1日", 2012),
        ("屋顶绿化条例", "公布之日", None),
    ],
)
def test_year_of_a_statute_is_that_of_its_last_wording(
    head: str, force: str, year: int | None
) -> None:
    assert find_statute_year(head + ARTICLES.format(force)) == year


def test_text_that_is_no_statute_has_no_year_of_one() -> None:
    assert find_statute_year("该法于2020年5月28日通过。\n\n第一条 讨论。") is None
    assert find_statute_year("Article 1 a\n\nArticle 2 b\n\nArticle 3 c, 2020年5月28日通过") is None
