"""A reader of Markdown with what viewers know beside CommonMark, and what it shows of a page."""

from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.tasklists import tasklists_plugin

READER = (
    MarkdownIt("commonmark", {"html": True})
    .enable(["table", "strikethrough"])
    .use(deflist_plugin)
    .use(footnote_plugin)
    .use(tasklists_plugin)
)


def flat(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        if token.type != "inline":
            yield token
        yield from flat(token.children or [])


def shown(tokens: list[Token]) -> str:
    """Return what a reader sees, white space folded."""
    breaks = {"softbreak", "hardbreak", "paragraph_close", "th_close", "td_close", "heading_close"}
    return " ".join("".join(" " if t.type in breaks else t.content for t in flat(tokens)).split())


def kinds(tokens: list[Token]) -> set[str]:
    return {t.type.removesuffix("_open").removesuffix("_close") for t in flat(tokens)}
