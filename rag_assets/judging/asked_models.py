"""Scorer `model`: an NLI model or cross-encoder of sentence-transformers, or a language model."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal, Protocol

import numpy as np
from pydantic import BaseModel, Field

from rag_assets.judging.contract import (
    SCORE_DECIMALS,
    Judgement,
    PassageText,
    ReasonCode,
    Thresholds,
    show_score,
)
from rag_assets.judging.selecting import select
from rag_assets.judging.statement import state
from rag_assets.judging.terms import read_terms
from rag_assets.judging.thresholds import require_order
from rag_assets.llm import ChatModel, ChatRequest, Message, complete_as, load_prompt
from rag_assets.model import ConfigurationError, hash_fields
from rag_assets.workspace.settings import JudgeModelSettings, ScorerName

JUDGE_TASK = "judge_support"
# Counts as code: raise it when the same model comes to another judgement.
_VERSION = 2
# Passages that are shown to a model: the one with most words in common, then those ranked first.
_MOST_PASSAGES = 3
# Of a two-class softmax; an NLI model that finds a contradiction so probable says so.
_CONTRADICTED_FROM = 0.5


@dataclass(frozen=True, slots=True)
class Reading:
    """What a model says of one passage."""

    probability: float
    is_contradicted: bool
    reason: str | None = None


class PassageReader(Protocol):
    """A model that reads a claim and a passage."""

    @property
    def fingerprint(self) -> str:
        """Return the SHA-256 of all that decides a reading."""
        ...

    def read(self, claim: str, passage: str) -> Reading:
        """Return whether the passage supports the claim."""
        ...


@dataclass(frozen=True, slots=True)
class ModelScorer:
    """Asks a model about a few passages; the most favourable reading counts."""

    reader: PassageReader
    thresholds: Thresholds

    @property
    def name(self) -> ScorerName:
        """Return `model`."""
        return "model"

    @property
    def fingerprint(self) -> str:
        """Return the SHA-256 of model, thresholds and code."""
        return hash_fields("model", _VERSION, self.reader.fingerprint, self.thresholds.values)

    def judge(self, claims: Sequence[tuple[str, Sequence[PassageText]]]) -> list[Judgement]:
        """Return one judgement a claim."""
        return [self._judge(state(claim), passages) for claim, passages in claims]

    def _judge(self, claim: str, passages: Sequence[PassageText]) -> Judgement:
        best = select(read_terms(claim), passages).best.passage
        shown = list(dict.fromkeys([best, *range(len(passages))]))[:_MOST_PASSAGES]
        readings = {index: self.reader.read(claim, passages[index].text) for index in shown}
        index = max(shown, key=lambda i: readings[i].probability)
        reading = readings[index]
        score = round(min(1.0, max(0.0, reading.probability)), SCORE_DECIMALS)
        status, code = self.thresholds.decide(score)
        if status != "OK" and (denied := [i for i in shown if readings[i].is_contradicted]):
            index, status, code = denied[0], "MISSING", "contradicted"
            score = min(score, self.thresholds.weak)
            reading = readings[index]
        chosen = passages[index]
        place = select(read_terms(claim), [chosen]).best
        return Judgement(
            score, status, code, reading.reason or _reason(code, score), index,
            chosen.sentences[place.sentence],
        )  # fmt: skip


def _reason(code: ReasonCode, score: float) -> str:
    found = f"the model gives it {show_score(score)}"
    return {
        "supported": f"The passage says it ({found}).",
        "weakly_supported": f"The passage says something of the kind ({found}). Read it, cite a "
        "better passage, or say less.",
        "not_found": f"Nothing in the cited document says it ({found}). Cite another source, or "
        "drop the claim.",
        "contradicted": f"The passage says otherwise ({found}). Correct the sentence, or cite a "
        "source that says it.",
    }[code]


class CrossEncoderReader:
    """A `CrossEncoder`: three classes (NLI) or one logit. Nothing is downloaded.

    Args:
        model: a folder, or a name of the hub that is on this machine.
        is_nli: whether its classes are entailment, neutral and contradiction.
    """

    def __init__(self, model: str, *, is_nli: bool) -> None:
        self._name = model
        self._is_nli = is_nli

    @cached_property
    def _model(self) -> Any:
        from sentence_transformers import CrossEncoder

        try:
            return CrossEncoder(self._name, local_files_only=True)
        except OSError as error:
            raise ConfigurationError(
                f"verify.model.model: {self._name!r} is no model on this machine "
                f"({str(error).splitlines()[0]}). Name a folder, or download it first."
            ) from error

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
        return hash_fields("cross-encoder", self._is_nli, sums)

    @cached_property
    def _classes(self) -> tuple[int, int | None]:
        """Return the numbers of entailment and contradiction."""
        names = {k: str(v).casefold() for k, v in self._model.model.config.id2label.items()}
        entailed = [k for k, v in names.items() if v.startswith(("entail", "support"))]
        denied = [k for k, v in names.items() if v.startswith(("contradict", "refute"))]
        if not entailed:
            raise ConfigurationError(
                f"verify.model.model: {self._name!r} has the classes {sorted(names.values())}, "
                "none of which is entailment. Set verify.model.provider to cross_encoder."
            )
        return entailed[0], denied[0] if denied else None

    def read(self, claim: str, passage: str) -> Reading:
        """Return what the model makes of the pair, alone."""
        pairs = [(passage, claim)] if self._is_nli else [(claim, passage)]
        import torch

        found = self._model.predict(
            pairs, activation_fn=torch.nn.Identity(), show_progress_bar=False
        )
        logits = np.asarray(found, np.float64).reshape(-1)
        if not self._is_nli:
            return Reading(1 / (1 + math.exp(-max(-30.0, min(30.0, float(logits[0]))))), False)
        shares = np.exp(logits - logits.max())
        shares /= shares.sum()
        entailed, denied = self._classes
        is_denied = denied is not None and float(shares[denied]) >= _CONTRADICTED_FROM
        return Reading(float(shares[entailed]), is_denied)


class _Answer(BaseModel):
    verdict: Literal["supported", "partly", "contradicted", "not_found"]
    probability: Annotated[float, Field(ge=0, le=1)]
    reason: Annotated[str, Field(min_length=1)]


@dataclass(frozen=True)
class ChatReader:
    """A language model that answers by a JSON Schema, at temperature 0."""

    chat: ChatModel

    @property
    def fingerprint(self) -> str:
        """Return the SHA-256 of the model's name and the prompt."""
        return hash_fields("llm", self.chat.name, load_prompt(JUDGE_TASK).hash)

    def read(self, claim: str, passage: str) -> Reading:
        """Return what the model answers.

        Raises:
            AnswerError, LanguageModelError: as `complete_as`.
        """
        prompt = load_prompt(JUDGE_TASK)
        asked = f"CLAIM:\n{claim}\n\nPASSAGE:\n{passage}"
        request = ChatRequest(
            (Message("system", prompt.text), Message("user", asked)),
            task=JUDGE_TASK, prompt_hash=prompt.hash, temperature=0.0,
        )  # fmt: skip
        answer = complete_as(self.chat, request, _Answer)
        # The verdict binds: a model that says "not found" at 0.9 means how sure it is of that.
        allowed = {"supported": 1.0, "partly": 0.49, "contradicted": 0.0, "not_found": 0.0}
        return Reading(
            min(answer.probability, allowed[answer.verdict]),
            answer.verdict == "contradicted",
            answer.reason,
        )


def load_model_scorer(settings: JudgeModelSettings, chat: ChatModel | None) -> ModelScorer:
    """Return the scorer that `verify.model` names.

    Raises:
        ConfigurationError: no model is named, or thresholds contradict each other.
    """
    require_order(settings.threshold, settings.weak_threshold, "verify.model")
    limits = Thresholds(
        settings.threshold,
        settings.weak_threshold,
        "setting verify.model.threshold",
        "setting verify.model.weak_threshold",
    )
    if settings.provider == "llm":
        if chat is None:
            raise ConfigurationError(
                "verify.model.provider: llm asks the model that `llm` names, which is none. Set "
                "`llm.kind`, or another provider."
            )
        return ModelScorer(ChatReader(chat), limits)
    if settings.model is None:
        raise ConfigurationError(
            f"verify.model.model: {settings.provider} needs a folder or a name of the hub, got "
            "null. Name one, or set verify.scorer to support."
        )
    is_nli = settings.provider == "nli"
    return ModelScorer(CrossEncoderReader(settings.model, is_nli=is_nli), limits)
