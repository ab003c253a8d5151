"""Questions, answered by checked sentences, with the steps that led to them.

About papers here, about law in `law`.
"""

from typing import TYPE_CHECKING

from rag_assets.lazily import lazy_names

if TYPE_CHECKING:
    from rag_assets.answering.asking import PaperQuestion, answer_papers, replay_answer
    from rag_assets.answering.record import (
        Answer,
        AnswerReader,
        AnswerSource,
        answer_from_json,
        answer_to_json,
        write_answer,
    )
    from rag_assets.answering.rendering import STEPS_HEADING, render_answer, word_of
    from rag_assets.answering.saved import answer_saved, note_answer, noted_answers
    from rag_assets.answering.storing import (
        AnswerOutcome,
        PolicyChoice,
        answer_scorer,
        ask_papers,
        limits_of,
        open_answer_scorer,
        replay_stored,
    )
    from rag_assets.answering.tools import PaperSearch, paper_tools

# Modules of this room that other rooms may import from, besides the names below.
PUBLIC_MODULES = ("agents", "law", "saved")


# Imported on first use: who needs only the others must not wait for these.
__getattr__ = lazy_names(
    __name__,
    {
        "Answer": "record",
        "AnswerOutcome": "storing",
        "AnswerReader": "record",
        "AnswerSource": "record",
        "PaperQuestion": "asking",
        "PaperSearch": "tools",
        "PolicyChoice": "storing",
        "STEPS_HEADING": "rendering",
        "answer_from_json": "record",
        "answer_papers": "asking",
        "answer_saved": "saved",
        "answer_scorer": "storing",
        "answer_to_json": "record",
        "ask_papers": "storing",
        "limits_of": "storing",
        "note_answer": "saved",
        "noted_answers": "saved",
        "open_answer_scorer": "storing",
        "paper_tools": "tools",
        "render_answer": "rendering",
        "replay_answer": "asking",
        "replay_stored": "storing",
        "word_of": "rendering",
        "write_answer": "record",
    },
)
