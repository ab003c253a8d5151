"""Set the three sample papers as two-column PDFs: `python samples/make_papers.py [FOLDER]`.

The text of each paper is a file of `papers_text/`; this script only sets it. The same text and
the same PyMuPDF give the same bytes.
"""

import sys
from pathlib import Path
from typing import Any

import pymupdf
import yaml
from typesetting import (
    ACCENT,
    BLACK,
    GREY,
    TINT,
    Colour,
    Fonts,
    Line,
    Style,
    break_lines,
    split_runs,
)

HERE = Path(__file__).resolve().parent
TEXTS = HERE / "papers_text"
PAPERS = HERE / "raw" / "evidence"

# Lengths in points. The page is 7.5 × 10 inches, a usual journal size.
PAGE_WIDTH, PAGE_HEIGHT = 540.0, 720.0
SIDE, TOP, BOTTOM, GUTTER = 42.0, 66.0, 668.0, 20.0
TEXT_WIDTH = PAGE_WIDTH - 2 * SIDE
COLUMNS = 2
HEAD_BASELINE, HEAD_RULE, FOOT_BASELINE = 42.0, 48.0, 694.0


def read_paper(path: Path) -> tuple[dict[str, Any], list[str]]:
    """Return the front matter and the blocks of a paper's text: one block a line."""
    _, front, body = path.read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(front), [line for line in body.splitlines() if line]


class Press:
    """Draws on pages; knows nothing of paragraphs."""

    def __init__(self, fonts: Fonts) -> None:
        self.document = pymupdf.open()
        self.fonts = fonts
        # In reading order; a writer has one colour.
        self._writers: list[tuple[Colour, pymupdf.TextWriter]] = []

    def new_page(self) -> None:
        """Finish the page and begin another."""
        self.finish_page()
        self.page = self.document.new_page(width=PAGE_WIDTH, height=PAGE_HEIGHT)

    def finish_page(self) -> None:
        """Write the text that was collected for the page."""
        for colour, writer in self._writers:
            writer.write_text(self.page, color=colour)
        self._writers = []

    def draw_text(
        self, place: tuple[float, float], text: str, face: str, size: float, colour: Colour
    ) -> None:
        """Draw `text` from `place`, a point on its baseline."""
        x, y = place
        if not self._writers or self._writers[-1][0] != colour:
            self._writers.append((colour, pymupdf.TextWriter(self.page.rect)))
        writer = self._writers[-1][1]
        for run in split_runs(text):
            font = self.fonts.font(face, run)
            writer.append((x, y), run, font=font, fontsize=size)
            x += self.fonts.width(run, face, size)

    def draw_line(self, line: Line, x: float, y: float) -> None:
        """Draw a broken line; words end with their space, so that extraction needs no guess."""
        x += line.offset
        for number, (piece, extra) in enumerate(zip(line.pieces, line.extra, strict=True)):
            x += piece.gap + extra
            follower = line.pieces[number + 1] if number + 1 < len(line.pieces) else None
            text = piece.text + (" " if follower is not None and follower.gap else "")
            self.draw_text((x, y), text, piece.face, line.style.size, line.style.colour)
            x += piece.width

    def draw_rule(self, x0: float, x1: float, y: float, weight: float = 0.6) -> None:
        """Draw a horizontal rule."""
        self.page.draw_line((x0, y), (x1, y), color=BLACK, width=weight)


