"""Judgements that were made before, kept by all that decides them."""

from typing import Any, ClassVar

from rag_assets.auditing.judged import Judged, judged_from_json, judged_to_json
from rag_assets.auditing.result_store import ResultStore
from rag_assets.model import hash_fields
from rag_assets.workspace import Workspace


class VerdictStore(ResultStore[Judged]):
    """Judgements of citations by `judgement_key`."""

    what: ClassVar[str] = "judgements of citations"
    most: ClassVar[int] = 20_000  # about 50 MB; a thesis has some hundreds

    @staticmethod
    def to_json(result: Judged) -> Any:
        """Return a judgement as values that JSON knows."""
        return judged_to_json(result)

    @staticmethod
    def from_json(stored: Any) -> Judged:
        """Return what `to_json` made.

        Raises:
            TypeError, KeyError, ValueError: it was made by another version of the product.
        """
        return judged_from_json(stored)


def open_verdicts(workspace: Workspace) -> VerdictStore:
    """Return the judgements that a workspace keeps."""
    return VerdictStore(
        workspace.store,
        workspace.key_of(workspace.judgements / "judgements.jsonl"),
        workspace.locks / "citation_judgements.lock",
    )


def judgement_key(**decisive: Any) -> str:
    """Return the key of a judgement: SHA-256 of all that decides it, JSON-able, by name."""
    return hash_fields(decisive)
