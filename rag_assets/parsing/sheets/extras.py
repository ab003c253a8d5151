"""What stands on an xlsx sheet besides its cells: comments, text boxes, charts, pictures."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rag_assets.model import Attachment, ParseFailure
from rag_assets.parsing.office.package import OfficePackage, relationship_id
from rag_assets.parsing.sheets.text import TextBuilder

if TYPE_CHECKING:
    from lxml.etree import _Element


@dataclass(slots=True)
class ExtrasReader:
    """Adds the extras of one sheet after the other to a text.

    A part that cannot be read is named in `warnings` and harms nothing else.
    """

    package: OfficePackage
    builder: TextBuilder
    attachments: list[Attachment] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    _counts: dict[str, int] = field(default_factory=dict)

    def add_extras(self, sheet_part: str) -> None:
        """Add what the sheet refers to: notes, then the drawing in the order of its shapes."""
        try:
            threads = self._references(sheet_part, "threadedComment")
            notes = self._references(sheet_part, "comments")
            drawings = self._references(sheet_part, "drawing")
        except ParseFailure as failure:
            self._warn(sheet_part, failure)
            return
        threaded: set[str] = set()
        for part in threads:
            self._add_notes(part, "threadedComment", threaded, skipped=set())
        for part in notes:
            self._add_notes(part, "comment", set(), skipped=threaded)
        for part in drawings:
            try:
                self._add_drawing(part)
            except ParseFailure as failure:
                self._warn(part, failure)

    def _references(self, part: str, kind: str) -> tuple[str, ...]:
        return self.package.related(part, kind)

    def _warn(self, part: str, failure: ParseFailure) -> None:
        self.warnings.append(f"What stands in {part} is missing here: {failure.message}")

    def _add_notes(self, part: str, element_name: str, seen: set[str], skipped: set[str]) -> None:
        try:
            root = self.package.tree(part)
        except ParseFailure as failure:
            self._warn(part, failure)
            return
        for comment in root.iter(f"{{*}}{element_name}"):
            reference = comment.get("ref", "")
            if reference in skipped:
                continue  # the older copy of a thread, for programs that know none
            seen.add(reference)
            texts = [text.text or "" for text in _outside(comment, "t", "text", skip="rPh")]
            note = " ".join("".join(texts).split())
            if note:
                self.builder.add("note", f"{reference}: {note}" if reference else note)

    def _add_drawing(self, part: str) -> None:
        relationships = self.package.relationships(part)
        for shape in _shapes(self.package.tree(part)):
            kind = _local(shape)
            if kind == "sp":
                for paragraph in shape.iter("{*}p"):
                    self.builder.add("paragraph", _text_of(paragraph))
                continue
            for element in shape.iter():
                for name in ("embed", "id", "dm"):
                    target = relationships.get(relationship_id(element, name) or "")
                    if target is None or target.is_external:
                        continue
                    if target.kind == "image" and kind == "pic":
                        self._add_image(shape, target.target)
                    elif target.kind in {"chart", "chartEx"}:
                        self._add_chart(shape, target.target)
                    elif target.kind == "diagramData":
                        for paragraph in self.package.tree(target.target).iter("{*}p"):
                            self.builder.add("paragraph", _text_of(paragraph))

    def _add_image(self, shape: "_Element", part: str) -> None:
        described = _name_of(shape) or part.rpartition("/")[2]
        try:
            content = self.package.read(part)
        except ParseFailure as failure:
            self._warn(part, failure)
            return
        attachment_id = self._next_id("img")
        # What describes it to those who cannot see it is not printed.
        span = self._add_reference("image", attachment_id)
        self.attachments.append(
            Attachment(
                attachment_id,
                "image",
                name=described,
                start=span[0],
                end=span[1],
                media_type=self.package.media_type(part),
                content=content,
            )
        )

    def _add_chart(self, shape: "_Element", part: str) -> None:
        try:
            root = self.package.tree(part)
        except ParseFailure as failure:
            self._warn(part, failure)
            return
        titles = [_text_of(title) for title in root.iter("{*}title")]
        chart_title = next((title for title in titles if title), None)
        name = chart_title or _name_of(shape) or "Chart"
        attachment_id = self._next_id("fig")
        span = self._add_reference(chart_title or "figure", attachment_id)
        if chart_title:
            self.builder.add("caption", chart_title, attachment_id=attachment_id)
        axes = [title for title in titles if title and title != chart_title]
        series = [_cached_name(element) for element in root.iter("{*}ser", "{*}series")]
        labels = list(dict.fromkeys([*axes, *(label for label in series if label)]))
        self.builder.add("paragraph", "; ".join(labels))
        self.attachments.append(
            Attachment(
                attachment_id,
                "figure",
                name=name,
                caption=chart_title,
                start=span[0],
                end=span[1],
            )
        )

    def _add_reference(self, name: str, attachment_id: str) -> tuple[int, int]:
        shown = " ".join(name.replace("[", "(").replace("]", ")").split())
        line = f"![{shown}](attachment:{attachment_id})"
        span = self.builder.add("figure", line, attachment_id=attachment_id)
        if span is None:
            raise ValueError("a reference is never blank")
        return span

    def _next_id(self, prefix: str) -> str:
        self._counts[prefix] = self._counts.get(prefix, 0) + 1
        return f"{prefix}-{self._counts[prefix]:03}"


def _shapes(element: "_Element") -> Iterator["_Element"]:
    """Yield text boxes, pictures and frames; what stands for old programs only is left out."""
    for child in element:
        name = _local(child)
        if name in {"sp", "cxnSp", "pic", "graphicFrame"}:
            yield child
        elif name != "Fallback":
            yield from _shapes(child)


def _outside(element: "_Element", *names: str, skip: str) -> Iterator["_Element"]:
    for child in element:
        name = _local(child)
        if name in names and not len(child):
            yield child
        elif name != skip:
            yield from _outside(child, *names, skip=skip)


def _text_of(element: "_Element") -> str:
    """Return the text of one paragraph of a drawing; a line break is a blank."""
    pieces = []
    for child in element.iter("{*}t", "{*}br", "{*}p"):
        name = _local(child)
        pieces.append(child.text or "" if name == "t" else " ")
    return " ".join("".join(pieces).split())


def _cached_name(series: "_Element") -> str:
    for heading in series.iter("{*}tx"):
        values = [value.text or "" for value in heading.iter("{*}v")]
        return " ".join(" ".join(values).split())
    return ""


def _name_of(shape: "_Element") -> str:
    """Return what describes a shape to readers who cannot see it, else its name."""
    for properties in shape.iter("{*}cNvPr"):
        described = properties.get("descr") or properties.get("title") or properties.get("name")
        return " ".join((described or "").split())
    return ""


def _local(element: "_Element") -> str:
    return str(element.tag).rpartition("}")[2]
