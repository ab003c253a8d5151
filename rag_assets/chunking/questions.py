"""Questions with their answers: in notes, lists of frequent questions, two-column tables."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from rag_assets.chunking.outline import Pair, Span
from rag_assets.chunking.sentences import next_visible
from rag_assets.model import Block, ParsedDocument

_MARKS = r"[ \t]*(?:[-*+•>][ \t]+|#{1,6}[ \t]+|\d{1,3}[.)、][ \t]*)?(?:\*\*|__)?"
_NUMBER = r"[ \t]?\d{0,3}(?:\*\*|__)?[ \t]*[:：.、](?:\*\*|__)?[ \t]*"
_QUESTION = re.compile(
    rf"^{_MARKS}(?:Q|Question|问题?|問題?){_NUMBER}(?=\S)", re.IGNORECASE | re.MULTILINE
)
_ANSWER = re.compile(
    rf"^{_MARKS}(?:A|Ans|Answer|答案?|回答){_NUMBER}(?=\S|\n)", re.IGNORECASE | re.MULTILINE
)
_NAMES_OF_QUESTION = frozenset({"q", "question", "questions", "问", "问题", "問題"})
_NAMES_OF_ANSWER = frozenset({"a", "answer", "answers", "答", "答案", "回答"})
_ENDS_QUESTION = re.compile(r"[?？][\"'”’」』）)*_\s]*$")
_CELL_END = re.compile(r"(?<!\\)\|")
_RULE_ROW = re.compile(r"\s*\|?(?:\s*:?-+:?\s*\|?)+\s*")
# Columns of a row as sheets write it: `column: value; column: value`.
_COLUMN = r"(?:^|[;；])\s*{}[ *_]*[:：]"
_ANY_COLUMN = re.compile(_COLUMN.format(r"[^:：;；\n]{1,40}"))
_COLUMN_OF_QUESTION, _COLUMN_OF_ANSWER = (
    re.compile(_COLUMN.format(f"(?:{'|'.join(map(re.escape, sorted(names)))})"), re.IGNORECASE)
    for names in (_NAMES_OF_QUESTION, _NAMES_OF_ANSWER)
)


def find_pairs(document: ParsedDocument) -> tuple[Pair, ...]:
    """Return the questions with answers of a document, in order and disjoint.

    They are: text from `Q:` (`Question:`, `问：` …) with an `A:` (`Answer:`, `答：` …) up to the
    next one or the end of its section; a section whose heading ends with a question mark; rows of
    a table or sheet that has a column of questions and one of answers by its header, or of a
    table of two columns whose first cells are questions. What lies in a marked pair is not
    looked at again.
    """
    text = document.text
    bounds = [(section.start, section.end) for section in document.sections] or [(0, len(text))]
    marked = [pair for start, end in bounds for pair in _marked_pairs(text, start, end)]
    tables = [pair for block in document.blocks for pair in _pairs_of_block(text, block)]
    pairs = _without_overlap([*marked, *_free(tables, marked)])
    return tuple(_without_overlap([*pairs, *_free(_asking_sections(document), pairs)]))


def _free(candidates: Sequence[Pair], taken: Sequence[Pair]) -> list[Pair]:
    """Return the candidates that touch none of `taken`, which is in order and disjoint."""
    ends = [pair.end for pair in taken]
    free = []
    for pair in candidates:
        index = bisect_left(ends, pair.start + 1)
        if index == len(taken) or taken[index].start >= pair.end:
            free.append(pair)
    return free


def _without_overlap(pairs: Sequence[Pair]) -> list[Pair]:
    kept: list[Pair] = []
    for pair in sorted(pairs, key=lambda pair: pair.start):
        if not kept or kept[-1].end <= pair.start:
            kept.append(pair)
    return kept


def _marked_pairs(text: str, start: int, end: int) -> Iterator[Pair]:
    marks = list(_QUESTION.finditer(text, start, end))
    for index, mark in enumerate(marks):
        stop = marks[index + 1].start() if index + 1 < len(marks) else end
        answer = _ANSWER.search(text, mark.end(), stop)
        if answer is None or next_visible(text, answer.end()) >= stop:
            continue
        question = _on_one_line(text[mark.end() : answer.start()])
        first, last = _trimmed(text, mark.start(), stop)
        if question:
            yield Pair(first, last, question)


def _asking_sections(document: ParsedDocument) -> list[Pair]:
    text = document.text
    headings = {block.start: block.end for block in document.blocks if block.kind == "heading"}
    pairs = []
    for section in document.sections:
        end = headings.get(section.start)
        if end is None or not _ENDS_QUESTION.search(section.title):
            continue
        if next_visible(text, end) < section.end:
            first, last = _trimmed(text, section.start, section.end)
            pairs.append(Pair(first, last, section.title.strip(" *_")))
    return pairs


def _pairs_of_block(text: str, block: Block) -> list[Pair]:
    if block.kind == "table":
        return _pairs_of_table(text, block)
    return _pair_of_row(text, block) if block.kind == "row" else []


def _pair_of_row(text: str, block: Block) -> list[Pair]:
    row = text[block.start : block.end]
    question = _COLUMN_OF_QUESTION.search(row)
    answer = _COLUMN_OF_ANSWER.search(row, question.end()) if question else None
    if question is None or answer is None or not row[answer.end() :].strip():
        return []
    following = _ANY_COLUMN.search(row, question.end(), answer.start())
    asked = _on_one_line(row[question.end() : (following or answer).start()])
    return [Pair(*_trimmed(text, block.start, block.end), asked)] if asked else []


def _pairs_of_table(text: str, block: Block) -> list[Pair]:
    rows: list[tuple[Span, list[str]]] = []
    start = block.start
    for line in text[block.start : block.end].split("\n"):
        if line.strip():
            rows.append((_trimmed(text, start, start + len(line)), _cells(line)))
        start += len(line) + 1
    has_header = len(rows) > 1 and _RULE_ROW.fullmatch(text[slice(*rows[1][0])]) is not None
    body = [(span, cells) for span, cells in (rows[2:] if has_header else rows) if any(cells)]
    columns = _asking_columns(rows[0][1]) if has_header else None
    if columns is None:
        asking = sum(bool(_ENDS_QUESTION.search(cells[0])) for _, cells in body)
        if any(len(cells) != 2 for _, cells in body) or 2 * asking <= len(body):
            return []
        columns = 0, 1
    question, answer = columns
    # A header row alone answers nothing: it stays with the first pair.
    heads = {body[0][0]: rows[0][0][0]} if body and has_header else {}
    return [
        Pair(heads.get(span, span[0]), span[1], _on_one_line(cells[question]))
        for span, cells in body
        if len(cells) > max(columns) and cells[question] and cells[answer]
    ]


def _asking_columns(header: Sequence[str]) -> tuple[int, int] | None:
    """Return which columns hold the questions and the answers, None where the header says not."""
    names = [name.strip(" *_").lower() for name in header]
    question = next((at for at, name in enumerate(names) if name in _NAMES_OF_QUESTION), None)
    answer = next((at for at, name in enumerate(names) if name in _NAMES_OF_ANSWER), None)
    return None if question is None or answer is None else (question, answer)


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|")
    if inner.endswith("|") and not inner.endswith("\\|"):
        inner = inner[:-1]
    return [cell.replace("\\|", "|").strip() for cell in _CELL_END.split(inner)]


def _on_one_line(text: str) -> str:
    return " ".join(text.strip().strip("*_").split())


def _trimmed(text: str, start: int, end: int) -> Span:
    first = next_visible(text, start)
    return first, max(first, first + len(text[first:end].rstrip()))
