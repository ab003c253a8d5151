"""The library: its documents, passages and pages."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import (
    Any,  # a row of SQL
    Literal,
)
from urllib.parse import quote as quote_path
from urllib.parse import unquote

from fastapi import APIRouter, Request
from starlette.datastructures import UploadFile
from starlette.responses import RedirectResponse, Response

from rag_assets.auditing import list_drafts
from rag_assets.desk.rendering import page
from rag_assets.desk.state import Desk, DeskOf, FormOf, Job, text_of
from rag_assets.evidence.locating import locate
from rag_assets.evidence.pictures import WholePage
from rag_assets.model import PageBox, ParsedDocument, ParseFailure, PublicationError, UsageError
from rag_assets.parsing import ParseHints, media_type_of, parser_for, read_parsed
from rag_assets.retrieval import OpenedLibrary, Reader, Retriever
from rag_assets.tracing import open_sql, read_named_rows
from rag_assets.workspace import Namespace, Workspace, override_metadata
from rag_assets.workspace.stages import partitioned, way_to

View = Literal["blocks", "sections", "chunks"]
VIEWS: tuple[View, ...] = ("blocks", "sections", "chunks")
# Of a document without pages so many characters are shown at once.
_CHARACTERS = 20_000


@dataclass(frozen=True, slots=True)
class ShownPart:
    """A block, section or chunk on a page.

    Args:
        kind: of a block or chunk; what a section is about.
        label: what names it: the chunk's id, a section's title.
        text: verbatim.
    """

    kind: str
    label: str
    text: str
    boxes: tuple[PageBox, ...] = ()


@dataclass(frozen=True, slots=True)
class ShownDocument:
    """One page of a document, or one stretch of a document without pages.

    Args:
        facts: the catalogue's row.
        page: from 1, of `pages`.
        has_pages: whether the source is printed.
    """

    facts: dict[str, object]
    page: int
    pages: int
    has_pages: bool
    parts: tuple[ShownPart, ...]


def read_document(
    library: OpenedLibrary, namespace: str, uid: str, view: View, page: int
) -> ShownDocument:
    """Return what was read of a published document on one of its pages.

    Args:
        page: from 1.

    Raises:
        UsageError: the publication holds no such document or page.
        PublicationError: nothing is published.
    """
    with Retriever(library, [namespace]) as retriever:
        (reader,) = retriever.readers
        rows = reader.fetch_documents([uid]).to_pylist()
        if not rows:
            raise UsageError(
                f"'{namespace}' has published no document '{uid}'. The library lists what it has, "
                "and why a file is not among it."
            )
        facts = rows[0]
        parsed, _ = read_parsed(library.workspace.root / "data" / facts["content_ref"])
        stretches = [(each.start, each.end) for each in parsed.pages] or [
            (start, start + _CHARACTERS)
            for start in range(0, max(len(parsed.text), 1), _CHARACTERS)
        ]
        if not 1 <= page <= len(stretches):
            raise UsageError(f"'{uid}' has {len(stretches)} pages; {page} is none of them.")
        start, end = stretches[page - 1]
        if view == "blocks":
            parts = _blocks(parsed, start, end)
        elif view == "sections":
            parts = _sections(parsed, start, end)
        else:
            parts = _chunks(reader, uid, start, end, page if parsed.pages else None)
    return ShownDocument(facts, page, len(stretches), bool(parsed.pages), tuple(parts))


def _blocks(parsed: ParsedDocument, start: int, end: int) -> Sequence[ShownPart]:
    return [
        ShownPart(
            block.kind,
            "" if block.level is None else str(block.level),
            parsed.text[block.start : block.end],
            () if block.bbox is None or block.page is None else (PageBox(block.page, *block.bbox),),
        )
        for block in parsed.blocks
        if block.start < end and block.end > start
    ]


def _sections(parsed: ParsedDocument, start: int, end: int) -> Sequence[ShownPart]:
    return [
        ShownPart(
            section.category.name.lower(),
            " › ".join(section.path),
            parsed.text[max(section.start, start) : min(section.end, end)],
        )
        for section in parsed.sections
        if section.start < end and section.end > start
    ]


def _chunks(
    reader: Reader, uid: str, start: int, end: int, page: int | None
) -> Sequence[ShownPart]:
    columns = ["chunk_id", "kind", "text", "char_start", "char_end", "boxes"]
    return [
        ShownPart(
            row["kind"],
            row["chunk_id"],
            row["text"],
            tuple(PageBox(**box) for box in row["boxes"] or () if box["page"] == page),
        )
        for row in reader.fetch_chunks(uid, columns).to_pylist()
        if row["char_start"] < end and row["char_end"] > start
    ]


passages_router = APIRouter()
_DRAFT = "desk_draft"
_PASSAGE = """
SELECT c.namespace, c.chunk_id, c.doc_uid, c.parent_id, c.char_start, c.char_end, c.page_start,
    c.page_end, c.section_path, c.text, c.content_hash AS passage_hash, d.title, d.content_hash,
    d.page_labels
