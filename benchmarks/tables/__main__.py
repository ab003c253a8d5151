"""Precision and recall of table cells, of this package and of other readers side by side.

    python -m benchmarks.tables [made] [--only STYLE] [--seeds N] [--keep DIR] [--show]
    python -m benchmarks.tables papers LABELS.jsonl [--papers DIR] [--show]
    python -m benchmarks.tables hash LABELS.jsonl OUT.jsonl
    python -m benchmarks.tables agree A.jsonl B.jsonl

`made` draws tables of known cells by several producers (see drawing.py for the programs).
`papers` reads labelled tables of `$RAG_SHARED_DATA/papers`; labels are texts or their hashes.
Other readers: `pip install pdfplumber pymupdf4llm`; python-docx and reportlab draw.
"""

import argparse
import os
import sys
import tempfile
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from benchmarks.tables.content import make_sheets
from benchmarks.tables.drawing import draw_sheets, missing_tool
from benchmarks.tables.readers import READERS, PageGrids, Pages, missing_reader, read_grids
from benchmarks.tables.scoring import (
    Grid,
    Match,
    Score,
    TrueTable,
    differences,
    hash_table,
    match_grids,
    read_tables,
    score_grid,
    write_tables,
)

_WIDTH = 26


class _Counts:
    """What one reader did, by group of tables."""

    def __init__(self) -> None:
        self.scores: dict[str, Score] = defaultdict(Score)
        self.tables: dict[str, int] = defaultdict(int)
        self.found: dict[str, int] = defaultdict(int)
        self.extra: dict[str, int] = defaultdict(int)

    def add(self, group: str, matches: Iterable[Match], extra: int) -> None:
        """Count tables of a group, and in the total."""
        for name in (group, "total"):
            self.extra[name] += extra
            for match in matches:
                self.scores[name] += match.score
                self.tables[name] += 1
                self.found[name] += match.score.right > 0


def _padded(name: str) -> str:
    """Return a name in a column of fixed width; a Chinese character is two wide."""
    kept, width = "", 0
    for character in name:
        wide = 1 + (unicodedata.east_asian_width(character) in {"W", "F"})
        if width + wide > _WIDTH:
            break
        kept, width = kept + character, width + wide
    return kept + " " * (_WIDTH - width)


def _print(counts: dict[str, _Counts], groups: Sequence[str]) -> None:
    for reader, own in counts.items():
        print(f"\n{reader}")
        print(
            f"{'':{_WIDTH}} precision recall | named: precision recall | found tables extra grids"
        )
        for group in (*groups, "total"):
            tables = f"{own.found[group]:5} {own.tables[group]:6} {own.extra[group]:11}"
            print(_line(group, own.scores[group].shares()), "|", tables)
        columns = zip(*(own.scores[group].shares() for group in groups), strict=True)
        known = ([share for share in column if share is not None] for column in columns)
        print(_line("mean of these", [sum(c) / len(c) if c else None for c in known]))


def _line(name: str, shares: Sequence[float | None]) -> str:
    texts = ["  –  " if share is None else f"{share:.3f}" for share in shares]
    return f"{_padded(name)}     {texts[0]}  {texts[1]} |            {texts[2]}  {texts[3]}"


def _show(reader: str, truth: TrueTable, match: Match, grid: Grid | None) -> None:
    lines = differences(truth, grid, match) if grid else ["not found"]
    if not lines:
        return
    print(f"\n{reader}: {truth.paper} {truth.table}, page {truth.page}")
    for row in (truth.names, *truth.rows):
        print("  true  |", " | ".join(row))
    for row in grid or ():
        print("  found |", " | ".join(row))
    for line in lines:
        print("  -", line)


def _chosen_readers(text: str) -> list[str]:
    names = []
    for name in text.split(","):
        if name not in READERS:
            sys.exit(f"No reader {name!r}; there are {', '.join(READERS)}.")
        reason = missing_reader(name)
        if reason:
            print(f"{name} is left out: {reason}")
        else:
            names.append(name)
    return names


class _Process:
    """A reader in a process of its own: pymupdf4llm changes what PyMuPDF finds."""

    def __init__(self, reader: str) -> None:
        self._reader = reader
        self._pool = ProcessPoolExecutor(1, get_context("spawn"))

    def read(self, file: Path, pages: Pages = None) -> PageGrids:
        return self._pool.submit(read_grids, self._reader, file, pages).result()


