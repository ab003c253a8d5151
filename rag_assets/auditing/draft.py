"""A draft in Markdown, plain text or Word, with its cited sentences."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rapidfuzz import fuzz

from rag_assets.auditing.citation_forms import (
    ANCHOR,
    PANDOC,
    STATUTE,
    Citation,
    WrittenCitation,
    find_anchors,
    find_laws_in_words,
)
from rag_assets.auditing.prose import ProseKind
from rag_assets.auditing.references import (
    Entry,
    find_list,
    read_bibliography,
)
from rag_assets.auditing.sentences import SentenceReader, SentenceSplitter
from rag_assets.auditing.written import (
    ReferenceIndex,
    as_entries,
    find_marked,
    find_numbers,
    find_written,
)
from rag_assets.law import LawNames, find_references
from rag_assets.model import (
    Block,
    ParsedDocument,
    ParseFailure,
    UsageError,
    count_of,
    drop_controls,
    hash_bytes,
)
from rag_assets.workspace.bounded_yaml import YamlError, parse_yaml

# A draft written in Word: its paragraphs, lists, tables and footnotes as Markdown.

OFFICE_SUFFIXES = (".docx",)
# A zip package, or what Word makes of one with a password.
_CONTAINERS = (b"PK\x03\x04", b"PK\x05\x06", b"\xd0\xcf\x11\xe0")

# The mark before a footnote's own text, and the same mark where the text points to it.
_NOTE_MARK = re.compile(r"\[(\d{1,4})\]\s*")
_LIST_MARK = re.compile(r"(?:[•◦▪‣·–*+-]|(?P<number>\d{1,4})[.)]|[A-Za-z]{1,4}[.)])\s+")
# Words that Markdown would take for its own marks at the start of a line.
_LINE_START = re.compile(r"(?m)^(\s*\d*)([#>+\-=]|(?<=\d)[.)](?=\s)|~~~)")
_INLINE = re.compile(r"[*`\\]|(?<!\w)_|_(?!\w)")
_ANCHOR = re.compile(rf"({ANCHOR}|{PANDOC}|{STATUTE})")
# Neither the words of a picture nor a reviewer's remark is what the writer says.
_LEFT_OUT = frozenset({"figure", "drawing", "note"})
_MOST_LEVELS = 6


def unit_of(draft_name: str) -> str:
    """Return what a place in a draft is counted in: a Word document has paragraphs, no lines."""
    return "paragraph" if draft_name.lower().endswith(OFFICE_SUFFIXES) else "line"


def read_office_text(name: str, data: bytes) -> str:
    """Return what a Word document says, as Markdown.

    Headings, list items, tables and footnotes are marked as such; citations stay as typed. Lines
    are those of this text: Word knows none.

    Args:
        name: of the file, for messages.

    Raises:
        UsageError: the file is damaged, protected or no Word document.
    """
    from rag_assets.parsing import ParseHints, parse_document
    from rag_assets.workspace import shipped_settings

    # Other bytes would be told to be text and read as a draft that cites nothing.
    if not data.startswith(_CONTAINERS):
        raise UsageError(
            f"{name}: the draft cannot be read (damaged_file). It is no Word document: it begins "
            "with other bytes than one. Save it in Word again as .docx, or give it the suffix .md "
            "or .txt if it is text."
        )
    try:
        document = parse_document(data, ParseHints(extension="docx"), shipped_settings().parse)
    except ParseFailure as failure:
        raise UsageError(
            f"{name}: the draft cannot be read ({failure.reason_code}). {failure.message}"
        ) from failure
    return "\n\n".join(_paragraphs(document)) + "\n"


def _paragraphs(document: ParsedDocument) -> Iterator[str]:
    notes = {
        match[1]
        for block in document.blocks
        if block.kind == "footnote"
        and (match := _NOTE_MARK.match(document.text[block.start : block.end]))
    }

    def point_to_notes(text: str) -> str:
        return _NOTE_MARK.sub(
            lambda match: match.group().replace("[", "[^") if match[1] in notes else match.group(),
            text,
        )

    for block in document.blocks:
        text = document.text[block.start : block.end].strip()
        if text and block.kind not in _LEFT_OUT:
            yield _written(block, text, point_to_notes(_escape(text)), notes)


def _written(block: Block, text: str, escaped: str, notes: set[str]) -> str:
    """Return one block as Markdown.

    Args:
        text: as the parser returns it; `escaped` without what Markdown would misread.
    """
    if block.kind in {"heading", "title", "unplaced_heading"}:
        level = min(block.level or 1, _MOST_LEVELS)
        return f"{'#' * level} {' '.join(escaped.split())}"
    if block.kind == "code":
        return f"~~~\n{text}\n~~~"
    if block.kind == "table":
        return text
    if block.kind == "footnote" and (match := _NOTE_MARK.match(text)) and match[1] in notes:
        return f"[^{match[1]}]: {_escape(text[match.end() :])}"
    if block.kind == "list" and (match := _LIST_MARK.match(text)):
        mark = f"{match['number']}." if match["number"] else "-"
        return f"{mark} {' '.join(_escape(text[match.end() :]).split())}"
    return _LINE_START.sub(r"\1\\\2", escaped)


def _escape(text: str) -> str:
    """Return `text` with a backslash before what Markdown would read as marks; not in citations."""
    return "".join(
        part if number % 2 else _INLINE.sub(lambda match: "\\" + match.group(), part)
        for number, part in enumerate(_ANCHOR.split(text))
    )


# A draft and its cited sentences, each with its exact place.

FRONT_MATTER = re.compile(
    r"\A---[ \t]*(?:\r\n?|\n)(?P<yaml>.*?)(?:^|(?<=[\r\n]))(?:---|\.\.\.)[ \t]*(?:\r\n?|\n|\Z)",
    re.DOTALL | re.MULTILINE,
)
_NOT_A_LINE_END = re.compile(r"[^\r\n]")
_LINE_END = re.compile(r"\r\n?|\n")
_PARAGRAPH_END = re.compile(r"\n\n+")
_PLAIN_TEXT_SUFFIXES = frozenset({".txt", ".text"})
_MAX_LINES_NAMED = 8
_NO_LAWS = LawNames({})
# How YAML writes an empty value.
_NOTHING = ("", "~", "null")
_BIBLIOGRAPHY = re.compile(r"(?m)^bibliography:(?P<value>.*(?:\n[ \t]*-.*)*)")
_FILE_NAME = re.compile(r"[^\s,\[\]\"'\-][^\s,\[\]\"']*")
# Between a printed citation and the anchor that says what it means.
_LONGEST_GAP = 4
# One letter more, less or other in a word of ten is 90 to 95 of 100.
_NEARLY = 85


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence of the draft that cites at least one document.

    Args:
        index: among the cited sentences of the draft, from 0.
        line: of the draft on which it starts, from 1.
        start: offset in `Draft.text`, code points; `end` its end. Anchors that belong to the
            sentence lie inside, those after its full stop too, those of footnotes not.
        text: as it stands, marks of lists and quotations left out, white space folded.
        claim: what it says, without anchors and Markdown marks; empty where an anchor stands
            alone.
        citations: in order of appearance; last those of footnotes that hold nothing else.
        quotations: what it quotes, wholly or, where a quotation runs over sentences, in part.
    """

    index: int
    line: int
    start: int
    end: int
    text: str
    claim: str
    citations: tuple[Citation, ...]
    quotations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DraftSentence:
    """Any sentence of the draft, whether it cites or not; fields as those of CitedSentence.

    Args:
        kind: of its block; a row of a table is one sentence.
        block: number of its block among those of the draft, from 0.
        is_footnote: it stands in the definition of a footnote.
        noted: citations of footnotes that it points to and that have words of their own.
        is_listed: it is an entry of a list of sources, and claims nothing.
    """

    line: int
    start: int
    end: int
    text: str
    claim: str
    citations: tuple[Citation, ...]
    kind: ProseKind
    block: int
    is_footnote: bool
    noted: tuple[Citation, ...] = ()
    is_listed: bool = False


