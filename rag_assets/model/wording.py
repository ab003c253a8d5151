"""How sentences for people name a number of things, and show a value."""

from typing import Any

# Characters of a value that a sentence shows: enough to know it again.
_SHOWN_CHARACTERS = 200


def count_of(number: int, noun: str, plural: str | None = None) -> str:
    """Return `1 document`, `2 documents`.

    Args:
        plural: where it is not the noun with an s.
    """
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"


def shown_value(value: Any) -> str:
    """Return a value as Python writes it, cut where it is long: a file may hold a book as a key."""
    written = repr(value)
    return written if len(written) <= _SHOWN_CHARACTERS else f"{written[:_SHOWN_CHARACTERS]}…"
