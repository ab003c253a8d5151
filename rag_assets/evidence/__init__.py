"""Evidence packs: what may be cited to answer a question, and where it stands."""

from rag_assets.evidence.asking import AskOutcome, ask, make_pack
from rag_assets.evidence.pack import (
    EvidenceItem,
    EvidencePack,
    pack_from_json,
    pack_to_json,
)
from rag_assets.evidence.question import (
    Question,
    SavedQuestion,
    list_questions,
    partition_key,
    read_question,
    save_question,
)
from rag_assets.evidence.rendering import render_pack

__all__ = [
    "AskOutcome",
    "EvidenceItem",
    "EvidencePack",
    "Question",
    "SavedQuestion",
    "ask",
    "list_questions",
    "make_pack",
    "pack_from_json",
    "pack_to_json",
    "partition_key",
    "read_question",
    "render_pack",
    "save_question",
]
