"""What is quoted of a passage, and that it stands so in the source."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.evidence import Question, make_pack, render_pack
from rag_assets.evidence.quoting import QUOTE_WORDS, check_quote, first_span, shorten
from rag_assets.model import DamagedFileError, ParsedDocument, SourceLine
from rag_assets.parsing import ParseHints, parse_document
from rag_assets.workspace import Workspace
from rag_assets_tests.evidence.conftest import ROOFS
from rag_assets_tests.libraries import HASHING, build, make_workspace
from rag_assets_tests.parsing.conftest import make_settings

PASSAGES = st.lists(
    st.sampled_from([*"aB1 .?!;|\n，。？的街", "![x](attachment:fig-1)", "| a | b |\n"])
).map("".join)


@given(PASSAGES)
def test_first_words_are_a_trimmed_piece_of_the_passage(text: str) -> None:
    span = first_span(text)
    if span is None:
        assert not any(map(str.isalnum, text.replace("![x](attachment:fig-1)", "")))
        return
    words = text[slice(*span)]
    assert words.strip() == words
    assert "attachment:" not in words
    assert any(map(str.isalnum, words))


def test_figure_is_no_words() -> None:
    assert first_span("![Figure 1](attachment:fig-001)") is None


def test_pack_quotes_the_answer_of_a_chunk_of_question_and_answer(library: Workspace) -> None:
    pack = make_pack(library, Question(question="How much cooler are sedum roofs?"))
    (item,) = [item for item in pack.items if item.doc_uid == "asked"]
    assert "How much cooler" in item.snippet
    assert "How much cooler" not in item.exact_quote


def test_long_sentence_ends_with_a_clause() -> None:
    long = (
        "向他人出售或者提供公民个人信息，情节严重的，" * 2 + "处三年以下有期徒刑或者拘役" * 3 + "。"
    )
    assert shorten(long, QUOTE_WORDS).endswith("情节严重的")


def test_long_sentence_is_not_cut_behind_a_conjunction() -> None:
    before = "行道树的树冠覆盖率每提高百分之十街道午后的气温便会下降约零点三度"
    text = f"{before}，其效果在夏季最为明显，同时，{'冬季的差别很小且随街道走向而变化' * 3}。"
    assert shorten(text, QUOTE_WORDS) == f"{before}，其效果在夏季最为明显"
    english = f"{'roofs were cooler ' * 17}in July, moreover, {'they warmed up later ' * 9}again."
    assert shorten(english, QUOTE_WORDS) == f"{'roofs were cooler ' * 17}in July"


LIMITS = [
    "but", "unless", "except", "provided that", "if", "not", "only if", "although", "however",
    "但是", "但", "除外", "除非", "不", "未", "如果", "无",
]  # fmt: skip
CLAUSE = st.sampled_from(
    ["roofs were cooler in July", "the wet ones too", "屋顶在七月更凉", "应当支付二倍的工资"]
)
JOINED = st.tuples(st.lists(CLAUSE, min_size=1, max_size=20), st.sampled_from([*LIMITS, "and"]),
                   st.lists(CLAUSE, min_size=1, max_size=20))  # fmt: skip


@given(JOINED, st.sampled_from([", ", "，", " ", "；"]))
def test_what_limits_a_sentence_is_never_cut_off(
    parts: tuple[list[str], str, list[str]], mark: str
) -> None:
    before, word, after = parts
    sentence = f"{mark.join(before)}{mark}{word} {mark.join(after)}。"
    kept = shorten(sentence, QUOTE_WORDS)
    assert sentence.startswith(kept)
    if kept != sentence:
        rest = sentence[len(kept) :]
        assert word == "and" or word not in rest


LAW = """# 借贷规定

第一条 为了审理案件，制定本规定。

第二条 出借人请求借款人按照合同约定利率支付利息的，人民法院应予支持，出借人提供证据证明双方对逾期
利率另行作出书面约定并且已经实际履行完毕相应义务的同样支持，但是双方约定的利率超过合同成立时一年期贷款市场
报价利率四倍的除外。

