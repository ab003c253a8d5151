"""The sample papers, set in every layout and format that there is a setter for."""

import html
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

from rag_assets_tests.parsing.made_up_office import (
    make_docx,
    make_pptx,
    slide_shape,
    word_cell,
    word_paragraph,
    word_row,
    word_style,
    word_table,
)
from rag_assets_tests.parsing.made_up_sheets import (
    biff8,
    make_ods,
    make_xls,
    make_xlsx,
    sheet_xml,
)

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
RAW = SAMPLES / "raw"


@dataclass(frozen=True, slots=True)
class Paper:
    """The text of a sample paper, as `samples/make_papers.py` sets it.

    Args:
        blocks: headings with their marks, paragraphs, and `{{table}}` or `{{figure}}`.
    """

    stem: str
    front: dict[str, Any]
    blocks: tuple[str, ...]

    @property
    def table(self) -> list[list[str]] | None:
        """Header and rows of its table, None without one."""
        given = self.front.get("table")
        return [given["columns"], *given["rows"]] if given else None


def _setter() -> ModuleType:
    """Return `samples/make_papers.py`, a script beside its own module."""
    if str(SAMPLES) not in sys.path:
        sys.path.insert(0, str(SAMPLES))
    import make_papers

    found: ModuleType = make_papers
    return found


def read_papers() -> list[Paper]:
    """Return the papers of the sample library, sorted."""
    setter = _setter()
    read = ((source.stem, *setter.read_paper(source)) for source in setter.TEXTS.glob("*.md"))
    return [Paper(stem, front, tuple(blocks)) for stem, front, blocks in sorted(read)]


def _plain(block: str) -> str:
    """Return a heading or paragraph without the marks that say how it is set."""
    return block.lstrip("# ").replace("*", "")


def _one_column(paper: Paper) -> bytes:
    setter = _setter()
    with TemporaryDirectory() as folder:
        target = Path(folder) / "paper.pdf"
        setter.make_paper(setter.TEXTS / f"{paper.stem}.md", target, 1)
        return target.read_bytes()


def _as_text(paper: Paper) -> bytes:
    lines = [paper.front["title"], paper.front["authors"]]
    lines += [_plain(block) for block in paper.blocks if not block.startswith("{{")]
    return ("\n\n".join(lines) + "\n").encode()


def _as_markdown(paper: Paper) -> bytes:
    def rows(table: Sequence[Sequence[str]]) -> str:
        lines = [f"| {' | '.join(row)} |" for row in table]
        return "\n".join([lines[0], "|---" * len(table[0]) + "|", *lines[1:]])

    parts = [f"# {paper.front['title']}", paper.front["authors"]]
    for block in paper.blocks:
        if block == "{{table}}":
            parts += [paper.front["table"]["caption"], rows(paper.table or [])]
        elif not block.startswith("{{"):
            parts.append(f"#{block}" if block.startswith("#") else block)
    return ("\n\n".join(parts) + "\n").encode()


def _as_html(paper: Paper) -> bytes:
    def rows(table: Sequence[Sequence[str]]) -> str:
        lines = ("".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in table)
        return "".join(f"<tr>{line}</tr>" for line in lines)

    parts = [f"<h1>{paper.front['title']}</h1><p class=byline>{paper.front['authors']}</p>"]
    for block in paper.blocks:
        level = len(block) - len(block.lstrip("#"))
        if block == "{{table}}":
            caption = html.escape(paper.front["table"]["caption"])
            parts.append(f"<table><caption>{caption}</caption>{rows(paper.table or [])}</table>")
        elif level:
            parts.append(f"<h{level + 1}>{html.escape(_plain(block))}</h{level + 1}>")
        elif not block.startswith("{{"):
            parts.append(f"<p>{html.escape(_plain(block))}</p>")
    title, language = html.escape(paper.front["title"]), paper.front["language"]
    return (
        f'<!DOCTYPE html><html lang="{language}"><head><meta charset="utf-8"><title>{title}</title>'
        f"</head><body><nav><a href=/>Home</a></nav><main>{''.join(parts)}</main>"
        f"<footer>All rights reserved</footer></body></html>"
    ).encode()


def _as_docx(paper: Paper) -> bytes:
    parts = [
        word_paragraph(html.escape(paper.front["title"]), "Title"),
        word_paragraph(html.escape(paper.front["authors"])),
    ]
    for block in paper.blocks:
        level = len(block) - len(block.lstrip("#"))
        if block == "{{table}}":
            parts += [
                word_paragraph(html.escape(paper.front["table"]["caption"]), "Caption"),
                word_table(*(word_row(*map(word_cell, row)) for row in paper.table or [])),
            ]
        elif not block.startswith("{{"):
            style = f"Heading{level}" if level else ""
            parts.append(word_paragraph(html.escape(_plain(block)), style))
    levels = "".join(
        word_style(f"Heading{level}", f"heading {level}", f'<w:outlineLvl w:val="{level - 1}"/>')
        for level in (1, 2)
    )
    styles = word_style("Title", "Title") + word_style("Caption", "caption") + levels
    return make_docx("".join(parts), {"styles": styles})


