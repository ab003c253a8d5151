"""What a reader sees on a line: raised and lowered text, and text that is not seen at all."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

# Raised and lowered text on one line: one rule for all formats.
#
# A reader of a format puts `RAISED`, `NOTE_MARK` (raised and a link) or `LOWERED` before a piece of
# a line and `LEVEL` behind it, and calls `settle_raised` on the whole line. An exponent becomes
# `10^5`, `10^-4`, `m^2`. A mark of a note stays apart from the word or number before it, as Word's
# notes do: `2015[3]`. Lowered text goes on: `CO2`, `H2O`. No number gains or loses a digit by it.

# Noncharacters, which Unicode keeps for the use inside of programs: no text holds them, XML may.
RAISED, NOTE_MARK, LOWERED, LEVEL = "\ufdd0", "\ufdd1", "\ufdd2", "\ufdd3"
_SWITCH = re.compile(f"([{RAISED}{NOTE_MARK}{LOWERED}{LEVEL}])")
_SIGNS = str.maketrans("−–‐‑＋", "----+")
_SIGNED = re.compile(r"[+-]\d+(?:[.,/]\d+)*")
_CHARGE = re.compile(r"[•·.]?\d*[+-]+[•·.]?")
_NUMBERS = re.compile(r"\d+(?:\s*[,;–-]\s*\d+)*")
_LETTERS = re.compile(r"\w(?:\s*,\s*\w+)+")
_ORDINAL = re.compile(r"st|nd|rd|th|er|re|[èe]re|nde?|[èe]me|e|o|º|ª|os|as", re.IGNORECASE)
_DEGREE = re.compile(r"[o0º○]", re.IGNORECASE)
_TEMPERATURE = re.compile(r"\s?[CF]\b")
_ISOTOPE = re.compile(r"[A-Z][a-z]?(?![a-z])")
_FRACTION = re.compile(r"\s*[/⁄]\s*")
# Bases of a power: ten or one digit, a letter with or without an index, a unit of length, area or
# time, a function. Other words and numbers have notes: `2015³` is the year 2015 and note 3.
_POWER_NUMBER = re.compile(r"(?<![\w.,])(?:10|[2-9])")
_POWER_WORD = re.compile(
    r"(?<![^\W\d_])(?:[^\W\d_]\d?|[nuµμmcdkMG]m|[mµμn]?s|ft|in|yd|mi|cos|sin|tan|cot|log|ln|exp)"
)
_POWER_BRACKET = re.compile(r"[(\[{](?:(?![^\W\d_]{3})[^()\[\]{}])*[)\]}]")
_LAST_WORD = 40


def raised(text: str) -> str:
    """Return a piece of a line marked as raised."""
    return f"{RAISED}{text}{LEVEL}"


def lowered(text: str) -> str:
    """Return a piece of a line marked as lowered."""
    return f"{LOWERED}{text}{LEVEL}"


def settle_raised(line: str) -> str:
    """Return a line with its marked pieces written as plain text."""
    if LEVEL not in line:
        return line
    pieces: list[tuple[str, str]] = []
    levels = [LEVEL]
    for part in _SWITCH.split(line):
        if part == LEVEL:
            levels = levels[:-1] or [LEVEL]
        elif _SWITCH.fullmatch(part):
            levels.append(part)
        elif part and pieces and pieces[-1][0] == levels[-1]:
            # Programs cut a raised text into runs at will.
            pieces[-1] = levels[-1], pieces[-1][1] + part
        elif part:
            pieces.append((levels[-1], part))
    written, was_digit = "", False
    for index, (level, part) in enumerate(pieces):
        after = pieces[index + 1][1] if index + 1 < len(pieces) else ""
        if level == LEVEL or not part.strip():
            written += " " + part if was_digit and part[0].isdigit() else part
            was_digit = False
            continue
        if level == LOWERED:
            written = _lower(written, part)
        else:
            written = _raise(written, part.strip(), after, is_note=level == NOTE_MARK)
        was_digit = written[-1:].isdigit()
    return written


def apart(text: str) -> str:
    """Return a text with its marks as a reader of words needs it: raised text is a word."""
    return text.translate({ord(RAISED): " ", ord(NOTE_MARK): " ", ord(LOWERED): "", ord(LEVEL): ""})


def exponent(text: str) -> str:
    """Return a formula's exponent as it stands behind `^`: `-4`, `n`, `(n+1)`."""
    plain = text.translate(_SIGNS).strip()
    is_bound = plain.isalnum() or len(plain) == 1 or _SIGNED.fullmatch(plain)
    is_bound = is_bound or _CHARGE.fullmatch(plain)
    return plain if is_bound else f"({plain})"


