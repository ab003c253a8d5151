"""What people complain of in parsers of statutes does not happen here.

The four are those of RAGFlow's parser of laws, by their public threads: a cross-reference taken for
a heading (16595), chunks that tell neither document nor chapter (12968), one chunk of tens of
thousands of characters (11877), Word cut otherwise than Markdown (8637).
"""

from collections.abc import Sequence
from datetime import date
from itertools import pairwise
from pathlib import Path

import pytest

from rag_assets.chunking import chunk_document, model_input
from rag_assets.law.structure import read_laws
from rag_assets.model import Chunk, Parent, UsageError
from rag_assets.parsing import ParseHints, parse_document
from rag_assets.retrieval import OpenedLibrary, Retriever
from rag_assets.retrieval.statutes import LawShelf
from rag_assets.workspace import shipped_settings
from rag_assets_tests.chunking.fakes import LetterTokenizer, chunk_settings
from rag_assets_tests.libraries import HASHING, build, make_workspace
from rag_assets_tests.parsing.made_up_office import make_docx, word_paragraph, word_style

# (how it stands in a document, text): a title, levels, paragraphs.
LAW = [
    ("title", "甲乙市河道条例"),
    ("text", "2021年3月1日甲乙市人民代表大会常务委员会第三次会议通过"),
    ("level", "第一章 总则"),
    ("text", "第一条 为了保护河道，制定本条例。"),
    ("text", "依照本条例第三条的规定，由河道主管机关监督。"),
    ("text", "第二条 本条例适用于甲乙市的河道。"),
    ("level", "第二章 罚则"),
    ("level", "第一节 一般规定"),
    ("text", "第三条 有下列情形之一的，处一千元罚款："),
    ("text", "（一）倾倒垃圾的；"),
    ("text", "（二）擅自取水的。"),
    ("text", "第三条之一 情节轻微的，不予处罚。"),
    ("level", "附则"),
    ("text", "第四条 本条例自2021年5月1日起施行。"),
]


def cut(
    data: str | bytes, extension: str = "md", limit: int = 10_000, **law: object
) -> tuple[str, list[Parent], list[Chunk]]:
    raw = data if isinstance(data, bytes) else data.encode()
    document = parse_document(raw, ParseHints(extension=extension), shipped_settings().parse)
    asked = {"soft_limit": 400, "search_unit": "article", "fallback": [100, 200], **law}
    settings = chunk_settings(mode="law", law=asked)
    return document.text, *chunk_document(document, settings, LetterTokenizer(limit))


def articles_in(text: str) -> list[str]:
    return [unit.article.key for law in read_laws(text) for unit in law.units if unit.article]


@pytest.mark.parametrize(
    "line",
    [
        "第三条规定的期限，自收到之日起计算。",
        "第八条、第九条所列行为，由机关处理。",
        "第十二条的规定不适用于甲。",
        "第六条第二款规定的人，应当登记。",
        "依照本法第十条，处以罚款。",
        "前款所称机关，是第五条所称的机关。",
        "对依照\n第十条 作出的决定不服的，可以复议。",
        "违反本条例第七条、\n第九条 有关规定的，处以罚款。",
        "机关应当自作出决定之日起五日内参照本条例\n第一条 的原则办理。",
        "当事人不满意的，可以申请适用简易程序，该机关应当于五日内按\n第九条 规定的程序办理。",
        "主管部门认为有必要的，可以会同有关部门视情况采取\n第十五条 规定的其他措施。",
    ],
)
def test_a_reference_at_the_beginning_of_a_line_begins_no_article(line: str) -> None:
    text = f"# 甲法\n\n第一条 甲。\n\n第二条 乙。\n{line}\n\n第三条 丙。\n"
    assert articles_in(text) == ["1", "2", "3"]
    _, _, chunks = cut(text)
    assert [chunk.text[:3] for chunk in chunks] == ["# 甲", "第一条", "第二条", "第三条"]
    assert chunks[2].text.endswith(line)


def test_articles_of_one_line_each_are_articles_all_the_same() -> None:
    # Without empty lines between them, after a title, a level, a list without full stops.
    text = (
        "甲法\n第一章 总则\n第一条 甲。\n第二条 下列人员：\n（一）乙\n（二）丙\n第三条 丁。\n"
        "第三条之一 戊。\n第五条 己。\n乙法\n第一条 庚。\n第二条 辛。\n"
    )
    assert articles_in(text) == ["1", "2", "3", "3-1", "5", "1", "2"]
    assert [law.title for law in read_laws(text)] == ["甲法", "乙法"]


def test_every_chunk_tells_its_law_and_its_chapter() -> None:
    for search_unit in ("article", "merged"):
        _, _, chunks = cut(as_markdown(LAW), search_unit=search_unit)
        paths = [chunk.context for chunk in chunks if chunk.kind != "heading"]
        below = ["", "第一章 总则", "第二章 罚则 > 第一节 一般规定", "附则"]
        assert list(dict.fromkeys(paths)) == [
            f"<<Source: 甲乙市河道条例 | Path: {path}>>" for path in below
        ]
        # The model reads the header with the text; the text stays a slice of the file.
        assert all(
            model_input(chunk.text, chunk.context) == f"{chunk.context}\n{chunk.text}"
            for chunk in chunks
        )


