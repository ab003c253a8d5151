"""PDFs of made tables, by five producers.

LaTeX: `apt-get install --no-install-recommends texlive-xetex texlive-latex-recommended
texlive-latex-extra texlive-lang-chinese lmodern`; LibreOffice (soffice) and python-docx; Chromium;
reportlab; the Story of PyMuPDF. Chinese text needs the font Noto Serif CJK SC.
"""

import hashlib
import html
import importlib.util
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.tables.content import Sheet
from benchmarks.tables.scoring import ABOVE, LEFT
from rag_assets.parsing import load_pymupdf

_RAISED = re.compile(r"\^([−-]?\w+)")
_SIDEWAYS = frozenset({"left", "right", "rotate"})
_PAGES = frozenset({"repeated", "continued", "bare"})
# Rows of a first part where the author breaks the table by hand.
_PART_ROWS = 36
_FONT = "Noto Serif CJK SC"


def missing_tool(producer: str) -> str | None:
    """Return why a producer cannot draw on this machine, None where it can."""
    programs = {"latex": ("pdflatex", "xelatex"), "chromium": ("chromium",), "word": ("soffice",)}
    modules = {"word": "docx", "reportlab": "reportlab"}
    for program in programs.get(producer, ()):
        if not shutil.which(program):
            return f"no program {program}"
    module = modules.get(producer)
    if module and importlib.util.find_spec(module) is None:
        return f"no Python module {module}"
    return None


def draw_sheets(sheets: Sequence[Sheet], folder: Path) -> None:
    """Write `<name>.pdf` for each sheet; what the folder has from the same code is kept."""
    code = b"".join(
        (Path(__file__).parent / f"{name}.py").read_bytes() for name in ("content", "drawing")
    )
    stamp = hashlib.sha256(code).hexdigest()
    wanted = []
    for sheet in sheets:
        mark = folder / f"{sheet.name}.stamp"
        if not (mark.is_file() and mark.read_text() == stamp):
            wanted.append(sheet)
    for producer, draw in _PRODUCERS.items():
        own = [sheet for sheet in wanted if sheet.producer == producer]
        if own:
            draw(own, folder)
    for sheet in wanted:
        file = folder / f"{sheet.name}.pdf"
        if sheet.producer == "chromium" and sheet.layout in _SIDEWAYS:
            _turn_wide_pages(file, sheet.layout)
        (folder / f"{sheet.name}.stamp").write_text(stamp)


def _turn_wide_pages(file: Path, layout: str) -> None:
    """Lay landscape pages on their side; "rotate" lets /Rotate set them upright again."""
    pymupdf = load_pymupdf()
    document = pymupdf.open(file)
    for page in document:
        width, height = page.rect.width, page.rect.height
        if width <= height:
            continue
        turn = f"0 -1 1 0 0 {width} cm" if layout == "right" else f"0 1 -1 0 {height} 0 cm"
        content = b"q " + turn.encode() + b"\n" + page.read_contents() + b"\nQ"
        reference = document.get_new_xref()
        document.update_object(reference, "<<>>")
        document.update_stream(reference, content)
        page.set_contents(reference)
        page.set_mediabox(pymupdf.Rect(0, 0, height, width))
        if layout == "rotate":
            page.set_rotation(90)
    turned = document.tobytes(garbage=3, deflate=True)
    document.close()
    file.write_bytes(turned)


def _parts(sheet: Sheet) -> Iterator[tuple[str, list[int]]]:
    """Yield the caption and body rows of each part; one part but for "continued"."""
    rows = list(range(sheet.head, len(sheet.grid)))
    caption = f"{sheet.label} {sheet.caption}"
    if sheet.layout != "continued":
        yield caption, rows
        return
    word = "(续)" if sheet.language == "zh" else "(continued)"
    for start in range(0, len(rows), _PART_ROWS):
        label = sheet.label.rstrip(".")
        yield (f"{label} {word}" if start else caption), rows[start : start + _PART_ROWS]


# HTML, for Chromium and PyMuPDF's Story.

