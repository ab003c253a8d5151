"""The list of references and its entries."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from rag_assets.parsing.cleaning import ends_sentence
from rag_assets.parsing.pdf.lines import Line
from rag_assets.parsing.pdf.paragraphs import Paragraph, make_paragraph
from rag_assets.parsing.pdf.title import FIRST_SECTION, REFERENCES_HEAD, word_count
from rag_assets.parsing.sections import category_of_title, subtype_of_title

# Where the entries of a list of references begin: by number, by label, by indent, by space.

_BRACKET = re.compile(r"[\[［【〔]\s?(\d{1,4})\s?[\]］】〕]")
_DOT = re.compile(r"(\d{1,3})\s?[.)．、](?!\d)")
_PAREN = re.compile(r"[(（](\d{1,3})[)）]")
_BARE = re.compile(r"(\d{1,3})(?=\s+[^\W\d_]|\s+[“\"‘'«]|\s*$|[A-ZÀ-Þ][a-zà-ÿ]+)")
_NUMBERED = (_BRACKET, _DOT, _PAREN, _BARE)
_LABEL = re.compile(r"\[[^\W_][\w+*’'’,.& -]{1,40}\]")
_MARKED = re.compile(
    rf"\W?(?:{_BRACKET.pattern}|{_DOT.pattern}|{_PAREN.pattern}|\[[A-Z][\w+]{{1,12}}\])"
)
_FIRST = re.compile(r"\W?(?:[\[［]\s?1\s?[\]］]|1\s?[.)．、](?!\d)|[(（]1[)）])")
_LONE_MARK = re.compile(r"[\[(（［【]?\d{1,3}[\])）］】.．、]?\.?")
_MAX_MARK_DISTANCE = 40.0
# Numbers may be lost in print or reading; more in a row are not.
_MAX_LOST = 3
# Of a list of references at least every twelfth row begins an entry.
_MIN_START_SHARE = 1 / 12
# Rows of one edge differ by hinting and by the width of their numbers (`9.` and `10.`).
_EDGE_POINTS, _NUMBER_EDGE_POINTS = 2.5, 14.0
_MIN_INDENT_POINTS, _MAX_INDENT_POINTS = 3.5, 60.0
# In a list with hanging indents so many rows are set in, at least.
_MIN_INDENTED_SHARE = 0.12
# Entries stand apart by more than lines do.
_GAP_RATIO = 1.2
_MIN_GAP_STARTS = 2
# A row that ends so far before the column's end is the last of its entry.
_SHORT_ROW_SHARE = 0.93
_TINY_RATIO = 0.65
# Rows behind a full stop or a short row are set in so much oftener where entries are indented.
_PLAIN_DIFFERENCE = 0.3
_DASHES = "-–—"


@dataclass(slots=True)
class Row:
    """Lines of one page that share a base line, from left to right.

    Args:
        column: number of the column within the list, from 0.
        indent: distance from the column's left edge in points.
        column_end: right edge of the column's longest row.
    """

    page: int
    lines: list[Line]
    text: str
    left: float
    right: float
    top: float
    bottom: float
    column: int = 0
    indent: float = 0.0
    column_end: float = 0.0


def make_rows(pieces: Sequence[tuple[int, Sequence[Line]]]) -> list[Row]:
    """Return the rows of (page, lines), with column and indent.

    Args:
        pieces: in reading order.
    """
    sizes = Counter(round(line.size, 1) for _, lines in pieces for line in lines)
    usual = sizes.most_common(1)[0][0] if sizes else 0.0
    rows: list[Row] = []
    for page, lines in pieces:
        for line in lines:
            last = rows[-1] if rows else None
            if last is not None and last.page == page and _is_beside(last, line):
                last.lines.append(line)
            else:
                rows.append(Row(page, [line], "", 0.0, 0.0, 0.0, 0.0))
    rows = _with_marks_attached(rows)
    for row in rows:
        _measure(row, usual)
    _set_columns(rows)
    return rows


def _with_marks_attached(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with numbers that the file keeps apart put before the text beside them."""
    marks = [row for row in rows if _LONE_MARK.fullmatch(row.lines[0].text) and len(row.lines) == 1]
    if not marks:
        return list(rows)
    lone = {id(row) for row in marks}
    texts = [row for row in rows if id(row) not in lone]
    attached: set[int] = set()
    for mark in marks:
        line = mark.lines[0]
        beside = [
            row
            for row in texts
            if row.page == mark.page
            and row.lines[0].shares_row(line)
            and -1 <= row.lines[0].box[0] - line.box[2] <= _MAX_MARK_DISTANCE
        ]
        if beside:
            host = min(beside, key=lambda row: row.lines[0].box[0])
            host.lines.insert(0, line)
            attached.add(id(mark))
    return [row for row in rows if id(row) not in attached]


