"""Evidence packs: what may be cited to answer a question, and where it stands."""

from rag_assets.evidence.asking import (
    AskOutcome,
    Replay,
    ask,
    mark_retired,
    note_pack,
    noted_packs,
    packs_without_publication,
    read_pack,
    replay,
    take_notes,
)
from rag_assets.evidence.making import chat_model_of, check_question, make_pack
from rag_assets.evidence.pack import (
    EvidenceItem,
    EvidencePack,
    Mode,
    PackRequest,
    PackSource,
    pack_from_json,
    pack_to_json,
    write_pack,
)
from rag_assets.evidence.question import (
    Question,
    SavedQuestion,
    list_questions,
    partition_key,
    read_question,
    readable_questions,
    save_question,
)
from rag_assets.evidence.rendering import render_pack

# Modules that other packages may import from.
PUBLIC_MODULES = (
    "answering",
    "asking",
    "bibliography",
    "briefing",
    "locating",
    "pictures",
    "question",
    "quoting",
    "rendering",
)
