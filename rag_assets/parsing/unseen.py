"""What a reader of a document does not see: left out of the text, counted, and said once."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

# How the note calls what was left out.
UNSEEN_KINDS: Mapping[str, str] = MappingProxyType(
    {
        "hidden": "hidden",
        "colour": "in the colour of its ground",
        "size": "too small to be read",
        "place": "outside of the page or cut to nothing",
        "struck": "struck out or deleted",
        "characters": "in characters that are not shown",
    }
)
Kind = Literal["hidden", "colour", "size", "place", "struck", "characters"]
_EXAMPLE_CHARACTERS = 60

# Embeddings, overrides and isolates of direction.
_TURNED = re.compile("[\u202a\u202b\u202d\u202e\u2066-\u2068]")
# Letters of less than about a point cannot be read.
LEAST_POINTS = 1.1
# Two colours whose channels (0 to 255) differ by no more look alike: #eeeeee on white.
_ALIKE = 20


@dataclass(slots=True)
class Unseen:
    """The texts that were left out: how many of each kind, and the first of each."""

    counts: Counter[Kind] = field(default_factory=Counter)
    examples: dict[Kind, str] = field(default_factory=dict)

    def add(self, kind: Kind, text: str) -> None:
        """Count one text; blanks count for nothing."""
        shown = " ".join(text.split())
        if any(map(str.isalnum, shown)):
            self.counts[kind] += 1
            is_long = len(shown) > _EXAMPLE_CHARACTERS
            self.examples.setdefault(kind, shown[:_EXAMPLE_CHARACTERS] + "…" * is_long)

    def warnings(self) -> tuple[str, ...]:
        """Return the note on what was left out, none where nothing was."""
        parts = [
            f"{count} {UNSEEN_KINDS[kind]} (“{self.examples[kind]}”)"
            for kind, count in sorted(self.counts.items())
        ]
        if not parts:
            return ()
        note = (
            f"Text that a reader does not see was left out: {'; '.join(parts)}. Compare the "
            "document with its source if you need it."
        )
        return (note,)


def turned_note(text: str) -> tuple[str, ...]:
    """Return a note where a text has characters that turn the direction of what follows them."""
    turned = _TURNED.search(text)
    if turned is None:
        return ()
    place = " ".join(_TURNED.sub("", text[turned.start() :][:_EXAMPLE_CHARACTERS]).split())
    note = (
        f"Characters turn the direction of the text (at “{place}”): it is read in the order of the "
        "file, which a reader may see otherwise. Compare what you cite with the page."
    )
    return (note,)


def are_alike(colour: str | None, ground: str | None) -> bool:
    """Tell whether text of a colour cannot be seen on its ground.

    Args:
        colour: six hexadecimal digits, None where it is not known.
        ground: likewise.
    """
    if colour is None or ground is None:
        return False
    try:
        pairs = zip(bytes.fromhex(colour), bytes.fromhex(ground), strict=True)
        return all(abs(a - b) <= _ALIKE for a, b in pairs)
    except ValueError:
        return False  # a name of the program's own
