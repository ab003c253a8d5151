"""Questions about law, answered by articles: whole, cited, in the wording that holds on a day."""

from rag_assets.answering.law.asking import (
    LAW_STEM,
    LawOutcome,
    LawQuestion,
    answer_statutes,
    ask_statutes,
    replay_law_answer,
)
from rag_assets.answering.law.record import (
    LawAnswer,
    LawConflict,
    LawPoint,
    LawSource,
    law_answer_from_json,
    law_answer_to_json,
    write_law_answer,
)
from rag_assets.answering.law.rendering import (
    Words,
    render_law_answer,
    show_rank,
    show_ranks,
    tell_conflict,
    words_for,
)
