"""Language models read numbered sentences and say what they make of a statement.

They quote nothing and write no numbers that count: a small model on this machine answers with one
token, whose probability is the score; a service answers part by part.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol

from pydantic import BaseModel

from rag_assets.embedding import PairModel, load_pair_model
from rag_assets.judging.contract import NamedReader
from rag_assets.judging.shown_sentences import ShownSentence
from rag_assets.llm import (
    ChatModel,
    ChatRequest,
    Completion,
    Message,
    TokenLogprob,
    complete_as,
    load_prompt,
)
from rag_assets.model import AnswerError, hash_fields, is_chinese

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


class StatementReader(NamedReader, Protocol):
    """Reads a statement against numbered sentences."""

    def read(self, statement: str, shown: Sequence[ShownSentence], least: float = 0.0) -> Reading:
        """Return what the model makes of it.

        Args:
            least: the log-odds from which a part counts as supported, where it is read by odds.

        Raises:
            AnswerError: the answer cannot be used; it is never taken for support.
            LanguageModelError: the model did not answer.
        """
        ...


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

    def read(
        self,
        statement: str,
        shown: Sequence[ShownSentence],
        least: float = 0.0,
    ) -> Reading:
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
