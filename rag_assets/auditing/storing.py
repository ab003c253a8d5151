"""Audit drafts of the workspace and store the audits under `outputs/audits/`."""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, Generic

from rag_assets.auditing.claims import (
    ClaimAudit,
    CounterMode,
    PublishedIndex,
    Searcher,
    make_claim_audit,
    open_searches,
)
from rag_assets.auditing.draft import (
    LATEX_SUFFIXES,
    Draft,
    draft_bytes,
    files_of,
    parse_draft,
    place_in,
    read_draft,
)
from rag_assets.auditing.judgements import judgements_of
from rag_assets.auditing.latex_source import included_files
from rag_assets.auditing.library import (
    FaultyCitation,
    Library,
    References,
    resolve_citation,
)
from rag_assets.auditing.published import PublishedLibrary, open_published
from rag_assets.auditing.record import CitationAudit, Found, audit_from_json, audit_to_json
from rag_assets.auditing.report import render_claims, render_markdown
from rag_assets.auditing.verification import open_verdicts, verify_citations
from rag_assets.evidence import chat_model_of, partition_key
from rag_assets.evidence.bibliography import ExportedSources, export_references
from rag_assets.judging import Scorer, TextEncoder, load_scorer, open_verifying_model
from rag_assets.model import Progress, PublicationError, UsageError, hash_bytes
from rag_assets.model.settings import AuditSettings, VerifySettings
from rag_assets.retrieval import Asked, Retriever, open_library, workspace_of
from rag_assets.storage import Notify, current_folder, find_versions, read_json, write_version
from rag_assets.workspace import Workspace

# Audit a draft of the workspace and store the audit under `outputs/audits/`.

DRAFT_SUFFIXES = (".md", ".markdown", ".txt", ".docx", ".odt", ".rtf", ".tex")


@dataclass(frozen=True, slots=True)
class AuditKind(Generic[Found]):
    """One kind of audit: what it is called, and how it is shown.

    Args:
        record: the audit's type.
        name: in the names of its files, `<draft>_<name>_v###`.
        asset: that makes it by a run; `make` without one.
        render: as Markdown; `page` as one HTML file.
    """

    record: type[Found]
    name: str
    asset: str
    make: Callable[..., "AuditOutcome[Found]"]
    render: Callable[[Found], str]
    page: Callable[[Draft, Found], str]

    def stem(self, workspace: Workspace, draft: Path) -> str:
        """Return how the audits of a draft are called, without version and suffix."""
        return f"{workspace.draft_stem(draft)}_{self.name}"

    def read(self, path: Path) -> Found:
        """Return the audit that a JSON file holds.

        Raises:
            UsageError: it is of another schema, or not what was written.
            DamagedFileError: it cannot be read.
        """
        return audit_from_json(self.record, read_json(path, self.record.title.lower()))

    def newest(self, workspace: Workspace, draft: Path) -> Found | None:
        """Return the newest stored audit of a draft's present content, None where there is none."""
        for _, stored in self._of_now(workspace, draft):
            try:
                return audit_from_json(self.record, stored)
            except UsageError:
                return None  # of an older schema: to be made again, like one that is not there
        return None

    def newest_file(self, workspace: Workspace, draft: Path, suffix: str) -> Path | None:
        """Return the file of that audit with one of its suffixes, None where there is none."""
        return next((path.with_suffix(suffix) for path, _ in self._of_now(workspace, draft)), None)

    def _of_now(self, workspace: Workspace, draft: Path) -> Iterator[tuple[Path, Any]]:
        """Yield the stored audits of a draft's present content, newest first."""
        digest = hash_bytes(draft_bytes(draft))
        versions = find_versions(workspace.outputs / "audits", self.stem(workspace, draft), ".json")
        for _, path in reversed(versions):
            stored: Any = read_json(path, self.record.title.lower())
            if stored.get("draft_digest") == digest:
                yield path, stored


