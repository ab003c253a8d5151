"""A draft and its cited sentences, each with its exact place."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from rapidfuzz import fuzz

from rag_assets.auditing.anchors import Citation, find_anchors, read_anchor
from rag_assets.auditing.blocks import ProseBlock, find_prose
from rag_assets.auditing.marks import PlainText, remove_marks
from rag_assets.model import UsageError, hash_bytes

# Takes a text, returns half-open spans in order (`rag_assets.chunking.split_sentences`).
SentenceSplitter = Callable[[str], Sequence[tuple[int, int]]]

_FRONT_MATTER = re.compile(
    r"\A---[ \t]*(?:\r\n?|\n)(?P<yaml>.*?)(?:^|(?<=[\r\n]))(?:---|\.\.\.)[ \t]*(?:\r\n?|\n|\Z)",
    re.DOTALL | re.MULTILINE,
)
_NOT_A_LINE_END = re.compile(r"[^\r\n]")
_LINE_END = re.compile(r"\r\n?|\n")
_EMPTY_BRACKETS = re.compile(r"\s*[(（]\s*[;,，；、.\s]*[)）]")
_LEADING_REST = re.compile(r"^[\s,;:，；：、]+")
_PLAIN_TEXT_SUFFIXES = frozenset({".txt", ".text"})
_MAX_LINES_NAMED = 8
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
    """

    index: int
    line: int
    start: int
    end: int
    text: str
    claim: str
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """A draft as it was read.

    Args:
        name: of its file.
        digest: SHA-256 of its bytes.
        text: decoded; offsets refer to it.
        namespaces: of its front matter, in order; empty where it names none.
        sentences: those with citations, in order.
        warnings: sentences a person can act on.
    """

    name: str
    digest: str
    text: str
    namespaces: tuple[str, ...]
    sentences: tuple[CitedSentence, ...]
    warnings: tuple[str, ...] = ()


@dataclass(slots=True)
class _Sentence:
    start: int
    end: int
    text: str
    claim: str
    citations: list[Citation] = field(default_factory=list)
    footnotes: list[str] = field(default_factory=list)


def default_splitter() -> SentenceSplitter:
    """Return `split_sentences` of `rag_assets.chunking`, so that drafts are cut as sources are."""
    from rag_assets.chunking import split_sentences

    return split_sentences


def read_draft(path: Path, split: SentenceSplitter | None = None) -> Draft:
    """Read a draft in Markdown or, for `.txt`, plain text.

    Args:
        path: a UTF-8 file.
        split: finds sentences; the one of `rag_assets.chunking` where None.

    Raises:
        UsageError: the file is missing, empty, binary, not UTF-8, or its front matter is wrong.
    """
    if not path.is_file():
        found = "is a folder" if path.is_dir() else "does not exist"
        raise UsageError(f"{path}: the draft {found}. Give the path of a Markdown or text file.")
    return parse_draft(path.name, path.read_bytes(), split)


def parse_draft(name: str, data: bytes, split: SentenceSplitter | None = None) -> Draft:
    """Return the draft that `data` holds; `name` says what it is called and, by its suffix,
    whether it is plain text.

    Raises:
        UsageError: as `read_draft`.
    """
    text = _decode(name, data)
    front_matter = _FRONT_MATTER.match(text)
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
    reader = _Reader(body, split or default_splitter())
    reader.read(is_markdown)
    line_starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
    sentences = tuple(
        CitedSentence(
            index,
            _line_of(line_starts, sentence.start),
            sentence.start,
            sentence.end,
            sentence.text,
            sentence.claim,
            tuple(sentence.citations),
        )
        for index, sentence in enumerate(s for s in reader.sentences if s.citations)
    )
    warnings = tuple(_warnings(name, sentences, reader, line_starts))
    return Draft(name, hash_bytes(data), text, namespaces, sentences, warnings)


def _decode(name: str, data: bytes) -> str:
    if data.startswith((b"%PDF", b"PK\x03\x04", b"\xd0\xcf\x11\xe0")) or b"\0" in data:
        raise UsageError(
            f"{name}: this is not a text file. Export the draft as Markdown (.md) or plain "
            "text (.txt) in UTF-8."
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
        content = yaml.safe_load(front_matter)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 2}" if mark else ""  # the first line is the `---`
        reason = " ".join((getattr(error, "problem", None) or str(error)).split())
        raise UsageError(f"{name}{line}: its front matter is not YAML: {reason}. {mend}") from error
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
    names = [] if given is None else [given] if isinstance(given, str) else given
    if not isinstance(names, list) or not all(isinstance(n, str) and n.strip() for n in names):
        raise UsageError(
            f"{name}: `namespaces` in its front matter must be a name or a list of names, got "
            f"{given!r}. {mend}"
        )
    return tuple(dict.fromkeys(n.strip() for n in names))


def _line_of(line_starts: list[int], offset: int) -> int:
    return bisect_right(line_starts, offset)


