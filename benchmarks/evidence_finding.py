"""Whether the passages shown hold the sentences that decide a statement, and what that costs.

    python -m benchmarks.evidence_finding [--set dev|train] [--cache DIR] [--tokens N]

Reads the drafts with known truth of RAG_SHARED_DATA (default ../shared/data). Of the supported rows
with quotations: the share whose quotations all stand in the first passage, and in three, by group;
the mean size of a passage in tokens and characters; the seconds a statement.
"""

import argparse
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.known_drafts import GROUPS, Cited, group_of, is_located, read_documents, read_rows
from rag_assets.retrieval.finding import WINDOW_TOKENS, EvidenceFinder, OpenDocument, text_size

CACHE = Path("~/.cache/rag-assets-benchmarks/drafts").expanduser()


def print_table(
    rows: Sequence[dict[str, Any]],
    documents: Mapping[str, Cited],
    tokens: float = WINDOW_TOKENS,
) -> None:
    """Print located@1 and @3 by group, sizes and seconds."""
    located: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    sizes, opened, seconds, reading = list[tuple[float, int]](), dict[str, OpenDocument](), 0.0, 0.0
    finder = EvidenceFinder()
    supported = [row for row in rows if row["label"] == "SUPPORTED"]
    for row in supported:
        name, started = row["paper"], time.perf_counter()
        if name not in opened:
            opened[name] = finder.open(documents[name].passages, documents[name].title)
            reading += time.perf_counter() - started
            started = time.perf_counter()
        shown = [w.text for w in opened[name].find(row["sentence"], tokens=tokens)]
        seconds += time.perf_counter() - started
        sizes += [(text_size(text), len(text)) for text in shown]
        hits = is_located(row, shown[0]), is_located(row, " ".join(shown))
        located["all"].append(hits)
        located[group_of(row)].append(hits)
    print(f"{'group':8}{'rows':>6}{'first':>8}{'three':>8}")
    for group in ("all", *GROUPS):
        if located[group]:
            first, three = np.mean(located[group], axis=0)
            print(f"{group:8}{len(located[group]):6}{first:8.3f}{three:8.3f}")
    mean = np.mean(sizes, axis=0)
    print(f"a passage: {mean[0]:.0f} tokens, {mean[1]:.0f} characters")
    print(f"{seconds / len(supported):.3f} s a statement, {reading / len(opened):.2f} s a document")


def main() -> None:
    """Print the table of one set."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--set", choices=("dev", "train"), default="dev")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where parses are kept")
    parser.add_argument("--tokens", type=float, default=WINDOW_TOKENS, help="of a passage at most")
    given = parser.parse_args()
    rows = read_rows(given.set)
    documents = read_documents(rows, given.cache)
    print_table(rows, documents, tokens=given.tokens)


if __name__ == "__main__":
    main()
