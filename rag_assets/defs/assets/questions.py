"""The assets of questions: packs and answers, partitioned by the content of a file in queries/."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

import dagster as dg

from rag_assets.defs.assets.reporting import (
    OWNERS,
    Metadata,
    lineage_metadata,
    signed_work,
    table,
    text_preview,
)
from rag_assets.defs.checks import refresh_checks
from rag_assets.evidence import AskOutcome, SavedQuestion, ask, noted_packs, readable_questions
from rag_assets.model import UsageError
from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    from rag_assets.answering import Answer, AnswerOutcome
    from rag_assets.answering.agents import CheckedStatement
    from rag_assets.evidence.question import Wanted
    from rag_assets.retrieval import OpenedLibrary


def pack_metadata(workspace: Workspace, outcome: AskOutcome) -> Metadata:
    """Return what the UI shows of a pack."""
    pack = outcome.pack
    return {
        "question": pack.question,
        "documents": len(pack.doc_uids),
        "items": len(pack.items),
        "seconds": round(outcome.seconds, 3),
        "is new": outcome.is_new,
        "mode": pack.mode,
        "locator quality": ", ".join(f"{n} {c}" for n, c in pack.locator_quality.items()),
        "file": dg.MetadataValue.path(str(outcome.markdown)),
        **(
            {
                "page": dg.MetadataValue.path(str(outcome.html)),
                "page in a browser": dg.MetadataValue.url(outcome.html.absolute().as_uri()),
            }
            if outcome.html
            else {}
        ),
        "table": table(
            ("rank", "doc_uid", "where", "quote"),
            ((i.rank, i.doc_uid, i.locator, i.shown_quote) for i in pack.items),
        ),
        **lineage_metadata(
            workspace,
            (
                (source.namespace, source.doc_uid, source.content_hash, str(rank))
                for source in pack.sources
                for rank in source.ranks
            ),
        ),
        "preview": text_preview(outcome.markdown.read_text(encoding="utf-8")[:6000]),
        "publications": ", ".join(f"{n}/{p}" for n, p in pack.publications.items()),
        "digest": pack.query_id,
    }


def answer_metadata(workspace: Workspace, outcome: "AnswerOutcome") -> Metadata:
    """Return what the UI shows of an answer."""
    from rag_assets.answering import STEPS_HEADING, render_answer

    answer = outcome.answer
    trace = answer.trace
    return {
        "question": answer.question,
        "kept statements": len(answer.statements),
        "set apart": len(answer.unsupported),
        "answer": dg.MetadataValue.md(
            render_answer(answer).partition("\n")[2].partition(STEPS_HEADING)[0]
        ),
        "policy": str(trace.policy["name"]),
        "language model": _model(answer),
        "steps": len(trace.steps),
        "ended by": trace.ended_by,
        "model calls": trace.calls,
        "tokens": trace.tokens,
        "sentences checked by": answer.reader.name,
        "seconds": round(outcome.seconds, 3),
        "is new": outcome.is_new,
        "file": dg.MetadataValue.path(str(outcome.markdown)),
        **_statements("kept", answer.statements),
        **_statements("not supported by what was found", answer.unsupported),
        "what was done": table(
            ("step", "by", "action", "thought"),
            ((s.number, s.by, s.action or "none", s.thought or s.note or "") for s in trace.steps),
        ),
        **lineage_metadata(
            workspace,
            (
                (source.namespace, source.doc_uid, source.content_hash, alias)
                for source in outcome.sources
                for alias in source.aliases
            ),
        ),
        "publications": ", ".join(f"{n}/{p}" for n, p in answer.publications.items()),
        "digest": answer.answer_id,
    }


def _model(answer: "Answer") -> str:
    by = "rules, from what the sources say" if answer.is_quoted else answer.trace.answered_by
    return f"{answer.trace.policy['name']}; answered by {by}"


def _statements(name: str, statements: "tuple[CheckedStatement, ...]") -> Metadata:
    if not statements:
        return {}
    rows = (
        (
            one.number,
            one.text[:200],
            one.quote.doc_uid if one.quote else "",
            one.quote.place if one.quote else "",
            one.quote.text if one.quote else "",
            one.reason,
        )
        for one in statements
    )
    return {name: table(("number", "statement", "doc_uid", "where", "quote", "why"), rows)}


# Every run loads this module, few search or answer: what does is imported where it is used.

_log = logging.getLogger(__name__)

QUESTIONS = dg.DynamicPartitionsDefinition(name="questions")


@dataclass(frozen=True, slots=True)
class _Face:
    """What is made of a question, and what the UI shows of it.

    Args:
        code_version: raise it when the same question may be answered otherwise.
        modes: of the questions that it is made for.
        make: stores the output of a question.
        metadata: of that output.
        noted: what commands made and nobody has told Dagster of; each has a `key`.
    """

    asset: str
    code_version: str
    description: str
    modes: "frozenset[Wanted]"
    make: "Callable[[OpenedLibrary, SavedQuestion, Callable[[str], None]], Any]"
    metadata: Callable[[Workspace, Any], Metadata]
    noted: Callable[[Workspace], Iterator[Any]]


def _make_pack(
    library: "OpenedLibrary", saved: SavedQuestion, notify: Callable[[str], None]
) -> Any:
    return ask(library, saved, html=True, today=date.today(), notify=notify)


def _make_answer(
    library: "OpenedLibrary", saved: SavedQuestion, notify: Callable[[str], None]
) -> Any:
    from rag_assets.answering import answer_saved

    return answer_saved(library, saved, notify=notify)


def _noted_answers(workspace: Workspace) -> Iterator[Any]:
    from rag_assets.answering import noted_answers

    return noted_answers(workspace)


_FACES = (
    _Face(
        "evidence_packs",
        "2",
        "An evidence pack for each question: passages that may be cited, where they "
        "stand and how they were found. Numbered files under outputs/: Markdown, JSON, and a page "
        "that shows each quote in its source.",
        frozenset({"evidence", "papers"}),
        _make_pack,
        pack_metadata,
        noted_packs,
    ),
    _Face(
        "agent_answers",
        "1",
        "An answer for each question with `mode: answer`: sentences that were checked against the "
        "passages that they cite, what was struck out, and every step that led to them. Without a "
        "language model the sentences are those of the sources. Numbered files under outputs/: "
        "Markdown and JSON.",
        frozenset({"answer"}),
        _make_answer,
        answer_metadata,
        _noted_answers,
    ),
)


def assets_of_question(question: SavedQuestion) -> tuple[dg.AssetKey, ...]:
    """Return the assets that are made for a question: by its mode."""
    return tuple(dg.AssetKey(face.asset) for face in _FACES if question.question.mode in face.modes)


def build_question_assets(
    workspace: Workspace, upstream: Sequence[dg.AssetKey]
) -> list[dg.AssetsDefinition]:
    """Return the assets of a workspace; they depend on every namespace's search_index."""
    return [_build(workspace, face, upstream) for face in _FACES]


