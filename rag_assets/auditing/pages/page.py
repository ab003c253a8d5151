"""The page of an audited draft: its own words, coloured, each note a click away.

One file without scripts and without anything from elsewhere; `<details>` opens and closes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from rag_assets.auditing.drafts.draft import Draft
from rag_assets.auditing.drafts.office import unit_of
from rag_assets.auditing.pages.layout import Span, lay_out
from rag_assets.model import drop_controls, is_chinese

if TYPE_CHECKING:
    from jinja2 import Template

# What a colour says: supported; partly; not; nothing cited; cannot be judged.
Tone = Literal["good", "weak", "bad", "open", "error"]


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of a source as it is shown.

    Args:
        source: uid, as it is cited; `title` of its document.
        locator: where it stands, as a person writes it.
        text: verbatim; [mark_start, mark_end) of it is what counts.
        label: a word on it, with its `tone`; empty for none.
        remark: a sentence on it; empty for none.
    """

    source: str
    title: str
    locator: str
    text: str
    mark_start: int = 0
    mark_end: int = 0
    label: str = ""
    tone: Tone | None = None
    remark: str = ""
    speaks_for: tuple[str, ...] = ()
    speaks_against: tuple[str, ...] = ()

    @property
    def parts(self) -> tuple[str, str, str]:
        """The text before the mark, in it and behind it."""
        return (
            self.text[: self.mark_start],
            self.text[self.mark_start : self.mark_end],
            self.text[self.mark_end :],
        )


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A query that a writer may ask, what it finds, and a sentence where that is nothing."""

    query: str
    passages: tuple[Passage, ...] = ()
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """What is to be said about a sentence of the draft.

    Args:
        start: offset in the draft's text; `end` one past its last.
        status: the word on it; `tone` its colour.
        kind: what sort of sentence it is, or what it cites; in few words.
        line: of the draft, from 1.
        claim: the sentence without marks.
        reasons: sentences for the writer.
        urgency: its place in the list below the draft, which begins with what needs eyes first.
        cited: passages of what it cites.
        against: passages of other documents that speak against it.
        suggestions: what could be asked.
    """

    start: int
    end: int
    status: str
    tone: Tone
    kind: str
    line: int
    claim: str
    reasons: tuple[str, ...]
    urgency: int
    cited: tuple[Passage, ...] = ()
    against: tuple[Passage, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()


@dataclass(frozen=True, slots=True)
class PageHead:
    """What stands above and below the draft.

    Args:
        title: of the page.
        summary: one sentence below it.
        tally: (status, tone, how many), in the order in which they are shown.
        warnings: sentences a person can act on.
        sources: used, as they are cited.
        provenance: lines that say where the audit comes from.
    """

    title: str
    summary: str
    tally: tuple[tuple[str, Tone, int], ...]
    warnings: tuple[str, ...]
    sources: tuple[str, ...]
    provenance: tuple[str, ...]


@cache
def _template() -> "Template":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("rag_assets.auditing.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("draft.html")


def render_page(draft: Draft, notes: Sequence[Note], head: PageHead) -> str:
    """Return the page of a draft.

    Args:
        notes: in the order of their sentences, none inside another.
    """
    spans = [Span(note.start, note.end, number) for number, note in enumerate(notes)]
    page = _template().render(
        head=head,
        notes=notes,
        listed=sorted(range(len(notes)), key=lambda number: notes[number].urgency),
        blocks=lay_out(draft, spans),
        language="zh-Hans" if is_chinese(draft.text) else "en",
        is_plain=not draft.is_markdown,
        unit=unit_of(draft.name),
    )
    return drop_controls(page)
