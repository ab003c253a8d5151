"""How good the stages are, measured on data of known truth: figures, tables, JSON."""

from rag_assets.evaluation.chunking import evaluate_chunking
from rag_assets.evaluation.heading_readers import HeadingReader, stored_reader
from rag_assets.evaluation.headings import (
    HeadingsOutcome,
    describe_document,
    describe_misses,
    evaluate_headings,
)
from rag_assets.evaluation.report import EvaluationReport, ReportTable
from rag_assets.evaluation.survival import evaluate_survival

__all__ = [
    "EvaluationReport",
    "HeadingReader",
    "HeadingsOutcome",
    "ReportTable",
    "describe_document",
    "describe_misses",
    "evaluate_chunking",
    "evaluate_headings",
    "evaluate_survival",
    "stored_reader",
]
