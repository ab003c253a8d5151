"""What is known of a paper's structure, and what a reader says of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from rag_assets.evaluation.sets import read_rows
from rag_assets.model import UsageError


class _Row(BaseModel):
    # Rows may say more, for instance where their truth comes from.
    model_config = ConfigDict(extra="ignore", frozen=True)


class KnownHeading(_Row):
    """A heading of the truth; the shallowest level may be any number."""

    level: int
    title: str


class HeadingRow(_Row):
    """One document of a `*.headings.jsonl` file. A field that is null is not scored.

    Args:
        pdf: path relative to the file that holds the row.
        optional: printed headings that count neither way.
        path: of the document; made from `pdf`, never read from a row.
    """

    pdf: Annotated[str, Field(min_length=1)]
    title: str | None = None
    headings: tuple[KnownHeading, ...] | None = None
    abstract: str | None = None
    n_references: int | None = None
    optional: tuple[str, ...] | None = None
    path: Path = Path()

    @property
    def name(self) -> str:
        """The file's name, as tables show it."""
        return self.path.name


@dataclass(frozen=True, slots=True)
class FoundHeading:
    """A heading as a reader found it, `page` from 1 or None."""

    level: int
    title: str
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reader found in one document.

    Args:
        references: entries of the list of references.
        pages: read.
        cpu_seconds: of the process, all its threads; None where it was not measured.
        wall_seconds: from bytes to result, likewise.
        blocks: (kind, page, text) in order, to say where a missed heading stands.
        failure: why the document could not be read; then nothing was found.
    """

    headings: tuple[FoundHeading, ...] = ()
    title: str | None = None
    abstract: str | None = None
    references: int = 0
    pages: int = 0
    cpu_seconds: float | None = None
    wall_seconds: float | None = None
    blocks: tuple[tuple[str, int | None, str], ...] = ()
    failure: str | None = None


def read_heading_rows(files: Sequence[Path]) -> list[HeadingRow]:
    """Return the rows of `files`, in order.

    Raises:
        UsageError: a file cannot be read or is empty, a row has another shape, a PDF is missing.
    """
    rows = [row for file in files for row in _read_file(file)]
    if not rows:
        raise UsageError(f"no rows in {', '.join(map(str, files))}: name a file that has some.")
    return rows


def _read_file(file: Path) -> list[HeadingRow]:
    rows = []
    for number, row in read_rows(file, HeadingRow.model_validate, "not a row of headings"):
        path = file.parent / row.pdf
        if not path.is_file():
            raise UsageError(
                f"{file}, line {number}: {path} is not there; 'pdf' is relative to the row's file."
            )
        rows.append(row.model_copy(update={"path": path}))
    return rows
