"""Library: documents, their status and what to do; what was read of each; files dropped in."""

from pathlib import PurePath

from fastapi import APIRouter, Request
from starlette.datastructures import UploadFile
from starlette.responses import RedirectResponse, Response

from rag_assets.desk.documents import VIEWS, View, read_document
from rag_assets.desk.jobs import Job
from rag_assets.desk.rendering import page
from rag_assets.desk.state import Desk, DeskOf, FormOf
from rag_assets.model import PublicationError, UsageError
from rag_assets.stages import partitioned, way_to
from rag_assets.workspace import Namespace

router = APIRouter()
_BUILD = "build"


@router.get("/library")
def list_namespaces(request: Request, desk: DeskOf) -> Response:
    """Show each namespace: what it holds, what is stale, what is amiss."""
    from rag_assets.embedding import sound_models
    from rag_assets.publishing import describe_namespace

    readable, unread = desk.workspace.sound_namespaces()
    sound, unusable = sound_models(readable)
    described = [describe_namespace(each, models) for each, models in sound]
    return page(request, "library.html", namespaces=described, troubles=[*unread, *unusable])


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


@router.post("/library/{name}/files")
def add_files(desk: DeskOf, form: FormOf, name: str) -> Response:
    """Add files to raw/ and build; what lies there is never changed.

    Raises:
        UsageError: no file was sent.
    """
    from rag_assets.knowledge import add_content

    namespace = desk.workspace.namespace(name)
    files = [each for each in form.getlist("file") if isinstance(each, UploadFile)]
    if not any(each.filename for each in files):
        raise UsageError("no file was chosen.")
    for each in files:
        if each.filename:
            # A browser may send a path; what is kept is the name alone.
            given = PurePath(each.filename.replace("\\", "/")).name
            add_content(namespace, each.file.read(), given, given, {})
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
