"""Drafts with known truth: sentences that cite one source each."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from rapidfuzz import fuzz

from rag_assets.evaluation.json_rows import read_rows
from rag_assets.model import HAN

Group = Literal["en", "zh", "cross", "law"]
"""Sentence and paper in English, in Chinese, in two languages; any sentence about a statute."""

GROUPS: tuple[Group, ...] = ("en", "zh", "cross", "law")
# A quotation stands in a text from this partial ratio on, without white space and punctuation.
FOUND = 85
_KEYS = frozenset({"paper", "sentence", "label", "evidence"})


class DraftRow(BaseModel):
    """A sentence of a draft, with what its source says of it.

    Args:
        paper: path of the cited file below a folder of sources, or in an archive of them.
        kind: how it is supported, or what is wrong with it.
        evidence: quotations that decide it, verbatim.
        wrong_span: the words that are not supported; empty where all are, or none was named.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: str
    paper: str = Field(min_length=1)
    language: Literal["en", "zh"]
    sentence: str = Field(min_length=1)
    label: Literal["SUPPORTED", "PARTLY", "NOT"]
    kind: str
    evidence: Annotated[tuple[str, ...], Field()] = ()
    wrong_span: str = ""

    @property
    def group(self) -> Group:
        """The group that the figures are given for."""
        return group_of(self.paper, self.language)


def group_of(paper: str, language: str) -> Group:
    """Return the group of a sentence in a language about a source, by the name of the source."""
    if paper.startswith("law"):
        return "law"
    if (language == "zh") != bool(HAN.search(paper)):
        return "cross"
    return "zh" if language == "zh" else "en"


def bare(text: str) -> str:
    """Return a text without white space and punctuation."""
    return re.sub(r"\W", "", text)


def is_located(evidence: Sequence[str], shown: str) -> bool:
    """Say whether all quotations that decide a sentence stand in what is shown."""
    there = bare(shown)
    return all(fuzz.partial_ratio(bare(each), there) >= FOUND for each in evidence)


def is_draft_file(file: Path) -> bool:
    """Say whether the first line of a file is a row of a draft with known truth."""
    with file.open(encoding="utf-8") as lines:
        first = next((line for line in lines if line.strip()), "")
    try:
        found = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and found.keys() >= _KEYS


def read_draft_rows(file: Path) -> list[DraftRow]:
    """Return the rows of a file in their order.

    Raises:
        UsageError: names file and line of what is no such row.
    """
    form = (
        "a row of a draft has id, paper, language, sentence, label (SUPPORTED, PARTLY or NOT), "
        "kind and evidence"
    )
    return [row for _, row in read_rows(file, DraftRow.model_validate, form)]
