"""Which article of which law a question names."""

import pytest

from rag_assets.law import LawNames, find_begins, find_references, read_number, write_number
from rag_assets.law.articles import article_pattern

LIBRARY = LawNames(
    {
        "contract": ["中华人民共和国劳动合同法", "劳动合同法(2012-12-28)"],
        "older": ["中华人民共和国劳动合同法", "劳动合同法(2007-06-29)"],
        "rules": ["中华人民共和国劳动合同法实施条例"],
        "procedure": ["中华人民共和国民事诉讼法", "民事诉讼法(2023-09-01)"],
        "penal": ["中华人民共和国刑法", "刑法"],
        "book": ["中华人民共和国民法典合同编", "合同编"],
        "last book": ["中华人民共和国民法典", "附则"],
        "national": ["物业管理条例"],
        "water": ["上海市实施《中华人民共和国水法》办法", "上海市实施《水法》办法(2018-12-20)"],
        "citing": ["最高人民法院关于引用法律、法规的规定"],
        "amendment": ["中华人民共和国刑法修正案（九）"],
        **{place: [f"{place}防洪管理办法"] for place in ("沪", "京", "浙", "豫", "鲁", "粤")},
        "court": ["最高人民法院关于审理劳动争议案件适用法律问题的解释（一）"],
        "paper": ["Costs of green roofs", "smith2020"],
    }
)


@pytest.mark.parametrize(
    ("text", "keys", "documents"),
    [
        ("《劳动合同法》第三十九条", ["39"], ("contract", "older")),
        ("中华人民共和国劳动合同法第39条规定了什么", ["39"], ("contract", "older")),
        ("请问劳动合同法 ３９条", ["39"], ("contract", "older")),
        ("劳动合同法实施条例第十九条", ["19"], ("rules",)),
        ("刑法第三四二条之1", ["342-1"], ("penal",)),
        ("第 76 条 刑法", ["76"], ("penal",)),
        ("第一百一十三条 《刑法》", ["113"], ("penal",)),
        ("民诉法的第二百八十三条", ["283"], ("procedure",)),
        ("民法典合同编第726条", ["726"], ("book",)),
        ("《民法典》合同编 第五百五十六条", ["556"], ("book",)),
        ("在实践中违反刑法第五条", ["5"], ("penal",)),
        ("刑法第三条和第五条之一", ["3", "5-1"], ("penal",)),
        ("刑法第十条至第十二条", ["10", "11", "12"], ("penal",)),
        ("刑法第10-12条", ["10", "11", "12"], ("penal",)),
        ("刑法一百条到一百零一条之一", ["100", "101-1"], ("penal",)),
        ("民法典第500条", ["500"], ("book", "last book")),
        ("《民法典》附则第一千二百五十九条", ["1259"], ("book", "last book")),
        ("上海市实施《水法》办法第３条第一款", ["3"], ("water",)),
        ("《上海市实施《中华人民共和国水法》办法》的五条", ["5"], ("water",)),
        ("第5条 上海市实施《水法》办法", ["5"], ("water",)),
        ("最高人民法院关于引用法律、法规的规定的第一条", ["1"], ("citing",)),
        ("根据刑法修正案(九)第二条", ["2"], ("amendment",)),
        ("依照劳动法、刑法第三条", ["3"], ("penal",)),
    ],
)
def test_law_and_article_are_read(text: str, keys: list[str], documents: tuple[str, ...]) -> None:
    found = find_references(text, LIBRARY)
    assert [one.key for one in found] == keys
    assert {one.documents for one in found} == {documents}


def test_each_article_has_the_law_before_it() -> None:
    found = find_references("《劳动合同法》第三条与刑法第五条有何不同", LIBRARY)
    assert [(one.key, one.documents[0]) for one in found] == [("3", "contract"), ("5", "penal")]


def test_a_law_that_is_not_there_is_no_other_law() -> None:
    (found,) = find_references("《公司法》第三条", LIBRARY)
    assert (found.law, found.documents) == ("公司法", ())


