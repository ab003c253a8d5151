"""How well the ranking within a document finds what a citing sentence means.

Rows as in CL-SciSumm (Jaidka et al. 2016–2019): a citing sentence, the paper that it cites, the
sentences of it that annotators chose. Rows of one sentence by several annotators are one question.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from rag_assets.cli.evaluating import finish, out_option
from rag_assets.cli.options import ExplainedErrors
from rag_assets.cli.progress import shown_progress
from rag_assets.evaluation.report import EvaluationReport, Figure, ReportTable
from rag_assets.evaluation.sets import read_rows
from rag_assets.model import Progress, UsageError
from rag_assets.retrieval.finding import EvidenceFinder

DEPTHS = (1, 3, 5, 10)
_REFERENCES = "_refs.jsonl"


@dataclass(frozen=True, slots=True)
class LocateQuestion:
    """A citing sentence and the ids of the cited sentences, of any annotator."""

    sentence: str
    document: str
    cited: frozenset[int]


@dataclass(frozen=True, slots=True)
class LocateSet:
    """Questions over documents whose sentences are given with their ids."""

    name: str
    questions: tuple[LocateQuestion, ...]
    documents: Mapping[str, tuple[tuple[int, str], ...]]


def read_locate_sets(folder: Path) -> list[LocateSet]:
    """Return the sets of a folder: each `<name>.jsonl` with `<name>_refs.jsonl` beside it.

    Raises:
        UsageError: there is none, or a row lacks a field.
    """
    sets = []
    for references in sorted(folder.glob(f"[!.]*{_REFERENCES}")):
        rows = references.with_name(references.name.removesuffix(_REFERENCES) + ".jsonl")
        if rows.is_file():
            sets.append(_read_set(rows, references))
    if not sets:
        raise UsageError(
            f"{folder} holds no set: a file NAME.jsonl (citing_sentence, reference_paper_id, "
            "cited_ids) with NAME_refs.jsonl (reference_paper_id, sentences) beside it."
        )
    return sets


def _read_set(rows: Path, references: Path) -> LocateSet:
    documents = {
        row["reference_paper_id"]: tuple((int(key), text) for key, text in row["sentences"])
        for row in _rows(references, ("reference_paper_id", "sentences"))
    }
    cited: dict[tuple[str, str], set[int]] = {}
    for row in _rows(rows, ("citing_sentence", "reference_paper_id", "cited_ids")):
        if row["reference_paper_id"] not in documents:
            raise UsageError(f"{rows}: {row['reference_paper_id']!r} is not in {references.name}.")
        question = (row["reference_paper_id"], row["citing_sentence"])
        cited.setdefault(question, set()).update(map(int, row["cited_ids"]))
    questions = tuple(
        LocateQuestion(sentence, document, frozenset(ids))
        for (document, sentence), ids in cited.items()
    )
    return LocateSet(rows.stem, questions, documents)


def _rows(path: Path, fields: Sequence[str]) -> Iterator[dict[str, Any]]:
    def read(row: Any) -> dict[str, Any]:
        missing = [name for name in fields if not isinstance(row, dict) or name not in row]
        if missing:
            raise ValueError(f"lacks {', '.join(missing)}")
        return dict(row)

    return (row for _, row in read_rows(path, read, f"a row has {', '.join(fields)}"))


def evaluate_locating(folder: Path, on_progress: Progress | None = None) -> EvaluationReport:
    """Rank the sentences of each cited document as `rag verify-citations` does.

    Args:
        folder: as `read_locate_sets` takes it.
        on_progress: told which question is being asked.
    """
    metrics: dict[str, Figure] = {}
    counts: dict[str, int] = {}
    rows: list[tuple[Figure, ...]] = []
    finder = EvidenceFinder()
    for found in read_locate_sets(folder):
        orders = _rank_all(found, finder, on_progress)
        counts[found.name] = len(found.questions)
        figures = _figures(found.questions, orders)
        metrics.update({f"{found.name}_{name}": value for name, value in figures.items()})
        rows.append((found.name, len(found.questions), *figures.values()))
    heads = ("set", "questions", *(f"Hit@{depth}" for depth in DEPTHS), "MRR")
    table = ReportTable("Sentences of the cited document found for a citing sentence", heads,
                        tuple(rows))  # fmt: skip
    return EvaluationReport("locate", finder.fingerprint, metrics, counts, tables=(table,))


@dataclass(frozen=True, slots=True)
class _Alone:
    """A sentence that was given by itself, as the finder reads passages."""

    text: str
    char_start: int | None = None
    char_end: int | None = None
    section_path: tuple[str, ...] = ()
    context: str = ""


def _rank_all(
    found: LocateSet, finder: EvidenceFinder, on_progress: Progress | None
) -> list[list[int]]:
    """Return the sentences' ids, best first, for each question; what states nothing is left out."""
    opened = {
        key: finder.open([_Alone(text) for _, text in rows])
        for key, rows in found.documents.items()
    }
    orders = []
    for number, question in enumerate(found.questions):
        if on_progress is not None:
            on_progress(f"{found.name}: questions", number, len(found.questions))
        document = opened[question.document]
        ids = [key for key, _ in found.documents[question.document]]
        given = (document.sentences[i].parts[0][0] for i in document.rank(question.sentence))
        orders.append([ids[index] for index in dict.fromkeys(given)])
    return orders


def _figures(
    questions: Sequence[LocateQuestion], orders: Sequence[Sequence[int]]
) -> dict[str, float]:
    """Return Hit@k for every depth and the mean reciprocal rank of the first cited sentence."""
    ranks = [
        next((place for place, key in enumerate(order, start=1) if key in question.cited), None)
        for question, order in zip(questions, orders, strict=True)
    ]
    hits = {
        f"hit_{depth}": sum(rank is not None and rank <= depth for rank in ranks) / len(ranks)
        for depth in DEPTHS
    }
    mrr = sum(1 / rank for rank in ranks if rank is not None) / len(ranks)
    return {**{name: round(value, 4) for name, value in hits.items()}, "mrr": round(mrr, 4)}


@click.command(
    cls=ExplainedErrors,
    help="Rank the sentences of cited documents for citing sentences, as rag verify-citations "
    "ranks passages: share found among the first 1, 3, 5 and 10, and mean reciprocal rank. DIR "
    "holds NAME.jsonl (citing_sentence, reference_paper_id, cited_ids) and NAME_refs.jsonl.",
)
@click.argument("folder", metavar="DIR", type=click.Path(
    exists=True, file_okay=False, path_type=Path))  # fmt: skip
@out_option
def locate(folder: Path, out: Path | None) -> None:
    """Print the figures of each set."""
    with shown_progress() as progress:
        report = evaluate_locating(folder, progress)
    finish(report, out)


if __name__ == "__main__":
    locate()
