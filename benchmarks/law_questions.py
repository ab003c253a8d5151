"""Seconds of questions to a published library of statutes, warm, and of articles by name.

    python benchmarks/law_questions.py WORKSPACE [--questions FILE] [--names FILE] [--count 60]

Without FILEs the questions are made of the library's own titles, the names of its own articles.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

_DAY = date(2026, 1, 1)


def _lines(path: Path | None, key: str) -> list[str]:
    if path is None:
        return []
    return [json.loads(line)[key] for line in path.read_text(encoding="utf-8").splitlines()]


def _timed(asked: Sequence[str], ask: Callable[[str], object]) -> list[float]:
    ask(asked[0])  # what is opened once
    seconds = []
    for text in asked:
        started = time.perf_counter()
        ask(text)
        seconds.append(1000 * (time.perf_counter() - started))
    return seconds


def main() -> None:
    """Ask, and print JSON."""
    from rag_assets.model import UsageError
    from rag_assets.retrieval import OpenedLibrary, Retriever
    from rag_assets.retrieval.statutes import LawShelf
    from rag_assets.workspace import Workspace

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("workspace", type=Path)
    parser.add_argument("--questions", type=Path)
    parser.add_argument("--names", type=Path)
    parser.add_argument("--count", type=int, default=60)
    given = parser.parse_args()
    with OpenedLibrary(Workspace.open(given.workspace)) as library, library.hold() as held:
        (reader,) = held.readers.values()
        titles = [t for t in reader.documents()["title"].to_pylist() if t][: given.count]
        questions = _lines(given.questions, "text") or [f"{t}的适用范围是什么？" for t in titles]
        names = _lines(given.names, "query") or [f"{title}第一条" for title in titles]
        with Retriever(library) as retriever:
            searched = _timed(questions[: given.count], retriever.retrieve)
            named = _timed(names[: given.count], retriever.retrieve)
        shelf, refused = LawShelf(held, _DAY), []

        def look_up(title: str) -> None:
            try:
                shelf.article(f"[{title} > 第一条]")
            except UsageError as error:
                refused.append(str(error))

        looked_up = _timed(titles, look_up)
    print(
        json.dumps(
            {
                "passages": reader.manifest["counts"]["chunks"],
                "question_ms": [round(one, 1) for one in searched],
                "question_p50_ms": round(statistics.median(searched), 1),
                "named_p50_ms": round(statistics.median(named), 1),
                "article_p50_ms": round(statistics.median(looked_up), 2),
                "articles_not_there": len(refused),
            }
        )
    )


if __name__ == "__main__":
    main()
