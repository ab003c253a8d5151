"""Write the tables of docs/evaluation.md from the JSON that the evaluations have written.

    python -m benchmarks.headings FILE.jsonl... --json headings.json
    python -m benchmarks.survival DIR --json survival.json
    python -m benchmarks.chunking DIR --json chunking.json
    rag eval retrieval DIR --json retrieval.json
    python -m benchmarks.qasper papers.jsonl --json qasper.json
    python benchmarks/evaluation_page.py headings.json survival.json chunking.json ...

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
CUT = ("duplicate_rate", "cut_share", "tokens_max", "tokens_mean")


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
    yield table(("all", *HEADINGS.values()), {"rag-assets": written}, HEADINGS)


def survival(written: Mapping[str, Any]) -> Iterator[str]:
    names = ("ok_share", "says_so_share", "crashes", "time_outs", "memory_failures", "lost",
             "unknown_reason_share", "slowest_seconds")  # fmt: skip
    yield table(("all files", *names), {"rag-assets": written}, names)
    kinds = ("files", "ok_share", "says_so_share", "reasons")
    failing = {
        kind: {**each, "reasons": ", ".join(f"{n} {r}" for r, n in each["reasons"].items())}
        for kind, each in written["by_kind"].items()
        if each["ok_share"] < 1
    }
    yield table(("kind", *kinds), failing, kinds)
    parsed = [kind for kind in written["by_kind"] if kind not in failing]
    yield f"Parsed without a failure: {', '.join(parsed)}."


def chunking(written: Mapping[str, Any]) -> Iterator[str]:
    rows = {"rag-assets": written, **written["baselines"]}
    yield table((f"chunks by ({written['method']} search)", *FOUND), rows, FOUND)
    yield table(("recall by searcher", *SEARCHERS.values()), rows, SEARCHERS)
    yield table(("chunks by", *CUT), rows, CUT)


def retrieval(written: Mapping[str, Any]) -> Iterator[str]:
    sets = written.get("sets") or {"all": written}
    rows = {
        name: {
            **each,
            "interval": ends(each, "ndcg_at_10"),
            "best_ndcg": each.get(f"{each.get('best_part')}_ndcg_at_10"),
            "gain_interval": ends(each, "gain_over_best_part"),
        }
        for name, each in sets.items()
    }
    heads = ("set", "nDCG@10", "95 %", "R@10", "R@100", "hit@1", "best part", "its nDCG@10",
             "gain", "95 %")  # fmt: skip
    keys = ("ndcg_at_10", "interval", "recall_at_10", "recall_at_100", "hit_at_1", "best_part",
            "best_ndcg", "gain_over_best_part", "gain_interval")  # fmt: skip
    yield table(heads, rows, keys)


def qasper(written: Mapping[str, Any]) -> Iterator[str]:
    rows = {
        name: {**each, "interval": ends(each, "gain")}
        for name, each in written["ways"].items()
        if name.startswith(("whole", "section filter", "true section"))
    }
    yield table(
        ("search within the paper", "nDCG@10", "R@5", "MRR@10", "to the first row", "95 %"),
        rows,
        ("ndcg_at_10", "recall_at_5", "mrr_at_10", "gain", "interval"),
    )


def ends(row: Mapping[str, Any], key: str) -> str | None:
    low, high = row.get(f"{key}_low"), row.get(f"{key}_high")
    return None if low is None or high is None else f"{low:.3f} … {high:.3f}"


TABLES = {
    "headings": headings, "survival": survival, "chunking": chunking, "retrieval": retrieval,
    "qasper": qasper,
}  # fmt: skip


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
