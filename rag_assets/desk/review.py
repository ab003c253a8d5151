"""Review: a draft with its verdicts, the evidence of each on its page, a person's judgement.

One address a draft, `/review/<draft>`. What is looked at stands in the query: `item` (its key),
`show=open`, `view=list`, `chosen` (another passage), `panel` (edit, others, sources), `words` (of
other passages). Every key is a link or a form, so all works without a script.
"""

from typing import TYPE_CHECKING, cast
from urllib.parse import quote, urlencode

from fastapi import APIRouter, HTTPException, Request
from starlette.responses import FileResponse, RedirectResponse, Response

from rag_assets.desk.jobs import Job
from rag_assets.desk.rendering import PART, page
from rag_assets.desk.review_view import KEPT, ReviewView
from rag_assets.desk.state import Desk, DeskOf, FormOf, text_of
from rag_assets.model import UsageError

if TYPE_CHECKING:
    from starlette.datastructures import FormData

    from rag_assets.auditing.record import Decision
    from rag_assets.model import Progress
    from rag_assets.reviewing import Review

router = APIRouter()
# Of many documents, every so many are said.
_SAID_EVERY = 25


@router.get("/review")
def list_drafts(request: Request, desk: DeskOf) -> Response:
    """Show all drafts with what their newest audits found."""
    return page(request, "review_drafts.html", drafts=desk.reviews.summaries())


@router.get("/review/{name:path}")
def show(request: Request, desk: DeskOf, name: str) -> Response:
    """Show a draft and one of its items; what was not checked yet offers to be."""
    review = desk.reviews.open(name)
    if request.query_params.get("get") == "report":
        return _report(desk, review)
    if review is None or not review.items:
        return page(request, "review_unchecked.html", name=name, review=review)
    return page(request, "review.html", view=ReviewView(request, desk, review))


@router.post("/review/{name:path}")
def act(request: Request, desk: DeskOf, name: str, form: FormOf) -> Response:
    """Check a draft, judge an item, replace a sentence, or take sources and report along."""
    action = text_of(form, "task")
    if action == "judge":
        return _judge(request, desk, name, form)
    if action == "edit":
        return _edit(desk, name, form)
    if action == "sources":
        return _sources(desk, name, form)
    if action in ("check", "keep"):
        return _work(desk, name, action)
    raise UsageError(f"'task' must be judge, edit, check, sources or keep, got {action[:20]!r}.")


def _judge(request: Request, desk: Desk, name: str, form: "FormData") -> Response:
    key = text_of(form, "item")
    decision = cast("Decision", text_of(form, "decision"))
    _require_decision(decision)
    desk.reviews.judge(
        desk.library,
        name,
        key,
        decision,
        by=desk.person,
        at=desk.now(),
        seen=_number(text_of(form, "seen")),
        version=text_of(form, "version"),
        comment=text_of(form, "comment"),
        chosen=text_of(form, "chosen"),
    )
    review = desk.reviews.open(name)
    following = review.beside(key, 1, only_open=True) if review and review.find(key) else None
    # What was taken back is looked at again; else what comes next is.
    there = key if decision == "withdrawn" or following is None else following.key
    if review is None or request.headers.get(PART) != "item":
        return _back(name, form, item=there, after=key)
    # Who asks for the block alone has it with this answer: one way less for each of hundreds.
    asked = {each: text_of(form, each) for each in KEPT} | {"item": there, "after": key}
    return page(request, "review.html", view=ReviewView(request, desk, review, asked))


def _edit(desk: Desk, name: str, form: "FormData") -> Response:
    from rag_assets.reviewing import SentenceEdit

    edit = SentenceEdit(
        digest=text_of(form, "digest"),
        start=_number(text_of(form, "start")),
        end=_number(text_of(form, "end")),
        before=_as_in_file(desk, name, form),
        after=text_of(form, "after"),
    )
    _, item = desk.reviews.edit(desk.library, name, edit, by=desk.person, at=desk.now())
    return _back(name, form, item=item.key if item else "", said="edited")


def _as_in_file(desk: Desk, name: str, form: "FormData") -> str:
    """Return the sentence with the line ends of the draft, which forms do not keep."""
    review = desk.reviews.open(name)
    start, end = _number(text_of(form, "start")), _number(text_of(form, "end"))
    if review is None or review.draft.digest != text_of(form, "digest"):
        return text_of(form, "before")
    return review.draft.text[start:end]


def _sources(desk: Desk, name: str, form: "FormData") -> Response:
    from rag_assets.reviewing import export_standing

    review = desk.reviews.open(name)
    if review is None:
        raise UsageError(f"{name} was edited and not checked since: check it first.")
    made = export_standing(desk.workspace, review)
    files = ", ".join(
        path.relative_to(desk.workspace.root).as_posix() for path in made.files.values()
    )
    return _back(name, form, item=text_of(form, "item"), panel="sources", said=files)


def _work(desk: Desk, name: str, action: str) -> Response:
    desk.reviews.path(name)
    address = quote(f"/review/{name}")

    def check(job: Job) -> str:
        from rag_assets.running import record_audit

        outcome = desk.reviews.keep(
            desk.library, name, as_of=desk.today(), notify=job.tell, on_progress=_progress(job)
        )
        record_audit(desk.workspace, outcome)
        if action == "check":
            return address
        return f"{address}?{urlencode({'panel': 'sources', 'said': outcome.html.name})}"

    job = desk.jobs.start(f"{name}: {action}", check)
    return RedirectResponse(f"/work/{job.key}", 303)


def _progress(job: Job) -> "Progress":
    def tell(what: str, done: int, total: int) -> None:
        if done == total or done % _SAID_EVERY == 0:
            job.tell(f"{what}: {done} / {total}")

    return tell


def _report(desk: Desk, review: "Review | None") -> Response:
    from rag_assets.reviewing import kept_report

    path = kept_report(desk.workspace, review) if review is not None else None
    if path is None or not path.is_file():
        raise HTTPException(404, "No report of the present text is kept: keep one first.")
    # Handed over as a file: its own style would be refused on a page of the desk.
    return FileResponse(path, media_type="text/html", filename=path.name)


def _back(name: str, form: "FormData", **query: str) -> Response:
    kept = {each: text_of(form, each) for each in KEPT}
    told = urlencode({n: v for n, v in (kept | query).items() if v})
    return RedirectResponse(f"{quote(f'/review/{name}')}?{told}", 303)


def _number(text: str) -> int:
    if not text.isdecimal() or len(text) > 9:
        raise UsageError(f"a number was expected, got {text[:20]!r}: load the page again.")
    return int(text)


def _require_decision(given: str) -> None:
    from rag_assets.auditing.judgements import DECISIONS

    if given not in DECISIONS:
        raise UsageError(f"'decision' must be one of {', '.join(DECISIONS)}, got {given[:20]!r}.")
