"""Audit a draft of the workspace and store the audit under `outputs/audits/`."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rag_assets.auditing.drafts.draft import Draft, parse_draft, read_draft
from rag_assets.auditing.encoders import Encoder
from rag_assets.auditing.published import PublishedLibrary
from rag_assets.auditing.record import CitationAudit, from_json, to_json
from rag_assets.auditing.report import render_markdown
from rag_assets.auditing.verdict_store import open_verdicts
from rag_assets.auditing.verification import verify_citations
from rag_assets.evidence import partition_key
from rag_assets.judging import Scorer, load_scorer, open_verifying_model
from rag_assets.model import Progress, PublicationError, UsageError
from rag_assets.storage import current_folder, find_versions, read_json, write_version
from rag_assets.workspace import Workspace
from rag_assets.workspace.settings import VerifySettings

DRAFT_SUFFIXES = (".md", ".markdown", ".txt", ".docx")


@dataclass(frozen=True, slots=True)
class AuditOutcome:
    """An audit and where it lies.

    Args:
        is_new: False where the same audit stood there already.
        judged: judgements made now; the others were kept from before.
    """

    audit: CitationAudit = field(repr=False)
    markdown: Path
    json: Path
    html: Path
    is_new: bool
    key: str
    seconds: float
    judged: int


def audit_citations(
    workspace: Workspace,
    draft_path: Path,
    *,
    namespaces: Sequence[str] = (),
    notify: Callable[[str], None] = lambda sentence: None,
    on_progress: Progress | None = None,
) -> AuditOutcome:
    """Verify the citations of a draft and store the audit as `<draft>_citations_v###`.

    Sentences that were judged before against the same text are not judged again, in whatever
    draft they stood. The same draft with the same verdicts is the same audit: then nothing is
    written, even if files that it does not cite have changed the publication's name.

    Args:
        namespaces: in place of those that the draft's front matter names.

    Raises:
        UsageError: the draft cannot be read, or its front matter is wrong.
        PublicationError: nothing is published.
    """
    # Imported here: the templates of the page cost time that no other command needs.
    from rag_assets.auditing.pages.citations import render_citation_html

    started = time.monotonic()
    draft = read_draft(draft_path, namespaces)
    audit = _verify(workspace, draft, notify, on_progress)
    key = draft_key(draft_path)
    kept = keep_audit(
        workspace, citations_stem(workspace, draft_path), audit.audit_id,
        f"citations of {draft.name} ({key})",
        lambda: {
            ".md": render_markdown(audit),
            ".html": render_citation_html(draft, audit),
            ".json": json.dumps(to_json(audit), indent=1, ensure_ascii=False) + "\n",
        },
        notify,
    )  # fmt: skip
    files = kept.files
    return AuditOutcome(
        audit if kept.is_new else from_json(read_json(files[".json"], "citation audit")),
        files[".md"], files[".json"], files[".html"], kept.is_new, key,
        time.monotonic() - started, audit.judged_now,
    )  # fmt: skip


def audit_sentence(
    workspace: Workspace,
    sentence: str,
    cited: str,
    *,
    notify: Callable[[str], None] = lambda sentence: None,
    on_progress: Progress | None = None,
) -> CitationAudit:
    """Judge one sentence against one document, as if a draft cited it so; no audit is stored.

    Args:
        cited: uid of the document, `namespace:uid` where several namespaces have it.

    Raises:
        UsageError: the sentence has no text.
        PublicationError: nothing is published.
    """
    draft = parse_draft("sentence.md", f"{sentence.strip()} {{#{cited}}}\n".encode())
    return _verify(workspace, draft, notify, on_progress)


def _verify(
    workspace: Workspace,
    draft: Draft,
    notify: Callable[[str], None],
    on_progress: Progress | None,
) -> CitationAudit:
    with PublishedLibrary(workspace) as library:
        if not library.publications:
            raise PublicationError(
                f"nothing is published in {workspace.root}. Run `rag ingest` first."
            )
        store = open_verdicts(workspace)
        audit = verify_citations(
            draft, library, library.encoders(), workspace.settings.verify, store=store,
            make_scorer=scorer_maker(workspace), on_progress=on_progress,
        )  # fmt: skip
        store.save(notify)
    return audit


@dataclass(frozen=True, slots=True)
class KeptAudit:
    """The files of an audit by suffix; `is_new` is False where they stood there already."""

    files: Mapping[str, Path]
    is_new: bool


def keep_audit(
    workspace: Workspace,
    stem: str,
    audit_id: str,
    about: str,
    render: Callable[[], dict[str, str]],
    notify: Callable[[str], None],
) -> KeptAudit:
    """Store an audit as the next version of its name, unless the same one lies there.

    Args:
        stem: of its files, without version and suffix.
        about: what the log of versions says of it.
        render: makes the files by suffix; `.json` holds `audit_id`.
    """
    folder = workspace.outputs / "audits"
    for _, path in reversed(find_versions(folder, stem, ".json")):
        files = {suffix: path.with_suffix(suffix) for suffix in (".md", ".html", ".json")}
        if not all(file.is_file() for file in files.values()):
            continue
        stored: Any = read_json(path, "audit")
        if stored.get("audit_id") == audit_id:
            return KeptAudit(files, False)
    written = write_version(
        folder, stem, render(), workspace.meta / "version_log.jsonl",
        workspace.locks / "outputs.lock", about, notify,
    )  # fmt: skip
    return KeptAudit(written.files, True)


def scorer_maker(workspace: Workspace) -> Callable[[VerifySettings, Encoder], Scorer]:
    """Return what makes the scorer of a workspace from its settings and an embedding model."""
    chat = open_verifying_model(workspace)
    if chat is None:
        return load_scorer
    return lambda verify, encoder: load_scorer(verify, encoder, chat)


def draft_key(path: Path) -> str:
    """Return the partition key of a draft's present content: `<slug>-<hash12>`."""
    return partition_key(path.stem, path.read_bytes())


