"""Ask a workspace's papers, store the answer under `outputs/`, and make a stored one again."""

import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rag_assets.answering.agents.loop import Watch, unwatched
from rag_assets.answering.agents.statements import read_statements
from rag_assets.answering.agents.trace import Limits
from rag_assets.answering.asking import PaperQuestion, answer_papers, citable_filters, replay_answer
from rag_assets.answering.record import Answer, Mode, answer_from_json, write_answer
from rag_assets.answering.rendering import Notice, render_answer, say
from rag_assets.evidence.asking import Replay, compare, first_difference
from rag_assets.judging import load_scorer, open_verifying_model
from rag_assets.llm import Budget, WatchedModel
from rag_assets.model import ConfigurationError, LanguageModelError, UsageError, require_question
from rag_assets.model.settings import AnswerSettings, LlmRole
from rag_assets.retrieval import Asked, Retriever, workspace_of
from rag_assets.retrieval.papers import Route, route_papers, route_question
from rag_assets.storage import find_versions, read_json, write_version
from rag_assets.workspace import Settings, Workspace

if TYPE_CHECKING:
    from rag_assets.answering.saved import CitedSource
    from rag_assets.judging import Scorer
    from rag_assets.llm import ChatModel

PolicyChoice = Literal["auto", "rules", "model"]
STEM = "answer"
# The answer in what a model has written so far of its last action; no cut escape.
_DRAFT = re.compile(r'"answer"\s*:\s*"((?:[^"\\]|\\(?:u[0-9a-fA-F]{4}|[^u]))*)')
_SECONDS_BETWEEN = 10


@dataclass(frozen=True, slots=True)
class AnswerOutcome:
    """An answer and its path. `is_new` is False where the same one stood there already.

    Args:
        key: partition of the question's file; empty of one that was typed.
        sources: with the hashes of their bytes; of a question's file alone.
    """

    answer: Answer = field(repr=False)
    markdown: Path
    json: Path
    is_new: bool
    seconds: float
    key: str = ""
    sources: "tuple[CitedSource, ...]" = ()


def ask_papers(
    asked: Asked,
    question: str,
    *,
    clock: Callable[[], float] = time.monotonic,
    doc_id: str | None = None,
    namespaces: Sequence[str] = (),
    filters: Sequence[str] = (),
    mode: Mode = "agent",
    policy: PolicyChoice | None = None,
    max_iterations: int | None = None,
    notify: Callable[[str], None] = lambda sentence: None,
    watch: Watch = unwatched,
) -> AnswerOutcome:
    """Answer a question about the papers of a workspace as `rag ask` does, and store the answer.

    Args:
        asked: a workspace, or a library that is open already.
        clock: seconds from any beginning.
        doc_id: the one paper that is meant; None to find it.
        namespaces: that are searched; all without.
        filters: conditions as the command line writes them: `year>=2020`.
        mode: `single` searches once; always so with `answer.agentic: false`.
        policy: who searches and writes; None for `answer.policy`.
        max_iterations: actions at most, 2 or more; None for `answer.max_iterations`.
        notify: is told what a person should know while it works.
        watch: is told each search and each call of the model, before it is made.

    Raises:
        UsageError: no text, an unknown namespace or document, a wrong filter.
        PublicationError: none of the namespaces has a publication.
        ConfigurationError: a model is wanted and none is named, or it cannot be opened.
    """
    started, workspace = clock(), workspace_of(asked)
    settings = workspace.settings.answer
    limits = limits_of(settings)
    if max_iterations is not None:
        limits = replace(limits, steps=max_iterations)
    budget = Budget(limits.tokens, limits.seconds, clock=clock)
    model, why_not = open_answering_model(workspace, policy or settings.policy, budget, watch)
    with Retriever(asked, namespaces) as retriever:
        leading = model and _watched(_model_of(workspace, "route"), budget, watch)
        try:
            route, paper = _lead(retriever, question, doc_id, filters, leading)
        except LanguageModelError:
            # The agent asks next, and the answer says why that failed.
            route, paper = _lead(retriever, question, doc_id, filters, None)
        route = replace(route, told=(*route.told, *say(question, why_not)))
        made = PaperQuestion(
            question, route, paper, tuple(namespaces), tuple(filters),
            mode if settings.agentic else "single",
        )  # fmt: skip
        answer = answer_papers(
            retriever, made, limits, model=model,
            scorer=open_answer_scorer(workspace, budget, watch), clock=clock, budget=budget,
            watch=watch,
        )  # fmt: skip
    texts = {".md": render_answer(answer), ".json": write_answer(answer)}
    what = f"answer to '{question}'"
    stored = store_answer(workspace, STEM, texts, what, notify)
    return AnswerOutcome(answer, *stored, clock() - started)


