"""What is shown of a cited document for a claim: the windows that decide it, and their places."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rag_assets.auditing.library import CitedDocument
from rag_assets.finding import EvidenceWindow
from rag_assets.judging import PassageText, name_context


@dataclass(frozen=True, slots=True)
class PassagePart:
    """A passage of a document, or the part of it that an article fills, as the finder reads it.

    Args:
        passage: index of the passage; `offset` where the part begins in it.
    """

    text: str
    char_start: int | None
    char_end: int | None
    section_path: tuple[str, ...]
    passage: int
    offset: int


@dataclass(frozen=True, slots=True)
class ShownWindow:
    """A window as it was judged, to be kept and printed.

    Args:
        text: verbatim; rows and items on lines of their own.
        share: how likely it decides, beside the rest of the document; no probability of support.
        parts: where it stands: (index of the passage, start, end in it), half-open.
    """

    text: str
    share: float
    parts: tuple[tuple[int, int, int], ...]


def read_parts(
    document: CitedDocument, spans: Mapping[int, tuple[int, int]] | None = None
) -> tuple[PassagePart, ...]:
    """Return the passages of a document, or the spans of some of them, in order."""
    chosen = spans or {i: (0, len(p.text)) for i, p in enumerate(document.passages)}
    return tuple(_part(document, index, *chosen[index]) for index in sorted(chosen))


def _part(document: CitedDocument, index: int, start: int, end: int) -> PassagePart:
    passage = document.passages[index]
    begin = passage.char_start
    return PassagePart(
        passage.text[start:end],
        None if begin is None else begin + start,
        None if begin is None else begin + end,
        passage.section_path,
        index,
        start,
    )


@dataclass(frozen=True, slots=True)
class Shown:
    """A window of a document with what a scorer needs of it."""

    window: EvidenceWindow
    parts: tuple[PassagePart, ...]

    def as_passage(self, title: str | None) -> PassageText:
        """Return the window as scorers read it, sentence by sentence."""
        first = self.parts[self.window.sentences[0].parts[0][0]]
        context = name_context(title, first.section_path)
        found = self.window
        return PassageText(found.text, found.spans, context, found.shares, found.leads)

    def place_of(self, span: tuple[int, int]) -> tuple[int, int, int]:
        """Return where a sentence of the window stands: passage, start, end in it.

        Of a sentence over two passages the longer part.
        """
        touched = [
            part
            for sentence, (start, end) in zip(self.window.sentences, self.window.spans, strict=True)
            if start < span[1] and span[0] < end
            for part in sentence.parts
        ]
        longest = max(touched, key=lambda part: part[2] - part[1])
        same = [part for part in touched if part[0] == longest[0]]
        whole = self.parts[longest[0]]
        start, end = min(part[1] for part in same), max(part[2] for part in same)
        return whole.passage, whole.offset + start, whole.offset + end

    def kept(self) -> ShownWindow:
        """Return the window as it is kept."""
        return ShownWindow(self.window.text, self.window.share, tuple(self._places()))

    def _places(self) -> Iterator[tuple[int, int, int]]:
        for index, start, end in self.window.parts:
            part = self.parts[index]
            yield part.passage, part.offset + start, part.offset + end


def show(windows: Sequence[EvidenceWindow], parts: tuple[PassagePart, ...]) -> tuple[Shown, ...]:
    """Return windows with the parts that they were found in."""
    return tuple(Shown(window, parts) for window in windows)
