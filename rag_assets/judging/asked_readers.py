"""Scorer `llm`: a language model reads the sentences that decide; the program does the rest."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from rag_assets.judging.contract import (
    SCORE_DECIMALS,
    Judgement,
    PassageText,
    Sign,
    Status,
    Thresholds,
    show_score,
)
from rag_assets.judging.facts import check_facts, hold_against_facts, sentences_of
from rag_assets.judging.reader_fit import ReaderFit, find_fit, log_odds_of, probability_of
from rag_assets.judging.reading import (
    PartReading,
    Reading,
    StatementReader,
    TaughtReader,
    open_reader,
)
from rag_assets.judging.shown_sentences import ShownSentence, choose_sentences, likeliest
from rag_assets.judging.statement import state
from rag_assets.judging.thresholds import reader_thresholds
from rag_assets.judging.unread import find_repeated
from rag_assets.llm import ChatModel
from rag_assets.model import AnswerError, ConfigurationError, hash_fields
from rag_assets.settings import ReaderSettings, ScorerName

# Counts as code: raise it when the same reading comes to another judgement.
_VERSION = 4


@dataclass(frozen=True)
class ReaderScorer:
    """Shows a reader few numbered sentences and makes a verdict of what it reads.

    Args:
        fit: None where this reader was not measured; then no probability is printed.
    """

    reader: StatementReader
    thresholds: Thresholds
    fit: ReaderFit | None
    name: ScorerName = "llm"

    @property
    def fingerprint(self) -> str:
        """Return the SHA-256 of reader, fit, thresholds and code."""
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> str:
        fit = self.fit.model_dump() if self.fit else None
        parts = [self.reader.fingerprint, fit, self.thresholds.values]
        return hash_fields(self.name, _VERSION, *parts)

    def log_odds(self, claim: str, passages: Sequence[PassageText]) -> float:
        """Return what the reader makes of a claim, before any curve and check, as log-odds.

        Raises:
            AnswerError: its answer cannot be used.
        """
        statement = state(claim)
        # From this threshold on a reader by odds asks about no parts.
        reading = self.reader.read(statement, choose_sentences(statement, passages), -math.inf)
        return log_odds_of(_share(reading)) if reading.logit is None else reading.logit

    def judge(self, claims: Sequence[tuple[str, Sequence[PassageText]]]) -> list[Judgement]:
        """Return one judgement a claim; equal claims over equal sentences are read once."""
        read: dict[tuple[str, tuple[ShownSentence, ...]], Judgement] = {}
        judgements = []
        for claim, passages in claims:
            statement = state(claim)
            shown = choose_sentences(statement, passages)
            key = statement, shown
            if key not in read:
                read[key] = self._judge(statement, passages, shown)
            judgements.append(read[key])
        return judgements

    def _judge(
        self, statement: str, passages: Sequence[PassageText], shown: tuple[ShownSentence, ...]
    ) -> Judgement:
        repeated = find_repeated(statement, passages)
        if repeated is not None:
            agreeing = check_facts(statement, sentences_of(passages), "for")
            return Judgement(
                1.0, "OK", "supported", "The passage says it word for word.", *repeated, agreeing
            )
        try:
            reading = self.reader.read(statement, shown, self._least)
        except AnswerError as error:
            return self._unread(likeliest(shown), error)
        score = self._score(reading)
        status, code = self.thresholds.decide(score)
        denied = any(part.verdict == "contradicted" for part in reading.parts)
        missing = [part for part in reading.parts if part.verdict != "supported"]
        if denied:
            status, code = "MISSING", "contradicted"
        elif status == "OK" and missing:
            status, code = "WEAK", "weakly_supported"
        decides = shown[reading.deciding[0]] if reading.deciding else likeliest(shown)
        against = () if len(reading.parts) == 1 else tuple(map(_sign, missing))
        judgement = Judgement(
            score, status, code, self._reason(status, score, denied=denied),
            decides.passage, decides.span, (), against,
        )  # fmt: skip
        held = hold_against_facts(judgement, statement, passages)
        # What a program can see is not left to what a model makes of it.
        least = self.thresholds.weak if held.status != judgement.status else score
        return replace(held, score=min(score, least))

    @property
    def _least(self) -> float:
        """Return the log-odds at which a sentence is OK."""
        odds = log_odds_of(self.thresholds.ok)
        return odds if self.fit is None else (odds - self.fit.intercept) / self.fit.slope

    def _score(self, reading: Reading) -> float:
        if reading.logit is None and self.fit is None:
            return round(_share(reading), SCORE_DECIMALS)
        logit = log_odds_of(_share(reading)) if reading.logit is None else reading.logit
        return round(probability_of(logit, self.fit), SCORE_DECIMALS)

    def _reason(self, status: Status, score: float, *, denied: bool) -> str:
        by = f"read by {self.reader.name}"
        if self.fit is not None and self.fit.is_calibrated:
            by += f"; supported with probability {show_score(score)}, OK from " + show_score(
                self.thresholds.ok
            )
        elif self.fit is None:
            by += "; how well it reads was not measured"
        if denied:
            return (
                f"The sentence shown says otherwise ({by}). Correct the sentence, or cite a source "
                "that says it."
            )
        return {
            "OK": f"The sentence shown says it ({by}).",
            "WEAK": f"The sentences found say it in part, or not surely ({by}). Read them, cite a "
            "better passage, or say less.",
            "MISSING": f"Not found in this source: the nearest sentences do not say it ({by}). "
            "Cite the source that says it.",
        }[status]

    def _unread(self, found: ShownSentence, error: AnswerError) -> Judgement:
        """Return that nobody has read it: never OK, and never a reason to drop the sentence."""
        return Judgement(
            round(min(self.thresholds.weak, self.thresholds.ok), SCORE_DECIMALS),
            "WEAK", "unread",
            "Not read: the answer of the language model cannot be used. Read the passage yourself.",
            found.passage, found.span, note=f"Not read: {error}",
        )  # fmt: skip


def _sign(part: PartReading) -> Sign:
    said = {
        "contradicted": f"Contradicted by the sentences shown: “{part.text}”.",
        "not_stated": f"Not in the sentences shown: “{part.text}”.",
    }[part.verdict]
    return Sign("words", part.text, "", said)


def _share(reading: Reading) -> float:
    """Return the share of its parts that are supported."""
    return sum(part.verdict == "supported" for part in reading.parts) / len(reading.parts)


def load_reader_scorer(
    settings: ReaderSettings, chat: ChatModel | None, name: ScorerName = "llm"
) -> ReaderScorer:
    """Return the scorer `llm`, which asks a language model, or `reader`, which comes along.

    Raises:
        ConfigurationError: no language model is configured, or thresholds contradict each other.
    """
    if name == "reader":
        reader: StatementReader = TaughtReader()
    elif chat is not None:
        reader = open_reader(chat)
    else:
        raise ConfigurationError(
            "verify.scorer: llm asks the model that `llm` names, which is none. Run `rag models "
            "list` and set `llm.kind` to local, or name a service."
        )
    fit = find_fit(reader.fingerprint)
    return ReaderScorer(reader, reader_thresholds(settings, fit, "verify.llm"), fit, name)
