"""Papers with questions and the paragraphs that answer them (QASPER, Dasigi et al., NAACL 2021)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from rag_assets.evaluation.cuts import Span
from rag_assets.evaluation.json_rows import read_rows
from rag_assets.model import UsageError

ANNOTATED = "annotated"
# How QASPER writes the path of a section.
_STEP = " ::: "
# Of the nearest heading; Markdown has six.
_DEEPEST = 6


class _Row(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class PaperSection(_Row):
    """A section: its path in `name`, steps apart by ` ::: `."""

    name: str | None = None
    paragraphs: tuple[str, ...] = ()


class PaperQuestion(_Row):
    """A question; its evidence are paragraphs of the paper, character for character."""

    id: Annotated[str, Field(min_length=1)]
    question: Annotated[str, Field(min_length=1)]
    evidence: tuple[str, ...] = ()
    evidence_source: str = ANNOTATED


class Paper(_Row):
    """One line of papers.jsonl."""

    paper_id: Annotated[str, Field(min_length=1)]
    title: str | None = None
    abstract: str | None = None
    sections: tuple[PaperSection, ...] = ()
    questions: tuple[PaperQuestion, ...] = ()


@dataclass(frozen=True, slots=True)
class WrittenPaper:
    """A paper as Markdown, and where its paragraphs stand in it.

    Args:
        paragraphs: spans in order; the abstract's is one of them.
    """

    text: str
    paragraphs: tuple[Span, ...]


def read_papers(file: Path) -> list[Paper]:
    """Return the papers of a file.

    Raises:
        UsageError: it cannot be read, a row has another shape, a paper stands twice.
    """
    papers: dict[str, Paper] = {}
    for number, paper in read_rows(file, Paper.model_validate, "not a paper"):
        if paper.paper_id in papers:
            raise UsageError(f"{file}, line {number}: paper '{paper.paper_id}' stands twice.")
        papers[paper.paper_id] = paper
    if not papers:
        raise UsageError(f"{file} holds no papers.")
    return list(papers.values())


def scored_questions(paper: Paper) -> list[PaperQuestion]:
    """Return the questions with annotated evidence."""
    return [
        question
        for question in paper.questions
        if question.evidence and question.evidence_source == ANNOTATED
    ]


def write_paper(paper: Paper) -> WrittenPaper:
    """Return a paper as Markdown: title, abstract, sections under their headings."""
    parts: list[str] = []
    spans: list[Span] = []
    length = 0
    for part, is_paragraph in _parts(paper):
        if parts:
            length += 2  # the blank line between two parts
        if is_paragraph:
            spans.append((length, length + len(part)))
        parts.append(part)
        length += len(part)
    return WrittenPaper("\n\n".join(parts) + "\n", tuple(spans))


def _parts(paper: Paper) -> Iterator[tuple[str, bool]]:
    """Yield headings and paragraphs in order, and which of the two each is."""
    if paper.title:
        yield f"# {_one_line(paper.title)}", False
    if paper.abstract and paper.abstract.strip():
        yield "## Abstract", False
        yield paper.abstract.strip(), True
    before: Sequence[str] = ()
    for section in paper.sections:
        path = [_one_line(step) for step in (section.name or "").split(_STEP) if step.strip()]
        same = 0
        while same < min(len(path), len(before)) and path[same] == before[same]:
            same += 1
        # A section that follows one of its own name is still told where it begins.
        for depth in range(min(same, len(path) - 1) if path else 0, len(path)):
            yield f"{'#' * min(depth + 2, _DEEPEST)} {path[depth]}", False
        before = path
        for paragraph in section.paragraphs:
            if paragraph.strip():
                yield paragraph, True


def _one_line(text: str) -> str:
    return " ".join(text.split())
