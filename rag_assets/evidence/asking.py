"""Ask a question: search the current publications and make the evidence pack."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_assets.chunking import split_sentences
from rag_assets.evidence.locating import anchor_words, first_words, locate
from rag_assets.evidence.pack import EvidenceItem, EvidencePack, pack_from_json, pack_to_json
from rag_assets.evidence.question import Question, SavedQuestion, save_question
from rag_assets.evidence.rendering import render_pack
from rag_assets.evidence.wording import content_stems
from rag_assets.model import UsageError, hash_fields
from rag_assets.storage import (
    read_json,
    write_text,
    write_version,
)
from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    from rag_assets.llm import ChatModel
    from rag_assets.retrieval import ParentHit, Retrieved

# Counts as code: raise it when the same publications answer otherwise.
ASKING_VERSION = 2
# Spec 000 recommends quotes of at most so many words.
QUOTE_WORDS = 60
_STOPS = (".", "!", "?", "。", "！", "？", ";", "；")
_CLOSING = "\"'”’」』)）] "

Notify = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class AskOutcome:
    """A pack and where it lies. `is_new` is False where the same pack stood there already."""

    pack: EvidencePack
    markdown: Path
    json: Path
    is_new: bool
    key: str
    seconds: float


def ask(
    workspace: Workspace,
    question: Question | SavedQuestion | str,
    *,
    notify: Notify = lambda sentence: None,
) -> AskOutcome:
    """Answer a question with an evidence pack and store it under `outputs/`.

    The same question of the same publications, models and settings is the same pack: then
    nothing is written.

    Raises:
        UsageError: no text, an unknown namespace, or evidence that must not be cited.
        PublicationError: none of the namespaces has a publication.
    """
    started = time.monotonic()
    if isinstance(question, str):
        question = Question(question=question)
    saved = save_question(workspace, question) if isinstance(question, Question) else question
    pack = make_pack(workspace, saved.question)
    run_file = workspace.meta / "query_runs" / f"{pack.query_id}.json"
    stored = _stored(workspace, run_file)
    if stored is not None:
        markdown, data, pack = stored
        return AskOutcome(pack, markdown, data, False, saved.key, time.monotonic() - started)
    written = write_version(
        workspace.outputs,
        "evidence_pack",
        {
            ".md": render_pack(pack),
            ".json": json.dumps(pack_to_json(pack), indent=1, ensure_ascii=False) + "\n",
        },
        workspace.meta / "version_log.jsonl",
        workspace.locks / "outputs.lock",
        f"question '{saved.question.question}' ({saved.key})",
        notify,
    )
    seconds = time.monotonic() - started
    write_text(
        run_file,
        json.dumps(
            _run_record(workspace, saved, pack, written.files, seconds),
            indent=1,
            ensure_ascii=False,
        ),
    )
    return AskOutcome(pack, written.files[".md"], written.files[".json"], True, saved.key, seconds)


def make_pack(workspace: Workspace, question: Question) -> EvidencePack:
    """Search and build the pack; nothing is stored.

    Raises:
        UsageError, PublicationError: as `ask`.
        LanguageModelError: the settings name a language model that does not answer.
    """
    from rag_assets.retrieval import Retriever, SearchFilters

    filters = SearchFilters(citable_only=True)
    for text in question.filters:
        filters = filters.with_filter(text)
    with Retriever(workspace, question.namespaces, llm=_chat_model(workspace)) as retriever:
        found = retriever.retrieve(question.question, top_k=question.top_k, filters=filters)
    items = tuple(_item(parent, question.question, found) for parent in found.parents)
    publications = {name: manifest["publication"] for name, manifest in found.manifests.items()}
    encoders = {
        name: {model["model"]: model["fingerprint"] for model in manifest["embedders"]}
        for name, manifest in found.manifests.items()
    }
    warnings = list(found.warnings)
    if not items:
        warnings.append("nothing citable was found: try other words, or `rag documents`.")
    if any(item.locator_quality == "char_anchor" for item in items):
        warnings.append(
            "some items have no page: they are located by characters and by their "
            "first and last words."
        )
    asked = (question.question, dict(found.query.texts), list(found.filters))
    return EvidencePack(
        hash_fields(ASKING_VERSION, asked, publications, encoders, found.settings)[:16],
        question.question,
        dict(found.query.texts),
        publications,
        {name: _build_id(manifest) for name, manifest in found.manifests.items()},
        encoders,
        found.filters,
        found.settings,
        items,
        tuple(warnings),
    )


def _chat_model(workspace: Workspace) -> "ChatModel | None":
    if workspace.settings.llm.kind == "none":
        return None  # and nothing of it is imported
    from rag_assets.llm import open_chat_model

    return open_chat_model(workspace)


def _item(hit: "ParentHit", question: str, found: "Retrieved") -> EvidenceItem:
    best, parent = hit.best, hit.parent
    if not best.citable or not best.doc_uid or not best.parent_id:
        sources = ", ".join(
            sorted({f"{one.best.doc_uid} ({one.best.source_type})" for one in found.parents})
        )
        raise UsageError(
            f"the search returned {best.chunk_key}, which must not be cited. No pack was made. "
            f"Applied filters: {'; '.join(found.filters)}. Returned sources: {sources}. Run "
            "`rag index` and ask again; if it stays, the publication is wrong: please report it."
        )
    start, end = _quote_span(best.text, question)
    quote = best.text[start:end]
    char_start, char_end = best.char_start + start, best.char_start + end
    locator = locate(best.page_start, best.page_end, char_start, char_end, best.section_path)
    if locator is None:
        raise UsageError(
            f"{best.chunk_key} has neither page nor characters to point at. No pack was made. Run "
            "`rag ingest` again; if it stays, please report it."
        )
    begin_words, end_words = anchor_words(quote)
    return EvidenceItem(
        hit.rank, best.namespace, best.doc_uid, best.doc_title, best.citation_key,
        best.source_type, best.citable, best.score, dict(best.ranks), dict(best.scores),
        best.parent_id, best.chunk_id, best.section_path, best.page_start, best.page_end,
        char_start, char_end, begin_words, end_words, locator.text, locator.quality,
        best.text, quote, parent.text, best.content_hash, parent.hash, best.citation_id,
        dict(best.explanation), hit.other_chunk_ids,
    )  # fmt: skip


def _quote_span(text: str, question: str) -> tuple[int, int]:
    """Return the sentence that shares most with the question, at most QUOTE_WORDS words of it."""
    asked = content_stems(question)
    spans = split_sentences(text) or [(0, len(text))]
    # A heading shares words with every question about its section, but says nothing.
    whole = [span for span in spans if text[: span[1]].rstrip(_CLOSING).endswith(_STOPS)]
    # Nor does a question answer one, as that of a pair of question and answer.
    whole = [s for s in whole if not text[: s[1]].rstrip(_CLOSING).endswith(("?", "？"))] or whole
    start, end = max(
        whole or spans,
        key=lambda span: (len(asked & content_stems(text[span[0] : span[1]])), -span[0]),
    )
    return start, start + len(first_words(text[start:end], QUOTE_WORDS))


def _build_id(manifest: Mapping[str, Any]) -> str:
    created = datetime.fromtimestamp(manifest["created_at"], UTC).strftime("%Y%m%dT%H%M%SZ")
    return f"{created}-{manifest['publication']}-{manifest['tool_version']}"


def _stored(workspace: Workspace, run_file: Path) -> tuple[Path, Path, EvidencePack] | None:
    if not run_file.is_file():
        return None
    outputs: Any = read_json(run_file, "query run")["outputs"]
    markdown, data = (workspace.root / outputs[suffix] for suffix in (".md", ".json"))
    if not markdown.is_file() or not data.is_file():
        return None  # a person removed the output: make it again under a new number
    return markdown, data, pack_from_json(read_json(data, "evidence pack"))


def _run_record(
    workspace: Workspace,
    saved: SavedQuestion,
    pack: EvidencePack,
    files: Mapping[str, Path],
    seconds: float,
) -> dict[str, Any]:
    """Return what `meta/query_runs/<query_id>.json` keeps (spec 000 section 3)."""
    return {
        "query_id": pack.query_id,
        "partition": saved.key,
        "question_file": saved.path.absolute().relative_to(workspace.root).as_posix()
        if saved.path.absolute().is_relative_to(workspace.root)
        else str(saved.path),
        "q_zh": pack.queries.get("q_zh"),
        "q_en": pack.queries.get("q_en"),
        "publications": dict(pack.publications),
        "build_ids": dict(pack.build_ids),
        "filters": list(pack.filters),
        "settings": dict(pack.settings),
        "returned": [
            {"doc_uid": i.doc_uid, "parent_id": i.parent_id, "score": i.retrieval_score}
            for i in pack.items
        ],
        "outputs": {s: path.relative_to(workspace.root).as_posix() for s, path in files.items()},
        "seconds": round(seconds, 3),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
