"""What a PDF calls itself: its metadata where they are true, else the largest line of page 1."""

import html
import re
from collections.abc import Sequence
from itertools import pairwise

from rag_assets.parsing.cleaning import clean_line, join_texts
from rag_assets.parsing.pdf_lines import Line, Page

_MIN_LETTERS, _MAX_CHARACTERS = 4, 300
# A title in the metadata is believed when most of its words are printed on the first page.
_MIN_PRINTED_SHARE = 0.6
_FILE_NAME = re.compile(
    r"\.(docx?|rtf|tex|dvi|pdf|ps|indd|qxd|pptx?|odt|fm|wpd)\b"
    r"|^(microsoft |untitled|slide )|\d\.\.\d",
    re.IGNORECASE,
)
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_]+")
_LETTER = re.compile(r"[^\W\d_]")
_SAME_SIZE_POINTS = 0.3
# Titles stand in the upper part of the first page.
_TITLE_REGION_SHARE = 0.7
_MIN_TITLE_WORDS = 3


def find_title(metadata_title: str, first_page: Page) -> str | None:
    """Return the title of a document, None where neither metadata nor print shows one."""
    # Some publishers write entities (`&#x2010;`) into the document information.
    stated = clean_line(html.unescape(metadata_title))
    printed_lines = [line for block in first_page.blocks for line in block if line.upright]
    if _is_sensible(stated) and _is_printed(stated, printed_lines):
        return stated
    printed = _largest_line(printed_lines, _TITLE_REGION_SHARE * first_page.height)
    if printed is None and _is_sensible(stated) and not printed_lines:
        return stated
    return printed


def _is_sensible(title: str) -> bool:
    return (
        len(title) <= _MAX_CHARACTERS
        and len(_LETTER.findall(title)) >= _MIN_LETTERS
        and not _FILE_NAME.search(title)
    )


def _is_printed(title: str, lines: Sequence[Line]) -> bool:
    printed = set(_WORD.findall(" ".join(line.text for line in lines).lower()))
    words = _WORD.findall(title.lower())
    return bool(words) and sum(word in printed for word in words) >= _MIN_PRINTED_SHARE * len(words)


def _largest_line(lines: Sequence[Line], region_end: float) -> str | None:
    candidates = [line for line in lines if line.box[1] <= region_end]
    sizes = sorted({round(line.size, 1) for line in candidates}, reverse=True)
    for size in sizes:
        title = _join_run(
            [line for line in candidates if abs(line.size - size) < _SAME_SIZE_POINTS]
        )
        if _is_sensible(title) and len(_WORD.findall(title)) >= _MIN_TITLE_WORDS:
            return title
    return None


def _join_run(lines: Sequence[Line]) -> str:
    """Join the first run of lines that follow each other closely."""
    title = lines[0].text
    for before, line in pairwise(lines):
        if line.box[1] - before.box[3] > 1.5 * before.size or line.box[1] < before.box[1] - 1:
            break
        title, separator = join_texts(title, line.text)
        title += separator + line.text
    return title