def _is_beside(row: Row, line: Line) -> bool:
    last = row.lines[-1]
    height = max(last.size, line.size)
    return last.shares_row(line) and -3 * height <= line.box[0] - last.box[2] <= 6 * height


def _measure(row: Row, usual: float) -> None:
    main = [line for line in row.lines if line.size >= _TINY_RATIO * usual] or row.lines
    main = sorted(main, key=lambda line: line.box[0])
    row.text = " ".join([line.text for line in main])
    row.left = min(line.box[0] for line in main)
    row.right = max(line.box[2] for line in main)
    row.top = min(line.box[1] for line in main)
    row.bottom = max(line.box[3] for line in main)


def _set_columns(rows: Sequence[Row]) -> None:
    column = 0
    for before, row in pairwise(rows):
        moves_up = row.top < before.top - (before.bottom - before.top)
        moves_over = row.left > before.right
        if row.page != before.page or moves_up or moves_over:
            column += 1
        row.column = column
    columns = [[row for row in rows if row.column == number] for number in range(column + 1)]
    edges = [_left_edges(members) for members in columns]
    shared = [edge for edge, _ in edges]
    for members, (common, lowest) in zip(columns, edges, strict=True):
        # Where a column holds but one entry, its first row alone stands at the edge.
        is_alone = common - lowest > _EDGE_POINTS and any(
            abs(other - lowest) <= _EDGE_POINTS for other in shared
        )
        edge = lowest if is_alone else common
        end = max(row.right for row in members)
        for row in members:
            row.indent, row.column_end = row.left - edge, end


def _left_edges(rows: Sequence[Row]) -> tuple[float, float]:
    """Return the leftmost edge that two rows share, and the leftmost of all."""
    lefts = sorted(row.left for row in rows)
    for first, second in pairwise(lefts):
        if second - first <= _EDGE_POINTS:
            return first, lefts[0]
    return lefts[0], lefts[0]


def is_marked(text: str, first: bool = False) -> bool:
    """Tell whether a text begins like a numbered or labelled entry.

    Args:
        first: only number 1 counts.
    """
    return (_FIRST if first else _MARKED).match(text) is not None


def entry_starts(rows: Sequence[Row]) -> list[int]:
    """Return the indices of the rows that begin an entry, ascending."""
    if not rows:
        return []
    best: list[int] = []
    for mark in _NUMBERED:
        starts = _numbered_starts(rows, mark)
        if len(starts) > len(best):
            best = starts
    if _is_enough(best, rows):
        return best
    labels = [index for index, row in enumerate(rows) if _LABEL.match(row.text)]
    if _is_enough(labels, rows) and labels[0] <= 2:
        return labels
    return _unnumbered_starts(rows)


def _is_enough(starts: Sequence[int], rows: Sequence[Row]) -> bool:
    return len(starts) >= max(2, _MIN_START_SHARE * len(rows)) and starts[0] <= max(
        3, len(rows) // 4
    )


def _numbered_starts(rows: Sequence[Row], mark: re.Pattern[str]) -> list[int]:
    """Return the rows that continue the count 1, 2, 3 …; columns may come in the wrong order."""
    starts: list[int] = []
    seen: set[int] = set()
    last = 0
    edges: list[float] = []
    for index, row in enumerate(rows):
        match = mark.match(row.text)
        if match is None:
            continue
        number = int(match[1])
        begins_column = index == 0 or rows[index - 1].column != row.column
        follows = last < number <= last + _MAX_LOST
        is_jump = begins_column and number not in seen and bool(starts)
        is_restart = number == 1 and last > 2 and mark is not _BARE
        if not (follows or is_jump or is_restart or (not starts and number <= _MAX_LOST)):
            continue
        if edges and not is_restart and row.indent - median(edges) > _NUMBER_EDGE_POINTS:
            continue
        if number != last + 1 and not is_restart and _has_next(rows, index, mark, last + 1):
            continue
        starts.append(index)
        edges.append(row.indent)
        seen.add(number)
        last = number
    return starts