def _as_pptx(paper: Paper) -> bytes:
    title, authors = html.escape(paper.front["title"]), html.escape(paper.front["authors"])
    slides = [slide_shape(title, "ctrTitle") + slide_shape(authors, "subTitle")]
    for head, body in _sections(paper):
        shapes = slide_shape(html.escape(head), "title")
        texts = [html.escape(_plain(block)) for block in body if not block.startswith("{{")]
        if texts:
            shapes += slide_shape("\n".join(texts), "body")
        if "{{table}}" in body:
            shapes += _slide_table(paper.table or [])
        slides.append(shapes)
    return make_pptx(slides)


def _sections(paper: Paper) -> Iterator[tuple[str, list[str]]]:
    """Yield each heading with the blocks below it."""
    heads = [number for number, block in enumerate(paper.blocks) if block.startswith("#")]
    for head, end in zip(heads, [*heads[1:], len(paper.blocks)], strict=True):
        yield _plain(paper.blocks[head]), list(paper.blocks[head + 1 : end])


def _slide_table(table: Sequence[Sequence[str]]) -> str:
    def cell(text: str) -> str:
        return f"<a:tc><a:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></a:txBody></a:tc>"

    rows = "".join(
        f"<a:tr>{''.join(cell(html.escape(text)) for text in row)}</a:tr>" for row in table
    )
    return (
        '<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="4" name="Frame"/></p:nvGraphicFramePr>'
        f"<a:graphic><a:graphicData><a:tbl>{rows}</a:tbl></a:graphicData></a:graphic>"
        "</p:graphicFrame>"
    )


def _as_ods(table: Sequence[Sequence[str]]) -> bytes:
    def cell(text: str) -> str:
        return f"<table:table-cell><text:p>{html.escape(text)}</text:p></table:table-cell>"

    rows = "".join(f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in table)
    return make_ods(f'<table:table table:name="Means">{rows}</table:table>')


def _as_notebook(paper: Paper) -> bytes:
    cells: list[dict[str, object]] = [
        {"cell_type": "markdown", "source": part}
        for part in _as_markdown(paper).decode().strip().split("\n\n")
    ]
    output = {"output_type": "stream", "text": ["251\n"]}
    cells.append({"cell_type": "code", "source": "print(251)", "outputs": [output]})
    return json.dumps({"cells": cells, "nbformat": 4}).encode()


def _as_mail(paper: Paper) -> bytes:
    message = EmailMessage()
    message["Subject"], message["From"] = paper.front["title"], "author@example.org"
    message.set_content(_as_text(paper).decode())
    return message.as_bytes()


def _as_archive(paper: Paper) -> bytes:
    message = EmailMessage()
    message["From"], message["Subject"] = "<Saved by Blink>", paper.front["title"]
    message.set_content(_as_html(paper).decode(), subtype="html")
    message.add_related(b"x", "image", "png")
    return message.as_bytes().replace(message.get_boundary().encode(), b"----MultipartBoundary")


_OF_PAPERS: dict[str, Callable[[Paper], bytes]] = {
    "one-column.pdf": _one_column, "txt": _as_text, "md": _as_markdown, "html": _as_html,
    "docx": _as_docx, "pptx": _as_pptx, "ipynb": _as_notebook, "eml": _as_mail, "mht": _as_archive,
}  # fmt: skip
_OF_TABLES: dict[str, Callable[[list[list[str]]], bytes]] = {
    "xlsx": lambda table: make_xlsx({"Means": sheet_xml(table)}),
    "ods": _as_ods,
    "xls": lambda table: make_xls(biff8("Means", table)),
}


def documents() -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Yield the name of every golden document, and what makes its bytes."""
    for path in sorted((*RAW.rglob("*.pdf"), *RAW.rglob("*.md"), *RAW.rglob("*.csv"))):
        yield path.name, path.read_bytes
    for paper in read_papers():
        for name, setter in _OF_PAPERS.items():
            yield f"{paper.stem}.{name}", lambda setter=setter, paper=paper: setter(paper)
        if paper.table:
            for name, writer in _OF_TABLES.items():
                yield f"{paper.stem}.{name}", lambda w=writer, t=paper.table: w(t)