class Setting:
    """Sets one paper: a title over all columns, then text that flows from column to column."""

    def __init__(
        self,
        front: dict[str, Any],
        blocks: list[str],
        fonts: Fonts,
        floors: dict[int, float],
        columns: int = COLUMNS,
    ) -> None:
        self.columns = columns
        self.column_width = (TEXT_WIDTH - (columns - 1) * GUTTER) / columns
        self.front = front
        self.floors = floors
        self.blocks = blocks
        self.is_chinese = front["language"] == "zh"
        self.fonts = fonts
        self.press = Press(self.fonts)
        self.floats: list[str] = []
        self.page_number = 0
        self.notice: list[Line] = []
        body = Style(10, 12.7, indent=11, after=0)
        if self.is_chinese:
            body = Style(10, 15.6, indent=20)
        self.body = body
        self.small = Style(8, 10 if not self.is_chinese else 11.5, justified=False, colour=GREY)

    def set_paper(self) -> pymupdf.Document:
        """Return the finished document."""
        self.new_page()
        abstract = self.blocks.index(next(b for b in self.blocks if b.startswith("# "))) + 1
        self.set_title(self.blocks[abstract - 1].lstrip("# "), self.blocks[abstract])
        self.is_reference = False
        after_heading = True
        for block in self.blocks[abstract + 1 :]:
            if block.startswith("#"):
                self.set_heading(block)
            elif block.startswith("{{"):
                self.set_float(block.strip("{}"))
            else:
                self.set_paragraph(block, is_first=after_heading)
            after_heading = block.startswith("#")
        for name in self.floats:
            self.draw_float(name)
        self.press.finish_page()
        return self.press.document

    def new_page(self) -> None:
        """Begin a page: running head, rule, page number."""
        self.press.new_page()
        self.page_number += 1
        self.column = 0
        self.top = self.y = TOP
        self.floor = self.floors.get(self.page_number, BOTTOM)
        left = f"{self.front['journal']} {self.front['issue']}"
        right = self.front["short_title"]
        self.press.draw_text((SIDE, HEAD_BASELINE), left, "italic", 8.5, GREY)
        width = sum(self.fonts.width(run, "italic", 8.5) for run in split_runs(right))
        self.press.draw_text((PAGE_WIDTH - SIDE - width, HEAD_BASELINE), right, "italic", 8.5, GREY)
        self.press.draw_rule(SIDE, PAGE_WIDTH - SIDE, HEAD_RULE, 0.4)
        number = str(self.page_number)
        width = self.fonts.width(number, "roman", 9)
        self.press.draw_text(((PAGE_WIDTH - width) / 2, FOOT_BASELINE), number, "roman", 9, BLACK)

    def next_column(self) -> None:
        """Go to the second column, or to the next page; place what waits for room."""
        if self.notice:
            self.draw_notice()
        if self.column + 1 < self.columns:
            self.column, self.y = self.column + 1, self.top
            self.floor = self.floors.get(self.page_number, BOTTOM)
        else:
            self.new_page()
        waiting, self.floats = self.floats, []
        for name in waiting:
            self.draw_float(name)

    @property
    def x(self) -> float:
        """Left edge of the current column."""
        return SIDE + self.column * (self.column_width + GUTTER)

    def set_wide(self, text: str, style: Style, inset: float = 0.0) -> None:
        """Set text over all columns."""
        self.y += style.before
        for line in break_lines(text, style, TEXT_WIDTH - 2 * inset, self.fonts):
            self.y += style.leading
            self.press.draw_line(line, SIDE + inset, self.y)
        self.y += style.after

    def set_title(self, abstract_name: str, abstract: str) -> None:
        """Set title, authors and abstract over all columns, the notice below the first."""
        front, zh = self.front, self.is_chinese
        self.set_wide(front["title"], Style(17, 21, "bold", ACCENT, centred=True, justified=False))
        self.set_wide(front["authors"], Style(11, 15, centred=True, justified=False, before=5))
        self.set_wide(
            front["affiliation"], Style(9, 13, "italic", GREY, centred=True, justified=False)
        )
        self.set_wide(front["dates"], Style(8, 12, "roman", GREY, centred=True, justified=False))
        self.y += 10
        box_top, name_style = self.y, Style(10, 13, "bold", ACCENT, justified=False, before=5)
        text_style = Style(9.2, 14 if zh else 11.6, after=3)
        name = "关键词：" if zh else "Keywords:"
        height = (
            5
            + 13
            + 3
            + 9
            + text_style.leading
            * (len(break_lines(abstract, text_style, TEXT_WIDTH - 20, self.fonts)) + 1)
        )
        box = pymupdf.Rect(SIDE, box_top, PAGE_WIDTH - SIDE, box_top + height)
        self.press.page.draw_rect(box, color=None, fill=(TINT, TINT, TINT))
        self.set_wide(abstract_name, name_style, inset=10)
        self.set_wide(abstract, text_style, inset=10)
        keywords = Style(9.2, text_style.leading, "italic", justified=False)
        self.set_wide(f"{name} {front['keywords']}", keywords, inset=10)
        self.top = self.y = box_top + height + 6
        notice = break_lines(front["notice"], self.small, self.column_width, self.fonts)
        self.floor = BOTTOM - len(notice) * self.small.leading - 8
        self.notice = notice

    def draw_notice(self) -> None:
        """Draw the footnote of the first column, once that column is full."""
        self.press.draw_rule(SIDE, SIDE + 60, self.floor + 5, 0.4)
        for number, line in enumerate(self.notice, start=1):
            y = self.floor + 5 + number * self.small.leading
            self.press.draw_line(line, SIDE, y)
        self.notice = []

    def set_heading(self, block: str) -> None:
        """Set a numbered heading, never at the foot of a column."""
        is_sub = block.startswith("##")
        self.is_reference = block.lstrip("# ") in {"References", "参考文献"}
        style = Style(
            10 if is_sub else 11.5,
            14 if is_sub else 15,
            "italic" if is_sub and not self.is_chinese else "bold",
            BLACK if is_sub else ACCENT,
            before=5 if is_sub else 8,
            after=2,
            justified=False,
        )
        lines = break_lines(block.lstrip("# "), style, self.column_width, self.fonts)
        # A heading may be followed by another; the text below wants two lines in any case.
        below = 2 if is_sub or self.is_reference else 4
        needed = style.before + len(lines) * style.leading + below * self.body.leading
        if self.y + needed > self.floor:
            self.next_column()
        if self.y > self.top:
            self.y += style.before
        self.set_lines(lines)
        self.y += style.after

    def set_paragraph(self, text: str, *, is_first: bool) -> None:
        """Set a paragraph; the first after a heading is not indented, as is usual in English."""
        style = self.body
        if self.is_reference:
            style = Style(8.4, 13 if self.is_chinese else 10.2, hanging=12, after=1.5)
        elif is_first and not self.is_chinese:
            style = Style(style.size, style.leading)
        self.set_lines(break_lines(text, style, self.column_width, self.fonts))
        self.y += style.after

    def set_lines(self, lines: list[Line]) -> None:
        """Set lines one below the other, going on in the next column."""
        for line in lines:
            if self.y + line.style.leading > self.floor:
                self.next_column()
            self.y += line.style.leading
            self.press.draw_line(line, self.x, self.y)

    def set_float(self, name: str) -> None:
        """Set the figure or table here if there is room, else at the top of the next column."""
        if self.y + self.float_height(name) <= self.floor:
            self.draw_float(name)
        else:
            self.floats.append(name)

    def _caption(self, name: str) -> list[Line]:
        style = Style(
            8.6,
            13 if self.is_chinese else 10.4,
            "bold" if name == "table" and not self.is_chinese else "roman",
            justified=False,
        )
        return break_lines(self.front[name]["caption"], style, self.column_width, self.fonts)

    def float_height(self, name: str) -> float:
        """Return the height of a figure or table with its caption."""
        caption = self._caption(name)
        content = 150.0 if name == "figure" else 15.0 * (len(self.front["table"]["rows"]) + 1) + 4
        return content + len(caption) * caption[0].style.leading + 22

    def draw_float(self, name: str) -> None:
        """Draw a figure (caption below) or a table (caption above)."""
        self.y += 8
        if name == "table":
            self.set_lines(self._caption(name))
            self.draw_table(self.front["table"])
        else:
            self.draw_bars(self.front["figure"])
            self.set_lines(self._caption(name))
        self.y += 5

    def draw_table(self, table: dict[str, Any]) -> None:
        """Draw a table with three rules."""
        self.y += 5
        self.press.draw_rule(self.x, self.x + self.column_width, self.y, 0.9)
        for number, row in enumerate([table["columns"], *table["rows"]]):
            x = self.x
            for share, cell in zip(table["widths"], row, strict=True):
                face = "bold" if number == 0 else "roman"
                self.press.draw_text((x + 3, self.y + 10.5), cell, face, 8.6, BLACK)
                x += share * self.column_width
            self.y += 15
            if number == 0:
                self.press.draw_rule(self.x, self.x + self.column_width, self.y - 0.5, 0.5)
        self.press.draw_rule(self.x, self.x + self.column_width, self.y, 0.9)

    def draw_bars(self, figure: dict[str, Any]) -> None:
        """Draw a bar chart with whiskers."""
        page, left, height = self.press.page, self.x + 30, 128.0
        base, right = self.y + height, self.x + self.column_width - 6
        scale = (height - 14) / figure["top"]
        for value in range(0, figure["top"] + 1, figure["step"]):
            y = base - value * scale
            page.draw_line((left, y), (right, y), color=(0.85, 0.85, 0.85), width=0.4)
            label = str(value)
            width = self.fonts.width(label, "sans", 7)
            self.press.draw_text((left - 4 - width, y + 2.5), label, "sans", 7, GREY)
        self.press.draw_text((left, self.y + 8), figure["unit"], "sans", 7, GREY)
        slot = (right - left) / len(figure["bars"])
        for number, (label, value, deviation) in enumerate(figure["bars"]):
            middle = left + (number + 0.5) * slot
            bar = pymupdf.Rect(middle - 18, base - value * scale, middle + 18, base)
            page.draw_rect(bar, color=ACCENT, fill=(0.62, 0.78, 0.78), width=0.6)
            for end in (value - deviation, value + deviation):
                y = base - end * scale
                page.draw_line((middle - 4, y), (middle + 4, y), color=BLACK, width=0.6)
            page.draw_line(
                (middle, base - (value - deviation) * scale),
                (middle, base - (value + deviation) * scale),
                color=BLACK,
                width=0.6,
            )
            width = self.fonts.width(label, "sans", 7.5)
            self.press.draw_text((middle - width / 2, base + 11), label, "sans", 7.5, BLACK)
        page.draw_line((left, base), (right, base), color=BLACK, width=0.7)
        self.y += 150


