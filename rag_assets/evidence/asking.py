"""Ask a question, store its pack and its record, replay it later."""

import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from rag_assets.evidence.making import make_pack, query_id_of
from rag_assets.evidence.pack import (
    LAYOUT_VERSION,
    EvidencePack,
    Mode,
    pack_from_json,
    pack_to_json,
    write_pack,
)
from rag_assets.evidence.question import Question, SavedQuestion, list_questions, save_question
from rag_assets.evidence.rendering import render_pack
from rag_assets.model import DamagedFileError, PublicationError, RagError, UsageError
from rag_assets.model.settings import RetrieveSettings
from rag_assets.storage import (
    Notify,
    add_to_version,
    find_json,
    hold_lock,
    is_complete,
    match_keys,
    put_json,
    read_json,
    read_pointer,
    write_version,
)
from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    from rag_assets.retrieval import Asked

# The records of questions that were asked: `meta/query_runs/<query_id>.json` (spec 000 section 3).
#
# A record says what was asked, of what, how, what came back and where the outputs lie. It is the
# one place that knows the time.

_RECORDS = "meta/query_runs/"


@dataclass(frozen=True, slots=True)
class StoredPack:
    """A pack and its files."""

    pack: EvidencePack
    markdown: Path
    json: Path

    @property
    def html(self) -> Path:
        """Where its page with pictures lies, or would lie."""
        return self.markdown.with_suffix(".html")