def _build(
    workspace: Workspace, face: _Face, upstream: Sequence[dg.AssetKey]
) -> dg.AssetsDefinition:
    @dg.asset(
        key=face.asset,
        deps=list(upstream),
        group_name="workspace",
        description=face.description,
        kinds={"file", "report"},
        owners=OWNERS,
        code_version=face.code_version,
        partitions_def=QUESTIONS,
        backfill_policy=dg.BackfillPolicy.single_run(),
    )
    def outputs(context: dg.AssetExecutionContext) -> None:
        from rag_assets.retrieval import OpenedLibrary

        fresh = Workspace.open(workspace.root)
        by_key = {saved.key: saved for saved in readable_questions(fresh, context.log.warning)}
        keys = context.partition_keys
        with OpenedLibrary(fresh) as library:
            for key in keys:
                saved = _saved(by_key, key, fresh)
                if saved.question.mode not in face.modes:
                    shown = _passed_over(face, saved, is_alone=len(keys) == 1)
                    context.log.warning(shown["passed over"])
                else:
                    with signed_work(context, fresh, face.code_version):
                        outcome = face.make(library, saved, context.log.info)
                    shown = face.metadata(fresh, outcome)
                context.add_asset_metadata(shown, partition_key=key)

    return outputs


def _saved(by_key: Mapping[str, SavedQuestion], key: str, workspace: Workspace) -> SavedQuestion:
    if key not in by_key:
        raise UsageError(
            f"no question in {workspace.queries} has the content of '{key}' any more: it was "
            "edited or removed. Ask the present one: `rag query --file FILE`."
        )
    return by_key[key]


def _passed_over(face: _Face, saved: SavedQuestion, *, is_alone: bool) -> Metadata:
    """Return what is shown of a question of another mode; one that was chosen alone is an error.

    All questions are partitions of both assets, so whoever materializes all of them means those
    that fit.
    """
    (fitting,) = (key.to_user_string() for key in assets_of_question(saved))
    told = (
        f"{saved.path.name} asks for mode '{saved.question.mode}', of which {fitting} are made and "
        f"no {face.asset}"
    )
    if is_alone:
        raise UsageError(f"{told}. Materialize {fitting}, or change `mode` in the file.")
    return {"passed over": f"{told}."}


def register_questions(workspace: Workspace, instance: dg.DagsterInstance) -> None:
    """Make each question of queries/ a partition, so that it can be materialized by its key.

    The sensor does it where there is one; keys whose files went are its to take away.
    """
    keys = [saved.key for saved in readable_questions(workspace, _log.warning)]
    if keys:
        instance.add_dynamic_partitions(str(QUESTIONS.name), keys)


def record_noted(workspace: Workspace, instance: dg.DagsterInstance) -> None:
    """Make materializations of what commands have made of questions since the last run."""
    # What people decide on citations is found by looking; packs change when one is made.
    changed = {"citations_are_supported"}
    for face in _FACES:
        for outcome in face.noted(workspace):
            changed.add("packs_cite_a_publication")
            instance.add_dynamic_partitions(str(QUESTIONS.name), [outcome.key])
            instance.report_runless_asset_event(
                dg.AssetMaterialization(
                    asset_key=face.asset,
                    partition=outcome.key,
                    metadata=face.metadata(workspace, outcome),
                )
            )
    refresh_checks(workspace, instance, changed)