def _has_next(rows: Sequence[Row], index: int, mark: re.Pattern[str], wanted: int) -> bool:
    """Tell whether the number that is due comes soon after `index`."""
    for row in rows[index + 1 : index + 13]:
        match = mark.match(row.text)
        if match is not None and int(match[1]) == wanted:
            return True
    return False


def _unnumbered_starts(rows: Sequence[Row]) -> list[int]:
    hanging = _hanging_starts(rows)
    if hanging:
        return hanging
    spaced = _spaced_starts(rows)
    if spaced:
        return spaced
    return [
        index
        for index, row in enumerate(rows)
        if index == 0 or (_ends_entry(rows, index - 1) and _may_start(row.text))
    ]


def _hanging_starts(rows: Sequence[Row]) -> list[int]:
    """Return the rows at the edge where the others are set in, or those set in where few are."""
    indented = [row for row in rows if _MIN_INDENT_POINTS <= row.indent <= _MAX_INDENT_POINTS]
    if len(indented) < _MIN_INDENTED_SHARE * len(rows):
        return []
    after_end = [rows[index] for index in range(1, len(rows)) if _ends_entry(rows, index - 1)]
    others = [rows[index] for index in range(1, len(rows)) if not _ends_entry(rows, index - 1)]
    if _indented_share(after_end) > _indented_share(others) + _PLAIN_DIFFERENCE:
        return [
            index
            for index, row in enumerate(rows)
            if row.indent >= _MIN_INDENT_POINTS or index == 0
        ]
    return [
        index
        for index, row in enumerate(rows)
        if row.indent < _MIN_INDENT_POINTS
        and (index == 0 or _may_start(row.text) or _ends_entry(rows, index - 1))
        and row.text[0] not in _DASHES
    ]


def _indented_share(rows: Sequence[Row]) -> float:
    return sum(row.indent >= _MIN_INDENT_POINTS for row in rows) / max(1, len(rows))