def check_draft(workspace: Workspace, path: Path, namespaces: Sequence[str] = ()) -> None:
    """Look whether a draft can be audited, without auditing it.

    Args:
        namespaces: in place of those that its front matter names, where any are given.

    Raises:
        UsageError: it cannot be read, its front matter is wrong or names an unknown namespace.
        PublicationError: a namespace that it names is not published.
    """
    for name in read_draft(path, namespaces).namespaces:
        current_folder(workspace.namespace(name).publications, name)


def list_drafts(workspace: Workspace) -> list[Path]:
    """Return the drafts of a workspace, sorted."""
    if not workspace.drafts.is_dir():
        return []
    return sorted(
        path
        for path in workspace.drafts.rglob("*")
        if path.is_file()
        and path.suffix in DRAFT_SUFFIXES
        and not path.name.startswith("~$")
        # Of a crash, an editor or another system, or in a folder of a program's own.
        and not any(part.startswith(".") for part in path.relative_to(workspace.drafts).parts)
    )


def find_drafts(workspace: Workspace, key: str) -> list[Path]:
    """Return the drafts whose present content has this partition key, sorted.

    There are several where equal copies of one name lie in several folders.

    Raises:
        UsageError: no draft has it: it was edited or removed since.
    """
    found = [path for path in list_drafts(workspace) if draft_key(path) == key]
    if found:
        return found
    others = [path for path in workspace.drafts.rglob("*") if path.is_file()]
    for path in others:
        if draft_key(path) == key:
            raise UsageError(
                f"{path.name} is no draft: in drafts/ these are {', '.join(DRAFT_SUFFIXES)}. Save "
                "it as one of them, or move it out of drafts/ to have it read as Markdown."
            )
    raise UsageError(
        f"no draft in {workspace.drafts} has the content of '{key}' any more: it was edited or "
        "removed. Audit the present revision: `rag verify-citations DRAFT`."
    )


def citations_stem(workspace: Workspace, draft: Path) -> str:
    """Return how the citation audits of a draft are called, without version and suffix."""
    return f"{workspace.draft_stem(draft)}_citations"
