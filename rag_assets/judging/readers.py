"""Readers: models that read a statement against sentences, and the scorers `reader` and `llm`."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rag_assets.embedding.taught import PairModel, load_pair_model
from rag_assets.judging.contract import (
    SCORE_DECIMALS,
    Judgement,
    PassageText,
    Sign,
    Status,
    Thresholds,
    require_order,
    show_score,
)
from rag_assets.judging.facts import (
    ShownSentence,
    check_facts,
    choose_sentences,
    find_repeated,
    hold_against_facts,
    likeliest,
    sentences_of,
)
from rag_assets.judging.statement import state
from rag_assets.llm import (
    ChatModel,
    ChatRequest,
    Completion,
    Message,
    TokenLogprob,
    complete_as,
    load_prompt,
)
from rag_assets.llm.local_models import default_folder
from rag_assets.model import AnswerError, ConfigurationError, hash_fields, is_chinese
from rag_assets.model.settings import ReaderSettings, ScorerName
from rag_assets.storage import write_text
from rag_assets.workspace import configs_folder

# What was measured of a reader: from its score to a probability, and where OK begins.

READERS_FILE = "readers.json"
# Mean distance of a probability from the share that is true, on folds by source: above it a score
# orders sentences and is not shown as a probability.
MOST_ERROR = 0.06

_CLOSEST = 1e-6
_FARTHEST = 30.0

Probability = Annotated[float, Field(ge=0, le=1)]


class ReaderFit(BaseModel):
    """A logistic curve over a reader's log-odds, fitted on drafts of known truth.

    Args:
        fingerprint: of the reader that was measured: another model or prompt has no fit.
        data: on what, and how many rows.
        slope: of the curve; `intercept` likewise.
        ok: probability from which a sentence is OK, `weak` from which it is WEAK.
        ok_supported: share of the supported sentences that are OK there, on folds by source;
            `ok_unsupported` of the others; `calibration_error` and `auc` likewise.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    fingerprint: str
    model: str
    data: str
    slope: Annotated[float, Field(gt=0)]
    intercept: float
    ok: Probability
    weak: Probability
    auc: Probability
    ok_supported: Probability
    ok_unsupported: Probability
    calibration_error: Probability

    @property
    def is_calibrated(self) -> bool:
        """Say whether its probabilities may be printed as such."""
        return self.calibration_error <= MOST_ERROR

    def probability(self, logit: float) -> float:
        """Return how probably a sentence of such log-odds is supported."""
        return probability_of(self.slope * logit + self.intercept, None)


def log_odds_of(probability: float) -> float:
    """Return a probability as log-odds, none nearer to 0 or 1 than a millionth."""
    kept = min(max(probability, _CLOSEST), 1 - _CLOSEST)
    return math.log(kept / (1 - kept))


def probability_of(logit: float, fit: ReaderFit | None) -> float:
    """Return the probability that a fit makes of log-odds; without one the log-odds' own."""
    if fit is not None:
        return fit.probability(logit)
    return 1 / (1 + math.exp(-max(-_FARTHEST, min(_FARTHEST, logit))))


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    readers: list[ReaderFit]


def own_fits() -> Path:
    """Return the file of what was measured on this machine; it lies beside its models."""
    return default_folder() / READERS_FILE


def find_fit(fingerprint: str) -> ReaderFit | None:
    """Return what was measured of a reader, None where it was not: own measurements come first.

    Raises:
        ConfigurationError: configs/readers.json is missing or damaged, or the user's is damaged.
    """
    shipped = _read(configs_folder() / READERS_FILE, "Install the package again.")
    return next((fit for fit in (*_own(), *shipped) if fit.fingerprint == fingerprint), None)


def keep_fit(fit: ReaderFit) -> Path:
    """Keep what was measured on this machine, instead of what was measured before.

    Raises:
        ConfigurationError: the file that is there is damaged.
    """
    others = [each for each in _own() if each.fingerprint != fit.fingerprint]
    text = _File(readers=[*others, fit]).model_dump_json(indent=1)
    own_fits().parent.mkdir(parents=True, exist_ok=True)
    write_text(own_fits(), text + "\n")
    return own_fits()


def _own() -> list[ReaderFit]:
    path = own_fits()
    return _read(path, "Remove it and calibrate the reader again.") if path.exists() else []


