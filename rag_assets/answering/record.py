"""An answer as a value and as JSON. It carries its passages and needs no index to be read."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, Literal

from pydantic import ConfigDict, TypeAdapter

from rag_assets.answering.agents import CheckedStatement, Passage, Trace
from rag_assets.answering.rules import Match
from rag_assets.model import DamagedFileError, hash_text
from rag_assets.retrieval.papers import Route
from rag_assets.storage import restore_json

SCHEMA = "rag-assets/answer/1"
# Of rendering.py: raise it when the same answer is laid out otherwise.
LAYOUT_VERSION = 2
_STRICT = ConfigDict(extra="forbid")

Mode = Literal["agent", "single"]


@dataclass(frozen=True, slots=True)
class AnswerSource:
    """A document that the answer cites: by which aliases, and which of its passages.

    Args:
        chunks: as `doc_2: 41-43, 57` (spec 002 §5.4).
    """

    namespace: str
    doc_uid: str
    title: str | None
    aliases: tuple[str, ...]
    chunks: str

    __pydantic_config__ = _STRICT


@dataclass(frozen=True, slots=True)
class AnswerReader:
    """What held the sentences against their passages: a scorer, or `word for word`.

    Args:
        reads: whether it reads; else only a sentence that is there word for word is kept.
        ok: score from which a sentence is kept.
    """

    name: str
    fingerprint: str
    reads: bool
    ok: float

    __pydantic_config__ = _STRICT


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a question: what may be said, where it stands, how it was found.

    Args:
        answer_id: digest of all that decides it but the model's words; no clock in it.
        mode: `single` searches once; `agent` looks at what it found and goes on.
        route: what the question asks for, and who decided.
        doc_id: the one paper that was meant, where it was located before.
        is_quoted: the sentences are word for word those of the sources; no model wrote them.
        statements: in their order; each supported by the passages that it cites.
        unsupported: what the passages cited do not support, with the reason.
        match: whether what was found seems to answer.
        notices: what a reader has to know, in the question's language.
        publications: namespace → publication that was asked.
    """

    answer_id: str
    layout: int
    question: str
    mode: Mode
    route: Route
    doc_id: str | None
    is_quoted: bool
    statements: tuple[CheckedStatement, ...]
    unsupported: tuple[CheckedStatement, ...]
    match: Match
    notices: tuple[str, ...]
    sources: tuple[AnswerSource, ...]
    reader: AnswerReader
    namespaces: tuple[str, ...]
    filters: tuple[str, ...]
    publications: Mapping[str, str]
    build_ids: Mapping[str, str]
    trace: Trace

    __pydantic_config__ = _STRICT

    @property
    def is_found(self) -> bool:
        """Whether it answers the question; else its statements are the nearest sentences."""
        return bool(self.statements) and (not self.is_quoted or self.match.is_good)

    def key_of(self, alias: str) -> str:
        """Return what a draft cites the document of a passage by."""
        passage = self.trace.passages[alias]
        key = passage.citation_key or passage.doc_uid
        return key if len(self.publications) == 1 else f"{passage.namespace}:{key}"

    def place_of(self, one: CheckedStatement) -> str:
        """Return where a statement's quote is, as `whitcombe2024green, p. 1`."""
        return f"{self.key_of(one.quote.alias)}, {one.quote.place}" if one.quote else ""


def answer_to_json(answer: Answer) -> dict[str, Any]:
    """Return an answer as values that JSON knows: `schema`, then its fields."""
    return {"schema": SCHEMA, **asdict(answer)}


def write_answer(answer: Answer) -> str:
    """Return an answer as the text of its JSON file."""
    return json.dumps(answer_to_json(answer), indent=1, ensure_ascii=False) + "\n"


def answer_from_json(data: Mapping[str, Any]) -> Answer:
    """Return the answer that `answer_to_json` wrote.

    Raises:
        DamagedFileError: another schema; a field is missing, unknown or of another type.
    """
    return restore_json(answer_type(), data, "answer", SCHEMA)


@cache
def answer_type() -> TypeAdapter[Answer]:
    """Return what checks and restores the values of an answer."""
    return TypeAdapter(Answer)


_EDITED = "{what}: the record was edited. Ask the question again."


def require_sound(answer: Answer) -> None:
    """Look whether passages have their hashes and quotes stand where they are said to.

    Raises:
        DamagedFileError: names what does not.
    """
    require_sound_parts(answer.trace.passages, answer.statements, answer.unsupported)


def require_sound_parts(
    passages: Mapping[str, Passage],
    kept: Sequence[CheckedStatement],
    others: Sequence[CheckedStatement],
) -> None:
    """Look at the parts of a record: passages by alias, statements that are kept, and others.

    Raises:
        DamagedFileError: as `require_sound`.
    """
    for alias, passage in passages.items():
        if hash_text(passage.text) != passage.content_hash:
            raise DamagedFileError(_EDITED.format(what=f"passage {alias} has not its hash"))
    for one in (*kept, *others):
        if one.quote is not None and not _stands(one, passages):
            told = f"the quote of statement {one.number} does not stand in {one.quote.alias}"
            raise DamagedFileError(_EDITED.format(what=told))
    wrong = [one for one in kept if not one.is_supported]
    if wrong:
        told = f"statement {wrong[0].number} is kept though it is not supported"
        raise DamagedFileError(_EDITED.format(what=told))


def _stands(one: CheckedStatement, passages: Mapping[str, Passage]) -> bool:
    quote = one.quote
    passage = None if quote is None else passages.get(quote.alias)
    if quote is None or passage is None or quote.alias not in one.citations:
        return False
    start = quote.char_start - passage.char_start
    own = passage.text[start : quote.char_end - passage.char_start]
    is_its = (quote.chunk_id, quote.content_hash) == (passage.chunk_id, passage.content_hash)
    return start >= 0 and own == quote.text and is_its
