"""Verdicts as comments in a copy of a Word draft."""

import posixpath
import re
import zipfile
from collections.abc import Iterator, Sequence
from copy import deepcopy
from io import BytesIO
from typing import TYPE_CHECKING

from rag_assets.auditing.record import CitationVerdict
from rag_assets.auditing.word import count_paragraphs
from rag_assets.model import ParseFailure, UsageError, show_figures

if TYPE_CHECKING:
    from lxml.etree import _Element

AUTHOR, _INITIALS = "rag-assets", "ra"
_COMMENTS_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.comments+xml"
_TYPES = "{http://schemas.openxmlformats.org/package/2006/content-types}"
_RELATIONSHIPS = "http://schemas.openxmlformats.org/package/2006/relationships"
_KINDS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_NOTE = re.compile(r"\[\^[^\]\s]+\]")
_DIGITS = re.compile(r"\d+")
# Where a formula or symbol stands in a sentence, its first and last letters tell its place.
_EDGE = 15


def comment_draft(
    name: str, data: bytes, rows: Sequence[CitationVerdict], *, comment_all: bool = False
) -> tuple[bytes, int]:
    """Return a copy of a Word draft with a comment at each sentence whose citation is not OK.

    Text and layout stay, and so do the comments that are there. Only the parts that hold the
    document, its comments and their listing differ.

    Args:
        name: of the draft, for messages; `data` its bytes, which were audited.
        rows: verdicts of the audit.
        comment_all: those that are OK are written too.

    Returns:
        The copy, and the number of comments in it that are new.

    Raises:
        UsageError: the draft is no Word document.
    """
    from rag_assets.parsing import OfficePackage
    from rag_assets.workspace import shipped_settings

    try:
        package = OfficePackage(data, shipped_settings().parse)
        main = package.main_part("word/document.xml")
        folder, base = posixpath.split(main)
        known = package.related(main, "comments")
    except ParseFailure as failure:
        raise UsageError(
            f"{name}: comments can be written into a Word document (.docx) only. {failure.message}"
        ) from failure
    chosen = [row for row in rows if comment_all or row.status != "OK"]
    parts = {main: _parse(package.read(main))}
    comments = known[0] if known else posixpath.join(folder, "comments.xml")
    if known:
        parts[comments] = _parse(package.read(comments))
    else:
        listing = posixpath.join(folder, "_rels", f"{base}.rels")
        parts[comments] = _empty_comments(parts[main])
        parts["[Content_Types].xml"] = _parse(package.read("[Content_Types].xml"))
        _declare(parts["[Content_Types].xml"], comments)
        has_listing = listing in package
        parts[listing] = _parse(package.read(listing)) if has_listing else _empty_listing()
        _relate(parts[listing], posixpath.relpath(comments, folder))
    _write_comments(parts[main], parts[comments], chosen)
    return _packed(data, parts), len(chosen)


def _parse(data: bytes) -> "_Element":
    from lxml import etree

    return etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True))


def _packed(data: bytes, parts: "dict[str, _Element]") -> bytes:
    from lxml import etree

    changed = {name.casefold(): root for name, root in parts.items()}
    packed = BytesIO()
    with zipfile.ZipFile(BytesIO(data)) as old, zipfile.ZipFile(packed, "w") as new:

        def write(member: zipfile.ZipInfo, root: "_Element") -> None:
            new.writestr(
                member,
                etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True),
            )

        for member in old.infolist():
            root = changed.pop(member.filename.replace("\\", "/").lstrip("/").casefold(), None)
            if root is None:
                new.writestr(member, old.read(member))
            else:
                write(member, root)
        for name, root in parts.items():
            if name.casefold() in changed:
                member = zipfile.ZipInfo(name)
                member.compress_type = zipfile.ZIP_DEFLATED
                write(member, root)
    return packed.getvalue()


def _namespace(root: "_Element") -> str:
    """Return the prefix of the document's own elements: strict documents have another one."""
    return str(root.tag).rpartition("}")[0] + "}"


def _empty_comments(document: "_Element") -> "_Element":
    from lxml import etree

    w = _namespace(document)
    root: _Element = etree.Element(w + "comments", nsmap={"w": w.strip("{}")})
    return root


def _empty_listing() -> "_Element":
    from lxml import etree

    root: _Element = etree.Element(
        f"{{{_RELATIONSHIPS}}}Relationships", nsmap={None: _RELATIONSHIPS}
    )
    return root


def _declare(types: "_Element", part: str) -> None:
    from lxml import etree

    etree.SubElement(types, f"{_TYPES}Override", PartName=f"/{part}", ContentType=_COMMENTS_TYPE)


def _relate(listing: "_Element", target: str) -> None:
    from lxml import etree

    ids = {each.get("Id") for each in listing}
    free = next(name for n in range(1, len(ids) + 2) if (name := f"rIdComments{n}") not in ids)
    # Strict documents have other names for the same kinds.
    kinds = [each.get("Type", "").rpartition("/")[0] for each in listing]
    kind = next((each for each in kinds if "/officeDocument/" in each), _KINDS)
    etree.SubElement(
        listing, f"{{{_RELATIONSHIPS}}}Relationship", Id=free, Type=f"{kind}/comments",
        Target=target,
    )  # fmt: skip


# The comments, and their places in the text.


def _write_comments(
    document: "_Element", comments: "_Element", rows: Sequence[CitationVerdict]
) -> None:
    w = _namespace(document)
    used = [*comments.iter(w + "comment"), *document.iter(w + "commentRangeStart")]
    numbers = [int(each.get(w + "id", "0")) for each in used if each.get(w + "id", "").isdigit()]
    paragraphs = list(count_paragraphs(document, w))
    for number, row in enumerate(rows, max(numbers, default=-1) + 1):
        comments.append(_comment(w, number, row))
        _anchor(w, paragraphs[row.line - 1], number, row.sentence)


