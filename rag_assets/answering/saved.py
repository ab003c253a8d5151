"""Answers to questions of `queries/`, and the notes that commands leave of them."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from rag_assets.evidence import SavedQuestion, take_notes
from rag_assets.model import UsageError
from rag_assets.storage import put_json, read_json
from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    from rag_assets.answering.record import Answer
    from rag_assets.answering.storing import AnswerOutcome
    from rag_assets.retrieval import Asked, Reader

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


def answer_saved(
    asked: "Asked",
    saved: SavedQuestion,
    *,
    clock: Callable[[], float] = time.monotonic,
    notify: Callable[[str], None] = lambda sentence: None,
    watch: Callable[[str], None] = lambda sentence: None,
) -> "AnswerOutcome":
    """Answer the question of a file and store the answer.

    Args:
        asked: a workspace, or a library that is open already.
        clock: seconds from any beginning.
        notify: is told what a person should know while it works.
        watch: called with each step as it begins.

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
            max_iterations=question.max_iterations, notify=notify, watch=watch,
        )  # fmt: skip
        answer = outcome.answer
        with library.hold(publications=answer.publications) as held:
            sources = tuple(_sources(answer, held.readers.values()))
    return replace(outcome, key=saved.key, sources=sources)


def note_answer(workspace: Workspace, outcome: "AnswerOutcome") -> None:
    """Leave a note of an answer to a question of `queries/`, for Dagster's history."""
    said = {
        "json": outcome.json.relative_to(workspace.root).as_posix(),
        "is_new": outcome.is_new,
        "key": outcome.key,
        "seconds": outcome.seconds,
        "sources": [asdict(one) for one in outcome.sources],
    }
    put_json(workspace.store, f"{_NOTES}{outcome.key}.json", said)


def noted_answers(workspace: Workspace) -> "Iterator[AnswerOutcome]":
    """Yield the answers of which there are notes, as `take_notes`."""
    return take_notes(workspace, _NOTES, "an answer", _noted)


def _noted(workspace: Workspace, said: Mapping[str, Any]) -> "AnswerOutcome | None":
    from rag_assets.answering.record import answer_from_json
    from rag_assets.answering.storing import AnswerOutcome

    path = workspace.root / said["json"]
    if not path.is_file():
        return None
    sources = tuple(
        CitedSource(**{**one, "aliases": tuple(one["aliases"])}) for one in said["sources"]
    )
    return AnswerOutcome(
        answer_from_json(read_json(path, "answer")), path.with_suffix(".md"), path,
        said["is_new"], said["seconds"], said["key"], sources,
    )  # fmt: skip


def _sources(answer: "Answer", readers: "Iterable[Reader]") -> Iterator[CitedSource]:
    for reader in readers:
        own = {one.doc_uid: one for one in answer.sources if one.namespace == reader.namespace}
        for row in reader.fetch_documents(own).to_pylist() if own else ():
            source = own[row["doc_uid"]]
            yield CitedSource(source.namespace, source.doc_uid, row["content_hash"], source.aliases)