_STYLE = """
@page { size: A4; margin: 22mm } @page wide { size: A4 landscape; margin: 22mm }
.wide { page: wide }
body { font: 10pt "Liberation Serif", "DejaVu Serif", "Noto Serif CJK SC"; line-height: 1.25 }
h1 { font-size: 17pt } h2 { font-size: 12pt }
p { text-align: justify } .caption, .notes { font-size: 9pt; margin: 6pt 0 }
.columns { columns: 2; column-gap: 8mm }
table { border-collapse: collapse; font-size: 9pt } th { font-weight: bold }
td, th { padding: 2pt 7pt; text-align: left; vertical-align: top }
.columns td, .columns th { padding: 1pt 4pt; font-size: 8pt }
.part { page-break-before: always }
.booktabs { border-top: 1.2pt solid; border-bottom: 1.2pt solid }
.booktabs .last th { border-bottom: 0.7pt solid }
.booktabs div { border-bottom: 0.5pt solid; text-align: center }
.grid td, .grid th { border: 0.6pt solid #000 }
.lines tr { border-bottom: 0.5pt solid } .lines { border-top: 0.5pt solid }
.zebra .odd td { background-color: #dde6ee }
.bars { border-top: 0.6pt solid; border-bottom: 0.6pt solid }
.bars td, .bars th { border-left: 0.6pt solid; padding: 2pt 3pt; text-align: right }
.bars .last th { border-bottom: 0.6pt solid }
"""


def _html_cell(sheet: Sheet, row: int, column: int) -> str:
    span = sheet.spans(row, column)
    if span is None:
        return ""
    tag = "th" if row < sheet.head else "td"
    text = _RAISED.sub(r"<sup>\1</sup>", html.escape(sheet.grid[row][column]))
    if tag == "th" and span[1] > 1 and sheet.rules == "booktabs":
        text = f"<div>{text}</div>"
    extent = f' rowspan="{span[0]}"' * (span[0] > 1) + f' colspan="{span[1]}"' * (span[1] > 1)
    width = f' style="width:{sheet.width}mm"' if sheet.width and row == 0 else ""
    return f"<{tag}{extent}{width}>{text}</{tag}>"


def _html_table(sheet: Sheet, rows: Sequence[int]) -> str:
    def lines(numbers: Sequence[int]) -> str:
        made = []
        for row in numbers:
            kind = "last" if row == sheet.head - 1 else "odd" if row % 2 else "even"
            cells = "".join(_html_cell(sheet, row, k) for k in range(len(sheet.grid[0])))
            made.append(f'<tr class="{kind}">{cells}</tr>')
        return "".join(made)

    head, body = lines(range(sheet.head)), lines(rows)
    has_own_head = sheet.layout != "bare" and sheet.producer == "chromium"
    border = "</thead><tbody>" if has_own_head else ""
    top = "thead" if has_own_head else "tbody"
    return f'<table class="{sheet.rules}"><{top}>{head}{border}{body}</tbody></table>'


def _html(sheet: Sheet) -> str:
    pieces = [f"<h2>{sheet.heading}</h2>", *(f"<p>{text}</p>" for text in sheet.before)]
    made = []
    for number, (caption, rows) in enumerate(_parts(sheet)):
        block = [f'<div class="caption">{html.escape(caption)}</div>', _html_table(sheet, rows)]
        if sheet.is_caption_below:
            block.reverse()
        made.append(f'<div class="{"part" if number else ""}">{"".join(block)}</div>')
    notes = "".join(_RAISED.sub(r"<sup>\1</sup>", note) + "<br>" for note in sheet.notes)
    wide = " wide" if sheet.layout in _SIDEWAYS else ""
    pieces.append(f'<div class="{wide}">{"".join(made)}<div class="notes">{notes}</div></div>')
    pieces += [f"<p>{text}</p>" for text in sheet.after]
    if sheet.layout == "columns":
        pieces = [*pieces, *pieces[:-3], *pieces[-2:]]
    kind = "columns" if sheet.layout == "columns" else "flow"
    body = f'<h1>{sheet.title}</h1><div class="{kind}">{"".join(pieces)}</div>'
    head = f'<meta charset="utf-8"><style>{_STYLE}</style>'
    top = f"<!doctype html><html lang={sheet.language}><head>{head}</head>"
    return f"{top}<body>{body}</body></html>"


