"""Evidence packs: what may be cited to answer a question, and where it stands."""

from typing import TYPE_CHECKING

from rag_assets.evidence.asking import AskOutcome, ask
from rag_assets.evidence.making import check_question, make_pack
from rag_assets.evidence.noted import note_pack, noted_packs, take_notes
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
    readable_questions,
    save_question,
)
from rag_assets.evidence.rendering import render_pack
from rag_assets.evidence.replaying import Replay, replay
from rag_assets.evidence.retirement import mark_retired, packs_without_publication
from rag_assets.evidence.schema import pack_schema
from rag_assets.lazily import lazy_names

if TYPE_CHECKING:
    from rag_assets.evidence.making import chat_model_of
    from rag_assets.evidence.pack import Mode

# Modules of this room that other rooms may import from, besides the names below.
PUBLIC_MODULES = (
    "answering",
    "bibliography",
    "laws",
    "locating",
    "pictures",
    "question",
    "quoting",
    "replaying",
    "wording",
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

# Imported on first use: who needs only the others must not wait for these.
__getattr__ = lazy_names(
    __name__,
    {
        "Mode": "pack",
        "chat_model_of": "making",
    },
)
