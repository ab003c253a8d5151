"""Ask: a question in, an answer or a pack out, the steps live; what was asked before."""

import time

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from rag_assets.desk.answers import past_questions, read_answer
from rag_assets.desk.jobs import Job
from rag_assets.desk.rendering import page
from rag_assets.desk.state import Desk, DeskOf, FormOf, text_of
from rag_assets.model import UsageError, require_question

router = APIRouter()
_HISTORY = 50
WAYS = ("answer", "pack", "law")


@router.get("/ask")
def show(request: Request, desk: DeskOf, question: str = "") -> Response:
    """Show the form and what was asked before."""
    return page(
        request,
        "ask.html",
        question=question,
        ways=WAYS,
        namespaces=desk.workspace.namespace_names,
        history=past_questions(desk.workspace, _HISTORY),
    )


@router.post("/ask")
def ask(desk: DeskOf, form: FormOf) -> Response:
    """Begin to answer a question; leads to where it is followed.

    Raises:
        UsageError: no text, an unknown way or namespace.
    """
    question, way = text_of(form, "question").strip(), text_of(form, "way") or "answer"
    names = tuple(str(name) for name in form.getlist("namespace"))
    filters = tuple(line.strip() for line in text_of(form, "filters").splitlines() if line.strip())
    require_question(question)
    if way not in WAYS:
        raise UsageError(f"'{way}' is no way to ask: {', '.join(WAYS)}.")
    for name in names:
        desk.workspace.namespace(name)
    job = desk.jobs.start(question, lambda job: _answered(desk, job, question, way, names, filters))
    return RedirectResponse(f"/work/{job.key}", 303)


@router.get("/ask/{name}")
def read(request: Request, desk: DeskOf, name: str) -> Response:
    """Show a stored answer or pack."""
    return page(request, "answer.html", answer=read_answer(desk.workspace, name))


def _answered(
    desk: Desk,
    job: Job,
    question: str,
    way: str,
    names: tuple[str, ...],
    filters: tuple[str, ...],
) -> str:
    """Answer as the command line does; returns where the answer is to be read."""
    if way == "pack":
        from rag_assets.evidence import Question, note_pack
        from rag_assets.evidence import ask as make_pack

        job.tell(question)
        asked = Question(question=question, namespaces=names, filters=filters)
        packed = make_pack(desk.library, asked, today=desk.today(), notify=job.tell)
        note_pack(desk.workspace, packed)
        return f"/ask/{packed.json.stem}"
    if way == "law":
        from rag_assets.answering.law import ask_statutes

        if filters:
            raise UsageError("filters are for papers: leave them out where you ask the law.")
        told = ask_statutes(
            desk.library, question, desk.today(), clock=time.monotonic, namespaces=names,
            notify=job.tell, watch=job.tell,
        )  # fmt: skip
        return f"/ask/{told.json.stem}"
    from rag_assets.answering import ask_papers

    answered = ask_papers(
        desk.library, question, clock=time.monotonic, namespaces=names, filters=filters,
        notify=job.tell, watch=job.tell,
    )  # fmt: skip
    return f"/ask/{answered.json.stem}"