def _read(path: Path, mend: str) -> list[ReaderFit]:
    try:
        return _File.model_validate_json(path.read_text(encoding="utf-8")).readers
    except (OSError, ValidationError) as error:
        raise ConfigurationError(f"{path}: is missing or damaged ({error}). {mend}") from error


# Language models read numbered sentences and say what they make of a statement.
#
# They quote nothing and write no numbers that count: a small model on this machine answers with one
# token, whose probability is the score; a service answers part by part.

READ_TASK = "read_statement"
PARTS_TASK = "read_parts"
PartVerdict = Literal["supported", "contradicted", "not_stated"]

# Counts as code: raise it when the same model is asked or understood otherwise.
_VERSION = 2
# Enough to hold both answers in every spelling.
_TOP_TOKENS = 20
# The least probability that the tokens meant as an answer must have together: below it the model
# was saying something else.
_LEAST_ANSWERED = 0.05
_FLOOR = 1e-6


@dataclass(frozen=True, slots=True)
class PartReading:
    """What was read of one part of a statement; `text` is verbatim."""

    text: str
    verdict: PartVerdict


@dataclass(frozen=True, slots=True)
class Reading:
    """What a model makes of a statement.

    Args:
        logit: of its being supported: the difference of two log-probabilities; None where the
            runtime gives none.
        parts: in their order, one at least.
        deciding: indices of the shown sentences that decide; empty where the reader names none.
    """

    parts: tuple[PartReading, ...]
    deciding: tuple[int, ...]
    logit: float | None = None


class StatementReader(Protocol):
    """Reads a statement against numbered sentences."""

    @property
    def name(self) -> str:
        """Return what reads, as a fit names it."""

    @property
    def fingerprint(self) -> str:
        """Return the SHA-256 of all that decides a reading; no threshold and no curve does."""

    def read(self, statement: str, shown: Sequence[ShownSentence], least: float = 0.0) -> Reading:
        """Return what the model makes of it.

        Args:
            least: the log-odds from which a part counts as supported, where it is read by odds.

        Raises:
            AnswerError: the answer cannot be used; it is never taken for support.
            LanguageModelError: the model did not answer.
        """


def open_reader(chat: ChatModel) -> StatementReader:
    """Return the way of asking that suits a model: one token where its probabilities are known to
    tell (a model on this machine), part by part otherwise.
    """
    return OddsReader(chat) if chat.describe().get("kind") == "local" else PartsReader(chat)


class TaughtReader:
    """The small model that comes along: asks whether the sentences say it.

    It is a function of the pair alone: what a source tells its reader to answer is text to it.
    """

    name = "reader"

    @cached_property
    def _model(self) -> PairModel:
        return load_pair_model()

    @property
    def fingerprint(self) -> str:
        """Return the SHA-256 of model and code."""
        return hash_fields("taught, all together", _VERSION, self._model.fingerprint)

    def read(self, statement: str, shown: Sequence[ShownSentence], least: float = 0.0) -> Reading:
        """Return the reading of all sentences together.

        Of drafts of known truth that tells more than the best of passages read one by one (area
        under the ROC curve .65 for .60): a wrong passage sometimes seems to say anything.
        """
        (found,) = self._model.read([(statement, " ".join(each.text for each in shown))])
        verdict: PartVerdict = "supported" if found.supports >= least else "not_stated"
        deciding = max(range(len(shown)), key=lambda index: shown[index].share)
        return Reading((PartReading(statement, verdict),), (deciding,), found.supports)


