"""What programs ask the desk: the commands' questions, answered by models that are warm.

Answers are stored by the same functions as from a command; what is sent back is where they lie, so
that the command prints what it always prints.
"""

import time
from datetime import date
from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from rag_assets.desk.state import DeskOf

router = APIRouter(prefix="/api")


class _Asked(BaseModel):
    model_config = ConfigDict(extra="forbid")

    question: str
    namespaces: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()


class PackAsked(_Asked):
    """What `rag query` asks."""

    top_k: int | None = Field(default=None, ge=1, le=1000)
    mode: Literal["evidence", "papers"] = "evidence"
    as_of: date | None = None
    all_versions: bool = False
    html: bool = False


class AnswerAsked(_Asked):
    """What `rag ask` asks."""

    doc_id: str | None = None
    mode: Literal["single", "agent"] = "agent"
    policy: Literal["auto", "rules", "model"] | None = None


class Stored(BaseModel):
    """Where an answer or pack lies, below the workspace's folder.

    Args:
        said: sentences for a person that were said meanwhile.
        told: warnings of a pack that are of raw/ and the journal as they are now.
    """

    markdown: str
    json_file: str
    html: str | None = None
    is_new: bool
    key: str = ""
    seconds: float
    said: list[str] = []
    told: list[str] = []


@router.post("/query")
def query(desk: DeskOf, asked: PackAsked) -> Stored:
    """Make and store an evidence pack."""
    from rag_assets.evidence import Question, ask

    said: list[str] = []
    fields = asked.model_dump(exclude={"html"})
    outcome = ask(
        desk.library, Question(**fields), html=asked.html, today=desk.today(), notify=said.append
    )
    root = desk.workspace.root
    return Stored(
        markdown=outcome.markdown.relative_to(root).as_posix(),
        json_file=outcome.json.relative_to(root).as_posix(),
        html=outcome.html.relative_to(root).as_posix() if outcome.html else None,
        is_new=outcome.is_new,
        key=outcome.key,
        seconds=outcome.seconds,
        said=said,
        told=list(outcome.told),
    )


@router.post("/ask")
def ask(desk: DeskOf, asked: AnswerAsked) -> Stored:
    """Make and store an answer about papers."""
    from rag_assets.answering import ask_papers

    said: list[str] = []
    outcome = ask_papers(
        desk.library, asked.question, clock=time.monotonic, doc_id=asked.doc_id,
        namespaces=asked.namespaces, filters=asked.filters, mode=asked.mode, policy=asked.policy,
        notify=said.append,
    )  # fmt: skip
    root = desk.workspace.root
    return Stored(
        markdown=outcome.markdown.relative_to(root).as_posix(),
        json_file=outcome.json.relative_to(root).as_posix(),
        is_new=outcome.is_new,
        seconds=outcome.seconds,
        said=said,
    )
