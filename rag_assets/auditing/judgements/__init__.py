"""What people have decided on citations: kept in a journal, joined where reports are made."""

from rag_assets.auditing.judgements.joining import (
    describe_judgement,
    join_judgement,
    join_judgements,
    without_judgement,
    without_judgements,
)
from rag_assets.auditing.judgements.journal import (
    Judgements,
    append_judgement,
    judgements_of,
    read_judgements,
    torn_judgement,
)
from rag_assets.auditing.judgements.record import (
    DECISIONS,
    ChosenPassage,
    Judgement,
    citation_of,
    judge_row,
    version_of,
)
from rag_assets.auditing.verdict import Decision

__all__ = [
    "DECISIONS",
    "ChosenPassage",
    "Decision",
    "Judgement",
    "Judgements",
    "append_judgement",
    "citation_of",
    "describe_judgement",
    "join_judgement",
    "join_judgements",
    "judge_row",
    "judgements_of",
    "read_judgements",
    "torn_judgement",
    "version_of",
    "without_judgement",
    "without_judgements",
]
