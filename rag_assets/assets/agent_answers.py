"""What the UI shows of an answer."""

from typing import TYPE_CHECKING

import dagster as dg

from rag_assets.assets.lineage_links import lineage_metadata
from rag_assets.assets.reporting import Metadata, table
from rag_assets.workspace import Workspace

if TYPE_CHECKING:
    from rag_assets.agents import CheckedStatement
    from rag_assets.answering import Answer, AnswerOutcome


def answer_metadata(workspace: Workspace, outcome: "AnswerOutcome") -> Metadata:
    """Return what the UI shows of an answer."""
    from rag_assets.answering import render_short

    answer = outcome.answer
    trace = answer.trace
    return {
        "question": answer.question,
        "kept statements": len(answer.statements),
        "set apart": len(answer.unsupported),
        "answer": dg.MetadataValue.md(render_short(answer)),
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
