"""What a Chinese input method makes of a citation, and what looks like one and is none."""

import pytest

from rag_assets.auditing import parse_draft

from .world import Shelf, audit_of, make_document

WAGES = "工资上涨了百分之三。"
SHELF = Shelf(
    [make_document("工资研究", [WAGES]), make_document("smith2020", ["Wages rose."])],
    keys={"物价2019": ("thesis", "smith2020")},
)


@pytest.mark.parametrize(
    ("cited", "found"),
    [
        ("（@工资研究）", [("工资研究", None)]),
        ("（＠工资研究）", [("工资研究", None)]),
        ("（见@工资研究，第3页）", [("工资研究", "第3页")]),
        ("（@工资研究 第3页）", [("工资研究", "第3页")]),
        ("（参见@工资研究第3页）", [("工资研究", "第3页")]),
        ("（@工资研究；@smith2020）", [("工资研究", None), ("smith2020", None)]),
        ("（@工资研究、@物价2019）", [("工资研究", None), ("物价2019", None)]),
        ("（@2019年工资研究）", [("2019年工资研究", None)]),
        ("［@工资研究］", [("工资研究", None)]),
        ("【＠工资研究】", [("工资研究", None)]),
        ("［见@工资研究，第3页；@smith2020］", [("工资研究", "第3页"), ("smith2020", None)]),
        ("[参见@工资研究，第3页]", [("工资研究", "第3页")]),
        ("{@工资研究}", [("工资研究", None)]),
        ("｛＠工资研究，第3页；＠smith2020｝", [("工资研究", "第3页"), ("smith2020", None)]),
    ],
)
def test_citations_as_a_chinese_input_method_types_them(
    cited: str, found: list[tuple[str, str | None]]
) -> None:
    (sentence,) = parse_draft("chapter.md", f"工资上涨了百分之三{cited}。".encode()).sentences
    assert sentence.claim == WAGES
    assert [(c.doc_uid, c.hint.text if c.hint else None) for c in sentence.citations] == found


def told(text: str) -> list[str]:
    return [w for w in audit_of(text, SHELF).warnings if "was not read" in w]


@pytest.mark.parametrize(
    ("text", "written", "advice"),
    [
        ("@工资研究发现，工资上涨了。", "“@工资研究发现”", "Write @{工资研究} or {#工资研究}"),
        ("据＠工资研究，工资上涨了。", "“＠工资研究”", "Write @{工资研究} or {#工资研究}"),
        ("据@工资硏究，工资上涨了。", "“@工资硏究”", "@{key} or {#key}"),
        ("工资上涨了{工资研究}。", "“{工资研究}”", "Write {#工资研究}"),
        ("Wages rose {smith2020, p. 3}.", "“{smith2020, p. 3}”", "Write {#smith2020}"),
        ("Wages rose (#smith2020).", "“(#smith2020)”", "Write {#smith2020}"),
        ("工资上涨了［#thesis:工资研究］。", "“［#thesis:工资研究］”", "Write {#thesis:工资研究}"),
    ],
)
def test_what_looks_like_a_citation_is_told_with_the_right_form(
    text: str, written: str, advice: str
) -> None:
    (warning,) = told(f"\n{text}")
    assert warning.startswith(f"chapter.md, line 2: {written} was not read as a citation")
    assert advice in warning


@pytest.mark.parametrize(
    "text",
    [
        "Take {1, 2} or {x}.",
        r"Let $\frac{smith2020}{2}$ and $x_{smith2020}$ be.",
        "Issue (#12) was closed.",
        "`{smith2020}` in code, 邮箱me@工资研究。",
        r"关注\@工资研究。",
        "[#smith2020](page.html)",
    ],
)
def test_other_braces_brackets_and_addresses_are_not(text: str) -> None:
    assert told(text) == []


def test_what_is_told_is_part_of_the_audit() -> None:
    text = "Wages rose {#smith2020}. Prices fell {prices}."
    first = audit_of(text, SHELF)
    prices = make_document("prices", ["Prices fell."])
    second = audit_of(text, Shelf([make_document("smith2020", ["Wages rose."]), prices]))
    assert first.rows == second.rows
    assert first.audit_id != second.audit_id
