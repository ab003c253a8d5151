"""A law is previewed by its units: path and articles of each."""

from typing import Any

import pytest

from rag_assets.knowledge.previewing import PreviewSource, render_lines

_LONG = "养犬人应当遵守规则。\n\n" * 150
TEXT = (
    "# 甲市养犬条例\n\n## 第一章 总则\n\n第一条 甲。\n\n第二条 乙。\n\n"
    "第三条 丙。\n\n第四条 丁。\n\n"
    f"## 第二章 罚则\n\n第五条 {_LONG}"
)


@pytest.mark.parametrize(
    ("search_unit", "first"),
    [("article", ["第一条"]), ("merged", ["第一条", "第二条", "第三条", "第四条"])],
)
def test_each_unit_is_shown_with_path_and_articles(search_unit: str, first: list[str]) -> None:
    law: dict[str, Any] = {"soft_limit": 1200, "search_unit": search_unit, "fallback": [500, 1000]}
    preview = PreviewSource("甲市养犬条例.md", TEXT).chunk({"mode": "law", "law": law})
    held = dict(zip([chunk.text for chunk in preview.chunks], preview.articles, strict=True))
    (one,) = [articles for text, articles in held.items() if text.startswith("第一条")]
    assert one == first
    parts = [articles for text, articles in held.items() if "养犬人" in text]
    assert len(parts) > 1
    assert all(articles == ["第五条"] for articles in parts)
    lines = list(render_lines(preview))
    note = "models here read 254, so that a unit holds the whole articles that fit"
    assert any(note in line for line in lines) == (search_unit == "merged")
    at = lines.index("  第一章 总则", lines.index("  | ## 第一章 总则"))
    assert lines[at + 1] == ("  第一条 to 第四条 (4 articles)" if len(first) > 1 else "  第一条")


def test_other_modes_show_none() -> None:
    preview = PreviewSource("甲市养犬条例.md", TEXT).chunk()
    assert not preview.articles
    assert "第一条 to" not in "\n".join(render_lines(preview))