第三条 应当书面约定利率。但是自然人之间另有约定的除外。
"""


@pytest.mark.parametrize(
    ("asked", "end"),
    [("出借人请求支付利息", "四倍的除外。"), ("应当书面约定利率", "另有约定的除外。")],
)
def test_a_sentence_of_a_statute_is_quoted_with_its_exception(
    tmp_path: Path, asked: str, end: str
) -> None:
    settings = {**HASHING, "chunk": {"mode": "law"}}
    workspace = make_workspace(tmp_path, {"evidence/借贷规定.md": LAW}, settings)
    build(workspace.namespace("thesis"))
    item = make_pack(workspace, Question(question=asked)).items[0]
    assert item.exact_quote.endswith(end)
    assert not item.is_cut


def test_a_quote_that_is_cut_is_shown_with_an_ellipsis(tmp_path: Path) -> None:
    long = f"Roofs with sedum were cooler, {'and the wet ones cooled the street ' * 12}again."
    workspace = make_workspace(tmp_path, {"evidence/a.md": f"# Roofs\n\n{long}\n"}, HASHING)
    build(workspace.namespace("thesis"))
    pack = make_pack(workspace, Question(question="How cool are roofs with sedum?"))
    (item,) = pack.items
    assert item.is_cut
    assert item.shown_quote == f"{item.exact_quote} …"
    assert f"**{item.shown_quote}**" in render_pack(pack)


def test_sentence_without_clauses_is_not_broken_off_behind_a_preposition() -> None:
    text = f"{'cool roofs ' * 29}are of {'the same kind ' * 9}again."
    assert shorten(text, QUOTE_WORDS) == f"{'cool roofs ' * 29}".strip()


def test_an_enumeration_is_cut_only_where_no_clause_ends() -> None:
    kinds = "、".join(["乔木", "灌木", "草坪", "屋顶绿化"] * 6)
    assert shorten(f"城市绿化的种类很多，包括{kinds}。", QUOTE_WORDS)
    quote = shorten(f"城市绿化包括{kinds}。", QUOTE_WORDS)
    assert quote[-1] not in "、，"
    assert kinds[len(quote) - 6] == "、"


@pytest.fixture(scope="module")
def document() -> ParsedDocument:
    return parse_document(ROOFS, ParseHints(extension=".pdf"), make_settings())


def test_quote_over_a_divided_word_is_what_is_printed(document: ParsedDocument) -> None:
    quote = "cooler than bitumen in every summer month, and the wet ones"
    start = document.text.index(quote)
    assert check_quote(document, start, quote, "roofs:0") == "printed"


def test_quote_of_which_a_letter_is_not_printed_stops_the_pack(document: ParsedDocument) -> None:
    quote = "Sedum roofs were 16.7 degrees cooler"
    altered = replace(document, text=document.text.replace("16.7", "61.7"))
    with pytest.raises(DamagedFileError, match=r"roofs:0.*61\.7.*16\.7"):
        check_quote(
            replace(altered, lines=tuple(_as_printed(document))),
            altered.text.index("Sedum"),
            quote.replace("16.7", "61.7"),
            "roofs:0",
        )


def test_quote_that_is_not_in_the_text_stops_the_pack(document: ParsedDocument) -> None:
    with pytest.raises(DamagedFileError, match="No pack was made"):
        check_quote(document, 0, "Tin roofs are hot.", "roofs:0")


def _as_printed(document: ParsedDocument) -> list[SourceLine]:
    return [
        replace(line, printed=line.printed or document.text[line.start : line.end])
        for line in document.lines
    ]


def test_quote_has_the_boxes_and_page_of_its_own_lines(library: Workspace) -> None:
    pack = make_pack(library, Question(question="cooling in the street below"))
    (item,) = [item for item in pack.items if "street" in item.exact_quote]
    assert (item.page_index, item.page_start, item.page_end) == (1, 2, 2)
    assert item.locator_quality == "page_box"
    (box,) = item.boxes
    assert box.page == 2
    assert box.y0 < 100 < box.y1
    assert item.quote_check == "printed"


def test_text_without_pages_is_compared_with_the_clean_text(library: Workspace) -> None:
    pack = make_pack(library, Question(question="树冠覆盖率"))
    assert (pack.items[0].quote_check, pack.items[0].boxes) == ("clean_text", ())
    assert any("no page" in warning for warning in pack.warnings)
