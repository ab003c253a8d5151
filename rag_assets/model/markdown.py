"""Text that others wrote, put into Markdown so that it is shown and nothing in it acts.

After CommonMark 0.31 with the tables, strikethrough and task lists of GitHub's dialect. People
read these pages as plain text too: what cannot be markup where it stands has no backslash. A bare
address stays as it is: a viewer may link it, and it leads where it says.
"""

import re
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


def block_quote(text: str) -> str:
    """Return `text` as a quotation: its lines and paragraphs, shown as they are.

    Rows of a table are fenced: their columns stay one under the other, and no table is made.
    """
    shown: list[str] = []
    lines = drop_controls(text).strip().splitlines()
    for are_rows, group in groupby(lines, lambda line: line.lstrip().startswith("|")):
        lines_of_group = list(group)
        if are_rows:
            shown += fence("\n".join(lines_of_group)).split("\n")
        else:
            shown += map(escape_inline, lines_of_group)
    return "\n".join(f"> {line}".rstrip() for line in shown)


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)