class OddsReader:
    """Asks yes or no; the probabilities of both answers make the score.

    The sentences stand first and the statement after them, so that what a second question has in
    common with the first is not read again.
    """

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat

    @property
    def name(self) -> str:
        """The model's name."""
        return self._chat.name

    @property
    def fingerprint(self) -> str:
        """Return the SHA-256 of model, prompt and code."""
        return _fingerprint("odds", self._chat, READ_TASK)

    def read(self, statement: str, shown: Sequence[ShownSentence], least: float = 0.0) -> Reading:
        """Return the reading: of the whole, and of each part where the whole is not supported."""
        logit = self._ask(statement, shown)
        whole = (PartReading(statement, "supported" if logit >= least else "not_stated"),)
        parts = split_parts(statement)
        if logit >= least or len(parts) == 1:
            return Reading(whole, (), logit)
        read = tuple(
            PartReading(part, "supported" if self._ask(part, shown) >= least else "not_stated")
            for part in parts
        )
        # The whole is not supported: where each part alone seems to be, their connection is not.
        is_told = any(part.verdict != "supported" for part in read)
        return Reading(read if is_told else whole, (), logit)

    def _ask(self, statement: str, shown: Sequence[ShownSentence]) -> float:
        return logit_of(self._chat.complete(self._request(self.messages(statement, shown))))

    @staticmethod
    def messages(statement: str, shown: Sequence[ShownSentence]) -> tuple[Message, ...]:
        """Return the turns that ask whether the sentences support a statement."""
        turns = _turns(load_prompt(READ_TASK).text)
        question = f"{_number(shown)}\n\nStatement: {statement}\n\n{_question(turns)}"
        return (*turns, Message("user", question))

    def _request(self, messages: tuple[Message, ...]) -> ChatRequest:
        return ChatRequest(
            messages, task=READ_TASK, prompt_hash=load_prompt(READ_TASK).hash, temperature=0.0,
            max_tokens=1, top_logprobs=_TOP_TOKENS, shared_messages=len(messages) - 1,
        )  # fmt: skip


class PartsReader:
    """Asks once, for a verdict on each numbered part and the sentences that decide."""

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat

    @property
    def name(self) -> str:
        """The model's name."""
        return self._chat.name

    @property
    def fingerprint(self) -> str:
        """Return the SHA-256 of model, prompt and code."""
        return _fingerprint("parts", self._chat, PARTS_TASK)

    def read(
        self,
        statement: str,
        shown: Sequence[ShownSentence],
        least: float = 0.0,  # noqa: ARG002 - of readers by odds
    ) -> Reading:
        """Return the reading; every number that the model names is checked."""
        prompt = load_prompt(PARTS_TASK)
        parts = split_parts(statement)
        listed = "\n".join(f"({chr(97 + i)}) {part}" for i, part in enumerate(parts))
        asked = f"{_number(shown)}\n\nSTATEMENT: {statement}\n\nPARTS:\n{listed}"
        request = ChatRequest(
            (Message("system", prompt.text), Message("user", asked)),
            task=PARTS_TASK, prompt_hash=prompt.hash, temperature=0.0,
        )  # fmt: skip
        answer = complete_as(self._chat, request, _Answer)
        if len(answer.parts) != len(parts):
            raise AnswerError(
                f"{self._chat.name} was asked about {len(parts)} parts and answered about "
                f"{len(answer.parts)}.",
                answer.model_dump_json(),
            )
        wrong = [n for part in answer.parts for n in part.sentences if not 1 <= n <= len(shown)]
        if wrong:
            raise AnswerError(
                f"{self._chat.name} names sentence {wrong[0]}; it was shown {len(shown)}.",
                answer.model_dump_json(),
            )
        silent = [p for p in answer.parts if p.verdict != "not_stated" and not p.sentences]
        if silent:
            raise AnswerError(
                f"{self._chat.name} says '{silent[0].verdict}' and names no sentence.",
                answer.model_dump_json(),
            )
        deciding = sorted({n - 1 for part in answer.parts for n in part.sentences})
        read = zip(parts, answer.parts, strict=True)
        return Reading(
            tuple(PartReading(text, part.verdict) for text, part in read), tuple(deciding)
        )


class _PartAnswer(BaseModel):
    model_config = {"extra": "forbid"}

    verdict: PartVerdict
    sentences: list[int]


class _Answer(BaseModel):
    model_config = {"extra": "forbid"}

    parts: list[_PartAnswer]


_PART_END = re.compile(
    r"(?<=[;；。])\s*|(?<=[，,])\s*(?=(?:and|but|while|whereas|although|yet)\s)|"
    r"(?<=，)(?=(?:而|但|并|且|同时|而且|并且|但是|然而|其中))|\s(?=(?:while|whereas|but)\s)"
)
# A shorter piece says nothing by itself.
_LEAST_WORDS, _LEAST_HAN = 4, 6


def split_parts(statement: str) -> tuple[str, ...]:
    """Return the parts of a statement that can be true or false by themselves; at most four."""
    parts: list[str] = []
    for piece in (piece.strip() for piece in _PART_END.split(statement)):
        if not piece:
            continue
        size = len(piece) / _LEAST_HAN if is_chinese(piece) else len(piece.split()) / _LEAST_WORDS
        if parts and (size < 1 or len(parts) == _MOST_PARTS):
            joint = "" if is_chinese(piece) else " "
            parts[-1] = f"{parts[-1]}{joint}{piece}"
        else:
            parts.append(piece)
    return tuple(parts) or (statement,)