@pytest.mark.parametrize(
    "text",
    [
        "嘉兴市物业管理条例第三条",  # of another place than the 物业管理条例 that is there
        "北京市实施《刑法》办法第三条",  # not 《刑法》
        "中华人民共和国反某刑法第三条",  # the country begins a longer name
        "《某某防洪管理办法》第三条",  # fits six
        "根据某防洪管理办法第三条",
        "请问高等教育法第三条",
        "第3条 高等教育法",
        "合同法第五十二条",  # the end of 劳动合同法
        "《合同法》第五十二条",
        "第五十二条 合同法",
        "集体劳动合同法第三条",  # of which 劳动合同法 is the end
        "第三条 刑法实施细则",  # of which 刑法 is the beginning
        "《解释（一）》第五条",
        "《劳合法》第三条",  # its characters in order, but no short title in use
    ],
)
def test_what_another_law_ends_with_is_not_its_name(text: str) -> None:
    assert {one.documents for one in find_references(text, LIBRARY)} == {()}


def test_only_listed_short_titles_are_names() -> None:
    assert LIBRARY.find("民诉法") == LIBRARY.find("中华人民共和国民事诉讼法") == ["procedure"]
    assert LIBRARY.find("诉讼法") == LIBRARY.find("事诉法") == []
    assert LIBRARY.nearest("合同法")[0] == "劳动合同法"
    assert LIBRARY.nearest("xyz") == []


def test_without_a_law_only_what_says_so_is_an_article() -> None:
    (found,) = find_references("第四十七条规定的补偿如何计算", LIBRARY)
    assert (found.key, found.law, found.documents) == ("47", None, ())
    assert find_references("合同有三条附加条款", LIBRARY) == []


@pytest.mark.parametrize("value", [1, 10, 11, 20, 100, 101, 110, 305, 999, 1000, 1024, 1260, 9999])
def test_numbers_are_read_as_they_are_written(value: int) -> None:
    assert read_number(write_number(value)) == read_number(str(value)) == value


def test_articles_begin_paragraphs() -> None:
    text = (
        "第一章 总则\n\n第一条 为了…\n\u3000\u3000第二条\u3000本法\n"
        "**第三条之一** 依照第一条的规定\n第四条规定的情形"
    )
    assert [one.key for one in find_begins(text)] == ["1", "2", "3-1"]
    assert [text[one.start] for one in find_begins(text)] == ["第"] * 3


def test_an_article_is_found_in_either_numerals_and_no_longer_one() -> None:
    import re

    pattern = article_pattern("20").replace(r"\x{3000}", "\u3000")
    for text in ("第二十条 经营者", "款。\n\n第20条　经营者", "## 第二十条"):
        assert re.search(pattern, text)
    for text in ("第二十条之一 经营者", "第二十一条 经营者", "依照第二十条 经营者", "第二十条规定"):
        assert not re.search(pattern, text)


def test_this_law_is_the_law_of_the_text_and_no_unknown_one() -> None:
    for text in ("本法第三条", "根据该法第三条", "依法第三条", "按照规定第三条"):
        assert [(one.key, one.law) for one in find_references(text, LIBRARY)] == [("3", None)]
    assert [one.law for one in find_references("请问高等教育法第三条", LIBRARY)] == [
        "请问高等教育法"
    ]


def test_amendments_with_a_year_are_laws_of_their_own() -> None:
    laws = LawNames({year: [f"中华人民共和国宪法修正案（{year}年）"] for year in ("1988", "1993")})
    assert laws.find("宪法修正案（1988年）") == ["1988"]
    assert sorted(laws.find("宪法修正案")) == ["1988", "1993"]


def test_libraries_are_joined_as_if_they_were_one() -> None:
    parts = [
        LawNames({"a": ["海上交通安全法(2001-01-01)"], "b": ["Harbour Lights Act"]}),
        LawNames({"c": ["海上交通安全法(2020-01-01)"], "d": ["Ferry Act"]}),
    ]
    joined = LawNames.joined(parts)
    assert joined.find("海上交通安全法") == ["c", "a"]
    assert LawNames.joined(parts[:1]) is parts[0]
    # Joining changes none of them.
    assert parts[0].find("海上交通安全法") == ["a"]