def store_answer(
    workspace: Workspace, stem: str, texts: dict[str, str], what: str, notify: Callable[[str], None]
) -> tuple[Path, Path, bool]:
    """Store an answer under `outputs/`, where the same one does not stand there already.

    Args:
        texts: Markdown and JSON, by suffix.
        what: it is, for the log of versions.

    Returns:
        The two files, and whether they are new.
    """
    for _, stored in reversed(find_versions(workspace.outputs, stem, ".json")):
        page = stored.with_suffix(".md")
        if page.is_file() and stored.read_text(encoding="utf-8") == texts[".json"]:
            return page, stored, False
    written = write_version(
        workspace.outputs, stem, texts, workspace.meta / "version_log.jsonl",
        workspace.locks / "outputs.lock", what, notify,
    )  # fmt: skip
    return written.files[".md"], written.files[".json"], True


def _lead(
    retriever: Retriever,
    question: str,
    doc_id: str | None,
    filters: Sequence[str],
    model: "ChatModel | None",
) -> tuple[Route, str | None]:
    """Return the route of a question, and the one paper that it means."""
    require_question(question)
    chosen = citable_filters(filters)
    if doc_id is not None:
        # Else each search is refused, and the answer says that the sources do not tell.
        _refuse_uncitable(retriever, retriever.document_uids([doc_id]))
        route = route_question(question, [doc_id], model)
        return replace(route, intent="SPECIFIC_PAPER"), doc_id
    routed = route_papers(retriever, question, llm=model, filters=chosen)
    paper = routed.papers[0].doc_uid if routed.track == "paper" else None
    return replace(routed.route, told=routed.told), paper


def _refuse_uncitable(retriever: Retriever, uids: Sequence[str]) -> None:
    withdrawn = retriever.not_citable()
    told = ""
    for reader in retriever.readers:
        for row in reader.documents().select(["doc_uid", "citable"]).to_pylist():
            if row["doc_uid"] not in uids:
                continue
            why = withdrawn.get(f"{reader.namespace}:{row['doc_uid']}")
            if row["citable"] and why is None:
                return
            told = why or f"`{row['doc_uid']}` must not be cited"
    raise UsageError(f"{told}. An answer cites what it says: name another document.")


def limits_of(settings: AnswerSettings) -> Limits:
    """Return the limits that the settings name."""
    return Limits(
        settings.max_iterations, settings.calls, settings.repairs, settings.tokens, settings.seconds
    )


def replay_stored(path: Path) -> Replay:
    """Make a stored answer again from its own record and compare it byte for byte.

    Raises:
        UsageError: no answer stands there.
        DamagedFileError: it is not what was written.
        RecordingError: this version goes another way than the one that made it.
    """
    data = path.with_suffix(".json")
    if not data.is_file():
        raise UsageError(
            f"{path}: there is no answer ({data.name} is missing). Name one of outputs/, for "
            "instance outputs/answer_v001.md."
        )
    loaded: Any = read_json(data, "answer")
    if str(loaded.get("schema", "")).startswith("rag-assets/law-answer/"):
        from rag_assets.answering import law

        stored_law = law.law_answer_from_json(loaded)
        again = law.replay_law_answer(stored_law)
        text, page = law.write_law_answer(again), law.render_law_answer(again)
        publications = stored_law.publications
    else:
        stored = answer_from_json(loaded)
        made = replay_answer(stored)
        text, page = write_answer(made), render_answer(made)
        publications = stored.publications
    asked = tuple(f"{name}/{publication}" for name, publication in publications.items())
    return Replay(data.name, asked, tuple(_differences(data, loaded, text, page)))


