"""Whether what stored answers keep is still true of what they cite, and of what is published now.

Both look at the newest answer to each question of `queries/`, and anew only at what has changed.
"""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_assets.answering.saved import AnswerRecord, CitedSource, answer_records
from rag_assets.model import RagError, hash_bytes, hash_fields
from rag_assets.storage import find_json, is_complete, put_json, read_json, read_pointer
from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    from rag_assets.agents import CheckedStatement
    from rag_assets.agents.statements import StatementJudge
    from rag_assets.answering.record import Answer
    from rag_assets.retrieval import OpenedLibrary, Reader

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
        from rag_assets.answering.record import answer_from_json
        from rag_assets.answering.sound import require_sound

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
        from rag_assets.agents.statements import check_sentences

        kept = [(one.number, one.text, one.citations) for one in answer.statements]
        checked = check_sentences(
            kept, answer.trace.passages, self._judge(answer), is_quoted=answer.is_quoted
        )
        for one in checked:
            if not one.is_supported:
                yield f"statement {one.number}, “{one.text}”, is kept: {one.reason}"

    def _judge(self, answer: "Answer") -> "StatementJudge":
        from rag_assets.agents.statements import RecordedJudge, ScorerJudge, VerbatimJudge
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
            yield _missing(one, f"other words stand there in {quote.namespace}/{reader.name}")


def _missing(one: "CheckedStatement", why: str) -> str:
    quote = one.quote
    place = "" if quote is None else f"{quote.chunk_id}, characters {quote.char_start}"
    return f"statement {one.number}, “{one.text}”: its quote does not stand at {place}: {why}."


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

    Read are those of namespaces that were published anew.
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
