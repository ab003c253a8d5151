"""Answers to questions of `queries/`, and what is kept of each: `meta/answer_runs/<key>.json`.

The newest answer to a question counts. Its record says where it lies and which documents it cites,
by the hashes of their bytes. Nothing that searches or reads is imported until it is needed.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_assets.evidence import SavedQuestion, readable_questions, take_notes
from rag_assets.model import UsageError
from rag_assets.storage import find_json, match_keys, put_json, read_json
from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    from rag_assets.answering.record import Answer
    from rag_assets.answering.storing import AnswerOutcome
    from rag_assets.retrieval import Asked, Reader

_RECORDS = "meta/answer_runs/"
_NOTES = "meta/unrecorded/answers/"


@dataclass(frozen=True, slots=True)
class CitedSource:
    """A document that an answer cites.

    Args:
        content_hash: SHA-256 of its bytes, as they were read.
        aliases: of its passages that are cited.
    """

    namespace: str
    doc_uid: str
    content_hash: str
    aliases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnswerRecord:
    """What is kept of the newest answer to a question.

    Args:
        question_file: from the workspace, or absolute.
        json: the answer's file.
        publications: namespace → publication that was asked.
    """

    key: str
    question_file: str
    json: Path
    publications: Mapping[str, str]
    sources: tuple[CitedSource, ...]


def answer_saved(
    asked: "Asked",
    saved: SavedQuestion,
    *,
    clock: Callable[[], float] = time.monotonic,
    notify: Callable[[str], None] = lambda sentence: None,
) -> "AnswerOutcome":
    """Answer the question of a file, store the answer, and keep a record of it.

    Args:
        asked: a workspace, or a library that is open already.
        clock: seconds from any beginning.
        notify: is told what a person should know while it works.

    Raises:
        UsageError: the file asks for no answer; else as `ask_papers`.
        PublicationError, ConfigurationError: as `ask_papers`.
    """
    from rag_assets.answering.storing import ask_papers
    from rag_assets.retrieval import open_library

    question = saved.question
    if question.mode != "answer":
        raise UsageError(
            f"{saved.path}: asks for no answer but for passages (mode: {question.mode}). Write "
            "`mode: answer`, or `rag query --file` it."
        )
    with open_library(asked) as library:
        outcome = ask_papers(
            library, question.question, clock=clock, doc_id=question.doc,
            namespaces=question.namespaces, filters=question.filters,
            mode="agent" if question.agentic else "single", policy=question.policy,
            max_iterations=question.max_iterations, notify=notify,
        )  # fmt: skip
        answer = outcome.answer
        with library.hold(publications=answer.publications) as held:
            sources = tuple(_sources(answer, held.readers.values()))
    workspace = library.workspace
    place = saved.path.absolute()
    is_own = place.is_relative_to(workspace.root)
    record = {
        "question_file": place.relative_to(workspace.root).as_posix() if is_own else str(place),
        "json": outcome.json.relative_to(workspace.root).as_posix(),
        "publications": dict(answer.publications),
        "sources": [
            {
                "namespace": one.namespace,
                "doc_uid": one.doc_uid,
                "content_hash": one.content_hash,
                "aliases": list(one.aliases),
            }
            for one in sources
        ],
    }
    put_json(workspace.store, f"{_RECORDS}{saved.key}.json", record)
    return replace(outcome, key=saved.key, sources=sources)


def answer_records(workspace: Workspace) -> Iterator[AnswerRecord]:
    """Yield the records of the questions that `queries/` asks now, sorted by key.

    An answer whose file a person threw away is none.

    Raises:
        DamagedFileError: a record is not what was written.
    """
    keys = [each.key for each in match_keys(workspace.store, f"{_RECORDS}*.json")]
    living = {saved.key for saved in readable_questions(workspace)} if keys else set[str]()
    for place in keys:
        key = place.removeprefix(_RECORDS).removesuffix(".json")
        record = _read(workspace, key) if key in living else None
        if record is not None and record.json.is_file():
            yield record


def note_answer(workspace: Workspace, outcome: "AnswerOutcome") -> None:
    """Leave a note of an answer to a question of `queries/`, for Dagster's history."""
    said = {"key": outcome.key, "is_new": outcome.is_new, "seconds": outcome.seconds}
    put_json(workspace.store, f"{_NOTES}{outcome.key}.json", said)


def noted_answers(workspace: Workspace) -> "Iterator[AnswerOutcome]":
    """Yield the answers of which there are notes, as `take_notes`."""
    return take_notes(workspace, _NOTES, "an answer", _noted)


def _noted(workspace: Workspace, said: Mapping[str, Any]) -> "AnswerOutcome | None":
    from rag_assets.answering.record import answer_from_json
    from rag_assets.answering.storing import AnswerOutcome

    record = _read(workspace, said["key"])
    if record is None or not record.json.is_file():
        return None
    return AnswerOutcome(
        answer_from_json(read_json(record.json, "answer")), record.json.with_suffix(".md"),
        record.json, said["is_new"], said["seconds"], said["key"], record.sources,
    )  # fmt: skip


def _read(workspace: Workspace, key: str) -> AnswerRecord | None:
    found: Any = find_json(workspace.store, f"{_RECORDS}{key}.json", "record of an answer")
    if found is None:
        return None
    sources = tuple(
        CitedSource(
            one["namespace"], one["doc_uid"], one["content_hash"], tuple(one["aliases"])
        )
        for one in found["sources"]
    )  # fmt: skip
    return AnswerRecord(
        key, found["question_file"], workspace.root / found["json"], found["publications"], sources
    )


def _sources(answer: "Answer", readers: "Iterable[Reader]") -> Iterator[CitedSource]:
    for reader in readers:
        own = {one.doc_uid: one for one in answer.sources if one.namespace == reader.namespace}
        for row in reader.fetch_documents(own).to_pylist() if own else ():
            source = own[row["doc_uid"]]
            yield CitedSource(source.namespace, source.doc_uid, row["content_hash"], source.aliases)