def _lower(before: str, text: str) -> str:
    return f"{before}_{text}" if before[-1:].isdigit() and text[:1].isdigit() else before + text


def _raise(before: str, text: str, after: str, *, is_note: bool) -> str:
    plain = text.translate(_SIGNS)
    base = before.rstrip()[-_LAST_WORD:]
    is_apart = not before or before[-1].isspace()
    is_isotope = plain.isdigit() and plain[0] != "0" and _ISOTOPE.match(after) is not None
    if (
        text[0] in "[("
        or (is_note and not text.isalnum())
        or (is_isotope and (is_apart or not base[-1].isalnum()))
    ):
        return before + text
    if is_note:
        return f"{before}[{text}]"
    if _DEGREE.fullmatch(text) and base[-1:].isdigit() and _TEMPERATURE.match(after):
        return f"{before}°"
    if text.isdigit() and _FRACTION.match(after):
        return f"{before} {text}" if before[-1:].isalnum() else before + text
    if not is_apart or (base.endswith("10") and _is_base(base)):
        return before.rstrip() + _behind(base, text, plain)
    # At the begin of a line or behind a blank: a mark before its note, or one set apart.
    is_mark = _NUMBERS.fullmatch(plain) and (base or after[:1].isalnum())
    return f"{before}[{text}]" if is_mark else before + text


def _behind(base: str, text: str, plain: str) -> str:
    """Return how a raised text is written directly behind the end of a line."""
    if len(text.split()) > 1 and not _NUMBERS.fullmatch(plain):
        return f" {text}" if text[0].isalnum() else text
    form = "plain"
    if _SIGNED.fullmatch(plain):
        form = "power"
    elif _CHARGE.fullmatch(plain):
        # Ca2+ and NH4+ as chemists write them; SO4^2-, since SO42- has another number.
        form = "power" if base[-1].isdigit() and plain[0].isdigit() else "plain"
    elif _NUMBERS.fullmatch(plain):
        is_power = plain.isdigit() and _is_base(base) and not (base[-1].isdigit() and plain in "01")
        form = "power" if is_power else "note"
    elif text.isalpha() and not _ORDINAL.fullmatch(text):
        # The transpose of AB is (AB)ᵀ; notes have small letters. Mᵐᵉ is one word.
        is_power = _is_base(base) or (text.isupper() and base[-1].isalpha())
        is_word = len(text) > 1 and not base[-1].isdigit()
        form = "plain" if is_word else "power" if is_power else "note"
    elif _LETTERS.fullmatch(text):
        form = "note"
    elif any(map(str.isalnum, text)) and not text.isalpha():
        form = "power"
    return {"plain": text, "note": f"[{text}]", "power": f"^{exponent(plain)}"}[form]


def _is_base(base: str) -> bool:
    """Tell whether a line ends with what may have a power."""
    return any(
        re.search(rf"(?:{pattern.pattern})\Z", base) is not None
        for pattern in (_POWER_NUMBER, _POWER_WORD, _POWER_BRACKET)
    )


# What a reader of a document does not see: left out of the text, counted, and said once.

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
