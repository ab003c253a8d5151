"""Evidence packs: what may be cited to answer a question, and where it stands."""

from rag_assets.evidence.asking import AskOutcome, ask
from rag_assets.evidence.making import check_question, make_pack
from rag_assets.evidence.noted import note_pack, noted_packs
from rag_assets.evidence.pack import (
    EvidenceItem,
    EvidencePack,
    PackRequest,
    PackSource,
    pack_from_json,
    pack_to_json,
    write_pack,
)
from rag_assets.evidence.query_runs import read_pack
from rag_assets.evidence.question import (
    Question,
    SavedQuestion,
    list_questions,
    partition_key,
    read_question,
    save_question,
)
from rag_assets.evidence.rendering import render_pack
from rag_assets.evidence.replaying import Replay, replay
from rag_assets.evidence.retirement import mark_retired, packs_without_publication
from rag_assets.evidence.schema import pack_schema

__all__ = [
    "AskOutcome",
    "EvidenceItem",
    "EvidencePack",
    "PackRequest",
    "PackSource",
    "Question",
    "Replay",
    "SavedQuestion",
    "ask",
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
    "render_pack",
    "replay",
    "save_question",
    "write_pack",
]
