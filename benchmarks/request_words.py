"""What it is worth not to search the words that only ask.

    python -m benchmarks.request_words FOLDER... [--show]

Each folder is an evaluation set in BEIR's layout. Prints on how many of its questions a frame of
`rag_assets/retrieval/request_frames.py` fires; only those are searched, by words alone with the
settings as shipped, with the request and without, and compared by nDCG@10. A set from whose
questions frames were written says nothing of their worth.
"""

import argparse
import statistics
import tempfile
from pathlib import Path

from benchmarks.text_tokenizers import search_shipped, write_shipped
from rag_assets.evaluation.retrieval_metrics import ndcg_at
from rag_assets.evaluation.retrieval_rows import read_retrieval_set
from rag_assets.retrieval.request_frames import strip_request
from rag_assets.workspace import shipped_settings


def compare(folder: Path) -> tuple[int, dict[str, tuple[float, float]]]:
    """Return how many questions a set has, and nDCG@10 with the request and without where one is.

    The second is by the text of the question.
    """
    given = read_retrieval_set(folder)
    topics = {row.text: strip_request(row.text) for row in given.queries}
    fired = [row for row in given.queries if topics[row.text].split() != row.text.split()]
    figures = {}
    if fired:
        weights = shipped_settings().retrieve.text
        with tempfile.TemporaryDirectory() as place:
            table = write_shipped(Path(place) / "set", given)
            for row in fired:
                whole, topic = (
                    ndcg_at(search_shipped(table, text, weights), given.judgements[row.id], 10)
                    for text in (row.text, topics[row.text])
                )
                figures[row.text] = (whole, topic)
    return len(given.queries), figures


def main() -> None:
    """Print a line a set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--show", action="store_true", help="each question that changed")
    arguments = parser.parse_args()
    for folder in arguments.folders:
        count, figures = compare(folder)
        gains = {text: topic - whole for text, (whole, topic) in figures.items()}
        print(
            f"{folder.name}: {count} questions, a frame fires on {len(gains)}: "
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
