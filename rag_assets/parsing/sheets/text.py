"""The clean text of a file of tables while it grows: pieces and their blocks."""

from dataclasses import dataclass, field

from rag_assets.model import Block, BlockKind, Columns, block_columns

# A million short strings need more memory than their text.
_MAX_PIECES = 10_000


@dataclass(slots=True)
class TextBuilder:
    """Collects blocks in reading order.

    Rows that follow one another stand on consecutive lines, everything else after a blank line.
    """

    blocks: Columns[Block] = field(default_factory=block_columns)
    _heading: str = ""
    _pieces: list[str] = field(default_factory=list)
    _joined: list[str] = field(default_factory=list)
    _last_kind: str = ""
    _length: int = 0

    def open_sheet(self, name: str) -> None:
        """Put the name of a sheet as heading before what is added next; an empty sheet has none."""
        self._heading = name.strip()

    def add(
        self,
        kind: BlockKind,
        text: str,
        *,
        attachment_id: str | None = None,
    ) -> tuple[int, int] | None:
        """Append one block and return its span; text without visible characters adds none."""
        text = text.strip()
        if not text:
            return None
        if self._heading:
            heading, self._heading = self._heading, ""
            self._append("heading", heading, 1, None)
        return self._append(kind, text, None, attachment_id)

    def text(self) -> str:
        """Return everything added so far."""
        return "".join([*self._joined, *self._pieces])

    def _append(
        self, kind: BlockKind, text: str, level: int | None, attachment_id: str | None
    ) -> tuple[int, int]:
        if self.blocks:
            separator = "\n" if kind == "row" == self._last_kind else "\n\n"
            self._pieces.append(separator)
            self._length += len(separator)
        start = self._length
        self._pieces.append(text)
        self._length += len(text)
        if len(self._pieces) >= _MAX_PIECES:
            self._joined.append("".join(self._pieces))
            self._pieces.clear()
        self.blocks.add(kind, start, self._length, None, None, level, attachment_id)
        self._last_kind = kind
        return start, self._length
