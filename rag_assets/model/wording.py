"""How sentences for people name a number of things, and show a value."""

from typing import Any

from rag_assets.model.errors import UsageError

# Characters of a value that a sentence shows: enough to know it again.
_SHOWN_CHARACTERS = 200
# A question, or a sentence whose evidence is looked for. Models hold the whole of it at once: a
# million words took 16 GB.
LONGEST_QUESTION = 20_000


def require_question(text: str) -> None:
    """Refuse what cannot be looked for.

    Raises:
        UsageError: there is no text, or too much.
    """
    if not any(map(str.isalnum, text)):
        raise UsageError("the question has no text. Write a question with words in it.")
    if len(text) > LONGEST_QUESTION:
        raise UsageError(
            f"the question has {len(text)} characters; at most {LONGEST_QUESTION} are allowed at "
            "once. Shorten it, or ask several questions."
        )


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