@dataclass(frozen=True, slots=True)
class Draft:
    """A draft as it was read.

    Args:
        name: of its file.
        digest: SHA-256 of its bytes.
        text: decoded; offsets refer to it.
        namespaces: of its front matter, in order; empty where it names none.
        sentences: those with citations, in order, entries of a list of sources left out.
        listed: those entries.
        warnings: sentences a person can act on.
        all_sentences: every one, headings and rows of tables among them, in order.
        is_markdown: whether `text` was read as Markdown.
        uncited: a sentence where the draft cites nothing; empty where it does.
        references: entries of its own reference lists, then those of bibliography files;
            `Citation.entries` are places in it.
    """

    name: str
    digest: str
    text: str
    namespaces: tuple[str, ...]
    sentences: tuple[CitedSentence, ...]
    warnings: tuple[str, ...] = ()
    all_sentences: tuple[DraftSentence, ...] = ()
    is_markdown: bool = True
    listed: tuple[CitedSentence, ...] = ()
    uncited: str = ""
    references: tuple[Entry, ...] = ()


def default_splitter() -> SentenceSplitter:
    """Return `split_sentences` of `rag_assets.chunking`, so that drafts are cut as sources are."""
    from rag_assets.chunking import split_sentences

    return split_sentences


def read_draft(
    path: Path, namespaces: Sequence[str] = (), split: SentenceSplitter | None = None
) -> Draft:
    """Read a draft in Markdown or, for `.txt`, plain text.

    Args:
        path: a UTF-8 file.
        namespaces: in place of those that its front matter names, where any are given.
        split: finds sentences; the one of `rag_assets.chunking` where None.

    Raises:
        UsageError: the file is missing, empty, binary, not UTF-8, or its front matter is wrong.
    """
    if not path.is_file():
        found = "is a folder" if path.is_dir() else "does not exist"
        raise UsageError(f"{path}: the draft {found}. Give the path of a Markdown or text file.")
    entries = [entry for file in files_of(path)[1:] for entry in read_bibliography(file)]
    draft = parse_draft(path.name, path.read_bytes(), split, entries)
    draft = replace(draft, digest=hash_bytes(draft_bytes(path)))
    return replace(draft, namespaces=tuple(dict.fromkeys(namespaces))) if namespaces else draft