def query_runs(workspace: Workspace) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield key and record of all questions that were asked, sorted by key.

    Raises:
        DamagedFileError: a record is not what was written.
    """
    for each in match_keys(workspace.store, f"{_RECORDS}*.json"):
        record = find_json(workspace.store, each.key, "query run")
        if record is not None:
            yield each.key, record


def find_run(workspace: Workspace, query_id: str) -> dict[str, Any] | None:
    """Return the record of a query, None where it was not asked here.

    Raises:
        DamagedFileError: the record is not what was written.
    """
    return find_json(workspace.store, _key(query_id), "query run")


def find_last(workspace: Workspace, question: Question) -> StoredPack | None:
    """Return the last evidence pack of the same question, without a search.

    The same: question, namespaces, filters, number of items, settings, publications, and where laws
    were asked their day. Of another
    publication it would be the answer of another library.

    Raises:
        DamagedFileError: a record or the pack is not what was written.
    """
    names = question.namespaces or workspace.namespace_names
    pointers = {name: read_pointer(workspace.namespace(name).publications) for name in names}
    current = {name: found.current for name, found in pointers.items() if found is not None}
    owner = workspace.namespace(next(iter(current))) if len(current) == 1 else workspace
    settings = owner.settings.retrieve
    if question.top_k is not None:
        settings = settings.model_copy(update={"top_k": question.top_k})
    wanted = {"question": question.question, "request": _request(question), "publications": current}
    found = [
        record
        for _, record in query_runs(workspace)
        if {key: record.get(key) for key in wanted} == wanted
        and record.get("as_of") in {None, str(question.as_of)}
        and asked_settings(_mapping(record["settings"])) == settings
    ]
    for record in sorted(found, key=lambda one: str(one["at"]), reverse=True):
        stored = _open(workspace, record, "evidence")
        if stored is not None:
            return stored
    return None


def asked_settings(applied: Mapping[str, Any]) -> RetrieveSettings | None:
    """Return the settings of a search from what a pack or record says was applied.

    Returns:
        None where this version has other settings.
    """
    from pydantic import ValidationError

    # What they stood for when they were applied is said beside them.
    # Earlier versions had more settings, shipped as what is done now.
    shown = {
        "fusion": ("file", "digest", "usual_questions", "score_mode", "normalize"),
        "rerank": ("name", "fingerprint"),
    }
    before = {
        "references": False,
        "rewrite": True,
        "text": {"heading_weight": 0.25, "phrase_boost": 1.0},
    }
    values = {
        key: {name: one for name, one in value.items() if name not in shown[key]}
        if key in shown and isinstance(value, Mapping)
        else value
        for key, value in applied.items()
        if key not in before or value != before[key]
    }
    try:
        return RetrieveSettings.model_validate(values)
    except ValidationError:
        return None


def _key(query_id: str) -> str:
    return f"{_RECORDS}{query_id}.json"


def _open(workspace: Workspace, record: Mapping[str, object], mode: Mode) -> StoredPack | None:
    outputs = _mapping(record.get("outputs" if mode == "evidence" else "papers") or {})
    if not outputs:
        return None
    markdown, data = (workspace.root / outputs[suffix] for suffix in (".md", ".json"))
    if not markdown.is_file() or not data.is_file():
        return None  # a person removed the output: it is made again under a new number
    return StoredPack(read_pack(data), markdown, data)


def read_pack(path: Path) -> EvidencePack:
    """Return the pack of a JSON file.

    Raises:
        DamagedFileError: it is not what was written; names the file.
    """
    try:
        return pack_from_json(read_json(path, "evidence pack"))
    except DamagedFileError as error:
        message = str(error)
        raise DamagedFileError(message if str(path) in message else f"{path}: {message}") from error


def _record(
    workspace: Workspace, saved: SavedQuestion, pack: EvidencePack, seconds: float
) -> dict[str, Any]:
    place = saved.path.absolute()
    inside = place.is_relative_to(workspace.root)
    return {
        "query_id": pack.query_id,
        "question": pack.question,
        "partition": saved.key,
        "question_file": place.relative_to(workspace.root).as_posix() if inside else str(place),
        "q_zh": pack.queries.get("q_zh"),
        "q_en": pack.queries.get("q_en"),
        "request": _request(saved.question),
        "publications": dict(pack.publications),
        "build_ids": dict(pack.build_ids),
        "encoders": {name: dict(models) for name, models in pack.encoders.items()},
        "filters": list(pack.filters),
        "top_k": pack.settings["top_k"],
        "fusion": {"rrf_k": pack.settings["rrf_k"], **pack.settings["fusion"]},
        "rerank": dict(pack.settings["rerank"]),
        "settings": dict(pack.settings),
        "returned": [
            {
                "rank": item.rank,
                "namespace": item.namespace,
                "doc_uid": item.doc_uid,
                "parent_id": item.parent_id,
                "chunk_id": item.chunk_id,
                "score": item.retrieval_score,
            }
            for item in pack.items
        ],
        "locator_quality": dict(pack.locator_quality),
        **({"as_of": pack.as_of} if pack.as_of is not None else {}),
        "outputs": {},
        "seconds": round(seconds, 3),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _request(question: Question) -> dict[str, Any]:
    return {
        "namespaces": list(question.namespaces),
        "filters": list(question.filters),
        "top_k": question.top_k,
        **({"all_versions": True} if question.all_versions else {}),
    }


def _mapping(value: object) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}


# Ask a question: search the current publications and store the evidence pack.


@dataclass(frozen=True, slots=True)
class AskOutcome:
    """A pack and its path. `is_new` is False where the same pack stood there already.

    Args:
        html: its page with pictures, None where nobody asked for it.
        key: partition of the question.
        told: those of the pack's warnings that are of raw/ and the journal as they are now.
    """

    pack: EvidencePack = field(repr=False)
    markdown: Path
    json: Path
    is_new: bool
    key: str
    seconds: float
    html: Path | None = None
    told: tuple[str, ...] = ()


def ask(
    asked: "Asked",
    question: Question | SavedQuestion | str,
    *,
    html: bool = False,
    today: date | None = None,
    notify: Notify = lambda sentence: None,
) -> AskOutcome:
    """Answer a question with an evidence pack and store it under `outputs/`.

    The same question of the same publications, models and settings is the same pack: then
    nothing is written. With mode `papers` the hits of the last pack of the same question are
    grouped by document, without a search; where there is none, one search is made, its pack is
    stored as well, and `notify` is told.

    Args:
        asked: a workspace, or a library that is open already.
        question: typed, or of a file.
        html: also make the page that shows each passage on its page of the source.
        today: the day for which laws are asked where the question names none; without either no
            wording is left out, and none is judged.
        notify: is told what a person should know while it works.

    Raises:
        UsageError: no text, an unknown namespace, or evidence that must not be cited.
        PublicationError: none of the namespaces has a publication.
        DamagedFileError: a quote differs from its source; a stored pack was changed.
    """
    from rag_assets.retrieval import workspace_of

    started = time.monotonic()
    workspace = workspace_of(asked)
    if isinstance(question, str):
        question = Question(question=question)
    known = list_questions(workspace)
    saved = save_question(workspace, question) if isinstance(question, Question) else question
    try:
        now, told = _as_of_now(workspace, saved.question)
        if now.as_of is None:
            now = now.model_copy(update={"as_of": today})
        saved = replace(saved, question=now)
        if saved.question.mode == "papers":
            pack = _grouped(asked, workspace, saved, told, started, notify)
        else:
            pack = make_pack(asked, saved.question, circumstances=told)
        stored, is_new = _store(workspace, saved, pack, started, notify)
    except RagError:
        # What was refused now is not to be answered by a sensor later.
        if saved.path not in known:
            saved.path.unlink(missing_ok=True)
        raise
    page = _add_page(workspace, saved, stored, started, notify) if html else None
    return AskOutcome(
        stored.pack,
        stored.markdown,
        stored.json,
        is_new,
        saved.key,
        time.monotonic() - started,
        page or (stored.html if stored.html.is_file() else None),
        told,
    )


def _as_of_now(workspace: Workspace, question: Question) -> tuple[Question, tuple[str, ...]]:
    """Return the question without what must not be cited any more, and what its pack has to say.

    The publication knows neither; the pack records both.
    """
    from rag_assets.publishing import look_since_publication

    filters, told = list(question.filters), list[str]()
    for name in question.namespaces or workspace.namespace_names:
        since = look_since_publication(workspace.namespace(name))
        told += [since.outdated] if since.outdated else []
        told += [f"{why}; it was left out." for why in since.not_citable.values()]
        filters += [f"doc_uid!={name}:{uid}" for uid in sorted(since.not_citable)]
    return question.model_copy(update={"filters": tuple(filters)}), tuple(told)


def _grouped(
    asked: "Asked",
    workspace: Workspace,
    saved: SavedQuestion,
    told: tuple[str, ...],
    started: float,
    notify: Notify,
) -> EvidencePack:
    """Return the hits of the last evidence pack of a question, to be grouped by document."""
    last = find_last(workspace, saved.question)
    if last is not None:
        notify(f"grouped by document: the hits of {last.markdown.name}; nothing was searched.")
        return replace(last.pack, mode="papers")
    listing = replace(saved, question=saved.question.model_copy(update={"mode": "evidence"}))
    pack = make_pack(asked, listing.question, circumstances=told)
    stored, _ = _store(workspace, listing, pack, started, notify)
    notify(
        "this question was not asked yet of what is published now: one search was made, its "
        f"passages are in {stored.markdown.name}; here they are grouped by document."
    )
    return replace(stored.pack, mode="papers")


def _store(
    workspace: Workspace, saved: SavedQuestion, pack: EvidencePack, started: float, notify: Notify
) -> tuple[StoredPack, bool]:
    """Return the stored pack, and whether it was written now."""
    record = find_run(workspace, pack.query_id)
    stored = None if record is None else _open(workspace, record, pack.mode)
    if stored is not None and stored.pack.circumstances == pack.circumstances:
        return stored, False
    shown = "papers of question" if pack.mode == "papers" else "question"
    written = write_version(
        workspace.outputs,
        "evidence_pack",
        {".md": render_pack(pack), ".json": write_pack(pack)},
        workspace.meta / "version_log.jsonl",
        _outputs_lock(workspace),
        f"{shown} '{saved.question.question}' ({saved.key})",
        notify,
    )
    _note_run(workspace, saved, pack, written.files, started, notify)
    return StoredPack(pack, written.files[".md"], written.files[".json"]), True


def _add_page(
    workspace: Workspace, saved: SavedQuestion, stored: StoredPack, started: float, notify: Notify
) -> Path:
    """Return the page of a stored pack, made now where it is not there."""
    if stored.html.is_file():
        return stored.html
    from rag_assets.evidence.rendering import render_page

    add_to_version(
        stored.html,
        render_page(workspace, stored.pack),
        workspace.meta / "version_log.jsonl",
        _outputs_lock(workspace),
        f"page of question '{saved.question.question}' ({saved.key})",
        notify,
    )
    _note_run(workspace, saved, stored.pack, {".html": stored.html}, started, notify)
    return stored.html


def _note_run(
    workspace: Workspace,
    saved: SavedQuestion,
    pack: EvidencePack,
    files: Mapping[str, Path],
    started: float,
    notify: Notify,
) -> None:
    shown = {s: file.relative_to(workspace.root).as_posix() for s, file in files.items()}
    with hold_lock(workspace.locks / "query_runs.lock", "the records of queries", notify):
        record = find_run(workspace, pack.query_id) or {}
        if not record or (pack.mode == "evidence" and ".json" in files):
            kept = {key: record[key] for key in ("papers", "retired") if key in record}
            record = _record(workspace, saved, pack, time.monotonic() - started) | kept
        place = "outputs" if pack.mode == "evidence" else "papers"
        record[place] = {**_mapping(record.get(place) or {}), **shown}
        put_json(workspace.store, _key(pack.query_id), record)


def _outputs_lock(workspace: Workspace) -> Path:
    return workspace.locks / "outputs.lock"


# What commands made of questions and nobody has told Dagster of yet: its import takes seconds.
#
# `rag query` and `rag ask` leave a note; the next run and the sensors of `rag ui`
# make materializations of them.

_NOTES = "meta/unrecorded/"

_log = logging.getLogger(__name__)
_Outcome = TypeVar("_Outcome")


def note_pack(workspace: Workspace, outcome: AskOutcome) -> None:
    """Leave a note of a pack. One of the same question takes the place of that before."""
    said = {
        "json": str(outcome.json.relative_to(workspace.root)),
        "html": str(outcome.html.relative_to(workspace.root)) if outcome.html else None,
        "is_new": outcome.is_new,
        "key": outcome.key,
        "seconds": outcome.seconds,
    }
    put_json(workspace.store, f"{_NOTES}{outcome.key}.json", said)


def noted_packs(workspace: Workspace) -> Iterator[AskOutcome]:
    """Yield the packs of which there are notes, as `take_notes`."""
    return take_notes(workspace, _NOTES, "a pack", _read)


def take_notes(
    workspace: Workspace,
    notes: str,
    what: str,
    read: Callable[[Workspace, Mapping[str, Any]], _Outcome | None],
) -> Iterator[_Outcome]:
    """Yield what commands have made and noted; a note is taken away once its output was used.

    One whose output is gone from `outputs/` is taken away too; one that is damaged likewise, and
    told in the log: the output itself is there for whoever looks for it.

    Args:
        notes: what the keys of the notes begin with.
        what: names an output for a reader.
        read: returns the output of a note; None where it is gone.
    """
    store = workspace.store
    for key in [each.key for each in match_keys(store, f"{notes}*.json")]:
        outcome = None
        try:
            said = find_json(store, key, f"note of {what}")
            if said is not None:  # else another process was faster
                outcome = read(workspace, said)
        except (DamagedFileError, KeyError) as error:
            _log.warning(
                "%s: %s is not shown in Dagster's history (%s)", store.place(key), what, error
            )
        if outcome is not None:
            yield outcome
        store.delete(key)


def _read(workspace: Workspace, said: Mapping[str, Any]) -> AskOutcome | None:
    stored = workspace.root / said["json"]
    if not stored.is_file():
        return None
    return AskOutcome(
        pack_from_json(read_json(stored, "evidence pack")),
        stored.with_suffix(".md"),
        stored,
        said["is_new"],
        said["key"],
        said["seconds"],
        workspace.root / said["html"] if said["html"] else None,
    )


# Packs outlive the publications that they were made from, and then say so.


def mark_retired(workspace: Workspace, namespace: str, publications: tuple[str, ...]) -> int:
    """Note in every query run that its publication was retired. Returns how many were marked."""
    marked = 0
    for key, record in query_runs(workspace) if publications else ():
        if record["publications"].get(namespace) in publications:
            record.setdefault("retired", {})[namespace] = datetime.now(UTC).isoformat(
                timespec="seconds"
            )
            put_json(workspace.store, key, record)
            marked += 1
    return marked


def packs_without_publication(workspace: Workspace) -> Iterator[str]:
    """Yield a sentence for every pack whose publication is gone without a word."""
    for key, record in query_runs(workspace):
        for namespace, publication in record["publications"].items():
            stands = is_complete(workspace.root / "index" / namespace, publication)
            if not stands and namespace not in record.get("retired", {}):
                yield (
                    f"{key.rpartition('/')[2]} ({record['outputs']['.md']}): publication "
                    f"{namespace}/{publication} is gone and was never retired"
                )


# Make a pack again from its own publication, and say where it differs.

_SHOWN_CHARACTERS = 120


@dataclass(frozen=True, slots=True)
class Replay:
    """What came of making a pack again.

    Args:
        pack: name of its JSON file.
        publications: that were asked, `namespace/publication`.
        differences: sentences, each naming a field or line with both values; empty where
            Markdown and JSON are the same byte for byte.
    """

    pack: str
    publications: tuple[str, ...]
    differences: tuple[str, ...]

    @property
    def is_same(self) -> bool:
        """Whether every byte is the same."""
        return not self.differences


def replay(workspace: Workspace, path: Path) -> Replay:
    """Make a pack again from the publication, settings and wordings that it names.

    The settings of today do not matter, nor does a language model: it is not asked again. Nothing
    is written.

    Args:
        workspace: that holds the publication.
        path: of the pack: its Markdown, JSON or HTML; the other files stand beside it.

    Raises:
        UsageError: no such pack; its settings are none that this version knows; its namespace or
            embedding model is gone.
        PublicationError: its publication was retired.
        DamagedFileError: it is not a pack, or a parse that it quotes is gone.
    """
    data, markdown = pack_files(path)
    loaded = read_json(data, "evidence pack")
    pack = pack_from_json(loaded)
    _require_publications(workspace, pack, data)
    settings = asked_settings(pack.settings)
    if settings is None:
        raise UsageError(
            f"{data.name}: its search settings are none that this version of rag-assets knows. "
            "Replay it with the version that its build ids name: "
            f"{', '.join(pack.build_ids.values())}."
        )
    question = Question(
        question=pack.question,
        namespaces=pack.request.namespaces,
        top_k=pack.request.top_k,
        filters=pack.request.filters,
        mode=pack.mode,
        as_of=date.fromisoformat(pack.as_of) if pack.as_of is not None else None,
        all_versions=pack.all_versions,
    )
    made = make_pack(
        workspace,
        question,
        publications=pack.publications,
        settings=settings,
        wordings=pack.queries,
        circumstances=pack.circumstances,
    )
    return Replay(
        data.name,
        tuple(f"{name}/{publication}" for name, publication in pack.publications.items()),
        tuple(_differences(data, markdown, loaded, pack, made)),
    )


def pack_files(path: Path) -> tuple[Path, Path]:
    """Return the JSON and the Markdown file of a pack that is named by one of its files.

    Raises:
        UsageError: there is no JSON file of that name.
    """
    data = path.with_suffix(".json")
    if not data.is_file():
        raise UsageError(
            f"{path}: there is no evidence pack ({data.name} is missing). Name one of "
            "outputs/, for instance outputs/evidence_pack_v001.md."
        )
    return data, path.with_suffix(".md")


def _require_publications(workspace: Workspace, pack: EvidencePack, data: Path) -> None:
    retired = (find_run(workspace, pack.query_id) or {}).get("retired", {})
    for name, publication in pack.publications.items():
        if name not in workspace.namespace_names:
            raise UsageError(f"{data.name}: this workspace has no namespace '{name}' any more.")
        if not is_complete(workspace.namespace(name).publications, publication):
            when = f" on {retired[name]}" if name in retired else ""
            raise PublicationError(
                f"{data.name}: its publication {name}/{publication} was retired{when}. The pack "
                "itself can be read without it; it cannot be made again. Ask the question "
                "again."
            )


def _differences(
    data: Path, markdown: Path, loaded: Mapping[str, Any], pack: EvidencePack, made: EvidencePack
) -> Iterator[str]:
    stored_text = data.read_bytes().decode("utf-8")
    belongs = query_id_of(
        pack.question, pack.queries, pack.filters, pack.publications, pack.encoders, pack.settings
    )
    if pack.query_id != belongs:
        yield (
            f"{data.name}: query_id {pack.query_id} does not belong to its question, filters, "
            f"publications, models and settings (that would be {belongs}): the file was edited by "
            "hand, or another version of rag-assets made it"
        )
    # How the Markdown is laid out does not belong to what was found.
    made = replace(made, layout=pack.layout)
    fields = list(compare(loaded, json.loads(json.dumps(pack_to_json(made)))))
    yield from (f"{data.name}: {sentence}" for sentence in fields)
    if not fields and stored_text != write_pack(made):
        yield f"{data.name}: the values are the same, the file was written otherwise (white space)"
    if not markdown.is_file():
        yield f"{markdown.name} is missing"
        return
    if pack.layout != LAYOUT_VERSION:
        yield (
            f"{markdown.name} is laid out by another version of rag-assets (layout {pack.layout}; "
            f"this one writes {LAYOUT_VERSION}): it cannot be compared. {data.name} "
            + ("differs too" if fields else "holds the same")
        )
        return
    shown = markdown.read_bytes().decode("utf-8", "replace")
    if shown != render_pack(pack):
        yield f"{markdown.name} was edited by hand: {first_difference(shown, render_pack(pack))}"


def first_difference(stored: str, made: str) -> str:
    """Say which line of two texts differs first, with both."""
    pairs = zip_longest(stored.splitlines(), made.splitlines(), fillvalue="")
    for number, (one, other) in enumerate(pairs, start=1):
        if one != other:
            return f"line {number} {_both(one, other)}"
    return "its line ends or its last line differ"


def compare(stored: Any, made: Any, place: str = "") -> Iterator[str]:
    """Yield a sentence for every field whose value differs, named as `items[2].exact_quote`.

    Args:
        stored: values of JSON.
        made: what they should be.
        place: of both, in what was compared first.
    """
    if isinstance(stored, Mapping) and isinstance(made, Mapping):
        for key in dict.fromkeys((*made, *stored)):
            below = f"{place}.{key}" if place else str(key)
            if key not in stored:
                yield f"{below} is missing, made again it is {_shown(made[key])}"
            elif key not in made:
                yield f"{below} is {_shown(stored[key])}, made again there is none"
            else:
                yield from compare(stored[key], made[key], below)
    elif isinstance(stored, list) and isinstance(made, list):
        for index, (one, other) in enumerate(zip(stored, made, strict=False)):
            yield from compare(one, other, f"{place}[{index}]")
        if len(stored) != len(made):
            yield f"{place} has {len(stored)} entries, made again it has {len(made)}"
    elif stored != made or type(stored) is not type(made):
        yield f"{place} {_both(stored, made)}"


def _both(stored: Any, made: Any) -> str:
    """Return both values; of long texts what stands around the first difference."""
    if isinstance(stored, str) and isinstance(made, str):
        pairs = enumerate(zip(stored, made, strict=False))
        same = next((place for place, (one, other) in pairs if one != other), 0)
        start = max(0, same - _SHOWN_CHARACTERS // 2)
        if start:
            stored, made = f"…{stored[start:]}", f"…{made[start:]}"
    return f"is {_shown(stored)}, made again it is {_shown(made)}"


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
