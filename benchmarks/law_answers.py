"""`python -m benchmarks.law_answers WORKSPACE`: everyday questions, searched and answered.

Asks the questions of reader/written/law_everyday.jsonl (written for this by somebody who did not
see the training questions; CC0) of a library of template `law` that holds the vault of
RAG_SHARED_DATA/retrieval/law, on a day (default today). Prints how often a deciding article is
first, among 5 and among 10 of `rag law search`; of `rag ask --law` how often it is shown and first,
the share of shown articles that are beside the point (neither deciding nor named as fairly to the
point), and how often a question without an answer gets one. --fit prints the coefficients of
`likelihoods` (rag_assets/answering/law/tools.py) on these questions and STARD's.
"""

import argparse
import json
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks.evaluating.law import article_file, article_number, path_tails, read_law_questions
from benchmarks.known_drafts import shared_data
from rag_assets.answering.agents.trace import Limits
from rag_assets.answering.law import LawQuestion, answer_statutes
from rag_assets.answering.law.tools import features
from rag_assets.answering.storing import limits_of, open_answer_scorer
from rag_assets.retrieval import OpenedLibrary, Publications, Retriever
from rag_assets.retrieval.statutes import LawShelf, search_shelf
from rag_assets.workspace import Workspace

EVERYDAY = Path(__file__).parent / "reader" / "written" / "law_everyday.jsonl"
_TOP = 20


def _everyday() -> list[dict[str, Any]]:
    return [json.loads(line) for line in EVERYDAY.read_text(encoding="utf-8").splitlines()]


class Names:
    """The articles of a library by document and number, as `path.md#第X条` names them."""

    def __init__(self, retriever: Retriever) -> None:
        self._uids: dict[str, str] = {}
        (reader,) = retriever.readers
        for row in reader.sources().select(["doc_uid", "path", "status"]).to_pylist():
            if row["status"] == "published":
                self._uids |= dict.fromkeys(path_tails(row["path"]), row["doc_uid"])

    def of(self, articles: "list[str]") -> set[tuple[str, str]]:
        """Return (uid, key) of those that the library holds."""
        return {
            (self._uids[article_file(one)], article_number(one))
            for one in articles
            if article_file(one) in self._uids
        }


@contextmanager
def opened(folder: Path) -> Iterator[tuple[Workspace, Retriever]]:
    """Open the one namespace of a workspace."""
    workspace = Workspace.open(folder)
    with OpenedLibrary(workspace) as library, Retriever(library) as retriever:
        yield workspace, retriever


def measure(folder: Path, day: date) -> dict[str, Any]:
    """Return the figures."""
    rows = _everyday()
    with opened(folder) as (workspace, retriever):
        names = Names(retriever)
        readers = {one.namespace: one for one in retriever.readers}
        shelf = LawShelf(Publications(workspace, readers), day)
        limits: Limits = limits_of(workspace.settings.answer)
        scorer = open_answer_scorer(workspace)
        places: dict[str, list[int]] = defaultdict(list)
        seconds, counted, wrong = [], Counter[str](), []
        for row in rows:
            deciding, also = names.of(row["deciding"]), names.of(row["also"])
            if row["deciding"] and not deciding:
                counted["not in the library"] += 1
                continue
            if deciding:
                began = time.perf_counter()
                found = search_shelf(retriever, shelf, row["question"], day, top_k=_TOP)
                seconds.append(time.perf_counter() - began)
                keys = [
                    {(one.hit.doc_uid, article.key) for article in one.hit.articles}
                    for one in found.found
                ]
                place = next((n for n, own in enumerate(keys, 1) if own & deciding), 99)
                places["all"].append(place)
                places[row["use"]].append(place)
            answer = answer_statutes(
                retriever, LawQuestion(row["question"], str(day)), limits, model=None,
                scorer=scorer, clock=time.monotonic,
            )  # fmt: skip
            shown = [(answer.trace.passages[one.alias].doc_uid, one.key) for one in answer.cited]
            if not deciding:
                counted["without an answer"] += 1
                counted["without an answer, answered"] += bool(shown)
                continue
            counted["answerable"] += 1
            counted["shown"] += any(one in deciding for one in shown)
            counted["first"] += bool(shown) and shown[0] in deciding
            counted["places"] += len(shown)
            counted["beside the point"] += sum(one not in deciding | also for one in shown)
            if not any(one in deciding for one in shown):
                wrong.append(row["question"])
    return {
        **{
            f"search, {use}": {
                "questions": len(own),
                **{f"among {most}": round(sum(p <= most for p in own) / len(own), 3)
                   for most in (1, 5, 10, 20)},
            }
            for use, own in places.items()
        },
        "search, median seconds": round(statistics.median(seconds), 3),
        "answers": dict(counted),
        "deciding article not shown": wrong,
    }  # fmt: skip


def fit(folder: Path, day: date) -> dict[str, Any]:
    """Return coefficients of a logistic regression over the first hits of these and STARD's."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    stard = read_law_questions(shared_data() / "retrieval" / "law")
    told, labels = [], []
    with opened(folder) as (workspace, retriever):
        names = Names(retriever)
        readers = {one.namespace: one for one in retriever.readers}
        shelf = LawShelf(Publications(workspace, readers), day)
        asked = [(row["question"], row["deciding"]) for row in _everyday()] + [
            (one.text, [*stard.judgements[one.id], *stard.alternatives.get(one.id, ())])
            for one in stard.questions
        ]
        for text, articles in asked:
            deciding = names.of(articles)
            found = search_shelf(retriever, shelf, text, day, top_k=_TOP)
            hits = [one.hit for one in found.found]
            told += features(hits)
            for hit in hits:
                keys = {(hit.doc_uid, article.key) for article in hit.articles}
                labels.append(bool(keys & deciding))
    fitted = LogisticRegression(C=1e3, max_iter=5000).fit(np.array(told), labels)
    weights = [round(float(one), 2) for one in (fitted.intercept_[0], *fitted.coef_[0])]
    return {
        "bias": weights[0], "weights": weights[1:], "deciding": sum(labels), "hits": len(labels),
    }  # fmt: skip


def main() -> None:
    """Print what was measured or fitted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("workspace", type=Path)
    parser.add_argument("--as-of", type=date.fromisoformat, default=date.today())
    parser.add_argument("--fit", action="store_true", help="print coefficients instead")
    given = parser.parse_args()
    work: Callable[[Path, date], dict[str, Any]] = fit if given.fit else measure
    print(json.dumps(work(given.workspace, given.as_of), indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
