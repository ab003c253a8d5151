"""Text that others wrote, put into Markdown so that it is shown and nothing in it acts.

After CommonMark 0.31 with the tables, strikethrough and task lists of GitHub's dialect. People
read these pages as plain text too: what cannot be markup where it stands has no backslash. A bare
address stays as it is: a viewer may link it, and it leads where it says.
"""

import re
from collections.abc import Iterator
from itertools import groupby

from rag_assets.model.control_characters import drop_controls

# What may be markup inside a line, as far as a pattern can tell.
_INLINE = re.compile(
    r"""(?:
      (?P<run>\*+|_+|~+)
    | `+
    | \|                                # cell of a table
    | \\(?=[!-/:-@\[-`{-~]|$)           # a backslash before other characters is one
    | \](?=[(\[:]|$)                    # what makes a link or a definition of the brackets
    | \[(?=[\[^]) | (?<=\^)\[           # links and notes of other dialects
    | <(?=[A-Za-z/!?]|$)                # tag, comment, declaration, address
    | &(?=(?:\#\d{1,7}|\#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)
    | (?:^|(?<=\s))\#(?=\#*$)           # hashes that close a heading
    )""",
    re.VERBOSE,
)
# What a block begins with; the character in the group takes the backslash.
_BLOCK = re.compile(
    r"""
      (?P<quotation>>)
    | (?P<box>\[)[ xX]\](?=\s|$)
    | (?P<heading>\#)\#{0,5}(?=\s|$)
    | (?P<item>[-+:~])(?=\s|$)
    | \d{1,9}(?P<number>[.)])(?=\s|$)
    | (?P<rule>[-=:+])(?=[-=:+|\s]*$)   # underline of a heading and second row of a table, too
    """,
    re.VERBOSE,
)
_LANGUAGE = re.compile(r"[\w+#.-]*")
_SHORTEST_FENCE = 3
_CODE_MARK = re.compile(r"\s*(`{3,}|~{3,})")
# A row of a table, or a line that is set in as code is.
_VERBATIM = re.compile(r"\s*\||(?: {4}|\t)\s*\S")
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")


def escape_inline(text: str, *, opens: bool = True) -> str:
    r"""Return `text` on one line, so that Markdown shows it as it is.

    Args:
        opens: whether it may stand first in its line. Where words of ours stand before it, such
            as in a cell or a sentence, `False` spares it the backslash in `1\. Introduction`.
    """
    text = " ".join(drop_controls(text).split())
    block = _BLOCK.match(text) if opens else None
    places = {block.start(block.lastgroup)} if block and block.lastgroup else set()
    for match in _INLINE.finditer(text):
        if match["run"] is None or _may_act(text, match.start(), match.end()):
            places.update(range(match.start(), match.end()))
    return "".join("\\" + c if place in places else c for place, c in enumerate(text))


def _may_act(text: str, start: int, end: int) -> bool:
    """Tell whether a run of `*`, `_` or `~` may open or close emphasis or a deletion.

    What stands beside the whole text is not known: a run at its edge may.
    """
    before, after = text[start - 1 : start], text[end : end + 1]
    if text[start] == "~":
        # One that only opens needs one that closes, and that is escaped.
        return end - start > 1 or not after or (start > 0 and not before.isspace())
    if text[start] == "_" and before.isalnum() and after.isalnum():
        return False
    return not (before.isspace() and after.isspace())


def table_cell(text: str) -> str:
    """Return `text` for a cell of a table, shown as it is."""
    return escape_inline(text, opens=False)


def escape_prose(text: str, *, in_table: bool = False) -> str:
    """Return a sentence of ours on one line: its code spans stay, what else it holds is escaped.

    Names of files and documents stand in such sentences, and others chose them.
    """
    parts: list[str] = []
    text, place = " ".join(drop_controls(text).split()), 0
    for match in _CODE_SPAN.finditer(text):
        parts += _between(text[place : match.start()], opens=not parts)
        parts.append(code_span(match[2].strip(), in_table=in_table))
        place = match.end()
    return "".join([*parts, *_between(text[place:], opens=not parts)])


def _between(text: str, *, opens: bool) -> list[str]:
    return [
        _gap(text[:1]),
        escape_inline(text, opens=opens),
        _gap(text[-1:] if text.strip() else ""),
    ]


def code_span(text: str, *, in_table: bool = False) -> str:
    """Return `text` on one line as a code span, whatever backticks it holds.

    Args:
        in_table: whether it stands in a table's cell, where a pipe takes a backslash; elsewhere
            that backslash would be shown.
    """
    text = " ".join(drop_controls(text).split())
    if in_table:
        text = text.replace("|", "\\|")
    marks = "`" * (_longest_run(text) + 1)
    pad = " " if not text or text.startswith("`") or text.endswith("`") else ""
    return f"{marks}{pad}{text}{pad}{marks}"


def fence(text: str, language: str = "") -> str:
    """Return `text` as a block of code, its lines as they are, without a line end after it."""
    text = drop_controls(text)
    marks = "`" * max(_SHORTEST_FENCE, _longest_run(text) + 1)
    named = language if _LANGUAGE.fullmatch(language) else ""
    end = "" if not text or text.endswith("\n") else "\n"
    return f"{marks}{named}\n{text}{end}{marks}"


def block_quote(text: str, strong: str = "") -> str:
    """Return `text` as a quotation: its lines and paragraphs, shown as they are.

    Rows of a table and lines of code are fenced: their columns stay one under the other.

    Args:
        strong: is set in bold where it first stands within one line of prose.
    """
    shown: list[str] = []
    for is_fenced, group in groupby(_marked_lines(text), lambda line: line[0]):
        lines = [line for _, line in group]
        if is_fenced:
            shown += fence("\n".join(lines)).split("\n")
            continue
        for line in lines:
            if strong and strong in line:
                shown.append(_with_strong(line, strong))
                strong = ""
            else:
                shown.append(escape_inline(line))
    return "\n".join(f"> {line}".rstrip() for line in shown)


def _marked_lines(text: str) -> Iterator[tuple[bool, str]]:
    """Yield every line of a text, and whether it is a table's row or one of code."""
    closing: str | None = None
    for line in drop_controls(text).strip().splitlines():
        mark = _CODE_MARK.match(line)
        is_code = closing is not None or mark is not None
        if closing is None:
            closing = mark[1] if mark else None
        elif line.strip().startswith(closing) and not line.strip().strip(closing[0]):
            closing = None
        yield is_code or _VERBATIM.match(line) is not None, line


def _with_strong(line: str, strong: str) -> str:
    before, after = line.split(strong, 1)
    return (
        f"{escape_inline(before)}{_gap(before[-1:])}"
        f"**{escape_inline(strong, opens=not before.strip())}**"
        f"{_gap(after[:1])}{escape_inline(after, opens=False)}"
    )


def _gap(character: str) -> str:
    return " " if character.isspace() else ""


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)