@dataclass(frozen=True, slots=True)
class AuditOutcome(Generic[Found]):
    """An audit and its path.

    Args:
        is_new: False where the same audit stood there already.
        judged: judgements made now; the others were kept from before.
    """

    kind: AuditKind[Found] = field(repr=False)
    audit: Found = field(repr=False)
    markdown: Path
    json: Path
    html: Path
    is_new: bool
    key: str
    seconds: float
    judged: int


def _citation_page(draft: Draft, audit: CitationAudit) -> str:
    # Imported here: the templates of the page cost time that no other command needs.
    from rag_assets.auditing.pages import render_citation_html

    return render_citation_html(draft, audit)


def audit_citations(
    asked: Asked,
    draft_path: Path,
    *,
    namespaces: Sequence[str] = (),
    as_of: date | None = None,
    notify: Callable[[str], None] = lambda sentence: None,
    on_progress: Progress | None = None,
) -> AuditOutcome[CitationAudit]:
    """Verify the citations of a draft and store the audit as `<draft>_citations_v###`.

    Sentences that were judged before against the same text are not judged again, in whatever
    draft they stood. The same draft with the same verdicts is the same audit: then nothing is
    written, even if files that it does not cite have changed the publication's name.

    Args:
        namespaces: in place of those that the draft's front matter names.
        as_of: the day on which the wordings of cited statutes have to hold; without it none can be
            judged.

    Raises:
        UsageError: the draft cannot be read, or its front matter is wrong.
        PublicationError: nothing is published.
    """
    started = time.monotonic()
    draft = read_draft(draft_path, namespaces)
    audit = judge_draft(asked, draft, as_of=as_of, notify=notify, on_progress=on_progress)
    return keep_audit(CITATIONS, workspace_of(asked), draft_path, draft, audit, started, notify)


CITATIONS = AuditKind(
    CitationAudit, "citations", "citation_audits", audit_citations, render_markdown, _citation_page
)