def files_of(path: Path) -> tuple[Path, ...]:
    """Return the files that a draft consists of: itself, and the bibliography files that it reads.

    These are the ones that its front matter names, else the `.bib` or `.ris` with its name.
    """
    head = FRONT_MATTER.match(path.read_bytes().decode("utf-8-sig", "ignore"))
    named = _BIBLIOGRAPHY.search(head["yaml"]) if head is not None else None
    if named is not None:
        names = _FILE_NAME.findall(named["value"])
        return (path, *(path.parent / name for name in names))
    beside = (path.with_suffix(suffix) for suffix in (".bib", ".ris"))
    return (path, *(file for file in beside if file.is_file()))


def draft_bytes(path: Path) -> bytes:
    """Return the bytes of a draft and of all files that it reads, by which audits know it."""
    found = (file for file in files_of(path) if file.is_file())
    return b"\0".join(file.read_bytes() for file in found)


def parse_draft(
    name: str,
    data: bytes,
    split: SentenceSplitter | None = None,
    bibliography: Sequence[Entry] = (),
) -> Draft:
    """Return the draft that `data` holds; `name` says what it is called and, by its suffix,
    whether it is plain text.

    Args:
        bibliography: entries of files beside the draft.

    Raises:
        UsageError: as `read_draft`.
    """
    is_office = Path(name).suffix.lower() in OFFICE_SUFFIXES
    text = read_office_text(name, data) if is_office else _decode(name, data)
    # Line ends stay as they are: places are those of the file, but for what is dropped.
    text = "\r".join(map(drop_controls, text.split("\r")))
    front_matter = FRONT_MATTER.match(text)
    namespaces: tuple[str, ...] = ()
    body = text
    if front_matter is not None:
        namespaces = _read_namespaces(name, front_matter["yaml"])
        body = _NOT_A_LINE_END.sub(" ", front_matter.group()) + text[front_matter.end() :]
    if not body.strip():
        raise UsageError(
            f"{name}: the draft has no text. Write the sentences to be checked and cite each "
            "with {#doc_uid}."
        )
    is_markdown = Path(name).suffix.lower() not in _PLAIN_TEXT_SUFFIXES
    references, lists, written = _read_references(body, bibliography)
    reader = SentenceReader(body, split or default_splitter(), written, lists)
    reader.read(is_markdown)
    for sentence in reader.sentences:
        if sentence.kind != "heading":
            words = body[sentence.start : sentence.end]
            sentence.citations.extend(find_laws_in_words(words, sentence.start))
    # A Word document has no lines that a person could count, but paragraphs.
    ends = _PARAGRAPH_END if is_office else _LINE_END
    line_starts = [0, *(match.end() for match in ends.finditer(text))]
    sentences = _cited(reader, line_starts, is_listed=False)
    listed = _cited(reader, line_starts, is_listed=True)
    warnings = tuple(_warnings(name, reader, line_starts))
    uncited = ""
    if not any(sentence.citations for sentence in reader.sentences):
        uncited = _say_uncited(name, body, references)
    every = tuple(
        DraftSentence(
            _line_of(line_starts, sentence.start), sentence.start, sentence.end, sentence.text,
            sentence.claim, tuple(sentence.citations), sentence.kind, sentence.block,
            sentence.is_footnote, tuple(sentence.noted), sentence.is_listed,
        )
        for sentence in reader.sentences
    )  # fmt: skip
    return Draft(
        name, hash_bytes(data), text, namespaces, sentences, warnings, every, is_markdown,
        listed, uncited, references,
    )  # fmt: skip


