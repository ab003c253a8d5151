"""Sentences of drafts with known truth, and what an audit would show of the sources they cite."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from rag_assets.evaluation.claims_rows import evidence_passages
from rag_assets.finding import EvidenceFinder, OpenDocument, is_chinese
from rag_assets.judging import PassageText
from rag_assets.judging.calibrating import Label
from rag_assets.model import UsageError
from rag_assets.previewing import PreviewSource
from rag_assets.retrieval import NOT_EVIDENCE

# As an audit reads a document.
_UNSAID_SECTIONS = ("references", "acknowledgements")


class DraftRow(BaseModel):
    """A sentence that cites a source, with its truth.

    Args:
        paper: the file that it cites, relative to a folder of sources; it names the source.
        evidence: the quotations that decide it, verbatim.
        kind: of support or of error, in a word.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    sentence: str = Field(min_length=1)
    label: Label
    paper: str = Field(min_length=1)
    evidence: tuple[str, ...] = ()
    kind: str = ""
    id: str = ""

    @property
    def group(self) -> str:
        """`en` or `zh`, `cross` where sentence and source differ in language."""
        own = is_chinese(self.sentence)
        of_source = is_chinese(" ".join(self.evidence) or self.sentence)
        return "cross" if own != of_source else "zh" if own else "en"


def read_drafts(file: Path) -> list[DraftRow]:
    """Return the rows of a file in their order.

    Raises:
        UsageError: names file and line of what is no such row.
    """
    rows = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            rows.append(DraftRow.model_validate(json.loads(line)))
        except (ValueError, RecursionError) as error:
            raise UsageError(
                f"{file}, line {number}: a row has sentence, label (SUPPORTED, PARTLY or NOT), "
                f"paper and evidence (a list of texts); {str(error).splitlines()[0]}."
            ) from error
    return rows


@dataclass(slots=True)
class Sources:
    """The cited documents, each parsed and opened once.

    Args:
        folder: below which `paper` names a file; None: a reader sees the quotations themselves.
    """

    folder: Path | None
    _finder: EvidenceFinder = field(default_factory=EvidenceFinder)
    _opened: dict[str, OpenDocument] = field(default_factory=dict)

    def show(self, row: DraftRow) -> Sequence[PassageText]:
        """Return what a reader is shown for a row; nothing where its document states nothing.

        Raises:
            UsageError: there is no such file, or no folder and no quotation.
            ParseFailure: the file cannot be read.
        """
        if self.folder is None:
            if not row.evidence:
                raise UsageError(
                    f"“{row.sentence[:60]}” has no evidence: add quotations, or name the folder "
                    "of the sources with --sources."
                )
            return evidence_passages(row.evidence)
        if row.paper not in self._opened:
            self._opened[row.paper] = self._open(self.folder / row.paper)
        windows = self._opened[row.paper].find(row.sentence)
        return [PassageText(w.text, w.spans, "", w.shares, w.leads) for w in windows]

    def _open(self, file: Path) -> OpenDocument:
        if not file.is_file():
            raise UsageError(f"{file}: there is no such file; `paper` is relative to --sources.")
        preview = PreviewSource(file).chunk()
        stating = [
            chunk
            for chunk in preview.chunks
            if chunk.kind not in NOT_EVIDENCE and chunk.section_subtype not in _UNSAID_SECTIONS
        ]
        return self._finder.open(stating, preview.document.title)
