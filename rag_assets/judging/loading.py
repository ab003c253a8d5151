"""From settings to a scorer."""

from functools import lru_cache
from typing import TYPE_CHECKING

from rag_assets.judging.contract import Scorer
from rag_assets.judging.coverage import CoverageScorer
from rag_assets.judging.similarity import SimilarityScorer, TextEncoder
from rag_assets.judging.thresholds import spec_thresholds
from rag_assets.model import ConfigurationError
from rag_assets.workspace.settings import SupportSettings, VerifySettings

if TYPE_CHECKING:
    from rag_assets.llm import ChatModel


def load_scorer(
    settings: VerifySettings, encoder: TextEncoder | None = None, chat: "ChatModel | None" = None
) -> Scorer:
    """Return the scorer that the settings name. Models are loaded when first needed.

    Args:
        settings: `verify` of a namespace.
        encoder: the namespace's embedding model; only `similarity` asks it.
        chat: the language model of the settings; only `model` with the provider llm asks it.

    Raises:
        ConfigurationError: thresholds contradict each other, a model is missing or not named.
    """
    if settings.scorer == "coverage":
        return CoverageScorer(spec_thresholds(settings))
    if settings.scorer == "similarity":
        if encoder is None:
            raise ConfigurationError(
                "verify.scorer: similarity compares vectors and was given no embedding model. Name "
                "one in `embed.models`, or set verify.scorer to coverage."
            )
        return SimilarityScorer(spec_thresholds(settings), encoder)
    if settings.scorer == "support":
        return _load_support(settings.support)
    # What the two below need takes time to import, and the other scorers do not need it.
    from rag_assets.judging.asked_models import load_model_scorer

    return load_model_scorer(settings.model, chat)


@lru_cache(maxsize=4)
def _load_support(settings: SupportSettings) -> Scorer:
    from rag_assets.judging.pair_reading import BundledPairReader
    from rag_assets.judging.support import load_support_scorer

    return load_support_scorer(settings, BundledPairReader())
