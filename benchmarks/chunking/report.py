"""The report of `benchmarks.chunking`."""

from collections.abc import Mapping
from typing import Any

from benchmarks.chunking.corpus_search import METHODS
from rag_assets.evaluation.report import EvaluationReport, Figure, ReportTable, settings_digest
from rag_assets.workspace import Settings

TOP_K = 5
"""Passages that are looked at for a question, as in Chroma's report."""
OWN = "rag-assets"

FOUND = ("recall", "precision", "iou", "hit_iou")
"""What is said of the chunks that were found."""


def report_chunking(
    counts: Mapping[str, int],
    settings: Settings,
    figures: Mapping[str, Mapping[str, Figure]],
    by_corpus: Mapping[str, Mapping[str, Mapping[str, Figure]]],
    chunk_seconds: float,
) -> EvaluationReport:
    """Return what was measured, ours first.

    Args:
        counts: of what was read.
        figures: by way to split, ours under `OWN`.
        by_corpus: the same by corpus, below the way to split.
        chunk_seconds: processor seconds of cutting our way.
    """
    own = dict(figures[OWN])
    questions, chunks = own.pop("questions"), own.pop("chunks")
    method = settings.retrieve.method
    recalls = tuple(f"{each}_recall" for each in METHODS)
    cut = ("chunks", "coverage", "overlap", "duplicate_rate", "cut_share", "tokens_min",
           "tokens_max", "tokens_mean", "tokens_std")  # fmt: skip
    tables = [
        ReportTable(
            f"Characters of the answers in the {TOP_K} best chunks, {method} search",
            ("chunks by", *FOUND, "precision_omega"),
            tuple(
                (name, *(each[key] for key in (*FOUND, "precision_omega")))
                for name, each in figures.items()
            ),
        ),
        ReportTable(
            "Recall by searcher",
            ("chunks by", *METHODS),
            tuple((name, *(each[key] for key in recalls)) for name, each in figures.items()),
        ),
        ReportTable(
            "How the texts are cut (lengths in tokens)",
            ("chunks by", "chunks", "coverage", "overlap", "duplicates", "cut inside", "min",
             "max", "mean", "std"),
            tuple((name, *(each[key] for key in cut)) for name, each in figures.items()),
        ),
    ]  # fmt: skip
    details: dict[str, Any] = {
        "top_k": TOP_K,
        "method": method,
        "by_corpus": by_corpus[OWN],
        "baselines": {
            name: {**each, "by_corpus": by_corpus[name]}
            for name, each in figures.items()
            if name != OWN
        },
    }
    return EvaluationReport(
        "chunking",
        settings_digest(settings),
        {**own, "chunking_seconds": chunk_seconds},
        {**counts, "questions": int(questions or 0), "chunks": int(chunks or 0)},
        tuple(tables),
        details,
    )