def _draw_chromium(sheets: Sequence[Sheet], folder: Path) -> None:
    for sheet in sheets:
        with tempfile.TemporaryDirectory() as scratch:
            page = Path(scratch) / "page.html"
            page.write_text(_html(sheet), encoding="utf-8")
            _run(
                ["chromium", "--headless", "--no-sandbox", "--no-pdf-header-footer",
                 f"--user-data-dir={scratch}/profile", "--print-to-pdf=page.pdf", page.as_uri()],
                Path(scratch), folder / f"{sheet.name}.pdf",
            )  # fmt: skip


def _draw_story(sheets: Sequence[Sheet], folder: Path) -> None:
    pymupdf = load_pymupdf()
    for sheet in sheets:
        story = pymupdf.Story(_html(sheet))
        writer = pymupdf.DocumentWriter(folder / f"{sheet.name}.pdf")
        paper = pymupdf.paper_rect("a4")
        more = 1
        while more:
            device = writer.begin_page(paper)
            more, _ = story.place(pymupdf.Rect(60, 60, paper.width - 60, paper.height - 60))
            story.draw(device)
            writer.end_page()
        writer.close()


# LaTeX: pdfTeX for English, XeTeX for Chinese.

_TEX_HEAD = r"""
\documentclass[10pt,a4paper]{article}
\usepackage[margin=24mm]{geometry}
\usepackage{booktabs,multirow,longtable,rotating,pdflscape,array,float,amsmath}
\usepackage[labelsep=SEPARATOR,font=small]{caption}
LANGUAGE
\setcounter{table}{1}\setlength{\tabcolsep}{TABCOLpt}
\begin{document}
"""
_TEX_LANGUAGE = {
    "en": (r"\usepackage[T1]{fontenc}\usepackage{lmodern,textcomp}", "period"),
    "zh": (
        rf"\usepackage{{xeCJK}}\setCJKmainfont{{{_FONT}}}\renewcommand{{\tablename}}{{表}}",
        "space",
    ),
}
_TEX_NUMBER = re.compile(r"[−\d][\d.,]*( ± [\d.]+)?( × 10\^−?\d+)?(\^[a-z])?(\\%)?")


def _tex(text: str) -> str:
    plain = re.sub(r"([%&#$_])", r"\\\1", text)
    if _TEX_NUMBER.fullmatch(plain):
        shown = plain.replace("±", r"\pm").replace("×", r"\times").replace("−", "-")
        shown = re.sub(r"\^([a-z])", r"^{\\mathrm{\1}}", re.sub(r"\^(-?\d+)", r"^{\1}", shown))
        return f"${shown.replace(',', '{,}')}$"
    return _RAISED.sub(r"\\textsuperscript{\1}", plain).replace("−", "$-$")


def _tex_row(sheet: Sheet, row: int) -> str:
    bar = "|" if sheet.rules in {"grid", "bars"} else ""
    cells = []
    for k in range(len(sheet.grid[0])):
        span = sheet.spans(row, k)
        if span is None:
            if sheet.grid[row][k] == ABOVE:
                cells.append("")
            continue
        text = _tex(sheet.grid[row][k])
        if span[0] > 1:
            text = rf"\multirow{{{span[0]}}}{{*}}{{{text}}}"
        if span[1] > 1:
            edge = bar if sheet.rules == "grid" or k + span[1] < len(sheet.grid[0]) else ""
            place = "c" if row < sheet.head else "l"
            text = rf"\multicolumn{{{span[1]}}}{{{bar if not k else ''}{place}{edge}}}{{{text}}}"
        cells.append(text)
    rule = ""
    last = row == len(sheet.grid) - 1
    if sheet.rules == "grid":
        open_ = [
            k + 1 for k in range(len(sheet.grid[0]))
            if last or sheet.grid[row + 1][k] != ABOVE
        ]  # fmt: skip
        rule = "".join(rf"\cline{{{k}-{k}}}" for k in open_)
    elif sheet.rules == "lines" and not last:
        rule = r"\hline"
    elif sheet.rules == "booktabs" and row < sheet.head - 1:
        for k in range(len(sheet.grid[0])):
            span = sheet.spans(row, k)
            if span and span[1] > 1:
                rule += rf"\cmidrule(lr){{{k + 1}-{k + span[1]}}}"
    return " & ".join(cells) + r" \\ " + rule


