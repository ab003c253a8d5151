"""Questions about law, answered by articles: whole, cited, in the wording that holds on a day."""

from rag_assets.answering.law.asking import LawQuestion, answer_statutes, replay_law_answer
from rag_assets.answering.law.record import (
    LawAnswer,
    LawConflict,
    LawPoint,
    LawSource,
    law_answer_from_json,
    law_answer_to_json,
    write_law_answer,
)
from rag_assets.answering.law.rendering import render_law_answer, tell_conflict
from rag_assets.answering.law.storing import (
    LAW_STEM,
    LawOutcome,
    answer_law,
    ask_statutes,
    replay_stored_law,
)
from rag_assets.answering.law.wording import Words, words_for

__all__ = [
    "LAW_STEM",
    "LawAnswer",
    "LawConflict",
    "LawOutcome",
    "LawPoint",
    "LawQuestion",
    "LawSource",
    "Words",
    "answer_law",
    "answer_statutes",
    "ask_statutes",
    "law_answer_from_json",
    "law_answer_to_json",
    "render_law_answer",
    "replay_law_answer",
    "replay_stored_law",
    "tell_conflict",
    "words_for",
    "write_law_answer",
]
