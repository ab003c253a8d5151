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
    pack_schema,
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

# Modules of this room that other rooms may import from, besides the names below.
PUBLIC_MODULES = (
    "answering",
    "asking",
    "bibliography",
    "locating",
    "pictures",
    "question",
    "quoting",
    "rendering",
)

__all__ = [
    "AskOutcome",
    "EvidenceItem",
    "EvidencePack",
    "Mode",
    "PackRequest",
    "PackSource",
    "Question",
    "Replay",
    "SavedQuestion",
    "ask",
    "chat_model_of",
    "check_question",
    "list_questions",
    "make_pack",
    "mark_retired",
    "note_pack",
    "noted_packs",
    "pack_from_json",
    "pack_schema",
    "pack_to_json",
    "packs_without_publication",
    "partition_key",
    "read_pack",
    "read_question",
    "readable_questions",
    "render_pack",
    "replay",
    "save_question",
    "take_notes",
    "write_pack",
]
