"""Markdown as it is seen, cut into the blocks of CommonMark; its text stays as it is written."""

import html
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import cache, cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from rag_assets.model import Attachment, Block, BlockKind, ParsedDocument, ParseFailure
from rag_assets.model.settings import ParseSettings
from rag_assets.parsing.cleaning import guess_language, replace_surrogates
from rag_assets.parsing.html import decode_data_uri
from rag_assets.parsing.page_styles import Look, Node, StyleSheet, hides, look_of
from rag_assets.parsing.registry import ParseHints
from rag_assets.parsing.seen import LEVEL, LOWERED, NOTE_MARK, RAISED, Kind, Unseen, settle_raised
from rag_assets.parsing.text import decode_text, decoder_version
from rag_assets.workspace.bounded_yaml import YamlError, parse_yaml

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token
if TYPE_CHECKING:
    from markdown_it.token import Token

PARSER_VERSION = "5"
_PACKAGES = ("markdown-it-py", "mdit-py-plugins")


class MarkdownParser:
    """Reads CommonMark with tables, footnotes, definition lists, math and front matter."""

    name = "markdown"
    media_types = ("text/markdown",)
    reads_stem = False

    @cached_property
    def version(self) -> str:
        """Own version with those of the Markdown parser and the encoding detectors."""
        packages = (f"{name}-{version(name)}" for name in _PACKAGES)
        return "+".join([decoder_version(PARSER_VERSION), *packages])

    def parse(self, data: bytes, _hints: ParseHints, _settings: ParseSettings) -> ParsedDocument:
        """Return the source below the front matter, its blocks and its images' references.

        What a reader does not see (comments, hidden HTML, struck text, titles of links, texts in
        place of images) is not in the text.

        Raises:
            ParseFailure: `unknown_encoding`, `empty_file`.
        """
        source, encoding, warnings = decode_text(data)
        document = read_markdown(source, self.media_types[0])
        return replace(
            document,
            metadata={**document.metadata, "encoding": encoding},
            warnings=(*warnings, *document.warnings),
        )


def read_markdown(source: str, media_type: str) -> ParsedDocument:
    """Return the document that a Markdown text is.

    Raises:
        ParseFailure: `empty_file`.
    """
    front = read_front_matter(source)
    text, unseen = leave_unseen(source[front.length :])
    if not text.strip():
        raise ParseFailure("empty_file", "The file holds front matter but no text: write its text.")
    blocks, attachments = cut_blocks(text)
    text = leave_titles(text, blocks, unseen)
    heading = first_title_span(blocks)
    first = plain_title(text[heading.start : heading.end]) if heading else None
    return ParsedDocument(
        text=text,
        media_type=media_type,
        blocks=blocks,
        attachments=attachments,
        title=front.title or first or None,
        authors=front.authors,
        year=front.year,
        doi=front.doi,
        language=guess_language(text) or front.language,
        metadata=front.metadata,
        warnings=(*front.warnings, *unseen.warnings()),
    )


