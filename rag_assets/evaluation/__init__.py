"""How well a library is searched, measured on questions with known answers."""

from typing import TYPE_CHECKING

from rag_assets.evaluation.knowledge_evaluator import evaluate_evalset
from rag_assets.evaluation.report import EvaluationReport, ReportTable
from rag_assets.evaluation.retrieval import evaluate_retrieval
from rag_assets.evaluation.sets import EvalSet, load_eval_set, sets_in
from rag_assets.lazily import lazy_names

if TYPE_CHECKING:
    from rag_assets.evaluation.workspaces import default_cache


# Imported on first use: who needs only the others must not wait for it.
__getattr__ = lazy_names(__name__, {"default_cache": "workspaces"})
