"""The mode `law`: articles are searched, merged units of one path are shown."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_assets.chunking import chunk_document, model_input
from rag_assets.model import Chunk, Parent
from rag_assets.parsing import ParseHints, parse_document
from rag_assets.workspace import shipped_settings
from rag_assets_tests.chunking.fakes import LetterTokenizer, chunk_settings
from rag_assets_tests.law.structure.made_up import MadeUpLaw, laws

SMALL = """# 甲乙条例

2021年3月1日通过

## 第一章 总则

第一条 为了管理，制定本条例。

依照第八条的规定，由机关监督。

第二条 本条例适用于甲乙。

## 第二章 罚则

第三条 有下列情形之一的，处罚款：

（一）甲；

（二）乙。
"""


def cut(
    text: str, search_unit: str = "article", limit: int = 10_000
) -> tuple[str, list[Parent], list[Chunk]]:
    document = parse_document(text.encode(), ParseHints(extension="md"), shipped_settings().parse)
    law = {"soft_limit": 400, "search_unit": search_unit, "fallback": [100, 200]}
    asked = chunk_settings(mode="law", law=law)
    return document.text, *chunk_document(document, asked, LetterTokenizer(limit))


def test_each_article_is_found_and_its_chapter_is_shown() -> None:
    _, parents, chunks = cut(SMALL)
    found = [(chunk.kind, chunk.text.split()[0], chunk.section_path) for chunk in chunks]
    assert found == [
        ("text", "#", ()),
        ("heading", "##", ("第一章 总则",)),
        ("text", "第一条", ("第一章 总则",)),
        ("text", "第二条", ("第一章 总则",)),
        ("heading", "##", ("第二章 罚则",)),
        ("text", "第三条", ("第二章 罚则",)),
    ]
    shown = {parent.label: parent.text for parent in parents}
    assert shown[chunks[2].parent_label] == shown[chunks[3].parent_label]
    assert shown[chunks[2].parent_label].startswith("第一条")
    assert shown[chunks[2].parent_label].endswith("本条例适用于甲乙。")


def test_a_reference_to_an_article_is_no_article() -> None:
    _, _, chunks = cut(SMALL)
    (first,) = [chunk for chunk in chunks if chunk.text.startswith("第一条")]
    assert "依照第八条的规定" in first.text


def test_the_model_is_told_law_and_path_before_the_text() -> None:
    _, _, chunks = cut(SMALL)
    told = model_input(chunks[5].text, chunks[5].context)
    assert told.startswith("<<Source: 甲乙条例 | Path: 第二章 罚则>>\n第三条 有下列")
    assert chunks[0].context == "<<Source: 甲乙条例 | Path: >>"


def test_merged_units_may_be_searched() -> None:
    _, parents, chunks = cut(SMALL, "merged")
    assert [chunk.text for chunk in chunks] == [parent.text for parent in parents]


def test_two_laws_in_a_file_have_titles_of_their_own() -> None:
    _, _, chunks = cut(SMALL + SMALL.replace("甲乙条例", "丙丁条例"))
    sources = [chunk.context.split(" | ")[0] for chunk in chunks if chunk.text.startswith("第一条")]
    assert sources == ["<<Source: 甲乙条例", "<<Source: 丙丁条例"]


@given(law=laws(), unit=st.sampled_from(["article", "merged"]), limit=st.sampled_from([60, 9999]))
@settings(max_examples=100, deadline=None)
def test_every_visible_character_is_in_one_chunk(law: MadeUpLaw, unit: str, limit: int) -> None:
    text, parents, chunks = cut(law.text, unit, limit)
    at = 0
    for chunk in chunks:
        assert text[at : chunk.char_start].strip() == ""
        assert text[chunk.char_start : chunk.char_end] == chunk.text
        assert chunk.token_count <= limit
        at = chunk.char_end
    assert text[at:].strip() == ""
    begins = {parent.label: parent.char_start for parent in parents}
    assert all(begins[chunk.parent_label] <= chunk.char_start for chunk in chunks)


@pytest.mark.parametrize("bounds", [[200, 100], [100], [10, 100]])
def test_bounds_that_make_no_sense_are_refused(bounds: list[int]) -> None:
    with pytest.raises(ValueError, match="fallback"):
        chunk_settings(law={"soft_limit": 400, "search_unit": "article", "fallback": bounds})


def test_a_chunk_knows_its_law_and_its_articles() -> None:
    text, _, chunks = cut(SMALL)
    assert {chunk.law_title for chunk in chunks} == {"甲乙条例"}
    assert [[one.key for one in chunk.articles] for chunk in chunks] == [
        [], [], ["1"], ["2"], [], ["3"]
    ]  # fmt: skip
    (article,) = chunks[5].articles
    assert (article.number, article.part, article.shown) == (3, 0, "第三条")
    assert text[article.char_start : article.char_end] == chunks[5].text
    _, _, merged = cut(SMALL, "merged")
    assert [one.key for one in merged[2].articles] == ["1", "2"]


def test_parts_of_a_long_article_each_know_the_whole() -> None:
    items = "".join(f"（{number}）这一项说的是第{number}种情形。\n\n" for number in range(1, 60))
    text, _, chunks = cut(f"# 甲乙条例\n\n第一条之二 有下列情形之一的：\n\n{items}第二条 完。\n")
    parts = [chunk for chunk in chunks if any(one.key == "1-2" for one in chunk.articles)]
    assert len(parts) > 1
    assert {chunk.articles for chunk in parts} == {parts[0].articles}
    (article,) = parts[0].articles
    assert (article.number, article.part) == (1, 2)
    whole = text[article.char_start : article.char_end]
    assert whole.startswith("第一条之二")
    assert whole.endswith("第59种情形。")


def test_articles_of_two_laws_in_a_file_belong_each_to_its_own() -> None:
    _, _, chunks = cut(SMALL + SMALL.replace("甲乙", "丙丁"))
    keys = [(chunk.law_title, one.key) for chunk in chunks for one in chunk.articles]
    assert keys == [(title, key) for title in ("甲乙条例", "丙丁条例") for key in ("1", "2", "3")]


def test_other_modes_know_of_no_law() -> None:
    document = parse_document(SMALL.encode(), ParseHints(extension="md"), shipped_settings().parse)
    _, chunks = chunk_document(document, chunk_settings(), LetterTokenizer())
    assert {(chunk.law_title, chunk.articles) for chunk in chunks} == {(None, ())}


def test_a_title_alone_is_no_passage_that_is_found_and_a_date_is() -> None:
    _, _, chunks = cut("# 甲乙条例\n\n第一条 甲。\n")
    assert [chunk.kind for chunk in chunks] == ["heading", "text"]
    _, _, chunks = cut("# 甲乙条例\n\n2021年3月1日通过\n\n第一条 甲。\n")
    assert [chunk.kind for chunk in chunks] == ["text", "text"]


@pytest.mark.parametrize("unit", ["article", "merged"])
def test_the_header_is_counted_before_a_passage_is_packed(unit: str) -> None:
    articles = "".join(f"第{n}条 {'甲 ' * 50}。\n\n{'乙 ' * 50}。\n\n" for n in "一二三")
    _, _, chunks = cut(f"# 甲乙条例\n\n{articles}", unit, limit=112)
    assert {chunk.context for chunk in chunks} == {"<<Source: 甲乙条例 | Path: >>"}
    assert max(chunk.input_tokens for chunk in chunks) <= 112
    # An article fits without the header and not with it; it is cut between its lines.
    assert [chunk.text[0] for chunk in chunks[1:]] == ["第", "乙"] * 3
    assert not any(chunk.is_cut for chunk in chunks)


def test_merged_units_of_a_small_model_hold_whole_articles() -> None:
    articles = "".join(f"第{n}条 {'甲 ' * 30}。\n\n" for n in "一二三四")
    _, _, chunks = cut(f"# 甲乙条例\n\n{articles}", "merged", limit=112)
    held = [[one.key for one in chunk.articles] for chunk in chunks[1:]]
    assert held == [["1", "2"], ["3", "4"]]