def _differences(data: Path, loaded: Any, text: str, made: str) -> Iterator[str]:
    page = data.with_suffix(".md")
    fields = [f"{data.name}: {told}" for told in compare(loaded, json.loads(text))]
    yield from fields
    if not fields and data.read_text(encoding="utf-8") != text:
        yield f"{data.name}: the values are the same, the file was written otherwise (white space)"
    if not page.is_file():
        yield f"{page.name} is missing"
    elif (shown := page.read_text(encoding="utf-8")) != made:
        yield f"{page.name} differs: {first_difference(shown, made)}"


def open_answering_model(
    workspace: Workspace, policy: PolicyChoice, budget: Budget, watch: Watch
) -> "tuple[ChatModel | None, tuple[Notice, ...]]":
    """Return the model that searches and writes, None for rules; and why it is not asked.

    Raises:
        ConfigurationError: a model is wanted and none is named, or it cannot be opened.
    """
    kind = workspace.settings.llm.for_role("agent").kind
    if policy == "model" and kind == "none":
        raise ConfigurationError(
            "an answer by a model was asked for, and 'llm' names none (config.yaml). Set llm.kind "
            "and llm.model, or llm.roles.agent, or ask with --policy rules."
        )
    if policy == "auto" and kind == "local":
        return None, (("slow_model", {}),)
    if policy == "rules" or kind == "none":
        return None, ()
    return _watched(_model_of(workspace, "agent"), budget, watch), ()


def _model_of(workspace: Workspace, role: LlmRole) -> "ChatModel | None":
    from rag_assets.llm import open_chat_model

    return open_chat_model(workspace, role=role)


def _watched(model: "ChatModel | None", budget: Budget, watch: Watch) -> "ChatModel | None":
    """Return a model that tells what it writes and how long it has been silent."""
    if model is None:
        return None
    name = model.name.partition(":")[2]

    def listen() -> Callable[[str], None]:
        written, told, begun, silent = "", 0, time.monotonic(), 0

        def hear(piece: str) -> None:
            nonlocal written, told, silent
            watch("")
            written += piece
            waited = int(time.monotonic() - begun) // _SECONDS_BETWEEN * _SECONDS_BETWEEN
            if waited > silent:
                silent = waited
                watch(f"Waiting for {name}: {waited} s")
            draft = _DRAFT.search(written) if piece else None
            said = [*read_statements(json.loads(f'"{draft[1]}"'))][:-1] if draft else []
            for sentence, _ in said[told:]:
                watch(f"Draft, not checked yet: {sentence}")
            told = max(told, len(said))

        return hear

    return WatchedModel(model, budget, listen)


def open_answer_scorer(
    workspace: Workspace, budget: Budget | None = None, watch: Watch = unwatched
) -> "Scorer":
    """Return what reads the sentences of a workspace's answers."""
    model = _watched(open_verifying_model(workspace), budget or Budget(), watch)
    return answer_scorer(workspace.settings, model)


def answer_scorer(settings: Settings, chat: "ChatModel | None" = None) -> "Scorer":
    """Return what reads the sentences of answers: what compares alone does not stand for it.

    Args:
        chat: reads, where `verify.scorer` is a language model.
    """
    verify = settings.verify
    if verify.scorer == "similarity" or (verify.scorer == "auto" and chat is None):
        # Nearness of topic would let a wrong number pass, and the small reader lets changed words
        # pass (docs/judging.md): nobody looks at each sentence of an answer as at a verdict.
        verify = verify.model_copy(update={"scorer": "facts"})
    return load_scorer(verify, chat=chat)