def test_no_chunk_is_longer_than_its_bounds() -> None:
    """An article of tens of thousands of characters, with items, sentences and one long run."""
    items = "\n\n".join(f"（{n}）" + "应当依法予以登记；" * 30 for n in ("一", "二", "三"))
    article = (
        "第二条 下列事项：\n\n" + items + "\n\n" + "机关应当公告。" * 4000 + "\n\n" + "甲" * 9000
    )
    text = f"# 甲法\n\n## 第一章 总则\n\n第一条 甲。\n\n{article}\n\n第三条 丙。\n"
    whole, parents, chunks = cut(text, limit=500, soft_limit=1200, fallback=[500, 1000])
    assert len(text) > 35_000
    assert max(len(parent.text) for parent in parents) <= 1200
    assert max(chunk.token_count for chunk in chunks) <= 500
    assert "".join(chunk.text for chunk in chunks).replace("\n", "") == whole.replace("\n", "")
    # Each part still tells where it stands, and no other article is in one with it.
    inside = [chunk for chunk in chunks if chunk.section_path]
    assert {chunk.section_path for chunk in inside} == {("第一章 总则",)}
    assert sum("第三条" in chunk.text for chunk in chunks) == 1


def as_markdown(law: Sequence[tuple[str, str]]) -> str:
    marks = {"title": "# ", "level": "## ", "text": ""}
    return "\n\n".join(marks[kind] + text for kind, text in law) + "\n"


def as_html(law: Sequence[tuple[str, str]]) -> str:
    tags = {"title": "h1", "level": "h2", "text": "p"}
    body = "".join(f"<{tags[kind]}>{text}</{tags[kind]}>\n" for kind, text in law)
    return f"<!doctype html><html><head><title>x</title></head><body>{body}</body></html>"


def as_docx(law: Sequence[tuple[str, str]], *, styled: bool) -> bytes:
    styles = {"title": "Heading1", "level": "Heading2", "text": ""}
    body = "".join(word_paragraph(text, styles[kind] if styled else "") for kind, text in law)
    known = word_style("Heading1", "heading 1") + word_style("Heading2", "heading 2")
    return make_docx(body, {"styles": known})


@pytest.mark.parametrize(
    ("extension", "data"),
    [
        ("docx", as_docx(LAW, styled=True)),
        ("docx", as_docx(LAW, styled=False)),
        ("html", as_html(LAW)),
        ("txt", "\n\n".join(text for _, text in LAW) + "\n"),
        ("txt", "\n".join(text for _, text in LAW) + "\n"),
    ],
    ids=["docx", "docx without styles", "html", "txt", "txt without empty lines"],
)
@pytest.mark.parametrize("search_unit", ["article", "merged"])
def test_a_law_is_cut_alike_whatever_file_it_stands_in(
    search_unit: str, extension: str, data: str | bytes
) -> None:
    def shape(
        content: str | bytes, kind: str
    ) -> list[tuple[str, tuple[str, ...], str | None, str, str]]:
        text, parents, chunks = cut(content, kind, search_unit=search_unit)
        assert articles_in(text) == ["1", "2", "3", "3-1", "4"]
        shown = {parent.label: plain(parent.text) for parent in parents}
        return [
            (plain(chunk.text), chunk.section_path, chunk.context, chunk.kind,
             shown[chunk.parent_label])
            for chunk in chunks
        ]  # fmt: skip

    assert shape(data, extension) == shape(as_markdown(LAW), "md")


def plain(text: str) -> str:
    """Return a text without Markdown's marks of headings and without white space."""
    return "".join(text.replace("#", "").split())


def test_article_8_is_not_article_18(tmp_path: Path) -> None:
    numbers = ["一", "二", "三", "四", "五", "六", "七", "九", "十"]
    numbers += [f"十{number}" for number in numbers[:7]] + ["十八", "二十八", "八十", "一百零八"]
    lines = [f"第{number}条 编号为{number}的河道由机关管理。" for number in numbers]
    text = "# 河道管理法\n\n" + "\n\n".join(lines) + "\n"
    with_eighth = text.replace("河道管理", "湖泊管理") + "\n第八条 湖泊由机关保护。\n"
    files = {"evidence/河道管理法.md": text, "evidence/湖泊管理法.md": with_eighth}
    workspace = make_workspace(tmp_path, files, {**HASHING, "chunk": {"mode": "law"}})
    build(workspace.namespace("thesis"))
    with OpenedLibrary(workspace) as library, library.hold() as held:
        shelf = LawShelf(held, date(2025, 1, 1))
        # It has no such article, and 18, 28 and 80 are not it.
        with pytest.raises(UsageError, match=r"has no 第八条\. The nearest is 第"):
            shelf.article("[河道管理法 > 第八条]")
        assert shelf.article("[河道管理法 > 第十八条]").text == lines[numbers.index("十八")]
        assert shelf.article("[湖泊管理法 > 第八条]").text == "第八条 湖泊由机关保护。"
        with Retriever(library) as retriever:
            for law, asked, begin in [
                ("河道", "第十八条", "第十八条 "),
                ("河道", "第80条", "第八十条 "),
                ("湖泊", "第八条", "第八条 "),
            ]:
                first = retriever.retrieve(f"{law}管理法{asked}").hits[0]
                assert first.text.startswith(begin), (asked, first.text)


def test_chunks_stand_in_the_order_of_the_text() -> None:
    _, _, chunks = cut(as_markdown(LAW))
    assert all(before.char_end <= after.char_start for before, after in pairwise(chunks))
