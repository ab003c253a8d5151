"""The page that a report grows into."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from rag_assets.model import escape_prose

# What a person reads of a list on a page; the commands named list all.
_MOST_SHOWN = 30


@dataclass
class ReportPage:
    """The page as it grows; `todo` are the sentences that ask for something."""

    todo: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def add(self, *lines: str) -> None:
        """Add lines to the page."""
        self.lines += lines

    def add_list(self, sentences: Sequence[str], margin: str = "") -> None:
        """Add a list, its beginning where it is long; `margin` sets it below another point."""
        self.lines += [f"{margin}- {escape_prose(s)}" for s in sentences[:_MOST_SHOWN]]
        if len(sentences) > _MOST_SHOWN:
            self.lines.append(f"{margin}- … and {len(sentences) - _MOST_SHOWN} more")