FROM chunks c JOIN documents d USING (namespace, doc_uid)
WHERE c.citation_id = $it OR c.chunk_key = $it LIMIT 1"""
_FILES = """
SELECT source_uri FROM sources
WHERE namespace = $namespace AND content_hash = $content ORDER BY source_uri"""


@passages_router.get("/passages/{citation}")
def show(
    request: Request, desk: DeskOf, citation: str, quote: str = "", cite: str = ""
) -> Response:
    """Show the passage of a citation id.

    Args:
        quote: words of it to be marked in its text.
        cite: how a draft cites it; else by its document.

    Raises:
        UsageError: no current publication holds it.
    """
    found = read_passage(desk, citation)
    passage = found.passage
    before, words, after = passage["text"].partition(quote) if quote else ("", "", "")
    return page(
        request,
        "passage.html",
        citation=citation,
        found=found,
        text=(before, words, after) if words else (passage["text"], "", ""),
        quote=quote or passage["text"],
        cite=cite or _cited(desk, passage),
        drafts=[
            path.relative_to(desk.workspace.drafts).as_posix()
            for path in list_drafts(desk.workspace)
        ],
        draft=unquote(request.cookies.get(_DRAFT, "")),
    )


@passages_router.post("/passages/{citation}")
def put(request: Request, desk: DeskOf, form: FormOf, citation: str) -> Response:
    """Put a passage at the end of a draft, which is remembered for the next one."""
    from rag_assets.auditing.reviewing import add_passage

    name = text_of(form, "draft")
    written = add_passage(
        desk.workspace, desk.reviews.path(name), text_of(form, "quote"), text_of(form, "cite"),
        by=desk.person, at=desk.now(),
    )  # fmt: skip
    answer = page(request, "put.html", citation=citation, draft=name, written=written)
    answer.set_cookie(_DRAFT, quote_path(name), samesite="strict", httponly=True)
    return answer


@dataclass(frozen=True)
class ShownPassage:
    """A passage with the pages on which it is printed.

    Args:
        passage: its row, with the title, content_hash and publication of its document, and place.
        files: every file with the bytes of its document.
        pages: number from 1, the drawn page or why there is none, the boxes on it.
        around: text of the page or section around it; None where it has none.
    """

    passage: dict[str, Any]
    files: list[str]
    pages: list[tuple[int, WholePage | str, list[PageBox]]]
    around: str | None


def read_passage(desk: Desk, citation: str) -> ShownPassage:
    """Return what is shown of a passage.

    Raises:
        UsageError: no current publication holds it.
        PublicationError: nothing is published.
    """
    with open_sql(desk.workspace, has_knowledge=False) as connection:
        found = read_named_rows(connection, _PASSAGE, {"it": citation})
        if not found:
            raise UsageError(
                f"no current publication holds '{citation}': what was edited or removed since is "
                "no longer there."
            )
        (passage,) = found
        files = read_named_rows(connection, _FILES, {
            "namespace": passage["namespace"], "content": passage["content_hash"],
        })  # fmt: skip
    place = locate(
        passage["page_start"], passage["page_end"], passage["char_start"], passage["char_end"],
        passage["section_path"] or (), labels=passage["page_labels"] or (),
    )  # fmt: skip
    with Retriever(desk.library, [passage["namespace"]]) as retriever:
        (reader,) = retriever.readers
        (row,) = reader.fetch_rows([passage["chunk_id"]], ["boxes"]).to_pylist()
        parent = reader.fetch_parents([passage["parent_id"]]).get(passage["parent_id"])
        passage |= {"place": place.text if place else "", "publication": reader.name}
    boxes: dict[int, list[PageBox]] = defaultdict(list)
    for box in row["boxes"] or ():
        boxes[box["page"]].append(PageBox(**box))
    drawn = [
        (
            number,
            desk.pages.draw(passage["namespace"], passage["content_hash"], number),
            boxes[number],
        )
        for number in sorted(boxes)
    ]
    uris = [str(one["source_uri"]) for one in files]
    return ShownPassage(passage, uris, drawn, None if parent is None else parent.text)


def _cited(desk: Desk, passage: Mapping[str, Any]) -> str:
    # Beside other namespaces a uid alone may name a document of another one.
    alone = len(desk.workspace.namespace_names) == 1
    return f"{{#{'' if alone else passage['namespace'] + ':'}{passage['doc_uid']}}}"


router = APIRouter()
_BUILD = "build"


@router.get("/library")
def list_namespaces(request: Request, desk: DeskOf) -> Response:
    """Show each namespace: what it holds, what is stale, what is amiss."""
    states, troubles = described_namespaces(desk.workspace)
    return page(request, "library.html", namespaces=states, troubles=troubles)


def described_namespaces(workspace: Workspace) -> tuple[list[dict[str, Any]], list[str]]:
    """Return what `describe_namespace` says of each, and why others cannot be read.

    `unused` are the documents that nobody finds until a person does something; `amiss` is without
    the sentences that count them.
    """
    from rag_assets.embedding import sound_models
    from rag_assets.publishing import UNUSED, describe_namespace
    from rag_assets.publishing import list_documents as documents_of

    readable, unread = workspace.sound_namespaces()
    sound, unusable = sound_models(readable)
    states = []
    for namespace, models in sound:
        state = describe_namespace(namespace, models)
        kinds = sum(1 for status in UNUSED if state["documents"].get(status))
        lines = documents_of(namespace, models) if kinds else []
        unused = [line for line in lines if line.status in UNUSED]
        states.append(state | {"amiss": state["amiss"][kinds:], "unused": unused})
    return states, [*unread, *unusable]


@router.get("/library/{name}")
def list_documents(request: Request, desk: DeskOf, name: str, status: str = "") -> Response:
    """Show the documents of a namespace, those with a trouble first.

    Args:
        status: only documents with this one.
    """
    from rag_assets.embedding import model_fingerprints
    from rag_assets.publishing import describe_namespace
    from rag_assets.publishing import list_documents as documents_of

    namespace = desk.workspace.namespace(name)
    models = model_fingerprints(namespace.settings.embed)
    lines = documents_of(namespace, models)
    return page(
        request,
        "documents.html",
        name=name,
        state=describe_namespace(namespace, models),
        lines=[
            line
            for line in sorted(lines, key=lambda line: line.reason_code is None)
            if status in ("", line.status)
        ],
        statuses=sorted({line.status for line in lines}),
        status=status,
        building=[job.key for job in desk.jobs.running(f"{_BUILD} {name}")],
        lineage=f"{desk.workspace.settings.desk.dagster_url}/asset-groups/{name}",
    )


@router.get("/library/{name}/{uid}")
def show_document(
    request: Request, desk: DeskOf, name: str, uid: str, view: View = "chunks", number: int = 1
) -> Response:
    """Show a document's page with what was read of it.

    Args:
        number: of the page, from 1.
    """
    namespace = desk.workspace.namespace(name)
    shown = read_document(desk.library, name, uid, view, number)
    content = str(shown.facts["content_hash"])
    key = namespace.partition_of(content)
    lineage = f"{namespace.settings.desk.dagster_url}/assets/{name}"
    return page(
        request,
        "document.html",
        name=name,
        uid=uid,
        view=view,
        views=VIEWS,
        shown=shown,
        content=content,
        drawn=desk.pages.draw(name, content, number) if shown.has_pages else "",
        stages=[
            (
                stage,
                f"{lineage}/{stage}?view=partitions&partition={key}",
            )
            for stage in partitioned(way_to("chunks"))
        ],
    )


@router.post("/library/{name}/build")
def build(desk: DeskOf, name: str) -> Response:
    """Begin to build what changed; leads to where it is followed."""
    return _built(desk, desk.workspace.namespace(name))


@router.post("/library/{name}/{uid}/archived")
def archive(desk: DeskOf, form: FormOf, name: str, uid: str) -> Response:
    """Leave a document out of the library, or take it back; its file stays where it is."""
    archived = text_of(form, "archived") or None
    reason = f"{'left out' if archived else 'taken back'} at the desk by {desk.person}"
    override_metadata(desk.workspace.namespace(name), uid, {"archived": archived}, reason)
    return RedirectResponse(f"/library/{name}", 303)


@router.post("/library/{name}/files")
def add_files(desk: DeskOf, form: FormOf, name: str) -> Response:
    """Add files to raw/ and build; what lies there is never changed.

    Raises:
        UsageError: no file was sent, or one that no parser reads; nothing is added then.
    """
    from rag_assets.knowledge import add_content

    namespace = desk.workspace.namespace(name)
    # A browser may send a path; what is kept is the name alone.
    files = [
        (PurePath(each.filename.replace("\\", "/")).name, each.file)
        for each in form.getlist("file")
        if isinstance(each, UploadFile) and each.filename
    ]
    if not files:
        raise UsageError("no file was chosen.")
    for given, file in files:
        try:
            parser_for(media_type_of(file.read(), ParseHints(extension=PurePath(given).suffix)))
        except ParseFailure as failure:
            raise UsageError(f"{given} was not added: {failure.message}") from failure
        file.seek(0)
    for given, file in files:
        add_content(namespace, file.read(), given, given, {})
    return _built(desk, namespace)


def _built(desk: Desk, namespace: Namespace) -> Response:
    kind = f"{_BUILD} {namespace.name}"
    running = desk.jobs.running(kind)
    job = running[0] if running else desk.jobs.start(kind, lambda job: _build(job, namespace))
    return RedirectResponse(f"/work/{job.key}", 303)


def _build(job: Job, namespace: Namespace) -> str:
    from rag_assets.running import ingest_changes

    stage, told = "", 0.0

    def report(what: str, done: int, total: int) -> None:
        nonlocal stage, told
        share = done / total if total else 0.0
        if what != stage or share >= min(told + 0.1, 1.0):
            stage, told = what, share
            job.tell(f"{what}: {done}/{total}" if total else what)

    outcome = ingest_changes(namespace, on_progress=report)
    if not outcome.is_published:
        raise PublicationError("; ".join(outcome.errors))
    return f"/library/{namespace.name}"
