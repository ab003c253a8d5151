"""Answers to questions of `queries/`: what is kept of each, and whether it is still true."""

import shlex
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_assets.evidence import SavedQuestion, readable_questions, take_notes
from rag_assets.model import RagError, UsageError, hash_bytes, hash_fields
from rag_assets.storage import find_json, is_complete, match_keys, put_json, read_json, read_pointer
from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    from rag_assets.answering.agents import CheckedStatement
    from rag_assets.answering.agents.statements import StatementJudge
    from rag_assets.answering.record import Answer
    from rag_assets.answering.storing import AnswerOutcome
    from rag_assets.retrieval import Asked, OpenedLibrary, Reader

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


# Counts as code: raise it when the same answer over the same publication is seen otherwise.
VERIFYING_VERSION = 1
_SEEN = "meta/answer_checks/"


@dataclass(slots=True)
class LookedAt:
    """How much work a look was.

    Args:
        answers: of which there are records.
        anew: of these, what had changed since the last look.
    """

    answers: int = 0
    anew: int = 0


def unsupported_answers(workspace: Workspace, looked: LookedAt) -> Iterator[str]:
    """Yield a sentence for each kept statement that its source does not bear out.

    The quote has to stand at its place in the published text: in the publication that was asked, or
    where that was retired in the present one, as long as the passage is the same. The statement is
    judged again, by the comparison or the scorer that judged it; where that is a language model, or
    another one is configured now, by the verdict that was recorded.

    Args:
        looked: is told how much had to be looked at.

    Raises:
        DamagedFileError: a record is not what was written.
    """
    records = list(answer_records(workspace))
    looked.answers = len(records)
    if not records:
        return
    from rag_assets.retrieval import OpenedLibrary

    with OpenedLibrary(workspace) as library:
        desk = _Desk(workspace, library)
        for record in records:
            key, state = f"{_SEEN}{record.key}.json", _state(workspace, record)
            before = find_json(workspace.store, key, "look at an answer") or {}
            found = before.get("found")
            if before.get("state") != state or not isinstance(found, list):
                looked.anew += 1
                found = list(desk.look(record))
                put_json(workspace.store, key, {"state": state, "found": found})
            yield from (f"{told} {_mend(record)}" for told in found)


def _mend(record: AnswerRecord) -> str:
    return f"`rag ask --file {shlex.quote(record.question_file)}` answers again."


def _state(workspace: Workspace, record: AnswerRecord) -> str:
    """Return what decides a look: the file, the text that it is held against, what judges."""
    return hash_fields(
        VERIFYING_VERSION,
        hash_bytes(record.json.read_bytes()),
        _asked(workspace, record.publications),
        workspace.settings.verify.model_dump(mode="json"),
    )


def _asked(workspace: Workspace, publications: Mapping[str, str]) -> dict[str, str]:
    """Return the publications that stand, or those of now; none where there is none."""
    found = {}
    for name, publication in publications.items():
        if name not in workspace.namespace_names:
            continue
        folder = workspace.namespace(name).publications
        pointer = read_pointer(folder)
        if is_complete(folder, publication):
            found[name] = publication
        elif pointer is not None:
            found[name] = pointer.current
    return found


@dataclass(slots=True)
class _Desk:
    """Looks at one answer after the other."""

    workspace: Workspace
    library: "OpenedLibrary"

    def look(self, record: AnswerRecord) -> Iterator[str]:
        """Yield what is wrong with an answer."""
        from rag_assets.answering.record import answer_from_json, require_sound

        name = record.json.name
        try:
            answer = answer_from_json(read_json(record.json, "answer"))
            require_sound(answer)
        except RagError as error:
            yield f"{name}: {error}"
            return
        yield from (f"{name}, {told}" for told in self._not_supported(answer))
        asked = _asked(self.workspace, answer.publications)
        if asked:
            with self.library.hold(publications=asked) as held:
                yield from (f"{name}, {told}" for told in _not_there(answer, held.readers))

    def _not_supported(self, answer: "Answer") -> Iterator[str]:
        from rag_assets.answering.agents.statements import check_sentences

        kept = [(one.number, one.text, one.citations) for one in answer.statements]
        checked = check_sentences(
            kept, answer.trace.passages, self._judge(answer), is_quoted=answer.is_quoted
        )
        for one in checked:
            if not one.is_supported:
                yield f"statement {one.number}, “{one.text}”, is kept: {one.reason}"

    def _judge(self, answer: "Answer") -> "StatementJudge":
        from rag_assets.answering.agents.statements import RecordedJudge, ScorerJudge, VerbatimJudge
        from rag_assets.judging import load_scorer

        if answer.is_quoted:
            return VerbatimJudge()
        # It costs nothing to ask again; a language model does.
        verify = self.workspace.settings.verify.model_copy(update={"scorer": "facts"})
        facts = load_scorer(verify)
        if facts.fingerprint == answer.reader.fingerprint:
            return ScorerJudge(facts)
        return RecordedJudge(answer.statements)


