"""The Markdown that is read: CommonMark with tables, footnotes, definition lists and math."""

import html
import re
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

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
