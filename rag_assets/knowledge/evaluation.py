"""Evaluation sets through the configured pipeline, with the names of spec 001."""

from pathlib import Path
from typing import Self

from rag_assets import evaluation
from rag_assets.evaluation import EvalSet, EvaluationReport, load_eval_set  # noqa: F401 - public
from rag_assets.knowledge.config import KnowledgeConfig, laid_over
from rag_assets.workspace import Settings, shipped_settings


class KnowledgeEvaluator(evaluation.KnowledgeEvaluator):
    """Evaluates a configuration of the library on evaluation sets; no workspace is touched.

    evaluator = await KnowledgeEvaluator.from_config(namespace="demo", config=config)
    report = await evaluator.evaluate(load_eval_set("evalset.json"))
    print(report.summary())
    """

    @classmethod
    async def from_config(
        cls,
        namespace: str,
        config: KnowledgeConfig | Settings | None = None,
        *,
        cache: Path | None = None,
    ) -> Self:
        """Return an evaluator of a configuration, laid over the shipped settings.

        Args:
            namespace: what the report calls the library.
            config: with the names of spec 001, or the settings of a namespace as they are.
            cache: folder of built workspaces and vectors; None builds and forgets.

        Raises:
            ConfigurationError: the configuration breaks a rule.
        """
        if isinstance(config, Settings):
            return cls(namespace, config, cache)
        return cls(namespace, _settings(config or KnowledgeConfig()), cache)


def _settings(config: KnowledgeConfig) -> Settings:
    base = config.base_config
    models = [part.changes() for part in (base.embedding, base.sparse_embedding) if part]
    shipped = shipped_settings()
    if models and base.embedding is None:
        models = [*(model.model_dump() for model in shipped.embed.models), *models]
    changes = {
        "chunk": config.chunk_config.changes(),
        "retrieve": config.retrieve_config.changes(),
        **({"embed": {"models": models}} if models else {}),
    }
    return laid_over(shipped, changes, "config")
