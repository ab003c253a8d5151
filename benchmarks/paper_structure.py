"""Parse and chunk a folder of papers in this process and say how much structure was kept.

    python benchmarks/paper_structure.py [--papers DIR] [--json OUT]

Without `--papers` it looks in `$RAG_SHARED_DATA/papers`, then `../shared/data/papers`. Speed is
in pages a processor second; a section tree is two headings or more.
"""

import argparse
import json
import os
import time
from collections import Counter
from pathlib import Path
from typing import Any

from rag_assets.chunking import chunk_document
from rag_assets.embedding import load_tokenizer
from rag_assets.evaluation.knowledge_evaluator import CutText, describe_cuts, sentence_spans
from rag_assets.model import Chunk, ParsedDocument, ParseFailure
from rag_assets.parsing import ParseHints, parse_document
from rag_assets.workspace import shipped_settings

DATA = Path(os.environ.get("RAG_SHARED_DATA", Path(__file__).parents[2] / "shared" / "data"))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--papers", type=Path, default=DATA / "papers")
    arguments.add_argument("--json", type=Path)
    options = arguments.parse_args()
    found = measure(sorted(options.papers.glob("*.pdf")))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1), encoding="utf-8")
    for name, value in found.items():
        print(f"{name:<28} {value:.3f}" if isinstance(value, float) else f"{name:<28} {value}")


def measure(paths: list[Path]) -> dict[str, Any]:
    settings = shipped_settings()
    tokenizer = load_tokenizer(settings.embed)
    categories: Counter[str] = Counter()
    cuts, failed = [], []
    pages = with_tree = mixed = 0
    parsing = chunking = 0.0
    for path in paths:
        started = time.process_time()
        try:
            document = parse_document(path.read_bytes(), ParseHints(".pdf"), settings.parse)
        except ParseFailure as failure:
            failed.append(f"{path.name}: {failure.reason_code}")
            continue
        between = time.process_time()
        _, chunks = chunk_document(document, settings.chunk, tokenizer)
        parsing += between - started
        chunking += time.process_time() - between
        pages += len(document.pages)
        with_tree += sum(block.kind == "heading" for block in document.blocks) > 1
        categories.update(section.category.name for section in document.sections)
        mixed += sum(mixes_sections(chunk, document) for chunk in chunks)
        cuts.append(
            CutText(
                document.text,
                tuple((chunk.char_start, chunk.char_end) for chunk in chunks),
                sentence_spans(document),
                tuple(chunk.token_count for chunk in chunks),
            )
        )
    return {
        "documents": len(paths),
        "failed": failed,
        "pages": pages,
        "pages_per_second": pages / parsing,
        "chunking_to_parsing_seconds": chunking / parsing,
        "share_with_section_tree": with_tree / len(paths),
        "sections_by_category": dict(categories.most_common()),
        "chunks_mixing_sections": mixed,
        **describe_cuts(cuts),
    }


def mixes_sections(chunk: Chunk, document: ParsedDocument) -> bool:
    """Say whether visible characters of two sections stand in one chunk."""
    holding = [
        section
        for section in document.sections
        if document.text[
            max(section.start, chunk.char_start) : min(section.end, chunk.char_end)
        ].strip()
    ]
    return len(holding) > 1


if __name__ == "__main__":
    main()
