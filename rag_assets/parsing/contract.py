"""What a parser is: the interface that built-in and added parsers share."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from rag_assets.model import ParsedDocument
from rag_assets.settings import ParseSettings


@dataclass(frozen=True, slots=True)
class ParseHints:
    """What is known about a file besides its bytes.

    Args:
        extension: of the file's name, with or without the dot, in any case; decides only between
            text formats.
        password: from the sidecar, None where there is none.
        stem: of the file's name, "" unless the parser declares `reads_stem`.
        answer: folder that holds what a cloud provider answered for this file, None without.
    """

    extension: str = ""
    password: str | None = None
    stem: str = ""
    answer: Path | None = None


@runtime_checkable
class Parser(Protocol):
    """Turns the bytes of some media types into a ParsedDocument.

    A parse is a function of bytes, hints and settings alone: no clock, no network, no other file.
    """

    @property
    def name(self) -> str:
        """Short stable word, unique among parsers."""

    @property
    def version(self) -> str:
        """Changes whenever the same bytes could give another result, libraries included."""

    @property
    def media_types(self) -> Sequence[str]:
        """What `sniff_media_type` returns for the files that this parser reads."""

    @property
    def reads_stem(self) -> bool:
        """Whether `hints.stem` changes the result (then a rename is a new parse)."""

    def parse(self, data: bytes, hints: ParseHints, settings: ParseSettings, /) -> ParsedDocument:
        """Return the document.

        Raises:
            ParseFailure: with a reason code of `PARSE_REASONS`.
        """
