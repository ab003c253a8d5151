"""Characters that act on whoever shows a text instead of being shown: they are dropped."""

import re

# ISO 6429 (ECMA-48), as terminals read it: ESC [ … letter; ESC ] … BEL or ESC \ (also P, X, ^, _),
# within a line, since an end that never comes must not take the text with it; then what is left
# of an unended one, and every other ESC with its one or two characters. The eight-bit forms are
# taken whole only where digits follow: text that was read in a wrong encoding has such characters
# as well, and its words must stay.
_SEQUENCE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"
    r"|\x1b[\]PX^_][^\x1b\x07\x9c\n\r]*(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*[0-~]"
    r"|\x9b[0-?]*[0-9][ -/]*[@-~]"
    r"|[\x90\x98\x9d-\x9f][0-9][^\x1b\x07\x9c\n\r]*(?:\x07|\x1b\\|\x9c)"
)
# Line ends of other systems, and what separates words.
_LINE_END = re.compile(r"\r\n?|[\x0b\x0c\x85]")
_SEPARATOR = re.compile(r"[\x1c-\x1f]")
# C0 but tab and line feed, DEL, C1. Then what turns the direction of all that follows it
# (U+202A-202E, U+2066-2069): a text must not read otherwise than its characters stand, and one
# that is not closed turns the words of whoever quotes it. The marks U+200E, U+200F and U+061C,
# which order their neighbours only, stay, as do joiners and variation selectors.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def drop_controls(text: str) -> str:
    """Return `text` without control characters, escape sequences and overrides of direction.

    Tabs and line ends stay, the latter as LF; separators of fields become blanks. What is clean
    comes back as it is.
    """
    if not _CONTROL.search(text):
        return text
    text = _SEQUENCE.sub("", text)
    text = _SEPARATOR.sub(" ", _LINE_END.sub("\n", text))
    return _CONTROL.sub("", text)


def has_controls(text: str) -> bool:
    """Tell whether `drop_controls` would change `text`."""
    return _CONTROL.search(text) is not None
