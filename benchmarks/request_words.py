"""What it is worth not to search the words that only ask.

    python -m benchmarks.request_words FOLDER... [--vectors CACHE] [--show]

Each folder is an evaluation set in BEIR's layout. Prints on how many of its questions a frame of
`rag_assets/retrieval/request_frames.py` fires; only those are searched, by words alone with the
settings as shipped, with the request and without, and compared by nDCG@10. With `--vectors` they
are searched by the vectors of the first shipped model instead, kept in the folder CACHE. A set from
whose questions frames were written says nothing of their worth.
"""

import argparse
import statistics
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.chunking.vectors import VectorCache
from benchmarks.text_tokenizers import search_shipped, write_shipped
from rag_assets.embedding import embedding_models, encode_questions
from rag_assets.evaluation.retrieval_metrics import ndcg_at
from rag_assets.evaluation.retrieval_rows import RetrievalSet, read_retrieval_set
from rag_assets.retrieval.request_frames import strip_request
from rag_assets.workspace import shipped_settings

Search = Callable[[str], list[str]]
"""Question → ids of the best documents, best first."""


def search_words(given: RetrievalSet, folder: Path) -> Search:
    """Return the shipped search by words over the documents of a set."""
    weights, table = shipped_settings().retrieve.text, write_shipped(folder / "set", given)
    return lambda question: search_shipped(table, question, weights)


def search_vectors(given: RetrievalSet, cache: Path) -> Search:
    """Return the search by the first shipped model over the documents of a set."""
    model = embedding_models(shipped_settings().embed)[0]
    texts = [f"{row.title}\n{row.text}".strip() for row in given.corpus]
    vectors = VectorCache(cache, model).encode(texts)

    def search(question: str) -> list[str]:
        (asked,) = encode_questions(model.settings, [question])
        best = np.argsort(-(vectors @ np.asarray(asked)), kind="stable")[:10]
        return [given.corpus[position].id for position in best]

    return search


def compare(given: RetrievalSet, cache: Path | None) -> dict[str, float]:
    """Return what nDCG@10 gains without the request, by the questions in which there is one."""
    topics = {row.id: strip_request(row.text) for row in given.queries}
    fired = [row for row in given.queries if topics[row.id].split() != row.text.split()]
    gains: dict[str, float] = {}
    if not fired:
        return gains
    with TemporaryDirectory() as folder:
        search = search_vectors(given, cache) if cache else search_words(given, Path(folder))
        for row in fired:
            whole, topic = (
                ndcg_at(search(text), given.judgements[row.id], 10)
                for text in (row.text, topics[row.id])
            )
            gains[row.text] = topic - whole
    return gains


def main() -> None:
    """Print a line a set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--vectors", type=Path, metavar="CACHE", help="by a model's vectors")
    parser.add_argument("--show", action="store_true", help="each question that changed")
    arguments = parser.parse_args()
    for folder in arguments.folders:
        given = read_retrieval_set(folder)
        gains = compare(given, arguments.vectors)
        print(
            f"{given.name}: {len(given.queries)} questions, a frame fires on {len(gains)}: "
            f"{sum(gain > 0 for gain in gains.values())} won, "
            f"{sum(gain < 0 for gain in gains.values())} lost, nDCG@10 "
            f"{statistics.mean(gains.values()) if gains else 0:+.3f} on these",
            flush=True,
        )
        for text, gain in gains.items():
            if arguments.show and gain:
                print(f"  {gain:+.3f}  {text}")


if __name__ == "__main__":
    main()