def audit_sentence(
    asked: Asked,
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
    return judge_draft(asked, draft, notify=notify, on_progress=on_progress)


def judge_draft(
    asked: Asked,
    draft: Draft,
    *,
    as_of: date | None = None,
    notify: Callable[[str], None] = lambda sentence: None,
    on_progress: Progress | None = None,
) -> CitationAudit:
    """Return the audit of a draft as `audit_citations` makes it; only its verdicts are stored.

    Raises:
        UsageError, PublicationError: as `audit_citations`.
    """
    workspace = workspace_of(asked)
    with open_published(asked, as_of) as library:
        if not library.publications:
            raise PublicationError(
                f"nothing is published in {workspace.root}. Run `rag ingest` first."
            )
        store = open_verdicts(workspace)
        audit = verify_citations(
            draft, library, library.encoders(), workspace.settings.verify, store=store,
            make_scorer=scorer_maker(workspace), on_progress=on_progress, as_of=as_of,
            judgements=judgements_of(workspace),
        )  # fmt: skip
        store.save(notify)
    return audit


def keep_audit(
    kind: AuditKind[Found],
    workspace: Workspace,
    path: Path,
    draft: Draft,
    audit: Found,
    started: float,
    notify: Callable[[str], None],
) -> AuditOutcome[Found]:
    """Store an audit as the next version of its name, unless the same one lies there.

    Args:
        path: of the draft.
        started: by the monotonic clock.
    """
    folder, key = workspace.outputs / "audits", draft_key(path)

    def outcome(files: Mapping[str, Path], found: Found, *, is_new: bool) -> AuditOutcome[Found]:
        return AuditOutcome(
            kind, found, files[".md"], files[".json"], files[".html"], is_new, key,
            time.monotonic() - started, audit.judged_now,
        )  # fmt: skip

    for _, stored in reversed(find_versions(folder, kind.stem(workspace, path), ".json")):
        files = {suffix: stored.with_suffix(suffix) for suffix in (".md", ".html", ".json")}
        if not all(file.is_file() for file in files.values()):
            continue
        before: Any = read_json(stored, kind.record.title.lower())
        if before.get("audit_id") == audit.audit_id:
            return outcome(files, audit_from_json(kind.record, before), is_new=False)
    written = write_version(
        folder, kind.stem(workspace, path),
        {
            ".md": kind.render(audit),
            ".html": kind.page(draft, audit),
            ".json": json.dumps(audit_to_json(audit), indent=1, ensure_ascii=False) + "\n",
        },
        workspace.meta / "version_log.jsonl", workspace.locks / "outputs.lock",
        f"{kind.name} of {draft.name} ({key})", notify,
    )  # fmt: skip
    return outcome(written.files, audit, is_new=True)


def scorer_maker(workspace: Workspace) -> Callable[[VerifySettings, TextEncoder], Scorer]:
    """Return what makes the scorer of a workspace from its settings and an embedding model."""
    chat = open_verifying_model(workspace)
    if chat is None:
        return load_scorer
    return lambda verify, encoder: load_scorer(verify, encoder, chat)


def draft_key(path: Path) -> str:
    """Return the partition key of a draft's present content: `<slug>-<hash12>`."""
    return partition_key(path.stem, draft_bytes(path))


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
    """Return the drafts of a workspace, sorted; of one in LaTeX the main file."""
    if not workspace.drafts.is_dir():
        return []
    found = sorted(
        path
        for path in workspace.drafts.rglob("*")
        if path.is_file()
        and path.suffix in DRAFT_SUFFIXES
        and not path.name.startswith("~$")
        # Of a crash, an editor or another system, or in a folder of a program's own.
        and not any(part.startswith(".") for part in path.relative_to(workspace.drafts).parts)
    )
    included = included_files(path for path in found if path.suffix in LATEX_SUFFIXES)
    return [path for path in found if path.resolve() not in included]


def find_drafts(workspace: Workspace, key: str) -> list[Path]:
    """Return the drafts whose present content has this partition key, sorted.

    There are several where equal copies of one name lie in several folders.

    Raises:
        UsageError: no draft has it: it was edited or removed since.
    """
    found = [path for path in list_drafts(workspace) if draft_key(path) == key]
    if found:
        return found
    for path in list_drafts(workspace):
        for part in files_of(path)[1:]:
            if draft_key(part) == key:
                raise UsageError(
                    f"{part.name} is a part of {path.name}. Give the whole draft: "
                    f"`rag verify-citations {path.relative_to(workspace.root)}`."
                )
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


# Audit the claims of a draft of the workspace and store the audit under `outputs/audits/`.


def _claims_page(draft: Draft, audit: ClaimAudit) -> str:
    # Imported here: the templates of the page cost time that no other command needs.
    from rag_assets.auditing.pages import render_claims_html

    return render_claims_html(draft, audit)


def audit_claims(
    asked: Asked,
    draft_path: Path,
    *,
    counterevidence: CounterMode | None = None,
    namespaces: Sequence[str] = (),
    as_of: date | None = None,
    notify: Callable[[str], None] = lambda sentence: None,
    on_progress: Progress | None = None,
) -> AuditOutcome[ClaimAudit]:
    """Audit the claims of a draft and store the audit as `<draft>_claims_v###`.

    What was judged or searched before for the same sentence over the same publications is not
    judged or searched again. The same findings on the same draft are the same audit: then nothing
    is written.

    Args:
        counterevidence: off, soft or strict; else `audit.counterevidence` of the settings.
        namespaces: in place of those that the draft's front matter names: citations mean their
            documents, and they are asked for suggestions and counter-evidence.
        as_of: the day on which the wordings of cited statutes have to hold; without it none can be
            judged.

    Raises:
        UsageError: the draft cannot be read, its front matter is wrong, or there is no such
            namespace.
        PublicationError: nothing is published.
    """
    started = time.monotonic()
    workspace = workspace_of(asked)
    draft = read_draft(draft_path, namespaces)
    settings = workspace.settings.audit
    if counterevidence is not None:
        settings = settings.model_copy(update={"counterevidence": counterevidence})
    audit = _audit(asked, draft, settings, as_of, notify, on_progress)
    return keep_audit(CLAIMS, workspace, draft_path, draft, audit, started, notify)


CLAIMS = AuditKind(ClaimAudit, "claims", "claim_audits", audit_claims, render_claims, _claims_page)


def _audit(
    asked: Asked,
    draft: Draft,
    settings: AuditSettings,
    as_of: date | None,
    notify: Callable[[str], None],
    on_progress: Progress | None,
) -> ClaimAudit:
    workspace = workspace_of(asked)
    searches, verdicts = open_searches(workspace), open_verdicts(workspace)
    with open_library(asked) as opened, open_published(opened, as_of) as library:
        publications = _choose(workspace, library, draft)
        model = chat_model_of(workspace)
        with Retriever(opened, llm=model, publications=publications) as retriever:
            audit = make_claim_audit(
                draft, library, library.encoders(), Searcher(PublishedIndex(retriever), searches),
                workspace.settings.verify, settings, namespaces=list(publications),
                store=verdicts, make_scorer=scorer_maker(workspace),
                on_progress=on_progress, as_of=as_of, judgements=judgements_of(workspace),
            )  # fmt: skip
    for store in (verdicts, searches):
        store.save(notify)
    return audit


def _choose(workspace: Workspace, library: PublishedLibrary, draft: Draft) -> dict[str, str]:
    """Return the publications that are asked, by namespace: those that the library has open."""
    names = draft.namespaces or tuple(library.publications)
    missing = [name for name in names if name not in library.publications]
    for name in missing:
        workspace.namespace(name)  # says so where there is no such namespace
    if missing or not names:
        raise PublicationError(
            f"nothing is published in {', '.join(missing) or workspace.root}. Run `rag ingest` "
            "first."
        )
    return {name: library.publications[name] for name in names}


# The references of the documents that a draft cites, whether it was audited or not.

# Namespace and uid of one.
_Document = tuple[str, str]

# Faulty citations that an error names.
_NAMED = 3


def export_cited_sources(
    workspace: Workspace,
    draft_path: Path,
    *,
    formats: Sequence[str] = (),
    as_of: date | None = None,
    notify: Notify = lambda sentence: None,
) -> ExportedSources:
    """Write the references of the documents that a draft cites, in the order of their citations.

    What its list of sources cites counts too. Nothing is judged. A citation that means no
    document is told in the notes, with its line.

    Args:
        formats: names of `FORMATS`; without, all.
        as_of: the day on which the wordings of cited statutes have to hold.
        notify: is told where another process is writing.

    Raises:
        UsageError: the draft cannot be read, or none of its citations means a document.
    """
    draft = read_draft(draft_path)
    with open_published(workspace, as_of) as library:
        cited = list(_resolve(draft, library))
    pairs = [(found, place) for found, place in cited if not isinstance(found, str)]
    faults = list(dict.fromkeys(found for found, _ in cited if isinstance(found, str)))
    if not pairs:
        why = " ".join(faults[:_NAMED]) or "It cites nothing: write {#doc_uid} behind a sentence."
        raise UsageError(f"{draft_path}: no document is cited that could be exported. {why}")
    return export_references(
        workspace, draft.name, pairs, notes=faults, formats=formats, notify=notify
    )


def _resolve(draft: Draft, library: Library) -> Iterator[tuple[_Document | str, str]]:
    """Yield what each citation means, or what is wrong with it, and the place that it names."""
    cited = sorted((*draft.sentences, *draft.listed), key=lambda sentence: sentence.start)
    references = References(draft.references, library, draft.namespaces)
    for sentence in cited:
        for citation in sentence.citations:
            meant = resolve_citation(citation, library, draft.namespaces, references)
            if isinstance(meant, FaultyCitation):
                where = place_in(draft.name, sentence.line, sentence.file)
                yield f"{draft.name}, {where}: {meant.reason}", ""
            else:
                hint = citation.hint.text if citation.hint is not None else ""
                place = meant.article.shown if meant.article is not None else hint
                yield (meant.namespace, meant.doc_uid), place