def measure_made(options: argparse.Namespace, folder: Path) -> None:
    """Draw tables, read them and print the figures of each style."""
    sheets = make_sheets(options.seeds, options.only)
    for producer in sorted({sheet.producer for sheet in sheets}):
        reason = missing_tool(producer)
        if reason:
            print(f"Producer {producer} is left out: {reason}")
            sheets = [sheet for sheet in sheets if sheet.producer != producer]
    folder.mkdir(parents=True, exist_ok=True)
    draw_sheets(sheets, folder)
    write_tables((sheet.truth() for sheet in sheets), folder / "truth.jsonl")
    readers = {reader: _Process(reader) for reader in _chosen_readers(options.readers)}
    counts = {reader: _Counts() for reader in readers}
    for sheet in sheets:
        truth = sheet.truth()
        for reader, own in counts.items():
            grids = [grid for _, grid in readers[reader].read(folder / f"{sheet.name}.pdf")]
            [(match, grid)], extra = match_grids([truth], grids)
            own.add(sheet.style, [match], extra)
            if options.show:
                _show(reader, truth, match, grid)
    _print(counts, list(dict.fromkeys(sheet.style for sheet in sheets)))


def measure_papers(options: argparse.Namespace) -> None:
    """Read labelled papers and print the figures of each; extra grids mean nothing here."""
    truths: dict[str, list[TrueTable]] = defaultdict(list)
    for table in read_tables(options.labels):
        if options.only is None or options.only in table.paper:
            truths[table.paper].append(table)
    readers = {reader: _Process(reader) for reader in _chosen_readers(options.readers)}
    counts = {reader: _Counts() for reader in readers}
    for paper, tables in truths.items():
        pages = sorted({table.page for table in tables})
        for reader, own in counts.items():
            grids = readers[reader].read(options.papers / paper, pages)
            for page in pages:
                here = [table for table in tables if table.page == page]
                matches, _ = match_grids(here, _on_page(grids, page))
                own.add(paper, [match for match, _ in matches], 0)
                if options.show:
                    for truth, (match, grid) in zip(here, matches, strict=True):
                        _show(reader, truth, match, grid)
    _print(counts, list(truths))


def _on_page(grids: PageGrids, page: int) -> list[Grid]:
    return [grid for number, grid in grids if number == page]


def print_agreement(first: Path, second: Path) -> None:
    """Score the second file of labels against the first and list the cells that differ."""
    others = {(table.paper, table.page, table.table): table for table in read_tables(second)}
    total, shared, only = Score(), 0, 0
    for table in read_tables(first):
        other = others.pop((table.paper, table.page, table.table), None)
        if other is None:
            print(f"{table.paper} {table.table}: only in {first.name}")
            only += 1
            continue
        rows = [["" if cell in {"^", "<"} else cell for cell in row] for row in other.rows]
        grid = [list(other.names), *rows]
        match = score_grid(table, grid)
        lines = differences(table, grid, match)
        total, shared = total + match.score, shared + 1
        if lines:
            print(f"\n{table.paper} {table.table}, page {table.page}")
            print("\n".join(f"  - {line}" for line in lines))
    for paper, _, label in others:
        print(f"{paper} {label}: only in {second.name}")
    print(
        f"\n{shared} tables in both, {only + len(others)} in one. {total.right} cells agree, of "
        f"{total.expected} in {first.name} and {total.predicted} in {second.name}: "
        f"{total.f1:.4f}"
    )


def main(arguments: Sequence[str]) -> None:
    """Run one of the commands; `made` where none is named."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.tables",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--only", help="styles or papers with this in their name")
    shared.add_argument("--readers", default=",".join(READERS), help="names with commas")
    shared.add_argument("--show", action="store_true", help="print the tables with wrong cells")
    made = commands.add_parser("made", parents=[shared], help="tables drawn here")
    made.add_argument("--seeds", type=int, default=2, help="tables for each style and producer")
    made.add_argument("--keep", type=Path, help="folder for PDFs and truths, drawn once")
    papers = commands.add_parser("papers", parents=[shared], help="labelled papers")
    papers.add_argument("labels", type=Path)
    data = os.environ.get("RAG_SHARED_DATA", "../shared/data")
    papers.add_argument("--papers", type=Path, default=Path(data) / "papers")
    stored = commands.add_parser("hash", help="write labels without their texts")
    stored.add_argument("labels", type=Path)
    stored.add_argument("out", type=Path)
    agree = commands.add_parser("agree", help="compare the labels of two people")
    agree.add_argument("first", type=Path)
    agree.add_argument("second", type=Path)
    named = arguments and (arguments[0] in commands.choices or arguments[0] in {"-h", "--help"})
    options = parser.parse_args(arguments if named else ["made", *arguments])
    match options.command:
        case "hash":
            write_tables(map(hash_table, read_tables(options.labels)), options.out)
        case "agree":
            print_agreement(options.first, options.second)
        case "papers":
            measure_papers(options)
        case _:
            with tempfile.TemporaryDirectory() as scratch:
                measure_made(options, options.keep or Path(scratch))


if __name__ == "__main__":
    main(sys.argv[1:])
