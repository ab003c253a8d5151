"""Ask a question: search the current publications and store the evidence pack."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from rag_assets.evidence.making import make_pack
from rag_assets.evidence.pack import EvidencePack, write_pack
from rag_assets.evidence.query_runs import StoredPack, find_last, find_stored, store_run
from rag_assets.evidence.question import Question, SavedQuestion, list_questions, save_question
from rag_assets.evidence.rendering import render_pack
from rag_assets.model import RagError
from rag_assets.storage import add_to_version, write_version
from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    from rag_assets.retrieval import Asked

Notify = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class AskOutcome:
    """A pack and where it lies. `is_new` is False where the same pack stood there already.

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
        DamagedFileError: a quote is not what stands in its source; a stored pack was changed.
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
    workspace: Workspace,
    saved: SavedQuestion,
    pack: EvidencePack,
    started: float,
    notify: Notify,
) -> tuple[StoredPack, bool]:
    """Return the stored pack, and whether it was written now."""
    stored = find_stored(workspace, pack.query_id, pack.mode)
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
    _record(workspace, saved, pack, written.files, started, notify)
    return StoredPack(pack, written.files[".md"], written.files[".json"]), True


def _add_page(
    workspace: Workspace, saved: SavedQuestion, stored: StoredPack, started: float, notify: Notify
) -> Path:
    """Return the page of a stored pack, made now where it is not there."""
    if stored.html.is_file():
        return stored.html
    from rag_assets.evidence.page import render_page

    add_to_version(
        stored.html,
        render_page(workspace, stored.pack),
        workspace.meta / "version_log.jsonl",
        _outputs_lock(workspace),
        f"page of question '{saved.question.question}' ({saved.key})",
        notify,
    )
    _record(workspace, saved, stored.pack, {".html": stored.html}, started, notify)
    return stored.html


def _record(
    workspace: Workspace,
    saved: SavedQuestion,
    pack: EvidencePack,
    files: Mapping[str, Path],
    started: float,
    notify: Notify,
) -> None:
    store_run(workspace, saved, pack, files, time.monotonic() - started, notify)


def _outputs_lock(workspace: Workspace) -> Path:
    return workspace.locks / "outputs.lock"
