"""Evaluation sets through the configured pipeline, with the names of spec 001."""

import asyncio
from pathlib import Path
from typing import Self

from rag_assets.evaluation import (  # noqa: F401 - load_eval_set is public here
    EvalSet,
    EvaluationReport,
    evaluate_evalset,
    load_eval_set,
)
from rag_assets.knowledge.config import KnowledgeConfig, laid_over
from rag_assets.workspace import Settings, shipped_settings


class KnowledgeEvaluator:
    """Evaluates a configuration of the library on evaluation sets; no workspace is touched.

    evaluator = await KnowledgeEvaluator.from_config(namespace="demo", config=config)
    report = await evaluator.evaluate(load_eval_set("evalset.json"))
    print(report.summary())
    """

    def __init__(self, namespace: str, settings: Settings, cache: Path | None = None) -> None:
        self._namespace = namespace
        self._settings = settings
        self._cache = cache

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
            cache: folder of built workspaces; None builds and forgets.

        Raises:
            ConfigurationError: the configuration breaks a rule.
        """
        if isinstance(config, Settings):
            return cls(namespace, config, cache)
        return cls(namespace, _settings(config or KnowledgeConfig()), cache)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def evaluate(self, evalset: EvalSet) -> EvaluationReport:
        """Build the set's documents, ask its queries, score what is found.

        Raises:
            UsageError: a chunk is expected that the settings do not make.
            ConfigurationError: no such model on this machine.
        """
        return await asyncio.to_thread(
            evaluate_evalset, evalset, self._settings, self._cache, namespace=self._namespace
        )

    async def close(self) -> None:
        """Release what is held: nothing between two evaluations."""


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