def _tex_table(sheet: Sheet, rows: Sequence[int], caption: str) -> str:
    count = len(sheet.grid[0])
    place = rf">{{\raggedright\arraybackslash}}p{{{sheet.width}mm}}" if sheet.width else "l"
    columns = [place] * count if sheet.width else ["l", *["r"] * (count - 1)]
    bars = {"grid": "|" + "|".join(columns) + "|", "bars": "|".join(columns)}
    specification = bars.get(sheet.rules, "".join(columns))
    top, middle, bottom = {
        "booktabs": (r"\toprule", r"\midrule", r"\bottomrule"), "grid": (r"\hline", "", ""),
        "lines": (r"\hline", "", r"\hline"), "bars": (r"\hline", r"\hline", r"\hline"),
    }.get(sheet.rules, ("", "", ""))  # fmt: skip
    head = "\n".join([top, *(_tex_row(sheet, row) for row in range(sheet.head)), middle, ""])
    body = "\n".join([*(_tex_row(sheet, row) for row in rows), bottom])
    if sheet.layout in _PAGES:
        more = {
            "repeated": head, "bare": "",
            "continued": rf"\caption[]{{(continued)}} \\ {head}",
        }[sheet.layout]  # fmt: skip
        return (
            rf"\begin{{longtable}}{{{specification}}}\caption{{{caption}}} \\ {head}\endfirsthead "
            rf"{more}\endhead {body}\end{{longtable}}"
        )
    tabular = rf"\begin{{tabular}}{{{specification}}}{head}{body}\end{{tabular}}"
    title = rf"\caption{{{caption}}}"
    notes = "".join(rf"\par\footnotesize {_tex(note)}" for note in sheet.notes)
    inner = r"\centering " + (tabular + title if sheet.is_caption_below else title + tabular)
    match sheet.layout:
        case "left":
            return rf"\begin{{sidewaystable}}{inner}\end{{sidewaystable}}"
        case "right":
            title = rf"\captionof{{table}}{{{caption}}}\centering "
            box = rf"\begin{{minipage}}{{230mm}}{title}{tabular}\end{{minipage}}"
            return rf"\begin{{table}}[p]\centering\rotatebox{{-90}}{{{box}}}\end{{table}}"
        case "rotate":
            return rf"\begin{{landscape}}\begin{{table}}[H]{inner}\end{{table}}\end{{landscape}}"
    return rf"\begin{{table}}[H]\small {inner}{notes}\end{{table}}"


def _draw_latex(sheets: Sequence[Sheet], folder: Path) -> None:
    for sheet in sheets:
        language, separator = _TEX_LANGUAGE[sheet.language]
        head = _TEX_HEAD.replace("LANGUAGE", language).replace("SEPARATOR", separator)
        is_narrow = sheet.layout == "columns" or sheet.rules == "bars"
        head = head.replace("TABCOL", "3" if is_narrow else "6")
        if sheet.layout == "columns":
            head = head.replace("[10pt,", "[10pt,twocolumn,")
        rows = range(sheet.head, len(sheet.grid))
        before, after = "\n\n".join(sheet.before), "\n\n".join(sheet.after)
        table = _tex_table(sheet, rows, _tex(sheet.caption))
        if sheet.layout == "columns":
            after = f"{after}\n\n{before}\n\n{after}"
        title = rf"\begin{{center}}\LARGE {sheet.title}\end{{center}}"
        if sheet.layout == "columns":
            title = rf"\twocolumn[{title}]"
        heading = rf"\section*{{{sheet.heading}}}"
        text = "\n\n".join((head, title, heading, before, table, after, r"\end{document}"))
        program = "pdflatex" if sheet.language == "en" else "xelatex"
        with tempfile.TemporaryDirectory() as scratch:
            (Path(scratch) / "page.tex").write_text(text, encoding="utf-8")
            # Widths of a longtable settle in later runs.
            for _ in range(3 if sheet.layout in _PAGES else 1):
                _run(
                    [program, "-interaction=nonstopmode", "-halt-on-error", "page.tex"],
                    Path(scratch),
                    folder / f"{sheet.name}.pdf",
                )


# Word files, printed by LibreOffice.