def _not_there(answer: "Answer", readers: "Mapping[str, Reader]") -> Iterator[str]:
    """Yield the kept statements whose quote does not stand where it is said to."""
    for one in answer.statements:
        quote = one.quote
        if quote is None:
            yield f"statement {one.number}, “{one.text}”, is kept without a quote."
            continue
        reader = readers.get(quote.namespace)
        if reader is None:
            continue  # nothing is published there: told by `outdated_answers`
        hit = reader.fetch_hits([quote.chunk_id]).get(quote.chunk_id)
        is_asked = reader.name == answer.publications[quote.namespace]
        if hit is None or hit.content_hash != quote.content_hash:
            if is_asked:
                yield _missing(one, f"{quote.namespace}/{reader.name} has not that passage")
            continue  # the passage was changed since: told by `outdated_answers`
        start = quote.char_start - hit.char_start
        if start < 0 or hit.text[start : quote.char_end - hit.char_start] != quote.text:
            yield _missing(one, f"other words are there in {quote.namespace}/{reader.name}")


def _missing(one: "CheckedStatement", why: str) -> str:
    quote = one.quote
    place = "" if quote is None else f"{quote.chunk_id}, characters {quote.char_start}"
    return f"statement {one.number}, “{one.text}”: its quote is not at {place}: {why}."


def outdated_answers(workspace: Workspace, looked: LookedAt) -> Iterator[str]:
    """Yield a sentence for each answer that was made of another publication than the present one.

    It says which of the documents that it cites have changed since; where none has, what is new may
    answer better all the same.

    Args:
        looked: is told how much had to be looked at.

    Raises:
        DamagedFileError: a record, or an answer of another publication, is not what was written.
    """
    published = [(record, _now(workspace, record)) for record in answer_records(workspace)]
    looked.answers = len(published)
    others = [(record, now) for record, now in published if now != dict(record.publications)]
    looked.anew = len(others)
    if not others:
        return
    from rag_assets.retrieval import OpenedLibrary

    with OpenedLibrary(workspace) as library:
        for record, now in others:
            changed = list(_changed(library, record, now))
            told = "; ".join(changed) or "the documents that it cites are the same"
            older = ", ".join(
                f"{name}/{publication}"
                for name, publication in record.publications.items()
                if now.get(name) != publication
            )
            yield (
                f"{record.json.name} ({record.question_file}) was made of {older}, which is not "
                f"what is published now: {told}. {_mend(record)}"
            )


def _now(workspace: Workspace, record: AnswerRecord) -> dict[str, str]:
    declared = [name for name in record.publications if name in workspace.namespace_names]
    pointers = {name: read_pointer(workspace.namespace(name).publications) for name in declared}
    return {name: pointer.current for name, pointer in pointers.items() if pointer is not None}


def _changed(
    library: "OpenedLibrary", record: AnswerRecord, now: Mapping[str, str]
) -> Iterator[str]:
    """Yield what has become of the documents that an answer cites; nothing of those as they were.

    Read are those of namespaces that were published again.
    """
    by_namespace: dict[str, list[CitedSource]] = {}
    for source in record.sources:
        if now.get(source.namespace) != record.publications[source.namespace]:
            by_namespace.setdefault(source.namespace, []).append(source)
    cited = _cited_passages(record) if by_namespace else {}
    for name, sources in by_namespace.items():
        if name not in now:
            yield from (f"`{one.doc_uid}` is not published any more" for one in sources)
            continue
        with library.hold(publications={name: now[name]}) as held:
            reader = held.readers[name]
            rows = reader.fetch_documents([one.doc_uid for one in sources]).to_pylist()
            found = {row["doc_uid"]: row for row in rows}
            for source in sources:
                told = _why(source, found.get(source.doc_uid))
                passages = cited.get((name, source.doc_uid), {})
                if told is None and not _same_passages(reader, passages):
                    told = "has other passages than those that were cited"
                if told is not None:
                    yield f"`{source.doc_uid}` {told}"


def _why(source: CitedSource, row: "Mapping[str, object] | None") -> str | None:
    if row is None:
        return "is not published any more"
    if not row["citable"]:
        return "must not be cited any more"
    return None if row["content_hash"] == source.content_hash else "has changed"


def _cited_passages(record: AnswerRecord) -> dict[tuple[str, str], dict[str, str]]:
    """Return the hashes of the passages that are quoted, by document and chunk."""
    from rag_assets.answering.record import answer_from_json

    found: dict[tuple[str, str], dict[str, str]] = {}
    for one in answer_from_json(read_json(record.json, "answer")).statements:
        if one.quote is not None:
            own = found.setdefault((one.quote.namespace, one.quote.doc_uid), {})
            own[one.quote.chunk_id] = one.quote.content_hash
    return found


def _same_passages(reader: "Reader", hashes: Mapping[str, str]) -> bool:
    found = reader.fetch_hits(hashes)
    return all(key in found and found[key].content_hash == hashes[key] for key in hashes)
