"""`rag eval locate`: how well the ranking within a document finds what a citing sentence means.

Rows as in CL-SciSumm (Jaidka et al. 2016–2019): a citing sentence, the paper that it cites, the
sentences of it that annotators chose. Rows of one sentence by several annotators are one question.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_assets.auditing.ranking import DocumentRanking, Vectors
from rag_assets.auditing.standing import without_references
from rag_assets.embedding import can_read, load_embedder, load_tokenizer, model_fingerprint
from rag_assets.evaluation.report import EvaluationReport, Figure, ReportTable, settings_digest
from rag_assets.model import Progress, UsageError

if TYPE_CHECKING:
    from rag_assets.workspace import Settings
    from rag_assets.workspace.settings import ModelSettings

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
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        row = json.loads(line)
        missing = [field for field in fields if field not in row]
        if missing:
            raise UsageError(f"{path}, line {number}: the row lacks {', '.join(missing)}.")
        yield row


def evaluate_locating(
    folder: Path,
    settings: "Settings",
    on_progress: Progress | None = None,
) -> EvaluationReport:
    """Rank the sentences of each cited document as `rag verify-citations` ranks its passages.

    Args:
        folder: as `read_locate_sets` takes it.
        settings: their `embed.models` rank, but for sparse encoders.
        on_progress: told which document is being encoded.
    """
    metrics: dict[str, Figure] = {}
    counts: dict[str, int] = {}
    rows: list[tuple[Figure, ...]] = []
    for found in read_locate_sets(folder):
        orders = _rank_all(found, settings, on_progress)
        counts[found.name] = len(found.questions)
        figures = _figures(found.questions, orders)
        metrics.update({f"{found.name}_{name}": value for name, value in figures.items()})
        rows.append((found.name, len(found.questions), *figures.values()))
    heads = ("set", "questions", *(f"Hit@{depth}" for depth in DEPTHS), "MRR")
    table = ReportTable("Sentences of the cited document found for a citing sentence", heads,
                        tuple(rows))  # fmt: skip
    return EvaluationReport("locate", settings_digest(settings), metrics, counts, tables=(table,))


def _rank_all(
    found: LocateSet, settings: "Settings", on_progress: Progress | None
) -> list[list[int]]:
    """Return the sentences' ids, best first, for each question."""
    models = settings.embed.dense
    texts = {key: [text for _, text in rows] for key, rows in found.documents.items()}
    asked = [without_references(question.sentence) for question in found.questions]
    queries = [_encode_readable(model, asked, is_query=True) for model in models]
    rankings = {}
    for number, (document, sentences) in enumerate(texts.items()):
        if on_progress is not None:
            on_progress(f"{found.name}: documents", number, len(texts))
        vectors = {}
        for model in models:
            rows = _encode_readable(model, sentences, is_query=False)
            vectors[model_fingerprint(model)] = rows
        rankings[document] = DocumentRanking(sentences, vectors)
    orders = []
    for number, question in enumerate(found.questions):
        known = {
            model_fingerprint(model): rows[number]
            for model, rows in zip(models, queries, strict=True)
            if rows[number].any()
        }
        everything = range(len(texts[question.document]))
        order = rankings[question.document].rank(
            question.sentence, known, everything, len(everything)
        )
        ids = [key for key, _ in found.documents[question.document]]
        orders.append([ids[index] for index in order])
    return orders


def _encode_readable(model: "ModelSettings", texts: Sequence[str], *, is_query: bool) -> Vectors:
    """Return a row a text, zeros where the model cannot read it."""
    import numpy as np

    tokenizer, embedder = load_tokenizer(model), load_embedder(model)
    readable = [index for index, text in enumerate(texts) if can_read(tokenizer, text)]
    chosen = [texts[index] for index in readable]
    if not chosen:
        return np.zeros((len(texts), 1), dtype=np.float32)
    encoded = embedder.encode_queries(chosen) if is_query else embedder.encode_passages(chosen)
    rows = np.zeros((len(texts), encoded.shape[1]), dtype=np.float32)
    rows[readable] = encoded
    return rows


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