def _read_references(
    body: str, bibliography: Sequence[Entry]
) -> tuple[tuple[Entry, ...], tuple[tuple[int, int], ...], tuple[WrittenCitation, ...]]:
    """Return the entries of the lists of a draft, where the lists are, and what cites by name,
    number or title.
    """
    own, lists = find_list(body)
    index = ReferenceIndex((*own, *bibliography))
    marked = find_marked(body)
    if not index.entries and marked:
        return (), (), ()  # who cites by keys alone prints names for his readers
    written = find_written(body, index, lists)
    if not index.entries:
        # Without a list nobody but the library can say what is meant: the words are the entry.
        own, written = as_entries(body, written)
    kept = (one for one in written if not _is_beside(body, one, marked))
    return (*own, *bibliography), lists, tuple(kept)


def _is_beside(body: str, written: WrittenCitation, marked: Sequence[tuple[int, int]]) -> bool:
    """Say whether a key follows or precedes a printed citation: it says what that means."""
    gaps = [body[written.end : start] for start, _ in marked if start >= written.end]
    gaps += [body[end : written.start] for _, end in marked if end <= written.start]
    return any(len(gap) <= _LONGEST_GAP and not gap.strip(" \n,;.()（），；。") for gap in gaps)


def _say_uncited(name: str, body: str, references: Sequence[Entry]) -> str:
    looked = (
        "Looked for were {#doc_uid}, [@key], \\cite{key}, (Author, 2020), Author (2020), numbers "
        "such as [3] or raised ones, notes with a full reference, and articles of laws."
    )
    numbers = find_numbers(body)
    if numbers and not references:
        return (
            f"{name}: {count_of(len(numbers), 'citation')} by number (first: {numbers[0]}), but no "
            "reference list was found, so that nothing could be checked. Put the list under a "
            "heading “References” (参考文献)."
        )
    return (
        f"{name} cites nothing, so there is nothing to verify. {looked} Write citations in one of "
        "these forms, and the reference list under a heading “References” (参考文献)."
    )


def _cited(
    reader: SentenceReader, line_starts: list[int], *, is_listed: bool
) -> tuple[CitedSentence, ...]:
    cited = [s for s in reader.sentences if s.citations and s.is_listed == is_listed]
    return tuple(
        CitedSentence(
            index,
            _line_of(line_starts, sentence.start),
            sentence.start,
            sentence.end,
            sentence.text,
            sentence.claim,
            tuple(sentence.citations),
            tuple(quotation.text for quotation in sentence.quotations),
        )
        for index, sentence in enumerate(cited)
    )


