"""Read the headings of papers with pymupdf4llm, for `python -m benchmarks.headings --compare`.

    python -m benchmarks.pymupdf4llm_headings FILE.jsonl... --out READINGS.jsonl [--rows N]
    python -m benchmarks.headings FILE.jsonl... --compare pymupdf4llm=READINGS.jsonl

Its layout model reads about one page a second, so `--rows` takes that many rows spread evenly
over the files, and rows that stand in READINGS.jsonl already are not read again.
"""

import argparse
import json
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt

from benchmarks.headings.rows import HeadingRow, read_heading_rows


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("files", nargs="+", type=Path)
    arguments.add_argument("--out", required=True, type=Path)
    arguments.add_argument("--rows", type=int, help="so many rows, spread evenly; else all")
    options = arguments.parse_args()
    try:
        print(f"pymupdf4llm {version('pymupdf4llm')}, layout {version('pymupdf_layout')}")
    except PackageNotFoundError as error:
        sys.exit(f"{error.name} is not installed: pip install pymupdf4llm pymupdf-layout")
    rows = read_heading_rows(options.files)
    if options.rows:
        rows = [rows[index * len(rows) // options.rows] for index in range(options.rows)]
    done = set()
    if options.out.exists():
        stored = options.out.read_text(encoding="utf-8").splitlines()
        done = {json.loads(line)["pdf"] for line in stored}
    for row in rows:
        if row.name not in done:
            reading = read(row)
            with options.out.open("a", encoding="utf-8") as out:
                out.write(json.dumps(reading, ensure_ascii=False) + "\n")
            print(f"{row.name}: {len(reading['headings'])} headings, {reading['pages']} pages, "
                  f"{reading['wall_seconds']:.1f} s", flush=True)  # fmt: skip


def read(row: HeadingRow) -> dict[str, object]:
    import pymupdf.layout
    import pymupdf4llm

    pymupdf.layout.activate()

    data = row.path.read_bytes()
    cpu, wall = time.process_time(), time.perf_counter()
    with pymupdf.open(stream=data, filetype="pdf") as document:
        markdown = pymupdf4llm.to_markdown(document)
        pages = document.page_count
    return {
        "pdf": row.name,
        "headings": headings_of(markdown),
        "pages": pages,
        "cpu_seconds": time.process_time() - cpu,
        "wall_seconds": time.perf_counter() - wall,
    }


def headings_of(markdown: str) -> list[dict[str, object]]:
    """Return level and bare text of each heading, emphasis and escapes resolved."""
    tokens = MarkdownIt("commonmark").parse(markdown)
    return [
        {
            "level": int(token.tag[1:]),
            "title": "".join(
                " " if child.type in {"softbreak", "hardbreak"} else child.content
                for child in inline.children or ()
                if child.type in {"text", "code_inline", "softbreak", "hardbreak"}
            ),
        }
        for token, inline in pairwise(tokens)
        if token.type == "heading_open"
    ]


if __name__ == "__main__":
    main()
