"""Made-up laws for tests: their structure is known before they are read."""

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from rag_assets.law import write_number

_WORDS = st.text(
    "应当依法予以管理保护监督检查处罚批准公民法人组织机关人员", min_size=6, max_size=60
)


@dataclass(frozen=True)
class MadeUpLaw:
    """A law with what must be found in it: title, (path, article key) in order."""

    title: str
    text: str
    articles: list[tuple[tuple[str, ...], str]]


@st.composite
def laws(draw: Any, number: int = 0) -> MadeUpLaw:
    """Draw a law with chapters, sections, contents page, preamble and articles with 之一."""
    title = f"甲乙市第{write_number(number + 1)}管理办法"
    lines = [f"# {title}", "", "2021年3月1日 甲乙市人民政府常务会议通过", ""]
    if draw(st.booleans()):
        lines += [draw(_WORDS) + "。", ""]
    chapters = draw(st.integers(0, 4))
    titles = [f"第{write_number(n + 1)}章 {draw(_WORDS)[:8]}" for n in range(chapters)]
    if chapters > 1 and draw(st.booleans()):
        lines += [*titles, ""]  # a table of contents
        if draw(st.booleans()):
            lines += [draw(_WORDS) + "。", ""]
    mark = draw(st.sampled_from(["", "## ", "**"]))
    found: list[tuple[tuple[str, ...], str]] = []
    article = 0
    for chapter in titles or [""]:
        if chapter:
            lines += [f"{mark if mark != '**' else ''}{chapter}", ""]
        for _ in range(draw(st.integers(1, 4))):
            article += 1
            path = (chapter,) if chapter else ()
            lines += [f"第{write_number(article)}条 {draw(_WORDS)}。", ""]
            found.append((path, str(article)))
            if draw(st.integers(0, 5)) == 0:
                lines += [
                    f"第{write_number(article)}条之一　{draw(_WORDS)}：",
                    "",
                    "（一）" + draw(_WORDS),
                ]
                lines += ["", "（二）" + draw(_WORDS) + "。", ""]
                found.append((path, f"{article}-1"))
            if draw(st.booleans()):
                lines += [f"依照本办法第{write_number(article)}条的规定，{draw(_WORDS)}。", ""]
    return MadeUpLaw(title, "\n".join(lines) + "\n", found)
