"""Ask a workspace's statutes, store the answer under `outputs/`, and make a stored one again."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from rag_assets.agents.worlds import Watch, unwatched
from rag_assets.answering.law.asking import LawQuestion, answer_statutes, replay_law_answer
from rag_assets.answering.law.record import LawAnswer, law_answer_from_json, write_law_answer
from rag_assets.answering.law.rendering import render_law_answer
from rag_assets.answering.record import Mode
from rag_assets.answering.storing import (
    PolicyChoice,
    compare_stored,
    limits_of,
    open_answer_scorer,
    open_answering_model,
    store_answer,
)
from rag_assets.evidence.asking import Replay
from rag_assets.model import UsageError
from rag_assets.retrieval import Asked, Retriever, workspace_of
from rag_assets.storage import read_json

LAW_STEM = "law_answer"


@dataclass(frozen=True, slots=True)
class LawOutcome:
    """An answer and where it lies. `is_new` is False where the same one stood there already."""

    answer: LawAnswer = field(repr=False)
    markdown: Path
    json: Path
    is_new: bool


def ask_statutes(
    asked: Asked,
    question: str,
    as_of: date,
    *,
    clock: Callable[[], float],
    namespaces: Sequence[str] = (),
    mode: Mode = "agent",
    policy: PolicyChoice | None = None,
    notify: Callable[[str], None] = lambda sentence: None,
    watch: Watch = unwatched,
) -> LawOutcome:
    """Answer a question by the statutes of a workspace, and store the answer.

    Args:
        asked: a workspace, or a library that is open already.
        as_of: the day on which wordings have to hold.
        clock: seconds from any beginning.
        namespaces: that are searched; all without.
        mode: `single` searches once; always so with `answer.agentic: false`.
        policy: who searches and writes; None for `answer.policy`.
        notify: is told what a person should know while it works.
        watch: is told each search and each call of the model, before it is made.

    Raises:
        UsageError: no text, an unknown namespace, none that holds a statute.
        PublicationError: none of the namespaces has a publication.
        ConfigurationError: a model is wanted and none is named, or it cannot be opened.
    """
    workspace = workspace_of(asked)
    settings = workspace.settings.answer
    model = open_answering_model(workspace, policy or settings.policy)
    chosen: Mode = mode if settings.agentic else "single"
    with Retriever(asked, namespaces) as retriever:
        answer = answer_statutes(
            retriever, LawQuestion(question, str(as_of), tuple(namespaces), chosen),
            limits_of(settings), model=model, scorer=open_answer_scorer(workspace), clock=clock,
            watch=watch,
        )  # fmt: skip
    texts = {".md": render_law_answer(answer), ".json": write_law_answer(answer)}
    what = f"answer about law to '{question}'"
    return LawOutcome(answer, *store_answer(workspace, LAW_STEM, texts, what, notify))


def answer_law(
    asked: Asked,
    question: str,
    as_of: date,
    *,
    namespaces: Sequence[str] = (),
    policy: PolicyChoice | None = None,
    agentic: bool = True,
) -> LawOutcome:
    """Answer a question about law as `rag ask --law` does, and store the answer.

    Args:
        asked: a workspace, or a library that is open already.
        as_of: the day on which wordings have to hold.
        namespaces: that are searched; all without.
        policy: who searches and writes; None for `answer.policy`.
        agentic: False for one search, and an answer from it.

    Raises:
        UsageError, PublicationError, ConfigurationError: as `ask_statutes`.
    """
    return ask_statutes(
        asked, question, as_of, clock=time.monotonic, namespaces=namespaces,
        mode="agent" if agentic else "single", policy=policy,
    )  # fmt: skip


def replay_stored_law(path: Path) -> Replay:
    """Make a stored answer about law again from its own record and compare it byte for byte.

    Raises:
        UsageError: no answer stands there.
        DamagedFileError: it is not what was written.
        RecordingError: this version goes another way than the one that made it.
    """
    data = path.with_suffix(".json")
    if not data.is_file():
        raise UsageError(
            f"{path}: no answer stands there ({data.name} is missing). Name one of outputs/, for "
            f"instance outputs/{LAW_STEM}_v001.md."
        )
    loaded = read_json(data, "answer")
    stored = law_answer_from_json(loaded)
    made = replay_law_answer(stored)
    return compare_stored(
        data, loaded, stored.publications, write_law_answer(made), render_law_answer(made)
    )
