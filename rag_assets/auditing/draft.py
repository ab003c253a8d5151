"""A draft in Markdown, plain text, LaTeX or Word, with its cited sentences."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rapidfuzz import fuzz

from rag_assets.auditing.citation_forms import (
    Citation,
    WrittenCitation,
    find_anchors,
    find_laws_in_words,
)
from rag_assets.auditing.latex import read_latex
from rag_assets.auditing.latex_source import latex_files
from rag_assets.auditing.notes import find_note_references
from rag_assets.auditing.open_document import read_odt, read_rtf
from rag_assets.auditing.prose import ProseKind
from rag_assets.auditing.references import (
    DraftSource,
    Entry,
    find_list,
    fold,
    read_bibliography,
)
from rag_assets.auditing.sentences import SentenceReader, SentenceSplitter
from rag_assets.auditing.word import read_word
from rag_assets.auditing.written import (
    ReferenceIndex,
    as_entries,
    find_marked,
    find_numbers,
    find_written,
)
from rag_assets.law import find_references
from rag_assets.model import (
    HAN_RANGES,
    UsageError,
    count_of,
    drop_controls,
    hash_bytes,
)
from rag_assets.workspace.bounded_yaml import YamlError, parse_yaml

# Formats that are read as Markdown.

OFFICE_SUFFIXES = (".docx", ".odt", ".rtf")
LATEX_SUFFIXES = (".tex",)


def place_in(draft_name: str, line: int, file: str = "") -> str:
    """Return a place in a draft as it is shown: `line 12`, `line 12 of sections/method.tex`."""
    return f"{unit_of(draft_name)} {line}" + (f" of {file}" if file else "")


def unit_of(draft_name: str) -> str:
    """Return what a place in a draft is counted in: a Word document has paragraphs, no lines."""
    return "paragraph" if draft_name.lower().endswith(OFFICE_SUFFIXES) else "line"


# A draft and its cited sentences, each with its exact place.

FRONT_MATTER = re.compile(
    r"\A---[ \t]*(?:\r\n?|\n)(?P<yaml>.*?)(?:^|(?<=[\r\n]))(?:---|\.\.\.)[ \t]*(?:\r\n?|\n|\Z)",
    re.DOTALL | re.MULTILINE,
)
_NOT_A_LINE_END = re.compile(r"[^\r\n]")
_LINE_END = re.compile(r"\r\n?|\n")
_PLAIN_TEXT_SUFFIXES = frozenset({".txt", ".text"})
_MAX_LINES_NAMED = 8
# Where a draft names the country, Criminal Law means the Chinese one.
_ON_CHINA = re.compile(rf"\b(?:China|Chinese|PRC)\b|[{HAN_RANGES}]")
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
        file: in which it stands, where the draft includes others; empty for the draft itself.
    """

    index: int
    line: int
    start: int
    end: int
    text: str
    claim: str
    citations: tuple[Citation, ...]
    quotations: tuple[str, ...] = ()
    file: str = ""


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
    file: str = ""


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
    """Read a draft in Markdown, plain text (`.txt`), LaTeX (`.tex`), Word (`.docx`),
    OpenDocument (`.odt`) or rich text (`.rtf`).

    Args:
        path: of the file; of a draft in LaTeX the main one.
        namespaces: in place of those that its front matter names, where any are given.
        split: finds sentences; the one of `rag_assets.chunking` where None.

    Raises:
        UsageError: the file is missing, empty, binary, not UTF-8, or its front matter is wrong.
    """
    if not path.is_file():
        found = "is a folder" if path.is_dir() else "does not exist"
        raise UsageError(f"{path}: the draft {found}. Give the path of a Markdown or text file.")
    path = _linked(path)
    if path.suffix.lower() in LATEX_SUFFIXES:
        draft = parse_draft(path.name, path.read_bytes(), split, source=read_latex(path))
    else:
        entries = [entry for file in files_of(path)[1:] for entry in read_bibliography(file)]
        draft = parse_draft(path.name, path.read_bytes(), split, entries)
    draft = replace(draft, digest=hash_bytes(draft_bytes(path)))
    return replace(draft, namespaces=tuple(dict.fromkeys(namespaces))) if namespaces else draft


def files_of(path: Path) -> tuple[Path, ...]:
    """Return the files that a draft consists of: itself, what it includes, and the bibliography
    files that it reads.

    These are the ones that its front matter or its LaTeX names, else the `.bib` or `.ris` with its
    name.
    """
    path = _linked(path)
    if path.suffix.lower() in LATEX_SUFFIXES:
        return latex_files(path)
    head = FRONT_MATTER.match(path.read_bytes().decode("utf-8-sig", "ignore"))
    named = _BIBLIOGRAPHY.search(head["yaml"]) if head is not None else None
    if named is not None:
        names = _FILE_NAME.findall(named["value"])
        return (path, *(path.parent / name for name in names))
    beside = (path.with_suffix(suffix) for suffix in (".bib", ".ris"))
    return (path, *(file for file in beside if file.is_file()))


