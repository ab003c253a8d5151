"""Scorer `support`: a calibrated probability from what a reader would check, and its reasons."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from rag_assets.judging.attribution import find_other_authors, without_other_authors
from rag_assets.judging.contract import (
    SCORE_DECIMALS,
    Judgement,
    PassageText,
    Sign,
    Thresholds,
    show_score,
)
from rag_assets.judging.contraries import ANTONYMS_FILE
from rag_assets.judging.crossed import answer_crossed, crossed_probability, is_crossed
from rag_assets.judging.features import FEATURES, Answer, answer, measure
from rag_assets.judging.lexicon import WORDS_FILE
from rag_assets.judging.meaning import meaning_fingerprint
from rag_assets.judging.pair_reading import PairReader
from rag_assets.judging.repeating import Repetition, find_repetition, is_abridged
from rag_assets.judging.reported import find_reported
from rag_assets.judging.signs import (
    find_contradictions,
    find_doubts,
    find_reservations,
    signs_against,
    signs_for,
)
from rag_assets.judging.statement import state
from rag_assets.judging.term_weights import WEIGHTS_FILE
from rag_assets.judging.terms import is_chinese
from rag_assets.judging.thresholds import require_order
from rag_assets.judging.trees import FittedThresholds, SupportModel, read_support_file
from rag_assets.model import hash_bytes, hash_fields
from rag_assets.workspace.configuration import configs_folder
from rag_assets.workspace.settings import ScorerName, SupportSettings

SUPPORT_FILE = "support.json"
_TABLES = (WEIGHTS_FILE, WORDS_FILE, ANTONYMS_FILE)
# Counts as code: raise it when the same texts and file come to another judgement.
SUPPORT_VERSION = 11
# Of a statement that stands in its source word for word: 20 of 21 such rows of the sets, one of
# which is one of two references for what the other says (docs/judging.md).
REPEATED = 0.95
# Of one that stands there with words between, and is neither doubted nor reserved: 51 of 54 rows of
# the sets, 130 of 130 near copies of their sentences (docs/judging.md).
ABRIDGED = 0.9
# What a contradiction, and what a doubt, leaves of a probability: "likely" must not stand beside
# MISSING. About the share of such claims that are supported after all (docs/judging.md).
CONTRADICTED_AT_MOST = 0.29
DOUBTFUL_AT_MOST = 0.6
# What a reservation leaves: such claims are supported as often as others of their probability, but
# a changed one among them cannot be told.
RESERVED_AT_MOST = 0.75
_BELOW_OK = 0.01
_WORD_FOR_WORD = Sign("words", "", "", "It stands there word for word.")
_LEFT_OUT = Sign("words", "", "", "It stands there, with words between that are left out here.")
_CROSSED_NOTE = (
    "The sentence and its source are in different languages: meaning was compared by the "
    "multilingual model, and numbers, names, directions and negation one by one."
)


# Further passages that are judged where the first is not OK, and the share of what the first holds
# of the claim that they must hold.
_OTHERS = 2
_AS_MUCH = 0.9


@dataclass(frozen=True, slots=True)
class SupportScorer:
    """What a reader would check, weighed by trees that were fitted on claims of known truth.

    Args:
        thresholds: of claims in their source's language.
        crossed: of claims whose source is in the other language.
    """

    model: SupportModel
    thresholds: Thresholds
    crossed: Thresholds | None
    reader: PairReader

    @property
    def name(self) -> ScorerName:
        """Return `support`."""
        return "support"

    @property
    def fingerprint(self) -> str:
        """Return the SHA-256 of the fitted file, the weights, the models, thresholds and code."""
        return _fingerprint(self.model.fingerprint, self.reader.fingerprint, self.thresholds.values)

    def judge(self, claims: Sequence[tuple[str, Sequence[PassageText]]]) -> list[Judgement]:
        """Return for each claim how probably the passages support it, and what says so."""
        return [self._judge(claim, passages) for claim, passages in claims]

    def _judge(self, sentence: str, passages: Sequence[PassageText]) -> Judgement:
        """Return the judgement of what a sentence states. Where it says who found that, and its
        passage says it of others, another sentence may answer; else somebody has to look, as where
        the passage only reports what somebody believes.
        """
        judged = self._judge_statement(state(sentence), passages)
        if judged.status != "OK":
            return judged
        reported = find_reported(sentence, passages, judged)
        if reported is not None:
            return self._reserved(judged, reported)
        others = find_other_authors(sentence, passages, judged)
        if others is None:
            return judged
        rest, left = without_other_authors(sentence, passages)
        if left:
            second = self._judge_statement(state(sentence), left)
            if second.status == "OK":
                return replace(second, passage=rest[second.passage])
        return self._reserved(judged, others)

    def _reserved(self, judged: Judgement, sign: Sign) -> Judgement:
        """Return a judgement that is OK but for what a sign says."""
        score = round(min(judged.score, _reserved_at_most(self.thresholds)), SCORE_DECIMALS)
        status, code = self.thresholds.decide(score)
        against = (sign, *judged.speaks_against)
        return replace(
            judged, score=score, status=status, reason_code=code, speaks_against=against,
            reason=_reason(status, score, self.thresholds, against),
        )  # fmt: skip

    def _judge_statement(self, claim: str, passages: Sequence[PassageText]) -> Judgement:
        repeated = find_repetition(claim, passages)
        if repeated is not None:
            return self._repeated(claim, passages, repeated)
        if self.crossed is not None and is_crossed(claim, passages):
            return self._judge_in_both(claim, passages)
        return self._judge_in_one(claim, passages)

    def _judge_in_both(self, claim: str, passages: Sequence[PassageText]) -> Judgement:
        """Return the better of two judgements: by the passages in the claim's script, and by the
        others. A Chinese paper has an English abstract.
        """
        own = [i for i, p in enumerate(passages) if is_chinese(p.text) == is_chinese(claim)]
        others = [i for i in range(len(passages)) if i not in own]
        crossed = self._judge_crossed(claim, [passages[i] for i in others])
        crossed = replace(crossed, passage=others[crossed.passage])
        if not own:
            return crossed
        plain = self._judge_in_one(claim, [passages[i] for i in own])
        plain = replace(plain, passage=own[plain.passage])
        is_plain = plain.reason_code == "contradicted" or plain.score >= self.thresholds.weak
        return plain if is_plain else crossed

    def _judge_in_one(self, claim: str, passages: Sequence[PassageText]) -> Judgement:
        """Return the judgement by the passage that holds most of the claim; where that is not OK
        and others hold nearly as much, by the first of those that is.

        A result stands in the abstract, rounded, and in a table as the claim has it.
        """
        found = answer(claim, passages)
        first = self._judge_found(found, passages)
        rest, near = list(range(len(passages))), found
        for _ in range(_OTHERS):
            if first.status == "OK":
                break
            rest.remove(rest[near.selection.best.passage])
            if not rest:
                break
            others = [passages[i] for i in rest]
            near = answer(claim, others)
            if near.selection.shares[1] < _AS_MUCH * found.selection.shares[1]:
                break
            other = self._judge_found(near, others)
            if other.status == "OK":
                return replace(other, passage=rest[other.passage])
        return first

    def _judge_found(self, found: Answer, passages: Sequence[PassageText]) -> Judgement:
        if found.selection.shares[3] == 0:
            # Not a word or number in common: vectors alone are no reason to trust a sentence.
            return self._verdict(found, passages, 0.0, self.thresholds, note=None)
        row = measure(found, self.reader, self.model.file.scales, self.model.file.probe)
        probability = self.model.probability(row)
        if not is_abridged(found.claim, found.sentences[0]):
            return self._verdict(found, passages, probability, self.thresholds, note=None)
        probability = max(probability, ABRIDGED)
        judged = self._verdict(found, passages, probability, self.thresholds, note=None)
        return replace(judged, speaks_for=(_LEFT_OUT, *judged.speaks_for))

    def _repeated(
        self, claim: str, passages: Sequence[PassageText], found: Repetition
    ) -> Judgement:
        status, code = self.thresholds.decide(REPEATED)
        passage = passages[found.passage]
        sentence = PassageText(passage.text, (found.span,), passage.context)
        signs = (_WORD_FOR_WORD, *signs_for(answer(claim, [sentence])))
        return Judgement(
            REPEATED, status, code, _reason(status, REPEATED, self.thresholds, ()),
            found.passage, found.span, signs,
        )  # fmt: skip

    def _judge_crossed(self, claim: str, passages: Sequence[PassageText]) -> Judgement:
        model, thresholds = self.model.file.crossed, self.crossed
        if model is None or thresholds is None:
            raise AssertionError("asked only where the file holds a model of crossed claims")
        found, near = answer_crossed(claim, passages)
        score = crossed_probability(near, model)
        return self._verdict(found, passages, score, thresholds, note=_CROSSED_NOTE)

    def _verdict(
        self,
        found: Answer,
        passages: Sequence[PassageText],
        score: float,
        thresholds: Thresholds,
        note: str | None,
    ) -> Judgement:
        against = find_contradictions(found)
        place = found.selection.best
        span = passages[place.passage].sentences[place.sentence]
        # A sentence in another language that is not near in meaning speaks of something else.
        if against and not (found.selection.is_crossed and score < thresholds.weak):
            score = round(min(score, CONTRADICTED_AT_MOST, thresholds.weak), SCORE_DECIMALS)
            span = _span_of(against[0], found, passages[place.passage])
            return Judgement(
                score, "MISSING", "contradicted",
                f"The passage says otherwise. {against[0].text} Correct the sentence, or cite a "
                "source that says it.",
                place.passage, span, signs_for(found), signs_against(found), note,
            )  # fmt: skip
        if find_doubts(found):
            score = min(score, DOUBTFUL_AT_MOST)
        elif find_reservations(found):
            score = min(score, _reserved_at_most(thresholds))
        score = round(score, SCORE_DECIMALS)
        status, code = thresholds.decide(score)
        missing = signs_against(found)
        return Judgement(
            score, status, code, _reason(status, score, thresholds, missing),
            place.passage, span, signs_for(found), missing, note,
        )  # fmt: skip


def _span_of(sign: Sign, found: Answer, passage: PassageText) -> tuple[int, int]:
    """Return the sentence that has what a sign names, of those that answer; else the best one."""
    selection = found.selection
    first, last = selection.window
    beside = range(first, last + 1)
    near = (selection.best.sentence, *beside, *(place.sentence for place in selection.gathered))
    spans = [passage.sentences[number] for number in near]
    holding = (span for span in spans if sign.source.lower() in passage.text[slice(*span)].lower())
    return next(holding, spans[0])


def _reserved_at_most(thresholds: Thresholds) -> float:
    return min(RESERVED_AT_MOST, thresholds.ok - _BELOW_OK)


@lru_cache(maxsize=8)
def _fingerprint(model: str, reader: str, limits: tuple[float, float]) -> str:
    # A draft asks for it at every sentence; the tables do not change within a process.
    tables = [hash_bytes((configs_folder() / name).read_bytes()) for name in _TABLES]
    parts = [model, tables, meaning_fingerprint(), reader, limits]
    return hash_fields("support", SUPPORT_VERSION, *parts)


def _reason(status: str, score: float, limits: Thresholds, against: tuple[Sign, ...]) -> str:
    found = f"supported with probability {show_score(score)}"
    first = f" {against[0].text}" if against else ""
    if status == "OK":
        return f"The passage says it ({found}; OK from {limits.ok:.2f})."
    if status == "WEAK":
        return (
            f"The passage says something of the kind ({found}; OK from {limits.ok:.2f}).{first} "
            "Read it, cite a better passage, or say less."
        )
    return (
        f"Nothing in the cited document says it ({found}; WEAK from {limits.weak:.2f}).{first} "
        "Cite another source, or drop the claim."
    )


def load_support_scorer(settings: SupportSettings, reader: PairReader) -> SupportScorer:
    """Return the scorer with the thresholds of its file, or those that the settings state.

    Raises:
        ConfigurationError: the file is missing or damaged, or thresholds contradict each other.
    """
    model = _model()
    crossed = model.file.crossed
    return SupportScorer(
        model,
        _thresholds(settings, model.file.thresholds),
        _thresholds(settings, crossed.thresholds) if crossed else None,
        reader,
    )


def _model() -> SupportModel:
    return read_support_file(configs_folder() / SUPPORT_FILE, list(FEATURES))


def _thresholds(settings: SupportSettings, fitted: FittedThresholds) -> Thresholds:
    ok = fitted.ok if settings.threshold is None else settings.threshold
    weak = fitted.weak if settings.weak_threshold is None else settings.weak_threshold
    require_order(ok, weak, "verify.support")
    origin = f"configs/{SUPPORT_FILE}"
    return Thresholds(
        ok,
        weak,
        origin if settings.threshold is None else "setting verify.support.threshold",
        origin if settings.weak_threshold is None else "setting verify.support.weak_threshold",
    )
