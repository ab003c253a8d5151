"""The page that asks, and the pages of answers and packs."""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from rag_assets.answering import Answer, answer_from_json
from rag_assets.answering.agents import CheckedStatement, Step
from rag_assets.answering.law import LAW_STEM, LawPoint, law_answer_from_json
from rag_assets.desk.rendering import page
from rag_assets.desk.state import Desk, DeskOf, FormOf, Job, text_of
from rag_assets.evidence import pack_from_json
from rag_assets.evidence.rendering import describe_law as describe_standing
from rag_assets.judging import show_score
from rag_assets.model import UsageError, require_question
from rag_assets.storage import find_versions, read_json
from rag_assets.workspace import Workspace

# What an output is called → what it is.
KINDS = {"answer": "answer", "evidence_pack": "pack", LAW_STEM: "law"}
_NAME = re.compile(rf"({'|'.join(KINDS)})_v\d{{3,}}")


@dataclass(frozen=True, slots=True)
class ShownItem:
    """A statement, a passage or an article, with what it rests on.

    Args:
        text: what is said; of a pack's passage empty, its quote says it.
        quote: word for word what stands in the source; empty where nothing was read.
        where: title and place, as a person writes them.
        citation_id: opens the passage; empty where there is none.
        cite_as: the citation as a draft has it.
        remark: why it is no part of the answer; or how the law stands.
    """

    number: int
    text: str
    quote: str = ""
    where: str = ""
    citation_id: str = ""
    cite_as: str = ""
    score: str = ""
    remark: str = ""
    whole: str = ""


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """An answer or a pack.

    Args:
        is_quoted: its sentences are those of the sources.
        dropped: what was written and is not supported.
        steps: what led to it, one line each.
        missing: says that the library has no answer; the items are the nearest passages then.
        sources: key and title of each document.
    """

    name: str
    kind: str
    question: str
    notices: tuple[str, ...]
    items: tuple[ShownItem, ...]
    dropped: tuple[ShownItem, ...] = ()
    is_quoted: bool = True
    reader: str = ""
    as_of: str = ""
    steps: tuple[str, ...] = ()
    missing: str = ""
    sources: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class PastQuestion:
    """A stored answer or pack in the list of what was asked."""

    name: str
    kind: str
    question: str
    at: datetime


def past_questions(workspace: Workspace, most: int) -> list[PastQuestion]:
    """Return what was asked last, newest first; a question that was asked again once."""
    files = sorted(
        (
            (path.stat().st_mtime, path)
            for stem in KINDS
            for _, path in find_versions(workspace.outputs, stem, ".json")
        ),
        reverse=True,
    )
    found: dict[tuple[str, str], PastQuestion] = {}
    for written, path in files:
        if len(found) == most:
            break
        kind = KINDS[path.stem.rpartition("_v")[0]]
        text = str(read_json(path, "answer").get("question", ""))
        asked = PastQuestion(path.stem, kind, text, datetime.fromtimestamp(written))
        found.setdefault((text, kind), asked)
    return list(found.values())


def read_answer(workspace: Workspace, name: str) -> ShownAnswer:
    """Return a stored answer or pack.

    Args:
        name: of its file without the suffix, such as `answer_v003`.

    Raises:
        UsageError: nothing of that name is stored.
        DamagedFileError: it is not what was written.
    """
    match = _NAME.fullmatch(name)
    path: Path = workspace.outputs / f"{name}.json"
    if match is None or not path.is_file():
        raise UsageError(f"no answer and no pack is called '{name}'.")
    kind = KINDS[match[1]]
    data = read_json(path, "answer")
    if kind == "pack":
        return _pack(name, data)
    return _law(name, data) if kind == "law" else _answer(name, data)


def _answer(name: str, data: dict[str, object]) -> ShownAnswer:
    answer = answer_from_json(data)
    return ShownAnswer(
        name,
        "answer",
        answer.question,
        answer.notices[not answer.is_found :],
        tuple(_statement(answer, one) for one in answer.statements),
        tuple(_statement(answer, one, one.reason) for one in answer.unsupported),
        answer.is_quoted,
        answer.reader.name,
        steps=tuple(_steps(answer.trace.steps)),
        missing="" if answer.is_found else answer.notices[0],
        sources=tuple(
            (answer.key_of(one.aliases[0]), one.title or one.doc_uid) for one in answer.sources
        ),
    )


def _statement(answer: Answer, one: CheckedStatement, remark: str = "") -> ShownItem:
    score = "" if one.score is None else show_score(one.score)
    quote = one.quote
    if quote is None:
        return ShownItem(one.number, one.text, score=score, remark=remark)
    cite = f"{{#{answer.key_of(quote.alias)}}}"
    where = answer.place_of(one)
    return ShownItem(
        one.number, one.text, quote.text, where, quote.citation_id, cite, score, remark
    )


def _law(name: str, data: dict[str, object]) -> ShownAnswer:
    answer = law_answer_from_json(data)

    def shown(point: LawPoint, remark: str = "") -> ShownItem:
        cited = [answer.trace.passages[alias] for alias in point.statement.citations]
        whole = "\n\n".join(passage.text.strip() for passage in cited)
        citation_id = cited[0].citation_id if cited else ""
        return ShownItem(
            point.statement.number,
            point.statement.text,
            where=" ".join(point.citations),
            citation_id=citation_id,
            cite_as=" ".join(point.citations[:1]),
            remark=remark,
            whole=whole,
        )

    return ShownAnswer(
        name,
        "law",
        answer.question,
        answer.notices,
        tuple(shown(point) for point in answer.points),
        tuple(shown(point, point.statement.reason) for point in answer.dropped),
        answer.is_quoted,
        answer.reader.name,
        answer.as_of,
        tuple(_steps(answer.trace.steps)),
    )


def _pack(name: str, data: dict[str, object]) -> ShownAnswer:
    pack = pack_from_json(data)
    told = [] if pack.match is None or pack.match.sentence is None else [pack.match.sentence]
    return ShownAnswer(
        name,
        "pack",
        pack.question,
        (*told, *pack.warnings),
        tuple(
            ShownItem(
                item.rank,
                "",
                item.shown_quote,
                f"{item.title or item.doc_uid}, {item.locator}",
                item.citation_id,
                f"{{#{pack.short_citation(item)}}}",
                remark="" if item.law is None else describe_standing(item.law, pack.as_of),
                whole=item.snippet,
            )
            for item in pack.items
        ),
        as_of=pack.as_of or "",
    )


def _steps(steps: tuple[Step, ...]) -> Iterator[str]:
    for step in steps:
        told = ", ".join(f"{key}: {value}" for key, value in (step.arguments or {}).items())
        found = "" if step.observation is None else f" → {len(step.observation.lines)}"
        yield f"{step.by}: {step.action or step.note} ({told}){found}"


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