def _docx_text(paragraph: Any, text: str, size: float) -> None:
    import docx.oxml.ns
    import docx.shared

    for number, piece in enumerate(_RAISED.split(text)):
        run = paragraph.add_run(piece)
        run.font.superscript = bool(number % 2)
        run.font.size = docx.shared.Pt(size)
        run.font.name = "Liberation Serif"
        run._element.rPr.rFonts.set(docx.oxml.ns.qn("w:eastAsia"), _FONT)


def _docx_borders(cell: Any, edges: Mapping[str, int]) -> None:
    import docx.oxml.ns

    qn = docx.oxml.ns.qn
    borders = docx.oxml.OxmlElement("w:tcBorders")
    for edge, width in edges.items():
        element = docx.oxml.OxmlElement(f"w:{edge}")
        element.set(qn("w:val"), "single")
        element.set(qn("w:sz"), str(width))
        borders.append(element)
    cell._tc.get_or_add_tcPr().append(borders)


def _docx_table(document: Any, sheet: Sheet) -> None:
    import docx.oxml
    import docx.shared

    grid = sheet.grid
    table = document.add_table(len(grid), len(grid[0]))
    if sheet.rules == "grid":
        table.style = "Table Grid"
    for row in range(len(grid)):
        for k in range(len(grid[0])):
            span = sheet.spans(row, k)
            if span is None:
                continue
            cell = table.cell(row, k)
            if span != (1, 1):
                cell = cell.merge(table.cell(row + span[0] - 1, k + span[1] - 1))
            paragraph = cell.paragraphs[0]
            paragraph.paragraph_format.space_after = 0
            _docx_text(paragraph, grid[row][k], 9)
            if sheet.width:
                cell.width = docx.shared.Mm(sheet.width)
            edges = {"top": 12} if row == 0 else {}
            edges |= {"bottom": 6} if row == sheet.head - 1 else {}
            edges |= {"bottom": 12} if row == len(grid) - 1 else {}
            if sheet.rules == "booktabs" and edges:
                _docx_borders(cell, edges)
    if sheet.layout == "repeated":
        for row in range(sheet.head):
            table.rows[row]._tr.get_or_add_trPr().append(docx.oxml.OxmlElement("w:tblHeader"))


