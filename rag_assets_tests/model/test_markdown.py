"""Whatever stands in a text: Markdown shows it and makes nothing else of it."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rag_assets.model import (
    block_quote,
    code_span,
    drop_controls,
    escape_inline,
    escape_prose,
    fence,
    table_cell,
)
from rag_assets_tests.model.markdown_reader import READER, flat, kinds, shown

ATTACKS = [
    "![a](/graphql?query=mutation)",
    "[a](javascript:alert(1))",
    "[a][b]",
    "[b]: http://x.org",
    "[^1]: note",
    "^[note]",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<!-- hidden -->",
    "<http://x.org>",
    "&lt;b&gt; &#60; &#x3C;",
    "*a* **b** _c_ __d__ ~e~ ~~f~~",
    "`code` ``more``",
    "a | b",
    "|---|",
    ":-:",
    "# Heading #",
    "- item",
    "+ item",
    "* item",
    "1. item",
    "2) item",
    "> quote",
    "[ ] box",
    "[x] box",
    "---",
    "===",
    "***",
    "~~~",
    "```",
    ": definition",
    "~ definition",
    "ends with \\",
    "\\*a* \\\\_b_",
    "a <",
    "[[link]]",
    "\x1b[31mred\x1b[0m",
]
MARKUP = st.text("*_~`[]()<>&;#|\\!-+=:.^ \n\t\"'/abx1é好http\x1b\r", max_size=30)
TEXTS = st.sampled_from(ATTACKS) | MARKUP | st.text(max_size=30)
ATTACK = pytest.mark.parametrize("text", ATTACKS)


def folded(text: str) -> str:
    return " ".join(drop_controls(text).replace("\x00", "").split())


def check(page: str, expected: str, allowed: set[str]) -> None:
    tokens = READER.parse(page)
    assert kinds(tokens) <= allowed | {"text", "text_special"}, page
    assert shown(tokens) == " ".join(expected.split()), page


def check_inline(text: str) -> None:
    plain = folded(text)
    line = escape_inline(text)
    assert "\n" not in line
    check(line, plain, {"paragraph"})
    check(f"before\n{line}\nafter", f"before {plain} after", {"paragraph", "softbreak"})
    check(f"- {line}", plain, {"bullet_list", "list_item", "paragraph"})
    check(f"# {line}", plain, {"heading"})
    within = escape_inline(text, opens=False)
    check(f"before {within} after", f"before {plain} after", {"paragraph"})
    check(f"## 1. {within}", f"1. {plain}", {"heading"})
    check(f"**“{within}”**", f"“{plain}”", {"paragraph", "strong"})


@ATTACK
def test_a_line_is_shown_as_it_is(text: str) -> None:
    check_inline(text)


@given(TEXTS)
@example("a\\")
@example("x ~a~")
def test_any_line_is_shown_as_it_is(text: str) -> None:
    check_inline(text)


@given(TEXTS, TEXTS)
def test_two_texts_make_nothing_together(first: str, second: str) -> None:
    page = f"x {escape_inline(first)} {escape_inline(second)} y"
    check(page, f"x {folded(first)} {folded(second)} y", {"paragraph"})


def check_cell(text: str) -> None:
    plain = folded(text)
    page = f"| a | b |\n|---|---|\n| {table_cell(text)} | {code_span(text, in_table=True)} |\n"
    allowed = {"table", "thead", "tbody", "tr", "th", "td", "code_inline"}
    check(page, f"a b {plain} {plain}", allowed)


@ATTACK
def test_a_cell_stays_one_cell(text: str) -> None:
    check_cell(text)


@given(TEXTS)
def test_any_text_stays_in_its_cell(text: str) -> None:
    check_cell(text)


@given(TEXTS)
def test_any_code_span_holds_its_text(text: str) -> None:
    span = code_span(text)
    for page in (span, f"- {span}: x", f"# {span}"):
        tokens = READER.parse(page)
        assert [t.content.strip() for t in flat(tokens) if t.type == "code_inline"] == [
            folded(text)
        ]


def lines_of(text: str) -> str:
    text = drop_controls(text)
    return text if not text or text.endswith("\n") else text + "\n"


@given(TEXTS, st.sampled_from(["", "python", "a b", "`"]))
def test_any_block_holds_its_text(text: str, language: str) -> None:
    tokens = READER.parse(f"before\n\n{fence(text, language)}\n\nafter\n")
    assert kinds(tokens) == {"paragraph", "text", "fence"}
    (block,) = [t for t in tokens if t.type == "fence"]
    assert block.content == lines_of(text)
    assert block.info == (language if language == "python" else "")


def check_quotation(text: str) -> None:
    page = f"before\n\n{block_quote(text)}\n\nafter\n"
    allowed = {"paragraph", "blockquote", "softbreak", "fence"}
    check(page, f"before {folded(text)} after", allowed)


@ATTACK
def test_a_quotation_is_shown_as_it_is(text: str) -> None:
    check_quotation(text)
    check_quotation(f"Before.\n{text}\nafter.\n\n{text}")


@given(st.lists(TEXTS, max_size=6).map("\n".join))
def test_any_quotation_is_shown_as_it_is(text: str) -> None:
    check_quotation(text)


def test_rows_of_a_table_stand_one_under_the_other() -> None:
    assert block_quote("Yields:\n| a | b |\n|---|---|\n| 1 | `2` |\n\nSo *much*.") == (
        "> Yields:\n> ```\n> | a | b |\n> |---|---|\n> | 1 | `2` |\n> ```\n>\n> So \\*much\\*."
    )


@pytest.mark.parametrize(
    "text",
    [
        "doc_uid and a__b",
        "a [lone bracket, [12] and (x)]",
        "1.5 < 2 and p<0.05, 3 > 2",
        "2 * 3 = 6",
        "R&D, AT&T; ~5 mg and ~6 mg",
        r"C:\Users \alpha",
        "https://x.org/a_b?c=1&d=2 and a@b.org",
        "#1 of 3, C# and -5 °C",
        "[12] Smith et al. (2019)",
        "1.5 % of 3",
        "“Wow!” – (so)",
    ],
)
def test_what_cannot_be_markup_has_no_backslash(text: str) -> None:
    assert escape_inline(f"{text}.") == f"{text}."


def test_a_number_that_makes_no_list_has_no_backslash() -> None:
    assert escape_inline("1. Introduction") == "1\\. Introduction"
    assert table_cell("1. Introduction") == "1. Introduction"


@given(TEXTS, TEXTS, TEXTS)
def test_what_is_set_in_bold_is_all_that_a_quotation_marks(
    before: str, strong: str, after: str
) -> None:
    text = f"{before} {strong} {after}"
    tokens = READER.parse(block_quote(text, strong))
    assert kinds(tokens) <= {"paragraph", "blockquote", "softbreak", "fence", "strong", "text",
                             "text_special"}  # fmt: skip
    assert shown(tokens).replace("*", "").split() == folded(text).replace("*", "").split()


def test_the_quote_is_bold_within_its_line() -> None:
    assert block_quote("See *this*. It rises. Why?\nIt rises.", "It rises.") == (
        "> See \\*this\\*. **It rises.** Why?\n> It rises."
    )


def test_lines_of_code_keep_their_places() -> None:
    text = "So:\n```python\nif x:\n    y()\n```\nor\n\n    z = [1](2)\ndone"
    assert block_quote(text) == (
        "> So:\n> ````\n> ```python\n> if x:\n>     y()\n> ```\n> ````\n> or\n>\n"
        "> ```\n>     z = [1](2)\n> ```\n> done"
    )


@given(st.lists(TEXTS | st.sampled_from(["`a`", "``b` ``", "`{#uid}`", "`a|b`"]), max_size=4))
def test_a_sentence_of_ours_has_code_spans_and_nothing_else(parts: list[str]) -> None:
    text = " ".join(["We", *parts, "."])
    assert kinds(READER.parse(escape_prose(text))) <= {"paragraph", "text", "text_special",
                                                       "code_inline"}  # fmt: skip
    page = f"| a |\n|---|\n| {escape_prose(text, in_table=True)} |\n"
    assert kinds(READER.parse(page)) <= {"table", "thead", "tbody", "tr", "th", "td", "text",
                                         "text_special", "code_inline"}  # fmt: skip


def test_code_spans_of_our_sentences_stay() -> None:
    assert escape_prose("Run `rag ingest` on `a_b`; *not* ![x](y).") == (
        "Run `rag ingest` on `a_b`; \\*not\\* ![x\\](y)."
    )
    assert escape_prose("`rag gc` first") == "`rag gc` first"
