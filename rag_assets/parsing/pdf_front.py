"""The front matter of a paper: title, authors, year, DOI, abstract."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rag_assets.parsing.pdf_lines import Page
from rag_assets.parsing.pdf_paragraphs import Paragraph
from rag_assets.parsing.pdf_title import find_title


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What a document says of itself, with the paragraphs that say it."""

    title: str | None
    authors: tuple[str, ...] = ()
    year: int | None = None
    doi: str | None = None


def mark_front_matter(
    paragraphs: Sequence[Paragraph], pages: Sequence[Page], metadata: Mapping[str, Any]
) -> FrontMatter:
    """Find the front matter and give its paragraphs the kinds `title` and `front`, in place.

    Args:
        paragraphs: of the whole document, in reading order.
        pages: heads and feet removed.
        metadata: the PDF's document information.
    """
    return FrontMatter(find_title(str(metadata.get("title") or ""), pages[0]))


def find_abstract(paragraphs: Sequence[Paragraph]) -> tuple[Paragraph, ...]:
    """Return the paragraphs of the abstract, without its heading; empty where there is none.

    Args:
        paragraphs: headings are marked already.
    """
    return ()
