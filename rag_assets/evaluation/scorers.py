"""The scorers that are evaluated, opened without a workspace."""

import random
from collections.abc import Sequence
from typing import TypeVar

from rag_assets.judging import Scorer, load_scorer
from rag_assets.settings import ScorerName, Settings

_SEED = 11

Row = TypeVar("Row")


def with_scorer(settings: Settings, scorer: ScorerName | None) -> Settings:
    """Return the settings with another scorer; None leaves theirs."""
    if scorer is None:
        return settings
    verify = settings.verify.model_copy(update={"scorer": scorer})
    return settings.model_copy(update={"verify": verify})


def open_scorer(settings: Settings) -> Scorer:
    """Return the scorer of the settings; `similarity` asks the first embedding model."""
    if settings.verify.scorer == "similarity":
        from rag_assets.evaluation.claims_encoder import FirstModel

        return load_scorer(settings.verify, FirstModel(settings.embed.models[0]))
    if settings.verify.scorer in ("auto", "llm"):
        from rag_assets.llm import load_chat_model, with_local_reader

        # `llm` too takes the reader of this machine where the settings name no model.
        return load_scorer(
            settings.verify,
            chat=load_chat_model(with_local_reader(settings.llm.for_role("verify"))),
        )
    return load_scorer(settings.verify)


def draw(rows: Sequence[Row], limit: int | None) -> Sequence[Row]:
    """Return rows of a file in their order: all, or as many as the limit, drawn with a seed.

    Files are often sorted by label.
    """
    if limit is None or limit >= len(rows):
        return rows
    drawn = random.Random(_SEED).sample(range(len(rows)), limit)  # noqa: S311 - a drawing, not a secret
    return [rows[place] for place in sorted(drawn)]
