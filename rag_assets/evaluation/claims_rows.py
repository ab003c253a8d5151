"""Claims with evidence and a label, one JSON object a line."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from rag_assets.chunking import split_sentences
from rag_assets.evaluation.json_rows import read_rows
from rag_assets.judging import PassageText
from rag_assets.model import count_han

SUPPORTED_LABELS = frozenset({"SUPPORT", "ATTRIBUTABLE"})
# Pieces of evidence are joined to passages of about the size that a namespace has: 200 tokens.
_PASSAGE_CHARACTERS = 1000
_HAN_CHARACTERS = 350
_MOST_PASSAGES = 10  # verify.k of spec 000; the rest of longer evidence joins the last


class _Line(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    claim: str = Field(min_length=1)
    evidence: Annotated[list[str], Field(min_length=1)]
    label: str = Field(min_length=1)
    id: str = ""
    set: str = ""
    source_doc: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """A claim with its evidence, as published."""

    id: str
    set: str
    claim: str
    evidence: tuple[str, ...]
    label: str
    source_doc: str
    language: str

    @property
    def is_supported(self) -> bool:
        """Say whether the evidence supports the whole claim (SUPPORT or ATTRIBUTABLE)."""
        return self.label in SUPPORTED_LABELS


def read_claims(file: Path) -> list[ClaimRow]:
    """Return the rows of a file in their order.

    Raises:
        UsageError: names file and line of what is no such row.
    """
    form = "a row has claim (text), evidence (a list of texts) and label"
    return [
        ClaimRow(
            found.id or f"{file.stem}-{number}", found.set or file.stem, found.claim,
            tuple(found.evidence), found.label, found.source_doc or f"line {number}",
            found.language,
        )
        for number, found in read_rows(file, _Line.model_validate, form)
    ]  # fmt: skip


def evidence_passages(evidence: Sequence[str]) -> tuple[PassageText, ...]:
    """Return a row's evidence as passages with their sentences, in order, at most ten.

    Neighbouring pieces are joined, as the sentences of a document are, up to the size of a
    passage.
    """
    passages: list[list[str]] = [[]]
    size = 0.0
    for piece in evidence:
        if not piece.strip():
            continue
        han = count_han(piece)
        length = (len(piece) - han) / _PASSAGE_CHARACTERS + han / _HAN_CHARACTERS
        if passages[-1] and size + length > 1 and len(passages) < _MOST_PASSAGES:
            passages.append([])
            size = 0.0
        passages[-1].append(piece)
        size += length
    return tuple(_passage(pieces) for pieces in passages if pieces) or (PassageText("", ((0, 0),)),)


def _passage(pieces: Sequence[str]) -> PassageText:
    text = "\n".join(pieces)
    breaks, at = [], 0
    for piece in pieces:
        at += len(piece) + 1
        breaks.append(at)
    spans = [s for s in split_sentences(text, breaks[:-1]) if text[slice(*s)].strip()]
    return PassageText(text, tuple(spans) or ((0, len(text)),))
