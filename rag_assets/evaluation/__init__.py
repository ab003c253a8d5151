"""How good the stages are, measured on data of known truth: figures, tables, JSON."""

from rag_assets.evaluation.chunking import evaluate_chunking
from rag_assets.evaluation.evalsets import EvalSet, load_eval_set
from rag_assets.evaluation.heading_readers import HeadingReader, stored_reader
from rag_assets.evaluation.headings import (
    HeadingsOutcome,
    describe_document,
    describe_misses,
    evaluate_headings,
)
from rag_assets.evaluation.knowledge_evaluator import KnowledgeEvaluator, evaluate_evalset
from rag_assets.evaluation.qasper import evaluate_qasper
from rag_assets.evaluation.report import EvaluationReport, ReportTable
from rag_assets.evaluation.retrieval import evaluate_retrieval
from rag_assets.evaluation.survival import evaluate_survival

__all__ = [
    "EvalSet",
    "EvaluationReport",
    "HeadingReader",
    "HeadingsOutcome",
    "KnowledgeEvaluator",
    "ReportTable",
    "describe_document",
    "describe_misses",
    "evaluate_chunking",
    "evaluate_evalset",
    "evaluate_headings",
    "evaluate_qasper",
    "evaluate_retrieval",
    "evaluate_survival",
    "load_eval_set",
    "stored_reader",
]
