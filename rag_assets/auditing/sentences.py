"""The sentences of a draft: what each says, cites and quotes, and where it is."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise

from rag_assets.auditing.citation_forms import Citation, WrittenCitation, read_citations
from rag_assets.auditing.pointers import (
    is_attribution,
    mark_citations,
    only_points,
    read_places,
    take_pointers,
)
from rag_assets.auditing.prose import (
    FILLER,
    PLACEHOLDER,
    WRITTEN,
    WRITTEN_OWNER,
    WRITTEN_WORD,
    PlainText,
    ProseBlock,
    ProseKind,
    find_prose,
    remove_marks,
)
from rag_assets.judging.statement import NAMES, OTHERS, either, frames
from rag_assets.model import CJK_RANGES, HAN, HAN_RANGES, count_cjk, count_han
from rag_assets.publishing.content_words import content_units

# What a draft quotes word for word.

# Below it a word in quotation marks is named or doubted, not quoted.
_FEWEST_WORDS = 4
_FEWEST_HAN = 6
# Longer than a person quotes in a running sentence: an unclosed mark must not swallow a chapter.
_LONGEST = 2_000
_CJK = re.compile(f"[{CJK_RANGES}]")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_LATIN = r"A-Za-z0-9\u00c0-\u024f"
# An opening mark stands before its word, a closing one behind it; an apostrophe does neither.
_MARKS = re.compile(
    rf"""
    “(?P<double>[^“”]{{1,{_LONGEST}}})”
  | „(?P<low>[^„“”]{{1,{_LONGEST}}})[“”]
  | ＂(?P<wide>[^＂]{{1,{_LONGEST}}})＂
  | (?<![{_LATIN}"])"(?=\S)(?P<straight>[^"]{{1,{_LONGEST}}})(?<=\S)"(?![{_LATIN}])
  | ``(?P<latex>(?:[^`']|'(?!')){{1,{_LONGEST}}})''
  | \\(?:enquote|textquote)\*?\{{(?P<enquote>[^{{}}]{{1,{_LONGEST}}})\}}
  | 「(?P<corner>(?:[^「」]|「[^「」]*」){{1,{_LONGEST}}})」
  | 『(?P<hollow>[^『』]{{1,{_LONGEST}}})』
  | «(?P<guillemet>[^«»]{{1,{_LONGEST}}})»
  | »(?P<inward>[^«»]{{1,{_LONGEST}}})«
  | (?<![{_LATIN}])‘(?P<single>(?:[^‘’“”]|’(?=[{_LATIN}])){{1,{_LONGEST}}})’(?![{_LATIN}])
  | (?<![{_LATIN}'])'(?![\s'\d]|(?:tis|twas|em|n|til|cause|round)\b)
    (?P<plain>(?:[^'"“”‘’]|(?<=[{_LATIN}])'(?=[{_LATIN}])|(?<=s)'(?=\s[a-z])){{1,{_LONGEST}}})
    (?<=\S)'(?![{_LATIN}'])
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Quotation:
    """Words that a draft says are somebody else's.

    Args:
        text: without its marks.
        start: of it in the text that was searched, code points; `end` its end.
    """

    text: str
    start: int
    end: int


def find_quotations(text: str, *, is_block_quotation: bool = False) -> list[Quotation]:
    """Return the quotations of a block, in order. Names and doubted words are none.

    Args:
        text: without anchors and marks.
        is_block_quotation: then all of it is one.
    """
    if is_block_quotation:
        stripped = text.strip()
        inner = _MARKS.fullmatch(stripped)
        found = inner.group(inner.lastgroup or 0) if inner else stripped
        start = text.find(found)
        return [Quotation(found, start, start + len(found))] if is_quoted(found) else []
    quotations = []
    for match in _MARKS.finditer(text):
        name = match.lastgroup or ""
        if is_quoted(match[name]):
            quotations.append(Quotation(match[name], *match.span(name)))
    return quotations


def is_quoted(text: str) -> bool:
    """Say whether words in quotation marks are long enough to be quoted from somewhere."""
    if count_cjk(text) >= _FEWEST_HAN:
        return True
    return len(_WORD.findall(_CJK.sub(" ", text))) >= _FEWEST_WORDS


# Which part of a sentence each of its citations is to support.

# A clause says who did what: below so many content words it is a part of the one before, or
# shares its subject or verb with it, and cannot be judged alone. Chinese units are pairs of
# neighbouring characters, of which a statement of six characters has five.
_FEWEST_UNITS = 3
_FEWEST_HAN_UNITS = 5
# What must follow a citation for a new clause to begin there.
_BOUNDARY = re.compile(
    r"\s*(?:[,;:，；：、—–]\s*)?(?:(?:and|but|while|whereas|although|though|yet|however|whilst|"
    r"so|because|since|nor|or|which|in contrast|by contrast|on the other hand)\b"
    r"|而|但|但是|然而|并|并且|且|同时|而且|不过|却|以及|因此|所以)|\s*[,;:，；：—–]",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^[\s,;:，；：、—–]+(?:(?:and|but|while|whereas|although|though|yet|or)\b\s*|[而但并且却])?",
    re.IGNORECASE,
)


def split_clauses(text: str, positions: Sequence[int]) -> list[str] | None:
    """Return the clause before each of several places of citation in one sentence.

    Args:
        text: the sentence without anchors and marks.
        positions: where citations stood in it, ascending, each once.

    Returns:
        None where it is not clear which part a citation supports: there is one place only, a part
        is too short to be a statement, or no boundary of a clause follows a citation. What
        follows the last citation belongs to the last clause.
    """
    inner = [position for position in positions if text[:position].strip()]
    if len(inner) < 2 or len(inner) != len(positions):
        return None
    starts = [0, *inner[:-1]]
    if any(not _BOUNDARY.match(text, position) for position in inner[:-1]):
        return None
    ends = [*inner[:-1], len(text)]
    clauses = [
        _LEAD.sub("", text[start:end]).strip() for start, end in zip(starts, ends, strict=True)
    ]
    return clauses if all(map(_is_statement, clauses)) else None


def _is_statement(clause: str) -> bool:
    fewest = _FEWEST_HAN_UNITS if HAN.search(clause) else _FEWEST_UNITS
    return len(content_units(clause)) >= fewest


# What a row of a table states: each cell under the head of its column, behind the row's name.
#
# “| BERT | 93.2 |” says nothing without the head “F1”; “BERT: F1 93.2” does. A citation in a column
# of its own, or beside the row's name, speaks for the whole row; one beside a value for that value.

# A cell of so many words (or Chinese characters) says by itself what it says.
_WORDS_OF_CELL = 6
_HAN_OF_CELL = 10
# “Smith et al.” is none.
_FEWEST_IN_SENTENCE = 4
_PLAIN_WORD = re.compile(r"[^\W_]+")
# A place where a value is missing.
_NO_VALUE = re.compile(r"\W*(?:n/?a)?\W*", re.IGNORECASE)


def cut_cells(line: str, bars: Sequence[int]) -> list[tuple[int, int]]:
    """Return the spans of a row's cells.

    Args:
        line: of the row; `bars` where its columns are parted, ascending.
    """
    edges = [-1, *bars, len(line)]
    cells = [(a + 1, b) for a, b in pairwise(edges)]
    if bars and not line[: bars[0]].strip():
        cells = cells[1:]
    if bars and not line[bars[-1] + 1 :].strip():
        cells = cells[:-1]
    return cells


def state_row(cells: Sequence[str], head: Sequence[str], only: int | None = None) -> str:
    """Return a row as a statement; empty where it says nothing.

    Args:
        cells: their words, without citations and marks.
        head: of their columns, likewise; empty for the head itself.
        only: the cell that is asked for, beside the row's name; None for all.
    """
    if not head:
        return " ".join(filter(None, cells))
    name = cells[0] if cells else ""
    if only == 0 and not _is_value(name):
        return ""
    values = [
        (head[number] if number < len(head) else "", cell)
        for number, cell in enumerate(cells)
        if number and _is_value(cell) and only in {None, 0, number}
    ]
    if not values:
        return name
    stated = [_under(column, cell) for column, cell in values]
    is_han = bool(HAN.search("".join([name, *stated])))
    comma, colon = ("，", "：") if is_han else (", ", ": ")
    text = (" " if any(map(_is_sentence, stated)) else comma).join(stated)
    return f"{name}{' ' if _is_sentence(name) else colon}{text}" if name else text


def text_columns(cells: Sequence[str], sentences: Sequence[int]) -> dict[int, str]:
    """Return the columns of a row that state something each for itself, and what names the row.

    Args:
        cells: their words.
        sentences: how many each of them holds.

    Returns:
        Nothing where the row is one statement: of values, or of one sentence and its name.
    """
    apart = [_says_itself(cell) or many > 1 for cell, many in zip(cells, sentences, strict=True)]
    if sum(apart) < 2 and max(sentences, default=0) < 2:
        return {}
    name = "" if not cells or apart[0] else cells[0]
    return {column: name for column, is_apart in enumerate(apart) if is_apart}


def name_cell(name: str, claim: str) -> str:
    """Return what a sentence of a cell states, behind the name of its row."""
    colon = "：" if HAN.search(name + claim) else ": "
    return f"{name}{colon}{claim}" if name and claim else claim


def _under(column: str, cell: str) -> str:
    if not column or _says_itself(cell):
        return cell
    is_joined = HAN.search(column[-1:]) and (HAN.search(cell[:1]) or cell[:1].isdigit())
    return f"{column}{'' if is_joined else ' '}{cell}"


def _is_value(cell: str) -> bool:
    return not _NO_VALUE.fullmatch(cell)


def _says_itself(cell: str) -> bool:
    is_long = len(_PLAIN_WORD.findall(cell)) >= _WORDS_OF_CELL or count_han(cell) >= _HAN_OF_CELL
    return is_long or _is_sentence(cell)


def _is_sentence(cell: str) -> bool:
    if HAN.search(cell):
        return cell.endswith(("。", "！", "？", "；"))
    return cell.endswith((".", "!", "?")) and len(_PLAIN_WORD.findall(cell)) >= _FEWEST_IN_SENTENCE


# Citations that are part of their sentence: “@lee2020 found that …”, “根据{#lee}，…”.
#
# Without its anchor such a sentence has lost its subject. The cited work stands in its place, so
# that what remains is a sentence, and a scorer can tell what it states from who says it.

_WORK = "the cited work"
_WORK_ZH = "该文献"
# An anchor that need not be a word of its sentence; by its form alone it cannot be told.
_OTHER = "\ue001"
_ANY = f"[{PLACEHOLDER}{_OTHER}]"
_ARTICLE = re.compile(rf"\b[Tt]he\s+(?={PLACEHOLDER})")
# With the blanks that the words in its place need.
_PLACED = re.compile(rf"(\s|(?<=\w)(?=[^{HAN_RANGES}])|){PLACEHOLDER}+(\s?)")
_PLACES = rf"{_ANY}(?:\s*(?:,|、|\band\b|&|\bor\b|和|与|及)?\s*{_ANY})*"
_FIRST_WORD = re.compile(
    r"\s*(?:while|whereas|although|though|where|if|虽然|尽管)?\s*", re.IGNORECASE
)
_JOINT = re.compile(
    r"\s*(?:[,;:，；：]\s*(?:and|but|while|whereas|although|though|yet|而|但|并|且|而且)?"
    r"|\s(?:and|but|while|whereas|although|though|yet)|而|但)\s*$",
    re.IGNORECASE,
)


def mark_places(text: str, places: Sequence[int]) -> str:
    """Return a sentence with a placeholder at each of its citations.

    Args:
        text: a citation that is a word by its form has one already.
        places: of all citations, ascending; of those that have one, behind it.
    """
    for place in sorted(set(places), reverse=True):
        count = places.count(place) - (text[:place][-1:] == PLACEHOLDER)
        text = text[:place] + _OTHER * count + text[place:]
    return text


def name_sources(marked: str) -> str:
    """Return a sentence with the cited work where a citation is its subject or follows “by”, “in”,
    “according to”; the placeholders of others are taken out.
    """
    subject, object_, subject_zh, object_zh = _patterns()
    text = object_zh.sub(rf"\g<1>{_WORK_ZH}", subject_zh.sub(rf"\g<1>{_WORK_ZH}", marked))
    text = object_.sub(rf"\g<1> {_WORK}", subject.sub(rf"\g<1>{_WORK}", text))
    text = _PLACED.sub(_name_work, _ARTICLE.sub("", text)).replace(_OTHER, "")
    return text[0].upper() + text[1:] if text.startswith(_WORK) else text


def _name_work(match: re.Match[str]) -> str:
    is_han = HAN.search(match.string[max(match.start() - 1, 0) : match.end() + 1])
    return f"{match[1]}{_WORK_ZH if is_han else _WORK}{match[2]}"


def split_subjects(marked: str) -> list[str] | None:
    """Return for each citation the clause whose subject it is, in order; None where one is none,
    or the sentence has but one such clause.
    """
    subject, _, subject_zh, _ = _patterns()
    found = sorted(
        [(m.end(1), m.group()) for p in (subject, subject_zh) for m in p.finditer(marked)]
    )
    counts = [len(re.findall(_ANY, written)) for _, written in found]
    if len(found) < 2 or sum(counts) != len(re.findall(_ANY, marked)):
        return None
    if not _FIRST_WORD.fullmatch(marked[: found[0][0]]):
        return None
    starts = [start for start, _ in found]
    parts = [marked[a:b] for a, b in pairwise([*starts, len(marked)])]
    if any(not _JOINT.search(part) for part in parts[:-1]):
        return None
    clauses = [*(_JOINT.sub("", part) for part in parts[:-1]), parts[-1]]
    return [clause for clause, count in zip(clauses, counts, strict=True) for _ in range(count)]


@lru_cache(maxsize=1)
def _patterns() -> tuple[re.Pattern[str], ...]:
    words = frames()
    told = rf"(?:\s+(?:has|have|had|also|further|\w+ly))*\s+(?:{either(words.verbs_en)})\b"
    noun = rf"(?:\s+(?:{either(words.sources_en)}))?"
    verb = f"(?:{either(words.verbs_zh)})"
    # A name that stands before the anchor is the source's, unless it is no name.
    names = (
        r"(?!(?:As|According|In|While|Whereas|Although|Though|If|By|From|Following|The|This|That)\b)"
        rf"{NAMES}{OTHERS}?(?:['’]s?)?{noun}\s*"
    )
    edge = r"(?:^|(?<=[,;:])\s*|\b(?i:while|whereas|although|though|and|but|that)\s+)"
    return (
        re.compile(rf"((?={PLACEHOLDER})|{edge}(?={_OTHER})|{edge}(?={names}{_ANY}))"
                   rf"(?:{names})?{_PLACES}(?={told})"),
        re.compile(
            rf"\b((?i:according\s+to|as|by|in|of|from|following))\s*{_PLACES}"
            rf"(?=\s*[,.;]|\s+that\b|{told}|\s*$)"
        ),
        re.compile(
            rf"((?:^|[，。；]|而|但)\s*)(?:[{HAN_RANGES}·]{{2,4}}?等?人?)?{_PLACES}\s*"
            rf"(?=(?:已|也|还|均|则|曾)?{verb})"
        ),
        re.compile(rf"((?:根据|按照|正如|据))\s*{_PLACES}\s*"),
    )  # fmt: skip


# The sentences of a draft's body: what each says, cites and quotes, and where it stands.

# Takes a text, returns half-open spans in order (`rag_assets.chunking.split_sentences`).
SentenceSplitter = Callable[[str], Sequence[tuple[int, int]]]

_EMPTY_BRACKETS = re.compile(r"\s*[(（]\s*[;,，；、.\s]*[)）]")
_LIST_OF_SOURCES = re.compile(
    r"^\W*(?:\d[\d.]*\W*)?(?:references|bibliography|works cited|literature cited|list of sources|"
    r"sources|参考文献|引用文献|文献目录)\W*$",
    re.IGNORECASE,
)
# Behind a citation it ends the sentence, also where the next one begins with a small letter or the
# word before looks like an initial (“vitamin C {#lee}. The …”).
_FULL_STOP = re.compile(r"\s*[.!?](?=\s+[^\W\d_])")
_MASKS = {WRITTEN, WRITTEN_WORD, WRITTEN_OWNER, FILLER}
_LEADING_REST = re.compile(r"^[\s,;:，；：、]+")


@dataclass(slots=True)
class ReadSentence:
    """A sentence while the rest of the draft is still read."""

    start: int
    end: int
    text: str
    claim: str
    citations: list[Citation] = field(default_factory=list)
    footnotes: list[str] = field(default_factory=list)
    quotations: list[Quotation] = field(default_factory=list)
    kind: ProseKind = "paragraph"
    block: int = 0
    is_footnote: bool = False
    is_listed: bool = False
    noted: list[Citation] = field(default_factory=list)


class SentenceReader:
    """Gathers the sentences of all blocks; `seen` holds every anchor that was understood.

    Args:
        body: the draft, its front matter blanked.
        split: finds sentences.
        written: its citations as printed, in order.
        lists: spans of its reference lists that no heading announces.
    """

    def __init__(
        self,
        body: str,
        split: SentenceSplitter,
        written: Sequence[WrittenCitation] = (),
        lists: Sequence[tuple[int, int]] = (),
    ) -> None:
        self.body = body
        self._masked = _mask(body, written)
        self._written = {one.start: one for one in written}
        self._lists = lists
        self.sentences: list[ReadSentence] = []
        self.attributes: list[int] = []
        self.references: list[int] = []
        self.seen: set[int] = set()
        self._split = split
        self._head: list[str] = []
        self._footnotes: dict[str, list[ReadSentence]] = {}
        self._wordy_footnotes: dict[str, list[ReadSentence]] = {}

    def read(self, is_markdown: bool) -> None:
        """Read every block of the body, in order."""
        previous: ReadSentence | None = None
        # Level of the heading of a list of sources, below which no claims stand.
        listing: int | None = None
        for number, block in enumerate(find_prose(self._masked, is_markdown)):
            if block is None:
                previous = None
                continue
            plain = remove_marks(block.text)
            self._note_other_braces(block, plain)
            attributes = is_attribution(_marked(plain))
            points = _only_points(plain)
            if block.kind == "heading" and block.level <= (listing or block.level):
                listing = None
            if _begins_list_of_sources(block, plain):
                listing = block.level
            take_pointers(plain, is_quotation=block.is_quotation)
            sentences = _sentences_of(block, plain, self._split, self.body, self._written)
            if block.kind == "row":
                self._read_row(block, plain, sentences)
            for sentence in sentences:
                sentence.kind, sentence.block = block.kind, number
                sentence.is_footnote = plain.defines_footnote is not None
                is_listed = listing is not None or self._is_in_list(sentence)
                sentence.is_listed = is_listed and not sentence.is_footnote
            if plain.defines_footnote is not None and points:
                self._footnotes.setdefault(plain.defines_footnote, sentences)
                continue
            if not _has_words(plain.text) or (attributes and points and block.kind == "paragraph"):
                if previous is not None:
                    _join(previous, sentences)
                    continue
            elif plain.defines_footnote is not None:
                self._wordy_footnotes.setdefault(plain.defines_footnote, sentences)
            self.sentences.extend(sentences)
            previous = sentences[-1] if sentences and block.kind == "paragraph" else None
        self._give_footnotes_to_their_sentences()

    def _is_in_list(self, sentence: ReadSentence) -> bool:
        return any(start <= sentence.start < end for start, end in self._lists)

    def _read_row(self, block: ProseBlock, plain: PlainText, sentences: list[ReadSentence]) -> None:
        """Let a row state its cells under the heads of their columns."""
        spans = cut_cells(block.text, block.bars)
        cells = [_cell(plain, *span) for span in spans]
        if block.is_head:
            self._head = cells
            return
        for sentence in sentences:
            sentence.claim = state_row(cells, self._head)
            for number, citation in enumerate(sentence.citations):
                at = citation.start - block.offsets[0]
                column = next((n for n, (a, b) in enumerate(spans) if a <= at < b), 0)
                has_value = column > 0 and _has_words(cells[column])
                claim = state_row(cells, self._head, column) if has_value else sentence.claim
                claim = "" if claim == sentence.claim else claim
                sentence.citations[number] = replace(citation, claim=claim)
        if not any(sentence.citations or sentence.footnotes for sentence in sentences):
            sentences[:] = self._read_cells(block, plain, spans) or sentences

    def _read_cells(
        self, block: ProseBlock, plain: PlainText, spans: Sequence[tuple[int, int]]
    ) -> list[ReadSentence]:
        """Return the sentences of a row whose cells hold running text; nothing of other rows."""
        cells = [_cell(plain, *span) for span in spans]
        said = [
            [(start + a, start + b) for a, b in self._split(block.text[start:end])]
            for start, end in spans
        ]
        apart = text_columns(cells, [len(sentences) for sentences in said])
        stated = [
            (span, name_cell(name, _cell(plain, *span)))
            for column, name in apart.items()
            for span in said[column]
        ]
        values = ["" if column in apart else cell for column, cell in enumerate(cells)]
        beside = next((column for column, cell in enumerate(values) if column and cell), None)
        if apart and beside is not None:  # said where the first of them stands
            stated.append((said[beside][0], state_row(values, self._head)))
        return [
            ReadSentence(
                block.offsets[start],
                block.offsets[end - 1] + 1,
                " ".join(block.text[start:end].split()),
                claim,
            )
            for (start, end), claim in sorted(stated)
        ]

    def _give_footnotes_to_their_sentences(self) -> None:
        unused = dict(self._footnotes)
        for sentence in self.sentences:
            for label in sentence.footnotes:
                for note in self._footnotes.get(label, []):
                    sentence.citations.extend(note.citations)
                for note in self._wordy_footnotes.get(label, []):
                    sentence.noted.extend(note.citations)
                unused.pop(label, None)
        for notes in unused.values():
            self.sentences.extend(notes)
        self.sentences.sort(key=lambda sentence: sentence.start)

    def _note_other_braces(self, block: ProseBlock, plain: PlainText) -> None:
        if block.kind == "heading" and plain.anchors:
            _, start, end = plain.anchors[-1]
            if end == len(block.text):
                self.seen.add(block.offsets[start])
                plain.anchors.pop()
        self.attributes.extend(block.offsets[start] for start in plain.attributes)
        self.references.extend(block.offsets[start] for start in plain.references)
        self.seen.update(block.offsets[start] for start in plain.attributes)
        self.seen.update(block.offsets[start] for _, start, _ in plain.anchors)


def _mask(body: str, written: Sequence[WrittenCitation]) -> str:
    """Return a body in which citations as printed are one mark each, and fillers."""
    characters = list(body)
    for one in written:
        for place in range(one.start, one.end):
            if characters[place] not in "\r\n":
                characters[place] = FILLER
        is_owner = re.search(r"['’]s?\s*[(（\[]", body[one.start : one.end])
        word = WRITTEN_OWNER if is_owner else WRITTEN_WORD
        characters[one.start] = word if one.is_word else WRITTEN
    return "".join(characters)


def _cell(plain: PlainText, start: int, end: int) -> str:
    """Return the words of a cell, whose marked text is [start, end) of its row."""
    held = [
        character
        for character, source in zip(plain.characters, plain.sources, strict=True)
        if start <= source < end
    ]
    written = "".join(held)
    # A citation in a column of its own is no value.
    return _claim("" if start and not written.strip(f" {PLACEHOLDER}") else written).strip()


def _begins_list_of_sources(block: ProseBlock, plain: PlainText) -> bool:
    if block.kind == "row" or not _LIST_OF_SOURCES.search(plain.text):
        return False
    # In plain text a heading is a paragraph; “Sources:” may be the note below a table.
    is_note = "sources" in plain.text.lower().split() or plain.text.rstrip().endswith((":", "："))
    return block.kind == "heading" or not (is_note or plain.anchors)


def _has_words(text: str) -> bool:
    return any(character.isalnum() for character in text)


def _marked(plain: PlainText) -> str:
    return mark_citations(plain.text, [position for position, *_ in plain.anchors])


def _only_points(plain: PlainText) -> bool:
    """Say whether a block says no more than where to look (“See p. 3.”, “— Lee {#lee}”).

    The places that it names go to its citations.
    """
    text = _marked(plain)
    if not plain.anchors:
        return False
    if not only_points(text) and not is_attribution(text):
        return False
    for (_, start, _), hint in zip(plain.anchors, read_places(text), strict=True):
        if hint is not None:
            plain.hints[start] = hint
    return True


def _join(previous: ReadSentence, sentences: list[ReadSentence]) -> None:
    # A paragraph of anchors alone stands behind a paragraph or quotation that it supports.
    for sentence in sentences:
        previous.citations.extend(sentence.citations)
        previous.end = sentence.end
        previous.text = f"{previous.text} {sentence.text}"


def _sentences_of(
    block: ProseBlock,
    plain: PlainText,
    split: SentenceSplitter,
    body: str,
    written_at: Mapping[int, WrittenCitation],
) -> list[ReadSentence]:
    text = plain.text
    cited_at = [position for position, *_ in plain.anchors]
    spans = [(0, len(text))] if block.kind == "row" else _cut(split(text), text, cited_at)
    spans = [span for span in spans if text[slice(*span)].strip()] or [(0, len(text))]
    citations: list[list[Citation]] = [[] for _ in spans]
    places: list[list[int]] = [[] for _ in spans]
    footnotes: list[list[str]] = [[] for _ in spans]
    edges = _marked_edges(block.text, plain, spans)
    for position, start, end in plain.anchors:
        owner = _owner(spans, position)
        edges[owner] = (min(edges[owner][0], start), max(edges[owner][1], end))
        if printed := written_at.get(block.offsets[start]):
            places[owner] += [position - spans[owner][0]] * len(printed.citations)
            citations[owner] += printed.citations
            continue
        found_here = list(read_citations(block.text[start:end], start))
        hint = plain.hints.get(start)
        if hint is not None and found_here[-1].hint is None:
            found_here[-1] = replace(found_here[-1], hint=hint)
        for found in found_here:
            places[owner].append(position - spans[owner][0])
            citations[owner].append(
                replace(
                    found, start=block.offsets[found.start], end=block.offsets[found.end - 1] + 1
                )
            )
    for position, label in plain.footnotes:
        footnotes[_owner(spans, position)].append(label)
    sentences = []
    quotations = find_quotations(text, is_block_quotation=block.is_quotation)
    written = _as_printed(block, body)
    for span, (start, end), cited, at, notes in zip(
        spans, _apart(edges), citations, places, footnotes, strict=True
    ):
        marked = block.text[start:end]
        if not marked.strip():
            continue
        first = start + len(marked) - len(marked.lstrip())
        last = end - 1 - len(marked) + len(marked.rstrip())
        sentences.append(
            ReadSentence(
                block.offsets[first],
                block.offsets[last] + 1,
                " ".join(written[first : last + 1].split()),
                _claim(mark_places(text[slice(*span)], at)),
                _with_clauses(text[slice(*span)], cited, at),
                notes,
                [q for q in quotations if q.start < span[1] and span[0] < q.end],
            )
        )
    return sentences


def _as_printed(block: ProseBlock, body: str) -> str:
    """Return a block with its citations as printed and the bars that part the cells of a row."""
    written = [
        body[offset] if character in _MASKS else character
        for character, offset in zip(block.text, block.offsets, strict=True)
    ]
    for bar in block.bars:
        written[bar] = "|"
    return "".join(written)


def _cut(
    spans: Sequence[tuple[int, int]], text: str, cited_at: Sequence[int]
) -> list[tuple[int, int]]:
    """Return the sentences, cut where a full stop follows a citation."""
    stops = {match.end() for place in cited_at if (match := _FULL_STOP.match(text, place))}
    cut = []
    for start, end in spans:
        edges = [start, *sorted(stop for stop in stops if start < stop < end), end]
        cut += list(pairwise(edges))
    return cut


def _with_clauses(text: str, citations: list[Citation], places: list[int]) -> list[Citation]:
    """Return the citations, each with the clause that it supports where that is clear."""
    subjects = split_subjects(mark_places(text, places))
    if subjects is not None:
        return [
            replace(citation, claim=_claim(clause))
            for citation, clause in zip(citations, subjects, strict=True)
        ]
    groups = sorted(set(places))
    clauses = split_clauses(text, groups)
    if clauses is None:
        return citations
    by_place = dict(zip(groups, map(_claim, clauses), strict=True))
    return [
        replace(citation, claim=by_place[place])
        for citation, place in zip(citations, places, strict=True)
    ]


def _owner(spans: Sequence[tuple[int, int]], position: int) -> int:
    # After the full stop an anchor belongs to the sentence before it.
    return max((n for n, span in enumerate(spans) if span[0] < position), default=0)


def _marked_edges(
    marked: str, plain: PlainText, spans: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Return each sentence's span in the marked text, the marks that touch it included."""
    edges = []
    for start, end in spans:
        left = plain.sources[start - 1] + 1 if start else 0
        right = plain.sources[end] if end < len(plain.sources) else len(marked)
        edges.append((left, right))
    return edges


def _apart(edges: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    previous = 0
    for start, end in edges:
        begin = max(start, previous)
        previous = max(begin, end)
        yield begin, previous


def _claim(text: str) -> str:
    claim = _EMPTY_BRACKETS.sub("", " ".join(name_sources(text).split()))
    claim = _LEADING_REST.sub("", claim)
    return claim if _has_words(claim) else ""
