"""From settings to a scorer."""

from typing import TYPE_CHECKING

from rag_assets.judging.contract import Scorer
from rag_assets.judging.similarity import SimilarityScorer, TextEncoder
from rag_assets.judging.thresholds import spec_thresholds
from rag_assets.judging.unread import FactsScorer
from rag_assets.model import ConfigurationError
from rag_assets.settings import VerifySettings

if TYPE_CHECKING:
    from rag_assets.llm import ChatModel
    from rag_assets.local_models import KeptModel
    from rag_assets.workspace import Workspace


def load_scorer(
    settings: VerifySettings, encoder: TextEncoder | None = None, chat: "ChatModel | None" = None
) -> Scorer:
    """Return the scorer that the settings name. Models are loaded when first needed.

    Args:
        settings: `verify` of a namespace.
        encoder: the namespace's embedding model; only `similarity` asks it.
        chat: the language model that reads (`open_verifying_model`); for `llm` and `auto`, of
            which the second takes the model that comes along where there is none.

    Raises:
        ConfigurationError: thresholds contradict each other, a model is missing or not named.
    """
    if settings.scorer == "similarity":
        if encoder is None:
            raise ConfigurationError(
                "verify.scorer: similarity compares vectors and was given no embedding model. Name "
                "one in `embed.models`, or set verify.scorer to facts."
            )
        return SimilarityScorer(spec_thresholds(settings), encoder)
    if settings.scorer == "facts":
        return FactsScorer()
    # What it needs takes time to import, and the others do not need it.
    from rag_assets.judging.asked_readers import load_reader_scorer

    is_taught = settings.scorer == "reader" or (settings.scorer == "auto" and chat is None)
    return load_reader_scorer(settings.llm, chat, "reader" if is_taught else "llm")


def open_verifying_model(workspace: "Workspace") -> "ChatModel | None":
    """Return the language model that a workspace's scorer reads with, None where it asks none.

    For `auto` it is the one that `llm` names, else the reader of this machine, else none. What it
    answered before is not asked again.

    Raises:
        ConfigurationError: the model that is named cannot be opened.
    """
    settings = workspace.settings
    if settings.verify.scorer not in ("auto", "llm"):
        return None
    from rag_assets.llm import open_chat_model, with_local_reader

    chosen = settings.llm.for_role("verify")
    if settings.verify.scorer == "auto":
        chosen = with_local_reader(chosen)
    return open_chat_model(workspace, chosen, remember=True)


_TRIED = ("Yields rose by 12% in 2019.", "Yields rose by 12% in 2019, to 5.1 t/ha.")


def try_model(kept: "KeptModel") -> tuple[str, bool]:
    """Load a model of this machine and ask it whether a sentence follows from another that says it.

    Returns:
        what it answered, and whether that is right.

    Raises:
        ConfigurationError: it cannot be loaded, or an extra is missing.
        LanguageModelError: it did not answer.
    """
    claim, sentence = _TRIED
    from rag_assets.judging.reading import OddsReader
    from rag_assets.judging.shown_sentences import ShownSentence
    from rag_assets.llm import open_local_model

    reading = OddsReader(open_local_model(kept.name)).read(
        claim, [ShownSentence(sentence, 0, (0, len(sentence)))]
    )
    logit = reading.logit or 0.0
    return f"yes by {logit:+.2f} (difference of two log-probabilities)", logit > 0