def _linked(path: Path) -> Path:
    """Return the file behind a link, since what a draft reads besides itself is beside that."""
    return path.resolve() if path.is_symlink() else path


def draft_bytes(path: Path) -> bytes:
    """Return the bytes of a draft and of all files that it reads, by which audits know it."""
    found = (file for file in files_of(path) if file.is_file())
    return b"\0".join(file.read_bytes() for file in found)


def parse_draft(
    name: str,
    data: bytes,
    split: SentenceSplitter | None = None,
    bibliography: Sequence[Entry] = (),
    source: DraftSource | None = None,
) -> Draft:
    """Return the draft that `data` holds; `name` says what it is called and, by its suffix,
    whether it is plain text.

    Args:
        bibliography: entries of files beside the draft.
        source: the draft as Markdown, where it was read with the files that it includes.

    Raises:
        UsageError: as `read_draft`.
    """
    source = source or _read_source(name, data)
    text = source.text
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
    references, lists, written = _read_references(body, bibliography, source)
    reader = SentenceReader(body, split or default_splitter(), written, lists)
    reader.read(is_markdown)
    is_on_china = _ON_CHINA.search(body) is not None
    for sentence in reader.sentences:
        if sentence.kind != "heading":
            words = body[sentence.start : sentence.end]
            sentence.citations.extend(
                find_laws_in_words(words, sentence.start, has_english=is_on_china)
            )
    lines = _Lines.of(source, name)
    references = tuple(
        replace(entry, line=lines.at(entry.start)) if entry.start >= 0 else entry
        for entry in references
    )
    sentences = _cited(reader, lines, is_listed=False)
    listed = _cited(reader, lines, is_listed=True)
    warnings = (*source.warnings, *_warnings(name, reader, lines))
    uncited = ""
    if not any(sentence.citations for sentence in reader.sentences):
        uncited = _say_uncited(name, body, references)
    every = tuple(
        DraftSentence(
            lines.at(sentence.start), sentence.start, sentence.end, sentence.text, sentence.claim,
            tuple(sentence.citations), sentence.kind, sentence.block,
            sentence.is_footnote, tuple(sentence.noted), sentence.is_listed,
            lines.file_at(sentence.start),
        )
        for sentence in reader.sentences
    )  # fmt: skip
    return Draft(
        name, hash_bytes(data), text, namespaces, sentences, warnings, every, is_markdown,
        listed, uncited, references,
    )  # fmt: skip


def _read_source(name: str, data: bytes) -> DraftSource:
    suffix = Path(name).suffix.lower()
    if suffix in LATEX_SUFFIXES:
        return read_latex(Path(name), data)
    if suffix in OFFICE_SUFFIXES:
        return {".odt": read_odt, ".rtf": read_rtf}.get(suffix, read_word)(name, data)
    # Line ends stay as they are: places are those of the file, but for what is dropped.
    text = "\r".join(map(drop_controls, _decode(name, data).split("\r")))
    return DraftSource(text, hash_bytes(data))


@dataclass(frozen=True, slots=True)
class _Lines:
    """Lines of a draft, or paragraphs of a Word document: where each begins, its number and file.

    Args:
        files: empty where all are of the draft's own file.
    """

    starts: Sequence[int]
    numbers: Sequence[int]
    files: Sequence[str] = ()

    @classmethod
    def of(cls, source: DraftSource, name: str) -> "_Lines":
        if source.lines:
            begins, files, numbers = zip(*source.lines, strict=True)
            return cls(begins, numbers, ["" if file == name else file for file in files])
        starts = [0, *(match.end() for match in _LINE_END.finditer(source.text))]
        return cls(starts, range(1, len(starts) + 1))

    def at(self, offset: int) -> int:
        """Return the number of the line at an offset."""
        return self.numbers[max(bisect_right(self.starts, offset) - 1, 0)]

    def file_at(self, offset: int) -> str:
        """Return the file that this line is of, empty for the draft itself."""
        return self.files[max(bisect_right(self.starts, offset) - 1, 0)] if self.files else ""


