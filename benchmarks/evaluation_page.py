"""Write the tables of docs/evaluation.md from the JSON that `rag eval` has written.

    rag eval headings FILE.jsonl... --compare pymupdf4llm=READINGS.jsonl --json headings.json
    rag eval survival DIR --json survival.json
    rag eval chunking DIR --json chunking.json
    python benchmarks/evaluation_page.py headings.json survival.json chunking.json

Each file's `evaluation` says which block it fills; blocks without a file stay as they are.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[1] / "docs" / "evaluation.md"
HEADINGS = {
    "heading_precision": "precision", "heading_recall": "recall", "heading_f1": "F1",
    "level_accuracy": "level", "title_accuracy": "title", "abstract_f1": "abstract",
    "reference_count_accuracy": "references", "pages_per_second": "pages/s",
}  # fmt: skip
FOUND = ("recall", "precision", "iou", "hit_iou", "precision_omega")
SEARCHERS = {f"{method}_recall": method for method in ("semantic", "lexical", "hybrid")}
CUT = ("coverage", "overlap", "duplicate_rate", "cut_share", "tokens_min", "tokens_max",
       "tokens_mean", "tokens_std")  # fmt: skip


def main(files: Sequence[str]) -> None:
    page = PAGE.read_text(encoding="utf-8")
    for file in files:
        written = json.loads(Path(file).read_text(encoding="utf-8"))
        name = written["evaluation"]
        block = "\n\n".join([origin(written), *TABLES[name](written)])
        start, end = f"<!-- figures of {name} -->", f"<!-- end of {name} -->"
        pattern = re.compile(f"{re.escape(start)}.*?{re.escape(end)}", re.DOTALL)
        if not pattern.search(page):
            sys.exit(f"{PAGE.name} has no block {start}")
        page = pattern.sub(lambda _, text=f"{start}\n{block}\n{end}": text, page)
    PAGE.write_text(page, encoding="utf-8")


def origin(written: Mapping[str, Any]) -> str:
    counted = ", ".join(f"{count} {name}".replace("_", " ") for name, count in
                        written["counts"].items())  # fmt: skip
    return (f"Version {written['version']}, settings `{written['settings_digest'][:12]}`: "
            f"{counted}.")  # fmt: skip


def headings(written: Mapping[str, Any]) -> Iterator[str]:
    rows = {"rag-assets": written, **written["baselines"]}
    yield table(("all", *HEADINGS.values()), rows, HEADINGS)
    for name, compared in written["compared"].items():
        narrowed = {key: each for key, each in compared.items() if key != "documents"}
        title = f"the {len(compared['documents'])} that {name} has read"
        yield table((title, *HEADINGS.values()), narrowed, HEADINGS)


def survival(written: Mapping[str, Any]) -> Iterator[str]:
    names = ("ok_share", "says_so_share", "crashes", "time_outs", "memory_failures", "lost",
             "unknown_reason_share", "slowest_seconds")  # fmt: skip
    yield table(("all files", *names), {"rag-assets": written}, names)
    kinds = ("files", "ok_share", "says_so_share", "reasons")
    told = {
        kind: {**each, "reasons": ", ".join(f"{n} {r}" for r, n in each["reasons"].items())}
        for kind, each in written["by_kind"].items()
    }
    yield table(("kind", *kinds), told, kinds)


def chunking(written: Mapping[str, Any]) -> Iterator[str]:
    rows = {"rag-assets": written, **written["baselines"]}
    yield table((f"chunks by ({written['method']} search)", *FOUND), rows, FOUND)
    yield table(("recall by searcher", *SEARCHERS.values()), rows, SEARCHERS)
    yield table(("chunks by", *CUT), rows, CUT)
    for key, searcher in SEARCHERS.items():
        corpora = list(written["by_corpus"])
        by_corpus = {
            name: {corpus: each["by_corpus"][corpus][key] for corpus in corpora}
            for name, each in rows.items()
        }
        yield table((f"recall by corpus, {searcher}", *corpora), by_corpus, corpora)


TABLES = {"headings": headings, "survival": survival, "chunking": chunking}


def table(heads: Sequence[str], rows: Mapping[str, Mapping[str, Any]], keys: Sequence[str]) -> str:
    lines = [heads, ["---"] * len(heads)]
    lines += [[name, *(shown(row[key]) for key in keys)] for name, row in rows.items()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def shown(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.3f}" if value < 10 else f"{value:.1f}"
    return str(value)


if __name__ == "__main__":
    main(sys.argv[1:])
