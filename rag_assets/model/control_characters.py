"""Characters that act on whoever shows a text instead of being shown: they are dropped."""

import re
from collections.abc import Iterator

from rag_assets.model.errors import UsageError

# C0 but tab and line feed, DEL, C1. Then what turns the direction of all that follows it
# (U+202A-202E, U+2066-2069): a text must not read otherwise than its characters stand, and one
# that is not closed turns the words of whoever quotes it. The marks U+200E, U+200F and U+061C,
# which order their neighbours only, stay, as do joiners and variation selectors.
_CONTROLS = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
_CONTROL = re.compile(_CONTROLS)
# Sequences after ISO 6429 (ECMA-48), as terminals read them: ESC [ … letter; ESC ] … BEL or ESC \
# (also P, X, ^, _), within a line, since an end that never comes must not take the text with it;
# then what is left of an unended one, and every other ESC with its one or two characters. The
# eight-bit forms are taken whole only where digits follow: text that was read in a wrong encoding
# has such characters as well, and its words must stay.
_ACTING = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"
    r"|\x1b[\]PX^_][^\x1b\x07\x9c\n\r]*(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*[0-~]"
    r"|\x9b[0-?]*[0-9][ -/]*[@-~]"
    r"|[\x90\x98\x9d-\x9f][0-9][^\x1b\x07\x9c\n\r]*(?:\x07|\x1b\\|\x9c)"
    r"|(?P<line>\r\n?)"
    r"|(?P<blank>[\x0b\x0c\x1c-\x1f\x85])"
    rf"|{_CONTROLS}"
)
_STAND_IN = {"line": "\n", "blank": " ", None: ""}


def drop_controls(text: str) -> str:
    """Return `text` without control characters, escape sequences and overrides of direction.

    Tabs and line ends stay, the latter as LF; what separates pages, lines or fields otherwise
    becomes a blank. What is clean comes back as it is.
    """
    if not has_controls(text):
        return text
    return _ACTING.sub(lambda match: _STAND_IN[match.lastgroup], text)


def has_controls(text: str) -> bool:
    """Tell whether `drop_controls` would change `text`."""
    return _CONTROL.search(text) is not None


def find_controls(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, what stands there instead) of all that `drop_controls` takes out."""
    for match in _ACTING.finditer(text):
        yield match.start(), match.end(), _STAND_IN[match.lastgroup]


def require_text(value: object, what: str) -> str:
    """Return a text that a person gave; UsageError where it is none, or no file can hold it.

    Args:
        what: is given, as the error names it.
    """
    if not isinstance(value, str):
        raise UsageError(f"{what} must be text, got {type(value).__name__}.")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise UsageError(
            f"{what} is not text in UTF-8: character {error.start + 1} is half of one "
            f"(U+{ord(value[error.start]):04X}). Leave it out, or read it again from where it is "
            "from, as UTF-8."
        ) from error
    return value