_YAML = re.compile(r"\A---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_TOML = re.compile(r"\A\+\+\+[ \t]*\n(.*?)^\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
# pandoc's manual, "pandoc_title_block": title, authors, date; continued lines are indented.
_TITLE_BLOCK = re.compile(
    r"\A%[^\n]*(?:\n[ \t]+[^\n]*)*(?:\n%[^\n]*(?:\n[ \t]+[^\n]*)*){0,2}(?:\n|\Z)"
)
# Metadata fit on a page; more is a text that happens to begin with a rule.
_MAX_CHARACTERS = 20_000
_TITLES = ("title",)
_AUTHORS = ("authors", "author", "creator", "by")
_DATES = ("date", "year", "published", "published_date", "publishdate", "pubdate", "created")
_TAGS = ("tags", "keywords", "categories")
_LANGUAGES = ("lang", "language", "locale")
_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d)")
_DOI = re.compile(r"10\.\d{4,9}/\S+")
_NAME_SEPARATORS = re.compile(r"\s*;\s*|\s+and\s+|\s*、\s*")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What a Markdown file says about itself before its text.

    Args:
        length: characters that it takes, 0 without.
        metadata: every key with plain values, lists joined by `; `.
        warnings: sentences a person can act on.
    """

    length: int = 0
    title: str | None = None
    authors: tuple[str, ...] = ()
    year: int | None = None
    doi: str | None = None
    language: str | None = None
    metadata: dict[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def read_front_matter(source: str) -> FrontMatter:
    """Return the front matter of a Markdown source, an empty one without.

    Front matter that cannot be read stays text, with a warning that says where it breaks.
    """
    for pattern, read, name in ((_YAML, _read_yaml, "YAML"), (_TOML, _read_toml, "TOML")):
        match = pattern.match(source)
        if match is None or len(match[1]) > _MAX_CHARACTERS:
            continue
        content = read(match[1])
        if isinstance(content, str):
            warning = (
                f"The front matter is not valid {name}{content} and was kept as text: correct it."
            )
            return FrontMatter(warnings=(warning,))
        return _describe(content, match.end()) if isinstance(content, dict) else FrontMatter()
    match = _TITLE_BLOCK.match(source)
    if match is None or len(match[0]) > _MAX_CHARACTERS:
        return FrontMatter()
    lines = [" ".join(part.split()) for part in re.split(r"^%", match[0], flags=re.MULTILINE)[1:]]
    names = ("title", "authors", "date")
    return _describe(dict(zip(names, lines, strict=False)), match.end())


def _read_yaml(source: str) -> Any:
    try:
        return parse_yaml(source, "", first_line=2, as_text=True)
    except YamlError as error:
        return f" (line {error.line})" if error.line is not None else ""


def _read_toml(source: str) -> Any:
    try:
        return tomllib.loads(source)
    except (ValueError, RecursionError) as error:
        return f" ({error})"


def _describe(content: Mapping[Any, Any], length: int) -> FrontMatter:
    values = {
        replace_surrogates(str(key)): found
        for key, value in content.items()
        if (found := [replace_surrogates(text) for text in _plain(value)])
    }
    by_name = {key.lower(): found for key, found in values.items()}
    metadata = {key: "; ".join(found) for key, found in values.items()}
    tags = list(dict.fromkeys(tag for key in _TAGS for tag in by_name.get(key, [])))
    if tags:
        metadata["tags"] = "; ".join(tags)
    stated = " ".join(_first(by_name, _DATES))
    year = _YEAR.search(stated)
    doi = _DOI.search(" ".join(by_name.get("doi", [])).lower())
    language = re.match(r"[a-z]{2,3}(?![a-z])", " ".join(_first(by_name, _LANGUAGES)).lower())
    return FrontMatter(
        length=length,
        title=" ".join(_first(by_name, _TITLES)) or None,
        authors=tuple(_names(_first(by_name, _AUTHORS))),
        year=int(year[1]) if year else None,
        doi=doi[0] if doi else None,
        language=language[0] if language else None,
        metadata=metadata,
    )


def _first(values: Mapping[str, list[str]], keys: tuple[str, ...]) -> list[str]:
    return next((values[key] for key in keys if key in values), [])


def _names(values: list[str]) -> Iterator[str]:
    for value in values:
        yield from (name for name in _NAME_SEPARATORS.split(value) if name)


def _plain(value: Any) -> Iterator[str]:
    """Yield the plain values of a key: of a list all, of an entry with a name its name."""
    if isinstance(value, list):
        for item in value:
            if not isinstance(item, list):
                yield from _plain(item)
    elif isinstance(value, dict):
        yield from _plain(value.get("name") or value.get("title") or "")
    elif isinstance(value, str | int | float | date | datetime):
        text = " ".join(str(value).split())
        if text:
            yield text


_TAG = re.compile(r"<[^<>]*>")
_HTML_HEADING = re.compile(r"<h([1-6])\b[^<>]*>(.*?)</h\1\s*>", re.IGNORECASE | re.DOTALL)
# `[text][label]`, whose definition stands elsewhere in the document.
_REFERENCE = re.compile(r"\[([^\[\]]+)\]\[[^\[\]]*\]")
# markdown-it's own default; its "commonmark" preset reads 20 levels, a list takes two a level.
_MAX_NESTING = 100
# Open brackets cost the square of their number; a line so long is data, not prose.
_MAX_INLINE_CHARACTERS = 10_000
# A heading without any mark inside, which most are: read without the parser.
_PLAIN_HEADING = re.compile(r"[ ]{0,3}#{1,6}[ \t]+([^\\`*_\[\]<>&$!~#\n]+?)[ \t]*#*[ \t]*")
# Content of these is set as such; tags and images are not words of a title.
_SPOKEN = frozenset({"text", "code_inline", "math_inline", "math_inline_double", "text_special"})


@cache
def block_reader() -> "MarkdownIt":
    """Return a reader of blocks alone: inline text is read where it is needed.

    Footnote definitions stay in their place, also those that nothing refers to.
    """
    reader = _reader()
    reader.core.ruler.enableOnly(["normalize", "block"])
    return reader


@cache
def _inline_reader() -> "MarkdownIt":
    return _reader()


def _reader() -> "MarkdownIt":
    from markdown_it import MarkdownIt
    from mdit_py_plugins.amsmath import amsmath_plugin
    from mdit_py_plugins.deflist import deflist_plugin
    from mdit_py_plugins.dollarmath import dollarmath_plugin
    from mdit_py_plugins.footnote import footnote_plugin

    reader = MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING}).enable(
        ["table", "strikethrough"]
    )
    return (
        reader.use(footnote_plugin).use(dollarmath_plugin).use(amsmath_plugin).use(deflist_plugin)
    )


def inline_tokens(content: str, references: dict[str, Any]) -> "list[Token]":
    """Return the inline tokens of a paragraph's content, none of one that is no paragraph.

    Args:
        content: of an `inline` token.
        references: the environment of the document's parse, which holds link definitions.
    """
    tokens: list[Token] = []
    if len(content) > _MAX_INLINE_CHARACTERS:
        return tokens
    reader = _inline_reader()
    reader.inline.parse(content, reader, dict(references), tokens)
    return tokens


def plain_title(source: str) -> str:
    """Return a heading's text on one line, as a reader sees it.

    Emphasis, links, code and math lose their marks, entities become characters, images and tags
    go. Text that holds no heading is returned on one line as it is.

    Args:
        source: of the heading: ATX, setext or an HTML element, also inside a quotation or list.
    """
    plain = _PLAIN_HEADING.fullmatch(source)
    if plain:
        return _one_line(plain[1])
    tagged = _HTML_HEADING.search(source)
    if tagged:
        return _one_line(html.unescape(_TAG.sub("", tagged[2])))
    reader = block_reader()
    tokens = reader.parse(source)
    inside = False
    for token in tokens:
        if len(token.content) > _MAX_INLINE_CHARACTERS:
            break
        inside = inside or token.type == "heading_open"
        if inside and token.type == "inline":
            return _one_line(_spoken(_REFERENCE.sub(r"\1", token.content)))
    return _one_line(source)


def html_headings(source: str) -> list[tuple[int, int, int]]:
    """Return (start, end, level) of the heading elements in a piece of HTML."""
    return [(m.start(), m.end(), int(m[1])) for m in _HTML_HEADING.finditer(source)]


def shows_text(source: str) -> bool:
    """Tell whether a piece of HTML has text besides its tags and comments."""
    bare = re.sub(r"<!--.*?(?:-->|\Z)", "", source, flags=re.DOTALL)
    bare = re.sub(r"<(script|style)\b.*?(?:</\1\s*>|\Z)", "", bare, flags=re.DOTALL | re.IGNORECASE)
    return bool(html.unescape(_TAG.sub("", bare)).strip())


def _spoken(content: str) -> str:
    pieces = []
    for token in inline_tokens(content, {}):
        if token.type in _SPOKEN:
            pieces.append(token.content)
        elif token.type in {"softbreak", "hardbreak"}:
            pieces.append(" ")
    return "".join(pieces)


def _one_line(text: str) -> str:
    return " ".join(text.split())


_LEAVES: dict[str, BlockKind] = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "dt_open": "list",
    "html_block": "paragraph",
    "fence": "code",
    "code_block": "code",
    "table_open": "table",
    "math_block": "formula",
    "math_block_label": "formula",
    "amsmath": "formula",
}
# Lines without text of their own: container marks, rules, link definitions.
_EMPTY_LINE = re.compile(
    r"[\s>]*(?:(?:[-*+]|\d{1,9}[.)])[\s>]*)*|\s{0,3}(?:[-_*][ \t]*){3,}|\s{0,3}\[[^\]^][^\]]*\]:.*"
)
_PRE = re.compile(r"\s*<pre\b", re.IGNORECASE)
_HTML_IMAGE = re.compile(r"<img\b[^<>]*?\bsrc\s*=\s*[\"']?([^\"'\s>]+)[^<>]*>", re.IGNORECASE)
_ALTERNATIVE = re.compile(r"\balt\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Leaf:
    kind: BlockKind
    first: int
    last: int
    level: int | None = None
    content: str = ""
    is_html: bool = False


@dataclass(slots=True)
class _Cutter:
    text: str
    references: dict[str, Any]
    starts: list[int]
    blocks: list[Block] = field(default_factory=list)
    attachments: list[Attachment] = field(default_factory=list)


def cut_blocks(text: str) -> tuple[tuple[Block, ...], tuple[Attachment, ...]]:
    """Return the blocks of a Markdown text and the images that it refers to.

    Every line with text belongs to one block. Headings inside code are code; nested items are
    blocks of their own, with their depth as level; footnote definitions are footnotes, terms and
    their definitions list blocks of level 1 and 2. A paragraph of images alone is a figure; other
    images are attachments only. Nothing is opened or fetched.
    """
    references: dict[str, Any] = {}
    tokens = block_reader().parse(text, references)
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    cutter = _Cutter(text, references, starts)
    leaves = sorted(_leaves(tokens), key=lambda leaf: leaf.first)
    for leaf in _with_left_lines(text, starts, leaves):
        _cut(cutter, leaf)
    return tuple(cutter.blocks), tuple(cutter.attachments)


def _leaves(tokens: "Sequence[Token]") -> Iterator[_Leaf]:
    depth = 0
    notes = 0
    definition = False
    for index, token in enumerate(tokens):
        depth += _step(token, "list")
        notes += _step(token, "footnote_reference")
        definition = token.type == "dd_open" or (definition and token.type != "dd_close")
        kind = _LEAVES.get(token.type)
        if kind is None or token.map is None:
            continue
        level: int | None = None
        if kind == "heading":
            level = int(token.tag[1:])
        elif kind in {"paragraph", "list"} and token.type != "html_block":
            if notes:
                kind = "footnote"
            elif token.type == "dt_open" or definition:
                kind, level = "list", depth + (2 if definition else 1)
            elif depth:
                kind, level = "list", depth
        following = tokens[index + 1] if index + 1 < len(tokens) else token
        content = following.content if following.type == "inline" else ""
        is_html = token.type == "html_block"
        yield _Leaf(kind, token.map[0], _last_line(token), level, content, is_html)


def _last_line(token: "Token") -> int:
    first, last = token.map or (0, 0)
    if token.type == "amsmath":  # its map ends before \\end{…}
        return first + token.content.rstrip("\n").count("\n") + 1
    return max(last, first + 1)  # the map of a definition's term is empty


def _step(token: "Token", name: str) -> int:
    if name == "list":
        return token.nesting if token.type.startswith(("bullet_list_", "ordered_list_")) else 0
    return token.nesting if token.type.startswith(name) else 0


def _with_left_lines(text: str, starts: Sequence[int], leaves: Sequence[_Leaf]) -> Iterator[_Leaf]:
    """Yield the leaves, and as paragraphs the lines that the parser gives to none of them.

    Those are nested deeper than it reads, or stand beside marks; a line belongs to one leaf.
    """
    lines = text.split("\n")
    reached = 0
    for leaf in [*leaves, _Leaf("paragraph", len(starts), len(starts))]:
        for first, last in _runs(lines, reached, leaf.first):
            yield _Leaf("paragraph", first, last)
        first = max(leaf.first, reached)
        if first < leaf.last:
            yield _Leaf(leaf.kind, first, leaf.last, leaf.level, leaf.content, leaf.is_html)
        reached = max(reached, leaf.last)


def _runs(lines: Sequence[str], first: int, last: int) -> Iterator[tuple[int, int]]:
    start = None
    for number in range(first, min(last, len(lines))):
        if _EMPTY_LINE.fullmatch(lines[number]):
            if start is not None:
                yield start, number
            start = None
        elif start is None:
            start = number
    if start is not None:
        yield start, min(last, len(lines))


def _cut(cutter: _Cutter, leaf: _Leaf) -> None:
    start = cutter.starts[leaf.first]
    end = cutter.starts[leaf.last] if leaf.last < len(cutter.starts) else len(cutter.text)
    source = cutter.text[start:end]
    if leaf.is_html:
        _cut_html(cutter, start, source)
        return
    if (
        leaf.kind == "paragraph"
        and "![" in leaf.content
        and _cut_figure(cutter, leaf, start, source)
    ):
        return
    if "![" in leaf.content:
        _attach_images(cutter, leaf, start, source)
    _append(cutter, leaf.kind, start, source, leaf.level)


def _append(
    cutter: _Cutter,
    kind: BlockKind,
    start: int,
    source: str,
    level: int | None = None,
    attachment_id: str | None = None,
) -> Block | None:
    # Indentation is part of code; elsewhere it only says where a line hangs.
    before = source.lstrip("\n") if kind == "code" else source.lstrip()
    start += len(source) - len(before)
    end = start + len(before.rstrip())
    if start >= end:
        return None
    block = Block(kind, start, end, level=level, attachment_id=attachment_id)
    cutter.blocks.append(block)
    return block


def _cut_html(cutter: _Cutter, start: int, source: str) -> None:
    """Cut an HTML block at its headings; parts that show nothing are no blocks."""
    reached = 0
    for first, last, level in [*html_headings(source), (len(source), len(source), 0)]:
        part = source[reached:first]
        if shows_text(part):
            kind: BlockKind = "code" if _PRE.match(part) else "paragraph"
            _append(cutter, kind, start + reached, part)
        else:
            for image in _HTML_IMAGE.finditer(part):
                alternative = _ALTERNATIVE.search(image[0])
                caption = alternative[1] or alternative[2] if alternative else None
                _append_figure(cutter, start + reached + image.start(), image[0], image[1], caption)
        if level:
            _append(cutter, "heading", start + first, source[first:last], level)
        reached = last


def _cut_figure(cutter: _Cutter, leaf: _Leaf, start: int, source: str) -> bool:
    """Cut a paragraph that is images alone, one figure for all; False for any other."""
    tokens = inline_tokens(leaf.content, cutter.references)
    images = [token for token in tokens if token.type == "image"]
    others = [
        token
        for token in tokens
        if token.type not in {"image", "link_open", "link_close", "softbreak", "hardbreak"}
        and token.content.strip()
    ]
    if not images or others:
        return False
    caption = str(images[0].attrs.get("title") or images[0].content or "") or None
    _append_figure(cutter, start, source, str(images[0].attrs.get("src", "")), caption)
    for token in images[1:]:
        _attach(cutter, token, start, start + len(source.rstrip()))
    return True


def _append_figure(
    cutter: _Cutter, start: int, source: str, address: str, caption: str | None
) -> None:
    number = 1 + sum(item.kind == "figure" for item in cutter.attachments)
    identifier = f"fig-{number:03d}"
    block = _append(cutter, "figure", start, source, attachment_id=identifier)
    if block is not None:
        cutter.attachments.append(
            _attachment(identifier, "figure", address, caption, block.start, block.end)
        )


def _attach_images(cutter: _Cutter, leaf: _Leaf, start: int, source: str) -> None:
    for token in inline_tokens(leaf.content, cutter.references):
        if token.type == "image":
            _attach(cutter, token, start, start + len(source.rstrip()))


def _attach(cutter: _Cutter, token: "Token", start: int, end: int) -> None:
    number = 1 + sum(item.kind == "image" for item in cutter.attachments)
    address = str(token.attrs.get("src", ""))
    caption = str(token.attrs.get("title") or token.content or "") or None
    cutter.attachments.append(
        _attachment(f"img-{number:03d}", "image", address, caption, start, end)
    )


def _attachment(
    identifier: str, kind: Any, address: str, caption: str | None, start: int, end: int
) -> Attachment:
    embedded = decode_data_uri(address)
    return Attachment(
        identifier,
        kind,
        name="image" if address.lower().startswith("data:") else address or None,
        caption=caption,
        start=start,
        end=end,
        media_type=embedded[0] if embedded else None,
        content=embedded[1] if embedded else None,
    )


def first_title_span(blocks: Sequence[Block]) -> Block | None:
    """Return the first heading of the highest level, None without headings."""
    headings = [block for block in blocks if block.kind == "heading"]
    return min(headings, key=lambda block: block.level or 1) if headings else None


_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
# What a code block or a formula needs: a fence, a tab or four blanks, a mark of TeX, a tag.
MAY_BE_CODE = re.compile(r"```|~~~|\t| {4}|\$\$|\\begin|<pre", re.IGNORECASE)
# Pieces of a line are looked for within so many characters: hostile files have no end to them.
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(?:[^\n]|\n(?!\s*\n)){1,3000}?(?<!`)\1(?!`)|\$[^$\n]+\$")
_HTML_TAG = re.compile(
    r"<(?P<end>/?)(?P<name>[a-zA-Z][a-zA-Z0-9-]*)"
    r"(?P<attributes>(?:\s+[^\s<>=/\"']+(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'<>]+))?)*)\s*/?>"
)
_ATTRIBUTE = re.compile(r"([^\s<>=/\"']+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'<>]+)))?")
_VOID = frozenset({"br", "hr", "img", "input", "link", "meta", "wbr", "col", "source"})
# Attributes whose values say nothing: the others are shown by a pointer or to nobody.
_PLAIN_ATTRIBUTES = frozenset({"src", "href", "id", "class", "style", "width", "height", "align"})
_STRUCK = re.compile(r"(?<!~)~~(?=[^\s~])(?:[^~\n]|\n(?!\s*\n)|~(?!~)){1,3000}?(?<=\S)~~(?!~)")
_TITLE = r"(?P<title>\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\))"
_LINK_TITLE = re.compile(
    rf"\]\(\s*(?:<[^<>\n]*>|[^\s()<>]*(?:\([^\s()]*\)[^\s()]*)*)\s+{_TITLE}\s*\)"
)
_DEFINITION = re.compile(rf"^[ ]{{0,3}}\[[^\]\n]+\]:[ \t]*\S+\s+{_TITLE}[ \t]*$", re.MULTILINE)
_ALTERNATIVE_TEXT = re.compile(r"!\[(?P<title>(?:[^\[\]\n]|\[[^\[\]\n]*\])*)\](?=[(\[])")
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n|\Z")


def leave_unseen(source: str) -> tuple[str, Unseen]:
    """Return a Markdown text without what a reader does not see, and what that was.

    Comments, hidden and struck text go but for line ends; tags of raised and lowered text go as
    well, so that `10<sup>5</sup>` is `10^5`. What code shows stays.
    """
    unseen = Unseen()
    if "<" not in source and "~~" not in source:
        return source, unseen
    # The parser takes half of a file's time: it is asked only where there may be code.
    blocks = cut_blocks(source)[0] if MAY_BE_CODE.search(source) else ()
    code = [(b.start, b.end) for b in blocks if b.kind in {"code", "formula"}]
    code += [match.span() for match in _CODE_SPAN.finditer(source)]
    text = _Text(source, _mask(source, code), unseen)
    for match in _COMMENT.finditer(source):
        if text.is_seen(*match.span()):
            text.hide("hidden", *match.span(), match[0][4:-3])
    text.read_tags()
    for match in _STRUCK.finditer(source):
        if text.is_seen(*match.span()):
            text.hide("struck", *match.span(), match[0].strip("~"))
    return text.written(), unseen


def leave_titles(text: str, blocks: Sequence[Block], unseen: Unseen) -> str:
    """Return a Markdown text with blanks for titles of links and texts in place of images.

    Args:
        text: of the document.
        blocks: as cut from it; code keeps what it shows.
        unseen: the titles are added to it.
    """
    spans = [*_titles(text)]
    if not spans:
        return text
    code = _mask(text, [(b.start, b.end) for b in blocks if b.kind == "code"])
    shown = list(text)
    for start, end in spans:
        if not any(code[start:end]):
            unseen.add("hidden", text[start:end].strip("=\"'() "))
            shown[start:end] = re.sub(r"[^\n]", " ", text[start:end])
    return "".join(shown)


def _mask(text: str, spans: Iterable[tuple[int, int]]) -> bytearray:
    mask = bytearray(len(text))
    for start, end in spans:
        mask[start:end] = b"\1" * (end - start)
    return mask


def _titles(text: str) -> Iterator[tuple[int, int]]:
    if "](" in text or "][" in text or "]:" in text:
        for pattern in (_LINK_TITLE, _DEFINITION, _ALTERNATIVE_TEXT):
            yield from (match.span("title") for match in pattern.finditer(text))
    if "<" in text:
        for tag in _HTML_TAG.finditer(text):
            for attribute in _ATTRIBUTE.finditer(tag["attributes"]):
                if attribute[1].lower() not in _PLAIN_ATTRIBUTES and attribute.lastindex != 1:
                    start = tag.start("attributes") + attribute.end(1)
                    yield start, tag.start("attributes") + attribute.end()


@dataclass(slots=True)
class _Text:
    """A text with what is to be written in place of some of its pieces."""

    source: str
    taken: bytearray
    unseen: Unseen
    edits: list[tuple[int, int, str]] = field(default_factory=list)

    def is_seen(self, start: int, end: int) -> bool:
        """Tell whether a piece is no code and not hidden already."""
        return not any(self.taken[start:end])

    def hide(self, kind: Kind, start: int, end: int, shown: str) -> None:
        """Leave out a piece but for its line ends."""
        self.unseen.add(kind, _HTML_TAG.sub(" ", shown))
        self.edits.append((start, end, "\n" * self.source.count("\n", start, end)))
        self.taken[start:end] = b"\1" * (end - start)

    def read_tags(self) -> None:
        """Hide the content of elements that hide it, and mark raised and lowered text."""
        tags = [tag for tag in _HTML_TAG.finditer(self.source) if self.is_seen(*tag.span())]
        sheet = StyleSheet()
        ends = _ends(self.source, tags)
        for place, tag in enumerate(tags):
            if tag["name"].lower() == "style" and not tag["end"]:
                sheet.add(self.source[tag.end() : ends[place][0]])
        stack: list[tuple[int, Node, Look]] = []
        hidden_to = 0
        for place, tag in enumerate(tags):
            name = tag["name"].lower()
            if tag["end"] or name in _VOID or tag.start() < hidden_to:
                continue
            inner_end, end = ends[place]
            stack = [item for item in stack if item[0] > tag.start()]
            node = (name, _attributes(tag["attributes"]))
            outer = stack[-1][2] if stack else Look()
            declared = sheet.declared(node, [above for _, above, _ in stack])
            look = look_of(node, declared, outer, is_whole=True)
            kind = hides(node, declared) or look.unseen or ("hidden" if name == "style" else None)
            if kind is not None:
                shown = "" if name == "style" else self.source[tag.end() : inner_end]
                self.hide(kind, tag.start(), end, shown)
                hidden_to = end
                continue
            stack.append((end, node, look))
            if name in {"sup", "sub"} and end > inner_end:
                is_link = "<a" in self.source[tag.end() : inner_end]
                mark = LOWERED if name == "sub" else NOTE_MARK if is_link else RAISED
                self.edits += [(*tag.span(), mark), (inner_end, end, LEVEL)]

    def written(self) -> str:
        """Return the text with its pieces replaced."""
        parts: list[str] = []
        reached, begins_line = 0, True
        for start, end, text in sorted(self.edits):
            between = self.source[reached:start]
            begins_line = between.endswith("\n") or (begins_line and not between)
            parts += (between, text)
            reached = max(reached, end)
            # Blanks that now begin a line would make code of it.
            while begins_line and not text and self.source.startswith(" ", reached):
                reached += 1
        text = "".join(parts) + self.source[reached:]
        if LEVEL not in text:
            return text
        return "\n".join(map(settle_raised, text.split("\n")))


def _ends(source: str, tags: "Sequence[re.Match[str]]") -> list[tuple[int, int]]:
    """Return where the content of each start tag ends and where its end tag ends; without an end
    tag the paragraph's end is both.
    """
    ends = []
    opened: dict[str, list[int]] = {}
    for place, tag in enumerate(tags):
        stop = _PARAGRAPH_END.search(source, tag.end())
        ends.append((stop.start(), stop.start()) if stop else (len(source), len(source)))
        places = opened.setdefault(tag["name"].lower(), [])
        if not tag["end"]:
            places.append(place)
        elif places:
            ends[places.pop()] = tag.span()
    return ends


def _attributes(source: str) -> dict[str, str]:
    return {
        match[1].lower(): match[2] or match[3] or match[4] or ""
        for match in _ATTRIBUTE.finditer(source)
    }
