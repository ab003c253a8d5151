"""Questions whose answers are spans of a corpus, and where those spans stand in the clean text."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from rag_assets.evaluation.knowledge_evaluator import Span
from rag_assets.evaluation.sets import read_rows
from rag_assets.model import UsageError


class _Row(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class SpanReference(_Row):
    """A passage that answers, with its span in the corpus file read as UTF-8, line ends kept."""

    content: Annotated[str, Field(min_length=1)]
    start: int
    end: int


class PassageQuestion(_Row):
    """One line of questions.jsonl."""

    question: Annotated[str, Field(min_length=1)]
    corpus: Annotated[str, Field(min_length=1)]
    references: Annotated[tuple[SpanReference, ...], Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class PassageSet:
    """A folder with `corpora/<name>.md` and `questions.jsonl`.

    Args:
        corpora: path of each corpus that has questions, by name, sorted.
    """

    corpora: dict[str, Path]
    questions: tuple[PassageQuestion, ...]


def read_passage_set(folder: Path) -> PassageSet:
    """Return what `folder` holds.

    Raises:
        UsageError: a file is missing, or a row has another shape.
    """
    file = folder / "questions.jsonl"
    found = read_rows(file, PassageQuestion.model_validate, "not a question")
    questions = [question for _, question in found]
    if not questions:
        raise UsageError(f"{file} holds no questions.")
    corpora = {}
    for name in sorted({question.corpus for question in questions}):
        corpora[name] = folder / "corpora" / f"{name}.md"
        if not corpora[name].is_file():
            raise UsageError(f"{corpora[name]} is not there, but {file} asks about '{name}'.")
    return PassageSet(corpora, tuple(questions))


def place_references(
    source: str, clean: str, references: Sequence[SpanReference]
) -> list[Span | None]:
    """Return where each reference stands in the clean text, None where it does not.

    The same text: the same place. Else the same occurrence of its words, with any white space
    between them; where source and clean text hold them unequally often, the nearest one.
    """
    if source == clean:
        return [(reference.start, reference.end) for reference in references]
    return [_find(source, clean, reference) for reference in references]


def _find(source: str, clean: str, reference: SpanReference) -> Span | None:
    words = re.compile(r"\s+".join(map(re.escape, reference.content.split())))
    found = [match.span() for match in words.finditer(clean)]
    printed = [match.start() for match in words.finditer(source)]
    if len(found) == len(printed):
        before = sum(start < reference.start for start in printed)
        return found[before] if before < len(found) else None
    expected = reference.start * len(clean) / max(1, len(source))
    return min(found, key=lambda span: abs(span[0] - expected), default=None)
