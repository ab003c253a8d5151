"""How good search and verdicts are, measured on data of known truth: figures, tables, JSON."""

from rag_assets.evaluation.evalsets import EvalSet, load_eval_set
from rag_assets.evaluation.knowledge_evaluator import KnowledgeEvaluator, evaluate_evalset
from rag_assets.evaluation.report import EvaluationReport, ReportTable
from rag_assets.evaluation.retrieval import evaluate_retrieval

__all__ = [
    "EvalSet",
    "EvaluationReport",
    "KnowledgeEvaluator",
    "ReportTable",
    "evaluate_evalset",
    "evaluate_retrieval",
    "load_eval_set",
]
