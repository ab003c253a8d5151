"""The records of questions that were asked: `meta/query_runs/<query_id>.json` (spec 000 section 3).

A record says what was asked, of what, how, what came back and where the outputs lie. It is the one
place that knows the time.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rag_assets.evidence.pack import EvidencePack, Mode, pack_from_json
from rag_assets.evidence.question import Question, SavedQuestion
from rag_assets.model import DamagedFileError
from rag_assets.settings import RetrieveSettings
from rag_assets.storage import (
    Notify,
    find_json,
    hold_lock,
    match_keys,
    put_json,
    read_json,
    read_pointer,
)
from rag_assets.workspace import Workspace

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


def find_stored(workspace: Workspace, query_id: str, mode: Mode) -> StoredPack | None:
    """Return the pack of a query that was asked before, None where it has none of that mode.

    Raises:
        DamagedFileError: the record or the pack is not what was written.
    """
    record = find_run(workspace, query_id)
    return None if record is None else _open(workspace, record, mode)


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
    wanted = {
        "question": question.question,
        "request": _request(question),
        "publications": current,
    }
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
    shown = {"fusion": ("file", "digest", "usual_questions"), "rerank": ("name", "fingerprint")}
    values = {
        key: {name: one for name, one in value.items() if name not in shown[key]}
        if key in shown and isinstance(value, Mapping)
        else value
        for key, value in applied.items()
    }
    try:
        return RetrieveSettings.model_validate(values)
    except ValidationError:
        return None


def store_run(
    workspace: Workspace,
    saved: SavedQuestion,
    pack: EvidencePack,
    files: Mapping[str, Path],
    seconds: float,
    notify: Notify,
) -> None:
    """Write the record of a query, or add the files of a further mode or page to it.

    Args:
        files: by suffix.
        seconds: that the answer took.
        notify: is told where another process holds the record.
    """
    shown = {s: file.relative_to(workspace.root).as_posix() for s, file in files.items()}
    with hold_lock(workspace.locks / "query_runs.lock", "the records of queries", notify):
        record = find_run(workspace, pack.query_id) or {}
        if not record or (pack.mode == "evidence" and ".json" in files):
            kept = {key: record[key] for key in ("papers", "retired") if key in record}
            record = _record(workspace, saved, pack, seconds) | kept
        place = "outputs" if pack.mode == "evidence" else "papers"
        record[place] = {**_mapping(record.get(place) or {}), **shown}
        put_json(workspace.store, _key(pack.query_id), record)


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