_MOST_PARTS = 4
_YES = frozenset({"yes", "是", "true"})
_NO = frozenset({"no", "否", "不", "false"})


def logit_of(completion: Completion) -> float:
    """Return how much likelier yes is than no, as the difference of two log-probabilities.

    Raises:
        AnswerError: the runtime gave no probabilities, or the model was answering something else.
    """
    if not completion.logprobs:
        raise AnswerError(
            f"{completion.model} gave no probabilities of its tokens. Use a runtime that does "
            "(llama.cpp; 'llm.kind: local'), or a service that answers by JSON.",
            completion.text,
        )
    first = completion.logprobs[0]
    yes, no = _mass(first, _YES), _mass(first, _NO)
    if yes + no < _LEAST_ANSWERED:
        raise AnswerError(
            f"{completion.model} was asked for yes or no and would say {first[0].token!r}.",
            completion.text,
        )
    return math.log(max(yes, _FLOOR)) - math.log(max(no, _FLOOR))


def _mass(tokens: Sequence[TokenLogprob], words: frozenset[str]) -> float:
    return sum(math.exp(t.logprob) for t in tokens if t.token.strip().casefold() in words)


def _turns(text: str) -> tuple[Message, ...]:
    """Return the turns of a packaged prompt but its last, the question."""
    pieces = re.split(r"^### (system|user|assistant)\n", text, flags=re.MULTILINE)[1:]
    roles: Mapping[str, Literal["system", "user", "assistant"]] = {
        "system": "system", "user": "user", "assistant": "assistant",
    }  # fmt: skip
    return tuple(
        Message(roles[role], said.strip())
        for role, said in zip(pieces[::2], pieces[1::2], strict=True)
    )


def _question(turns: Sequence[Message]) -> str:
    """Return the question, as the examples of the prompt end with it."""
    asked = next(turn.content for turn in turns if turn.role == "user")
    return asked.rpartition("\n\n")[2]


def _number(shown: Sequence[ShownSentence]) -> str:
    return "Source:\n" + "\n".join(f"[{n}] {each.text}" for n, each in enumerate(shown, start=1))


def _fingerprint(kind: str, chat: ChatModel, task: str) -> str:
    described = sorted((key, str(value)) for key, value in chat.describe().items())
    return hash_fields("reader", _VERSION, kind, chat.name, described, load_prompt(task).hash)


# Thresholds of readers.

# Where nothing was measured: yes is likelier than no.
_EVEN = 0.5
_UNMEASURED_WEAK = 0.25


def reader_thresholds(settings: ReaderSettings, fit: ReaderFit | None, section: str) -> Thresholds:
    """Return the thresholds of a reader: those of the settings, else as it was fitted.

    Raises:
        ConfigurationError: WEAK would begin above OK.
    """
    origin = _origin(fit) if fit else "default: yes is likelier than no"
    ok, weak = (fit.ok, fit.weak) if fit else (_EVEN, _UNMEASURED_WEAK)
    own_ok, own_weak = settings.threshold, settings.weak_threshold
    ok = ok if own_ok is None else own_ok
    weak = weak if own_weak is None else own_weak
    require_order(ok, weak, section)
    return Thresholds(
        ok,
        weak,
        origin if own_ok is None else f"setting {section}.threshold",
        origin if own_weak is None else f"setting {section}.weak_threshold",
    )


def _origin(fit: ReaderFit) -> str:
    return (
        f"fitted on {fit.data}; there {fit.ok_supported:.2f} of the supported and "
        f"{fit.ok_unsupported:.2f} of the unsupported are OK, AUC {fit.auc:.2f}"
    )


# Scorer `llm`: a language model reads the sentences that decide; the program does the rest.

# Counts as code: raise it when the same reading comes to another judgement.
_SCORER_VERSION = 6


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
        return hash_fields(self.name, _SCORER_VERSION, *parts)

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
            "verify.scorer: llm needs a model, but `llm` names none. Run `rag models "
            "list` and set `llm.kind` to local, or name a service."
        )
    fit = find_fit(reader.fingerprint)
    return ReaderScorer(reader, reader_thresholds(settings, fit, "verify.llm"), fit, name)
