"""What the bundled English cross-encoder sees in a claim beside its source.

Its score says how well a passage answers a question; its last states hold more: who does what,
which number, whether it is denied. A linear reading of them, fitted on claims of known truth (Alain
and Bengio, "Understanding intermediate layers using linear classifier probes", 2016), tells support
from nearness of topic.
"""

from functools import cached_property
from typing import Protocol

from rag_assets.retrieval.reranking.bundled import OnnxReranker, PairReading, load_bundled
from rag_assets.workspace.configuration import shipped_settings

MODEL = "reranker-en"
# Lower layers tell the fitted sets apart, and say less of others.
LAYERS = (12,)


class PairReader(Protocol):
    """Reads a claim and a text of its source together; English only."""

    @property
    def fingerprint(self) -> str:
        """Return the SHA-256 of all that decides a reading."""
        ...

    def read(self, claim: str, text: str) -> PairReading:
        """Return the logit of a pair and the states of `LAYERS`."""
        ...


class BundledPairReader:
    """Loads its model when it is first asked; a draft in Chinese never needs it."""

    @cached_property
    def _model(self) -> OnnxReranker:
        settings = shipped_settings(None).retrieve.rerank
        return load_bundled(settings.model_copy(update={"model": MODEL}), LAYERS)

    @property
    def fingerprint(self) -> str:
        """Return the SHA-256 of the model's files and the layers."""
        return self._model.fingerprint

    def read(self, claim: str, text: str) -> PairReading:
        """Return the logit of a pair and the states of `LAYERS`."""
        return self._model.read(claim, text)
