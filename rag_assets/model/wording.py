"""How sentences for people name a number of things."""


def count_of(number: int, noun: str, plural: str | None = None) -> str:
    """Return `1 document`, `2 documents`.

    Args:
        plural: where it is not the noun with an s.
    """
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"