def _draw_word(sheets: Sequence[Sheet], folder: Path) -> None:
    import docx

    with tempfile.TemporaryDirectory() as scratch:
        for sheet in sheets:
            document = docx.Document()
            _docx_text(document.add_paragraph(style="Title"), sheet.title, 18)
            _docx_text(document.add_paragraph(style="Heading 1"), sheet.heading, 12)
            for text in sheet.before:
                _docx_text(document.add_paragraph(), text, 10)
            caption = f"{sheet.label} {sheet.caption}"
            if not sheet.is_caption_below:
                _docx_text(document.add_paragraph(), caption, 9)
            _docx_table(document, sheet)
            for text in (*([caption] if sheet.is_caption_below else []), *sheet.notes):
                _docx_text(document.add_paragraph(), text, 9)
            for text in sheet.after:
                _docx_text(document.add_paragraph(), text, 10)
            document.save(str(Path(scratch) / f"{sheet.name}.docx"))
        files = sorted(str(file) for file in Path(scratch).glob("*.docx"))
        made = subprocess.run(
            ["soffice", f"-env:UserInstallation=file://{scratch}/profile", "--headless",
             "--convert-to", "pdf", "--outdir", str(folder), *files],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    for sheet in sheets:
        if not (folder / f"{sheet.name}.pdf").is_file():
            raise RuntimeError(f"soffice made no {sheet.name}.pdf: {made.stderr[-500:]}")


# reportlab.


def _draw_reportlab(sheets: Sequence[Sheet], folder: Path) -> None:
    import reportlab.lib.colors
    import reportlab.lib.pagesizes
    import reportlab.lib.styles
    import reportlab.lib.units
    import reportlab.pdfbase.cidfonts
    import reportlab.pdfbase.pdfmetrics
    import reportlab.platypus

    songti = reportlab.pdfbase.cidfonts.UnicodeCIDFont("STSong-Light")
    reportlab.pdfbase.pdfmetrics.registerFont(songti)
    colors, parts = reportlab.lib.colors, reportlab.platypus
    make_style = reportlab.lib.styles.ParagraphStyle

    class Boxed(reportlab.platypus.Table):  # type: ignore[misc]
        """Draws a box around every cell, all in one path."""

        def draw(self) -> None:
            path = self.canv.beginPath()
            y = self._height
            for height in self._rowHeights:
                x = 0.0
                for width in self._colWidths:
                    path.rect(x, y - height, width, height)
                    x += width
                y -= height
            self.canv.setLineWidth(0.5)
            self.canv.drawPath(path, stroke=1, fill=0)
            super().draw()

    for sheet in sheets:
        font = "STSong-Light" if sheet.language == "zh" else "Times-Roman"
        wrap = "CJK" if sheet.language == "zh" else None
        text = make_style("text", fontName=font, fontSize=10, leading=13, wordWrap=wrap)
        small = make_style("cell", parent=text, fontSize=9, leading=11)

        def show(cell: str, small: Any = small) -> Any:
            shown = _RAISED.sub(r"<super>\1</super>", html.escape(cell)).replace("−", "-")
            return "" if cell in {ABOVE, LEFT} else parts.Paragraph(shown, small)

        looks: list[tuple[Any, ...]] = [("VALIGN", (0, 0), (-1, -1), "TOP")]
        for row in range(len(sheet.grid)):
            for k in range(len(sheet.grid[0])):
                span = sheet.spans(row, k)
                if span and span != (1, 1):
                    looks.append(("SPAN", (k, row), (k + span[1] - 1, row + span[0] - 1)))
        last = sheet.head - 1
        drawn: dict[str, list[tuple[Any, ...]]] = {
            "grid": [("GRID", (0, 0), (-1, -1), 0.5, colors.black)],
            "lines": [("LINEBELOW", (0, 0), (-1, -1), 0.5, colors.black),
                      ("LINEABOVE", (0, 0), (-1, 0), 0.5, colors.black)],
            "zebra": [("ROWBACKGROUNDS", (0, 1), (-1, -1), (colors.white, colors.lightgrey))],
            "booktabs": [("LINEABOVE", (0, 0), (-1, 0), 1, colors.black),
                         ("LINEBELOW", (0, last), (-1, last), 0.6, colors.black),
                         ("LINEBELOW", (0, -1), (-1, -1), 1, colors.black)],
        }  # fmt: skip
        looks += drawn.get(sheet.rules, [])
        kind = Boxed if sheet.rules == "boxes" else parts.Table
        width = (sheet.width or 160 / len(sheet.grid[0])) * reportlab.lib.units.mm
        table = kind(
            [[show(cell) for cell in row] for row in sheet.grid],
            colWidths=[width] * len(sheet.grid[0]), style=looks,
            repeatRows=sheet.head if sheet.layout == "repeated" else 0,
        )  # fmt: skip
        caption = parts.Paragraph(f"{sheet.label} {sheet.caption}", small)
        block = [table, caption] if sheet.is_caption_below else [caption, table]
        large = make_style("title", parent=text, fontSize=17, leading=21, spaceAfter=12)
        bold = make_style("heading", parent=text, fontSize=12.5, leading=16, spaceAfter=6)
        story = [parts.Paragraph(sheet.title, large), parts.Paragraph(sheet.heading, bold)]
        story += [parts.Paragraph(t, text) for t in sheet.before] + [
            parts.Spacer(1, 10),
            *block,
            parts.Spacer(1, 10),
        ]
        story += [parts.Paragraph(t, text) for t in sheet.after]
        document = parts.SimpleDocTemplate(
            str(folder / f"{sheet.name}.pdf"), pagesize=reportlab.lib.pagesizes.A4
        )
        document.build(story)


def _run(command: Sequence[str], scratch: Path, target: Path) -> None:
    """Run a program that writes page.pdf into the scratch folder, and take the file."""
    made = subprocess.run(command, cwd=scratch, capture_output=True, text=True, check=False)
    page = scratch / "page.pdf"
    if not page.is_file() or (made.returncode and command[0] != "chromium"):
        said = made.stdout[-800:] + made.stderr[-300:]
        raise RuntimeError(f"{command[0]} made no {target.name}: {said}")
    shutil.copy(page, target)


_PRODUCERS: Mapping[str, Callable[[Sequence[Sheet], Path], None]] = {
    "latex": _draw_latex,
    "chromium": _draw_chromium,
    "word": _draw_word,
    "story": _draw_story,
    "reportlab": _draw_reportlab,
}