def _decode(name: str, data: bytes) -> str:
    if data.startswith((b"%PDF", b"PK\x03\x04", b"\xd0\xcf\x11\xe0")) or b"\0" in data:
        raise UsageError(
            f"{name}: this is not a text file. Export the draft as Markdown (.md), plain text "
            "(.txt) in UTF-8, or Word (.docx)."
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(
            f"{name}: line {line} is not UTF-8 (byte {error.start}). Save the draft in the "
            "encoding UTF-8 and run the command again."
        ) from error


def _read_namespaces(name: str, front_matter: str) -> tuple[str, ...]:
    mend = "Write, for instance, `namespaces: [thesis]`."
    try:
        # The first line is the `---`. What is no concern of ours may be whatever its tool reads.
        content = parse_yaml(front_matter, name, first_line=2, as_text=True)
    except YamlError as error:
        where = f", line {error.line}" if error.line is not None else ""
        problem = error.problem.removeprefix("not valid YAML: ")
        raise UsageError(
            f"{name}{where}: its front matter is not YAML: {problem}. {mend}"
        ) from error
    if content is None:
        return ()
    if not isinstance(content, dict):
        raise UsageError(f"{name}: its front matter is not a list of `key: value`. {mend}")
    # Other keys belong to whoever typesets the draft; one that nearly says ours is a mistake.
    for key in content:
        if key != "namespaces" and fuzz.ratio(str(key), "namespaces") >= _NEARLY:
            raise UsageError(
                f"{name}: unknown key '{key}' in its front matter. Did you mean 'namespaces'?"
            )
    given = content.get("namespaces")
    names = [given] if isinstance(given, str) else given
    if given is None or given in _NOTHING:
        return ()
    # A namespace begins with a letter: a number is no name.
    if not isinstance(names, list) or not all(
        isinstance(n, str) and n.strip()[:1].isalpha() for n in names
    ):
        raise UsageError(
            f"{name}: `namespaces` in its front matter must be a name or a list of names, got "
            f"{given!r}. {mend}"
        )
    return tuple(dict.fromkeys(n.strip() for n in names))


def _line_of(line_starts: list[int], offset: int) -> int:
    return bisect_right(line_starts, offset)


def _warnings(name: str, reader: SentenceReader, line_starts: list[int]) -> Iterator[str]:
    def lines(offsets: Sequence[int]) -> str:
        numbers = sorted({_line_of(line_starts, offset) for offset in offsets})
        named = ", ".join(map(str, numbers[:_MAX_LINES_NAMED]))
        more = f" and {len(numbers) - _MAX_LINES_NAMED} more" * (len(numbers) > _MAX_LINES_NAMED)
        return f"{'line' if len(numbers) == 1 else 'lines'} {named}{more}"

    listed = [s.start for s in reader.sentences if s.citations and s.is_listed]
    if listed:
        yield (
            f"{name}, {lines(listed)}: entries of the list of sources; they count as used and are "
            "not judged as claims."
        )
    if reader.references:
        yield (
            f"{name}, {lines(reader.references)}: @fig:…, @sec-… and their like were read as "
            "references inside the draft, not as citations."
        )
    if reader.attributes:
        yield (
            f"{name}, {lines(reader.attributes)}: {{#…}} was read as the attribute of an image "
            "or of other Markdown, not as a citation."
        )
    named = [
        (sentence.start, one.shown)
        for sentence in reader.sentences
        if not (sentence.citations or sentence.is_listed or sentence.kind == "heading")
        for one in find_references(sentence.text, _NO_LAWS)
        if one.law is not None  # 第三条 alone may be one of a contract
    ]
    if named:
        shown = ", ".join(list(dict.fromkeys(article for _, article in named))[:_MAX_LINES_NAMED])
        yield (
            f"{name}, {lines([start for start, _ in named])}: {count_of(len(named), 'article')} "
            f"named in words alone ({shown}), not checked: without 《》 it is not sure which law "
            "is meant. Write 《law》第…条 or [law > 第…条], or put {#doc_uid} behind the sentence."
        )
    unread = {start for start, _ in find_anchors(reader.body)} - reader.seen
    if unread:
        yield (
            f"{name}, {lines(sorted(unread))}: {{#…}} or {{@…}} in code, a comment or outside of "
            "any sentence was not read as a citation."
        )