def set_balanced(
    front: dict[str, Any], blocks: list[str], columns: int = COLUMNS
) -> pymupdf.Document:
    """Return the paper, the two columns of its last page about equally long."""
    fonts = Fonts(front["language"])
    plain = Setting(front, blocks, fonts, {}, columns)
    document = plain.set_paper()
    if columns == 1:
        return document
    last = plain.page_number
    used = plain.y - TOP + plain.column * (BOTTOM - TOP)
    for step in range(int(BOTTOM - TOP - used / 2) // 6):
        balanced = Setting(front, blocks, fonts, {last: TOP + used / 2 + 6 * step})
        candidate = balanced.set_paper()
        if balanced.page_number == last:
            return candidate
    return document


def make_paper(source: Path, target: Path, columns: int = COLUMNS) -> None:
    """Set `source` in some columns and write it to `target`: no clock, no chance in the bytes."""
    front, blocks = read_paper(source)
    document = set_balanced(front, blocks, columns)
    document.subset_fonts()
    document.set_metadata(
        {
            "title": front["title"],
            "author": front["authors"],
            "subject": front["notice"],
            "creator": "make_papers.py",
            "producer": "PyMuPDF",
            "creationDate": "D:20260301000000Z",
            "modDate": "D:20260301000000Z",
        }
    )
    document.save(target, garbage=4, deflate=True, no_new_id=True)


def main(target: Path = PAPERS) -> None:
    """Set all papers into `target`."""
    target.mkdir(parents=True, exist_ok=True)
    for source in sorted(TEXTS.glob("*.md")):
        make_paper(source, target / f"{source.stem}.pdf")
        print(target / f"{source.stem}.pdf")


if __name__ == "__main__":
    main(*[Path(argument) for argument in sys.argv[1:2]])