def _warnings(
    name: str, sentences: Sequence[CitedSentence], reader: "_Reader", line_starts: list[int]
) -> Iterator[str]:
    def lines(offsets: Sequence[int]) -> str:
        numbers = sorted({_line_of(line_starts, offset) for offset in offsets})
        named = ", ".join(map(str, numbers[:_MAX_LINES_NAMED]))
        more = f" and {len(numbers) - _MAX_LINES_NAMED} more" * (len(numbers) > _MAX_LINES_NAMED)
        return f"{'line' if len(numbers) == 1 else 'lines'} {named}{more}"

    if not sentences:
        yield (
            f"{name} cites nothing, so there is nothing to verify. Put {{#doc_uid}} behind a "
            "sentence; `rag documents` lists the uids."
        )
    if reader.attributes:
        yield (
            f"{name}, {lines(reader.attributes)}: {{#…}} was read as the attribute of an image "
            "or of other Markdown, not as a citation."
        )
    unread = {start for start, _ in find_anchors(reader.body)} - reader.seen
    if unread:
        yield (
            f"{name}, {lines(sorted(unread))}: {{#…}} in code, a comment or outside of any "
            "sentence was not read as a citation."
        )


class _Reader:
    """Gathers the sentences of all blocks; `seen` holds every anchor that was understood."""

    def __init__(self, body: str, split: SentenceSplitter) -> None:
        self.body = body
        self.sentences: list[_Sentence] = []
        self.attributes: list[int] = []
        self.seen: set[int] = set()
        self._split = split
        self._footnotes: dict[str, list[_Sentence]] = {}

    def read(self, is_markdown: bool) -> None:
        """Read every block of the body, in order."""
        previous: _Sentence | None = None
        for block in find_prose(self.body, is_markdown):
            if block is None:
                previous = None
                continue
            plain = remove_marks(block.text)
            self._note_other_braces(block, plain)
            sentences = _sentences_of(block, plain, self._split)
            if not _has_words(plain.text):
                if plain.defines_footnote is not None:
                    self._footnotes.setdefault(plain.defines_footnote, sentences)
                    continue
                if previous is not None:
                    _join(previous, sentences)
                    continue
            self.sentences.extend(sentences)
            previous = sentences[-1] if sentences and block.kind == "paragraph" else None
        self._give_footnotes_to_their_sentences()

    def _give_footnotes_to_their_sentences(self) -> None:
        unused = dict(self._footnotes)
        for sentence in self.sentences:
            for label in sentence.footnotes:
                for note in self._footnotes.get(label, []):
                    sentence.citations.extend(note.citations)
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
        self.seen.update(block.offsets[start] for start in plain.attributes)
        self.seen.update(block.offsets[start] for _, start, _ in plain.anchors)


def _has_words(text: str) -> bool:
    return any(character.isalnum() for character in text)


def _join(previous: _Sentence, sentences: list[_Sentence]) -> None:
    # A paragraph of anchors alone stands behind a paragraph or quotation that it supports.
    for sentence in sentences:
        previous.citations.extend(sentence.citations)
        previous.end = sentence.end
        previous.text = f"{previous.text} {sentence.text}"


def _sentences_of(block: ProseBlock, plain: PlainText, split: SentenceSplitter) -> list[_Sentence]:
    text = plain.text
    spans = [(0, len(text))] if block.kind == "row" else list(split(text))
    spans = [span for span in spans if text[slice(*span)].strip()] or [(0, len(text))]
    citations: list[list[Citation]] = [[] for _ in spans]
    footnotes: list[list[str]] = [[] for _ in spans]
    edges = _marked_edges(block.text, plain, spans)
    for position, start, end in plain.anchors:
        owner = _owner(spans, position)
        edges[owner] = (min(edges[owner][0], start), max(edges[owner][1], end))
        for found in read_anchor(block.text[start:end], start):
            citations[owner].append(
                Citation(
                    found.namespace,
                    found.doc_uid,
                    block.offsets[found.start],
                    block.offsets[found.end - 1] + 1,
                )
            )
    for position, label in plain.footnotes:
        footnotes[_owner(spans, position)].append(label)
    sentences = []
    for span, (start, end), cited, notes in zip(
        spans, _apart(edges), citations, footnotes, strict=True
    ):
        marked = block.text[start:end]
        if not marked.strip():
            continue
        first = start + len(marked) - len(marked.lstrip())
        last = end - 1 - len(marked) + len(marked.rstrip())
        sentences.append(
            _Sentence(
                block.offsets[first],
                block.offsets[last] + 1,
                " ".join(marked.split()),
                _claim(text[slice(*span)]),
                cited,
                notes,
            )
        )
    return sentences


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
    claim = _EMPTY_BRACKETS.sub("", " ".join(text.split()))
    claim = _LEADING_REST.sub("", claim)
    return claim if _has_words(claim) else ""
