"""Scorer `nli`: an entailment model or a cross-encoder of sentence-transformers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from rag_assets.evidence.wording import coverage
from rag_assets.judging.contract import (
    SCORE_DECIMALS,
    Judgement,
    NamedReader,
    PassageText,
    ReasonCode,
    Thresholds,
    show_score,
)
from rag_assets.judging.facts import hold_against_facts
from rag_assets.judging.reader_fit import ReaderFit, find_fit, log_odds_of
from rag_assets.judging.statement import state
from rag_assets.judging.thresholds import reader_thresholds
from rag_assets.local_models import default_folder, find_model
from rag_assets.model import ConfigurationError, hash_fields
from rag_assets.settings import EntailmentSettings, ScorerName

# Counts as code: raise it when the same model comes to another judgement.
_VERSION = 4
# Passages that are shown to a model: those ranked first.
_MOST_PASSAGES = 3
# Of a two-class softmax; an NLI model that finds a contradiction so probable says so.
_CONTRADICTED_FROM = 0.5


@dataclass(frozen=True, slots=True)
class Reading:
    """What a model says of one passage."""

    probability: float
    is_contradicted: bool


class PassageReader(NamedReader, Protocol):
    """A model that reads a claim and a passage."""

    def read(self, claim: str, passage: str) -> Reading:
        """Return whether the passage supports the claim."""
        ...


@dataclass(frozen=True, slots=True)
class EntailmentScorer:
    """Asks a model about a few passages; the most favourable reading counts.

    Args:
        fit: None where this model was not measured; then its own probability is the score.
    """

    reader: PassageReader
    thresholds: Thresholds
    fit: ReaderFit | None = None

    @property
    def name(self) -> ScorerName:
        """Return `nli`."""
        return "nli"

    @property
    def fingerprint(self) -> str:
        """Return the SHA-256 of model, thresholds and code."""
        fit = self.fit.model_dump() if self.fit else None
        return hash_fields("nli", _VERSION, self.reader.fingerprint, fit, self.thresholds.values)

    def log_odds(self, claim: str, passages: Sequence[PassageText]) -> float:
        """Return what the model makes of a claim, before any curve, as log-odds."""
        shown = passages[:_MOST_PASSAGES]
        read = (self.reader.read(state(claim), passage.text) for passage in shown)
        return log_odds_of(max(reading.probability for reading in read))

    def judge(self, claims: Sequence[tuple[str, Sequence[PassageText]]]) -> list[Judgement]:
        """Return one judgement a claim."""
        return [self._judge(state(claim), passages) for claim, passages in claims]

    def _judge(self, claim: str, passages: Sequence[PassageText]) -> Judgement:
        shown = range(min(len(passages), _MOST_PASSAGES))
        readings = {index: self.reader.read(claim, passages[index].text) for index in shown}
        index = max(shown, key=lambda i: readings[i].probability)
        probability = readings[index].probability
        if self.fit is not None:
            probability = self.fit.probability(log_odds_of(probability))
        score = round(min(1.0, max(0.0, probability)), SCORE_DECIMALS)
        status, code = self.thresholds.decide(score)
        if status != "OK" and (denied := [i for i in shown if readings[i].is_contradicted]):
            index, status, code = denied[0], "MISSING", "contradicted"
            score = min(score, self.thresholds.weak)
        chosen = passages[index]
        span = max(chosen.sentences, key=lambda s: coverage(claim, chosen.text[slice(*s)]))
        judgement = Judgement(score, status, code, _reason(code, score), index, span)
        return hold_against_facts(judgement, claim, passages)


def _reason(code: ReasonCode, score: float) -> str:
    found = f"the model gives it {show_score(score)}"
    return {
        "supported": f"The passage says it ({found}).",
        "weakly_supported": f"The passage says something of the kind ({found}). Read it, cite a "
        "better passage, or say less.",
        "not_found": f"Nothing in the cited document says it ({found}). Cite the source that does.",
        "contradicted": f"The passage says otherwise ({found}). Correct the sentence, or cite a "
        "source that says it.",
    }[code]


class CrossEncoderReader:
    """A `CrossEncoder`: classes of entailment, or one logit. Nothing is downloaded.

    Args:
        model: a name of `rag models list`, or a folder.
    """

    def __init__(self, model: str) -> None:
        self._name = model

    @property
    def name(self) -> str:
        """`nli:<name>`; of a folder its last part."""
        return f"nli:{Path(self._name).name}"

    @cached_property
    def _model(self) -> Any:
        from sentence_transformers import CrossEncoder

        kept = find_model(default_folder(), self._name) if self._is_name else None
        try:
            return CrossEncoder(str(kept.path) if kept else self._name, local_files_only=True)
        except OSError as error:
            raise ConfigurationError(
                f"verify.nli.model: {self._name!r} is no model on this machine "
                f"({str(error).splitlines()[0]}). Name a folder, or run `rag models add "
                f"{Path(self._name).name} --from FOLDER`."
            ) from error

    @property
    def _is_name(self) -> bool:
        return Path(self._name).name == self._name and not Path(self._name).is_dir()

    @property
    def fingerprint(self) -> str:
        """Return the SHA-256 of the model's weights and configuration."""
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> str:
        model = self._model.model
        sums = [
            [name, list(tensor.shape), float(tensor.double().sum()), float(tensor.double().std())]
            for name, tensor in sorted(model.state_dict().items())
            if tensor.numel() > 1
        ]
        return hash_fields("cross-encoder", sums)

    @cached_property
    def _classes(self) -> tuple[int, int | None] | None:
        """Return the numbers of entailment and contradiction; None where there is one logit."""
        if self._model.model.config.num_labels == 1:
            return None
        names = {k: str(v).casefold() for k, v in self._model.model.config.id2label.items()}
        entailed = [k for k, v in names.items() if v.startswith(("entail", "support"))]
        denied = [k for k, v in names.items() if v.startswith(("contradict", "refute"))]
        if not entailed:
            raise ConfigurationError(
                f"verify.nli.model: {self._name!r} has the classes {sorted(names.values())}, "
                "none of which is entailment. Name an entailment model, or one with one logit."
            )
        return entailed[0], denied[0] if denied else None

    def read(self, claim: str, passage: str) -> Reading:
        """Return what the model makes of the pair, alone."""
        classes = self._classes
        pairs = [(claim, passage)] if classes is None else [(passage, claim)]
        import torch

        found = self._model.predict(
            pairs, activation_fn=torch.nn.Identity(), show_progress_bar=False
        )
        logits = np.asarray(found, np.float64).reshape(-1)
        if classes is None:
            return Reading(1 / (1 + math.exp(-max(-30.0, min(30.0, float(logits[0]))))), False)
        shares = np.exp(logits - logits.max())
        shares /= shares.sum()
        entailed, denied = classes
        is_denied = denied is not None and float(shares[denied]) >= _CONTRADICTED_FROM
        return Reading(float(shares[entailed]), is_denied)


def load_entailment_scorer(settings: EntailmentSettings) -> EntailmentScorer:
    """Return the scorer that `verify.nli` names.

    Raises:
        ConfigurationError: no model is named, or thresholds contradict each other.
    """
    if settings.model is None:
        raise ConfigurationError(
            "verify.nli.model: the scorer nli needs a name of `rag models list` or a folder, got "
            "null. Name one, or set verify.scorer to auto."
        )
    reader = CrossEncoderReader(settings.model)
    fit = find_fit(reader.fingerprint)
    return EntailmentScorer(reader, reader_thresholds(settings, fit, "verify.nli"), fit)
