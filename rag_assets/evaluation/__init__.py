"""How good search and verdicts are, measured on data of known truth: figures, tables, JSON."""

from typing import TYPE_CHECKING

from rag_assets.evaluation.evalsets import EvalSet, load_eval_set
from rag_assets.evaluation.knowledge_evaluator import KnowledgeEvaluator, evaluate_evalset
from rag_assets.evaluation.report import EvaluationReport, ReportTable
from rag_assets.evaluation.retrieval import evaluate_retrieval
from rag_assets.lazily import lazy_names

if TYPE_CHECKING:
    from rag_assets.evaluation.agent import evaluate_agent, open_live_model
    from rag_assets.evaluation.claims import evaluate_claims
    from rag_assets.evaluation.drafts import evaluate_drafts
    from rag_assets.evaluation.drafts_rows import is_draft_file
    from rag_assets.evaluation.law import evaluate_law
    from rag_assets.evaluation.report import joined
    from rag_assets.evaluation.scorers import with_scorer
    from rag_assets.evaluation.workspaces import default_cache

# Modules of this room that other rooms may import from, besides the names below.
PUBLIC_MODULES = ("workspace_sets",)

__all__ = [
    "EvalSet",
    "EvaluationReport",
    "KnowledgeEvaluator",
    "ReportTable",
    "default_cache",
    "evaluate_agent",
    "evaluate_claims",
    "evaluate_drafts",
    "evaluate_evalset",
    "evaluate_law",
    "evaluate_retrieval",
    "is_draft_file",
    "joined",
    "load_eval_set",
    "open_live_model",
    "with_scorer",
]

# Imported on first use: who needs only the others must not wait for these.
__getattr__ = lazy_names(
    __name__,
    {
        "default_cache": "workspaces",
        "evaluate_agent": "agent",
        "evaluate_claims": "claims",
        "evaluate_drafts": "drafts",
        "evaluate_law": "law",
        "is_draft_file": "drafts_rows",
        "joined": "report",
        "open_live_model": "agent",
        "with_scorer": "scorers",
    },
)