def _spaced_starts(rows: Sequence[Row]) -> list[int]:
    gaps = [
        row.top - before.top
        for before, row in pairwise(rows)
        if row.column == before.column and row.top > before.top
    ]
    if not gaps:
        return []
    leading = sorted(gaps)[len(gaps) // 4]
    starts = [0]
    fitting = 0
    for index in range(1, len(rows)):
        before, row = rows[index - 1], rows[index]
        if row.column == before.column:
            if row.top - before.top > _GAP_RATIO * leading:
                starts.append(index)
                fitting += _may_start(row.text) and _ends_entry(rows, index - 1)
        elif ends_sentence(before.text) and _may_start(row.text):
            starts.append(index)
    return starts if len(starts) > _MIN_GAP_STARTS else []


def _ends_entry(rows: Sequence[Row], index: int) -> bool:
    row = rows[index]
    column_start = row.left - row.indent
    is_short = row.right - column_start < _SHORT_ROW_SHARE * (row.column_end - column_start)
    return ends_sentence(row.text) or is_short


def _may_start(text: str) -> bool:
    return text[0].isupper() or not text[0].isascii() or text[0] in "\"'“["


# The lists of references of a PDF, one paragraph an entry.

# What a list is made of; figures, tables and captions that float into it stay outside.
_LISTED_KINDS = ("paragraph", "list", "footnote", "reference", "unplaced_heading")
_HEAD_KINDS = ("heading", "unplaced_heading", "paragraph", "list")
# Signs of a bibliographic entry: years, initials, volumes with pages, publishers' words.
_SIGNS = re.compile(
    r"\b(?:1[89]\d\d|20[0-4]\d)[a-z]?\b|\bet al\b|等\s*[.,，]|\b(?:pp?|vol|no|eds?)\.\s?[\d(]?|"
    r"\b\d{1,4}\s?\(\d{1,3}\)|\d+\s?[:,]\s?[a-zA-Z]?\d+\s?[-–—]\s?[a-zA-Z]?\d+|"
    r"\bdoi\b|https?:|arxiv|www\.|\bin:? proc|\bproceedings\b|\bjournal\b|\bpress\b|\bthesis\b|"
    r"\[[JMCDNRPS](?:/OL)?\]|\b[A-Z]\.(?:\s?-?[A-Z]\.)?,|,\s[A-Z]\.|\b[A-Z][a-z]+ [A-Z]{1,3},|"
    r"出版社|学报",
    re.IGNORECASE,
)
# So many characters of a list hold one sign at least; prose that cites has fewer.
_CHARACTERS_A_SIGN = 120
# A paragraph within a list may be the title of one entry; with its neighbours it shows signs.
_CHARACTERS_A_SIGN_WITHIN = 220
_SAME_SIZE_POINTS = 0.6
# Signs in the first lines below a head tell a list from an entry in a table of contents.
_HEAD_CHARACTERS = 700
_MIN_ENTRIES_WITHOUT_HEAD = 5
# A list without a head stands in the last part of a document.
_TAIL_SHARE = 0.5
_FIRST_BRACKET = re.compile(r"[\[［【]\s?1\s?[\]］】]")
_AFTERMATH = re.compile(
    r"\W*(?:appendix|appendices|supplement(?:ary|al)|acknowledge?ments?|author contributions?|"
    r"funding|publisher['’]s note|open access|conflicts? of interest|competing interests|biograph|"
    r"about the authors?|received:?\s+(?:\d|[A-Z])|additional information|how to cite|cite this "
    r"article|copyright|©|"
    r"附录|附\s*录|致\s*谢|作者简介|annex)\b",
    re.IGNORECASE,
)
# A head of few words stands apart from the text by more than a line.
_MAX_HEAD_WORDS, _HEAD_SPACE_EMS = 12, 0.8
# After a table or figure that floats into a list, entries go on within so many paragraphs.
_MAX_FLOAT_PARAGRAPHS = 80


@dataclass(frozen=True, slots=True)
class _Region:
    """The paragraphs of one list, by their indices; others may stand between."""

    indices: tuple[int, ...]


def split_references(paragraphs: Sequence[Paragraph]) -> list[Paragraph]:
    """Return the paragraphs with those of the reference lists cut into entries.

    A list begins below a head (References, 参考文献 …; there may be one a chapter) or, where no
    head is printed, with a numbered run of bibliographic entries at the end of the document. It
    ends at the next heading or where the look of its entries ends.

    Args:
        paragraphs: of the whole document, headings marked.

    Returns:
        The same paragraphs, but one of kind `reference` for each entry, with continuations where
        it runs over a page; heads of lists that were no headings are marked.
    """
    items = _heads_cut_out(paragraphs)
    regions = _headed_regions(items)
    if not regions:
        regions = _bare_regions(items)
    for region in reversed(regions):
        _replace(items, region)
    return items


def _heads_cut_out(paragraphs: Sequence[Paragraph]) -> list[Paragraph]:
    """Return the paragraphs with a head that begins or ends one standing alone."""
    result = []
    for paragraph in paragraphs:
        lines = paragraph.lines
        if paragraph.kind not in _HEAD_KINDS or len(lines) < 2:
            result.append(paragraph)
            continue
        if _is_head_text(lines[0].text) and not lines[0].shares_row(lines[1]):
            result += [_piece(paragraph, lines[:1]), _piece(paragraph, lines[1:])]
        else:
            result.append(paragraph)
    return result


def _piece(paragraph: Paragraph, lines: Sequence[Line]) -> Paragraph:
    piece = make_paragraph(lines, paragraph.page)
    if paragraph.kind in ("heading", "unplaced_heading"):
        piece.kind = "paragraph"
    return piece


def _is_head_text(text: str) -> bool:
    return REFERENCES_HEAD.fullmatch(text) is not None and not text[0].islower()


def _headed_regions(items: Sequence[Paragraph]) -> list[_Region]:
    regions = []
    index = 0
    while index < len(items):
        item = items[index]
        if item.kind in _HEAD_KINDS and _is_head_text(item.text):
            indices = _listed(items, index + 1)
            if indices and (
                _is_bibliographic(_beginning(items, indices))
                or _FIRST_BRACKET.match(items[indices[0]].text)
            ):
                if item.kind != "heading":
                    item.kind, item.level = "heading", _usual_level(items)
                regions.append(_Region(tuple(indices)))
                index = indices[-1]
        index += 1
    return regions


def _usual_level(items: Sequence[Paragraph]) -> int:
    return min((item.level or 1 for item in items if item.kind == "heading"), default=1)


def _beginning(items: Sequence[Paragraph], indices: Sequence[int]) -> str:
    text = ""
    for index in indices:
        text += items[index].text + "\n"
        if len(text) > _HEAD_CHARACTERS:
            break
    return text[:_HEAD_CHARACTERS]


def _is_bibliographic(text: str, characters_a_sign: int = _CHARACTERS_A_SIGN) -> bool:
    return len(_SIGNS.findall(text)) * characters_a_sign >= len(text)


def _listed(items: Sequence[Paragraph], first: int) -> list[int]:
    """Return the indices of the paragraphs of the list that begins at `first`."""
    indices: list[int] = []
    index = first
    while index < len(items):
        item = items[index]
        if item.kind == "heading":
            if _ends_list(item, [items[place] for place in indices]):
                break
            indices.append(index)
        elif item.kind in _LISTED_KINDS and item.upright:
            if _AFTERMATH.match(item.text) and not item.text[0].islower():
                break
            if _is_other_matter(items, index, indices):
                resumed = _resumption(items, index, indices)
                if resumed is None:
                    break
                index = resumed
            if not _is_running_head(items, index):
                indices.append(index)
        index += 1
    return indices


def _ends_list(item: Paragraph, listed: Sequence[Paragraph]) -> bool:
    """Tell whether a heading ends the list, or is a piece of an entry that was taken for one."""
    text = item.text
    if FIRST_SECTION.fullmatch(text) or _AFTERMATH.match(text):
        return True
    if len(_SIGNS.findall(text)) > 1 and (is_marked(text) or _is_bibliographic(text)):
        return False
    if category_of_title(text) is not None or subtype_of_title(text) is not None:
        return True
    return not listed or not _is_same_type(item, listed)


def _is_same_type(item: Paragraph, listed: Sequence[Paragraph]) -> bool:
    """Tell whether an item is set in the size and weight of the list's entries."""
    sizes = Counter(round(other.size, 1) for other in listed)
    bold = sum(other.bold for other in listed)
    fonts = {line.font for other in listed[:8] for line in other.lines}
    return (
        abs(item.size - sizes.most_common(1)[0][0]) < _SAME_SIZE_POINTS
        and item.bold == (2 * bold > len(listed))
        and any(line.font in fonts for line in item.lines)
    )


def _is_other_matter(items: Sequence[Paragraph], index: int, indices: Sequence[int]) -> bool:
    """Tell whether the list has ended: prose of another look, and more of it behind."""
    item = items[index]
    if not indices or _has_marks(item) or _is_bibliographic(item.text):
        return False
    listed = [items[place] for place in indices]
    same_type = _is_same_type(item, listed)
    if same_type and not ends_sentence(listed[-1].text):
        return False
    following = [
        later
        for later in items[index : index + 5]
        if later.kind in _LISTED_KINDS and later.upright and _is_same_type(later, listed)
    ]
    text = "\n".join([later.text for later in following])
    return not any(_has_marks(later) for later in following) and not (
        following and _is_bibliographic(text, _CHARACTERS_A_SIGN_WITHIN)
    )


def _is_running_head(items: Sequence[Paragraph], index: int) -> bool:
    """Tell whether an item is a head or foot that stood on too few pages to be recognised."""
    item = items[index]
    if word_count(item.text) > _MAX_HEAD_WORDS or _has_marks(item) or len(item.lines) > 1:
        return False
    others = [
        other
        for other in items[max(0, index - 40) : index + 40]
        if other.page == item.page and other is not item and other.upright
    ]
    if not others:
        return False
    space = _HEAD_SPACE_EMS * item.size
    return item.box[3] + space <= min(other.box[1] for other in others) or item.box[1] >= (
        max(other.box[3] for other in others) + space
    )


def _has_marks(item: Paragraph) -> bool:
    return any(is_marked(line.text) for line in item.lines)


def _resumption(items: Sequence[Paragraph], index: int, indices: Sequence[int]) -> int | None:
    """Return where the list goes on behind a float that was not recognised as one."""
    listed = [items[place] for place in indices]
    for place in range(index + 1, min(index + _MAX_FLOAT_PARAGRAPHS, len(items))):
        item = items[place]
        if item.kind == "heading" and _ends_list(item, listed):
            return None
        if (
            item.kind in _LISTED_KINDS
            and _is_same_type(item, listed)
            and _is_bibliographic(item.text)
            and len(_SIGNS.findall(item.text)) > 2
        ):
            return place
    return None


def _bare_regions(items: Sequence[Paragraph]) -> list[_Region]:
    """Return the last run of numbered entries without a head, if there is one."""
    first_index = int(_TAIL_SHARE * len(items))
    for start in range(first_index, len(items)):
        item = items[start]
        if item.kind not in _LISTED_KINDS or not is_marked(item.text, first=True):
            continue
        indices = _listed(items, start)
        text = "\n".join([items[index].text for index in indices])
        if not _is_bibliographic(text):
            continue
        rows = make_rows([(items[index].page, items[index].lines) for index in indices])
        starts = entry_starts(rows)
        if len(starts) >= _MIN_ENTRIES_WITHOUT_HEAD and is_marked(rows[starts[1]].text):
            return [_Region(tuple(indices))]
    return []


def _replace(items: list[Paragraph], region: _Region) -> None:
    """Put the entries of a list in the place of its paragraphs, in place."""
    listed = [items[index] for index in region.indices]
    rows = make_rows([(item.page, item.lines) for item in listed])
    starts = entry_starts(rows)
    if not starts:
        return
    owner = {id(line): item for item in listed for line in item.lines}
    inside = set(region.indices)
    others = [
        items[index]
        for index in range(region.indices[0], region.indices[-1])
        if index not in inside
    ]
    entries: list[Paragraph] = []
    if starts[0] > 0:
        entries += _pieces(rows[: starts[0]], owner, "paragraph")
    end_of_list = _list_end(rows, starts[-1], owner)
    for start, end in zip(starts, [*starts[1:], end_of_list], strict=True):
        entries += _pieces(rows[start:end], owner, "reference")
    if end_of_list < len(rows):
        entries += _pieces(rows[end_of_list:], owner, "paragraph")
    items[region.indices[0] : region.indices[-1] + 1] = _woven(entries, others)


def _list_end(rows: Sequence[Row], last_start: int, owner: dict[int, Paragraph]) -> int:
    """Return the row behind the last entry: biographies and notes follow without a heading."""
    for index in range(last_start + 1, len(rows)):
        item = owner[id(rows[index].lines[0])]
        begins = item is not owner[id(rows[index - 1].lines[0])]
        if begins and ends_sentence(rows[index - 1].text) and not _is_bibliographic(item.text):
            return index
    return len(rows)


def _pieces(rows: Sequence[Row], owner: dict[int, Paragraph], kind: str) -> list[Paragraph]:
    """Return the paragraphs of one entry: one a page, the later ones marked as continuations."""
    pieces: list[Paragraph] = []
    for row in rows:
        if pieces and pieces[-1].page == row.page:
            pieces[-1].lines.extend(row.lines)
        else:
            piece = make_paragraph(row.lines, row.page)
            piece.is_continuation = bool(pieces)
            pieces.append(piece)
    made = []
    for piece in pieces:
        whole = make_paragraph(piece.lines, piece.page)
        whole.is_continuation = piece.is_continuation
        whole.kind = "reference" if kind == "reference" else "paragraph"
        last = owner[id(piece.lines[-1])]
        whole.fills_last_line = last.fills_last_line
        whole.starts_at_edge = owner[id(piece.lines[0])].starts_at_edge
        made.append(whole)
    return made


def _woven(entries: Sequence[Paragraph], others: Sequence[Paragraph]) -> list[Paragraph]:
    """Return both in the order of pages; what is no entry never cuts one in two."""
    result: list[Paragraph] = []
    waiting = list(others)
    for index, entry in enumerate(entries):
        if not entry.is_continuation:
            while waiting and waiting[0].page < entry.page:
                result.append(waiting.pop(0))
        result.append(entry)
        goes_on = index + 1 < len(entries) and entries[index + 1].is_continuation
        if not goes_on and index + 1 < len(entries):
            while waiting and waiting[0].page < entries[index + 1].page:
                result.append(waiting.pop(0))
    return [*result, *waiting]