def _read_references(
    body: str, bibliography: Sequence[Entry], source: DraftSource
) -> tuple[tuple[Entry, ...], tuple[tuple[int, int], ...], tuple[WrittenCitation, ...]]:
    """Return the entries of the lists of a draft, where the lists are, and what cites by name,
    number or title, in a field of its format or in a note.
    """
    own, lists = find_list(body)
    known, places = _join_entries((*own, *bibliography), source.entries)
    keys = find_marked(body)
    if not known and keys:
        return (), (), ()  # who cites by keys alone prints names for his readers
    stored = [_cite_as(one, places) for one in source.written]
    noted, more = find_note_references(body, known, stored)
    entries = [*known, *more]
    spans = [(one.start, one.end) for one in noted]
    written = find_written(body, ReferenceIndex(entries), (*lists, *spans))
    if not known:
        # Without a list nobody but the library can say what is meant: the words are the entry.
        open_ = [one for one in written if not any(each.entries for each in one.citations)]
        made, cited = as_entries(body, open_)
        numbers = range(len(entries), len(entries) + len(made))
        written = [one for one in written if one not in open_]
        written += [_cite_as(one, numbers) for one in cited]
        entries += made
    found = sorted((*_merge(stored, written), *noted), key=lambda one: one.start)
    kept = (one for one in found if not _is_beside(body, one, keys))
    return tuple(entries), lists, tuple(kept)


def _merge(
    marked: Sequence[WrittenCitation], written: Sequence[WrittenCitation]
) -> Iterator[WrittenCitation]:
    """Yield citations of fields and in words: of one place the field says what it cites, the words
    how far it goes: `Lee and others [(2021)]`, `(Kim 2020; [Lee 2021])`.
    """

    def overlap(one: WrittenCitation | Citation, other: WrittenCitation) -> bool:
        return one.start < other.end and other.start < one.end

    near = [[one for one in written if overlap(one, field)] for field in marked]
    alone = [field for field, words in zip(marked, near, strict=True) if len(words) != 1]
    yield from alone
    for one in written:
        inside = [field for field in marked if overlap(one, field)]
        if any(field in alone for field in inside):
            continue  # `Lee (2021) and Kim (2020)` in one field
        own = (each for each in one.citations if not any(overlap(each, f) for f in inside))
        citations = (*own, *(each for field in inside for each in field.citations))
        yield WrittenCitation(
            min(each.start for each in (one, *inside)),
            max(each.end for each in (one, *inside)),
            tuple(sorted(citations, key=lambda each: each.start)),
            one.is_word,
        )


def _join_entries(
    listed: Sequence[Entry], stored: Sequence[Entry]
) -> tuple[list[Entry], list[int]]:
    """Return the entries of lists and those that a format stores for its citations, a work once,
    and the place of each of the latter among them.

    What is stored tells title, authors and DOI better than what is printed.
    """
    entries, places = [*listed], []
    for entry in stored:
        title, first = fold(entry.title), fold(entry.authors[0]) if entry.authors else ""
        same = (
            number
            for number, other in enumerate(listed)
            if (entry.doi and entry.doi == other.doi)
            or (title and title in (said := fold(other.text)) and first in said)
        )
        place = next(same, len(entries))
        if place == len(entries):
            entries.append(entry)
        else:
            other = entries[place]
            entries[place] = replace(
                other, authors=entry.authors or other.authors, title=entry.title or other.title,
                year=other.year or entry.year, doi=entry.doi or other.doi,
            )  # fmt: skip
        places.append(place)
    return entries, places


def _cite_as(written: WrittenCitation, places: Sequence[int]) -> WrittenCitation:
    """Return a citation of stored entries as one of the places that these have."""
    return replace(
        written,
        citations=tuple(
            replace(one, entries=tuple(places[number] for number in one.entries))
            for one in written.citations
        ),
    )


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
    reader: SentenceReader, lines: "_Lines", *, is_listed: bool
) -> tuple[CitedSentence, ...]:
    cited = [s for s in reader.sentences if s.citations and s.is_listed == is_listed]
    return tuple(
        CitedSentence(
            index,
            lines.at(sentence.start),
            sentence.start,
            sentence.end,
            sentence.text,
            sentence.claim,
            tuple(sentence.citations),
            tuple(quotation.text for quotation in sentence.quotations),
            lines.file_at(sentence.start),
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


def _warnings(name: str, reader: SentenceReader, counted: "_Lines") -> Iterator[str]:
    def lines(offsets: Sequence[int]) -> str:
        numbers = sorted({(counted.file_at(offset), counted.at(offset)) for offset in offsets})
        shown = [f"{line} of {file}" if file else str(line) for file, line in numbers]
        named = ", ".join(shown[:_MAX_LINES_NAMED])
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
        for one in find_references(sentence.text)
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
