"""A parsed document as Markdown and as JSON, for people and for other programs."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rag_assets.model import Block, ParsedDocument
from rag_assets.parsing.stored import NESTED_FIELDS, plain_fields

_DEEPEST_HEADING = 6
_ATTACHMENT = re.compile(r"\]\(attachment:([^)\s]+)\)")
# Kinds that follow each other without a blank line where they stand so in the text.
_TIGHT = ("list", "row")
_OBJECTS_AT_ONCE = 5000


def render_markdown(document: ParsedDocument, files: Mapping[str, str] | None = None) -> str:
    """Return a document as Markdown: headings with `#`, tables, code in fences, page marks.

    A Markdown file is returned as it was read. What the parser took out (running heads) is not in
    it; nothing else is left out.

    Args:
        document: as parsed.
        files: attachment id → path of its file, for the links of figures; others stay
            `attachment:` links.
    """
    if document.is_markdown:
        return _link(document.text, files or {})
    title_levels = 1 if any(block.kind == "title" for block in document.blocks) else 0
    parts: list[str] = []
    page, before = None, None
    for block in document.blocks:
        if block.page is not None and block.page != page:
            page = block.page
            parts.append(f"\n\n<!-- page {page} -->")
        tight = before is not None and before.kind == block.kind and block.kind in _TIGHT
        parts.append("\n" if tight else "\n\n")
        parts.append(_render(block, document.text[block.start : block.end], title_levels))
        before = block
    return _link("".join(parts).strip("\n") + "\n", files or {})


def _render(block: Block, text: str, title_levels: int) -> str:
    one_line = " ".join(text.split())
    if block.kind == "title":
        return f"# {one_line}"
    if block.kind == "heading":
        level = min(_DEEPEST_HEADING, (block.level or 1) + title_levels)
        return f"{'#' * level} {one_line}"
    if block.kind == "code" and not text.lstrip().startswith(("```", "~~~")):
        return f"```\n{text}\n```"
    if block.kind == "note":
        return "\n".join(f"> {line}" for line in text.split("\n"))
    return text


def _link(text: str, files: Mapping[str, str]) -> str:
    def target(match: re.Match[str]) -> str:
        found = files.get(match[1])
        return f"]({found})" if found else match[0]

    return _ATTACHMENT.sub(target, text)


def json_pieces(document: ParsedDocument) -> Iterator[str]:
    """Yield the pieces of a document as JSON: every field of ParsedDocument, lists of objects.

    Together they are UTF-8 text. In pieces, since the objects of a table's million rows would need
    many times the memory of the document.
    """
    opening = "{\n"
    for name, value in plain_fields(document):
        yield opening
        yield from _list_members(name, value) if name in NESTED_FIELDS else [_member(name, value)]
        opening = ",\n"
    yield "\n}\n"


def _list_members(name: str, columns: Mapping[str, Sequence[Any]]) -> Iterator[str]:
    """Yield a list of objects, given by field, as a member of the document's object."""
    size = len(next(iter(columns.values())))
    head, tail = f' "{name}": [\n', "\n ]"
    for start in range(0, size, _OBJECTS_AT_ONCE):
        rows = zip(*(c[start : start + _OBJECTS_AT_ONCE] for c in columns.values()), strict=True)
        objects = [dict(zip(columns, row, strict=True)) for row in rows]
        yield ",\n" if start else head
        yield _member(name, objects).removeprefix(head).removesuffix(tail)
    yield tail if size else _member(name, [])


def _member(name: str, value: Any) -> str:
    return json.dumps({name: value}, ensure_ascii=False, indent=1)[len("{\n") : -len("\n}")]