def _comment(w: str, number: int, row: CitationVerdict) -> "_Element":
    from lxml import etree

    comment: _Element = etree.Element(
        w + "comment", {w + "id": str(number), w + "author": AUTHOR, w + "initials": _INITIALS}
    )
    for text in _said(row):
        run = etree.SubElement(etree.SubElement(comment, w + "p"), w + "r")
        etree.SubElement(run, w + "t", {_SPACE: "preserve"}).text = text
    return comment


def _said(row: CitationVerdict) -> Iterator[str]:
    """Yield the paragraphs of a comment: verdict, reason, the source's words with their place."""
    # `Lee 2021, p. 12` names its place; `sec. 2` is section 2.
    is_named = row.hint is None or set(_DIGITS.findall(row.hint)) <= set(_DIGITS.findall(row.cites))
    place = "" if is_named else f", {row.hint}"
    yield f"{row.status}: {row.cites or '(empty)'}{place}"
    yield row.reason
    for note in (row.scoring_note, row.outdated_judgement):
        if note:
            yield note
    if row.shown_quote:
        where = ", ".join(filter(None, [" ".join((row.title or "").split()), row.locator]))
        yield f"“{' '.join(show_figures(row.shown_quote).split())}”" + (
            f" ({where})" if where else ""
        )


# Put around a sentence, the ends of a comment are children of the paragraph itself, never inside a
# field, link or control: a manager that updates its field must not take them away.

_OPENING = frozenset("([{（［〔【《「『“‘„«‹")


def _anchor(w: str, paragraph: "_Element", number: int, sentence: str) -> None:
    """Put the ends of a comment around a sentence; around the paragraph where it is not found."""
    from lxml import etree

    value = {w + "id": str(number)}
    ends = [etree.Element(w + name, value) for name in ("commentRangeStart", "commentRangeEnd")]
    ends.append(etree.Element(w + "r"))
    etree.SubElement(ends[2], w + "commentReference", value)
    span = _find(w, paragraph, sentence)
    if span is None:
        paragraph.extend(ends)
        return
    (start, at), (last, behind) = span
    last_child = _child_at(w, paragraph, last, behind, keeps_head=True)
    first_child = _child_at(w, paragraph, start, at, keeps_head=False)
    depth, depths = 0, []
    children = list(paragraph)
    for child in children:
        for mark in child.iter(w + "fldChar"):
            step = {"begin": 1, "end": -1}.get(mark.get(w + "fldCharType", ""), 0)
            depth = max(0, depth + step)
        depths.append(depth)
    first, final = children.index(first_child), children.index(last_child)
    while first and depths[first - 1]:
        first -= 1
    while depths[final] and final + 1 < len(children):
        final += 1
    children[first].addprevious(ends[0])
    for end in reversed(ends[1:]):
        children[final].addnext(end)


def _find(
    w: str, paragraph: "_Element", sentence: str
) -> "tuple[tuple[_Element, int], tuple[_Element, int]] | None":
    """Return where a sentence begins and ends: an element of text and an offset in it, each."""
    characters = [
        (character, each, at)
        for each in paragraph.iter(w + "t")
        if next(each.iterancestors(w + "moveFrom", w + "txbxContent"), None) is None
        for at, character in enumerate(each.text or "")
    ]
    places = [
        (letter, place)
        for place, (character, _, _) in enumerate(characters)
        if character.isalnum()
        for letter in character.casefold()
    ]
    printed = "".join(letter for letter, _ in places)
    wanted = "".join(filter(str.isalnum, _NOTE.sub("", sentence))).casefold()
    if not printed:
        return None
    start, end = printed.find(wanted), printed.find(wanted) + len(wanted)
    if start < 0 or not wanted:
        head, tail = wanted[:_EDGE], wanted[-_EDGE:]
        start = max(printed.find(head), 0)
        found = printed.find(tail, start)
        end = found + len(tail) if found >= 0 and tail else len(printed)
    first, last = places[start][1], places[end - 1][1]
    while first and characters[first - 1][0] in _OPENING:
        first -= 1
    while last + 1 < len(characters) and _closes(characters[last + 1][0]):
        last += 1
    return characters[first][1:], (characters[last][1], characters[last][2] + 1)


def _closes(character: str) -> bool:
    return not (character.isalnum() or character.isspace() or character in _OPENING)


def _child_at(
    w: str, paragraph: "_Element", text: "_Element", at: int, *, keeps_head: bool
) -> "_Element":
    """Return the child of a paragraph that ends, or begins, at an offset of a text in it.

    A run of the paragraph itself is cut there; what holds other runs is kept whole.
    """
    from lxml import etree

    run = text.getparent()
    if run.getparent() is not paragraph:
        while run.getparent() is not paragraph:
            run = run.getparent()
        return run
    written = text.text or ""
    head = [each for each in text.itersiblings(preceding=True) if each.tag != w + "rPr"]
    tail = list(text.itersiblings())
    if not (written[at:] or tail if keeps_head else written[:at] or head):
        return run
    properties = run.find(w + "rPr")
    cut = etree.Element(w + "r")
    if properties is not None:
        cut.append(deepcopy(properties))
    moved = etree.Element(w + "t", {_SPACE: "preserve"})
    moved.text, text.text = (
        (written[at:], written[:at]) if keeps_head else (written[:at], written[at:])
    )
    text.set(_SPACE, "preserve")
    cut.extend([moved, *tail] if keeps_head else [*reversed(head), moved])
    (run.addnext if keeps_head else run.addprevious)(cut)
    return run
