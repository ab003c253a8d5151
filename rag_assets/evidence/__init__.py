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
from rag_assets.evidence.retirement import mark_retired, packs_without_publication

__all__ = [
    "AskOutcome",
    "EvidenceItem",
    "EvidencePack",
    "Question",
    "SavedQuestion",
    "ask",
    "list_questions",
    "make_pack",
    "mark_retired",
    "pack_from_json",
    "pack_to_json",
    "packs_without_publication",
    "partition_key",
    "read_question",
    "render_pack",
    "save_question",
]
